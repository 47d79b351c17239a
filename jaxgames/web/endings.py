"""How a game has ended, in words."""

from typing import Any

from jaxgames.sessions.session import GameEnd
from jaxgames.web.boards import View
from jaxgames.web.clocks import TIME_UP

_DID = {"resigned": "resigned", TIME_UP: "has lost on time"}


def points_of(won: int, first: int, most: int) -> list[int]:
    """The points of both seats, at most as many as a game is worth, where who moved first has `won` so many."""
    own = max(-most, min(most, won)) * (-1 if first else 1)
    return [own, -own]


def ending(view: View, points: list[int], end: GameEnd | None, most_points: int) -> dict[str, Any]:
    """The result by `points` of both seats; without an `end` the game was broken off."""
    reason = "too many turns" if end is None else end.reason
    if not any(points):
        return {"winner": None, "points": points, "reason": reason or "draw", "text": _draw(reason)}
    winner = int(points[1] > 0)
    name, won = view.sides[winner], points[winner]
    kind = {2: "gammon", 3: "backgammon"}.get(abs(int(end.points)) if end else 1, "")
    why = f"{view.sides[1 - winner]} {_DID[reason]}" if reason in _DID else reason
    how = f" a {kind}" if kind and not reason else f": {why}" if why else ""
    worth = f", {won} point{'s' * (won > 1)}" if most_points > 1 else ""
    return {"winner": winner, "points": points, "reason": reason or kind, "text": f"{name} wins{how}{worth}"}


def _draw(reason: str) -> str:
    return f"Draw: {reason}" if reason else "Draw"
