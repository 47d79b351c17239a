"""Who sits where, their score in games in a row, and what one of them offers; and challenges.

A challenge is ten games in a row against a player, without help; counted is what somebody has scored in all of them.
"""

import dataclasses
import hmac
import secrets
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from jaxgames.envs.registry import make
from jaxgames.matches import bradley_terry
from jaxgames.matches.intervals import mean_margin, wilson
from jaxgames.web.boards import VIEWS
from jaxgames.web.engine import Lane
from jaxgames.web.kept_games import ChallengeGame

FIRST = "First"
"""The tag of a record that says which side moves first, in games whose positions do not."""


@dataclasses.dataclass(eq=False)
class Chair:
    """What sits on a seat: a person, known by a token, or a player.

    Attributes:
        came: whether the person has been here; who was only invited has not.
        owner: the key of the browser in whose list of games this one stands; None: in none.
        gone: when the person was here last.
    """

    lane: Lane | None = None
    spec: str | None = None
    token: str | None = None
    name: str = ""
    came: bool = False
    owner: str | None = None
    gone: float = dataclasses.field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        if self.lane is not None:
            self.name = self.lane.player.name

    def is_of(self, token: str | None) -> bool:
        """Whether the person with a token sits here."""
        return self.is_person and same(self.token, token)

    @property
    def is_person(self) -> bool:
        """Whether a person sits here."""
        return self.lane is None

    def shown(self, here: Sequence[str], side: str, seconds: float) -> dict[str, Any]:
        """For the page: `here` are the names on the pages of the person, `seconds` those of thought."""
        return {
            "kind": "person" if self.is_person else "player",
            "name": (here[0] if here else "") or self.name or side,
            "spec": self.spec,
            "online": not self.is_person or bool(here),
            "compiling": None if self.lane is None else self.lane.compiling_for(),
            "seconds": round(seconds, 1),
        }


class MatchScore:
    """Games in a row: the score of the players who sat on seats 0 and 1 at its start.

    A `challenge` is one in which nothing is taken back and nobody helps; its games are counted for good.
    """

    def __init__(self, games: int, challenge: bool = False):
        self.games, self.played, self.draws, self.swapped = games, 0, 0, False
        self.challenge = challenge
        self.points, self.wins = [0, 0], [0, 0]

    @classmethod
    def of(cls, shown: Mapping[str, Any]) -> "MatchScore":
        """That which was shown."""
        match = cls(0)
        vars(match).update({name: shown.get(name, usual) for name, usual in vars(match).items()})
        return match

    def add(self, points: list[int], times: int = 1) -> None:
        """Counts a game; `points` are by seat. `times` -1 removes it from the count."""
        self.played += times
        by_player = points[::-1] if self.swapped else points
        for player, won in enumerate(by_player):
            self.points[player] += times * max(won, 0)
            self.wins[player] += times * (won > 0)
        self.draws += times * (not any(points))

    def shown(self) -> dict[str, Any]:
        """For the page."""
        return dict(vars(self))


class Offer:
    """What one person asks of the other: `accept` does it."""

    def __init__(self, what: str, by: int, accept: Callable[[], None]):
        self.what, self.by, self.accept = what, by, accept


def new_token() -> str:
    """A token that nobody can guess."""
    return secrets.token_urlsafe(24)


def same(one: str | None, other: str | None) -> bool:
    """Whether two tokens are the same, in constant time."""
    return one is not None and other is not None and hmac.compare_digest(one.encode(), other.encode())


GAMES = 10
"""Of a challenge, in a row."""


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
    players = []
    for player, games in met.items():
        last = games[0]
        left = last.points is None or last.number < GAMES
        goes_on = last.session if left else None
        players.append({**standing(*player, [one.points for one in games]), "goes_on": goes_on})
    return players


def _interval(ended: Sequence[int], mean: float, share: float, most: float) -> tuple[float | None, float | None]:
    if most == 1:
        low, high = wilson(share, len(ended))
        return 2 * low - 1, 2 * high - 1
    if len(ended) < 2 or len(set(ended)) == 1:
        return None, None
    margin = mean_margin(ended)
    return mean - margin, mean + margin
