"""The trainings by imitation as a user runs them: trained, stopped early, resumed, and played with."""

import dataclasses
import json
import shutil
from types import SimpleNamespace

import jax
import numpy as np
import pytest

import jaxgames
from jaxgames.algos.imitation import load_network
from jaxgames.algos.imitation.config import ImitationConfig, ImitationNetwork
from jaxgames.cli import main
from jaxgames.data_sets import make_data, merge_data, played_games
from jaxgames.players import make as make_player
from jaxgames.recipes import recipe_named
from jaxgames.recipes.imitation import ImitationJob, learned_rows
from jaxgames.recipes.recipe import Plan
from jaxgames.recipes.report import Report
from jaxgames.runs import Run
from jaxgames.runs.folder import DataSetFolder

GAME = jaxgames.make("tic_tac_toe")
SETTINGS = "--set hidden=32 --set minibatch=16 --set step_size=0.01 --final-games 40 --json".split()
TINY = ["train", "imitation", "--game", "tic_tac_toe", "--set", "epochs=8", "--set", "validation=0.2", *SETTINGS]


def said_by(arguments):
    with pytest.MonkeyPatch.context() as patch:
        printed = []
        patch.setattr("builtins.print", lambda text, **_: printed.append(text))
        assert main(arguments) == 0
    return json.loads(printed[0])


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Games of a search against random moves, of which only the search is learned."""
    path = tmp_path_factory.mktemp("data") / "t"
    search, random = (make_player(name, GAME) for name in ("uct:64", "random"))
    make_data(played_games(search, random, 300, moves_of="first"), path)
    return path


@pytest.fixture(scope="module")
def trained(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("runs") / "imitation"
    return path, said_by([*TINY, "--seed", "5", "--data", str(data), "--out", str(path)])


def test_a_training_learns_and_measures_itself(trained):
    path, result = trained
    metrics = Run.open(path).metrics()
    assert 6 <= len(metrics) <= 8 and (path / "curve.png").exists()
    names = {"loss", "policy_loss", "predicted", "value_squared", "value_absolute"}
    assert names | {f"validation_{name}" for name in names} <= metrics[-1].keys()
    assert min(line["validation_loss"] for line in metrics) < metrics[0]["validation_loss"]
    assert metrics[-1]["validation_predicted"] > 0.3
    assert [match["b"] for match in result["matches"]] == ["random"] and result["matches"][0]["win_rate"] > 0.5
    lowest = min(metrics, key=lambda line: line["validation_loss"])
    assert result["best"]["step"] == lowest["step"] and result["positions"] == lowest["positions"]


@pytest.mark.parametrize("counts, size", [(False, 1), (True, 3), (False, 17)])
def test_lines_are_means_over_what_was_learned(counts, size):
    """By a plain loop over the steps' rows, of which some have no result, others no move; step 6 comes first."""
    rng = np.random.default_rng(size)
    moves, results = rng.integers(0, 3, (2, 7)).astype(np.float32)
    rows = SimpleNamespace(policy_weight=moves, value_weight=results, game=np.arange(7))
    config = ImitationConfig(counts=counts, minibatch=size, value_weight=0.5, value_loss="absolute")
    names = "policy_loss", "value_squared", "value_absolute"
    metrics = {"loss": np.zeros(9)} | {name: rng.random(9) for name in names}
    found = ImitationJob._means(SimpleNamespace(training=rows, config=config), metrics, 6)
    means = {}
    for name in names:
        weights = moves if name == "policy_loss" else results
        weights = weights if counts else np.sign(weights)
        of_steps = [sum(weights[(step * size + row) % 7] for row in range(size)) for step in range(6, 15)]
        means[name] = np.dot(metrics[name], of_steps) / sum(of_steps)
    assert found == pytest.approx({"loss": means["policy_loss"] + 0.5 * means["value_absolute"], **means})
    assert list(found) == list(metrics)


def test_data_that_were_made_anew_are_read_anew(data, tmp_path):
    """In one process, at the same place, and as many."""
    shutil.copytree(data, tmp_path / "d")
    folder = DataSetFolder.open_complete(tmp_path / "d")
    before, _ = learned_rows(folder, GAME, ImitationConfig(validation=0.2), 0)
    arrays = folder.read(0)
    folder.write(0, arrays | {"value": -arrays["value"]})
    after, _ = learned_rows(folder, GAME, ImitationConfig(validation=0.2), 0)
    assert after.value.any() and np.array_equal(after.value, -before.value)


