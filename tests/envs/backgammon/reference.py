"""A slow, obvious rule book of backgammon, written from the published rules alone: an oracle for everything faster.

A board is two tuples of 25 counts, `mover` and `opponent`: checkers on points 1..24 and on the bar, each player
counting from their own side. A step is `(source, die)` with source 1..24, or 25 for the bar; dice are tuples of the
dice left.
"""

from functools import lru_cache

BAR = 25

Side = tuple[int, ...]
Step = tuple[int, int]


def apply_step(mover: Side, opponent: Side, source: int, die: int) -> tuple[Side, Side]:
    """The board after one checker has moved; a lone opponent where it lands goes to the bar. Not checked."""
    own, other = list(mover), list(opponent)
    own[source - 1] -= 1
    target = source - die
    if target >= 1:
        own[target - 1] += 1
        same_point = 25 - target  # in the opponent's numbering
        if other[same_point - 1] == 1:
            other[same_point - 1] = 0
            other[BAR - 1] += 1
    return tuple(own), tuple(other)


def can_move(mover: Side, opponent: Side, source: int, die: int) -> bool:
    """Whether the rules for a single checker allow the step, whatever else is rolled."""
    if mover[source - 1] == 0:
        return False
    if mover[BAR - 1] > 0 and source != BAR:
        return False  # checkers on the bar enter first
    target = source - die
    if target >= 1:
        return opponent[25 - target - 1] < 2
    if sum(mover[6:]) > 0:
        return False  # bearing off needs all checkers in the home board
    return target == 0 or sum(mover[source:]) == 0  # a larger die: nothing behind this checker


def single_steps(mover: Side, opponent: Side, dice: Side) -> list[Step]:
    """All steps that the rules for a single checker allow with one of the dice."""
    return [(s, die) for die in sorted(set(dice)) for s in range(1, BAR + 1) if can_move(mover, opponent, s, die)]


def without(dice: Side, die: int) -> Side:
    """The dice left after one has been played."""
    left = list(dice)
    left.remove(die)
    return tuple(left)


@lru_cache(maxsize=200_000)
def most_dice(mover: Side, opponent: Side, dice: Side) -> int:
    """How many of the dice can be played, in the best order."""
    counts = [
        1 + most_dice(*apply_step(mover, opponent, source, die), without(dice, die))
        for source, die in single_steps(mover, opponent, dice)
    ]
    return max(counts, default=0)


def legal_steps(mover: Side, opponent: Side, dice: Side) -> set[Step]:
    """First steps after which the turn can still be played in full.

    As many dice as possible must be played; if only one of two can be, it must be the larger one where possible.
    """
    mover, opponent, dice = tuple(mover), tuple(opponent), tuple(sorted(dice))
    most = most_dice(mover, opponent, dice)
    steps = {
        (source, die)
        for source, die in single_steps(mover, opponent, dice)
        if 1 + most_dice(*apply_step(mover, opponent, source, die), without(dice, die)) == most
    }
    if most == 1 and len(dice) == 2:
        largest = max(die for _, die in steps)
        steps = {(source, die) for source, die in steps if die == largest}
    return steps


def plays(mover: Side, opponent: Side, roll: tuple[int, int]) -> dict[tuple[Side, Side], list[Step]]:
    """Every distinct position that a whole turn can lead to, with one way to get there; empty if no checker can move.

    The same player stands first in the results.
    """
    start = (tuple(mover), tuple(opponent))
    dice = tuple(roll) * 2 if roll[0] == roll[1] else tuple(sorted(roll))
    layer = {(start, dice): []}
    results = {}
    while layer:
        following = {}
        for (board, left), way in layer.items():
            steps = legal_steps(*board, left)
            if not steps and way:
                results.setdefault(board, way)
            for source, die in steps:
                after = (apply_step(*board, source, die), without(left, die))
                following.setdefault(after, [*way, (source, die)])
        layer = following
    return results


def result(mover: Side, opponent: Side) -> int:
    """Points the mover has won: 0 while checkers are left, 1, 2 for a gammon, 3 for a backgammon."""
    if sum(mover) > 0:
        return 0
    if sum(opponent) < 15:
        return 1
    on_bar_or_in_winners_home = sum(opponent[18:]) > 0  # points 19 to 24 of the loser, and the bar
    return 3 if on_bar_or_in_winners_home else 2


def board_from_hex(text: str) -> tuple[Side, Side]:
    """The `(mover, opponent)` of 50 hexadecimal digits, as in the data files."""
    counts = tuple(int(digit, 16) for digit in text)
    return counts[:25], counts[25:]


START: Side = tuple({6: 5, 8: 3, 13: 5, 24: 2}.get(point, 0) for point in range(1, 26))
