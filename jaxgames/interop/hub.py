"""Draughts programs that speak the Hub protocol: as players in our matches (`hub:COMMAND`), and our players as such
programs (`jaxgames serve-hub`). English draughts, 8 x 8.
"""

import contextlib
import queue
import re
import shlex
import subprocess
import threading
import time
import weakref
from collections.abc import Iterable
from importlib.metadata import version
from typing import Any, NamedTuple, TextIO

from jaxgames.envs.checkers.board import from_plain, to_plain
from jaxgames.envs.checkers.game import Checkers
from jaxgames.envs.checkers.plain_board import SQUARES, START, Board, Move, apply_action, check_board, legal_moves
from jaxgames.envs.core import Game, State, state_on_host
from jaxgames.players.host import HostTurn
from jaxgames.players.player import Player
from jaxgames.players.specs import MOST_SECONDS, PlayerEntry, by_name, number_option, whole_option
from jaxgames.sessions.session import choose_turn

__all__ = ["hub_player", "serve"]

# The Hub protocol of draughts programs (F. Letouzey, 2017, version 2), for English draughts: lines, positions, moves.
#
# A line is a command with arguments, `done move=11-15`; a value with a blank stands in double quotes. A position is who
# is to move, `W` or `B`, and a letter for each square 1 to 32: `w` and `b` for men, `W` and `B` for kings, `e` for
# none. A capture names its first and last square and then all squares of captured pieces: `22x8x18x11`.

LETTERS = {0: "e", 1: "b", 2: "B", -1: "w", -2: "W"}
_PIECES = {letter: piece for piece, letter in LETTERS.items()}
_ARGUMENT = re.compile(r'\s+([\w-]+)(?:\s*=\s*(?:"([^"]*)"|([^\s"]+)))?')


class Line(NamedTuple):
    """A command and its arguments; those without a value have an empty one."""

    command: str
    arguments: dict[str, str]


def parse_line(text: str) -> Line:
    """Reads a line; an empty one has an empty command. Raises `ValueError` where a quote or a value is missing."""
    command, rest = re.fullmatch(r"(\S*)(.*)", text.strip(), re.DOTALL).groups()  # type: ignore[union-attr]
    arguments, at = dict[str, str](), 0
    while rest[at:].strip():
        match = _ARGUMENT.match(rest, at)
        if match is None:
            raise ValueError(f"{text.strip()[:80]!r} is no line of the protocol; expected COMMAND NAME=VALUE ...")
        arguments[match[1]], at = match[2] or match[3] or "", match.end()
    return Line(command, arguments)


def format_line(command: str, **arguments: str) -> str:
    """A line; `move_time` becomes `move-time`."""
    quoted = {name.replace("_", "-"): _quote(value) for name, value in arguments.items()}
    return " ".join([command, *(f"{name}={value}" for name, value in quoted.items())])


def format_position(board: Board) -> str:
    """A position between two moves."""
    return "BW"[board.white_to_move] + "".join(LETTERS[piece] for piece in board.squares)


def parse_position(text: str) -> Board:
    """Reads a position. Raises `ValueError` for a text that is none."""
    if not re.fullmatch(f"[WB][{''.join(_PIECES)}]{{{SQUARES}}}", text):
        raise ValueError(f"position {text[:80]!r}: expected W or B, and {SQUARES} letters of w, b, W, B and e")
    return check_board(Board(tuple(_PIECES[letter] for letter in text[1:]), text[0] == "W"))


def format_move(move: Move) -> str:
    """A whole move: `11-15`, `22x15x18`."""
    start, end = move.squares[0], move.squares[-1]
    return "x".join(map(str, (start, end, *sorted(move.captured)))) if move.captured else f"{start}-{end}"


def parse_move(board: Board, text: str) -> Move:
    """The legal whole move with this text, whatever the order of the captured squares.

    Raises `ValueError` if there is none.
    """
    moves = legal_moves(board)
    for move in moves:
        if _sorted(format_move(move)) == _sorted(text):
            return move
    legal = ", ".join(map(format_move, moves)) or "none, the game is over"
    raise ValueError(f"{text[:80]!r} is no legal move in {format_position(board)}; legal: {legal}")


