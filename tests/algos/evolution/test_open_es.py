"""OpenES: its gradient on a quadratic, its pairs, its memory and speed of learning."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from jax.sharding import Mesh

from jaxgames.algos.evolution.noise import noise
from jaxgames.algos.evolution.ranking import SHAPINGS, ascending, centered_ranks, ranks, raw
from jaxgames.algos.evolution.strategies.low_rank import LowRankConfig
from jaxgames.algos.evolution.strategies.open_es import OpenES, OpenESConfig

CURVATURE = np.linspace(0.5, 2.0, 20).astype(np.float32)


def quadratic(x):
    """Higher is better; the best is 1 everywhere."""
    return -0.5 * (x - 1.0) ** 2 @ jnp.asarray(CURVATURE)


@pytest.fixture(scope="module")
def big():
    return OpenES(65536, 693, optimizer=optax.adam(0.01))


def test_gradient_of_a_quadratic_is_the_analytic_one():
    """E[s(m + sigma e) e] / sigma is the gradient itself on a quadratic, whatever sigma is."""
    es = OpenES(2**17, CURVATURE.size, sigma=0.3, shaping="raw")
    state = es.start(jax.random.key(0), jnp.linspace(-1.0, 1.0, CURVATURE.size))
    analytic = -CURVATURE * (np.asarray(state.mean) - 1.0)

    @jax.jit
    def estimate(state):
        return es.gradient(state, quadratic(es.ask(state, jnp.arange(es.population))))

    # The pairs' differences are 2 sigma e'g: deviation of the estimate sqrt((g_j^2 + |g|^2) / pairs).
    deviation = np.sqrt((analytic**2 + (analytic**2).sum()) / (es.population / 2))
    assert np.all(abs(np.asarray(estimate(state)) - analytic) < 4 * deviation)


def test_tell_is_the_equation():
    """Against NumPy: ranks, pairs, weight decay and the optimizer's step."""
    es = OpenES(64, 10, sigma=0.1, optimizer=optax.sgd(0.5), weight_decay=0.01)
    state, ask = es.start(jax.random.key(1), jnp.linspace(-1.0, 1.0, 10)), jax.jit(es.ask)
    state = state._replace(generation=jnp.int32(3))
    scores = np.random.default_rng(0).integers(0, 20, 64).astype(np.float32)
    genomes = np.asarray(ask(state, np.arange(64)), np.float64)
    mean = np.asarray(state.mean, np.float64)
    shaped = np.array([((scores < s).sum() + ((scores == s).sum() - 1) / 2) / 63 - 0.5 for s in scores])
    gradient = (shaped[:, None] * (genomes - mean) / 0.1).sum(0) / (64 * 0.1)
    told = jax.jit(es.tell)(state, scores)
    np.testing.assert_allclose(told.mean, mean + 0.5 * (gradient - 0.01 * mean), atol=1e-5)
    assert int(told.generation) == 4
    steps = np.asarray(ask(told, np.arange(64))) - np.asarray(told.mean)
    assert abs(steps - (genomes - mean)).min() > 1e-6  # new noise


def test_pairs_are_mirrored_exactly_in_any_block(big):
    state = big.init(jax.random.key(2))
    ask = jax.jit(big.ask)
    numbers = np.random.default_rng(1).permutation(big.population)[:400].astype(np.int32)
    steps = np.asarray(ask(state, jnp.asarray(numbers)))  # the mean is 0
    np.testing.assert_array_equal(np.asarray(ask(state, jnp.asarray(numbers ^ 1))), -steps)
    alone = np.concatenate([np.asarray(ask(state, jnp.asarray(part))) for part in np.split(numbers, 4)])
    np.testing.assert_array_equal(alone, steps)
    key = jax.random.fold_in(state.key, state.generation)
    sign = np.where(numbers % 2, -1, 1)[:, None]
    of_pair = np.asarray(jax.jit(noise, static_argnums=2)(key, numbers // 2, 693))
    np.testing.assert_allclose(steps, sign * of_pair * np.float32(0.05), rtol=1e-6)


@pytest.mark.parametrize("shaping", SHAPINGS)
def test_gradient_over_devices_is_the_same(shaping):
    """The 1,501 pairs are no whole number for each of two devices."""
    scores = jnp.round(4 * jax.random.normal(jax.random.key(4), (3002,))).at[::100].set(jnp.nan)
    meshes = None, Mesh(jax.devices()[:2], ("population",))
    one, two = (OpenES(3002, 50, shaping=shaping, mesh=mesh) for mesh in meshes)
    state = one.init(jax.random.key(3))
    np.testing.assert_allclose(jax.jit(two.gradient)(state, scores), jax.jit(one.gradient)(state, scores), atol=1e-5)


def test_memory_of_a_big_population_is_that_of_a_few_networks(big):
    """Peak beside the state and the scores: at most three blocks of 256 networks and the mean."""
    state = jax.eval_shape(big.init, jax.random.key(0))
    scores = jax.ShapeDtypeStruct((big.population,), jnp.float32)
    memory = jax.jit(big.tell).lower(state, scores).compile().memory_analysis()
    network = 4 * big.dimension
    assert memory.temp_size_in_bytes <= 3 * 256 * network + network


def test_it_climbs():
    es = OpenES(64, CURVATURE.size, sigma=0.1, optimizer=optax.adam(0.05))

    @jax.jit
    def run(state):
        def step(state, _):
            return es.tell(state, quadratic(es.ask(state, jnp.arange(es.population)))), None

        return jax.lax.scan(step, state, length=200)[0]

    assert float(quadratic(es.champion(run(es.init(jax.random.key(0)))))) > -0.01 > float(quadratic(jnp.zeros(20)))


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"population": 5}, "of pairs"),
        ({"sigma": 0.0}, "sigma=0.0"),
        ({"sigma": 1e-46}, "sigma=1e-46: expected a number that float32 holds"),
        ({"sigma": np.inf}, "sigma=inf: expected a number that float32 holds"),
        ({"weight_decay": np.inf}, "weight_decay=inf: expected a finite number from 0"),
        ({"weight_decay": -1.0}, "weight_decay=-1.0: expected a finite number from 0"),
        ({"dimension": 0}, "dimension 0: expected a whole number from 1 on"),
        ({"shaping": "rank"}, "available: centered_ranks"),
        (
            {"mesh": jax.make_mesh((1,), ("population",), (jax.sharding.AxisType.Explicit,))},
            r"the mesh's axis is Explicit, not Auto: expected evolution\.population_mesh\(\)",
        ),
    ],
)
def test_wrong_settings_are_refused(settings, error):
    with pytest.raises(ValueError, match=error):
        OpenES(**{"population": 4, "dimension": 3, **settings})


