"""The reproduction of S. Goeppert's tables: published figures as in the text, and what its cells play."""

import itertools
import types

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgames.algos import mcts
from jaxgames.matches import solved
from jaxgames.recipes.report import Report
from jaxgames.recipes.reproduce import Study, system_named
from jaxgames.recipes.reproduce.connect_four_mcts import matches, networks, searches, tables
from jaxgames.recipes.reproduce.connect_four_mcts.matches import GAME, play, sweep
from jaxgames.recipes.reproduce.rows import published

PUBLISHED = published("connect_four_mcts")


def test_published_tables_have_a_search_for_each_row_and_a_figure_for_each_column():
    for name, table in PUBLISHED.items():
        if isinstance(table, str):
            continue
        columns = next((table[key] for key in ("Cp", "weights", "iterations") if key in table), None)
        for label, row in table["rows"].items() if columns and name != "move scores" else ():
            assert len(row) == len(columns) and all(0 < percent < 100 for percent in row), (name, label)
    assert set(PUBLISHED["table 11"]["rows"]) == set(PUBLISHED["table 12"]["rows"])
    assert set(PUBLISHED["table 1"]["rows"]) == set(PUBLISHED["table 2"]["rows"]) == set(networks.NETWORKS)
    assert set(PUBLISHED["move scores"]["rows"]) == {"random", *searches.SCORED}
    assert set(PUBLISHED["speeds"]["rows"]) == set(searches.SPEEDS)
    assert set(PUBLISHED["table 13"]["rows"]) == set(tables.AGENTS)
    for name, kinds in tables.KINDS.items():
        assert not isinstance(kinds, dict) or set(kinds) == set(PUBLISHED[name]["rows"])


def test_move_scores_are_means_of_runs_on_all_positions(tmp_path, monkeypatch):
    every = [one for file in searches.POSITIONS for one in solved.read(file)]
    assert len({one.board.tobytes() for one in every}) == 1000
    assert all(one.score == max(one.moves) for one in every)
    asked = []

    def judge(player, positions, seed, batch):
        asked.append((player.name, len(positions), batch))
        return [(number < 4000, number % 2 == 0) for number in range(len(positions))], 1.0

    monkeypatch.setattr(searches.solved, "judge_moves", judge)
    monkeypatch.setattr(searches, "SCORED", {"UCT": searches.SCORED["UCT"]})
    study = Study.create(tmp_path / "s", "connect-four-mcts", False, 0, Report(quiet=True))
    rows = searches.move_scores(study)
    assert asked[0] == ("random", 10_000, 1000) and len(asked) == 7
    assert [(row.what, row.ours, row.published) for row in rows[:2]] == [
        ("random, perfect", 40.0, 25.8), ("random, good", 50.0, 67.8)
    ]  # fmt: skip
    assert rows[0].high - rows[0].ours == pytest.approx(
        1.959964 * 100 * (0.24 / 9) ** 0.5
    )  # four runs of ten all right
    assert rows[1].high == 50.0, "all runs alike"


def test_a_cell_has_the_constants_of_its_row_and_column(tmp_path, monkeypatch):
    """Cp is 2 c; and every pair has two games."""
    asked = []

    def play(own, other, number, pairs, seed, slots):
        asked.append((own, other))
        return [(0.5, 0.4, 0.6)] * number

    monkeypatch.setattr(tables, "sweep", lambda rule, evaluate, settings, pairs, simulations, keep: settings)
    monkeypatch.setattr(tables, "play", play)
    study = Study.create(tmp_path / "s", "connect-four-mcts", False, 0, Report(quiet=True))
    rows = tables.by_cp("table 3", study)
    assert asked[0] == ({"c": [cp / 2 for cp in PUBLISHED["table 3"]["Cp"]]}, {"c": [0.5]})
    assert [row.ours for row in rows] == [75.0] * len(rows) and rows[0].learner.startswith("500 games")
    names = [row.what for row in tables.by_cp("table 6", study)]
    own, other = asked[1]
    assert names == [f"k {k:g}, Cp {2 * c:g}" for k, c in zip(own["k"], own["c"], strict=True)]
    assert other == {"c": [0.4]} and names[0] != names[-1]


