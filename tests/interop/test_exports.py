"""Players as files for other programs: ONNX networks, submissions to Kaggle's Connect X."""

import json
import time
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames import cli, players
from jaxgames.algos import mcts
from jaxgames.algos.evolution.saved import NetworkConfig
from jaxgames.envs.backgammon import make_position
from jaxgames.envs.connect_four.board import to_plain
from jaxgames.interop import connect_x_agent, kaggle
from jaxgames.interop.networks import network_of
from jaxgames.matches import solved
from jaxgames.nets import OUTPUT_ACTIVATIONS
from jaxgames.players import generic

GAME = jaxgames.make("connect_four")
START = [*[0] * 5, 5, 0, 3, *[0] * 4, 5, *[0] * 10, 2, 0]
CLASSES = (
    (START, START),
    ([0, 10, 3, *[0] * 18, 2, 0, 0, 0], START),
    ([3, 2, 5, *[0] * 22], [0, 4, 4, *[0] * 22]),
)
"""Sides of positions with contact, crashed, and in a race."""


def positions(number):
    """Positions of random games, as a batch and one by one."""
    keys = jax.random.split(jax.random.key(0), number)
    states = jax.jit(jax.vmap(GAME.init))(keys)
    last, _ = jax.jit(lambda states: jaxgames.rollout(GAME, states, jax.random.key(1), 9, auto_reset=True))(states)
    each = jax.device_get(last)
    return last, [jax.tree.map(lambda x, i=i: x[i], each) for i in range(number)]


@pytest.mark.parametrize("name", ("checkers", "backgammon"))
def test_onnx_networks_are_the_same(tmp_path, capsys, name):
    import onnxruntime

    file, game = tmp_path / "net.onnx", jaxgames.make(name)
    assert cli.main(f"export onnx champion@1 --game {name} --out {file} --json".split()) == 0
    said = json.loads(capsys.readouterr().out)
    session = onnxruntime.InferenceSession(str(file))
    assert json.loads(session.get_modelmeta().custom_metadata_map["jaxgames"])["game"] == name
    player = players.make("champion@1", game)
    network = network_of(player)
    where = jax.jit(jax.vmap(game.init))(jax.random.split(jax.random.key(0), 5))._position
    if name == "backgammon":
        where = jax.tree.map(
            lambda *rows: np.stack(rows), *(make_position(*sides, (3, 1))._position for sides in CLASSES)
        )
        assert not network.by_class or network.encoding.class_of(where).tolist() == [0, 1, 2]
    seen = np.asarray(network.encoding(where))
    for batch in (seen, seen[:2]):
        outputs = session.run(None, {"positions": batch})[0]
        assert np.abs(outputs - network.apply(batch)).max() < 1e-5
    values = player.turn.make_value(player.params)(where)
    assert np.abs(session.run(None, {"positions": seen})[0] @ np.float32(said["points"]) - values).max() < 1e-5


@pytest.mark.parametrize(("plays", "points"), [("afterstate", [1]), ("outcomes", [1, -1, 2, -2])])
def test_points_of_an_evolved_network(plays, points):
    """What its outputs are worth, by which programs without JAX play."""
    config = NetworkConfig("backgammon", plays=plays, encoding="tesauro").replace(hidden=(1,))
    player = generic.evolved("evolved", np.zeros(config.genomes().dimension, np.float32), config)
    assert network_of(player).points.tolist() == points


def test_onnx_of_a_policy_is_the_same(tmp_path, capsys):
    import onnxruntime

    file = tmp_path / "net.onnx"
    assert cli.main(f"export onnx champion@1 --game connect_four --out {file} --json".split()) == 0
    capsys.readouterr()
    session, (states, _) = onnxruntime.InferenceSession(str(file)), positions(5)
    player = players.make("champion@1", GAME)
    observe, apply = jax.vmap(lambda position: GAME.observe_position(position, jnp.bool_(True))), player.policy.apply
    seen = np.asarray(jax.jit(observe)(states._position), np.float32)
    for batch in (seen, seen[:2]):
        expected = jax.jit(apply)(player.params, batch)
        for found, wanted in zip(session.run(["logits", "values"], {"observations": batch}), expected, strict=True):
            assert np.abs(found - wanted).max() < 1e-5


@pytest.fixture(scope="module")
def submission(tmp_path_factory):
    """The champion as a file, and its names when it runs."""
    file = tmp_path_factory.mktemp("kaggle") / "submission.py"
    assert cli.main(["export", "kaggle", "champion", "--out", str(file), "--json"]) == 0
    names = {}
    exec(file.read_text(), names)
    return file, names


