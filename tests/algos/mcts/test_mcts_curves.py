"""Connect Four: searches find perfect and good moves as often as the thesis says (`benchmarks/search_curves.py`)."""

import pytest

import jaxgames
from jaxgames import players
from jaxgames.arena.connect_four import accuracy, solved

NEAR = 3.0
CURVES = {
    "uct:{},c=0.8": {50: (49, 81), 200: (65, 89)},
    "rave:{},k=100,c=0.2": {50: (58, 86), 200: (70, 91)},
    "amaf:{},alpha=0.5,c=0.4": {50: (57, 85), 200: (69, 90)},
    "lgr:{},c=0.8": {50: (50, 81), 200: (66, 89)},
    "rave+lgr:{},k=100,c=0.2": {50: (58, 86), 200: (72, 92)},
    "uct1:{},c=0.8": {50: (49, 81), 200: (64, 88)},
}


@pytest.mark.slow
@pytest.mark.parametrize("spec", CURVES)
def test_moves_are_as_good_as_the_thesis_says(spec, data_dir):
    positions = solved.read(data_dir / "connect_four" / "move_scores_500.jsonl")
    for simulations, (perfect, good) in CURVES[spec].items():
        player = players.make(spec.format(simulations), jaxgames.make("connect_four"))
        found = accuracy.score(player, positions * 4, batch=1000)
        assert 100 * found.perfect == pytest.approx(perfect, abs=NEAR)
        assert 100 * found.good == pytest.approx(good, abs=NEAR)
