"""Players from the folders of trainings."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames import players
from jaxgames.algos.td import make_config
from jaxgames.recipes import RECIPES, Plan
from jaxgames.recipes.report import Report
from jaxgames.runs import Run
from tests.players.dash import GAME

BACKGAMMON = jaxgames.make("backgammon")


class TestRunFolders:
    CONFIG = make_config(hidden=(3,))

    @pytest.fixture
    def run(self, tmp_path):
        content = {"kind": "td", "game": "backgammon", "learner": self.CONFIG.to_json()}
        return Run.create(tmp_path / "a", content)

    def test_best_player(self, run):
        network = self.CONFIG.network()
        params = network.init(jax.random.key(0))
        run.save_best(params, {"games": 5})
        player, again = (players.make(str(run.path), BACKGAMMON) for _ in range(2))
        assert player.name == str(run.path)
        jax.tree.map(np.testing.assert_array_equal, player.params, params)
        assert jax.tree.structure(player) == jax.tree.structure(again)  # so nothing compiles for the second

        @jax.jit
        def values(params):
            start = jax.vmap(BACKGAMMON.init_position)(jax.random.split(jax.random.key(0), 1))
            waiting = start._replace(dice=jnp.zeros_like(start.dice))
            return player.turn.make_value(params)(waiting), network.value(params)(waiting)

        np.testing.assert_array_equal(*values(player.params))

    def test_no_player_yet(self, run):
        with pytest.raises(ValueError, match="a has no best player yet"):
            players.make(str(run.path), BACKGAMMON)

    def test_broken_checkpoint(self, run):
        (run.path / "checkpoints" / "step-7").mkdir(parents=True)
        with pytest.raises(ValueError, match="checkpoint of step 7 in .*a is foreign or damaged"):
            players.make(str(run.path / "checkpoints" / "step-7"), BACKGAMMON)

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            ({}, "config.json lacks 'kind'; restore the file or start a new run"),
            ({"kind": "cfr"}, "config.json: unknown kind 'cfr' of training; expected td, alphazero, imitation, "),
            ({"kind": ["td"]}, "config.json: unknown kind ['td'] of training; expected td, alphazero, imitation, "),
        ],
    )
    def test_a_kind_that_is_none(self, tmp_path, content, message):
        path = Run.create(tmp_path / "a", content).path
        with pytest.raises(ValueError, match=re.escape(message)):
            players.make(str(path), BACKGAMMON)

    def test_of_another_game(self, run):
        with pytest.raises(ValueError, match="a holds a player of backgammon, not of dash"):
            players.make(str(run.path), GAME)

    def test_no_run(self, tmp_path):
        with pytest.raises(ValueError, match="is not a run: it has no config.json; expected the folder of a training"):
            players.make(str(tmp_path), BACKGAMMON)


@pytest.mark.parametrize("name", ["td-gammon", "backgammon-hill-climb"])
def test_a_snapshot_is_a_player(tmp_path, name):
    recipe, game = RECIPES[name], BACKGAMMON
    content = recipe.content(Plan(setting="ebert-2007", games=3_000))
    run = Run.create(tmp_path / "run", content)
    with pytest.raises(ValueError, match="keeps no snapshots"):
        players.make(f"{run.path},games=1000", game)
    job = recipe.job(run, Report(quiet=True))
    first = job.start(None)
    weights = first.state.params if name == "td-gammon" else first.state.champion
    for row in range(3):
        job.snapshots.put(row, jax.tree.map(lambda x, row=row: jnp.full_like(x, row), weights))
    player = players.make(f"{run.path},games=2000", game)
    assert all(np.all(np.asarray(leaf) == 1) for leaf in jax.tree.leaves(player.params))
    assert players.game_of(f"{run.path},games=2000") == "backgammon"
    with pytest.raises(ValueError, match="snapshots every 1,000 games up to 3,000, none after 2,500"):
        players.make(f"{run.path},games=2500", game)
