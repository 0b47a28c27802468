"""The LSTM of matrix products against torch's, with and without padding."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from sottovoce.learn import Lstm  # noqa: E402


@pytest.mark.parametrize("bidirectional", [False, True])
def test_outputs_equal_those_of_torch(bidirectional: bool) -> None:
    torch.manual_seed(0)
    ours = Lstm(5, 7, bidirectional=bidirectional)
    theirs = torch.nn.LSTM(5, 7, batch_first=True, bidirectional=bidirectional)
    theirs.load_state_dict(ours.state_dict())
    x = torch.randn(4, 6, 5)
    lengths = torch.tensor([6, 3, 1, 5])
    packed = torch.nn.utils.rnn.pack_padded_sequence(
        x, lengths, batch_first=True, enforce_sorted=False
    )
    expected, _ = torch.nn.utils.rnn.pad_packed_sequence(theirs(packed)[0], batch_first=True)
    assert torch.allclose(ours(x, lengths), expected, atol=1e-6)
    assert torch.allclose(ours(x), theirs(x)[0], atol=1e-6)


def test_padding_changes_nothing() -> None:
    torch.manual_seed(1)
    reader = Lstm(3, 4, bidirectional=True)
    x = torch.randn(1, 5, 3)
    longer = torch.cat([x, torch.randn(1, 4, 3)], dim=1)
    padded = reader(longer, torch.tensor([5]))
    assert torch.allclose(padded[:, :5], reader(x), atol=1e-7)
    assert bool((padded[:, 5:] == 0).all())
