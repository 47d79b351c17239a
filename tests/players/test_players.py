"""Spec strings, players of any game, and players from run folders."""

import dataclasses
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames import players
from jaxgames.algos.td import TDConfig
from jaxgames.envs.backgammon.best import FEW
from jaxgames.players import generic
from jaxgames.runs import Run
from tests.players.dash import GAME, Lead

BACKGAMMON = jaxgames.make("backgammon")


@pytest.mark.parametrize("spec", players.available_players(BACKGAMMON))
def test_built_in_players(spec):
    player = players.make(spec, BACKGAMMON)
    assert (player.name, player.game) == (spec, BACKGAMMON)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("gnu", "unknown player 'gnu'; expected the folder of a training, or one of: random, pubeval, simple:1, "),
        ("", "unknown player ''; "),
        ("runs/none-here", "unknown player 'runs/none-here'; expected the folder of a training"),
        ("simple", "simple players are simple:1, simple:2 and simple:3, not 'simple'"),
        ("simple:4", "simple players are simple:1, simple:2 and simple:3, not 'simple:4'"),
        ("simple:", "simple players are simple:1, simple:2 and simple:3, not 'simple:'"),
        ("random:2", "random has no options: write random, not 'random:2'"),
        ("pubeval:", "pubeval has no options: write pubeval, not 'pubeval:'"),
    ],
)
def test_specs_that_name_nobody(spec, message):
    with pytest.raises(ValueError) as error:
        players.make(spec, BACKGAMMON)
    assert message in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize("spec", ["pubeval", "simple:3"])
def test_players_of_another_game(spec):
    with pytest.raises(ValueError, match=f"{spec.partition(':')[0]} plays backgammon, not dash"):
        players.make(spec, GAME)


@pytest.mark.parametrize(
    "player", [players.make("random", GAME), players.greedy(GAME, "slow", np.float32(-0.1), Lead().value)]
)
def test_single_actions_are_those_of_the_turn(player):
    states = jax.vmap(GAME.init)(jax.random.split(jax.random.key(1), 64))
    key = jax.random.key(2)

    @jax.jit
    def both(player, states):
        turn = player.turn(player.params, states._position, jax.random.bits(key, (64,)))
        actions, _ = player.act(states, key, player.init_memory(64))
        return turn, actions, jax.vmap(GAME.play)(states._position, actions)

    turn, actions, after = both(player, states)
    for one, other in zip(jax.tree.leaves(turn), jax.tree.leaves(after), strict=True):
        np.testing.assert_array_equal(one, other)
    assert states.legal_action_mask[np.arange(64), actions].all() and (actions != 0).any()


def test_jit_sees_only_the_kind_of_player():
    seen = []

    @jax.jit
    def points(player):
        seen.append(player.name)
        return player.params * 2

    fast = players.greedy(GAME, "fast", jnp.float32(1), Lead().value)
    other = dataclasses.replace(fast, name="other", params=jnp.float32(3))
    assert (float(points(fast)), float(points(other))) == (2, 6)
    assert seen == ["fast"]
    assert jax.tree.map(lambda x: x + 1, other).name == "other"
    assert jax.tree.structure(fast) != jax.tree.structure(generic.random(GAME))


def test_old_names_are_known_for_one_version():
    with pytest.warns(DeprecationWarning, match="jaxgames.players.Memory is now jaxgames.players.PlayerMemory"):
        assert players.Memory is players.PlayerMemory
    with pytest.raises(AttributeError, match="no attribute 'Gone'"):
        players.Gone  # noqa: B018


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
        with pytest.raises(ValueError, match="is no run: it has no config.json; expected the folder of a training"):
            players.make(str(tmp_path), BACKGAMMON)


def test_a_player_of_one_position_has_no_program_of_few():
    """Backgammon's programs for few positions would be compiled beside the usual ones."""
    assert generic.ROWS == FEW + 1
    seen = []

    def best_turn(positions, value):
        seen.append(positions.dice.shape)
        return positions, None

    one = jax.tree.map(lambda x: x[None], BACKGAMMON.init(jax.random.key(0))._position)
    for positions, rows in ((one, FEW + 1), (jax.tree.map(lambda x: np.repeat(x, 20, axis=0), one), 20)):
        found = generic._with_rows(best_turn, positions, None)
        assert seen.pop() == (rows,)
        assert all(map(np.array_equal, jax.tree.leaves(found), jax.tree.leaves(positions)))
