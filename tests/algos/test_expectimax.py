"""Expectimax against plain recursion and against solved bear-offs of backgammon."""

import gzip
import itertools
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames.algos import expectimax
from jaxgames.algos.expectimax import Expectimax
from jaxgames.algos.td import make_config
from jaxgames.envs.backgammon import Position, board
from jaxgames.envs.backgammon.board import from_plain
from tests.envs.backgammon.boards import left_of, rule_book_plays
from tests.players.dash import GAME as DASH
from tests.players.dash import Position as Runners
from tests.players.dash import lead

BACKGAMMON = jaxgames.make("backgammon")
TIC_TAC_TOE = jaxgames.make("tic_tac_toe")
POINT = np.float32(0.125)


def dash_turns(own, other, roll, plies):
    """What each action of the test game is worth, by its rules read once more."""
    for action in range(3 if roll == 3 else 2):
        left = own - (roll if action == 0 else 1)
        if left <= 0:
            yield 2.0 if other >= 4 else 1.0
        else:
            yield dash_chance(left, other, plies - 1) if action == 2 else -dash_chance(other, left, plies - 1)


def dash_chance(own, other, plies):
    if plies == 0:
        return POINT * (other - own)
    return sum(p * max(dash_turns(own, other, roll, plies)) for roll, p in ((1, 0.5), (2, 0.25), (3, 0.25)))


DASHES = [(own, other, roll) for own in range(1, 7) for other in range(1, 7) for roll in (1, 2, 3)]


@pytest.mark.parametrize(("plies", "chunk"), [(1, 512), pytest.param(2, 512, marks=pytest.mark.slow), (3, 50)])
def test_a_game_with_chance(plies, chunk, monkeypatch):
    """Every turn of a small game where a player may move again, and what its positions are worth before the roll."""
    monkeypatch.setattr(expectimax, "CHUNK", chunk)
    own, other, roll = jnp.asarray(DASHES, jnp.int32).T
    for keep in (None, 3) if plies > 1 else (None,):  # one ply looks at all turns
        search = Expectimax(DASH, plies, keep)

        @jax.jit
        def both(runners, search=search):
            value = lambda positions: lead(POINT, positions)  # noqa: E731
            before = runners._replace(roll=jnp.zeros_like(runners.roll))
            return *search.best_turn(runners, value), search.expected(before, value)

        outcome, worth, expected = both(Runners(own, other, roll))
        for number, dash in enumerate(DASHES):
            turns = list(dash_turns(*dash, plies))
            assert worth[number] == pytest.approx(max(turns), abs=1e-6), dash
            assert expected[number] == pytest.approx(dash_chance(*dash[:2], plies), abs=1e-6), dash
            left = [dash[0] - step for step in (dash[2], 1, 1)]
            won = left[turns.index(max(turns))] <= 0
            assert outcome.over[number] == won


def test_a_game_without_chance():
    """Two plies see every win and every double threat that has to be stopped."""
    texts = ["XX./O.O/...", "OX./.X./...", "XO./.X./..O", "X.O/OX./...", "XOX/OOX/.XO"]
    positions = jax.tree.map(lambda *x: jnp.stack(x), *(TIC_TAC_TOE.parse(text) for text in texts))

    def nothing(positions):
        return jnp.zeros(len(jax.tree.leaves(positions)[0]), jnp.float32)

    worths = [jax.jit(lambda p, n=n: Expectimax(TIC_TAC_TOE, n).best_turn(p, nothing)[1])(positions) for n in (1, 2, 3)]
    searched = [[plain(TIC_TAC_TOE, TIC_TAC_TOE.parse(text), n) for text in texts] for n in (1, 2, 3)]
    np.testing.assert_array_equal(worths, searched)
    assert len({tuple(row) for row in searched}) > 1


