"""Whole games of English draughts in PDN, the Portable Draughts Notation, read and written.

It follows the PDN 3.0 draft (https://pdn.fmjd.org, game type 21, in which Black begins) and its reading grammar.
Comments, variations, NAGs and marks such as `!` are skipped; moves are checked against the rules. Plain Python.

Results are kept as written: the draft lists `1-0`, `0-1`, `1/2-1/2`, `0-0` and `*`, but does not say whether the
first number belongs to White or to Black, who begins.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from jaxgames.envs.checkers.notation import parse, unparse
from jaxgames.envs.checkers.plain_board import MOVE, START, Board, apply_action, move_to_actions, move_to_string

RESULTS = ("1-0", "0-1", "1/2-1/2", "0-0", "*")
GAME_TYPE = "21"  # English draughts
WIDTH = 80  # of written lines, in characters

_OWN_TAGS = {"Result": "result", "FEN": "start", "SetUp": "start", "GameType": ""}
_OTHER_TYPES = {"20": "international draughts", "22": "Italian draughts", "23": "American pool checkers"}
_OTHER_TYPES |= {"24": "Spanish draughts", "25": "Russian draughts", "26": "Brazilian draughts"}
_OTHER_TYPES |= {"27": "Canadian draughts", "28": "Portuguese draughts", "29": "Czech draughts"}
_OTHER_TYPES |= {"30": "Turkish draughts", "31": "Thai draughts", "40": "Frisian draughts"}

_NAME = "[A-Za-z][A-Za-z0-9_]*"
_TOKEN = re.compile(
    rf"""
      (?P<skip> \s+ | \{{[^}}]*\}} | ;[^\n]* | ^%[^\n]* | \$[0-9]+ | [!?]+ )
    | (?P<tag> \[\s*(?P<name>{_NAME})\s*"(?P<value>(?:[^"\\\n]|\\.)*)"\s*\] )
    | (?P<result> 1/2-1/2 | (?:1-0|0-1|0-0)(?![0-9]) | \* )
    | (?P<move> [0-9]+(?:[-xX:][0-9]+)+ (?: [!?*]+ | \([!?*]+\) )? )
    | (?P<number> [0-9]+\s*\.+ | \.\.\. )
    | (?P<open> \( )
    | (?P<close> \) )
    | (?P<word> [^\s()\[\]{{}};]+ )
    """,
    re.VERBOSE | re.MULTILINE,
)


@dataclass(frozen=True)
class PDNGame:
    """A game: its tags, the position it begins in, its whole moves as tuples of actions, and its result.

    `tags` holds what the other fields do not say: Event, Black, White, ... `result` is one of `RESULTS`.
    """

    tags: dict[str, str] = field(default_factory=dict)
    start: Board = START
    moves: list[tuple[int, ...]] = field(default_factory=list)
    result: str = "*"


def read_games(text: str) -> list[PDNGame]:
    """All games of a PDN text, in their order; `[]` if it holds none.

    The result after the moves counts unless it is `*`; then that of the tag counts. Raises `ValueError` with the line
    and column of the error: an illegal move, another kind of draughts, a text that ends within a game.
    """
    return [game for _, game in games_of(text.removeprefix("\ufeff"))]


def games_of(text: str) -> Iterator[tuple[int, PDNGame]]:
    """As `read_games`, but yields the games one by one, each with the place in the text where it begins."""
    reader = _GameReader(text)
    variations: list[int] = []  # where those not closed yet begin
    for token in _tokens(text):
        if token.kind == "open":
            variations.append(token.at)
        elif token.kind == "close":
            if not variations:
                raise _wrong(text, token.at, "no variation is open that ')' could close")
            variations.pop()
        elif variations and token.kind == "tag":
            raise _wrong(text, variations[-1], "this variation is never closed")
        elif variations:
            continue  # moves that were not played, or words about them
        elif token.kind == "word":
            raise _wrong(
                text, token.at, f"{token.text!r} is neither a move (11-15, 22x15), nor its number, nor a result"
            )
        elif game := reader.take(token):
            yield reader.begins or 0, game
            reader = _GameReader(text)
    if variations:
        raise _wrong(text, variations[-1], "this variation is never closed")
    if reader.begins is not None:
        raise _wrong(text, reader.begins, f"the text ends within the game that begins here; {_NEEDED}")


def write_game(game: PDNGame) -> str:
    """The game as PDN that `read_games` reads back equal; lines of moves have at most 80 characters.

    For a file of several games join such texts by line breaks. Raises `ValueError` for an illegal move, an unknown
    result, and tags that could not be read back.
    """
    if game.result not in RESULTS:
        raise ValueError(_unknown_result(game.result))
    tags = [(name, value) for name, value in game.tags.items() if _check_tag(name, value)]
    tags += [("Result", game.result), ("GameType", GAME_TYPE)]
    if game.start != START:
        tags += [("SetUp", "1"), ("FEN", unparse(game.start))]
    lines = ['[{} "{}"]'.format(name, value.replace("\\", "\\\\").replace('"', '\\"')) for name, value in tags]
    lines.append("")
    line = ""
    for word in [*_numbered(game), game.result]:
        if line and len(line) + 1 + len(word) > WIDTH:
            lines.append(line)
            line = ""
        line += " " * bool(line) + word
    return "\n".join([*lines, line, ""])


def _unknown_result(result: str) -> str:
    return f"result {result!r} is unknown; it must be one of {', '.join(RESULTS)}"


_NEEDED = f"a game ends with its result, one of {', '.join(RESULTS)}"


class _Token(NamedTuple):
    """A piece of the text, what it is, and where it begins; a tag has a name and a value that begins at `value_at`."""

    kind: str
    text: str
    at: int
    name: str = ""
    value: str = ""
    value_at: int = 0


def _tokens(text: str) -> Iterator[_Token]:
    """Everything that matters in the text."""
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if not match:
            raise _wrong(text, at, _NOT_READ[text[at]])
        kind = match.lastgroup or ""
        if match["tag"]:
            value = re.sub(r"\\(.)", r"\1", match["value"])
            yield _Token("tag", match[0], at, match["name"], value, match.start("value"))
        elif kind != "skip":
            yield _Token(kind, match[0], at)
        at = match.end()


_NOT_READ = {
    "{": "this comment is never closed by '}'",
    "}": "no comment is open that '}' could close",
    "[": 'this is no tag; write it in one line, as [Event "name"]',
    "]": "no tag is open that ']' could close",
}
"""Why no token begins with these characters; any other character begins one."""


class _GameReader:
    """One game that is being read: its tags first, then its moves, then its result."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.begins: int | None = None
        self.tags: dict[str, _Token] = {}
        self.start = self.board = START
        self.moves: list[tuple[int, ...]] = []
        self.in_moves = False

    def take(self, token: _Token) -> PDNGame | None:
        """Reads on. Returns the game when the token ends it."""
        if token.kind == "result" and self.begins is None:
            raise _wrong(self.text, token.at, f"there is no game before the result {token.text}")
        self.begins = token.at if self.begins is None else self.begins
        if token.kind == "tag":
            self._tag(token)
            return None
        if not self.in_moves:
            self._check_type()
            self.start = self.board = self._position()
            self.in_moves = True
        if token.kind == "move":
            self._move(token)
        return self._game(token) if token.kind == "result" else None

    def _tag(self, token: _Token) -> None:
        if self.in_moves:
            line = _line_and_column(self.text, self.begins or 0)[0]
            raise _wrong(self.text, token.at, f"the game that begins in line {line} has not ended; {_NEEDED}")
        if token.name in self.tags:
            raise _wrong(self.text, token.at, f"the tag {token.name} is given twice")
        self.tags[token.name] = token

    def _check_type(self) -> None:
        tag = self.tags.get("GameType")
        if tag is None or tag.value in ("", "?"):
            return
        number, *rest = tag.value.split(",")
        if number.strip() != GAME_TYPE:
            kind = _OTHER_TYPES.get(number.strip(), "another game")
            raise _wrong(self.text, tag.value_at, f"game type {tag.value!r} is {kind}; English draughts is {GAME_TYPE}")
        if len(rest) > 3 and not rest[3].strip().startswith("N"):
            reason = f"game type {tag.value!r} does not name squares by numbers (N); only numbers are read"
            raise _wrong(self.text, tag.value_at, reason)

    def _position(self) -> Board:
        setup, fen = self.tags.get("SetUp"), self.tags.get("FEN")
        if fen is None:
            if setup and setup.value == "1":
                raise _wrong(self.text, setup.at, "SetUp 1 announces a position, but there is no FEN tag")
            return START
        if setup and setup.value != "1":
            raise _wrong(self.text, setup.at, f"with a FEN tag SetUp must be 1, not {setup.value!r}")
        try:
            return parse(fen.value)
        except ValueError as error:
            raise _wrong(self.text, fen.value_at, str(error)) from None

    def _move(self, token: _Token) -> None:
        match = MOVE.match(token.text)
        try:
            actions = move_to_actions(self.board, match[1] if match else token.text)
        except ValueError as error:
            raise _wrong(self.text, token.at, str(error)) from None
        for action in actions:
            self.board, _ = apply_action(self.board, action)
        self.moves.append(tuple(actions))

    def _game(self, token: _Token) -> PDNGame:
        tag, result = self.tags.get("Result"), token.text
        if tag and tag.value not in (*RESULTS, "", "?"):
            raise _wrong(self.text, tag.value_at, _unknown_result(tag.value))
        if tag and tag.value in RESULTS and tag.value != "*":
            if result not in (tag.value, "*"):
                raise _wrong(self.text, token.at, f"the result {result} contradicts the tag, which says {tag.value}")
            result = tag.value
        tags = {name: tag.value for name, tag in self.tags.items() if name not in _OWN_TAGS}
        return PDNGame(tags, self.start, self.moves, result)


