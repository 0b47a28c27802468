"""Make the target speakers of vtln that come with the package: spectra and pitch of each.

    uv run python recipes/vtln_targets.py CORPUS      # a few seconds of speech per speaker

The shipped table is of 223 speakers of LibriSpeech train-clean-100 (8 s each); see
src/sottovoce/anonymise/voice/models/NOTICE.md. It contains no speech: eight averaged spectra
and two numbers for each speaker.
"""

from __future__ import annotations

import io
import sys
from pathlib import Path

import numpy as np

from sottovoce.anonymise.voice.targets import corpus_targets
from sottovoce.core.files import write_bytes
from sottovoce.corpus import open_corpus

TARGET = Path(__file__).parents[1] / "src/sottovoce/anonymise/voice/models/vtln_targets.npz"


def main() -> None:
    """Learn the speakers of the corpus and write the table."""
    models = corpus_targets(open_corpus(sys.argv[1]))
    buffer = io.BytesIO()
    np.savez_compressed(
        buffer,
        names=np.array([f"target{i:03}" for i in range(len(models))]),
        classes=np.stack([model.classes for model in models]).astype(np.float16),
        pitch=np.array([model.pitch for model in models], np.float32),
    )
    write_bytes(TARGET, buffer.getvalue())
    print(f"{len(models)} speakers in {TARGET.name}")


if __name__ == "__main__":
    main()