def test_a_submission_stands_alone(submission):
    file, names = submission
    assert file.stat().st_size < 1_000_000
    functions = [name for name, value in names.items() if callable(value)]
    assert functions[-1] == "agent" and names["MADE_OF"] == "champion"
    imported = {line.split()[1] for line in file.read_text().splitlines() if line.startswith(("import ", "from "))}
    assert imported == {"base64", "io", "time", "typing", "numpy"}


@pytest.mark.parametrize("name", ["uct", "rave", "amaf"])
def test_a_submission_searches_as_the_player_does(tmp_path, name):
    """The same visits of the moves at the root, on average; the time is up before the simulations are."""
    player = players.make(f"{name}:60", GAME)
    names: dict = {}
    exec(kaggle.submission(player), names)
    moves = "44444412"  # one column is full
    state = GAME.from_string(moves)
    found = mcts.search(GAME, jax.tree.map(lambda x: np.stack([x] * 256), state), jax.random.key(0), 60, select=name)
    ours = np.asarray(found.visits, np.float64)
    cells = to_plain(state._position, 6, 7).ravel().tolist()
    board, theirs = names["ConnectXBoard"](6, 7, 4), []
    for _ in range(100):
        search = names["TreeSearch"](board, *names["position_of"](cells, 1, 6, 7))
        played, _ = search.run(60, time.perf_counter() + 60)
        by_stone = dict(zip(search.root.stones, search.root.visits, strict=True))
        theirs.append([sum(n for stone, n in by_stone.items() if stone & column) for column in board.columns])
        assert theirs[-1][played] == max(theirs[-1])
    assert np.sum(theirs, 1).tolist() == [60] * 100
    error = ours.std(0) * (1 / 256 + 1 / 100) ** 0.5
    apart = (ours.mean(0) - np.mean(theirs, 0)) / np.maximum(error, 1e-9)
    assert np.square(apart).sum() <= 45  # that of seven columns is near 6; that of UCT in place of RAVE 100
    assert names["MADE_OF"] == player.name and [*names][-1] == "agent"
    _, worth = names["think"](cells, 1, 6, 7, 4, seconds=0)
    assert worth in (0.0, 0.5, 1.0)  # after one simulation
    drawn = "121212212121343434434343565656656565777777"
    for moves in (drawn[:-1], drawn[:-2]):  # the end in the tree, and below it
        cells = to_plain(GAME.from_string(moves)._position, 6, 7).ravel().tolist()
        assert names["think"](cells, 1 + len(moves) % 2, 6, 7, 4, seconds=0) == (6, 0.5)
    file = kaggle.submission(players.make(f"{name}:0.5s,final=mean", GAME))
    assert all(line in file for line in ("\nFINAL = 'mean'\n", "\nSECONDS = 0.5\n", "\nSIMULATIONS = 1000000000\n"))
    won = [0] * 35 + [1, 1, 1, 0, 2, 2, 2]
    observation, configuration = SimpleNamespace(board=won, mark=1), SimpleNamespace(rows=6, columns=7, inarow=4)
    assert names["agent"](observation, configuration) == 3


def test_its_network_is_the_player_s(submission):
    _, names = submission
    last, single = positions(200)
    player = players.make("champion@1", GAME)
    expected = np.asarray(player.turn.make_value(player.params)(last._position))
    board, value = names["prepare"](6, 7, 4)
    found = value([tuple(stones(state)) for state in single])
    assert np.abs(found - expected).max() < 1e-5


def stones(state):
    cells = to_plain(state._position, 6, 7)
    mover = 1 + np.count_nonzero(cells) % 2
    own = taken = 0
    for row, column in np.argwhere(cells).tolist():
        square = 1 << column * 7 + 5 - row
        taken |= square
        own |= square * int(cells[row, column] == mover)
    return own, taken


def test_its_search_finds_the_best_moves(data_dir):
    """Late positions: all columns that the exact scores call best, whatever the horizon says; and three in a row."""
    for moves, best, worth in (
        ("44553", {1, 5}, -38),  # open at both ends: either block loses
        ("4455", {2, 5}, 38),  # and how to get there
        ("44556", {2, 6}, -38),
        ("445", {2, 5}, None),  # what holds that up
    ):
        cells = to_plain(GAME.from_string(moves)._position, 6, 7).ravel().tolist()
        column, found, _ = connect_x_agent.think(cells, 1 + len(moves) % 2, 6, 7, 4, seconds=2)
        assert column in best and (found == worth if worth else abs(found) < 2), moves
    lines = (data_dir / "connect_four" / "Test_L3_R1").read_text().splitlines()[:12]
    wrong = 0
    for line in lines:
        moves, score = line.split()
        cells = to_plain(GAME.from_string(moves)._position, 6, 7)
        column, worth, _ = connect_x_agent.think(cells.ravel().tolist(), 1 + len(moves) % 2, 6, 7, 4, seconds=30)
        exact = np.sign(int(score))
        wrong += np.sign(worth) * (abs(worth) >= 2) != exact
        assert cells[0, column] == 0
    assert not wrong