def test_turns_that_are_left_out():
    """With one turn to look into, or none that seems worse, the choice is that of one ply; with more it is another."""
    texts = ["X../.O./...", "XO./.X./..O", "X.O/OX./...", ".../.X./O..", "XOX/.../.O."]
    positions = jax.tree.map(lambda *x: jnp.stack(x), *(TIC_TAC_TOE.parse(text) for text in texts))

    def odd(positions):  # no two alike
        return ((positions.cells * jnp.uint32(2654435761)) >> 16).astype(jnp.float32) / 2**16

    def choice(plies, *limits):
        search = Expectimax(TIC_TAC_TOE, plies, *limits)
        return jax.jit(lambda p: search.best_turn(p, odd)[0].position.cells)(positions).tolist()

    assert choice(2, 1) == choice(2, 9, 0.0) == choice(1)
    assert len({tuple(choice(*limits)) for limits in ((2, 1), (2, 2), (2, 9))}) == 3
    assert choice(2, 9, 2.0) == choice(2, 9) == choice(2)


def plain(game, position, plies):
    """What the best action is worth if all positions are worth 0 after so many plies."""
    if plies == 0:
        return 0.0
    found = []
    for action in np.flatnonzero(game.legal(position)):
        after = game.play(position, jnp.int32(action))
        found.append(float(after.reward) if after.over else -plain(game, after.position, plies - 1))
    return max(found)


# Bear-off: the data tell, of 7 checkers at most, in how many rolls they are off.


@pytest.fixture(scope="module")
def bear_off(data_dir):
    """Checkers on points 1 to 6, [n, 6], how many rolls it takes on average, and the chance of each number."""
    with gzip.open(data_dir / "backgammon" / "gnubg_bearoff_onesided_7.csv.gz", "rt") as file:
        rows = [line.split(",") for line in itertools.islice(file, 2, None)]
    chances = np.zeros((len(rows), 12))
    for chance, row in zip(chances, rows, strict=True):
        found = np.array(row[8].split(), float) / 65535
        chance[int(row[7]) : int(row[7]) + len(found)] = found
    return np.array([row[:6] for row in rows], int), np.array([row[6] for row in rows], float), chances


@pytest.fixture(scope="module")
def after_plies(bear_off):
    """What positions are worth looking so many rolls ahead, if `table` says what each own side is worth against each
    other side; and the positions of own and other sides.
    """
    counts = bear_off[0]
    number = np.zeros(8**6, np.int32)
    number[counts @ 8 ** np.arange(6)] = np.arange(len(counts))

    @partial(jax.jit, static_argnums=0)
    def looked_ahead(plies, table, positions):
        def side(side):
            return jnp.asarray(number)[board.to_counts(side)[..., :6] @ jnp.asarray(8 ** np.arange(6), jnp.int32)]

        def value(positions):
            return table[side(positions.own), side(positions.opponent)]

        return Expectimax(BACKGAMMON, plies).expected(positions, value)

    def of_sides(plies, table, own, opponent):
        spelled = (jnp.asarray(np.pad(counts[side], ((0, 0), (0, 19))), jnp.int32) for side in (own, opponent))
        positions = Position(*map(board.from_counts, spelled), jnp.zeros(len(own), jnp.uint32))
        return np.asarray(looked_ahead(plies, jnp.asarray(table, jnp.float32), positions))

    return of_sides


ROLLS_AHEAD = [1, pytest.param(2, marks=pytest.mark.slow)]


@pytest.mark.parametrize("plies", ROLLS_AHEAD)
def test_mean_rolls(bear_off, after_plies, plies):
    """A roll played best shortens the bear-off by one roll: the recursion that defines the table."""
    counts, mean, _ = bear_off
    many = np.flatnonzero(counts.sum(axis=1) > 4)  # nobody is off after one roll
    own, opponent = np.random.default_rng(0).permutation(many)[:512].reshape(2, 256)
    ahead = after_plies(plies, mean[None, :] - mean[:, None], own, opponent)
    error = ahead - (mean[opponent] - mean[own] + plies % 2)
    assert abs(error).max() < 2e-4 and abs(error).mean() < 4e-5  # data: each within 7e-5


