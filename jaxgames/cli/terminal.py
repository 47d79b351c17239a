"""A game in a terminal: boards as text, turns and commands by lines; plain if the output is not a terminal."""

import dataclasses
import os
import re
import textwrap
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from jaxgames import records
from jaxgames.cli.common import of_system
from jaxgames.players import Player
from jaxgames.players.generic import advisor
from jaxgames.sessions.record import GameRecord
from jaxgames.sessions.session import Session

SEATS = ("first", "second")
MOST_POINTS = 1000
"""Of a match."""
_PIECES = re.compile(r"(?<![\w+/:])([XObBwW])(?![\w+/:])")
_COLOURS = {"X": "1;33", "O": "1;36", "b": "33", "B": "1;33", "w": "36", "W": "1;36"}
"""Colours of the pieces, as ANSI codes: yellow and cyan, which the colour-blind can distinguish."""


class PointsMatch:
    """A match to some points: game after game between two sides, until one has the points. There is no cube.

    By the rules of backgammon the opening roll decides who begins, so that is drawn; in games without chance the sides
    begin in turn.

    Args:
        names: of the sides; the first one begins the first game.
        players: on both sides; None for a person.
        to: points that win the match.
        seed: of who begins.

    Raises `ValueError` for points out of range.
    """

    def __init__(self, names: Sequence[str], players: Sequence[Player | None], to: int, seed: int = 0):
        if not 1 <= to <= MOST_POINTS:
            raise ValueError(f"a match to {to} points: expected 1 to {MOST_POINTS}")
        self.names, self.players, self.to, self.seed = tuple(names), tuple(players), to, seed
        self.score, self.date = [0.0, 0.0], time.strftime("%Y.%m.%d")
        self.records: list[GameRecord] = []
        self.first = 0
        self._counted: Session | None = None

    @property
    def over(self) -> bool:
        """Whether a side has the points."""
        return max(self.score) >= self.to

    def count(self, session: Session) -> None:
        """Counts a game that has ended, once."""
        if session is self._counted:
            return
        self._counted = session
        points = session.end.points if session.end else 0.0
        self.score[self.first if points > 0 else 1 - self.first] += abs(points)
        self.records.append(self.record(session))

    def next_game(self, session: Session) -> Session:
        """The next game, by the rules of the last one."""
        number = len(self.records)
        if session.game.outcome_probabilities:
            self.first = int(np.random.default_rng((self.seed, number)).integers(2))
        else:
            self.first = number % 2
        seats = [self.players[self.first], self.players[1 - self.first]]
        return Session(session.game, seed=(self.seed + number) % 2**31, players=seats)

    def record(self, session: Session) -> GameRecord:
        """The record of a game of this match, under the names of the sides."""
        tags = {"Date": self.date}
        return session.record((self.names[self.first], self.names[1 - self.first]), tags)

    def score_line(self) -> str:
        """The score, such as `champion 2, person 1, to 5 points`, with the leader first."""
        pairs = sorted(zip(self.score, self.names, strict=True), key=lambda pair: -pair[0])
        score = ", ".join(f"{name} {points:g}" for points, name in pairs)
        return f"{pairs[0][1]} wins the match: {score}" if self.over else f"{score}, to {self.to} points"


