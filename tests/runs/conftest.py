"""What tests of pictures share."""

import pytest


@pytest.fixture
def drawn(monkeypatch):
    """The figures drawn, as matplotlib objects."""
    from matplotlib.figure import Figure

    figures = []
    original = Figure.savefig
    monkeypatch.setattr(
        Figure, "savefig", lambda self, *args, **kw: (figures.append(self), original(self, *args, **kw))
    )
    return figures
