"""LowRankES: its candidates, gradient and pairs against NumPy; that it plays as plain networks do, and climbs."""

import chex
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from flax import linen as nn
from jax.sharding import Mesh

import jaxgames
from jaxgames.algos.evolution import Afterstate, Genomes, LowRankES, Outputs, RandomMoves
from jaxgames.algos.evolution.candidates import Matrix, Parameters, linen_apply
from jaxgames.algos.evolution.noise import noise
from jaxgames.algos.evolution.play import play
from jaxgames.nets import MLP, PolicyValueNet

NETWORKS = Genomes(MLP((5, 4), "relu", "identity"), inputs=6)
PLAIN = Genomes(MLP((5, 4), "relu", "identity", biases=False), inputs=6)


def plain_noise(es, state, pairs):
    """The noise e of each pair as a row, from its definition, in NumPy."""
    key, network = jax.random.fold_in(state.key, state.generation), es.networks.network
    rows = []
    every = jax.jit(noise, static_argnums=2)(key, jnp.asarray(pairs, jnp.int32), es.noise_numbers)
    for drawn in np.asarray(every, np.float64):
        drawn, row = list(drawn), []
        for outputs, inputs in es.networks.shapes:
            left = np.array([drawn.pop(0) for _ in range(es.rank * outputs)]).reshape(es.rank, outputs)
            right = np.array([drawn.pop(0) for _ in range(es.rank * inputs)]).reshape(es.rank, inputs)
            kernel = sum(np.outer(a, b) for a, b in zip(left, right, strict=True)) / np.sqrt(es.rank)
            row += [*kernel.ravel(), *(drawn.pop(0) for _ in range(outputs * network.biases))]
        assert not drawn
        rows.append(row)
    return np.array(rows)


@pytest.mark.parametrize(("genomes", "rank"), [(NETWORKS, 1), (NETWORKS, 4), (PLAIN, 2)])
def test_candidates_and_gradient_are_the_equations(genomes, rank):
    es = LowRankES(40, genomes, rank=rank, sigma=0.1, optimizer=optax.sgd(0.5), weight_decay=0.01)
    mean = jnp.linspace(-1.0, 1.0, genomes.dimension)
    state = es.start(jax.random.key(1), mean)._replace(generation=jnp.int32(3))
    e, mean = plain_noise(es, state, np.arange(20)), np.asarray(mean, np.float64)
    rows = np.asarray(jax.jit(lambda state: es.ask(state, jnp.arange(40)).rows())(state), np.float64)
    np.testing.assert_allclose(rows[::2], mean + 0.1 * e, atol=1e-5)
    np.testing.assert_allclose(rows[1::2], mean - 0.1 * e, atol=1e-5)
    scores = np.random.default_rng(0).integers(0, 9, 40).astype(np.float32)
    shaped = np.array([((scores < s).sum() + ((scores == s).sum() - 1) / 2) / 39 - 0.5 for s in scores])
    gradient = ((shaped[::2] - shaped[1::2])[:, None] * e).sum(0) / (40 * 0.1)
    told = jax.jit(es.tell)(state, scores)
    np.testing.assert_allclose(told.mean, mean + 0.5 * (gradient - 0.01 * mean), atol=1e-4)
    two = LowRankES(40, genomes, rank=rank, sigma=0.1, mesh=Mesh(jax.devices()[:2], ("population",)))
    np.testing.assert_allclose(jax.jit(two.gradient)(state, scores), gradient, atol=1e-4)


def test_candidates_do_not_depend_on_their_block_and_are_mirrored():
    es = LowRankES(64, NETWORKS, rank=2)
    state = es.init(jax.random.key(2))
    ask = jax.jit(lambda numbers: es.ask(state, numbers).rows())
    numbers = np.random.default_rng(1).permutation(64)[:16].astype(np.int32)
    steps = np.asarray(ask(numbers))
    np.testing.assert_array_equal(np.asarray(ask(numbers ^ 1)), -steps)  # the mean is 0
    np.testing.assert_array_equal(np.asarray(ask(numbers[::-1].copy())), steps[::-1])
    told = es.tell(state, jnp.zeros(64))
    assert abs(np.asarray(es.ask(told, numbers).rows()) - steps).max() > 0.01  # new noise


def test_each_weight_has_variance_one_and_weights_are_uncorrelated():
    es = LowRankES(2**15, NETWORKS, rank=1, sigma=1.0)
    ask = jax.jit(lambda key: es.ask(es.init(key), jnp.arange(0, 2**15, 2)).rows())
    e = np.asarray(ask(jax.random.key(3)), np.float64)
    covariance = e.T @ e / len(e)
    # A product of two normal numbers has kurtosis 9, so a variance deviates by sqrt(8 / n).
    assert abs(covariance - np.eye(es.dimension)).max() < 5 * np.sqrt(8 / len(e))