class TerminalGame:
    """Plays a session line by line: `take` reads a line, `write` prints everything.

    Args:
        session: the game.
        write: what says a text.
        colour: whether pieces have colours, and the last move is in reverse.
        advisor: who gives hints.
        match: with it one game follows another until it is over.
        width: characters of a line, where lines end between words; None: lines are as long as they are.
        kept: the file in which a game is kept that is left before its end, and from which `load` goes on.
    """

    def __init__(
        self,
        session: Session,
        write: Callable[[str], None],
        colour: bool,
        advisor: Player | None = None,
        match: PointsMatch | None = None,
        width: int | None = None,
        kept: Path | None = None,
    ):
        self.width, self.kept, self.date = width, kept, time.strftime("%Y.%m.%d")
        self.session, self.write, self.colour, self.advisor, self.match = session, write, colour, advisor, match
        self.done, self._was_kept = False, False
        self.commands: dict[str, tuple[Callable[[str], None], str]] = {
            "help": (self._help, "this list"),
            "board": (self._board, "shows the board again"),
            "moves": (self._moves, "all legal moves"),
            "undo": (self._undo, "takes back your last move, and what was answered"),
            "redo": (self._redo, "plays again what was taken back"),
            "hint": (self._hint, "what a good player would play"),
            "swap": (self._swap, "changes sides"),
            "position": (self._position, "the position as text, for --from"),
            "save": (self._save, "save FILE: writes the game, by the end of the name as PDN, MAT, SGF, TXT or JSON"),
            "load": (
                self._load,
                "load FILE: goes on with the first game of a file; load alone with the game that was left",
            ),
            "resign": (self._resign, "resign [POINTS]: gives the game up"),
            "quit": (self._quit, "ends the program"),
        }

    def go_on(self) -> None:
        """Lets players play until a person is to move or the game is over, and shows the board."""
        session = self.session
        while not session.over and session.player is not None:
            name, seat = session.player.name, session.seat
            turn = session.play_on()
            if turn is not None:
                self.write(f"{name} ({SEATS[seat]}): {_with_roll(turn.chance, turn.text)}")
        self._board("")
        self._end_game()

    def take(self, line: str) -> None:
        """Does what a line says: a command, or a move. An error is one line."""
        word, _, rest = line.strip().partition(" ")
        try:
            if word.lower() in self.commands:
                self.commands[word.lower()][0](rest.strip())
            elif word:
                self.session.play(line.strip())
                self.go_on()
        except (ValueError, OSError, NotImplementedError) as error:
            line = of_system(error) if isinstance(error, OSError) else str(error)
            self._say(f"error: {' '.join(line.split())}")

    def keep(self) -> None:
        """Keeps an unfinished game, with the roll of its turn and the seed of later rolls."""
        session = self.session
        if self.kept is None or session.over or not session.turns:
            return
        try:
            record = self.records()[-1]
            tags = {**record.tags, "Seed": str(session.seed), "Roll": session.chance}
            self.kept.parent.mkdir(parents=True, exist_ok=True)
            records.save(self.kept, [dataclasses.replace(record, tags=tags)])
        except NotImplementedError as error:  # a game without a notation
            self._say(f"error: the game could not be kept: {error}")
        except OSError as error:
            self._say(f"error: the game could not be kept: {of_system(error)}")
        else:
            self._say(f"the game is kept: {'' if self.match is None else 'without --points '}`load` goes on with it")

    def records(self) -> list[GameRecord]:
        """The games so far: all of the match, or the one."""
        if self.match is None:
            return [self.session.record(tags={"Date": self.date})]
        return [*self.match.records, *([] if self.session.over else [self.match.record(self.session)])]

    def _say(self, text: str, indent: str = "") -> None:
        """Writes a text in lines that break between words; no-break spaces are not broken."""
        if self.width is not None:
            wrap = textwrap.TextWrapper(
                max(20, self.width), subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
            )
            text = wrap.fill(text)
        self.write(text.replace("\xa0", " "))

    @property
    def prompt(self) -> str:
        """What to ask the person for."""
        names = [player.name if player else "you" for player in self.session.seats]
        who = SEATS[self.session.seat] if names[0] == names[1] else "your move"
        return "over> " if self.session.over else f"{who}> "

    def _end_game(self) -> None:
        """Says how the game has ended, if it has, and removes its kept file; in a match the next game begins."""
        if self.session.end is None:
            return
        self.write(result_line(self.session))
        if self.kept is not None and self._was_kept:
            self.kept.unlink(missing_ok=True)
        if self.match is not None:
            self.match.count(self.session)
            self.write(self.match.score_line())
            if not self.match.over:
                self.session = self.match.next_game(self.session)
                self.write(f"game {len(self.match.records) + 1}: {self.match.names[self.match.first]} begins")
                self.go_on()

    def _board(self, _: str) -> None:
        session = self.session
        text = session.game.board_text(session.state)
        before = session.game.board_text(session.turns[-1].before) if session.turns else text
        if self.colour:
            text = coloured(text, before)
        elif self.width is not None:
            text = bracketed(text, before)
        self.write(text)

    def _help(self, _: str) -> None:
        some = list(self.session.legal_turns())[:3]
        self._say(f"moves are written such as: {', '.join(some)}" if some else "the game is over")
        for name, (_command, text) in self.commands.items():
            self._say(f"  {name:9} {text}", " " * 12)

    def _moves(self, _: str) -> None:
        turns = [turn.replace(" ", "\xa0") for turn in self.session.legal_turns()]
        self._say(", ".join(turns) or "none: the game is over")

    def _undo(self, _: str) -> None:
        session = self.session
        if self.match is not None and session.over:
            raise ValueError("the match is over: its games count")
        session.undo_to(session.turns_before(self._people() or (0, 1)))
        self.go_on()

    def _redo(self, _: str) -> None:
        self.session.redo_to(self._people())
        self.go_on()

    def _people(self) -> list[int]:
        """The seats of people."""
        return [seat for seat, player in enumerate(self.session.seats) if player is None]

    def _hint(self, _: str) -> None:
        if self.advisor is None:
            raise ValueError("nobody is here who could give a hint")
        session = self.session
        asked = advisor(self.advisor, session.state)
        turn = session.suggest(asked)
        self.write(f"{asked.name} would play {session.game.turn_to_string(session.state, turn)}")

    def _swap(self, _: str) -> None:
        self._check_no_match("sides are not changed")
        self.session.seats.reverse()
        self.go_on()

    def _position(self, _: str) -> None:
        self.write(self.session.game.to_string(self.session.state))

    def _save(self, path: str) -> None:
        if not path:
            raise ValueError("write: save FILE")
        records.format_for(path, self.session.game.id)
        if not _file(path).parent.is_dir():
            raise ValueError(f"there is no folder {Path(path).parent}: make it first, or name another one")
        records.save(_file(path), self.records())
        self.write(f"saved {path}")

    def _load(self, path: str) -> None:
        if not path and (self.kept is None or not self.kept.is_file()):
            raise ValueError("write: load FILE")
        self._check_no_match("no other game is loaded")
        was_kept, path = not path, path or str(self.kept)
        if not _file(path).is_file():
            raise ValueError(f"there is no file {path}")
        games = records.load(_file(path), self.session.game.id)
        if not games:
            raise ValueError(f"{path} holds no game")
        tags = games[0].tags if was_kept else {}
        loaded = Session.replay(games[0], int(tags.get("Seed", self.session.seed)), chance=tags.get("Roll", ""))
        if loaded.game != self.session.game:
            raise ValueError(f"{path} is a game of {loaded.game}, not of {self.session.game}")
        loaded.seats = self.session.seats
        people = [player is None for player in loaded.seats]
        if was_kept and [name == "person" for name in games[0].players] == people[::-1]:
            loaded.seats = loaded.seats[::-1]
        self.session, self._was_kept = loaded, was_kept
        self.go_on()

    def _resign(self, points: str) -> None:
        if points and not points.isdecimal():
            raise ValueError("write: resign, or resign 2 for a gammon")
        self.session.resign(points=int(points or 1))
        self._end_game()

    def _check_no_match(self, what: str) -> None:
        if self.match is not None:
            raise ValueError(f"in a match {what}")

    def _quit(self, _: str) -> None:
        self.done = True


