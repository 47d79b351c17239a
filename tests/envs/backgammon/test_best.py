"""The best and random turns of batches, and what networks see, against NumPy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgames.envs.backgammon import Position
from jaxgames.envs.backgammon.best import FEW, _best_of_few
from jaxgames.envs.backgammon.encoding import Extra, FirstLayer, Strategic, Tesauro, score_first_layer
from jaxgames.envs.backgammon.play_lists import Plays, pairs
from jaxgames.envs.core import Game
from tests.envs.backgammon import reference
from tests.envs.backgammon.boards import (
    GAME,
    ROLLS,
    all_plays,
    as_bytes,
    boards_of,
    crowded_boards,
    gnubg_rows,
    in_chunks,
    left_of,
    positions,
    random_boards,
)

BATCH = 64
KERNEL = np.random.default_rng(0).normal(0, 0.3, (198, 8)).astype(np.float32)
BIAS = np.linspace(-1, 1, 8).astype(np.float32)
WEIGHTS = np.random.default_rng(1).normal(0, 0.5, 8).astype(np.float32)


def tail(sums):
    return jnp.tanh(sums) @ jnp.asarray(WEIGHTS)


def network(kernel):
    return FirstLayer(Tesauro(), kernel, jnp.asarray(BIAS), tail)


def numpy_value(inputs):
    return np.tanh(inputs.astype(np.float64) @ KERNEL + BIAS) @ WEIGHTS


def tesauro(roller, other):
    """Tesauro's inputs as his papers describe them, for counts [n, 25]; the units of all points stand side by side."""
    columns = []
    for counts in (roller[:, :24], other[:, :24]):
        columns += [counts >= 1, counts >= 2, counts >= 3, np.where(counts > 3, (counts - 3) / 2, 0)]
    bars = [side[:, 24:] / 2 for side in (roller, other)]
    off = [(15 - side.sum(axis=1, keepdims=True)) / 15 for side in (roller, other)]
    turn = np.ones((len(roller), 1))
    return np.concatenate([*columns, *bars, *off, turn, 0 * turn], axis=1)


def longest_block(counts):
    runs = "".join("x" if n > 1 else " " for n in counts[:24]).split()
    return max(map(len, runs), default=0)


def dense_scores(found):
    """What each play is worth to the mover, by NumPy."""
    mover, opponent = found.boards[:, 0], found.boards[:, 1]
    results = np.array([0 if own.any() else reference.result(tuple(own), tuple(other)) for own, other in found.boards])
    return np.where(results > 0, results, -numpy_value(tesauro(opponent, mover)))


def check_best(turns, boards, dice):
    """`turns(positions)` takes a play of the highest score, and knows its score, for boards of any number."""
    outcome, score = in_chunks(turns, positions(boards, dice), BATCH)
    chosen = boards_of(outcome.position.opponent, outcome.position.own)
    assert outcome.turn_passes.all() and not outcome.position.dice.any()
    for index, found in enumerate(all_plays(boards, dice)):
        dense = dense_scores(found)
        row = as_bytes(found.boards).index(as_bytes(chosen[index])[0])
        assert abs(score[index] - dense.max()) < 1e-4
        assert dense[row] > dense.max() - 1e-4
        result = reference.result(*map(tuple, chosen[index]))
        assert outcome.over[index] == (result > 0)
        assert result == 0 or outcome.reward[index] == result


by_kernel = jax.jit(lambda some, kernel: GAME.best_turn(some, network(kernel)))
slow = jax.jit(lambda some: GAME.best_turn(some, lambda after: network(jnp.asarray(KERNEL))(after)))


def fast(some):
    return by_kernel(some, KERNEL)


@pytest.fixture(scope="module")
def crowded():
    """64 positions and doubles with more than 1,000 plays each: 30 times what the lists of a batch of 64 can hold."""
    boards = crowded_boards(np.random.default_rng(3), 512)
    dice = [(1, 1, 1, 1)] * 512
    listed = all_plays(boards, dice)
    many = [index for index, found in enumerate(listed) if len(found.boards) > 1000][:BATCH]
    assert len(many) == BATCH
    return boards[many], [dice[index] for index in many]


