"""The games made for tests are known by their names while the tests of learning run."""

import pytest

from jaxgames.envs import registry
from tests.algos.small_games import GAMES


@pytest.fixture(scope="module", autouse=True)
def small_games():
    with pytest.MonkeyPatch.context() as patch:
        for name, game in GAMES.items():
            patch.setitem(registry.GAMES, name, game)
        yield