def _numbered(game: PDNGame) -> Iterator[str]:
    """The moves, Black's with their numbers; one that White begins with has the number and three dots."""
    board = game.start
    first = int(board.white_to_move)
    for index, actions in enumerate(game.moves):
        number, second = divmod(index + first, 2)
        try:
            text = move_to_string(board, actions)
            for action in actions:
                board, _ = apply_action(board, action)
        except ValueError as error:
            raise ValueError(f"move {index + 1} of the game: {error}") from None
        yield text if second and index else f"{number + 1}{'...' if second else '.'} {text}"


def _check_tag(name: str, value: str) -> bool:
    """True. Raises `ValueError` for tags that would not be read back as they are."""
    if name in _OWN_TAGS:
        where = f"the game's {_OWN_TAGS[name]} says it" if _OWN_TAGS[name] else f"it is always {GAME_TYPE}"
        raise ValueError(f"the tag {name} cannot be given: {where}")
    if not re.fullmatch(_NAME, name):
        raise ValueError(f"tag name {name!r} must be letters, digits and _, beginning with a letter")
    if not isinstance(value, str) or "\n" in value or "\r" in value:
        raise ValueError(f"the tag {name} must be a text of one line, not {value!r}")
    return True


def _line_and_column(text: str, at: int) -> tuple[int, int]:
    return text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)


def _wrong(text: str, at: int, reason: str) -> ValueError:
    line, column = _line_and_column(text, at)
    return ValueError(f"line {line}, column {column}: {reason}")
