"""Bear-offs of backgammon, against GNU Backgammon's database and against plain recursions."""

import csv
import functools
import gzip
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgames import make as make_game
from jaxgames.envs.backgammon import make_position
from jaxgames.envs.backgammon.game import ROLLS, Backgammon
from jaxgames.envs.backgammon.play_lists import list_plays
from jaxgames.players import make
from jaxgames.tables import bearoff
from jaxgames.tables.bearoff import BearOffs, one_sided, two_sided
from tests.envs.backgammon import reference

DATA = Path(__file__).parents[1] / "data" / "backgammon"
SMALL = BearOffs(points=3, checkers=4)
CHANCES = dict(zip(ROLLS, Backgammon.outcome_probabilities, strict=True))
GNUBG = 65535
"""GNU Backgammon keeps chances as whole numbers of so many."""


@functools.cache
def replies(side, roll):
    """What a side, its checkers on points 1 to 3, may become; by the rule book in plain Python."""
    return [after[:3] for after, _ in reference.plays((*side, *[0] * 22), (1, *[0] * 24), roll)]


def number(offs, side):
    return int(offs.number(jnp.asarray([*side, *[0] * (25 - len(side))], jnp.int32)))


def test_what_is_kept_is_not_written():
    offs = BearOffs(2, 2)
    assert offs.counts is offs.counts
    for kept in (offs.counts, offs.pips):
        with pytest.raises(ValueError, match="read-only"):
            kept[:] = 0


def test_positions_and_numbers_belong_together():
    offs = BearOffs()
    counts = np.pad(offs.counts, ((0, 0), (0, 25 - 6)))
    np.testing.assert_array_equal(jax.jit(offs.number)(counts), np.arange(54264))
    assert offs.size == 54264 and not offs.counts[0].any() and offs.counts.sum(axis=1).max() == 15
    assert number(SMALL, [2, 2, 1]) == -1 and number(SMALL, [1, 0, 0, 1]) == -1


def test_the_rolls_that_one_side_needs_are_those_of_a_plain_recursion():
    @functools.cache
    def mean(side):
        if not any(side):
            return 0.0
        return 1 + sum(chance * min(mean(after) for after in replies(side, roll)) for roll, chance in CHANCES.items())

    found = one_sided(SMALL)
    expected = [mean(tuple(row)) for row in SMALL.counts.tolist()]
    np.testing.assert_allclose(found.mean, expected, rtol=1e-12)
    np.testing.assert_allclose(found.chances @ np.arange(bearoff.MOST_ROLLS), expected, rtol=1e-5)
    np.testing.assert_allclose(found.chances.sum(axis=1), 1, rtol=1e-6)


def test_who_is_off_first_is_that_of_a_plain_recursion():
    @functools.cache
    def wins(own, other):
        if not any(other):
            return 0.0
        best = {roll: max(1.0 - wins(other, x) if any(x) else 1.0 for x in replies(own, roll)) for roll in ROLLS}
        return sum(chance * best[roll] for roll, chance in CHANCES.items())

    sides = [tuple(row) for row in SMALL.counts.tolist()]
    found = two_sided(SMALL)
    for own in sides[1:]:
        expected = [wins(own, other) for other in sides]
        np.testing.assert_allclose(found[number(SMALL, own)], expected, rtol=1e-12)


def read(name):
    """GNU Backgammon's positions: the checkers on points 1 to 6, the mean of the rolls, and their distribution."""
    with gzip.open(DATA / name, "rt", encoding="utf-8") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    sides = np.array([[int(row[f"p{point}"]) for point in range(1, 7)] for row in rows])
    chances = np.zeros((len(rows), bearoff.MOST_ROLLS), int)
    for place, row in enumerate(rows):
        listed, first = [int(x) for x in row["dist_times_65535"].split()], int(row["first_roll"])
        chances[place, first : first + len(listed)] = listed
    return sides, np.array([float(row["mean_rolls"]) for row in rows]), chances


def compare(offs, name):
    """The positions whose distribution, rounded as GNU Backgammon does, is the same; and how far its means are off."""
    sides, means, chances = read(name)
    numbers = np.asarray(offs.number(jnp.asarray(np.pad(sides, ((0, 0), (0, 19))), jnp.int32)))
    assert (numbers >= 0).all()
    same = (rounded(offs)[numbers] == chances).all(axis=1)
    return same, abs(one_sided(offs).mean[numbers] - means)


