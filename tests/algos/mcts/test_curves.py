"""Connect Four: searches find perfect and good moves as often as those of S. Goeppert (2020) did, with his settings."""

import pytest

import jaxgames
from jaxgames import players
from jaxgames.matches import solved

NEAR = 3.0
CURVES = {
    "uct:{},c=0.5,final=mean": {50: (48.8, 80.8), 200: (65.0, 88.5)},
    "rave:{},k=100,c=0.1,final=mean": {50: (58.3, 85.8), 200: (70.4, 90.6)},
    "amaf:{},alpha=0.5,c=0.2,final=mean": {50: (56.5, 85.0), 200: (68.6, 89.9)},
    "lgr:{},c=0.4,final=mean": {50: (49.6, 81.3), 200: (65.9, 89.2)},
    "rave+lgr:{},k=100,c=0.1,final=mean": {50: (57.6, 85.6), 200: (71.9, 92.1)},
    "uct1:{},c=0.45,symmetries=1,final=mean": {50: (49.0, 81.0), 200: (64.4, 87.9)},
}


@pytest.mark.slow
@pytest.mark.parametrize("spec", CURVES)
def test_moves_are_as_good_as_published(spec):
    positions = solved.read(solved.MOVE_SCORES)
    for simulations, (perfect, good) in CURVES[spec].items():
        player = players.make(spec.format(simulations), jaxgames.make("connect_four"))
        found = solved.score(player, positions * 4, batch=1000)
        assert 100 * found.perfect == pytest.approx(perfect, abs=NEAR)
        assert 100 * found.good == pytest.approx(good, abs=NEAR)