@pytest.mark.parametrize("turns", [fast, slow], ids=["first layer", "any value"])
class TestBestTurn:
    def test_positions_from_play(self, turns, data_dir):
        boards, rolls, _ = gnubg_rows(data_dir)
        check_best(turns, boards[:512], [left_of(roll) for roll in rolls[:512]])

    def test_made_up_positions(self, turns):
        rng = np.random.default_rng(4)
        boards = random_boards(rng, 512)
        check_best(turns, boards, [left_of(ROLLS[number]) for number in rng.integers(0, 21, len(boards))])

    def test_more_than_1000_plays_each(self, turns, crowded):
        check_best(turns, *crowded)


def test_a_crowd_does_not_disturb_its_neighbours(crowded, data_dir):
    boards, rolls, _ = gnubg_rows(data_dir)
    mixed, dice = crowded[0].copy(), list(crowded[1])
    mixed[::2], dice[::2] = boards[:32], [left_of(roll) for roll in rolls[:32]]
    check_best(fast, mixed, dice)


def test_of_equal_turns_the_same_one_is_taken(crowded):
    boards, dice = crowded
    forward, score = by_kernel(positions(boards, dice), np.zeros_like(KERNEL))
    backward, _ = by_kernel(positions(boards[::-1], dice[::-1]), np.zeros_like(KERNEL))
    assert len(np.unique(score)) == 1
    for one, other in zip(jax.tree.leaves(forward), jax.tree.leaves(backward), strict=True):
        assert (one == other[::-1]).all()


def test_a_value_that_is_no_number_still_gives_legal_turns(data_dir):
    boards, rolls, _ = gnubg_rows(data_dir)
    dice = [left_of(roll) for roll in rolls[:BATCH]]
    outcome, score = by_kernel(positions(boards[:BATCH], dice), np.full_like(KERNEL, np.nan))
    chosen = as_bytes(boards_of(outcome.position.opponent, outcome.position.own))
    for found, choice in zip(all_plays(boards[:BATCH], dice), chosen, strict=True):
        assert choice in as_bytes(found.boards)
    assert not np.isnan(score).any()


def test_the_best_of_few_is_found_wherever_it_stands():
    """In a list of two chunks; what is no number is passed over, as is what stands behind the list."""
    worth = np.random.default_rng(0).random(128).astype(np.float32)
    worth[[0, 1, 41]], worth[99], worth[100:] = np.nan, 2, 3
    first, game = jnp.asarray([0, 40, 40, 100], jnp.int32), jnp.repeat(jnp.asarray([0, 2]), jnp.asarray([40, 88]))
    plays = Plays(game.astype(jnp.int32), jnp.arange(128, dtype=jnp.uint32), first, jnp.ones(3, bool))
    find = jax.jit(lambda plays, worth: _best_of_few(plays, 2, lambda game, code, moves: worth[code]))
    best, has_any = find(plays, jnp.asarray(worth))
    assert has_any.tolist() == [True, False, True]
    assert best.code[jnp.asarray([0, 2])].tolist() == [np.nanargmax(worth[:40]), 99]
    assert best.score[0] == np.nanmax(worth[:40]) and best.score[2] == 2


def test_few_positions_see_what_many_see(data_dir):
    """The changes of a play are looked up input by input if positions are few, else in a table."""
    some = positions(gnubg_rows(data_dir)[0][:32], [(6, 3)] * 32)

    @jax.jit
    def scores(some):
        listed = pairs(some, jnp.ones(32, bool), 1024)
        few = jax.tree.map(lambda x: x[:FEW], some)
        of_few, of_all = (score_first_layer(of, network(KERNEL)) for of in (few, some))
        own = of_few(jnp.minimum(listed.game, FEW - 1), listed.code, 2)
        return own, of_all(listed.game, listed.code, 2), listed.first[FEW]

    of_few, wide, number = scores(some)
    assert number > 50
    np.testing.assert_allclose(of_few[:number], wide[:number], atol=1e-4)


