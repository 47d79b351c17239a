"""Minimax in plain Python, slow and obvious, by a game's rules of one move: what the search in lanes must equal."""

import jax
import jax.numpy as jnp
import numpy as np

from jaxgames.algos.minimax import WIN


class Reference:
    """The values of all actions of a position. `evaluate` is of one position, by default the game's material."""

    def __init__(self, game, evaluate=None):
        evaluate, number = evaluate or game.material, game.num_actions

        @jax.jit
        def expand(position):
            outcomes = jax.vmap(lambda action: game.play(position, action))(jnp.arange(number, dtype=jnp.int32))
            return game.legal(position), outcomes, jax.vmap(evaluate)(outcomes.position)

        self.expand, self.material = expand, jax.jit(game.material) if evaluate == game.material else None

    def values(self, position, depth):
        """What each legal action is worth: `{action: value}`."""
        self.base = float(self.material(position)) if self.material else 0.0
        return self._values(position, depth, 1, 1)

    def _values(self, position, depth, turn, sign):
        """`sign`: 1 where the player to act is the root's, else -1. `turn` is the number of the turn."""
        legal, (after, switch, over, reward), worth = jax.tree.map(np.asarray, self.expand(position))
        found = {}
        for action in np.flatnonzero(legal).tolist():
            flip = -1 if switch[action] else 1
            if over[action]:
                found[action] = float(reward[action] * WIN - np.sign(reward[action]) * turn)
            elif turn + bool(switch[action]) > depth:
                found[action] = flip * float(worth[action]) - sign * self.base
            else:
                child = jax.tree.map(lambda x, action=action: x[action], after)
                best = max(self._values(child, depth, turn + bool(switch[action]), sign * flip).values())
                found[action] = flip * best
        return found


def solve(cells, player, known):
    """Tic-tac-toe by itself: the value of nine cells (0 for empty, 1, 2) to the player to act; turns cost 1."""
    if (cells, player) not in known:
        lines = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]
        best = None
        for place in (place for place in range(9) if not cells[place]):
            after = (*cells[:place], player, *cells[place + 1 :])
            if any(all(after[cell] == player for cell in line) for line in lines):
                value = WIN - 1
            elif 0 not in after:
                value = 0.0
            else:
                value = -solve(after, 3 - player, known)
                value -= np.sign(value)  # one turn later
            best = value if best is None else max(best, value)
        known[cells, player] = best
    return known[cells, player]
