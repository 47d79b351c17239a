"""Who sits where, what they have scored in a row, and what one of them offers."""

import hmac
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from jaxgames.web.engine import Lane


class Chair:
    """What sits on a seat: a person, known by a token, or a player.

    Attributes:
        came: whether the person has been here; who was only invited has not.
        gone: when the person was here last.
        owner: the key of the browser in whose list of games this one stands; None: in none.
    """

    def __init__(
        self,
        lane: Lane | None = None,
        spec: str | None = None,
        token: str | None = None,
        name: str = "",
        came: bool = False,
    ):
        self.lane, self.spec, self.token, self.came = lane, spec, token, came
        self.name = lane.player.name if lane else name
        self.gone = time.monotonic()
        self.owner: str | None = None

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

    def add(self, points: list[int]) -> None:
        """Counts a game; `points` are by seat."""
        self.played += 1
        by_player = points[::-1] if self.swapped else points
        for player, won in enumerate(by_player):
            self.points[player] += max(won, 0)
            self.wins[player] += won > 0
        self.draws += not any(points)

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
    """Whether two tokens are the same; the time that it takes tells nothing of where they differ."""
    return one is not None and other is not None and hmac.compare_digest(one.encode(), other.encode())
