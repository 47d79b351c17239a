"""A match to some points for people: game after game between two sides, until one has the points. There is no cube."""

from collections.abc import Sequence

import numpy as np

from jaxgames.players import Player
from jaxgames.sessions.record import GameRecord
from jaxgames.sessions.session import Session

MOST_POINTS = 1000


class PointsMatch:
    """The score of two sides, and who sits where in the next game.

    By the rules of backgammon the opening roll says who begins, so it is drawn; where a game has no chance, the sides
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
        self.score = [0.0, 0.0]
        self.records: list[GameRecord] = []
        self.first = 0

    @property
    def over(self) -> bool:
        """Whether a side has the points."""
        return max(self.score) >= self.to

    def count(self, session: Session) -> None:
        """Counts a game that has ended."""
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
        return session.record((self.names[self.first], self.names[1 - self.first]))

    def score_line(self) -> str:
        """Such as `champion 2, person 1, to 5 points`, who leads first."""
        pairs = sorted(zip(self.score, self.names, strict=True), key=lambda pair: -pair[0])
        score = ", ".join(f"{name} {points:g}" for points, name in pairs)
        return f"{pairs[0][1]} wins the match: {score}" if self.over else f"{score}, to {self.to} points"
