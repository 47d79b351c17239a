"""The benchmarks' shared helpers, and one benchmark run from end to end; what they measure is no matter of tests."""

import datetime
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
        "commit": None,
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
        ],
    }
    (text,) = helpers.table.tables([content])
    assert "| games | 4,600 games/s | 400 games/s (pgx) | 12x |" in text.splitlines()
    assert content["machine"]["cpu"] in text


def test_each_series_of_jax_has_a_column(helpers, result):
    """The newest first, also where it sorts last as a text; its peer and ratio are shown; other machines are apart."""

    def of(jax, what, ours, ratio, cpu="one"):
        peer = {"peer": 1.0, "peer_text": "1", "peer_name": jax, "ratio": ratio, "published": ""}
        found = {
            "commit": None,
            "figures": [],
            "comparisons": [{"what": what, "unit": "/s", "ours_text": ours, **peer}],
        }
        return result[0] | found | {"versions": {"jax": jax}, "machine": result[0]["machine"] | {"cpu": cpu}}

    found = [of("0.9.1", "x", "3", 3.0), of("0.10.2", "x", "5", 5.0), of("0.9.1", "y", "7", 7.0)]
    first, second = helpers.table.tables([*found, of("0.9.0", "x", "9", 9.0, cpu="two")])
    assert first.splitlines()[:4] == [
        "| measured | jaxgames, jax 0.10 | jaxgames, jax 0.9 | peer | ratio |",
        "|---|--:|--:|--:|--:|",
        "| x | 5 /s | 3 /s | 1 /s (0.10.2) | 5x |",
        "| y | - | 7 /s | 1 /s (0.9.1) | 7x |",
    ]
    assert second.splitlines()[2] == "| x | 9 /s | 1 /s (0.9.0) | 9x |"


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
    found = {"visits": [jnp.zeros((4, 3))]}
    ours, theirs = (type("Search", (), found | {"by": by, "name": by})() for by in ("us", "mctx"))
    searches.programs.compare_visits(report, "same", ours, theirs)
    theirs.visits = [jnp.zeros((4, 3)).at[1, 2].set(1)]
    searches.programs.compare_visits(report, "other", ours, theirs)
    assert list(report.checks.values()) == [True, False]


@pytest.mark.slow
def test_blocks_of_positions_find_the_same(searches, compiled_quickly):
    """And the positions that a slow peer searches are the first ones."""
    programs, batch = searches.programs, 8
    game = programs.make("tic_tac_toe")
    params = programs.linear(game, jax.random.key(0))
    states, _ = programs.actions_played(game, jax.random.key(1), batch)
    search = programs.ours(game, 8)
    expected = search(params, states, jax.random.key(2))[0]
    found = jax.jit(programs.in_blocks(search, 2))(params, states, jax.random.key(3))[0]
    np.testing.assert_array_equal(found, expected)
    slow = programs.by_blocks("them", search, params, states, 8, 2, speed=8 * 4 / programs.PEER_SECONDS, seconds=0.01)
    np.testing.assert_array_equal(slow.visits[0], expected[:4])
    assert slow.name == "them, blocks of 2, 4 of the positions" and slow.run()[0] == slow.calls * 4 * 8


@pytest.mark.slow
def test_the_network_alone_evaluates_as_often_as_a_search(searches, compiled_quickly):
    networks = importlib.import_module("search_networks")
    sys.modules.pop("search_networks")
    game, calls = searches.programs.make("connect_four"), []
    states, _ = searches.programs.actions_played(game, jax.random.key(0), 4)
    for _, make, apply in networks.NETWORKS.values():
        params = make(game, jax.random.key(1))
        logits, values = apply(params, states.observation)
        assert logits.shape == (4, 7) and values.shape == (4,) and np.std(logits) > 0

    def counted(params, observation):
        jax.debug.callback(lambda: calls.append(1))
        return apply(params, observation)

    jax.block_until_ready(networks.evaluations(counted, 5)(params, states, jax.random.key(2)))
    jax.effects_barrier()
    assert len(calls) == 5


