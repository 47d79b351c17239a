"""The reproduction of Ebert's comparison: its published figures, and what it measures of networks that do nothing."""

import json
from pathlib import Path

import jax
import numpy as np
import pytest

from jaxgames.algos.td.step_sizes import GAMES_BETWEEN_TESTS, GAMES_PER_TEST, STEP_SIZES, TESTS
from jaxgames.arena.knockout import BEHIND
from jaxgames.players import make
from jaxgames.recipes import RECIPES
from jaxgames.recipes.reproduce import system_named
from jaxgames.recipes.reproduce.td_gammon import figures, published, testers

TYPED = json.loads((Path(__file__).parent.parent / "data" / "published" / "td_gammon.json").read_text("utf-8"))
NAMES = {
    "random": "RandomAI", "simple": "Simple_003", "pubeval": "Pubeval", "mutation": "Mutation",
    "backprop": "Backpropagation", "td": "TD",
}  # fmt: skip


def test_published_figures_are_those_typed_from_the_text():
    table = TYPED["Tabel 5.2"]
    assert [NAMES[name] for name in published.PLAYERS] == table["columns"]
    for row, name in enumerate(published.PLAYERS):
        typed = table[NAMES[name]]
        assert [-ppg for ppg in typed[:row]] == [table[column][row] for column in table["columns"][:row]]
        assert [published.PPG.get(name, {}).get(other) for other in published.PLAYERS[:row]] == typed[:row]
    assert {NAMES[name]: games for name, games in published.BEST_AFTER.items()} == TYPED["Tabel 5.1"]
    curves = TYPED["5.1"]
    assert published.TRAINED["td"] == curves["TD, a little over"]
    assert (
        published.TRAINED["mutation"] == published.TRAINED["backprop"] == curves["Mutation and Backpropagation, over"]
    )
    flat = curves["flat against RandomAI"]
    assert (published.FLAT, published.FLAT_AGAINST_RANDOM) == (
        flat["about PPG"], {"mutation": flat["Mutation"], "backprop": flat["Backpropagation"], "td": 0}
    )  # fmt: skip
    assert published.OVERTAKES == curves["Backpropagation overtakes Mutation against Simple_003"]
    assert {NAMES[name]: games for name, games in published.TOP_AGAINST_PUBEVAL.items()} == curves[
        "top against Pubeval"
    ]
    extra = TYPED["5.4"]
    assert published.EXTRA_PPG == -extra["PPG, to TD_Gammon"]
    assert list(published.EXTRA_POINTS) == extra["points of Extra and of TD_Gammon"]
    assert published.EXTRA_PPG == pytest.approx((published.EXTRA_POINTS[0] - published.EXTRA_POINTS[1]) / 10_000)
    assert (published.EXTRA_BEST_AFTER, published.EXTRA_TRAINED) == (
        extra["best of Extra"], extra["games of Extra, a little over"]
    )  # fmt: skip
    assert (published.EXTRA_FASTER, published.EXTRA_INPUTS) == (extra["faster in the first games"], extra["inputs"])


def test_settings_are_those_of_the_text():
    typed, shape = TYPED["4.3"], TYPED["4.1"]
    assert list(STEP_SIZES) == typed["step sizes"]
    assert (GAMES_BETWEEN_TESTS, GAMES_PER_TEST) == (typed["games between tests"], typed["games of a test"])
    assert TESTS == typed["tests in a row"] and TESTS * GAMES_BETWEEN_TESTS == typed["games younger"]
    assert BEHIND == TYPED["5.2.1"]["points behind"]
    td, backprop = (RECIPES[name].settings["ebert-2007"] for name in ("td-gammon", "backgammon-backprop"))
    climb = RECIPES["backgammon-hill-climb"].settings["ebert-2007"]
    assert td.lambda_ == typed["lambda"] and climb.sigma == typed["mutation"]
    for setting in (td, backprop, climb):
        network = getattr(setting, "network", None)
        network = setting if callable(network) else network
        assert (*network.hidden, getattr(network, "outputs", 4)) == (shape["hidden"], shape["outputs"])
        assert network.cumulative and not network.biases and network.activation == "sigmoid"
        assert setting.schedule == "tested"
    assert td.network().encoding.size == shape["inputs"]
    assert RECIPES["td-gammon"].settings["ebert-2007-extra"].network().encoding.size == published.EXTRA_INPUTS
    assert climb.network.genomes().dimension == 198 * 40 + 40 * 4


def test_every_part_has_a_key_of_its_own():
    system = system_named("td-gammon")
    assert len({part.key for part in system.parts}) == len(system.parts) > 8
    assert "Ebert" in system.citation and "2007" in system.citation


def test_curves():
    curve = [(1000 * i, float(i)) for i in range(1, 21)]
    means = figures.smooth(curve)
    assert len(means) == 11 and means[0] == (5500, 5.5) and means[-1] == (15500, 15.5)
    assert figures.reached(curve, 7.0) == 7500 and figures.reached(curve, 16.0) is None
    assert figures.smooth(curve[:2]) == [(1500, 1.5)]


def test_bear_off_errors_of_a_player_that_makes_none():
    """`tidy:3` takes off as many checkers as it can; a random player does not."""
    game = system_player("tidy:3").game
    assert game.id == "backgammon"
    turns, errors = testers.bear_off(system_player("tidy:3"), jax.random.key(0), 90)
    assert turns > 1000 and errors == 0
    turns, errors = testers.bear_off(system_player("simple:1"), jax.random.key(0), 90)
    assert turns > 100 and 0.01 < np.asarray(errors) / turns < 1


def system_player(spec):
    return make(spec, RECIPES["td-gammon"].settings["ebert-2007"].network().game)
