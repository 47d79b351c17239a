"""Minimax and alpha-beta: their values against references, solved positions, and each other."""

import dataclasses
import functools
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames.algos import minimax
from jaxgames.algos.minimax import WIN, Search
from jaxgames.algos.minimax.step import Packing
from jaxgames.envs.rollout import rollout
from tests.algos.minimax.reference import Reference, solve
from tests.algos.small_games import Dash, Heap, Nim
from tests.envs.othello import Othello

TIC_TAC_TOE, CONNECT_FOUR, CHECKERS = map(jaxgames.make, ("tic_tac_toe", "connect_four", "checkers"))
PLAYED = {"tic_tac_toe": 3, "connect_four": 14, "checkers": 30}
"""Random actions before the positions that are searched."""


@functools.cache
def program(game, depth, **settings):
    """A search, compiled once: positions and words give a result."""
    search = Search(game, depth, **settings)
    return jax.jit(lambda positions, words: search(positions, words))


def search(game, positions, depth, words=None, **settings):
    count = len(jax.tree.leaves(positions)[0])
    words = jnp.zeros(count, jnp.uint32) if words is None else words
    return jax.tree.map(np.asarray, program(game, depth, **settings)(positions, words))


@functools.cache
def random_positions(game, count, seed=0):
    """Positions after random actions; a few of them are over."""

    @jax.jit
    def play(key):
        states = jax.jit(jax.vmap(game.init))(jax.random.split(key, count))
        return rollout(game, states, jax.random.fold_in(key, 1), PLAYED[game.id])[0]._position

    return play(jax.random.key(seed))


def all_tic_tac_toe():
    """Every position that can be reached and goes on: as words, and worth what."""
    known, cells, values = {}, [], []
    solve((0,) * 9, 1, known)
    for (board, player), value in known.items():
        own, other = (sum(1 << place for place in range(9) if board[place] == who) for who in (player, 3 - player))
        cells.append(own | other << 16)
        values.append(value)
    return np.array(cells, np.uint32), np.array(values, np.float32)


@pytest.fixture(scope="module")
def all_searched():
    """Every position of tic-tac-toe that goes on, searched to the end."""
    cells = jnp.asarray(all_tic_tac_toe()[0])
    positions = jax.eval_shape(TIC_TAC_TOE.init_position, jax.random.key(0))._replace(cells=cells)
    return positions, search(TIC_TAC_TOE, positions, 9)


def test_every_position_of_tic_tac_toe_is_solved(all_searched):
    cells, values = all_tic_tac_toe()
    assert len(cells) == 5478 - 958  # all but those that are over
    positions, found = all_searched
    np.testing.assert_array_equal(found.values, values)
    after = jax.jit(jax.vmap(TIC_TAC_TOE.play))(positions, jnp.asarray(found.actions))
    assert bool(jax.vmap(TIC_TAC_TOE.is_legal)(positions, jnp.asarray(found.actions)).all())
    worth = {int(word): value for word, value in zip(cells, values, strict=True)}
    turn_later = [0.0 if over else -worth[int(c)] for c, over in zip(after.position.cells, after.over, strict=True)]
    turn_later = np.where(after.over, np.asarray(after.reward) * WIN, turn_later)
    np.testing.assert_array_equal(turn_later - np.sign(turn_later), values)  # the action has the value


# Larger games are slow to compile; checkers meets the plain reference at the same depth in the quick tier.
@pytest.mark.parametrize(
    ("game", "depth", "different"),
    [(TIC_TAC_TOE, 6, 3), *(pytest.param(game, 4, 5, marks=pytest.mark.slow) for game in (CONNECT_FOUR, CHECKERS))],
)
def test_alpha_beta_finds_what_minimax_finds(game, depth, different):
    positions = random_positions(game, 400)
    full, cut = (search(game, positions, depth, prune=prune) for prune in (False, True))
    np.testing.assert_array_equal(cut.values, full.values)
    np.testing.assert_array_equal(cut.actions, full.actions)
    assert len(np.unique(full.values)) >= different and cut.nodes.sum() * 4 < full.nodes.sum()
    assert not full.alpha_cuts.any() and not full.beta_cuts.any()
    assert cut.alpha_cuts.sum() > 1000 and cut.beta_cuts.sum() > 1000