def test_the_generic_turn_chooses_the_same():
    """Where one die is left, a turn is one action, so that the turns of any game can stand beside ours."""
    boards = random_boards(np.random.default_rng(5), BATCH)
    batch = positions(boards, [(1 + number % 6,) for number in range(BATCH)])
    outcome, score = fast(batch)
    generic, generic_score = jax.jit(lambda some: Game.best_turn(GAME, some, network(jnp.asarray(KERNEL))))(batch)
    assert np.abs(score - generic_score).max() < 1e-4
    going_on = ~np.asarray(outcome.over)
    assert (outcome.over == generic.over).all() and going_on.sum() > 50
    for one, other in zip(jax.tree.leaves(outcome.position), jax.tree.leaves(generic.position), strict=True):
        assert (np.asarray(one) == other)[going_on].all()


def test_random_turns_are_uniform(data_dir):
    """About 13,000 draws for one position, beside two that need further rounds."""
    boards, rolls, _ = gnubg_rows(data_dir)
    crowd = crowded_boards(np.random.default_rng(3), 2)
    listed = all_plays(boards[:64], [left_of(roll) for roll in rolls[:64]])
    index = max(range(64), key=lambda index: len(listed[index].boards))
    same = BATCH - len(crowd)
    mixed, dice = [*crowd, *[boards[index]] * same], [*[(1, 1, 1, 1)] * len(crowd), *[left_of(rolls[index])] * same]
    batch = positions(np.stack(mixed), dice)
    draw = jax.jit(GAME.random_turn)
    drawn = []
    for number in range(13_000 // same):
        outcome = jax.device_get(draw(batch, jax.random.bits(jax.random.key(number), (BATCH,))))
        drawn += as_bytes(boards_of(outcome.position.opponent, outcome.position.own)[len(crowd) :])
    names = as_bytes(listed[index].boards)
    counts = np.array([drawn.count(name) for name in names])
    expected = len(drawn) / len(names)
    assert counts.sum() == len(drawn)
    freedom = len(names) - 1
    assert ((counts - expected) ** 2 / expected).sum() < freedom + 4 * (2 * freedom) ** 0.5


# Encodings


@pytest.fixture(scope="module")
def some_boards(data_dir):
    return np.concatenate([gnubg_rows(data_dir)[0][:300], random_boards(np.random.default_rng(6), 300)])


def test_tesauro(some_boards):
    inputs = Tesauro()(positions(some_boards, [()] * len(some_boards)))
    assert inputs.shape == (600, 198) and inputs.dtype == jnp.float32
    assert np.allclose(inputs, tesauro(some_boards[:, 0], some_boards[:, 1]), atol=1e-6)


def test_extra(some_boards):
    inputs = np.asarray(Extra()(positions(some_boards, [()] * len(some_boards))))
    assert inputs.shape == (600, 212) and inputs.dtype == np.float32
    assert np.allclose(inputs[:, :198], tesauro(some_boards[:, 0], some_boards[:, 1]), atol=1e-6)
    for row, (mover, opponent) in zip(inputs, some_boards, strict=True):
        rear = [max(np.flatnonzero(side)) + 1 for side in (mover, opponent)]
        race = sum(rear) < 25
        blocks = [[longest_block(side) >= k for k in range(1, 7)] for side in (mover, opponent)]
        assert row[198:].tolist() == [not race, race, *blocks[0], *blocks[1]]


@pytest.mark.parametrize("encoding", [Tesauro(), Extra(), Strategic()], ids=["Tesauro", "Extra", "Strategic"])
def test_swap_exchanges_the_players(some_boards, encoding):
    own, opponent, dice = positions(some_boards, [()] * len(some_boards))
    swapped, expected = jax.jit(
        lambda own, other: (encoding.swap(encoding(Position(own, other, dice))), encoding(Position(other, own, dice)))
    )(own, opponent)
    swapped = np.array(swapped)
    swapped[:, [196, 197]] = swapped[:, [197, 196]]  # in the names exchanged it is the other one's turn
    assert (swapped == expected).all()
