"""Challenges: ten games in a row against a player, without help; what somebody has scored in all of them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from jaxgames.envs.registry import make
from jaxgames.matches import bradley_terry
from jaxgames.matches.intervals import mean_margin, wilson
from jaxgames.web.boards import VIEWS
from jaxgames.web.kept_games import ChallengeGame

GAMES = 10
"""In a row."""


def check_challenge(seats: Sequence[Mapping[str, Any]], options: Mapping[str, Any], position: str | None) -> None:
    """Raises `ValueError` for a session that is no challenge: one person, one player, the usual rules and start."""
    if sorted(seat["kind"] for seat in seats) != ["person", "player"]:
        raise ValueError("a challenge is for one person against one player")
    if options or position is not None:
        raise ValueError("a challenge is of the usual rules and start: leave options and position out")


def standing(game: str, spec: str, points: Sequence[int | None]) -> dict[str, Any]:
    """What somebody has scored against a player: `points` are those of each game, None where it has not ended.

    The interval is that of the points of a game: Wilson's where a game is worth one, else normal. The rating is
    Elo's, above or below that of the player, as `bradley_terry` finds it from the games won, with one virtual draw.
    """
    ended = [one for one in points if one is not None]
    won, lost = sum(one > 0 for one in ended), sum(one < 0 for one in ended)
    drawn = len(ended) - won - lost
    facts: dict[str, Any] = {"game": game, "title": VIEWS[game].title, "spec": spec}
    facts |= {"games": len(ended), "open": len(points) - len(ended), "points": sum(ended)}
    facts |= {"won": won, "drawn": drawn, "lost": lost}
    if not ended:
        return facts | {"mean": None, "low": None, "high": None, "rating": None}
    score = won + drawn / 2
    me, player = bradley_terry(("person", "player"), np.array([[0, score], [len(ended) - score, 0]]))
    rating = {"elo": me.elo - player.elo, "low": me.low - player.high, "high": me.high - player.low}
    mean = sum(ended) / len(ended)
    low, high = _interval(ended, mean, score / len(ended), make(game).max_reward)
    return facts | {"mean": mean, "low": low, "high": high, "rating": rating}


def standings(rows: Iterable[ChallengeGame]) -> list[dict[str, Any]]:
    """Of each player that somebody has met, by all games, the newest first.

    `goes_on` is the session of the last challenge, unless it has been played to its end.
    """
    met: dict[tuple[str, str], list[ChallengeGame]] = {}
    for row in rows:
        if row.game in VIEWS:
            met.setdefault((row.game, row.spec), []).append(row)
    found = []
    for player, games in met.items():
        last = games[0]
        left = last.points is None or last.number < GAMES
        goes_on = last.session if left else None
        found.append({**standing(*player, [one.points for one in games]), "goes_on": goes_on})
    return found


def _interval(ended: Sequence[int], mean: float, share: float, most: float) -> tuple[float | None, float | None]:
    if most == 1:
        low, high = wilson(share, len(ended))
        return 2 * low - 1, 2 * high - 1
    if len(ended) < 2 or len(set(ended)) == 1:
        return None, None
    margin = mean_margin(ended)
    return mean - margin, mean + margin
