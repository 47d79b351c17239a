"""Three players and a game: `jaxgames match replies first --plugin plugin_example.py --game tic_tac_toe`."""

import dataclasses

import jax.numpy as jnp
import numpy as np

from jaxgames.envs.connect_four import ConnectFour
from jaxgames.players import jax_player, python_player


def first(state):
    """Plays the first legal action."""
    return int(np.argmax(state.legal_action_mask))


def replies(state):
    """Wins at once where that is possible, and else plays what is in the middle of the legal actions."""
    game = state._game
    actions = np.flatnonzero(state.legal_action_mask).tolist()
    for action in actions:
        after = game.step(state, action)
        if float(after.rewards[int(state.current_player)]) > 0:
            return action
    return actions[len(actions) // 2]


def highest(states, bits):
    """Plays the legal action with the highest number, in all games at once."""
    numbers = jnp.arange(states.legal_action_mask.shape[-1])
    return jnp.max(jnp.where(states.legal_action_mask, numbers, -1), axis=-1)


@dataclasses.dataclass(frozen=True)
class SmallConnect(ConnectFour):
    """Connect Four on 4 x 5 squares."""

    id = "small_connect"
    rows: int = 4
    cols: int = 5


PLAYERS = {
    "first": first,
    "replies": python_player(replies, chance=False),
    "highest": jax_player(highest),
}
GAMES = [SmallConnect]
