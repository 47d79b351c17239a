"""A turn in progress, for one position in plain Python: the part of the rules that notation needs.

The rules for batches are in `game` and `play_lists`. A step is one checker moved by one die: `(source, die)`, where the
source is 1..24, or 25 for the bar.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

Board = Sequence[int]
Step = tuple[int, int]

BAR = 25


class Obligation(NamedTuple):
    """What a turn must achieve: how many dice it plays and, if only one of two can be played, which one (else 0)."""

    number: int
    die: int


class Turn(NamedTuple):
    """The board, the dice left, the steps taken and the points hit so far."""

    mover: tuple[int, ...]
    opponent: tuple[int, ...]
    dice: tuple[int, ...]
    steps: tuple[Step, ...] = ()
    hits: frozenset[int] = frozenset()

    @classmethod
    def start(cls, mover: Board, opponent: Board, dice: Sequence[int] | None) -> "Turn":
        """A turn with these dice. Raises `ValueError` where a roll is awaited."""
        if dice is None:
            raise ValueError("no dice: the position awaits a roll")
        return cls(tuple(map(int, mover)), tuple(map(int, opponent)), tuple(map(int, dice)))

    def held(self, point: int) -> int:
        """Checkers of the opponent on a point of the mover."""
        return self.opponent[24 - point]

    def rearmost(self) -> int:
        """The place of the mover's checker with the longest way to go, 0 if all are off."""
        return max((point for point in range(1, BAR + 1) if self.mover[point - 1]), default=0)

    def sources(self, die: int) -> list[int]:
        """Where a checker can start with this die, without regard to the rest of the turn."""
        rearmost = self.rearmost()
        sources = []
        for source in [BAR] if rearmost == BAR else range(1, rearmost + 1):
            landing = source - die
            if landing > 0:
                free = self.held(landing) < 2
            else:
                free = rearmost <= 6 and (landing == 0 or source == rearmost)
            if self.mover[source - 1] and free:
                sources.append(source)
        return sources

    def step(self, source: int, die: int) -> "Turn":
        """The turn after one more step. Raises `ValueError` if there is no checker to move."""
        if not 1 <= source <= BAR or not self.mover[source - 1]:
            raise ValueError(f"there is no checker on {place_name(source)}")
        mover, opponent, hits = list(self.mover), list(self.opponent), self.hits
        mover[source - 1] -= 1
        landing = source - die
        if landing > 0:
            mover[landing - 1] += 1
            if self.held(landing) == 1:
                opponent[24 - landing] -= 1
                opponent[24] += 1
                hits |= {landing}
        dice = list(self.dice)
        dice.remove(die)
        return Turn(tuple(mover), tuple(opponent), tuple(dice), (*self.steps, (source, die)), hits)

    def next_turns(self) -> Iterator["Turn"]:
        """The turn after each possible step, larger dice first."""
        for die in sorted(set(self.dice), reverse=True):
            for source in self.sources(die):
                yield self.step(source, die)

    def whole_turns(self) -> list["Turn"]:
        """The legal ways to end the turn, one for each resulting board; the turn itself if nothing moves."""
        level, after = [self], [self]
        while after:
            level = after
            reached = {(turn.mover, turn.opponent, turn.dice): turn for one in level for turn in one.next_turns()}
            after = list(reached.values())
        played = level[0].steps[len(self.steps) :]
        if len(played) == 1 and len(set(self.dice)) == 2:  # only one die can be played: the larger one where possible
            larger = max(turn.steps[-1][1] for turn in level)
            level = [turn for turn in level if turn.steps[-1][1] == larger]
        return list({(turn.mover, turn.opponent): turn for turn in level}.values())

    def most(self) -> int:
        """How many more dice can be played."""
        number = 0
        for turn in self.next_turns():
            number = max(number, 1 + turn.most())
            if number == len(self.dice):
                break
        return number

    def best(self) -> Obligation:
        """What the turn must achieve from here: as many dice as possible; if just one, the larger where possible."""
        number = self.most()
        single = number == 1 and len(set(self.dice)) == 2
        return Obligation(number, next(self.next_turns()).steps[-1][1] if single else 0)

    def completes(self, best: Obligation) -> bool:
        """Whether the turn can still achieve what it had to at its beginning."""
        if best.die and self.steps and self.steps[0][1] != best.die:
            return False
        return len(self.steps) + self.most() == best.number


def place_name(place: int) -> str:
    """`bar`, `off` or the number of the point."""
    return {BAR: "bar", 0: "off"}.get(place, str(place))
