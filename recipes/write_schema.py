"""Write docs/measures.schema.json anew, after a change of the types of findings."""

from __future__ import annotations

from pathlib import Path

from sottovoce.core.records import write_json
from sottovoce.findings.files import findings_schema

TARGET = Path(__file__).parents[1] / "docs" / "measures.schema.json"

if __name__ == "__main__":
    write_json(TARGET, findings_schema())
