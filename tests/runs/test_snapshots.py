"""Networks at regular steps in one file, and as players."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgames import make, players
from jaxgames.recipes import RECIPES, Plan
from jaxgames.recipes.report import Report
from jaxgames.runs import Run
from jaxgames.runs.checkpoints import Snapshots

TEMPLATE = {"a": np.zeros((2, 3), np.float32), "b": np.zeros(4, np.float32)}


def params(number):
    return {"a": np.full((2, 3), number, np.float32), "b": np.arange(4, dtype=np.float32) + number}


def test_rows_are_kept_cut_off_and_written_again(tmp_path):
    snapshots = Snapshots(tmp_path, TEMPLATE)
    for row in range(3):
        snapshots.put(row, params(row))
    with open(snapshots.path, "ab") as file:
        file.write(b"half a row")  # a write that was cut off
    assert len(snapshots) == 3
    snapshots.put(1, params(7))  # a training that was resumed
    assert len(Snapshots(tmp_path, TEMPLATE)) == 2
    found = snapshots.load([1, 0])
    np.testing.assert_array_equal(found["a"], np.stack([params(7)["a"], params(0)["a"]]))
    np.testing.assert_array_equal(found["b"], np.stack([params(7)["b"], params(0)["b"]]))
    with pytest.raises(ValueError, match="has 2 snapshots, so number 3 cannot be added"):
        snapshots.put(3, params(3))
    with pytest.raises(ValueError, match="has 2 snapshots, none with number 2"):
        snapshots.load([2])
    with pytest.raises(ValueError, match="float32 parameters only"):
        Snapshots(tmp_path, {"a": np.zeros(2, np.int32)})


@pytest.mark.parametrize("name", ["td-gammon", "backgammon-hill-climb"])
def test_a_snapshot_is_a_player(tmp_path, name):
    recipe, game = RECIPES[name], make("backgammon")
    content = recipe.content(Plan(setting="ebert-2007", games=3_000), Report(quiet=True))
    run = Run.create(tmp_path / "run", content)
    with pytest.raises(ValueError, match="keeps no snapshots"):
        players.make(f"{run.path},games=1000", game)
    job = recipe.job(run, Report(quiet=True))
    first = job.start(None)
    weights = first.state.params if name == "td-gammon" else first.state.climb.champion
    for row in range(3):
        job.snapshots.put(row, jax.tree.map(lambda x, row=row: jnp.full_like(x, row), weights))
    player = players.make(f"{run.path},games=2000", game)
    assert all(np.all(np.asarray(leaf) == 1) for leaf in jax.tree.leaves(player.params))
    assert players.game_of(f"{run.path},games=2000") == "backgammon"
    with pytest.raises(ValueError, match="snapshots every 1,000 games up to 3,000, none after 2,500"):
        players.make(f"{run.path},games=2500", game)
