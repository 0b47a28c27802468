"""An estimate of how good speech sounds, by a network that learnt it from listeners' votes.

DNSMOS P.835 (Reddy et al. 2022), from the package ``speechmos`` (MIT), which carries the network.
That package itself is not imported: it would bring others that are not needed. The network was made
to rate noise suppression: on converted voices its figure is a hint, not a listening test.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import InputError, MissingExtraError
from sottovoce.core.onnx_networks import load_network

MODEL = "DNSMOS P.835"
PACKAGE = "speechmos"
WINDOW = 144_160
"""Samples the network listens to: 9.01 s."""
OVERALL = (-0.06766283, 1.11546468, 0.04602535)
"""From what the network gives to a mean vote from 1 to 5: a polynomial, highest power first."""


class QualityModel:
    """Rates recordings from 1 (bad) to 5 (excellent)."""

    def __init__(self) -> None:
        self._network: Any = load_network(_package_file())

    def overall(self, audio: NDArray[np.float32]) -> float:
        """Rate the first nine seconds; shorter recordings are repeated.

        Parameters
        ----------
        audio : array of float32
            Samples at 16 kHz, at least one.

        Returns
        -------
        float
            OVRL, 1 to 5.
        """
        if not len(audio):
            raise InputError(
                "a recording without samples has no quality; leave it out", code="empty"
            )
        window = np.resize(np.asarray(audio, np.float32), WINDOW)[None]
        (ratings,) = self._network.run(None, {"input_1": window})
        return float(np.polyval(OVERALL, ratings[0, 2]))


def _package_file() -> Path:
    package = find_spec(PACKAGE)
    if package is None or not package.submodule_search_locations:
        raise MissingExtraError("an estimate of speech quality", "quality")
    folder = Path(next(iter(package.submodule_search_locations)))
    return folder / "dnsmos_models" / "sig_bak_ovr.onnx"