def test_pieces_of_openspiel_are_counted(searches):
    checkers = importlib.import_module("alpha_beta")
    sys.modules.pop("alpha_beta")
    board = "8.+.+.+.+\n7+.+.8.+.\n6.+.*.+.+\n5........\n4........\n3o.o.o.o.\n2.o.8.o.o\n1o.o.o.o.\n abcdefgh\n"
    rows = [line[1:] for line in board.splitlines()[:8]]
    counted = sum(row.count("o") + 1.5 * row.count("8") - row.count("+") - 1.5 * row.count("*") for row in rows)
    assert checkers.pieces(board) == counted != 0


@pytest.mark.parametrize("by", ["driver", "by_rollout", "limit"])
def test_a_policy_loop_stores_what_it_plays(play, compiled_quickly, by):
    loops = importlib.import_module("policy_loop")
    sys.modules.pop("policy_loop")
    game, batch = play.loops.make("tic_tac_toe"), 32
    if by == "limit":
        loop = loops.driver(loops.LIMIT, loops.Nothing(game), batch)
    else:
        loop = loops.by_rollout(game, batch) if by == "by_rollout" else loops.driver(loops.OURS, game, batch)

    @jax.jit
    def run(key):
        states = play.loops.new_games(loop.fresh, key, batch)
        return loop.block((states, loop.more(states)), key)

    (_, (_, kept)), ended = run(jax.random.key(0))
    observation, mask, actions, rewards, ends = map(np.asarray, kept)
    assert [array.shape for array in (observation, mask)] == [array.shape for array in loop.kept]
    np.testing.assert_array_equal(mask, ~observation.any(-1).reshape(loops.STEPS, batch, 9))
    assert np.take_along_axis(mask, actions[..., None], 2).all()
    assert ended == ends.sum() and not rewards[~ends].any()
    if by == "limit":
        assert not ends.any() and (observation[0] != observation[1]).any()
        assert (observation[::2] == observation[0]).all() and (observation[1::2] == observation[1]).all()
    else:
        assert batch < ends.sum() < 4 * batch and not observation[1:][ends[:-1]].any()


def test_advantages_of_ppo_change_sign_with_the_player(play):
    """By hand: X moves, then O twice, and wins; no discount for the value of the position after the end."""
    ppo = importlib.import_module("ppo")
    for name in ("ppo", "policy_loop"):
        sys.modules.pop(name)
    column = lambda *values: jnp.array(values, jnp.float32)[:, None]  # noqa: E731
    value, reward, ended = column(0.5, 0.25, 0.75), column(0, 0, 1), column(0, 0, 1) != 0
    played = ppo.Played(None, None, None, None, value, reward, ended, column(-1, 1, -1))
    found, targets = ppo.advantages(played, jnp.full(1, 9.0, jnp.float32))
    g, both = ppo.DISCOUNT, ppo.DISCOUNT * ppo.LAMBDA
    last = 1 - 0.75
    middle = g * 0.75 - 0.25 + both * last
    np.testing.assert_allclose(found[:, 0], [-g * 0.25 - 0.5 - both * middle, middle, last], rtol=1e-6)
    np.testing.assert_allclose(targets, found + value, rtol=1e-6)


def test_runs_are_merged(helpers):
    """Rows that a run has not measured stay, and say when and on which commit they were measured."""

    def result(date, commit, whats):
        rows = [{"what": what, "value": number} for number, what in enumerate(whats)]
        checks, notes = {f"{what}: well": True for what in whats}, [f"{what}: a note of {date}" for what in whats]
        found = {"date": date, "commit": commit, "clean": True, "settings": {}, "versions": {"jax": "0.12"}}
        found |= {"machine": {"cpu": "x86", "load_average": date}}
        return found | {"figures": rows, "comparisons": rows, "checks": checks, "notes": notes}

    old, new = result("1", "a", ["x, 8", "y, 8", "y, 9"]), result("2", "b", ["y, 8"])
    found = helpers.common.merged(old, new, covers=lambda what: what.startswith("y"))
    for rows in (found["figures"], found["comparisons"]):
        assert [row["what"] for row in rows] == ["x, 8", "y, 8"]
        assert [row.get("commit") for row in rows] == ["a", None]
    assert found["commit"] == "b" and list(found["checks"]) == ["x, 8: well", "y, 8: well"]
    assert found["notes"] == ["x, 8: a note of 1", "y, 8: a note of 2"]
    new["versions"], new["figures"] = {"jax": "0.13"}, [{"what": "x"}]  # no row of "x, 8"
    new["checks"]["games: 98 % end alike"] = True
    old["checks"] |= {
        "x, 8, whole: well": False,
        "x, 81: well": False,
        "games: 97 % end alike": False,
        "x: well": False,
    }
    found = helpers.common.merged(old, new, covers=lambda what: what.startswith("y"))
    assert [row.get("versions") for row in found["figures"]] == [{"jax": "0.12"}, None]
    assert not any("machine" in row for row in found["figures"])
    kept = {"x, 8: well": True, "x, 8, whole: well": False, "x, 81: well": False}
    assert found["checks"] == kept | {"y, 8: well": True, "games: 98 % end alike": True}


