"""Names for the types that packages hand to each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Audio = NDArray[np.float32]
"""Samples of one channel from -1 to 1."""
SampleRate = int
"""Samples per second, in Hz."""

Vector = NDArray[np.float32]
"""One speaker embedding: d values."""
Vectors = NDArray[np.float32]
"""Speaker embeddings, n × d."""
Features = NDArray[np.float32]
"""Features of the frames of a recording, frames × d."""

FloatArray = NDArray[np.float64]
"""Numbers in double precision, of any shape."""
RealArray = NDArray[np.floating]
"""Numbers in single or double precision, of any shape."""
IntArray = NDArray[np.int64]
"""Whole numbers, such as counts, row numbers or labels, of any shape."""
AnyArray = NDArray[Any]
"""An array of a type that is not known yet, such as one from a file."""
Names = NDArray[np.str_]
"""Ids as text, such as those of speakers or utterances."""

Progress = Callable[[int, int], None]
"""Called with how many parts of a task are done and how many there are."""
StageProgress = Callable[[str, int, int], None]
"""Called with the name of a stage, how many of its parts are done and how many there are.

The name may end in details that change, after `` · ``, such as ``training · loss 2.1``.
"""