@pytest.fixture(scope="module")
def uct():
    return sweep(mcts.uct(), mcts.rollout(), {"c": [0.4]}, 2, 8)


def test_settings_of_a_sweep_are_those_of_their_games():
    """Game n of a sweep searches with the constants of setting n // pairs, and keeps what it learned."""
    player = sweep(mcts.rave(), searches.REPLIES, {"c": [0.1, 2.0], "k": [10.0, 99.0]}, 3, 24, keep=True)
    games = jnp.arange(6, dtype=jnp.int32)
    numbers, learned = player.begin(games)
    np.testing.assert_allclose(numbers["c"], [0.1] * 3 + [2.0] * 3)
    np.testing.assert_allclose(numbers["k"], [10] * 3 + [99] * 3)
    opening = jax.tree.map(lambda x: jnp.broadcast_to(x, (6,)), GAME.init_position(jax.random.key(0)))
    bits = jax.random.bits(jax.random.key(1), (6,))
    outcome, (_, after) = player.play(opening, bits, (numbers, learned))
    found = mcts.search_positions(GAME, opening, bits, 24, mcts.rave(), searches.REPLIES, final="mean", numbers=numbers)
    right = jax.jit(jax.vmap(GAME.play))(opening, found.actions)
    jax.tree.map(np.testing.assert_array_equal, outcome, right)
    np.testing.assert_array_equal(after, found.memory.reshape(-1, 6).T)


def test_a_stronger_setting_makes_more_points(uct):
    strong = sweep(mcts.uct(), mcts.rollout(), {"c": [0.5, 0.5]}, 16, 64)
    weak = sweep(mcts.uct(), mcts.rollout(), {"c": [0.4]}, 16, 2)
    found = play(strong, weak, 2, 16, 0, 64)
    assert len(found) == 2 and all(low <= mean <= high and mean > 0.2 for mean, low, high in found)


def test_trees_are_kept_from_move_to_move(monkeypatch):
    seen = []
    search = mcts.search

    def spy(*args, **options):
        found = search(*args, **options)
        seen.append(float(found.visits.sum(axis=1).max()))
        return found

    monkeypatch.setattr(matches.mcts, "search", spy)
    one = matches.Keeper(mcts.uct(0.4), mcts.rollout(), 16, 16)
    points = matches.play_with_trees(one, one, 4, 0)
    assert points.shape == (4,) and set(points.tolist()) <= {-1.0, 0.0, 1.0}
    assert seen[0] == 16 and max(seen) > 16


def test_times_of_a_game_and_of_a_match_are_in_percent_of_the_budget(monkeypatch):
    """By a clock that goes on by a second whenever it is read."""
    seconds = itertools.count()
    monkeypatch.setattr(searches.time, "perf_counter", lambda: float(next(seconds)))
    found = searches.timed("random", "weak:0.5:random", 4.0)
    assert set(found["longest"].values()) == {25.0}
    one, other = found["moves"].values()
    assert 4 <= one <= 21 and one - other in (0, 1)
    assert 7 <= found["plies"] <= 42
    assert found["match"] == pytest.approx(100 / (4.0 * found["plies"]))


def test_rows_that_are_left_out_say_so(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "QUICK_CELLS", ())
    study = Study.create(tmp_path / "s", "connect-four-mcts", True, 0, Report(quiet=True))
    rows = tables.by_cp("table 6", study)
    assert len(rows) == 25 and all(row.verdict == "not done" and row.why for row in rows)
    assert rows[0].what == "k 10, Cp 0.2" and rows[15].what == "k 100, Cp 0.2" and rows[15].published == 61.6
    assert len(system_named("connect-four-mcts").parts) == 25