def test_a_table_names_each_machine_and_version(helpers):
    machine = {"cpu": "A", "cores": 2, "cores_usable": 2, "memory_gib": 8, "os": "Linux", "python": "3.13"}
    other = machine | {"cpu": "B", "cores_usable": 1}
    rows = [{"what": "x"}, {"what": "y", "machine": other, "versions": {"jax": "0.12.1", "pgx": "2.5"}, "date": "1"}]
    result = {"date": "2", "machine": machine, "versions": {"jax": "0.12.3", "pgx": "2.6"}, "comparisons": rows}
    text = helpers.table.conditions([result])
    assert text.startswith("Measured on 1 to 2: A, 2 cores, 8 GiB, Linux; or B, 1 of 2 cores, 8 GiB, Linux; ")
    assert "jax 0.12.3 and 0.12.1, pgx 2.6 and 2.5." in text


def test_rows_are_stale_whose_code_has_changed(helpers, monkeypatch, tmp_path):
    """With the day on which it changed last; what only moved, what is not run and what is not used has not changed."""
    for module in (helpers.machine, helpers.table):
        monkeypatch.setattr(module, "ROOT", tmp_path)
    git = partial(subprocess.run, cwd=tmp_path, check=True, capture_output=True, text=True)
    days = iter(range(1, 29))

    def commit(path, text):
        """Commits a file on the next day: its number."""
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
        git(["git", "add", "-A"])
        day = next(days)
        date = ["--date", f"2026-01-{day:02}T12:00"]
        git(["git", "-c", "user.name=n", "-c", "user.email=e", "commit", "-qm", text, *date])
        return day

    def mark(sha, what="", subject="search"):
        table, machine = helpers.table, helpers.machine
        for cached in (table.changed, table.ops_of, table.benchmark, machine.present):
            cached.cache_clear()
        return helpers.table.mark({"what": what, "commit": sha}, {"subject": subject, "commit": None, "machine": {}})

    def stale(day):
        return helpers.table.STALE.format(day=f"2026-01-{day:02}")

    assert helpers.machine.commit() == {"commit": None, "clean": None} and mark(None) == ""
    git(["git", "init", "-q"])
    code, ops = "jaxgames/algos/mcts/search.py", "jaxgames/ops"
    commit(code, "1")
    second = commit(code, "from jaxgames.ops import checks, loops\n2")
    first, sha = "HEAD~1", helpers.machine.commit()["commit"]
    assert helpers.machine.commit()["clean"]
    assert mark(sha) == mark("0" * 40) == mark(first, subject="games") == ""
    assert mark(first) == stale(second)
    commit(f"{ops}/checks.py", "1")  # is used while a program is traced
    commit(f"{ops}/subsets.py", "1")  # is not used
    assert mark(sha) == ""
    used = [commit(f"{ops}/loops.py", "from jaxgames.ops import bits"), commit(f"{ops}/bits.py", "1")]
    assert [mark(f"HEAD~{back}") for back in (2, 1, 0)] == [stale(used[1]), stale(used[1]), ""]
    day = commit("jaxgames/envs/backgammon/game.py", "1")
    for what, wanted in (("checkers, PUCT", ""), ("backgammon, PUCT", stale(day)), ("all games", stale(day))):
        assert mark("HEAD~1", what) == wanted
    commit(code, '"""Docs."""\nimport math\nbatch = 3  # games\ndef f(x):\n    """Of x."""\n    return x + batch\n')
    sha = helpers.machine.commit()["commit"]
    (tmp_path / code).write_text('"""Batches."""\n\nbatch = 3\n')
    body = "from search import batch\n\n\n@override\ndef f(x: int) -> int:\n    return x + batch\n"
    commit("jaxgames/algos/mcts/f.py", body)
    assert mark(sha) == ""
    day = commit("jaxgames/algos/mcts/f.py", body.replace("+", "-"))
    commit("jaxgames/algos/mcts/f.py", body.replace("+", "-") + "# A comment.\n")
    assert mark(sha) == stale(day)
    file = "jaxgames/algos/mcts/f.py"
    numbers = [git(["git", "rev-parse", f"{at}:{file}"]).stdout.strip() for at in ("HEAD~2", "HEAD")]
    assert mark("HEAD~2") == stale(day)
    monkeypatch.setitem(helpers.machine.SAME_ON_CPUS, file, numbers)
    assert mark("HEAD~2") == "" and mark("HEAD~2", subject="accelerators") == stale(day)
    monkeypatch.setitem(helpers.machine.SAME_EVERYWHERE, file, numbers)
    assert mark("HEAD~2", subject="accelerators") == ""
    (tmp_path / file).rename(tmp_path / "jaxgames/algos/mcts/g.py")  # another version, in another place
    commit(ops + "/bits.py", "2")
    assert mark("HEAD~3", subject="accelerators") == ""
    monkeypatch.setattr(helpers.table, "HERE", tmp_path / "benchmarks")
    commit("benchmarks/search.py", "from _helper import work\nimport _common")
    commit("benchmarks/_helper.py", "1")
    commit("benchmarks/_common.py", "1")
    day = commit("benchmarks/_helper.py", "2")
    commit("benchmarks/_common.py", "2")  # only writes down
    assert mark("HEAD~2") == stale(day) and mark("HEAD~1") == mark("HEAD~2", subject="games") == ""
    commit(file, "from jaxgames.ops.bits import add\nadd()")
    commit(file, "from jaxgames.ops.other import add\nadd()")  # only lies elsewhere
    assert mark("HEAD~1") == ""
    day = commit(file, "from jaxgames.ops.other import set as add\nadd()")
    assert mark("HEAD~1") == stale(day)
    commit("jaxgames/recipes/td.py", "SETTINGS = 1\ndef show(): pass")
    commit("jaxgames/recipes/td.py", "SETTINGS = 1\ndef show(): print()")
    assert mark("HEAD~1", subject="td_speed") == ""
    day = commit("jaxgames/recipes/td.py", "SETTINGS = 2")
    assert mark("HEAD~1", subject="td_speed") == stale(day)
    sha = helpers.machine.commit()["commit"]
    (tmp_path / code).write_text("3")
    assert mark(sha) == helpers.table.STALE.format(day=datetime.date.today())
    assert helpers.machine.commit() == {"commit": sha, "clean": False}