def test_values_and_choices_are_those_of_the_reference():
    positions = random_positions(CHECKERS, 400)
    found = search(CHECKERS, positions, 4)
    reference, several = Reference(CHECKERS), 0
    for number in range(24):
        if found.actions[number] >= 0:
            position = jax.tree.map(lambda x, n=number: x[n], positions)
            alone = np.asarray(CHECKERS.legal(position)).sum() == 1
            values = reference.values(position, 1 if alone else 4)
            assert found.values[number] == max(values.values())
            assert values[int(found.actions[number])] == found.values[number]
            assert not alone or found.nodes[number] <= 8  # answered at once: one turn, of several jumps perhaps
            several += not alone
    assert 8 < several < 24


def test_a_transposition_table_changes_nothing_but_the_nodes(all_searched):
    positions, without = all_searched
    with_table = search(TIC_TAC_TOE, positions, 9, table=256)
    np.testing.assert_array_equal(with_table.values, without.values)
    np.testing.assert_array_equal(with_table.actions, without.actions)
    assert with_table.nodes.sum() * 1.2 < without.nodes.sum()


def test_results_do_not_depend_on_the_batch():
    """Neither on who else is in it, nor on how many lanes there are."""
    words = jax.random.bits(jax.random.key(3), (400,))
    some = np.random.default_rng(0).permutation(400)
    for game, chosen, lanes in ((CHECKERS, some, {}), (TIC_TAC_TOE, some[:5], {"lanes": 3})):
        positions = random_positions(game, 400)
        together = search(game, positions, 4, words, ties="random")
        apart = jax.tree.map(lambda x, chosen=chosen: x[chosen], positions)
        apart = search(game, apart, 4, words[chosen], ties="random", **lanes)
        np.testing.assert_array_equal(apart.values, together.values[chosen])
        np.testing.assert_array_equal(apart.actions, together.actions[chosen])


def test_a_lane_forgets_the_search_before():
    """One lane searches 20 positions one after the other, and counts for each what it counts where it is the first."""
    positions = jax.tree.map(lambda x: x[:20], random_positions(CONNECT_FOUR, 400))
    together, *later = (
        search(CONNECT_FOUR, jax.tree.map(lambda x, n=number: jnp.roll(x, -n, axis=0), positions), 4, lanes=1)
        for number in range(20)
    )
    for field in ("nodes", "alpha_cuts", "beta_cuts"):
        first = [getattr(one, field)[0] for one in (together, *later)]
        np.testing.assert_array_equal(getattr(together, field), first)


def test_equally_good_actions_are_drawn_evenly():
    one = CHECKERS.parse("W:W21,22,23,K7:B1,2,12")
    positions = jax.tree.map(lambda x: jnp.repeat(x[None], 400), one)
    words = jax.random.bits(jax.random.key(0), (5, 400))
    chosen = [search(CHECKERS, positions, 4, row, ties="random").actions for row in words]
    values = Reference(CHECKERS).values(one, 4)
    best = [action for action, value in values.items() if value == max(values.values())]
    actions, counts = np.unique(chosen, return_counts=True)
    assert actions.tolist() == sorted(best) and 2 < len(best) < len(values)
    expected = 2000 / len(best)
    assert ((counts - expected) ** 2 / expected).sum() < 25  # chi-squared of a few actions
    first = search(CHECKERS, positions, 4).actions
    assert len(np.unique(first)) == 1 and first[0] in best


def pons(data_dir, name):
    """Solved positions: how many stones, the moves, and the value of winning or losing with the last turn's number."""
    for line in (data_dir / "connect_four" / name).read_text().splitlines():
        moves, score = line.split()
        yield len(moves), moves, int(score)