@pytest.mark.parametrize("rank", [1, 4])
def test_the_gradient_of_a_quadratic_comes_near_the_exact_one(rank):
    """The error falls as one over the root of the population, from the exact gradient."""
    errors = []
    curvature = jnp.linspace(0.5, 2.0, NETWORKS.dimension)
    for population in (2**11, 2**15):
        es = LowRankES(population, NETWORKS, rank=rank, sigma=0.3, shaping="raw")
        state = es.start(jax.random.key(0), jnp.linspace(-1.0, 1.0, NETWORKS.dimension))
        exact = -curvature * (state.mean - 1.0)

        @jax.jit
        def estimate(state, es=es):
            x = es.ask(state, jnp.arange(es.population)).rows()
            return es.gradient(state, -0.5 * (x - 1.0) ** 2 @ curvature)

        errors.append(float(jnp.linalg.norm(estimate(state) - exact) / jnp.linalg.norm(exact)))
    assert errors[1] < 0.1 and 2.5 < errors[0] / errors[1] < 6.5  # 4 is expected


def policy_of(kind, hidden):
    if kind == "outputs":
        return Outputs(jaxgames.make("tic_tac_toe"), Genomes(MLP((hidden, 9), "relu", "identity"), 9), "cells")
    game = jaxgames.make("connect_four", rows=4, cols=4, connect=3)
    return Afterstate(game, Genomes(MLP((hidden, 1), "relu", "identity"), 16), "cells")


@pytest.mark.parametrize(
    ("kind", "opponents", "hidden", "sides"),
    [
        ("outputs", 1, 8, "both"),  # few games: as columns
        pytest.param("outputs", 3, 8, "alternate", marks=pytest.mark.slow),
        ("outputs", 9, 80, "first"),  # a large network: noise on the shared one
        ("afterstate", 2, 8, "first"),
    ],
)
def test_they_play_as_their_rows_do(kind, opponents, hidden, sides):
    """Candidates as noise on a shared network, and few games as columns, against many games as rows."""
    policy, numbers, count = policy_of(kind, hidden), jnp.arange(12), 17
    es = LowRankES(12, policy.genomes, sigma=0.5)
    first = policy.genomes.init(jax.random.key(1), jnp.ones(1, jnp.int32))[0]
    candidates = jax.jit(es.ask)(es.start(jax.random.key(0), first), numbers)
    rows = jax.jit(lambda candidates: candidates.rows())(candidates)

    def points(form, opponents, sides):
        function = jax.jit(lambda form: play(policy, form, RandomMoves(opponents), jax.random.key(4), numbers, sides))
        return np.asarray(function(form).points)

    found = points(candidates, opponents, sides)
    np.testing.assert_array_equal(found, points(rows, opponents, sides))
    if sides == "first":  # the luck of an opponent does not depend on how many there are
        np.testing.assert_array_equal(found, points(rows, count, sides)[:, :opponents])
    assert len(np.unique(found)) > 1


class Tower(nn.Module):
    @nn.compact
    def __call__(self, x):
        y = nn.relu(nn.Conv(3, (3, 3), name="conv")(x))
        y = nn.LayerNorm(name="norm")(y.reshape(len(x), -1))
        return nn.Dense(2, name="dense")(y)


def plain(params, x):
    """In plain JAX, with a matrix from either side."""
    return (params["w2"] @ jnp.tanh(x @ params["w1"] + params["b"][None]).T).T


@pytest.mark.parametrize("rank", [1, 2])
@pytest.mark.parametrize("of", ["linen", "plain"])
def test_any_network_computes_what_its_rows_do(of, rank):
    key, x = jax.random.key(0), jax.random.normal(jax.random.key(1), (3, 4, 5, 2))
    if of == "linen":
        params, apply, candidate_apply = Tower().init(key, x), Tower().apply, linen_apply(Tower())
    else:
        x = x.reshape(3, 40)
        sizes = {"w1": (40, 6), "b": (6,), "w2": (4, 6)}
        params = {name: jax.random.normal(jax.random.fold_in(key, i), s) for i, (name, s) in enumerate(sizes.items())}
        apply = candidate_apply = plain
    layout = Parameters.of(params)
    chex.assert_trees_all_equal(layout.params(layout.row(params)), params)
    es = LowRankES(6, layout, rank=rank, sigma=0.3)
    state = es.start(key, layout.row(params))
    candidates = jax.jit(es.ask)(state, jnp.arange(6))

    @jax.jit
    def outputs(candidates):
        plain = jnp.stack([apply(layout.params(row), x) for row in candidates.rows()])
        more = candidates.each(lambda params, y: candidate_apply(params, x).sum() + y, jnp.arange(6.0))
        return candidates.each(lambda params: candidate_apply(params, x)), plain, more

    found, expected, more = outputs(candidates)
    np.testing.assert_allclose(found, expected, atol=1e-5)
    assert np.asarray(found).std(axis=0).min() > 0.01  # candidates differ
    np.testing.assert_allclose(more, np.asarray(found).sum(axis=(1, 2)) + np.arange(6), atol=1e-4)


