"""Backgammon records as SGF (Smart Game Format FF[4], GM[6]), as GNU Backgammon writes and reads them.

White's points are the letters a to x from White's own 1 to 24, Black's the other way round, y the bar and z off. The
player who moves first is White when we write. Variations and what is not known here are skipped; cubes are refused.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from jaxgames.envs.backgammon import notation
from jaxgames.envs.backgammon.game import START, Backgammon
from jaxgames.sessions.record import Accept, GameRecord, any_game, wrong_at
from jaxgames.sessions.session import Session

_TOKEN = re.compile(
    r"\s*(?:(?P<open>\()|(?P<close>\))|(?P<node>;)|(?P<name>[A-Z]+)|\[(?P<value>(?:[^\]\\]|\\.)*)\])", re.S
)
_SPACES = re.compile(r"\s*")
_MOVE = re.compile(r"([1-6])([1-6])((?:[a-y][a-z]){0,4})")
_RESULT = re.compile(
    r"(?P<draw>0|Draw)|(?P<winner>[BW])\+(?:(?P<points>[1-3])(?:\.0+)?)?(?P<how>R|Resign|T|Time|F|Forfeit)?",
    re.IGNORECASE,
)
_ENDS = {"resigned": "R", "time forfeit": "T", "forfeit": "F"}
_REASONS = {letter: reason for reason, letter in _ENDS.items()}
_SET_UP = ("AE", "AW", "AB")
_BAR, _OFF = 25, 0


class _Property(NamedTuple):
    """A property of a node, its values, and where in the text the first of them begins."""

    name: str
    values: list[str]
    at: int


def write(records: Sequence[GameRecord]) -> str:
    """A collection of games."""
    return "\n".join(_written(record) for record in records)


def read(text: str, accept: Accept = any_game) -> list[GameRecord]:
    """The games of a collection: of each tree the main line."""
    return [_game(text, game, accept) for game in _games(text)]


def _written(record: GameRecord) -> str:
    session = Session.replay(record)
    mover, opponent, dice = notation.from_text(record.start)
    if dice and len(dice) < (4 if len({*dice}) == 1 else 2):
        raise ValueError(f"SGF cannot say that some dice of a roll are left, as in {record.start}: save it as JSON")
    if session.end is not None and abs(session.end.points) not in (0, 1, 2, 3):
        raise ValueError(f"SGF cannot say that a game has {session.end.points:g} points, only 0 to 3: save it as JSON")
    head = f"FF[4]GM[6]CA[UTF-8]AP[jaxgames]PW[{_escaped(record.players[0])}]PB[{_escaped(record.players[1])}]"
    if (mover, opponent) != ([*START], [*START]):
        sides = zip("WB", (mover, opponent), strict=True)
        set_up = (
            f"A{colour}" + "".join(f"[{_letter(p, colour)}]" * n for p, n in enumerate(side, 1))
            for colour, side in sides
        )
        head += "AE[a:y]" + "".join(text for text in set_up if len(text) > 2) + "PL[W]"
    if session.end is not None and not session.end.points:
        head += "RE[0]"
    elif session.end is not None:
        winner = "W" if session.end.points > 0 else "B"
        how = _ENDS.get(session.end.reason, "R" * bool(session.end.reason))
        head += f"RE[{winner}+{abs(session.end.points):g}{how}]"
    nodes = []
    for turn in session.turns:
        colour = "WB"[turn.seat]
        steps = filter(None, map(notation.step_of, turn.actions))
        moves = "".join(_letter(s, colour) + _letter(max(s - die, 0), colour) for s, die in steps)
        roll = turn.chance or "".join(map(str, dice or ()))[:2]
        nodes.append(f";{colour}[{roll}{moves}]")
    return f"(;{head}\n" + "\n".join(nodes) + ")\n"


def _game(text: str, properties: list[_Property], accept: Accept) -> GameRecord:
    for one in properties:
        if not one.values:
            raise wrong_at(text, one.at, f"{one.name} has no value; write {one.name}[...]")
    named = {one.name: one for one in properties}
    kind = named.get("GM")
    if kind is None or kind.values[0].strip() != "6":
        at = kind.at if kind else properties[0].at if properties else 0
        raise wrong_at(text, at, "this is no game of backgammon, which says GM[6]")

    def said(name: str, usual: str) -> str:
        return named[name].values[0] if name in named else usual

    moves = [one for one in properties if one.name in ("B", "W")]
    first = moves[0].name if moves else said("PL", "W").upper()[:1]
    if first not in ("B", "W"):
        raise wrong_at(text, named["PL"].at, f"{said('PL', '')[:40]!r} is nobody to move; write PL[W] or PL[B]")
    accept(Backgammon.id, {})
    session = Session(Backgammon(), _start(text, properties, first), rolls=False)
    for one in moves:
        _play(text, session, one, seat=int(one.name != first))
    result = _RESULT.fullmatch(said("RE", "").strip())
    if result and session.end is None and result["draw"]:
        session.agree_draw()
    elif result and session.end is None:
        reason = _REASONS[(result["how"] or "R")[0].upper()]
        session.resign(seat=int(result["winner"].upper() == first), points=int(result["points"] or 1), reason=reason)
    elif result and session.end and (points := "0" if result["draw"] else result["points"]):
        if abs(session.end.points) != int(points):
            reason = f"the game ends with {abs(session.end.points):g} points, not {points}"
            raise wrong_at(text, named["RE"].at, reason)
    names = {"W": said("PW", "White"), "B": said("PB", "Black")}
    return session.record((names[first], names["B" if first == "W" else "W"]))


def _play(text: str, session: Session, one: _Property, seat: int) -> None:
    move = _MOVE.fullmatch("".join(one.values[0].split()))
    if not move:
        raise wrong_at(
            text, one.at, f"{one.values[0]!r} is no turn; write two dice and points, 31hefe (there is no cube)"
        )
    if session.end is None and session.seat != seat:
        raise wrong_at(text, one.at, "the other player is to move")
    pairs = re.findall("..", move[3])
    play = " ".join(f"{_point(a, one.name)}/{_point(b, one.name)}" for a, b in pairs) or "pass"
    try:
        session.roll(move[1] + move[2])
        session.play(play)
    except ValueError as error:
        raise wrong_at(text, one.at, error) from None


def _start(text: str, properties: list[_Property], first: str) -> str:
    """The position in which the game begins, `first` (W or B) to roll."""
    sides = {colour: [*START] for colour in "WB"}
    turns = False
    for one in properties:
        turns |= one.name in ("B", "W")
        if turns and one.name in _SET_UP:
            raise wrong_at(
                text, one.at, f"{one.name} sets up a position in the middle of a game; expected the next turn"
            )
        for value in one.values if one.name in _SET_UP else ():
            if not re.fullmatch("[a-y](:[a-y])?", value):
                raise wrong_at(text, one.at, f"{value!r} is no point; points are a to x, y is the bar")
            begin, _, end = value.partition(":")
            for letter in map(chr, range(ord(begin), ord(end or begin) + 1)):
                for colour in "WB" if one.name == "AE" else one.name[1]:
                    place = _point(letter, colour) - 1
                    sides[colour][place] = 0 if one.name == "AE" else sides[colour][place] + 1
    try:
        return notation.to_text(sides[first], sides["B" if first == "W" else "W"])
    except ValueError as error:
        raise wrong_at(text, properties[0].at, error) from None


def _games(text: str) -> Iterator[list[_Property]]:
    """The properties of each game's main line."""
    at, depth, skipped = 0, 0, 0
    ended: list[int] = []  # depths at which a variation has been read, the last one the deepest
    properties: list[_Property] = []
    while (at := _SPACES.match(text, at).end()) < len(text):  # type: ignore[union-attr]
        token = _TOKEN.match(text, at)
        if not token:
            raise wrong_at(text, at, "expected ( ; ) or a property such as PW[name]")
        where, at = token.start(token.lastgroup or 0), token.end()
        if token["open"]:
            depth += 1
            skipped += bool(skipped or ended[-1:] == [depth])
        elif token["close"]:
            if not depth:
                raise wrong_at(text, where, "no game is open that ) could close")
            skipped = max(skipped - 1, 0)
            while ended and ended[-1] >= depth:
                ended.pop()
            ended.append(depth)
            depth -= 1
            if not depth:
                yield properties
                properties, ended = [], []
        elif not depth:
            raise wrong_at(text, where, "a game begins with (")
        elif skipped:
            continue
        elif token["name"]:
            properties.append(_Property(token["name"], [], where))
        elif token["value"] is not None:
            if not properties:
                raise wrong_at(text, where, "a value stands after the name of its property")
            value = re.sub(r"\\(?:\r\n?|\n\r?|(.))", r"\1", token["value"])  # a line break after \ is none
            properties[-1].values.append(value)
    if depth:
        raise wrong_at(text, len(text.rstrip()), "the text ends within a game; ) is missing")


def _letter(place: int, colour: str) -> str:
    if place in (_BAR, _OFF):
        return "y" if place == _BAR else "z"
    return chr(ord("a") + place - 1) if colour == "W" else chr(ord("x") - place + 1)


def _point(letter: str, colour: str) -> int:
    if letter in "yz":
        return _BAR if letter == "y" else _OFF
    return ord(letter) - ord("a") + 1 if colour == "W" else ord("x") - ord(letter) + 1


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("]", "\\]")