@pytest.mark.parametrize("plies", ROLLS_AHEAD)
def test_chances_of_winning(bear_off, after_plies, plies):
    """By the numbers of rolls of both players, and by looking ahead. No gammons: both have begun to bear off."""
    counts, _, chances = bear_off
    at_least = np.cumsum(chances[:, ::-1], axis=1)[:, ::-1]
    table = 2 * chances @ at_least.T - 1
    own, opponent = np.random.default_rng(1).integers(1, len(counts), (2, 256))
    gain = after_plies(plies, table, own, opponent) - table[own, opponent]
    # Whoever plays for few rolls does not always play for the most wins: a player who looks ahead gains a little.
    assert 1e-4 < gain.max() < 0.02 and abs(gain).mean() < 0.001
    assert gain.min() > (-2e-4 if plies == 1 else -0.02)


@pytest.mark.slow
def test_two_plies_of_backgammon():
    """All plays, rolls and answers by the rule book, with a network of random weights."""
    network = make_config(hidden=(3,)).network()
    params = jax.tree.map(lambda x: 3 * x, network.init(jax.random.key(4)))
    value = jax.jit(lambda positions: network.value(params)(positions))

    def values(boards):
        """What boards are worth to the side in front, which rolls next; filled up, to compile few sizes."""
        boards = np.array([list(board) for board in boards]).reshape(-1, 2, 25)
        filled = np.zeros((max(64, 1 << len(boards).bit_length()), 2, 25), np.int32)
        filled[: len(boards)] = boards
        sides = (board.from_counts(jnp.asarray(side)) for side in (filled[:, 0], filled[:, 1]))
        return np.asarray(value(Position(*sides, jnp.zeros(len(filled), jnp.uint32))))[: len(boards)]

    def best(both, roll):
        return max(-values([turned(result) for result in rule_book_plays(both, roll)]))

    def turned(result):
        return result[25:] + result[:25]

    start = np.array([0, 0, 0, 0, 0, 5, 0, 3, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0])
    moved = start + np.eye(25, dtype=int)[4] - np.eye(25, dtype=int)[5]  # a slot on the 5 point
    cases = [((start, start), (6, 4)), ((moved, start), (2, 1))]
    positions = jax.tree.map(lambda *x: jnp.stack(x), *(from_plain(*sides, roll) for sides, roll in cases))
    search = jax.jit(lambda positions: Expectimax(BACKGAMMON, 2).best_turn(positions, network.value(params)))
    outcome, worth = search(positions)
    for number, (sides, roll) in enumerate(cases):
        worths = {}
        for result in rule_book_plays(np.array(sides), roll):
            theirs = np.frombuffer(turned(result), np.uint8).reshape(2, 25)
            mean = sum((1 + (a != b)) / 36 * best(theirs, (a, b)) for a in range(1, 7) for b in range(1, a + 1))
            worths[result] = -mean
        assert worth[number] == pytest.approx(max(worths.values()), abs=1e-5)
        after = outcome.position
        chosen = bytes(int(n) for side in (after.opponent, after.own) for n in board.to_counts(side)[number])
        assert worths[chosen] == pytest.approx(max(worths.values()), abs=1e-5)
        assert max(worths.values()) - min(worths.values()) > 0.01


@pytest.mark.parametrize("count", [1, 4])
def test_few_best_turns(count):
    """Those that come first when all turns are sorted by worth, of a game with few actions and of backgammon."""
    own, other, roll = jnp.asarray(DASHES, jnp.int32).T
    top = jax.jit(lambda runners: DASH.top_turns(runners, lambda positions: lead(POINT, positions), count))
    few = jax.device_get(top(Runners(own, other, roll)))
    for number, dash in enumerate(DASHES):
        worths = sorted(dash_turns(*dash, 1), reverse=True)
        assert few.worth[few.exist[:, number], number].tolist() == worths[: few.exist[:, number].sum()]
        assert few.exist[:, number].sum() == min(count, len(worths))


def pips_lead(positions):
    """Distinct worths for most turns of backgammon."""
    weights = jnp.asarray(np.sqrt(np.arange(1, 26)), jnp.float32)
    own, other = (board.to_counts(side).astype(jnp.float32) @ weights for side in (positions.own, positions.opponent))
    return (other - own) / 10


