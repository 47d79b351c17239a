"""Bit sets, random bits, values computed once, batches of pytrees."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames.ops import bits, pytrees
from jaxgames.ops.materialize import materialize
from jaxgames.ops.random_bits import fold_in, random_bits

TIC_TAC_TOE = jaxgames.make("tic_tac_toe")


@pytest.mark.parametrize("key", [jax.random.key(3), jax.random.PRNGKey(3)], ids=["typed", "legacy"])
def test_random_bits_are_uniform_and_independent(key):
    words = np.asarray(random_bits(key, (64, 1024)))
    assert words.dtype == np.uint32 and len(np.unique(words)) == words.size
    flags = (words.ravel()[:, None] >> np.arange(32, dtype=np.uint32)) & 1
    assert np.abs(flags.mean(axis=0) - 0.5).max() < 5 * 0.5 / words.size**0.5
    correlations = np.corrcoef(flags.T) - np.eye(32)
    assert np.abs(correlations).max() < 6 / words.size**0.5
    neighbours = np.corrcoef(words.ravel()[:-1].astype(float), words.ravel()[1:].astype(float))[0, 1]
    assert abs(neighbours) < 5 / words.size**0.5


def test_random_bits_of_split_keys_differ():
    one, other = (np.asarray(random_bits(key, (20_000,))) for key in jax.random.split(jax.random.key(0)))
    equal = np.unpackbits((one ^ other).view(np.uint8)).mean()
    assert abs(equal - 0.5) < 5 * 0.5 / (32 * one.size) ** 0.5
    assert (one == random_bits(jax.random.split(jax.random.key(0))[0], (20_000,))).all()


def test_bounded_numbers_are_all_as_likely():
    words = random_bits(jax.random.key(1), (70_000,))
    for number in (1, 2, 7, 48, 65_535):
        found = np.asarray(bits.bounded(words, jnp.uint32(number)))
        exact = (np.asarray(words).astype(np.uint64) * number) >> 32
        assert (found == exact).all()


@pytest.mark.parametrize(
    "draw",
    [
        lambda words: bits.bounded(words, 6),
        lambda words: fold_in(words, 1),
        lambda words: jaxgames.make("backgammon").draw_outcome(words),
        lambda words: TIC_TAC_TOE.draw_action(TIC_TAC_TOE.init_position(jax.random.key(0)), words),
    ],
)
def test_bits_of_another_width_are_refused(draw):
    """With x64 on JAX draws 64 bits unless it is told otherwise: all games of backgammon would begin with one roll."""
    for words, error in ((np.uint64(2**40), ValueError), (np.int32(7), ValueError), (7, TypeError)):
        with pytest.raises(error, match=r"^bits .*: expected uint32, as jax.random.bits\(key, dtype=jnp"):
            draw(words)


def test_every_set_bit_has_its_rank():
    sets = jnp.asarray(np.array([0b1, 0b1010, 0x80000001, 0xFFFFFFFF, 0x00F00000], np.uint32))
    ranks = bits.bounded(random_bits(jax.random.key(2), (5, 4000)), jax.lax.population_count(sets)[:, None])
    drawn = np.asarray(bits.nth_set(jnp.broadcast_to(sets[:, None], ranks.shape), ranks))
    for word, row in zip(np.asarray(sets).tolist(), drawn, strict=True):
        members = [place for place in range(32) if word >> place & 1]
        counts = np.bincount(row, minlength=32)
        assert set(np.flatnonzero(counts)) == set(members)
        assert np.abs(counts[members] - 4000 / len(members)).max() < 5 * (4000 / len(members)) ** 0.5 + 1


def test_unpack_keeps_the_order_of_the_places():
    words = [jnp.asarray(np.array([word], np.uint32)) for word in (0b0110, 1 << 31)]
    shown = bits.unpack(words, np.array([31, 1, 32, 0, 2]))
    assert shown.shape == (10,)
    assert shown.reshape(5, 2).tolist() == [[False, True], [True, False], [False, False], [False, False], [True, False]]


def test_materialize_keeps_the_value():
    extremes = np.array([0, 1, 2**16, 2**24 + 1, 2**31 - 1, 2**31, 2**32 - 1], np.uint32)
    for like in (extremes, extremes.view(np.int32)):
        assert (materialize(extremes, like) == extremes).all()
        assert (materialize(extremes, like, barrier=True) == extremes).all()
        assert (materialize(extremes.view(np.int32), like) == extremes.view(np.int32)).all()
        assert (materialize(extremes > 5, like) == (extremes > 5)).all()
        numbers = np.array([0, -1, 0.1, 1e30, np.inf, -np.inf, 3], np.float32)
        assert (materialize(numbers, like) == numbers).all()
    assert np.isnan(materialize(np.array([np.nan], np.float32), np.array([0], np.int32))).all()


@pytest.mark.skipif(jax.default_backend() != "cpu", reason="it is about XLA:CPU")
def test_xla_computes_a_materialized_value_once():
    def multiplications(keep):
        def outputs(x):
            shared = x
            for factor in (3, 5, 7, 11):
                shared = (shared ^ (shared >> 7)) * np.uint32(factor)
            shared = keep(shared, x)
            return [shared ^ np.uint32(k) for k in range(8)], (shared[:, None] & np.ones(64, np.uint32)[None]) != 0

        text = jax.jit(outputs).lower(jnp.zeros(128, jnp.uint32)).compile().as_text()
        return len(re.findall(r"= u32\[[\d,]*\]\S* multiply\(", text))

    assert multiplications(materialize) == 4
    assert multiplications(lambda value, like: value) > 4  # else XLA has learnt it, and `materialize` may go


def test_unique_rows_number_the_kinds_of_rows():
    rng = np.random.default_rng(0)
    tree = (rng.integers(0, 3, 500), rng.integers(0, 2, (500, 2, 2)).astype(bool), np.zeros(500))
    first, kind = pytrees.unique_rows(tree)
    rows = [tuple(np.concatenate([np.ravel(leaf[number]) for leaf in tree]).tolist()) for number in range(500)]
    assert sorted(rows[number] for number in first) == sorted(set(rows))
    assert [rows[first[number]] for number in kind] == rows


def test_select_takes_whole_rows_at_any_batch_rank():
    one, other = (np.zeros((2, 3)), np.zeros((2, 3, 4))), (np.ones((2, 3)), np.ones((2, 3, 4)))
    condition = np.array([[True, False, True], [False, False, True]])
    for tree in (pytrees.select(condition, one, other), jax.vmap(pytrees.select)(jnp.asarray(condition), one, other)):
        assert (np.asarray(tree[0]) == ~condition).all()
        assert (np.asarray(tree[1]) == ~condition[..., None]).all()
    assert pytrees.equal(one, other).tolist() == [False, False] and pytrees.equal(one, one).all()
    assert isinstance(pytrees.equal(one, other), np.ndarray), "JAX would compile a program for every size"
    assert jax.jit(pytrees.equal)(one, other).tolist() == [False, False]
