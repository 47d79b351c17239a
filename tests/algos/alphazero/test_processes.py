"""Two processes are one AlphaZero training: the same bits as two devices of one process."""

import shutil

import jax
import numpy as np
import pytest

from jaxgames.cli import main
from jaxgames.recipes import recipe_named
from jaxgames.recipes.recipe import Plan
from jaxgames.recipes.report import Report
from jaxgames.runs import Run
from tests.runs.several import ends, start

TRAINING = (
    "train tic-tac-toe-alphazero --games 200 --json --set batch=16 --set hidden=16 --set simulations=4 --set steps=2 "
    "--set minibatch=32 --set buffer_plies=16 --measured-games 20 --final-games 20 --seed 3"
).split()
COMMAND = """
from jaxgames.cli import main
sys.stdout = open(os.devnull, "w")
raise SystemExit(main([*{command}, "--out", file]))
"""


def train_in_two(command, path, folder):
    found = ends(start(COMMAND.format(command=command), [path, path], folder), 300)
    assert [status for status, _ in found] == [0, 0], "\n".join(words for _, words in found)


def last_checkpoint(path):
    run = Run.open(path)
    job = recipe_named(run.config["recipe"]).job(Run(path, {"config": run.config | {"devices": 1}}), Report(quiet=True))
    return run.restore(job.template())[1]


@pytest.mark.slow
def test_two_processes_are_one(tmp_path):
    """Weights, optimizer, games and replay buffer of both are whole in the checkpoint; so they are when both go on."""
    path = tmp_path / "two"
    train_in_two(TRAINING, path, tmp_path)
    assert main([*TRAINING, "--devices", "2", "--out", str(tmp_path / "one")]) == 0
    two, one = last_checkpoint(path), last_checkpoint(tmp_path / "one")
    assert two.games == one.games > 200 and two.state.buffer.plies.result.shape == (16, 16)
    jax.tree.map(np.testing.assert_array_equal, two, one)
    steps = Run.open(path).steps()
    shutil.rmtree(path / "checkpoints" / f"step-{steps[-1]}")
    assert Run.open(path).steps() == steps[:-1] != []
    train_in_two(["train", "--resume"], path, tmp_path)
    jax.tree.map(np.testing.assert_array_equal, last_checkpoint(path), one)


def test_a_checkpoint_of_several_processes_is_whole_and_of_this_one(tmp_path, monkeypatch):
    """As if the two devices here were those of two processes; and the key of the updates is on both."""
    recipe, quiet = recipe_named("tic-tac-toe-alphazero"), Report(quiet=True)
    changes = {"batch": "16", "hidden": "16", "simulations": "4", "buffer_plies": "16", "minibatch": "32"}
    monkeypatch.setattr(jax, "process_count", lambda: 2)
    content = recipe.content(Plan(games=200, changes=changes))
    assert content["devices"] == 2
    job = recipe.job(Run.create(tmp_path / "run", content), quiet)
    assert len(job.update_key.sharding.device_set) == 2
    state = job.start(None)
    saved = job.checkpoint(state)
    assert all(isinstance(leaf, np.ndarray | np.int64) for leaf in jax.tree.leaves(saved))
    jax.tree.map(np.testing.assert_array_equal, saved, state)


@pytest.mark.parametrize(
    ("plan", "error"),
    [
        (Plan(minutes=1.0), "several processes train for a number of games, as each has its own speed: give --games"),
        (Plan(games=100, devices=1), "1 of 2 devices: expected all, so that every process has its share"),
    ],
)
def test_what_several_processes_cannot_do(plan, error, monkeypatch):
    monkeypatch.setattr(jax, "process_count", lambda: 2)
    with pytest.raises(ValueError, match=error):
        recipe_named("tic-tac-toe-alphazero").check(plan)
