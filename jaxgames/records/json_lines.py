"""Game records of every game as JSON, one object after another, each in a line of its own when we write them."""

import dataclasses
import json
import re
from collections.abc import Sequence
from typing import Any

from jaxgames.envs.registry import make
from jaxgames.ops import json_text
from jaxgames.sessions.record import Accept, GameRecord, RecordedTurn, any_game, wrong_at
from jaxgames.sessions.session import Session

_KINDS = {
    "game": str,
    "start": str,
    "turns": list,
    "points": (int, float, type(None)),
    "reason": str,
    "players": list,
    "options": dict,
    "tags": dict,
}

_SPACES = re.compile(r"\s*")


def write(records: Sequence[GameRecord]) -> str:
    """A line for each game."""
    return "".join(json.dumps(to_dict(record), ensure_ascii=False) + "\n" for record in records)


def read(text: str, accept: Accept = any_game) -> list[GameRecord]:
    """The games; spaces and lines between and within them do not matter. A game that is over has its result."""
    records, at = list[GameRecord](), 0
    while (at := _SPACES.match(text, at).end()) < len(text):  # type: ignore[union-attr]
        try:
            fields, after = json_text.decode_at(text, at)
            record = from_dict(fields)
            accept(record.game, record.options)
            _check_points(record)
            end = Session.replay(record).end
        except json.JSONDecodeError as error:
            raise wrong_at(text, error.pos, f"no JSON: {error.msg}") from None
        except ValueError as error:
            raise wrong_at(text, at, f"in the game that begins here, {error}") from None
        if end is not None and record.points in (None, end.points):
            record = dataclasses.replace(record, points=end.points, reason=record.reason or end.reason)
        records.append(record)
        at = after
    return records


def to_dict(record: GameRecord) -> dict[str, Any]:
    """A game ready for JSON; a turn is its text, or `[roll, text]`."""
    turns = [[turn.chance, turn.text] if turn.chance else turn.text for turn in record.turns]
    fields = {name: getattr(record, name) for name in _KINDS}
    return fields | {"turns": turns, "players": list(record.players)}


def from_dict(fields: Any) -> GameRecord:
    """The game of `to_dict`. Raises `ValueError` for anything else."""
    if not isinstance(fields, dict) or not {"game", "start", "turns"} <= fields.keys():
        raise ValueError('expected an object such as {"game": "checkers", "start": ..., "turns": [...]}')
    for name, value in fields.items():
        if name not in _KINDS:
            raise ValueError(f"no field {name!r} is known; there are {', '.join(_KINDS)}")
        if not isinstance(value, _KINDS[name]) or isinstance(value, bool):  # type: ignore[arg-type]
            raise ValueError(f"{name} is {str(value)[:40]!r}, which is not of its type")
    turns = tuple(_turn(turn) for turn in fields["turns"])
    players = fields.get("players", ["first", "second"])
    if len(players) != 2 or not all(isinstance(name, str) for name in players):
        raise ValueError(f"players are two names, not {players}")
    if not all(isinstance(value, str) for value in fields.get("tags", {}).values()):
        raise ValueError(f"tags are texts by their names, not {str(fields['tags'])[:40]}")
    options = fields.get("options", {})
    options = {name: tuple(value) if isinstance(value, list) else value for name, value in options.items()}
    return GameRecord(**{**fields, "turns": turns, "players": tuple(players), "options": options})


def _check_points(record: GameRecord) -> None:
    """Raises `ValueError` for more points than a game is worth, and for what is no number."""
    most = make(record.game, **record.options).max_reward
    if record.points is not None and not -most <= record.points <= most:
        raise ValueError(f"points are {str(record.points)[:40]}; a game of {record.game} is worth at most {most}")


def _turn(turn: Any) -> RecordedTurn:
    parts = [turn] if isinstance(turn, str) else turn
    if not isinstance(parts, list) or len(parts) not in (1, 2) or not all(isinstance(part, str) for part in parts):
        raise ValueError(f"a turn is a text, or a roll and a text, not {str(turn)[:40]!r}")
    return RecordedTurn(parts[-1], parts[0] if len(parts) == 2 else "")
