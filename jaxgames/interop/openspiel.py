"""OpenSpiel's bots as players: `openspiel:mcts:1000`."""

import functools
import json
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Int

from jaxgames.envs.checkers.game import Checkers
from jaxgames.envs.connect_four.board import to_plain
from jaxgames.envs.connect_four.game import ConnectFour
from jaxgames.envs.core import Game, State
from jaxgames.envs.tic_tac_toe.game import TicTacToe
from jaxgames.ops.pytrees import as_bytes
from jaxgames.players.host import HostTurn
from jaxgames.players.player import Player
from jaxgames.players.specs import PlayerEntry, by_name, number_option, whole_option

__all__ = ["openspiel_player"]

MEGABYTES = 1000
"""The most memory of a tree."""
EXPLORATION = 2.0
"""The exploration constant of UCT, as in OpenSpiel's own examples."""
SEED, MOST_SEED = 1, 2**31 - 1
STONES = ".xo"
DRAW_AFTER = 40
"""OpenSpiel's draughts are drawn after so many single moves without a capture."""
MOST_STATES = 2**16
"""How many states are remembered; the oldest are forgotten."""


def openspiel_player(game: Game, bot: str, simulations: int, c: float = EXPLORATION, seed: int = SEED) -> Player:
    """The player `openspiel:BOT:N`, whose actions are those of OpenSpiel, numbered as ours.

    Args:
        game: tic-tac-toe, Connect Four or checkers.
        bot: one of `BOTS`.
        simulations: of each move.
        c: the exploration constant.
        seed: of its random numbers.

    Raises `ValueError` for another game, bot or number, `ImportError` if OpenSpiel is missing.
    """
    name = f"openspiel:{bot}:{simulations}"
    if bot not in BOTS:
        raise ValueError(f"player {name!r}: bot {bot!r}: expected {' or '.join(BOTS)}")
    try:
        import pyspiel
    except ImportError:
        raise ImportError("not installed: open_spiel; install with: pip install open_spiel") from None
    load, states_of = _rules(game)
    theirs = pyspiel.load_game(load)
    states, chooser = states_of(theirs), BOTS[bot](pyspiel, theirs, simulations, c, seed)

    def move(state: State) -> int:
        return states.act(state._position, chooser.step(states.find(state._position)))

    return Player(name, game, HostTurn(game, move, name))


def _mcts(pyspiel: Any, game: Any, simulations: int, exploration: float, seed: int) -> Any:
    """Its UCT search with rollouts, which also proves results."""
    evaluator = pyspiel.RandomRolloutEvaluator(1, seed)
    return pyspiel.MCTSBot(game, evaluator, exploration, simulations, MEGABYTES, True, seed, False)


BOTS: dict[str, Callable[[Any, Any, int, float, int], Any]] = {"mcts": _mcts}

ENTRY = PlayerEntry(
    openspiel_player,
    "OpenSpiel's search by UCT with random rollouts",
    "openspiel needs a bot and a number of simulations: write openspiel:mcts:1000",
    ("openspiel:mcts:1000",),
    ("BOT", "N"),
    by_name(
        number_option("c", f"the constant of exploration, by default {EXPLORATION:g}"),
        whole_option("seed", f"where its random numbers begin, by default {SEED}", MOST_SEED),
    ),
    games=("tic_tac_toe", "connect_four", "checkers"),
)


def _rules(game: Game) -> tuple[str, Callable[[Any], Any]]:
    """OpenSpiel's name of a game, and the map from our positions to its states. Raises `ValueError` for other games."""
    if isinstance(game, Checkers):
        return "checkers", lambda theirs: FollowedGames(game, theirs)
    if isinstance(game, ConnectFour):
        load = f"connect_four(rows={game.rows},columns={game.cols},x_in_row={game.connect})"
        return load, lambda theirs: BegunAnywhere(theirs, lambda position: _connect_four(game, position))
    if isinstance(game, TicTacToe):
        return "tic_tac_toe", lambda theirs: BegunAnywhere(theirs, lambda position: _tic_tac_toe(game, position))
    raise ValueError(f"openspiel plays {', '.join(ENTRY.games)}, not {game.id}")