def test_a_mean_of_another_size_or_kind():
    es = OpenES(4, 3)
    with pytest.raises(ValueError, match=r"mean float32\[4\]: expected float32\[3\]"):
        es.start(jax.random.key(0), jnp.zeros(4))
    state = es.start(jax.random.key(0), jnp.zeros(3, jnp.bfloat16))
    assert state.mean.dtype == es.tell(state, jnp.arange(4.0)).mean.dtype == jnp.float32


def reference_ranks(scores):
    scores = np.where(np.isnan(scores), -np.inf, scores)
    return (scores[None] < scores[:, None]).sum(1) + ((scores[None] == scores[:, None]).sum(1) - 1) / 2


@pytest.mark.parametrize("size", [1, 2, 300])
def test_ranks_share_ties_and_put_nan_last(size):
    rng = np.random.default_rng(size)
    scores = np.round(rng.normal(size=size) * 10).astype(np.float32)
    scores[rng.integers(0, size, size // 3)] = rng.choice([np.nan, -0.0, np.inf, -np.inf, 1e-30], size // 3)
    shaped = np.asarray(jax.jit(ranks)(scores))
    np.testing.assert_array_equal(shaped, reference_ranks(scores))
    np.testing.assert_allclose(jax.jit(centered_ranks)(scores), shaped / max(1, size - 1) - 0.5, atol=1e-6)


@pytest.mark.parametrize("dtype", [jnp.bfloat16, jnp.float16, jnp.int32])
def test_scores_of_another_dtype(dtype):
    scores = jnp.asarray([3, -1, 3, 7], dtype)
    np.testing.assert_array_equal(ranks(scores), [1.5, 0, 1.5, 3])
    np.testing.assert_array_equal(ascending(scores), [1, 0, 2, 3])


@pytest.mark.parametrize("shape", SHAPINGS.values(), ids=SHAPINGS)
def test_some_are_shaped_as_all(shape):
    scores = jnp.round(4 * jax.random.normal(jax.random.key(5), (300,))).at[::20].set(jnp.inf).at[7].set(jnp.nan)
    np.testing.assert_array_equal(jax.jit(shape)(scores[::3], scores), jax.jit(shape)(scores)[::3])


def test_raw_keeps_wrong_scores_out():
    scores = jnp.array([1.0, jnp.nan, 3.0, jnp.inf, -jnp.inf, 3.0])
    np.testing.assert_array_equal(raw(scores), [1, 1, 3, 3, 1, 3])
    np.testing.assert_array_equal(raw(jnp.full(3, jnp.nan)), [0, 0, 0])


@pytest.mark.parametrize("settings", [OpenESConfig, LowRankConfig])
@pytest.mark.parametrize(("first", "last"), [(0.5, 0.005), (0.01, 0.04), (1e-9, 0.01)])
def test_step_sizes_go_from_the_first_to_the_last(settings, first, last):
    """Where the gradient stays the same, a step of Adam is its step size."""
    adam = settings(step_size=first, last_step_size=last, generations=4).adam
    state, steps = adam.init(jnp.float32(0)), []
    with jax.numpy_dtype_promotion("standard"):  # optax's own
        for _ in range(5):
            step, state = adam.update(jnp.float32(-1), state)
            steps.append(float(step))
    np.testing.assert_allclose(steps, np.geomspace(first, last, 5), rtol=1e-4)
