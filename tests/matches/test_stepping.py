"""States action by action outside of jitted code."""

import jax
import jax.numpy as jnp
import numpy as np

import jaxgames
from jaxgames.matches.stepping import after_actions


def test_all_actions_of_a_turn_are_played():
    """None is left out, and chance does not act after the last one."""
    game = jaxgames.make("backgammon")
    state = game.from_string("4HPwATDgc/ABMA:11")
    turn = max(game.legal_turns(state), key=len)
    assert len(turn) > 1
    expected, apply = state, jax.jit(game.apply)
    for action in turn:
        assert bool(expected.legal_action_mask[action])
        expected = apply(expected, jnp.int32(action))
    found = after_actions(state, turn)
    assert all(map(np.array_equal, *map(jax.tree.leaves, (found, expected))))
    assert all(isinstance(leaf, np.ndarray | np.generic) for leaf in jax.tree.leaves(found))
    assert after_actions(state, ()) is state
