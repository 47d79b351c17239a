"""The benchmarks' shared helpers, and one benchmark run from end to end; what they measure is no matter of tests."""

import importlib
import json
import subprocess
import sys
import warnings
from functools import partial
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.oracles import oracle

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"


@pytest.fixture
def helpers(monkeypatch):
    """The modules that the scripts import from beside them."""
    monkeypatch.setattr(sys, "path", [str(BENCHMARKS), *sys.path])
    names = ("_common", "_figures", "_machine", "table")
    yield type("Helpers", (), {name.strip("_"): importlib.import_module(name) for name in names})
    for name in names:
        sys.modules.pop(name, None)


@pytest.fixture(scope="module")
def result():
    """What a tiny run prints as JSON."""
    script = [sys.executable, str(BENCHMARKS / "move_choice.py"), "--quick", "--json"]
    run = subprocess.run(script, capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout), run.stderr


def test_timings_have_other_inputs_each_time_and_no_warm_up(helpers):
    program, seconds = helpers.common.compiled(lambda x: x + 1, jnp.float32(0))
    assert seconds > 0
    timings = helpers.common.timed(lambda number: program(jnp.float32(number)), float, repeats=3, warm_ups=2)
    assert [timing.amount for timing in timings] == [3.0, 4.0, 5.0]
    assert all(timing.wall > 0 for timing in timings)


def test_a_rate_is_the_median_of_its_repeats(helpers):
    timings = [helpers.figures.Timing(10, wall, 2 * wall) for wall in (1.0, 2.0, 5.0)]
    figure = helpers.common.rate("work", "us", "units/s", timings, at_least=6.0)
    assert (figure.value, figure.range, figure.cores, figure.reached) == (5.0, (2.0, 10.0), 2.0, False)


def test_ratios_are_of_rates_only(helpers):
    rates = [helpers.figures.Figure("work", by, "units/s", (value,)) for by, value in (("us", 300.0), ("peer", 20.0))]
    losses = [helpers.figures.Figure("loss", by, "points", (0.1,)) for by in ("us", "peer")]
    assert helpers.figures.Comparison("work", *rates).ratio == 15.0
    assert helpers.figures.Comparison("loss", *losses).ratio is None


def test_names_of_machines(helpers):
    cpu = {"cpu": "Intel(R) Xeon(R) Platinum 8481C CPU @ 2.70GHz", "cores": 8, "devices": ["cpu: cpu"]}
    assert helpers.machine.machine_name(cpu) == "intel-xeon-platinum-8481c-8-cores"
    gpu = cpu | {"devices": ["gpu: NVIDIA H200"]}
    assert helpers.machine.machine_name(gpu) == "nvidia-h200-1-devices"


def test_a_run_prints_figures_machine_and_versions(result):
    content, table = result
    assert {"subject", "date", "machine", "versions", "figures", "comparisons", "checks"} <= content.keys()
    assert content["machine"]["cores"] >= 1 and content["versions"]["jax"]
    by_random = next(figure for figure in content["figures"] if figure["what"] == "random")
    assert by_random["low"] < by_random["value"] < by_random["high"]
    assert "equity" in table and "random" in table


def test_the_table_of_the_readme(helpers, result):
    content = result[0] | {
        "comparisons": [
            {
                "what": "games",
                "unit": "games/s",
                "ours_text": "4,600",
                "peer": 400.0,
                "peer_text": "400",
                "peer_name": "pgx",
                "ratio": 11.5,
                "published": "",
            }
        ]
    }
    (text,) = helpers.table.tables([content])
    assert "| games | 4,600 games/s | 400 games/s (pgx) | 12x |" in text.splitlines()
    assert content["machine"]["cpu"] in text


def test_void_figures_are_not_saved(helpers, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["benchmark", "--quick", "--save"])
    with pytest.raises(SystemExit):
        helpers.common.parsed(helpers.common.parser("a benchmark"))
    assert "void" in capsys.readouterr().err


@pytest.fixture
def play(helpers):
    """The modules of the benchmark of random play, `games.py` as `script`."""
    names = {"script": "games", "loops": "_games", "timing": "_games_timing", "openspiel": "_openspiel"}
    yield type("Play", (), {short: importlib.import_module(name) for short, name in names.items()})
    for name in names.values():
        sys.modules.pop(name, None)


def test_what_random_play_keeps_is_written_in_every_step(play):
    game = play.loops.make("tic_tac_toe")
    loop = play.timing.Compiled(partial(play.loops.written, game, steps=4), 32, 8, 0.001, 0, copies=False)
    steps, ended = loop.run()
    observation, mask, rewards, ends = loop.carry[1]
    assert steps == 32 * loop.blocks * 4 and 0 < ended < steps / 5
    np.testing.assert_array_equal(mask, ~jnp.any(observation, -1).reshape(4, 32, 9))
    pieces = np.asarray(observation).sum((2, 3, 4))
    np.testing.assert_array_equal(pieces[1:], np.where(ends, 0, pieces + 1)[:-1])
    assert not np.asarray(rewards)[~np.asarray(ends)].any()
    assert play.timing.written_in_loop(loop.text, loop.loop.kept)