class BegunAnywhere(NamedTuple):
    """OpenSpiel's states of games that it can begin in any position, with the same actions as ours."""

    theirs: Any
    as_json: Callable[[Any], dict[str, Any]]

    def find(self, position: Any) -> Any:
        """OpenSpiel's state."""
        return self.theirs.new_initial_state(json.dumps(self.as_json(position)))

    def act(self, position: Any, action: int) -> int:
        """Our number of an action of OpenSpiel's."""
        return int(action)


def _connect_four(game: ConnectFour, position: Any) -> dict[str, Any]:
    """Rows from the bottom."""
    cells = np.asarray(to_plain(jax.device_get(position), game.rows, game.cols))
    board = [[STONES[cell] for cell in row] for row in cells[::-1].tolist()]
    return {"board": board, "current_player": _mover(cells), "is_terminal": False, "winner": ""}


def _tic_tac_toe(game: TicTacToe, position: Any) -> dict[str, Any]:
    text = game.unparse(position).replace("/", "").lower()
    return {"board": list(text), "current_player": _mover(np.array([STONES.index(cell) for cell in text]))}


def _mover(cells: np.ndarray) -> str:
    return STONES[1 + int(np.count_nonzero(cells)) % 2]


class FollowedGames:
    """OpenSpiel's states of the positions where a player may have to move, in any number of games of checkers.

    OpenSpiel can begin a game of checkers only at the first move. So its states are tracked: each of our positions is
    looked up among those that the games so far could have reached. There the player who begins, our Black, plays
    upwards from a1: its board is ours turned around. A jump has the same number as the step in its direction.
    """

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
        self._first = {as_bytes(position): state, **self._turns_of_other(position, state, 1 - state.current_player())}
        self._states: dict[bytes, Any] = {}

    def find(self, position: Any) -> Any:
        """OpenSpiel's state. Raises `ValueError` for a position that no game so far could reach from its first move."""
        key = as_bytes(position)
        state = self._first.get(key, self._states.get(key))
        if state is None:
            raise ValueError("OpenSpiel cannot begin checkers in the middle: expected a game from its first move on")
        return state

    def act(self, position: Any, action: int) -> int:
        """Our number of an action of OpenSpiel's; the states after it are tracked from now on."""
        state = self.find(position)
        player = state.current_player()
        number = int(self._numbers[player, action])
        states = self._turns_of_other(self._after(position, number), state.child(action), player)
        for key, reached in states.items():
            self._states.pop(key, None)
            self._states[key] = reached
        while len(self._states) > MOST_STATES:
            self._states.pop(next(iter(self._states)))
        return number

    def _turns_of_other(self, position: Any, state: Any, player: int) -> dict[bytes, Any]:
        """All states in which `player` is next to act, at most one turn of the other player from here."""
        if state.is_terminal():
            return {}
        if state.current_player() == player:
            return {as_bytes(position): state}
        states: dict[bytes, Any] = {}
        for action in state.legal_actions():
            after = self._after(position, int(self._numbers[1 - player, action]))
            states |= self._turns_of_other(after, state.child(action), player)
        return states

    def _after(self, position: Any, number: int) -> Any:
        return jax.device_get(_play(self._game, position, jnp.int32(number)))


def action_numbers(theirs: Any) -> Int[np.ndarray, "players actions"]:
    """Our number of each action of OpenSpiel's draughts, by its name such as a3b4: 0 for names that leave the board."""
    state = theirs.new_initial_state()
    numbers = np.zeros((2, theirs.num_distinct_actions()), np.int32)
    for player, action in np.ndindex(*numbers.shape):
        name = state.action_to_string(player, action)
        column, row, end_column = ord(name[0]) - ord("a"), int(name[1]) - 1, ord(name[2]) - ord("a")
        if len(name) != 4 or not name[3].isdigit() or (row + column) % 2 or not 0 <= end_column < 8:
            continue
        down, across = int(name[3]) - 1 - row, end_column - column
        if player == 0:  # rows count from Black's side in both, columns from the other end
            column, across = 7 - column, -across
        else:
            row, down = 7 - row, -down
        numbers[player, action] = 4 * (4 * row + column // 2) + 2 * (down < 0) + (across > 0)
    return numbers


@functools.partial(jax.jit, static_argnums=0)
def _play(game: Checkers, position: Any, action: Any) -> Any:
    return game.play(position, action).position