def candidates_of(params, rank=1):
    """Four candidates near these parameters, and their layout."""
    layout = Parameters.of(params)
    es = LowRankES(4, layout, rank=rank, sigma=0.3)
    return es.ask(es.start(jax.random.key(0), layout.row(params)), jnp.arange(4)), layout


def one_layer(layer, x, rank=1):
    """The outputs of four candidates by `linen_apply`, and by their rows."""
    candidates, layout = candidates_of(layer.init(jax.random.key(2), x), rank)
    apply = linen_apply(layer)
    found = candidates.each(lambda params: apply(params, x))
    return found, jax.vmap(lambda row: layer.apply(layout.params(row), x))(candidates.rows())


PLANES = np.random.default_rng(5).normal(size=(2, 3, 3, 4)).astype(np.float32)


@pytest.mark.parametrize("rank", [1, 2])
def test_groups_of_channels_see_their_own_planes(rank):
    found, expected = one_layer(nn.Conv(6, (2, 2), feature_group_count=2), PLANES, rank)
    np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize("layer", [nn.Dense(3, dtype=jnp.bfloat16), nn.Conv(3, (2, 2), dtype=jnp.bfloat16)])
def test_a_layer_computes_in_its_own_dtype(layer):
    found, expected = one_layer(layer, PLANES)
    assert found.dtype == expected.dtype == jnp.bfloat16
    np.testing.assert_allclose(found.astype(jnp.float32), expected.astype(jnp.float32), atol=0.2)


@pytest.mark.parametrize(
    ("layer", "error"),
    [
        (nn.Conv(3, (2, 2), mask=np.ones((2, 2, 4, 3))), "a Conv with a mask"),
        (nn.ConvTranspose(3, (2, 2)), "ConvTranspose has a matrix; expected matrices in Dense and Conv alone"),
        (nn.MultiHeadDotProductAttention(2), "DenseGeneral has a matrix"),
        (PolicyValueNet(3, (4,), window=2, channels=2), "Windows has a matrix"),
    ],
)
def test_layers_without_noise_of_low_rank_are_refused(layer, error):
    with pytest.raises((TypeError, ValueError), match=error):
        jax.eval_shape(lambda: one_layer(layer, PLANES))


def test_arrays_of_numpy_and_leaves_without_numbers():
    params = {"w": jnp.ones((3, 2), jnp.float32), "none": jnp.zeros((0,), jnp.float32), "s": jnp.float32(2)}
    candidates, layout = candidates_of(params)
    x = np.arange(3, dtype=np.float32)
    found = candidates.each(lambda params: x @ params["w"] * params["s"] + params["none"].size)
    expected = jax.vmap(lambda row: x @ layout.params(row)["w"] * layout.params(row)["s"])(candidates.rows())
    np.testing.assert_allclose(found, expected, atol=1e-5)
    with pytest.raises(ValueError, match="the parameters have no numbers"):
        Parameters.of({})


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"rank": 5}, "rank=5: expected 1 to 4 for matrices of 5 x 6, 4 x 5"),
        ({"rank": 0}, "rank=0"),
        ({"population": 7}, "of pairs"),
        ({"sigma": 0.0}, "sigma=0.0"),
        ({"networks": Parameters.of({"b": np.zeros(3, np.float32)})}, "no matrix"),
    ],
)
def test_wrong_settings_are_refused(change, error):
    with pytest.raises(ValueError, match=error):
        LowRankES(**{"population": 8, "networks": NETWORKS, **change})


def test_networks_of_another_kind_are_refused():
    with pytest.raises(TypeError, match=r"expected evolution\.Genomes"):
        LowRankES(8, 693)
    with pytest.raises(TypeError, match="expected float32"):
        Parameters.of({"w": np.zeros((2, 2), np.int32)})


def test_a_matrix_on_either_side():
    random = np.random.default_rng(0)
    shared, left, right, x, y = (random.normal(size=s).astype(np.float32) for s in ((4, 6), (2, 4), (2, 6), 6, 4))
    matrix, whole = Matrix(shared, left, right), shared + left.T @ right
    for found, expected in ((matrix @ x, whole @ x), (y @ matrix, y @ whole), (matrix.T @ y, whole.T @ y)):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)
