"""Games of checkers as OpenSpiel has them.

OpenSpiel begins a game of checkers at the first move only. So its states are followed: each of our positions is looked
up among those that the games so far could have come to. There the player who begins, our Black, plays upwards from a1:
the board is ours turned around. A jump has the same number as the step in its direction.
"""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Int

from jaxgames.envs.checkers.game import Checkers

DRAW_AFTER = 40
"""OpenSpiel's draughts are drawn after so many single moves without a capture."""
MOST_STATES = 2**16
"""That are remembered; the oldest are forgotten."""


class FollowedGames:
    """OpenSpiel's states of the positions in which a player may have to move, in any number of games at once."""

    def __init__(self, game: Checkers, theirs: Any):
        if game.max_moves is not None:
            raise ValueError(f"OpenSpiel's checkers knows no max_moves={game.max_moves}: leave that option out")
        if game.draw_after != DRAW_AFTER:
            raise ValueError(
                f"OpenSpiel's checkers is drawn after {DRAW_AFTER} moves without a capture, this game is not: add "
                f"--set draw_after={DRAW_AFTER}"
            )
        self._game, self._numbers = game, action_numbers(theirs)
        position, state = jax.device_get(game.init_position(jax.random.key(0))), theirs.new_initial_state()
        self._first = {_key(position): state, **self._turns_of_other(position, state, 1 - state.current_player())}
        self._states: dict[bytes, Any] = {}

    def find(self, position: Any) -> Any:
        """OpenSpiel's state. Raises `ValueError` for a position that no game has come to from the first move."""
        key = _key(position)
        state = self._first.get(key, self._states.get(key))
        if state is None:
            raise ValueError("OpenSpiel cannot begin checkers in the middle: expected a game from its first move on")
        return state

    def act(self, position: Any, action: int) -> int:
        """Our number of an action of OpenSpiel's; what may come of it is followed from now on."""
        state = self.find(position)
        player = state.current_player()
        number = int(self._numbers[player, action])
        found = self._turns_of_other(self._after(position, number), state.child(action), player)
        for key, reached in found.items():
            self._states.pop(key, None)
            self._states[key] = reached
        while len(self._states) > MOST_STATES:
            self._states.pop(next(iter(self._states)))
        return number

    def _turns_of_other(self, position: Any, state: Any, player: int) -> dict[bytes, Any]:
        """All states in which `player` is next to act, one turn of the other at most from here."""
        if state.is_terminal():
            return {}
        if state.current_player() == player:
            return {_key(position): state}
        found: dict[bytes, Any] = {}
        for action in state.legal_actions():
            after = self._after(position, int(self._numbers[1 - player, action]))
            found |= self._turns_of_other(after, state.child(action), player)
        return found

    def _after(self, position: Any, number: int) -> Any:
        return jax.device_get(_play(self._game, position, jnp.int32(number)))


def action_numbers(theirs: Any) -> Int[np.ndarray, "players actions"]:
    """Our number of each action of OpenSpiel's draughts, by its name such as a3b4: 0 for names that leave the board."""
    state = theirs.new_initial_state()
    found = np.zeros((2, theirs.num_distinct_actions()), np.int32)
    for player, action in np.ndindex(*found.shape):
        name = state.action_to_string(player, action)
        column, row, end_column = ord(name[0]) - ord("a"), int(name[1]) - 1, ord(name[2]) - ord("a")
        if len(name) != 4 or not name[3].isdigit() or (row + column) % 2 or not 0 <= end_column < 8:
            continue
        down, across = int(name[3]) - 1 - row, end_column - column
        if player == 0:  # rows count from Black's side in both, columns from the other end
            column, across = 7 - column, -across
        else:
            row, down = 7 - row, -down
        found[player, action] = 4 * (4 * row + column // 2) + 2 * (down < 0) + (across > 0)
    return found


@functools.partial(jax.jit, static_argnums=0)
def _play(game: Checkers, position: Any, action: Any) -> Any:
    return game.play(position, action).position


def _key(position: Any) -> bytes:
    return b"".join(np.asarray(leaf).tobytes() for leaf in jax.tree.leaves(position))