def exact_score(stones, value):
    """Pons' score of a value: by which of one's own stones from the end the game is won or lost."""
    points, turns = minimax.result(jnp.float32(value))
    last = stones + int(turns)  # stones on the board when the game is over
    return int(points) * (22 - (last + 1) // 2)


def check_pons(data_dir, fewest, depth, count=None, **settings):
    chosen = [row for row in pons(data_dir, "Test_L3_R1") if row[0] >= fewest][:count]
    positions = [CONNECT_FOUR.parse(moves) for _, moves, _ in chosen]
    positions = jax.tree.map(lambda *x: jnp.stack(x), *positions)
    found = search(CONNECT_FOUR, positions, depth, forced=False, **settings)
    scores = [exact_score(stones, value) for (stones, _, _), value in zip(chosen, found.values, strict=True)]
    assert scores == [score for _, _, score in chosen]
    return len(scores)


def test_solved_positions_of_connect_four(data_dir):
    assert check_pons(data_dir, fewest=30, depth=12, count=150) == 150


def test_states_that_are_over():
    states = jax.jit(jax.vmap(TIC_TAC_TOE.init))(jax.random.split(jax.random.key(0), 3))
    step = jax.jit(jax.vmap(TIC_TAC_TOE.step))
    for actions in ([0, 0, 0], [3, 3, 3], [1, 1, 1], [4, 4, 4], [2, 8, 8], [5, 5, 6]):
        states = step(states, jnp.array(actions, jnp.int32))
    assert states.terminated.tolist() == [True, True, False]
    found = jax.jit(lambda states: minimax.alphabeta(TIC_TAC_TOE, states, 9))(states)
    assert found.actions[:2].tolist() == [-1, -1] and found.values[:2].tolist() == [0, 0]
    assert found.nodes[:2].tolist() == [0, 0] and found.actions[2] >= 0


def test_a_batch_of_nothing_is_refused():
    states = jax.vmap(TIC_TAC_TOE.init)(jax.random.split(jax.random.key(0), 0))
    for search in (minimax.alphabeta, minimax.minimax):
        with pytest.raises(ValueError, match="^states: a batch of 0: expected one state or more$"):
            search(TIC_TAC_TOE, states, 2)
    with pytest.raises(ValueError, match="^positions: a batch of 0: expected one position or more$"):
        Search(TIC_TAC_TOE, 2)(states._position, jnp.zeros(0, jnp.uint32))


def test_values_that_are_no_numbers_count_as_the_worst():
    def odd(positions):  # NaN wherever the player to act does not hold the first cell
        taken = jax.lax.population_count(positions.cells)
        return jnp.where(positions.cells & 1 == 0, jnp.nan, taken.astype(jnp.float32))

    positions = random_positions(TIC_TAC_TOE, 400)
    words = jnp.zeros(400, jnp.uint32)
    full, cut = (
        jax.jit(lambda p, w, prune=prune: Search(TIC_TAC_TOE, 2, prune=prune)(p, w, odd))(positions, words)
        for prune in (False, True)
    )
    assert np.isfinite(full.values).all() and (np.asarray(full.values) == minimax.LIMIT).any()
    np.testing.assert_array_equal(cut.values, full.values)


def test_a_network_evaluates_the_horizon():
    kernel = np.random.default_rng(0).normal(size=(18,)).astype(np.float32)

    def apply(params, observations):
        return observations.reshape(len(observations), 18) @ params

    value = minimax.network(TIC_TAC_TOE, apply, jnp.asarray(kernel))
    positions = random_positions(TIC_TAC_TOE, 400)
    states = TIC_TAC_TOE.state(positions, jnp.zeros(400, jnp.int32))
    found = jax.jit(lambda states: minimax.alphabeta(TIC_TAC_TOE, states, 2, evaluate=value))(states)

    def one(position):
        seen = TIC_TAC_TOE.observe_position(position, jnp.bool_(True)).astype(jnp.float32)
        return seen.reshape(18) @ kernel

    reference = Reference(TIC_TAC_TOE, one)
    for number in range(5):
        values = reference.values(jax.tree.map(lambda x, n=number: x[n], positions), 2)
        np.testing.assert_allclose(found.values[number], max(values.values()), rtol=1e-5)


def test_positions_of_any_arrays_are_words_and_back():
    game = Othello()
    boards = jax.jit(jax.vmap(game.init_position))(jax.random.split(jax.random.key(0), 2))
    packing = Packing(game)
    words = packing.pack(boards)
    assert len(words) == packing.words == 65 and all(word.dtype == jnp.uint32 for word in words)
    jax.tree.map(np.testing.assert_array_equal, packing.unpack(words), boards)


def test_any_game_can_be_searched():
    heaps = jnp.arange(1, 13, dtype=jnp.int32)
    states = Nim().state(Heap(heaps), jnp.zeros(12, jnp.int32))
    solve_all = jax.jit(lambda states, key: minimax.alphabeta(Nim(), states, 12, key, forced=False))
    found = solve_all(states, jax.random.key(0))
    points, turns = minimax.result(found.values)
    assert points.tolist() == [-1 if heap % 4 == 0 else 1 for heap in range(1, 13)]
    assert turns[:4].tolist() == [1, 1, 1, 2]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Search(CHECKERS, 0), "depth 0: expected a whole number from 1 to 500"),
        (lambda: Search(CHECKERS, 501), "depth 501: expected a whole number from 1 to 500"),
        (lambda: Search(CHECKERS, 2.0), "depth 2.0: expected a whole number from 1 to 500"),
        (lambda: Search(CHECKERS, 2, ties="last"), "ties 'last': expected one of first, random"),
        (lambda: Search(CHECKERS, 2, table=100), "table 100: expected a power of 2, or 0"),
        (lambda: Search(CHECKERS, 2, lanes=0), "lanes 0: expected a whole number from 1 on"),
        (lambda: Search(Dash(), 2), "dash has chance: minimax and alpha-beta search games without"),
        (lambda: minimax.minimax(CHECKERS, CHECKERS.init(jax.random.key(0)), 2), "a batch of shape [n] is needed here"),
    ],
)
def test_bad_settings(make, message):
    with pytest.raises(ValueError) as error:
        make()
    assert message in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("apply", "message"),
    [
        (lambda params, seen: seen, "the network gives [4, 3, 3, 2] for 4 positions: expected one number for each"),
        (lambda params, seen: (seen, seen), "the network gives tuple for 4 positions: expected one number for each"),
        (lambda params, seen: seen @ jnp.ones((5, 1)), "does not take observations float32[4, 3, 3, 2] of tic_tac_toe"),
    ],
)
def test_networks_of_the_wrong_shape(apply, message):
    states = jax.jit(jax.vmap(TIC_TAC_TOE.init))(jax.random.split(jax.random.key(0), 4))
    with pytest.raises(ValueError) as error:
        minimax.alphabeta(TIC_TAC_TOE, states, 2, evaluate=minimax.network(TIC_TAC_TOE, apply, None))
    assert message in str(error.value) and "\n" not in str(error.value)
    with pytest.raises(ValueError, match=r"the evaluation of 4 positions gives float32\[\]: expected float32\[4\]"):
        minimax.alphabeta(TIC_TAC_TOE, states, 2, evaluate=lambda positions: jnp.float32(0))