def coloured(text: str, before: str) -> str:
    """A board with pieces in their colours and, in reverse video, the places that have changed."""
    pieces, changed = _pieces(text), _changed(text, before)
    lines = [list(line) for line in text.split("\n")]
    for row, column in pieces.keys() | changed:
        codes = ["7"] if (row, column) in changed else []
        codes += [_COLOURS[pieces[row, column]]] if (row, column) in pieces else []
        lines[row][column] = f"\x1b[{';'.join(codes)}m{lines[row][column]}\x1b[0m"
    return "\n".join(map("".join, lines))


def bracketed(text: str, before: str) -> str:
    """A board, one space further to the right, with brackets around the places that have changed."""
    lines = [[" ", *line] for line in text.split("\n")]
    for row, column in _changed(text, before):
        line = lines[row]
        for side, sign in ((column, "["), (column + 2, "]")):
            if side < len(line) and line[side] == " ":
                line[side] = sign
    return "\n".join(map("".join, lines))


def _pieces(text: str) -> dict[tuple[int, int], str]:
    """The pieces in a board's text, by line and column."""
    lines = enumerate(text.split("\n"))
    return {(row, match.start()): match[1] for row, line in lines for match in _PIECES.finditer(line)}


def _changed(text: str, before: str) -> set[tuple[int, int]]:
    """Where pieces have come, gone or changed."""
    now, then, lines = _pieces(text), _pieces(before), text.split("\n")
    moved = {place for place in now.keys() | then.keys() if now.get(place) != then.get(place)}
    return {(row, column) for row, column in moved if row < len(lines) and column < len(lines[row])}


def result_line(session: Session) -> str:
    """How a game has ended, in words."""
    end = session.end
    if end is None:
        return "the game is not over"
    reason = f" ({end.reason})" if end.reason else ""
    if not end.points:
        return f"drawn{reason}"
    points = "" if session.game.max_reward == 1 else f" {abs(end.points):g} point{'s' * (abs(end.points) > 1)}"
    seat = int(end.points < 0)
    player = session.seats[seat]
    return f"{SEATS[seat]} wins{points}: {player.name if player else 'the person'}{reason}"


def _file(path: str) -> Path:
    """The file of a path, which may begin with ~; an unknown user's ~ stays unchanged."""
    return Path(os.path.expanduser(path))


def _with_roll(chance: str, text: str) -> str:
    return f"{chance}: {text}" if chance else text
