"""Batches as words: what goes in comes out, bit for bit."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgames.ops.packing import pack, scan, unpack

BATCH = 5
DTYPES = (bool, "uint8", "int8", "int16", "uint16", "int32", "uint32", "float16", "bfloat16", "float32")


def batch_of(dtype, shape):
    bits = np.random.default_rng(0).bytes(8 * BATCH * int(np.prod(shape)))
    if dtype is bool:
        return jnp.array(np.frombuffer(bits, np.uint8)[: BATCH * int(np.prod(shape))].reshape(BATCH, *shape) > 127)
    size = jnp.dtype(dtype).itemsize
    numbers = np.frombuffer(bits[: size * BATCH * int(np.prod(shape))], f"u{size}").reshape(BATCH, *shape)
    return jnp.array(numbers.view(jnp.dtype(dtype)))


def same_bits(one, other):
    assert (one.dtype, one.shape) == (other.dtype, other.shape)
    np.testing.assert_array_equal(np.asarray(one).view(np.uint8), np.asarray(other).view(np.uint8))


@pytest.mark.parametrize("shape", [(), (3,), (2, 3)], ids=str)
def test_all_dtypes_come_back(shape):
    tree = {str(dtype): batch_of(dtype, shape) for dtype in DTYPES}
    words = jax.jit(pack)(tree)
    assert words.dtype == jnp.uint32 and words.shape == (len(DTYPES) * int(np.prod(shape)), BATCH)
    jax.tree.map(same_bits, jax.jit(unpack)(words, tree), tree)


def test_numbers_of_64_bits_take_two_words():
    with jax.enable_x64(True):
        tree = [batch_of(dtype, (3,)) for dtype in ("int64", "float64", "uint64")]
        words = pack(tree)
        assert words.shape == (18, BATCH)
        jax.tree.map(same_bits, unpack(words, tree), tree)


def test_steps_in_front_and_keys():
    tree = (jax.random.split(jax.random.key(0), BATCH), batch_of("float32", (2,)))
    words = pack(tree)
    keys, numbers = unpack(jnp.stack([words, words]), tree)
    assert keys.shape == (2, BATCH) and keys.dtype == tree[0].dtype
    for step in range(2):
        np.testing.assert_array_equal(jax.random.key_data(keys[step]), jax.random.key_data(tree[0]))
        same_bits(numbers[step], tree[1])


def test_complex_numbers_have_no_such_form():
    with pytest.raises(TypeError, match="complex64: expected bool, whole numbers, floats or keys"):
        pack([jnp.zeros((2, 3), jnp.complex64)])


def test_a_scan_in_words_gives_what_a_scan_in_arrays_gives(monkeypatch):
    """And traces its step once for both."""
    traced = []

    def step(carry, key):
        traced.append(1)
        total, flags = carry
        total = total + jax.random.normal(key, total.shape)
        return (total, flags ^ (total[:, 0] > 0)), {"half": total.astype(jnp.float16), "flags": flags}

    def both(key):
        given = (jnp.zeros((BATCH, 2)), jnp.zeros(BATCH, bool)), jax.random.split(key, 4)
        found = []
        choose = lambda *given, cpu, default: found.extend([cpu(*given), default(*given)]) or found[0]  # noqa: E731
        with monkeypatch.context() as patched:
            patched.setattr(jax.lax, "platform_dependent", choose)
            scan(step, *given)
        return found

    arrays, words = jax.jit(both)(jax.random.key(0))
    assert len(traced) == 1 and arrays[1]["half"].shape == (4, BATCH, 2) and arrays[1]["flags"].any()
    jax.tree.map(same_bits, words, arrays)