def test_every_result_names_its_commit_and_code_that_exists(helpers):
    results = helpers.table.read()
    assert all(result["commit"] and "clean" in result for result in results)
    for subject, paths in helpers.table.CODE.items():
        files = [path.removeprefix(":!") for path in (*paths, f"benchmarks/{subject}.py")]
        assert all(any(BENCHMARKS.parent.glob(file)) for file in files), subject
    assert {result["subject"] for result in results} <= helpers.table.CODE.keys()
    on_cpus, everywhere = helpers.machine.SAME_ON_CPUS, helpers.machine.SAME_EVERYWHERE
    for name in on_cpus | everywhere:
        numbers = [*on_cpus.get(name, ()), *everywhere.get(name, ())]
        number = helpers.machine.git("hash-object", name) if (BENCHMARKS.parent / name).exists() else "0" * 40
        assert number in numbers, f"{name} has changed: take its line out"


@pytest.mark.slow
def test_processes_tell_one_another_what_the_sizes_say():
    script = [sys.executable, str(BENCHMARKS / "processes.py"), "--quick", "--json"]
    run = subprocess.run(script, capture_output=True, text=True, timeout=600)
    assert run.returncode == 0, run.stderr
    checks = json.loads(run.stdout)["checks"]
    assert len(checks) == 3 and all(checks.values())
