"""Players from the folders of trainings."""

import dataclasses
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames import players
from jaxgames.algos.td import TDConfig
from jaxgames.runs import Run
from tests.players.dash import GAME

BACKGAMMON = jaxgames.make("backgammon")


class TestRunFolders:
    CONFIG = TDConfig(hidden=(3,))

    @pytest.fixture
    def run(self, tmp_path):
        content = {"kind": "td", "game": "backgammon", "learner": dataclasses.asdict(self.CONFIG)}
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