def test_a_run_plays_alone_and_in_searches(trained):
    path, _ = trained
    positions = jax.jit(jax.vmap(GAME.init))(jax.random.split(jax.random.key(0), 3))._position
    bits = jax.random.bits(jax.random.key(1), (3,))
    for spec in (str(path), f"puct:{path}:4", f"{path}/checkpoints/step-{Run.open(path).steps()[-1]}"):
        player = make_player(spec, GAME)
        assert not np.any(player.turn(player.params, positions, bits).over), spec
    assert jaxgames.players.game_of(str(path)) == "tic_tac_toe"
    _, network = load_network(Run.open(path), GAME)
    other = ImitationNetwork(GAME, dataclasses.replace(network.config, epochs=7, steps=9, step_size=0.1))
    assert other != network and other.for_play == network.for_play
    with pytest.raises(ValueError, match=r"holds a player of tic_tac_toe, not of checkers"):
        make_player(str(path), jaxgames.make("checkers"))


def test_the_best_epoch_plays_and_patience_ends_the_training(data, tmp_path):
    """Steps so large that it gets worse soon."""
    changes = ["--set", "epochs=200", "--set", "patience=2", "--set", "last_step_size=0.05"]
    settings = [part.replace("step_size=0.01", "step_size=0.05") for part in SETTINGS]
    path = tmp_path / "run"
    value = ["--setting", "value", *changes, "--data", str(data), "--out", str(path)]
    result = said_by([*TINY[:4], *settings, "--set", "validation=0.2", *value])
    run = Run.open(path)
    losses = [line["validation_loss"] for line in run.metrics()]
    best = int(np.argmin(losses))
    assert len(losses) == best + 3 < 200
    assert result["best"]["validation_loss"] == losses[best]
    network = load_network(run, GAME)[1]
    player = make_player(str(path), GAME)
    assert network.config.plays == "value" and player.turn.make_value.function.__name__ == "make_value"
    assert type(make_player(f"{path}@2", GAME).turn).__name__ == "ExpectimaxTurn"


def test_a_resumed_training_has_the_same_bits(trained, tmp_path):
    """One that was stopped after its second checkpoint, and went on."""
    path, _ = trained
    config = dict(Run.open(path).config)
    run, quiet = Run.create(tmp_path / "run", config), Report(quiet=True)
    recipe = recipe_named(config["recipe"])
    job = recipe.job(run, quiet)
    state, step = job.start(None), 0
    for _ in range(2):
        block = job.advance(state, step)
        state, step = block.state, block.entry["step"]
        run.log(block.entry | {"seconds": 1.0, "positions_per_second": 1.0})
        job.measure(state, block.entry)
        run.save(step, job.checkpoint(state))
    recipe.resume(Run.open(tmp_path / "run"), quiet).run_to_end()
    runs = [Run.open(folder) for folder in (path, tmp_path / "run")]
    shapes = job.template()
    for one, other in (
        [run.load_best(shapes.params)[1] for run in runs],
        [run.restore(shapes) for run in runs],
    ):
        jax.tree.map(np.testing.assert_array_equal, one, other)
    lines = [[line["validation_loss"] for line in run.metrics()] for run in runs]
    assert lines[0] == lines[1]


@pytest.mark.slow  # compiles for 20 seconds
def test_a_network_whose_outputs_name_squares_learns_and_plays(tmp_path):
    game = jaxgames.make("checkers")
    player = make_player("alphabeta:1", game)
    make_data(played_games(player, player, 16, most_plies=60), tmp_path / "raw")
    merge_data(game, [tmp_path / "raw"], tmp_path / "data", validation=0.2)
    arguments = "train checkers-imitation --setting adamczyk-2018 --json --data".split() + [str(tmp_path / "data")]
    changes = ["--set", "hidden=8", "--set", "epochs=1", "--set", "positions=200", "--final-games", "2"]
    result = said_by([*arguments, *changes, "--out", str(tmp_path / "run")])
    assert result["data"]["training"] == 200 and 0 < result["best"]["validation_predicted"] < 1
    assert 2 < result["best"]["validation_policy_loss"] < 64
    assert make_player(str(tmp_path / "run"), game).turn.network.head == "target"


