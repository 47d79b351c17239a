"""Tests run on two devices, for which searches use no kernels; those of searches are to test them."""

import pytest

from jaxgames.algos.mcts import kernel


@pytest.fixture(autouse=True)
def kernels(monkeypatch):
    """Kernels on all devices."""
    monkeypatch.setattr(kernel, "MAX_DEVICES", 2)
