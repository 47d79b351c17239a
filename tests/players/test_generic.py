"""Players of any game."""

import jax
import numpy as np

import jaxgames
from jaxgames.envs.backgammon.best import FEW
from jaxgames.ops.pytrees import add_batch_axis
from jaxgames.players import generic

BACKGAMMON = jaxgames.make("backgammon")


def test_a_player_of_one_position_has_no_program_of_few():
    """Backgammon's programs for few positions would be compiled beside the usual ones."""
    assert generic.ROWS == FEW + 1
    seen = []

    def best_turn(positions, value):
        seen.append(positions.dice.shape)
        return positions, None

    one = add_batch_axis(jax.jit(BACKGAMMON.init)(jax.random.key(0))._position)
    for positions, rows in ((one, FEW + 1), (jax.tree.map(lambda x: np.repeat(x, 20, axis=0), one), 20)):
        found = generic._with_rows(best_turn, positions, None)
        assert seen.pop() == (rows,)
        assert all(map(np.array_equal, jax.tree.leaves(found), jax.tree.leaves(positions)))
