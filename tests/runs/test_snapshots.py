"""Networks at regular steps as players."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgames import make, players
from jaxgames.recipes import RECIPES, Plan
from jaxgames.recipes.report import Report
from jaxgames.runs import Run


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