def test_the_rolls_of_small_bear_offs_are_those_of_gnubg():
    same, error = compare(BearOffs(points=6, checkers=7), "gnubg_bearoff_onesided_7.csv.gz")
    assert len(same) == 1716 and error.max() < 1e-4
    assert same.mean() > 0.95  # of equally good plays it may take another


@pytest.mark.slow
def test_the_rolls_of_all_bear_offs_are_those_of_gnubg():
    """GNU Backgammon rounds chances to 16 bits and builds on what it has rounded: hence the rest of the difference."""
    same, error = compare(BearOffs(), "gnubg_bearoff_onesided_12th.csv.gz")
    assert error.max() < 2.1e-4 and (error < 1e-4).mean() > 0.9
    assert same.mean() > 0.95


def rounded(offs):
    """The distributions of rolls as GNU Backgammon makes them, in whole numbers."""
    weights = np.round(np.array(Backgammon.outcome_probabilities) * 36).astype(int)
    mean, chances = np.zeros(offs.size), np.zeros((offs.size, bearoff.MOST_ROLLS), int)
    chances[0, 0] = GNUBG
    for numbers, found in bearoff._levels(offs):
        after = bearoff.best_replies(mean, found)
        total = np.einsum("r,prn->pn", weights, chances[after])
        new = np.zeros_like(total)
        new[:, 1:] = ((total + 18) // 36)[:, :-1]
        most = new.argmax(axis=1)
        new[np.arange(len(new)), most] += GNUBG - new.sum(axis=1)
        chances[numbers], mean[numbers] = new, new @ np.arange(bearoff.MOST_ROLLS) / GNUBG
    return chances


@pytest.mark.slow
def test_players_bear_off_exactly():
    """The turn with the best chance of all, in each of some races; a random player misses it."""
    game = make_game("backgammon")
    player, other = make("exact:random", game), make("random", game)
    sides = [[0, 1, 0, 0, 1, 0], [1, 0, 0, 1, 0, 1], [0, 0, 2, 1, 0, 0], [2, 0, 0, 0, 0, 2]]
    states = [make_position([*a, *[0] * 19], [*b, *[0] * 19], (2, 1)) for a in sides for b in sides]
    positions = jax.tree.map(lambda *x: jnp.stack(x), *[state._position for state in states])
    win = two_sided(BearOffs(6, 6))
    offs = BearOffs(6, 6)
    mover = jax.jit(lambda who, where: who.play_once(where, jnp.zeros(16, jnp.uint32)).position)
    chances = {}
    for who in (player, other):
        after = mover(who, positions)
        numbers = [np.asarray(offs.number(bearoff.to_counts(side))) for side in (after.own, after.opponent)]
        chances[who.name] = 1 - win[numbers[0], numbers[1]]
    for place, state in enumerate(states):
        plays = list_plays(state)
        best = max(
            1 - win[number(offs, b[:6]), number(offs, a[:6])]
            for a, b in zip(plays.mover.tolist(), plays.opponent.tolist(), strict=True)
        )
        np.testing.assert_allclose(chances["exact:random"][place], best, atol=1e-6)
    assert (chances["random"] < chances["exact:random"] - 1e-3).any()


def test_few_rolls_and_the_number_of_positions_done():
    """Three or four on the first point need a double or two rolls; one or two before the fourth need one."""
    told = []
    found, sides = one_sided(SMALL, lambda *numbers: told.append(numbers)), SMALL.counts.tolist()
    for side, chance in (([4, 0, 0], 1 / 6), ([3, 0, 0], 1 / 6), ([1, 1, 0], 1), ([0, 0, 1], 1)):
        row = sides.index(side)
        assert found.mean[row] == pytest.approx(2 - chance)
        np.testing.assert_allclose(found.chances[row, :4], [0, chance, 1 - chance, 0], atol=1e-6)
    done = np.cumsum(np.bincount(SMALL.counts @ [1, 2, 3]))[1:]
    assert told == [(number, SMALL.size) for number in done]
