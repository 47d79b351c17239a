"""Records of games whose moves have names of one character: a line of moves and a result, `44435 1-0`.

Lines that begin with # apply to those that follow: `# game connect_four rows=5`, `# start 445`, `# players A | B`.
The result is `1-0` if the player who moves first in the start position has won, `0-1`, `1/2`, or `*` if the game did
not end; a reason such as `resigned` may follow. A dash stands for no moves.
"""

import dataclasses
import re
from collections.abc import Sequence

from jaxgames.envs.registry import make
from jaxgames.sessions.record import Accept, GameRecord, any_game, check_line, result_text, wrong_at
from jaxgames.sessions.session import GIVEN_UP, Session

_RESULTS = {1.0: "1-0", -1.0: "0-1", 0.0: "1/2", None: "*"}
_POINTS = {text: points for points, text in _RESULTS.items()}
_GAME = re.compile(r"(connect_four|tic_tac_toe)((?: +\w+=[0-9]{1,9})*)")


def write(records: Sequence[GameRecord]) -> str:
    """A line for each game, and lines about what changes between them."""
    lines: list[str] = []
    before = ["", "", ""]
    for record in records:
        options = "".join(f" {name}={value}" for name, value in sorted(record.options.items()))
        start = record.start if record.start != _usual_start(record) else ""
        for name in record.players:
            check_line("the player's name", name)
            if "|" in name:
                raise ValueError(f"the player's name {name!r} must be a text of one line without |")
        check_line("the reason", record.reason)
        now = [f"# game {record.game}{options}", f"# start {start}".strip(), f"# players {' | '.join(record.players)}"]
        lines += [new for old, new in zip(before, now, strict=True) if new != old and (old or new != "# start")]
        before = now
        moves = "".join(turn.text for turn in record.turns) or "-"
        end = Session.replay(record).end if record.points is None else None
        result = result_text(_RESULTS, record.points if end is None else end.points)
        lines.append(" ".join(filter(None, (moves, result, record.reason))))
    return "".join(f"{line}\n" for line in lines)


def read(text: str, accept: Accept = any_game) -> list[GameRecord]:
    """The games; without a line `# game` they are of Connect Four."""
    records, at = list[GameRecord](), 0
    game, options, start, players = "connect_four", dict[str, int](), "", ("first", "second")
    for line in text.splitlines(keepends=True):
        words = line.split()
        if line.startswith("#"):
            name, _, rest = line[1:].strip().partition(" ")
            if name == "game":
                match = _GAME.fullmatch(rest.strip())
                if not match:
                    raise wrong_at(text, at, f"{rest!r} is no game here; write: # game connect_four rows=5")
                game, options = match[1], {k: int(v) for k, _, v in (word.partition("=") for word in match[2].split())}
            elif name == "start":
                start = rest.strip()
            elif name == "players":
                first, _, second = rest.partition("|")
                players = (first.strip(), second.strip())
        elif words:
            records.append(_record(text, at, line, GameRecord(game, start, options=options, players=players), accept))
        at += len(line)
    return records


def _record(text: str, at: int, line: str, record: GameRecord, accept: Accept) -> GameRecord:
    """The game of one line, whose other fields are those of `record`."""
    moves, *rest = line.split()
    try:
        accept(record.game, record.options)
        session = Session(make(record.game, **record.options), record.start or _usual_start(record))
    except ValueError as error:
        raise wrong_at(text, at, error) from None
    where = at + line.index(moves)
    for index, move in enumerate("" if moves == "-" else moves):
        try:
            session.play(move)
        except ValueError as error:
            raise wrong_at(text, where + index, f"move {index + 1}: {error}") from None
    result = rest[0] if rest else _RESULTS[session.end.points if session.end else None]
    if result not in _POINTS:
        raise wrong_at(text, at + line.rindex(result), f"{result!r} is no result; write one of {', '.join(_POINTS)}")
    if session.end and _POINTS[result] != session.end.points:
        raise wrong_at(text, at + line.rindex(result), f"the game ends {_RESULTS[session.end.points]}, not {result}")
    read = session.record(record.players)
    if session.end:
        return read
    points = _POINTS[result]
    usual = "" if points is None else GIVEN_UP[points == 0]
    return dataclasses.replace(read, points=points, reason=" ".join(rest[1:]) or usual)


def _usual_start(record: GameRecord) -> str:
    game = make(record.game, **record.options)
    return game.to_string(Session(game).start)