def begin(data, *arguments):
    return ["train", "imitation", "--data", str(data), *SETTINGS, *arguments]


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--game", "checkers"], "holds data of tic_tac_toe, not of checkers"),
        (["--minutes", "1"], "trains for a number of epochs"),
        (["--devices", "2"], "trains on one device"),
        (["--set", "positions=100000"], "to learn from"),
        (["--set", "validation=0.0001"], "no position is left for validation"),
        (["--set", "steps=3"], "unknown setting 'steps'"),
        (["--set", "form=conv", "--set", "encoding=cells"], "needs inputs [rows, columns, planes]"),
        (["--set", "split=ply"], "split='ply': expected one of game, position"),
    ],
)
def test_bad_input_is_one_line(data, refused, arguments, line):
    assert line in refused(*begin(data, *arguments)[1:])


def test_missing_changed_and_foreign_data_are_one_line(trained, data, tmp_path, capsys):
    path, _ = trained

    def line_of(arguments):
        assert main(arguments) == 2
        said = capsys.readouterr().err
        assert said.count("\n") == 1
        return said

    out = ["--out", str(tmp_path / "run")]
    assert "learns from data: --data FOLDER" in line_of(["train", "imitation", "--game", "tic_tac_toe", *out])
    assert "does not exist" in line_of([*begin(tmp_path / "none"), *out])
    assert "checkers-imitation learns" in line_of(["train", "checkers-imitation", "--game", "tic_tac_toe", *out])
    assert "not of checkers" in line_of(["train", "checkers-imitation", "--data", str(data), *out])
    assert "td makes its own games; --data is for imitation" in line_of(
        ["train", "td", "--game", "tic_tac_toe", "--data", str(data), *out]
    )
    shutil.copytree(data, tmp_path / "cut")
    shard = DataSetFolder.open_complete(tmp_path / "cut").shard(0)
    shard.write_bytes(shard.read_bytes()[:-100])
    assert "shard-00000.npz is broken" in line_of([*begin(tmp_path / "cut"), *out])
    # A run whose data have changed does not go on.
    shutil.copytree(path, tmp_path / "run")
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    config["config"]["data"]["training"] += 1
    (tmp_path / "run" / "config.json").write_text(json.dumps(config))
    assert "has changed since the training began: training" in line_of(["train", *out, "--resume"])


def test_alphazero_begins_with_what_was_learned(trained, tmp_path, capsys):
    path, _ = trained
    changes = {"form": "mlp", "hidden": "32", "batch": "16"}
    settings = [part for name, value in changes.items() for part in ("--set", f"{name}={value}")]
    smaller = [part.replace("hidden=32", "hidden=16") for part in settings]
    plan = Plan(game="tic_tac_toe", from_file=str(path), games=100, changes=changes)
    recipe = recipe_named("tic-tac-toe-alphazero")
    recipe.check(plan)
    run = Run.create(tmp_path / "z", recipe.content(plan))
    state = recipe.job(run, Report(quiet=True)).start(None).state
    learned, _ = load_network(Run.open(path), GAME)
    for params in (state.params, state.mean_params):
        jax.tree.map(np.testing.assert_array_equal, params, learned)
    # What it begins with is fixed: if it is another one by now, the run does not go on with that in silence.
    changed = Run(run.path, {"config": run.config | {"from": run.config["from"] | {"sha256": "0"}}})
    with pytest.raises(ValueError, match="plays with other weights than when this began"):
        recipe.job(changed, Report(quiet=True)).start(None)
    # Weights of the same shapes that are another function.
    shutil.copytree(path, tmp_path / "tanh")
    config = json.loads((tmp_path / "tanh" / "config.json").read_text())
    config["config"]["learner"]["activation"] = "tanh"
    (tmp_path / "tanh" / "config.json").write_text(json.dumps(config))
    with pytest.raises(ValueError, match="holds another network, of activation=tanh: train both with activation=relu"):
        recipe.check(dataclasses.replace(plan, from_file=str(tmp_path / "tanh")))
    for arguments, line in (
        (["tic-tac-toe-alphazero", *smaller], "holds another network, of hidden=[32]: train both with hidden=[16]"),
        (["connect-four-alphazero"], "holds a network of tic_tac_toe, not of connect_four"),
        (["td-gammon"], "begins with random weights"),
    ):
        command = ["train", *arguments, "--games", "100", "--from", str(path), "--out", str(tmp_path / "y")]
        assert main(command) == 2
        said = capsys.readouterr().err
        assert said.count("\n") == 1 and line in said
