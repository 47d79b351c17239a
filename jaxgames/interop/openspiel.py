"""OpenSpiel's bots as players: `openspiel:mcts:1000`."""

import json
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxgames.envs.checkers.game import Checkers
from jaxgames.envs.connect_four.board import to_plain
from jaxgames.envs.connect_four.game import ConnectFour
from jaxgames.envs.core import Game, State
from jaxgames.envs.tic_tac_toe.game import TicTacToe
from jaxgames.interop.openspiel_checkers import FollowedGames
from jaxgames.players.host import HostTurn
from jaxgames.players.player import Player
from jaxgames.players.specs import PlayerEntry, by_name, number_option, whole_option

__all__ = ["openspiel_player"]

MEGABYTES = 1000
"""What a tree may take."""
EXPLORATION = 2.0
"""The constant of UCT, as in OpenSpiel's own examples."""
SEED, MOST_SEED = 1, 2**31 - 1
STONES = ".xo"


def openspiel_player(game: Game, bot: str, simulations: int, c: float = EXPLORATION, seed: int = SEED) -> Player:
    """The player `openspiel:BOT:N`, whose actions are those of OpenSpiel, numbered as ours.

    Args:
        game: tic-tac-toe, Connect Four or checkers.
        bot: one of `BOTS`.
        simulations: of each move.
        c: the constant of exploration.
        seed: where its random numbers begin.

    Raises `ValueError` for another game, bot or number, `ImportError` where OpenSpiel is missing.
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
    """Its search by UCT with rollouts, which proves results as it goes."""
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
    """OpenSpiel's name of a game, and what has its states of our positions. Raises `ValueError` for other games."""
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
