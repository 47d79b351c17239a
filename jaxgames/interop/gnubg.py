"""GNU Backgammon: our players in its games (its external-player protocol), and its player in ours (its Python package).

The program connects and sends boards as FIBS writes them, `board:...`, one per line. The answer is a move, `roll`,
`take` or `drop`. The program silently replaces an illegal move by another one, so we check every move.
"""

import contextlib
import itertools
import math
import socket
from collections.abc import Callable, Sequence
from typing import NamedTuple

import jax
import numpy as np

from jaxgames.envs.backgammon.board import from_plain, to_plain
from jaxgames.envs.backgammon.game import Backgammon
from jaxgames.envs.core import Game, State, state_on_host
from jaxgames.players.host import HostTurn
from jaxgames.players.player import Player
from jaxgames.players.specs import PlayerEntry, whole_number
from jaxgames.sessions.session import after_actions, choose_turn

__all__ = ["gnubg_player", "serve"]

FIELDS = 53
"""Numbers and names of a FIBS board, separated by colons."""
LEAST_TO_TAKE = -0.5
"""The least expected points at which to take a double: dropping costs one point, a lost doubled game two."""
MOST_PLIES = 4


class FibsBoard(NamedTuple):
    """A position as the asked player sees it: 25 counts a side, points 1 to 24 and the bar, in its own numbering."""

    own: tuple[int, ...]
    opponent: tuple[int, ...]
    dice: tuple[int, int] | None
    doubled: bool


def parse(line: str) -> FibsBoard:
    """Reads a FIBS board. Raises `ValueError` for a text that is none."""
    fields = line.strip().strip("\0").split(":")
    if fields[0] != "board" or len(fields) < FIELDS - 1:
        raise ValueError(f"{line[:60]!r} is no FIBS board; expected board:NAME:NAME:... of {FIELDS} fields")
    try:
        points = [int(text) for text in fields[6:32]]
        turn, first, second, doubled, color, direction = (int(fields[place]) for place in (32, 33, 34, 40, 41, 42))
    except ValueError:
        raise ValueError(f"{line[:60]!r} is no FIBS board: a number is missing") from None
    if not 0 <= min(first, second) <= max(first, second) <= 6:
        raise ValueError(f"{line[:60]!r} is no FIBS board: dice are 1 to 6, or 0 before the roll")
    if turn == -color:  # gnubg always draws the board for its player 1, and says here whose turn it is
        color, direction = -color, -direction
    points = [color * number for number in points]
    if direction > 0:
        points = points[::-1]
    own = tuple(max(points[place], 0) for place in range(1, 26))
    opponent = tuple(max(-points[25 - place], 0) for place in range(1, 26))
    return FibsBoard(own, opponent, (first, second) if first and second else None, bool(doubled))


def answer(player: Player, line: str, bits: int = 0) -> str:
    """A player's answer to a board: its move, `roll` if it has no dice yet, `take` or `drop` if it is doubled.

    Raises `ValueError` for an impossible board, and `PlayerFailed` for a player in plain Python that fails.
    """
    board, game = parse(line), player.game
    if board.doubled:
        return "take" if _worth(player, board) >= LEAST_TO_TAKE else "drop"
    if board.dice is None:
        return "roll"
    left = board.dice * (2 if board.dice[0] == board.dice[1] else 1)
    state = state_on_host(game, from_plain(board.own, board.opponent, left))
    actions = choose_turn(player, state, bits)
    text = _single_moves(state, actions)
    checked = game.string_to_turn(state, text)
    if _after(state, checked) != _after(state, actions):
        raise ValueError(f"{text} is not the turn {list(actions)} in {game.to_string(state)}")
    return text


def _single_moves(state: State, actions: Sequence[int]) -> str:
    """A turn with each checker move separately, empty if no checker can move.

    gnubg does not accept `24/13` for one checker with 6-5 as a legal move, and records `pass` as nonsense.
    """
    moves = []
    for action in actions:
        moves.append(state._game.action_to_string(state, action).partition("[")[0])  # no die: gnubg knows it
        state = after_actions(state, [action])
    return " ".join(move for move in moves if move != "pass")


