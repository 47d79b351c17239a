"""The reproduction of Ebert's comparison: its published figures, and what it measures of networks that do nothing."""

import json
from pathlib import Path
from typing import NamedTuple

import jax
import numpy as np
import pytest

from jaxgames.algos.td.step_sizes import GAMES_BETWEEN_TESTS, GAMES_PER_TEST, STEP_SIZES, TESTS
from jaxgames.matches.knockout import BEHIND
from jaxgames.players import make
from jaxgames.recipes import RECIPES
from jaxgames.recipes.report import Report
from jaxgames.recipes.reproduce import system_named
from jaxgames.recipes.reproduce.study import Study
from jaxgames.recipes.reproduce.td_gammon import figures, published, testers, trained, wish

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


class Saved(NamedTuple):
    """What the parts ask of a training: its networks after every 1,000 games."""

    players: tuple[str, ...]
    every: int = 1000

    @property
    def games(self):
        return self.every * len(self.players)

    def after(self, games):
        return self.players[games // self.every - 1]


def test_figures_have_all_networks_and_quick_ones_the_first_and_the_last(tmp_path):
    found = Saved(("a", "b", "c"))
    for quick, ages in ((False, [1000, 2000, 3000]), (True, [1000, 3000])):
        study = Study.create(tmp_path / str(quick), "td-gammon", quick, 0, Report(quiet=True))
        assert figures.ages(study, found) == ages
    assert figures.ages(study, Saved(("a",))) == [1000]


def test_the_wish_is_td_for_longer_and_its_last_network_plays(tmp_path, monkeypatch):
    assert trained.RECIPES["wish"][:3] == (*trained.RECIPES["td"][:2], 3_000_000)
    networks = {"wish": Saved(("first", "middle", "last")), "td": Saved(("one", "two"))}
    met = []

    def match(a, b, games, seed, batch):
        met.append((a, b, games, seed))
        return Result()

    class Result:
        def to_dict(self):
            return {"ppg": 0.3, "ppg_low": 0.2, "ppg_high": 0.4}

    monkeypatch.setattr(wish, "trained", lambda study, name: networks[name])
    monkeypatch.setattr(wish, "player", lambda study, name: f"the player {name}")
    monkeypatch.setattr(wish, "match", match)
    monkeypatch.setattr(wish, "meet", lambda study, a, b, games: {"ppg": 0.1, "ppg_low": 0.0, "ppg_high": 0.2})
    study = Study.create(tmp_path / "whole", "td-gammon", False, 5, Report(quiet=True))
    rows = wish.rows(study)
    assert met == [("last", f"the player {name}", 10_000, 6) for name in ("td", "pubeval", "tidy:3")]
    assert [row.ours for row in rows] == [0.3] * 3 + [0.1] * 2
    assert rows[0].what == "after 3,000 games, against td" and (rows[0].low, rows[0].high) == (0.2, 0.4)
    quick = Study.create(tmp_path / "quick", "td-gammon", True, 5, Report(quiet=True))
    (row,) = wish.rows(quick)
    assert row.ours is None and "quick" in row.why and len(met) == 3
