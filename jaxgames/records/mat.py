"""Backgammon records as MAT, the text format of JellyFish matches that most programs read and write.

Two columns of turns, `31: 8/5 6/5`; the player who moves first may be on the right, and is on the left when we write.
There is no cube here, so a file with doubles is refused. The format cannot express a draw, and a win that does not
follow from the rules is a resignation.
"""

import re
from collections.abc import Sequence

from jaxgames.envs.backgammon.game import Backgammon
from jaxgames.sessions.record import Accept, GameRecord, any_game, wrong_at
from jaxgames.sessions.session import Session

START = "4HPwATDgc/ABMA"
WIDTH = 34
"""Where the right column begins, counted from the left one's first character."""
_LEFT = 5

MOST_WIDTH = 1000
"""The longest line, in characters; the time to find the names in it grows with the square of its length."""

_HEADER = re.compile(r"(?P<first>\S.*?) : [0-9]+\s\s+(?P<second>\S.*?) : [0-9]+")
_TURNS = re.compile(r"\s*[0-9]+\)(?P<cells>.*)")
_CELL = re.compile(r"([1-6])([1-6]):((?:(?![1-6][1-6]:).)*)")
_WINS = re.compile(r"(?:[0-9]+\)\s*)?Wins (?P<points>[0-9]{1,9}) points?.*")
_OTHER = re.compile(r";.*|[0-9]+ point match.*|Game [0-9]+.*")


def write(records: Sequence[GameRecord]) -> str:
    """A match of as many games. Raises `ValueError` for a game from another start position, and for a draw."""
    lines = ["0 point match", ""]
    score: dict[tuple[str, int], int] = {}
    for number, record in enumerate(records, 1):
        position, _, roll = record.start.partition(":")
        if position != START or (roll and len(roll) < (4 if len({*roll}) == 1 else 2)):
            other = "JSON" if position == START else "SGF or JSON"
            raise ValueError(f"game {number} begins at {record.start}; MAT begins at {START}: save it as {other}")
        if record.points is not None and abs(record.points) not in (1, 2, 3):
            raise ValueError(
                f"game {number} has {record.points:g} points; MAT knows wins of 1 to 3: save it as SGF or JSON"
            )
        names = [name.strip() or "nobody" for name in record.players]
        columns = (0, 1) if names[0] == names[1] else (0, 0)  # a score belongs to a name, in either column
        of_names = list(zip(names, columns, strict=True))
        scores = [f"{name} : {score.get((name, column), 0)}" for name, column in of_names]
        lines += [f" Game {number}", f" {scores[0]:{WIDTH + _LEFT - 3}}  {scores[1]}"]
        _check_names(lines[-1], names)
        cells = [f"{turn.chance or roll[:2]}: {_numbers(turn.text)}" for turn in record.turns]
        for row in range(0, len(cells), 2):
            pair = [*cells[row : row + 2], ""][:2]
            lines.append(f"{row // 2 + 1:3}) {pair[0]:{WIDTH}}{pair[1]}".rstrip())
        if record.points:
            winner, points = int(record.points < 0), int(abs(record.points))
            lines.append(" " * (_LEFT + winner * WIDTH) + f" Wins {points} point{'s' * (points > 1)}")
            score[of_names[winner]] = score.get(of_names[winner], 0) + points
        lines.append("")
    return "\n".join(lines)


def _check_names(line: str, names: list[str]) -> None:
    """Raises `ValueError` for a line of names that would not be read as these."""
    header = _HEADER.fullmatch(line.strip())
    right = header is not None and [header["first"], header["second"]] == names and line.splitlines() == [line]
    if not right or len(line.strip()) > MOST_WIDTH or _WINS.fullmatch(line.strip()):
        shown = " and ".join(repr(name[:40]) for name in names)
        raise ValueError(f"the players' names {shown} must be texts of one line that MAT can tell from its own words")


def read(text: str, accept: Accept = any_game) -> list[GameRecord]:
    """The games of a match, in their order."""
    reader, at = _Reader(text, accept), 0
    for line in text.split("\n"):
        reader.take(line, at)
        at += len(line) + 1
    reader.end_game()
    return reader.records


class _Reader:
    """The games read so far, and the unfinished one: its session, and the names in the order of its seats."""

    def __init__(self, text: str, accept: Accept):
        self.text, self.accept, self.records = text, accept, list[GameRecord]()
        self.session: Session | None = None
        self.names = ("", "")
        self.right_begins = False

    def take(self, line: str, at: int) -> None:
        """Reads the line that begins at this place of the text."""
        words = line.strip()
        if len(words) > MOST_WIDTH and words[0] != ";":
            raise wrong_at(self.text, at, f"the line has {len(words)} characters; expected at most {MOST_WIDTH}")
        if wins := _WINS.fullmatch(words):
            self._wins(int(wins["points"]), line.index("Wins"), at)
        elif header := _HEADER.fullmatch(words):
            self.end_game()
            self.names = (header["first"], header["second"])
            self.accept(Backgammon.id, {})
            self.session, self.right_begins = Session(Backgammon(), START, rolls=False), False
        elif turns := _TURNS.fullmatch(line):
            self._turns(line, turns.start("cells"), at)
        elif words and not _OTHER.fullmatch(words):
            raise wrong_at(self.text, at, f"{words[:40]!r} is neither turns, as in ` 1) 31: 8/5 6/5`, nor names")

    def _turns(self, line: str, start: int, at: int) -> None:
        if self.session is None:
            raise wrong_at(self.text, at, "before the turns stand the names: ` Alice : 0     Bob : 0`")
        cells = list(_CELL.finditer(line, start))
        rest = line[start : cells[0].start() if cells else len(line)].strip()
        if rest or not cells:
            raise wrong_at(self.text, at + start, f"{rest[:40]!r} is no turn; write 31: 8/5 6/5 (there is no cube)")
        if not self.session.turns and len(cells) == 1 and cells[0].start() - start >= WIDTH // 2:
            self.right_begins = True
        for cell in cells:
            try:
                self.session.roll(cell[1] + cell[2])
                self.session.play(cell[3].strip().lower() or "pass")
            except ValueError as error:
                raise wrong_at(self.text, at + cell.start(), error) from None

    def _wins(self, points: int, column: int, at: int) -> None:
        if self.session is None:
            raise wrong_at(self.text, at, "no game goes on that could be won")
        if self.session.end is None:
            winner = int(column >= WIDTH // 2) ^ self.right_begins
            try:
                self.session.resign(seat=1 - winner, points=points)
            except ValueError as error:
                raise wrong_at(self.text, at + column, error) from None
        elif abs(self.session.end.points) != points:
            reason = f"the game ends with {abs(self.session.end.points):g} points, not {points}"
            raise wrong_at(self.text, at + column, reason)

    def end_game(self) -> None:
        """Adds the game under way, if there is one, to those read."""
        if self.session is not None:
            names = self.names[::-1] if self.right_begins else self.names
            self.records.append(self.session.record(names))
        self.session = None


def _numbers(text: str) -> str:
    """A play with 25 for the bar and 0 for off, which all programs read."""
    return "" if text == "pass" else text.replace("bar", "25").replace("off", "0")