@pytest.mark.slow
@pytest.mark.parametrize(("game", "depth"), [(TIC_TAC_TOE, 9), (CONNECT_FOUR, 5), (CHECKERS, 5)])
def test_alpha_beta_equals_minimax_on_many_positions(game, depth):
    positions = random_positions(game, 10_000, seed=1)
    full = search(game, positions, depth, prune=False)
    for table in (0, 256):
        cut = search(game, positions, depth, table=table)
        np.testing.assert_array_equal(cut.values, full.values)
        np.testing.assert_array_equal(cut.actions, full.actions)


@pytest.mark.slow
def test_all_late_positions_of_connect_four(data_dir):
    assert check_pons(data_dir, fewest=0, depth=14) == 1000
    assert check_pons(data_dir, fewest=0, depth=14, table=1024) == 1000
    assert check_pons(data_dir, fewest=33, depth=9, prune=False) > 100


@dataclasses.dataclass(frozen=True)
class Misere(Nim):
    """Who takes the last one loses: by the own move."""

    id: ClassVar[str] = "misere_nim"

    def play(self, position, action):
        return super().play(position, action)._replace(reward=jnp.float32(-1))


def test_who_may_lose_by_the_own_move_knows_it():
    """Alpha-beta may not take a loss to the next move for the worst that there is."""

    @functools.cache
    def worth(left, turn):
        after = (turn - WIN if left == k else -worth(left - k, turn + 1) for k in (1, 2, 3) if k <= left)
        return max(after)

    positions = Heap(jnp.arange(1, 13, dtype=jnp.int32))
    expected = [worth(left, 1) for left in range(1, 13)]
    for settings in ({"prune": False}, {}, {"table": 64}):
        found = search(Misere(), positions, 12, forced=False, **settings)
        np.testing.assert_array_equal(found.values, expected)