def test_without_a_network_threats_are_good_for_who_has_them():
    """Three at the bottom; of threats on squares that are taken nobody has anything."""
    board = connect_x_agent.ConnectXBoard(6, 7, 4)
    three, fourth, other = 1 << 7 | 1 << 14 | 1 << 21, 1 << 28, 1 << 8 | 1 << 15
    stones = three | other
    found = connect_x_agent.ThreatValue(board)([(three, stones), (other, stones), (three, stones | 1 | fourth)])
    np.testing.assert_allclose(found, [np.tanh(0.4), -np.tanh(0.4), 0])


def test_a_submission_knows_the_functions_of_networks():
    x = np.random.default_rng(0).normal(size=(4, 5)).astype(np.float32)
    assert connect_x_agent.FUNCTIONS.keys() == OUTPUT_ACTIVATIONS.keys()
    for name, function in OUTPUT_ACTIVATIONS.items():
        np.testing.assert_allclose(connect_x_agent.FUNCTIONS[name](x), function(x), atol=1e-6)


@pytest.mark.parametrize("size", [(8, 8), (9, 3)])
def test_networks_of_boards_too_large_for_a_submission(size, monkeypatch):
    monkeypatch.setattr(kaggle, "network_of", lambda player: player)
    player = players.make("random", jaxgames.make("connect_four", rows=size[0], cols=size[1], connect=3))
    with pytest.raises(ValueError, match=f"board of {size[0]} x {size[1]}; expected at most 8 rows, and .* at most 63"):
        kaggle.submission(player)


def test_any_board(submission):
    _, names = submission
    configuration = SimpleNamespace(rows=5, columns=4, inarow=3)
    board = [0] * 16 + [1, 1, 0, 2]
    assert names["agent"](SimpleNamespace(board=board, mark=1), configuration) == 2
    assert names["agent"](SimpleNamespace(board=board, mark=2), configuration) == 2


def test_a_submission_is_a_player(submission, data_dir, monkeypatch):
    file, _ = submission
    text = file.read_text().replace("SECONDS = 1.0", "SECONDS = 0.1").replace("perf_counter", "process_time")
    file.with_name("quick.py").write_text(text)
    player = kaggle.submission_player(GAME, str(file.with_name("quick.py")))
    found = solved.score(player, solved.read(solved.MOVE_SCORES, 30))
    assert found.good > 0.7
    bad = file.with_name("bad.py")
    bad.write_text("def agent(observation, configuration):\n    return observation.board.index(7)\n")
    with pytest.raises(ValueError, match="no move in a position of the positions: kaggle:.*: ValueError: 7 is not in"):
        solved.score(kaggle.submission_player(GAME, str(bad)), solved.read(data_dir / "connect_four" / "Test_L3_R1", 5))


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("export kaggle random --out {path}/a.py", "random neither searches nor has a network: there is nothing"),
        ("export kaggle uct:5s --game connect_four --out {path}/a.py", "uct:5s thinks too long for Kaggle's 2 seconds"),
        ("export kaggle lgr:50 --game connect_four --out {path}/a.py", "no submission searches like lgr:50"),
        ("export kaggle uct:50,trees=2 --game connect_four --out {path}/a.py", "expected uct, rave or amaf with plain"),
        ("export kaggle champion --game checkers --out {path}/a.py", "plays checkers; Kaggle's Connect X is connect_"),
        ("export kaggle champion --out {path}/no/a.py", "a.py cannot be made: there is no folder"),
        ("export kaggle champion --out {path}", "exists already and is never overwritten"),
        ("export onnx random --game checkers --out {path}/a", "random has no network to export"),
        ("export onnx champion@1 --out {path}/a", "which game does champion@1 play? name it with --game"),
    ],
)
def test_bad_exports_get_one_line(tmp_path, capsys, command, message):
    assert cli.main(command.format(path=tmp_path).split()) == 2
    said = capsys.readouterr()
    assert said.out == "" and said.err.count("\n") == 1 and message in said.err
    assert not list(tmp_path.iterdir())


def test_a_submission_is_measured_in_bytes():
    with pytest.raises(ValueError, match="the file would have 1,200,013 bytes; expected at most 1,000,000"):
        kaggle._filled('MADE_OF = ""\n', {"MADE_OF": "é" * 600_000})