def serve(
    player: Player,
    port: int,
    host: str = "127.0.0.1",
    say: Callable[[str], None] = print,
    connections: int | None = None,
) -> int:
    """Answers boards on a port until stopped, or until so many connections are closed; returns the number of boards.

    Args:
        player: who answers.
        port: the port to listen on, at `host`.
        say: is called with a line for people, now and then.
        connections: after so many closed connections it ends; by default it does not.

    Raises `ValueError` for another game than backgammon, `OSError` if the port cannot be opened.
    """
    if player.game != Backgammon():
        raise ValueError(f"{player.name} plays {player.game.id}; GNU Backgammon plays backgammon")
    asked = 0
    with socket.create_server((host, port)) as server:
        say(f"{player.name} listens; in gnubg: set player 0 external {host}:{server.getsockname()[1]}")
        for _ in itertools.count() if connections is None else range(connections):
            connection, _ = server.accept()
            try:
                with connection, connection.makefile("rb") as lines:
                    for line in lines:
                        text = line.decode("ascii", "replace").strip("\0\r\n ")
                        if not text:
                            continue
                        asked += 1
                        try:
                            reply = answer(player, text, asked * 0x9E3779B1 & 0xFFFFFFFF)
                        except ValueError as error:  # gnubg shows it and stops the game
                            reply = f"Error: {error}"
                            say(reply)
                        connection.sendall((" ".join(reply.split()) + "\n").encode())
            except ConnectionError as error:  # gnubg has ended, or was ended
                say(f"the connection is lost: {error.strerror}")
    return asked


def gnubg_player(game: Game, plies: str) -> Player:
    """The player `gnubg:0`: GNU Backgammon with so many plies of look-ahead, as a money game without the cube.

    Raises `ValueError` for an unsupported number of plies, `ImportError` if its Python package is missing.
    """
    number = 0 if plies == "0" else whole_number(plies, f"player 'gnubg:{plies}': plies", MOST_PLIES)
    try:
        import gnubg
    except ImportError:
        raise ImportError("not installed: gnubg; install with: pip install 'gnubg>=1.1.0a16'") from None
    # Jacoby off: otherwise gammons do not count while the cube is in the middle.
    cube, context = {**gnubg.cubeinfo(), "jacoby": 0}, gnubg.evalcontext(0, number, 1, 0, 0.0)

    def move(state: State) -> tuple[int, ...]:
        own, opponent, dice = to_plain(state._position)
        if dice is None or len(dice) not in (2, 4):
            raise ValueError(f"gnubg is asked for whole turns; dice left are {dice}")
        board = tuple(opponent), tuple(own)
        best = gnubg.find_best_move(board, cube, context, dice[:2])
        if not best or best[0] < 0:
            return game.legal_turns(state)[0]
        with contextlib.suppress(ValueError):  # the package leaves out checkers that are borne off
            return game.string_to_turn(state, gnubg.move_tuple_to_string(best, board))
        return min(game.legal_turns(state), key=lambda turn: others_equity(_after(state, turn)))

    def others_equity(board: tuple[list[int], list[int]]) -> float:
        opponent, own = map(tuple, board)  # it is to roll
        return float(gnubg.evaluate((own, opponent), cube, context)[-1]) if sum(own) and sum(opponent) else -math.inf

    return Player(f"gnubg:{plies}", game, HostTurn(game, move, f"gnubg:{plies}"))


ENTRY = PlayerEntry(
    gnubg_player,
    "GNU Backgammon's Python package, looking so many plies ahead",
    "gnubg needs a number of plies: write gnubg:0",
    ("gnubg:0", "gnubg:2"),
    ("PLIES",),
    games=("backgammon",),
)


def _after(state: State, actions: tuple[int, ...]) -> tuple[list[int], list[int]]:
    """The board after a turn."""
    return to_plain(after_actions(state, actions)._position)[:2]


def _worth(player: Player, board: FibsBoard) -> float:
    """Expected points of the player when the other one is about to roll; 0 if it does not value positions."""
    if player.value is None:
        return 0.0
    position = from_plain(board.opponent, board.own, None)
    batch = jax.tree.map(lambda x: np.asarray(x)[None], position)
    return -float(player.value(player.params)(batch)[0])
