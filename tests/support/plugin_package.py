"""The example plug-in, built and unpacked as an installer would do it, without the network."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "examples" / "plugin"


def install_plugin(folder: Path) -> Path:
    """Build the wheel of the plug-in and unpack it; return the folder to put on ``sys.path``."""
    wheels = folder / "wheels"
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(wheels)],
        cwd=SOURCE,
        check=True,
        capture_output=True,
    )
    [wheel] = wheels.glob("*.whl")
    target = folder / "site"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(target)
    return target