def test_arrays_that_are_only_filled_are_not_written(play):
    kept = (jax.ShapeDtypeStruct((4, 32, 9), jnp.bool_),)
    filled = jax.jit(
        lambda n: jax.lax.fori_loop(0, n, lambda i, x: jnp.zeros((4, 32, 9), bool), jnp.ones((4, 32, 9), bool))
    )
    assert not play.timing.written_in_loop(filled.lower(jnp.int32(3)).compile().as_text(), kept)


def test_repeats_are_taken_in_turn(play):
    class Runner:
        by, unit, compile_seconds = "us", "steps", None

        def __init__(self, mode, games):
            self.mode, self.games = mode, games

        def run(self):
            order.append(self.mode)
            return 100, self.games

    order: list[str] = []
    runners = [Runner("a", 10), Runner("b", None), Runner("c", 40)]
    found = play.timing.in_turn(runners, 2)
    assert "".join(order) == "abcabc" and [games for _, games in found] == [20, None, 80]
    assert play.timing.lengths(runners, found) == {("us", "steps"): 4.0}


def test_what_is_asked_is_a_multiple_of_the_peer(play, helpers):
    runner = type("Runner", (), {"by": "us", "unit": "turns", "compile_seconds": None, "mode": "whole turns"})()
    timings, length = [helpers.figures.Timing(1000, 1.0, 1.0)], {("us", "turns"): 50.0}
    peer = tuple(
        helpers.figures.Figure("", "pgx", unit, (value,)) for unit, value in (("steps/s", 400.0), ("games/s", 3.0))
    )
    report = helpers.figures.Report("games", "")
    turns, games = play.timing.figures(report, "x", runner, timings, length, peer, 10)
    assert (turns.at_least, games.value, games.at_least, games.reached) == (None, 20.0, 30.0, False)


def test_shares_of_wins_differ_by_chance_only(play):
    exact = (10**12, play.script.FIRST_WINS, play.script.SECOND_WINS)
    assert play.script.agree((20_000, 0.583, 0.290), exact)
    assert not play.script.agree((20_000, 0.583, 0.310), exact)
    assert not play.script.agree((20_000, 0.600, 0.288), exact)


def test_openspiel_plays_whole_games(play):
    oracle("pyspiel")
    for mode in (play.openspiel.OpenSpiel.PLAIN, play.openspiel.OpenSpiel.LEAN):
        spiel = play.openspiel.OpenSpiel("tic_tac_toe", 0.05, 0, mode)
        steps, games = spiel.run()
        assert 5 < steps / games < 9 and spiel.first > spiel.second


@pytest.mark.parametrize("wrong", [["--games", "go"], ["--batch", "0"], ["--modes", ""], ["--against", "us"]])
def test_options_of_random_play(play, wrong, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["games.py", *wrong])
    with pytest.raises(SystemExit):
        play.script.main()
    assert "known:" in capsys.readouterr().err or wrong[0] == "--batch"


@pytest.fixture
def searches(helpers):
    """The modules of the benchmark of searches, `search.py` as `script`."""
    names = {"script": "search", "programs": "_search"}
    yield type("Searches", (), {short: importlib.import_module(name) for short, name in names.items()})
    for name in (*names.values(), "_games_timing", "_games"):
        sys.modules.pop(name, None)


def test_mctx_is_given_the_same_work(searches):
    """The same positions in pgx's game and in ours, and the same visits at the root."""
    oracle("mctx")
    oracle("pgx")
    programs, batch, simulations = searches.programs, 16, 24
    game, env = programs.make("tic_tac_toe"), programs.pgx_game("tic_tac_toe")
    params = programs.linear(game, jax.random.key(0))
    states, actions = programs.actions_played(game, jax.random.key(1), batch)
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        theirs = programs.replayed(env, actions)
    np.testing.assert_array_equal(states.observation, theirs.observation)
    jax.config.update("jax_disable_most_optimizations", True)
    try:
        with warnings.catch_warnings(), jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
            warnings.simplefilter("ignore")  # mctx's own
            expected = jax.jit(programs.mctx(env, simulations))(params, theirs, jax.random.key(2))[0]
        visits = jax.jit(programs.ours(game, simulations))(params, states, jax.random.key(3))[0]
    finally:
        jax.config.update("jax_disable_most_optimizations", False)
    assert np.unique(np.asarray(visits), axis=0).shape[0] > 8
    np.testing.assert_array_equal(visits, expected)


def test_searches_that_differ_are_no_comparison(searches, helpers):
    report = helpers.figures.Report("search", "")
    ours, theirs = (type("Search", (), {"by": by, "visits": [jnp.zeros((4, 3))]})() for by in ("us", "mctx"))
    searches.script.agree(report, "same", ours, theirs)
    theirs.visits = [jnp.zeros((4, 3)).at[1, 2].set(1)]
    searches.script.agree(report, "other", ours, theirs)
    assert list(report.checks.values()) == [True, False]


def test_long_searches_are_run_once(searches, helpers):
    class Runner:
        by, unit = "us", "simulations"

        def __init__(self, seconds):
            self.runs, self.first = 0, helpers.figures.Timing(5.0, seconds, seconds)

        def run(self):
            self.runs += 1
            return 10, None

    short, long = Runner(1.0), Runner(60.0)
    timings = searches.programs.measured([long, short], 3)
    assert (long.runs, short.runs) == (0, 3)
    assert timings[0] == [long.first] and [timing.amount for timing in timings[1]] == [10, 10, 10]