@pytest.mark.slow  # 7 seconds of the compiler; the best turn of backgammon and few of a small game are quick tests
def test_few_best_turns_of_backgammon():
    """Against the rule book: at the start, with a double, and in bear-offs with one play and with few."""
    start, last = [0, 0, 0, 0, 0, 5, 0, 3, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0], [2] + [0] * 24
    alone, two = [0, 0, 1] + [0] * 22, [1, 0, 0, 0, 1] + [0] * 20
    cases = [(start, start, (3, 1)), (start, start, (4, 4)), (alone, last, (1, 1)), (two, last, (2, 1))]
    positions = jax.tree.map(lambda *x: jnp.stack(x), *(from_plain(*sides, left_of(roll)) for *sides, roll in cases))
    top = jax.jit(lambda positions, weight: BACKGAMMON.top_turns(positions, lambda after: weight * far(after), 6))
    few = top(positions, 1.0)
    for worth in (np.nan, np.inf):  # turns of no worth are turns
        np.testing.assert_array_equal(top(positions, worth).exist, few.exist)
    numbers = []
    for number, case in enumerate(cases):
        results = rule_book_plays(np.array(case[:2]), case[2])
        movers, opponents = np.array([list(result) for result in results]).reshape(-1, 2, 25).transpose(1, 0, 2)
        sides = (board.from_counts(jnp.asarray(side, jnp.int32)) for side in (opponents, movers))
        worths = -np.asarray(far(Position(*sides, jnp.zeros(len(movers), jnp.uint32))))
        worths = np.sort(np.where(movers.sum(axis=1) == 0, 1, worths))[::-1]
        there = np.flatnonzero(few.exist[:, number])
        np.testing.assert_allclose(few.worth[there, number], worths[:6], atol=1e-5)
        after = [np.asarray(x)[there, number].tolist() for x in jax.tree.leaves(few.outcome.position)]
        assert len(set(zip(*after, strict=True))) == len(there)
        numbers.append(len(worths))
    assert max(numbers) > 6 > min(numbers)


def far(positions):
    """Other worths for most positions of backgammon."""
    weights = jnp.asarray(np.sqrt(np.arange(1, 26)), jnp.float32)
    own, other = (board.to_counts(side).astype(jnp.float32) @ weights for side in (positions.own, positions.opponent))
    return (other - own) / 10


def test_turns_left_out():
    """Only the best turns by the value itself are looked into, and those nearly as good."""
    runners = Runners(*jnp.asarray(DASHES, jnp.int32).T)

    def value(positions):
        return lead(POINT, positions)

    def seems(search):
        outcome = jax.jit(lambda runners: search.best_turn(runners, value))(runners)[0]
        worth = value(outcome.position)
        return np.asarray(jnp.where(outcome.over, outcome.reward, jnp.where(outcome.turn_passes, -worth, worth)))

    best = np.asarray(DASH.best_turn(runners, value)[1])
    np.testing.assert_array_equal(seems(Expectimax(DASH, 3, keep=1)), best)
    assert [(best - seems(Expectimax(DASH, 3, 3, within))).max() for within in (0.2, 0.25, None)] == [0, 0.25, 0.25]


@pytest.mark.parametrize("keep", [None, 3])
def test_nan_does_not_spread(keep):
    """Where no position of unknown value is in reach, all is as if there were none."""
    runners = Runners(*jnp.asarray(DASHES, jnp.int32).T)

    def value(positions):
        return jnp.where(positions.own == 5, jnp.nan, lead(POINT, positions))

    worth = jax.jit(lambda runners: Expectimax(DASH, 2, keep).best_turn(runners, value)[1])(runners)
    known = [number for number, dash in enumerate(DASHES) if max(dash[:2]) < 5]
    for number in known:
        assert worth[number] == pytest.approx(max(dash_turns(*DASHES[number], 2)), abs=1e-6)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"plies": 0}, "plies 0: expected a whole number from 1 on"),
        ({"plies": 2, "keep": 0}, "keep 0: expected a whole number from 1 on"),
        ({"plies": 2, "keep": 2, "within": -0.1}, "within -0.1: expected a number from 0 on"),
        ({"plies": 2, "keep": 2, "within": float("nan")}, "within nan: expected a number from 0 on"),
        ({"plies": 2, "within": 0.1}, "within needs keep, the most turns to look at, such as keep=8"),
    ],
)
def test_bad_options(options, words):
    with pytest.raises(ValueError, match=words):
        Expectimax(DASH, **options)
