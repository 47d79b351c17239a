"""The reproduction of Ebert's comparison: its published figures, and what it measures of networks that do nothing."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgames.algos.td.config import GAMES_BETWEEN_TESTS, GAMES_PER_TEST, STEP_SIZES, TESTS
from jaxgames.envs.backgammon import board
from jaxgames.matches.knockout import BEHIND
from jaxgames.players.generic import greedy
from jaxgames.recipes import RECIPES
from jaxgames.recipes.report import Report
from jaxgames.recipes.reproduce import system_named
from jaxgames.recipes.reproduce.rows import published
from jaxgames.recipes.reproduce.study import Study
from jaxgames.recipes.reproduce.td_gammon import tables, trained, trials

PUBLISHED = published("td_gammon")


def test_published_figures_fit_together():
    """What a player wins the other one loses; points of Extra and TD over 10,000 games are their difference."""
    table = PUBLISHED["table 5.2"]
    assert list(table["PPG"]) == table["players"]
    for row, name in enumerate(table["players"]):
        for column, other in enumerate(table["players"]):
            ppg = table["PPG"][name][column]
            assert (ppg is None) == (row == column) and (ppg is None or ppg == -table["PPG"][other][row])
    methods = {"mutation", "backprop", "td"}
    curves = PUBLISHED["5.1"]
    for by_method in (
        PUBLISHED["table 5.1"], curves["games trained, more than"], curves["top against pubeval"],
        curves["flat against random"]["after games"],
    ):  # fmt: skip
        assert set(by_method) == methods == set(trained.METHODS)
    assert all(PUBLISHED["table 5.1"][name] <= curves["games trained, more than"][name] for name in methods)
    extra, td = PUBLISHED["5.4"]["points of extra and of td"]
    assert PUBLISHED["5.4"]["PPG against td"] == pytest.approx((extra - td) / table["games"])


def test_settings_are_those_of_the_text():
    typed, shape = PUBLISHED["4.3"], PUBLISHED["4.1"]
    assert list(STEP_SIZES) == typed["step sizes"]
    assert (GAMES_BETWEEN_TESTS, GAMES_PER_TEST) == (typed["games between tests"], typed["games of a test"])
    assert TESTS == typed["tests in a row"] and TESTS * GAMES_BETWEEN_TESTS == typed["games younger"]
    assert BEHIND == PUBLISHED["5.2.1"]["points behind"]
    td, backprop = (RECIPES[name].settings["ebert-2007"] for name in ("td-gammon", "backgammon-backprop"))
    climb = RECIPES["backgammon-hill-climb"].settings["ebert-2007"]
    assert td.lambda_ == typed["lambda"] and climb.sigma == typed["mutation"]
    for setting in (td, backprop, climb):
        values = setting.values()
        assert (*values["hidden"], values.get("outputs", 4)) == (shape["hidden"], shape["outputs"])
        assert values["cumulative"] and not values["biases"] and values["activation"] == "sigmoid"
        assert setting.schedule == "tested"
    assert td.network().encoding.size == shape["inputs"]
    assert RECIPES["td-gammon"].settings["ebert-2007-extra"].network().encoding.size == PUBLISHED["5.4"]["inputs"]
    assert climb.network.genomes().dimension == 198 * 40 + 40 * 4


def test_every_part_has_a_key_of_its_own():
    system = system_named("td-gammon")
    assert len({part.key for part in system.parts}) == len(system.parts) > 8
    assert "Ebert" in system.citation and "2007" in system.citation


def test_curves():
    curve = [(1000 * i, float(i)) for i in range(1, 21)]
    means = tables.smooth(curve)
    assert len(means) == 11 and means[0] == (5500, 5.5) and means[-1] == (15500, 15.5)
    assert tables.reached(curve, 7.0) == 7500 and tables.reached(curve, 16.0) is None
    assert tables.smooth(curve[:2]) == [(1500, 1.5)]


def left_behind(sign):
    """Values of a player who comes home, and then takes off as many checkers as it can, or with -1 as few."""
    squares = jnp.asarray(np.arange(1, 26) ** 2, jnp.float32)

    def value(positions):
        of_mover = board.to_counts(positions.opponent).astype(jnp.float32)
        return 1e4 * sign * of_mover.sum(axis=-1) + of_mover @ squares

    return value


def test_bear_off_errors_of_a_player_that_makes_none():
    """And of one that makes them on purpose. One program for both."""
    game = RECIPES["td-gammon"].settings["ebert-2007"].network().game
    assert game.id == "backgammon"
    found = []
    for sign in (1, -1):
        player = greedy(game, "bearer", jnp.float32(sign), left_behind)
        turns, errors = trials.bear_off(player, jax.random.key(0), 90)
        assert turns > 1000
        found.append(int(errors) / int(turns))
    assert found[0] == 0 and 0.3 < found[1] < 1


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
        assert tables.ages(study, found) == ages
    assert tables.ages(study, Saved(("a",))) == [1000]


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

    monkeypatch.setattr(tables, "trained", lambda study, name: networks[name])
    monkeypatch.setattr(tables, "player", lambda study, name: f"the player {name}")
    monkeypatch.setattr("jaxgames.recipes.reproduce.study.match", match)
    monkeypatch.setattr(tables, "meet", lambda study, a, b, games: {"ppg": 0.1, "ppg_low": 0.0, "ppg_high": 0.2})
    study = Study.create(tmp_path / "whole", "td-gammon", False, 5, Report(quiet=True))
    rows = tables.longer(study)
    assert met == [("last", f"the player {name}", 10_000, 6) for name in ("td", "pubeval", "tidy:3")]
    assert [row.ours for row in rows] == [0.3] * 3 + [0.1] * 2
    assert rows[0].what == "after 3,000 games, against td" and (rows[0].low, rows[0].high) == (0.2, 0.4)
    quick = Study.create(tmp_path / "quick", "td-gammon", True, 5, Report(quiet=True))
    (row,) = tables.longer(quick)
    assert row.ours is None and "quick" in row.why and len(met) == 3


def test_step_sizes_are_compared_by_the_lowest_and_the_highest(tmp_path, monkeypatch):
    """And who played cannot play again: people are told, not measured."""
    begun = []

    def train(study, name, recipe, setting, changes, **more):
        RECIPES[recipe].settings[setting].change(changes)
        begun.append((recipe, changes))

    def result_of(study, name):
        ppg = -float(name.rpartition(" ")[2])
        met = {"ppg": ppg, "ppg_low": ppg - 0.3, "ppg_high": ppg + 0.4}
        return {"matches": [met | {"b": "random"}, met | {"b": "pubeval"}]}

    monkeypatch.setattr(Study, "train", train)
    monkeypatch.setattr(Study, "result_of", result_of)
    study = Study.create(tmp_path / "s", "td-gammon", False, 0, Report(quiet=True))
    rows = trials.step_sizes(study)
    sizes = PUBLISHED["4.3"]["step sizes tried"]
    assert len(rows) == 3 * (len(sizes) + 1) and len(begun) == 12
    assert begun[0] == ("td-gammon", {"schedule": "constant", "step_size": "0.05"})
    assert begun[-1] == ("backgammon-hill-climb", {"schedule": "constant", "factor": "0.5"})
    for gain in rows[len(sizes) :: len(sizes) + 1]:
        assert (gain.ours, gain.low, gain.high) == pytest.approx((0.45, -0.05, 0.95))
        assert gain.verdict == "not confirmed"
    told = trials.people(study)
    assert len(told) == 8 and all(row.verdict == "not done" for row in told) and told[-1].text == "0.3 to 0.6"
    assert told[0].published * 10 == 13 - 5 and told[4].published * 45 == pytest.approx(42 - 24)
