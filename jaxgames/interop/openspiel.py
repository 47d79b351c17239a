"""OpenSpiel's bots as players: `openspiel:mcts:1000`. Games that OpenSpiel can begin in any position."""

import json
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from jaxgames.envs.connect_four.board import to_plain
from jaxgames.envs.connect_four.game import ConnectFour
from jaxgames.envs.core import Game, State
from jaxgames.envs.tic_tac_toe.game import TicTacToe
from jaxgames.players.host import HostTurn
from jaxgames.players.player import Player
from jaxgames.players.specs import PlayerEntry, choice, number

MEGABYTES = 1000
"""What a tree may take."""
EXPLORATION = 2.0
"""The constant of UCT, as in OpenSpiel's own examples."""
STONES = ".xo"


def openspiel_player(game: Game, bot: str, simulations: int, c: str | None = None) -> Player:
    """The player `openspiel:BOT:N`, whose actions are those of OpenSpiel, numbered as ours.

    Raises `ValueError` for another game, bot or number, `ImportError` where OpenSpiel is missing.
    """
    name = f"openspiel:{bot}:{simulations}"
    make_bot = choice(bot, f"player {name!r}: bot", BOTS)
    exploration = EXPLORATION if c is None else number(c, f"player {name!r}: c")
    try:
        import pyspiel
    except ImportError:
        raise ImportError("not installed: open_spiel; install with: pip install open_spiel") from None
    load, as_json = _rules(game)
    theirs = pyspiel.load_game(load)
    chooser = make_bot(pyspiel, theirs, simulations, exploration)

    def move(state: State) -> int:
        return int(chooser.step(theirs.new_initial_state(json.dumps(as_json(state)))))

    return Player(name, game, HostTurn(game, move, name))


def _mcts(pyspiel: Any, game: Any, simulations: int, exploration: float) -> Any:
    """Its search by UCT with rollouts, which proves results as it goes."""
    evaluator = pyspiel.RandomRolloutEvaluator(1, 1)
    return pyspiel.MCTSBot(game, evaluator, exploration, simulations, MEGABYTES, True, 1, False)


BOTS: dict[str, Callable[[Any, Any, int, float], Any]] = {"mcts": _mcts}

ENTRY = PlayerEntry(
    openspiel_player,
    "OpenSpiel's search by UCT with random rollouts",
    "openspiel needs a bot and a number of simulations: write openspiel:mcts:1000",
    ("openspiel:mcts:1000",),
    ("BOT", "N"),
    {"c": f"the constant of exploration; {EXPLORATION:g} if nothing is said"},
    games=("tic_tac_toe", "connect_four"),
)


def _rules(game: Game) -> tuple[str, Callable[[State], dict[str, Any]]]:
    """OpenSpiel's name of a game, and its form of our states. Raises `ValueError` for a game that has none."""
    if isinstance(game, ConnectFour):
        return f"connect_four(rows={game.rows},columns={game.cols},x_in_row={game.connect})", _connect_four
    if isinstance(game, TicTacToe):
        return "tic_tac_toe", _tic_tac_toe
    raise ValueError(f"OpenSpiel cannot begin a game of {game.id} in the middle; expected {' or '.join(ENTRY.games)}")


def _connect_four(state: State) -> dict[str, Any]:
    """Rows from the bottom."""
    game: Any = state._game
    cells = np.asarray(to_plain(jax.device_get(state._position), game.rows, game.cols))
    board = [[STONES[cell] for cell in row] for row in cells[::-1].tolist()]
    return {"board": board, "current_player": _mover(cells), "is_terminal": False, "winner": ""}


def _tic_tac_toe(state: State) -> dict[str, Any]:
    text = state._game.to_string(state).replace("/", "").lower()
    return {"board": list(text), "current_player": _mover(np.array([STONES.index(cell) for cell in text]))}


def _mover(cells: np.ndarray) -> str:
    return STONES[1 + np.count_nonzero(cells) % 2]
