"""The made-up audit of the report's tests serves here too."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "report"))