def _sorted(text: str) -> tuple[str, list[str]]:
    """A move with its captured squares in one order."""
    squares = text.split("x")
    return "x".join(squares[:2]), sorted(squares[2:])


def _quote(value: str) -> str:
    return value if re.fullmatch(r"[^\s=\"]+", value) else f'"{value.replace(chr(34), chr(39))}"'


# The programs.

VARIANTS = ("english", "american", "checkers")
"""What programs call the game, if they play several."""
SECONDS, PATIENCE, START_SECONDS = 1.0, 10.0, 180.0
"""Seconds for a move; how much longer we wait for it; how long a program may take to get ready."""
MOST_DEPTH = 100


class HubError(RuntimeError):
    """A program that has died, hangs, or says what the protocol does not have."""


class HubProgram:
    """A program of the Hub protocol, started when it is needed, and again when it has failed."""

    def __init__(self, command: str, level: str, patience: float, start_seconds: float = START_SECONDS):
        self.command, self.level, self.patience, self.start_seconds = command, level, patience, start_seconds
        self._process: Any = None
        self._end: Any = None
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()

    def start(self) -> None:
        """Starts the program and waits until it is ready. Raises `HubError` if it does not get ready."""
        try:
            self._process = subprocess.Popen(
                shlex.split(self.command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                errors="replace",
                bufsize=1,
            )
        except (OSError, ValueError, IndexError) as error:
            raise HubError(f"{self.command!r} cannot be started: {error}") from None
        self._end = weakref.finalize(self, _end, self._process)
        self._lines = queue.SimpleQueue()
        threading.Thread(target=_read, args=(self._process.stdout, self._lines), daemon=True).start()
        until = time.monotonic() + self.start_seconds
        try:
            self._send("hub")
            while (line := self._receive(until)).command != "wait":
                if line.command == "param" and line.arguments.get("name") == "variant":
                    self._choose_variant(line.arguments)
            self._send("init")
            while self._receive(until).command != "ready":
                pass
            self._send("new-game")
        except HubError:
            self.stop()
            raise

    def move(self, board: Board) -> tuple[int, ...]:
        """The actions of the move that the program chooses.

        Raises `HubError` if it gives none, `ValueError` if it is illegal. After a `HubError` it is restarted.
        """
        if self._process is None:
            self.start()
        try:
            until = time.monotonic() + self.patience
            self._send(format_line("pos", pos=format_position(board)))
            self._send(self.level)
            self._send("go think")
            while (line := self._receive(until)).command != "done":
                pass
            if "move" not in line.arguments:
                raise HubError("it is done without a move")
        except HubError:
            self.stop()
            raise
        return parse_move(board, line.arguments["move"]).actions

    def stop(self) -> None:
        """Ends the program, if it runs."""
        if self._process is not None:
            self._process = None
            self._end()

    def _choose_variant(self, arguments: dict[str, str]) -> None:
        known = arguments.get("values", arguments.get("value", "")).split()
        variant = next((name for name in VARIANTS if name in known), None)
        if variant is None:
            raise HubError(f"{self.command!r} plays {', '.join(known) or 'something else'}, not {VARIANTS[0]} draughts")
        if arguments.get("value") != variant:
            self._send(format_line("set-param", name="variant", value=variant))

    def _send(self, line: str) -> None:
        try:
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()
        except OSError:
            raise HubError(self._died()) from None

    def _receive(self, until: float) -> Line:
        """The next line. Raises `HubError` after that time, if the program ends, and if it reports an error."""
        begun = time.monotonic()
        try:
            text = self._lines.get(timeout=max(until - begun, 0))
        except queue.Empty:
            raise HubError("it has not answered in time") from None
        if text is None:
            raise HubError(self._died())
        try:
            line = parse_line(text)
        except ValueError:
            return Line("", {})  # a program may print what it likes
        if line.command == "error":
            raise HubError(f"it says: {line.arguments.get('message', '')}")
        return line

    def _died(self) -> str:
        try:
            return f"it has ended with status {self._process.wait(1)}"
        except subprocess.TimeoutExpired:
            return "it has closed its output"


def hub_player(game: Game, command: str, time: float = SECONDS, depth: int | None = None) -> Player:
    """The player `hub:COMMAND`: a draughts program that speaks the Hub protocol, with a second for each move.

    Raises `ValueError` for another game, and a program that does not get ready to play English draughts.
    """
    name = f"hub:{command}"
    level = format_line("level", move_time=f"{time:g}")
    if depth is not None:
        level = format_line("level", depth=str(depth))
    engine = HubProgram(command, level, time + PATIENCE)
    try:
        engine.start()
    except HubError as error:
        raise ValueError(f"player {name!r}: {error}") from None

    def move(state: State) -> tuple[int, ...]:
        board = to_plain(state._position)
        if board.jumper:
            raise ValueError(f"{name} is asked for whole moves; the piece on {board.jumper} has jumped already")
        moves = legal_moves(board)
        return moves[0].actions if len(moves) == 1 else engine.move(board)

    return Player(name, game, HostTurn(game, move, name))


ENTRY = PlayerEntry(
    hub_player,
    "a draughts program that speaks the Hub protocol",
    "hub needs the command that starts a program: write hub:COMMAND",
    ("hub:COMMAND",),
    ("COMMAND",),
    by_name(
        number_option(
            "time",
            f"seconds for a move, by default {SECONDS:g}. One that takes {PATIENCE:g} more loses the game",
            MOST_SECONDS,
        ),
        whole_option("depth", "a depth instead of a time", MOST_DEPTH),
    ),
    games=("checkers",),
)


def serve(player: Player, commands: Iterable[str], answers: TextIO) -> int:
    """Answers lines of the Hub protocol as a program until `quit` or the end; returns how many moves were chosen.

    The player is as strong as its spec says; it ignores `level`. Raises `ValueError` for another game.
    """
    if not isinstance(player.game, Checkers):
        raise ValueError(f"{player.name} plays {player.game.id}; the Hub protocol is for checkers")
    board: Board | None = START
    chosen = 0

    def say(command: str, **arguments: str) -> None:
        answers.write(format_line(command, **arguments) + "\n")
        answers.flush()

    for text in commands:
        try:
            line = parse_line(text)
            match line.command:
                case "hub":
                    say("id", name=f"jaxgames {player.name}", version=version("jaxgames"), author="jaxgames")
                    say("param", name="variant", value=VARIANTS[0], type="enum", values=VARIANTS[0])
                    say("wait")
                case "set-param":
                    _check_variant(line.arguments)
                case "init":
                    choose_move(player, START, 0)  # compiles
                    say("ready")
                case "ping":
                    say("pong")
                case "pos":
                    board = None  # no move in an old position if the new one is wrong
                    board = _position(line.arguments)
                case "go" if board is not None:
                    chosen += 1
                    say("done", move=choose_move(player, board, chosen))
                case "quit":
                    break
        except ValueError as error:
            say("error", message=str(error))
    return chosen


def choose_move(player: Player, board: Board, number: int) -> str:
    """The move of a player, checked under the rules. Raises `ValueError` if the game is over."""
    if not legal_moves(board):
        raise ValueError(f"{format_position(board)}: the game is over")
    state = state_on_host(player.game, from_plain(board))
    actions = choose_turn(player, state, number * 0x9E3779B1 & 0xFFFFFFFF)
    (move,) = (move for move in legal_moves(board) if tuple(move.actions) == tuple(actions))
    text = format_move(move)
    parse_move(board, text)
    return text


def _position(arguments: dict[str, str]) -> Board:
    """The position of a line `pos`, after its moves."""
    board = parse_position(arguments.get("pos", ""))
    for text in arguments.get("moves", "").split():
        for action in parse_move(board, text).actions:
            board, _ = apply_action(board, action)
    return board


def _check_variant(arguments: dict[str, str]) -> None:
    if arguments.get("name") == "variant" and arguments.get("value") not in VARIANTS:
        raise ValueError(f"variant {arguments.get('value', '')}: expected {VARIANTS[0]}")


def _read(output: TextIO, lines: "queue.SimpleQueue[str | None]") -> None:
    """Passes lines on as they come; None at the end."""
    with output:
        for line in output:
            lines.put(line)
    lines.put(None)


def _end(process: "subprocess.Popen[str]") -> None:
    process.kill()
    process.wait()
    with contextlib.suppress(OSError):  # what could not be written any more
        process.stdin.close()  # type: ignore[union-attr]