def test_networks_have_the_iterations_that_the_author_s_had(tmp_path, monkeypatch):
    """Each agent its own network, rule and half of a leaf's value, in the time of UCT on his machine."""
    played = []

    def fake_match(own, other, games, seed):
        played.append((*own, int(other.params[1]), games))
        return types.SimpleNamespace(to_dict=lambda: {"ppg": 0.0, "ppg_low": -0.2, "ppg_high": 0.2})

    monkeypatch.setattr("jaxgames.recipes.reproduce.study.match", fake_match)
    monkeypatch.setattr(networks, "_agent", lambda study, *asked: asked)
    monkeypatch.setattr(networks, "_speeds", lambda study: {"UCT": 1000.0, "DenseNet": 250.0, "ConvNet": 10.0})
    monkeypatch.setattr(networks, "_train_all", lambda study: None)
    study = Study.create(tmp_path / "s", "connect-four-mcts", False, 0, Report(quiet=True))
    rows = networks.table_12(study)
    assert [row.published for row in rows] == [x for line in PUBLISHED["table 12"]["rows"].values() for x in line]
    assert all((row.ours, row.low, row.high) == (50, 40, 60) for row in rows)
    assert played[0] == ("DenseNetNorm", networks.UCT, 0.5, 130, 1000, 300)
    assert played[11] == ("DenseNetNorm", networks.SEARCHES["LGR"], 0.5, 476, 4000, 300)
    assert played[23] == ("ConvNetNorm", networks.SEARCHES["RAVE-LGR"], 0.5, 208, 4000, 300)
    played.clear()
    rows = networks.table_2(study)
    assert [row.published for row in rows[:8]] == [x for line in PUBLISHED["table 2"]["rows"].values() for x in line]
    assert played[1] == ("DenseNet", networks.UCT, 0.85, 100, 400, 400)
    assert [one[4] for one in played[8:]] == [100, 400, 100, 10_000]  # as many, and as much time


@pytest.mark.slow
def test_networks_learn_and_play(tmp_path, monkeypatch):
    """All of their tables, by networks that learned 64 games."""
    small = {"GAMES": 64, "SHARD": 64, "TEACHER": "uct:8", "FEW": 200, "SWEPT_POSITIONS": 500}
    one = {kind: {"epochs": "1"} for kind in networks.FORMS}
    small |= {"SWEPT": one, "FINAL": one, "MATCH": {"table 2": 2, "table 12": 2}}
    small |= {"LENGTHS": {"figure-18": {"epochs": "2", "positions": "200"}}, "LONG": {"epochs": "2"}}
    small |= {"FORMS": {"dense": ({"hidden": "4"}, {"hidden": "8"}), "conv": ({"convolutions": "4", "hidden": "8"},)}}
    for name, value in small.items():
        monkeypatch.setattr(networks, name, value)
    study = Study.create(tmp_path / "s", "connect-four-mcts", False, 0, Report(quiet=True))
    measured = [networks.table_1, networks.table_2, networks.table_11, networks.table_12]
    rows = [row for measure in measured for row in measure(study)]
    assert len(rows) == 1 + 2 + 8 + 6 + 8 + 4 + 6 + 24 and all(row.ours is not None for row in rows)
    for figure in networks.CURVES:
        rows_of_it = networks.curves(figure, study)
        assert all(row.ours is not None for row in rows_of_it) and "squared" in rows_of_it[-2].what
        networks.draw_curves(figure, study, rows_of_it, study.path / f"{figure}.png")
        assert (study.path / f"{figure}.png").read_bytes()[:4] == b"\x89PNG"
    assert [row.published for row in networks.times(study)] == [317, 433, 662, 919]
    errors = [row.ours for row in rows if "squared" in row.what]
    assert all(0.1 < error < 0.3 for error in errors[1:3]) and all(0.8 < error < 1.1 for error in errors[3:])
    assert {path.name for path in (study.path / "runs").iterdir() if path.name.startswith("sweep")} >= {
        "sweep dense 4", "sweep dense 8", "sweep conv 4 + 8"
    }  # fmt: skip


def test_networks_are_no_part_of_quick_figures(tmp_path):
    study = Study.create(tmp_path / "s", "connect-four-mcts", True, 0, Report(quiet=True))
    measured = [networks.table_1, networks.table_2, networks.table_11, networks.table_12]
    rows = [row for measure in measured for row in measure(study)]
    assert len(rows) == 4 + 8 + 6 + 24 and all(row.verdict == "not done" and row.why for row in rows)
