"""MAP-Elites against a plain archive, a cell after the other; its children, and that it fills an archive."""

import functools
import types

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgames.algos.evolution import MapElites, evaluate, operators
from jaxgames.algos.evolution.evolution import Evolution
from jaxgames.algos.evolution.fitness import ByPlay
from jaxgames.algos.evolution.play import Details, Results
from jaxgames.algos.evolution.saved import NetworkConfig
from jaxgames.algos.evolution.strategies import population
from jaxgames.algos.evolution.strategies.map_elites import MapElitesConfig

LOW, HIGH = (0.0, -1.0), (1.0, 1.0)


def first(key, numbers):
    """Genomes near the middle."""
    return 0.3 + 0.1 * jax.vmap(lambda n: jax.random.normal(jax.random.fold_in(key, n), (5,), jnp.float32))(numbers)


ELITES = MapElites(64, 5, first, LOW, HIGH, 4, operators.IsoLine(0.2))


def test_the_first_candidates_pass_jaxs_check_of_keys():
    """As `evaluate` asks for them, block by block."""
    state = jax.jit(ELITES.init)(jax.random.key(0))
    blocks = jnp.arange(8, dtype=jnp.int32).reshape(2, 4)
    with jax.debug_key_reuse(True):
        found = jax.jit(lambda state: jax.lax.map(lambda numbers: ELITES.ask(state, numbers), blocks))(state)
    np.testing.assert_array_equal(found.reshape(8, 5), jax.jit(first)(state.key, blocks.ravel()))


def plain_place(descriptor):
    """The row and column of a cell."""
    parts = [int(np.floor(4 * (x - low) / (high - low))) for x, low, high in zip(descriptor, LOW, HIGH, strict=True)]
    row, column = (min(max(part, 0), 3) for part in parts)
    return 4 * row + column


def test_an_archive_against_plain_python():
    """Three generations with equal scores, numbers outside the ranges and NaN: the best of each cell, of equals the
    first, and who is there already stays.
    """
    random, archive = np.random.default_rng(0), {}
    state = ELITES.init(jax.random.key(0))
    add = jax.jit(ELITES.add)
    for _ in range(3):
        genomes = random.normal(size=(64, 5)).astype(np.float32)
        scores = random.integers(0, 6, 64).astype(np.float32)
        descriptors = random.uniform(-0.2, 1.2, (64, 2)).astype(np.float32)
        scores[5], descriptors[6, 1], scores[7] = np.nan, np.nan, -np.inf
        for i in range(64):
            if i in (5, 6, 7):
                continue
            place = plain_place(descriptors[i])
            if place not in archive or scores[i] > archive[place][0]:
                archive[place] = scores[i], genomes[i], descriptors[i]
        state = add(state, genomes, scores, descriptors)
        assert np.flatnonzero(ELITES.filled(state)).tolist() == sorted(archive)
        for place, (score, genome, descriptor) in archive.items():
            assert state.scores[place] == score
            np.testing.assert_array_equal(state.genomes[place], genome)
            np.testing.assert_array_equal(state.descriptors[place], descriptor)
    found = ELITES.metrics(state)
    assert found["filled_cells"] == len(archive)
    assert found["qd_score"] == sum(score for score, _, _ in archive.values())
    best = int(np.argmax(state.scores))
    np.testing.assert_array_equal(ELITES.champion(state), archive[best][1])


def test_children_are_elites_moved_by_noise_and_along_a_line():
    """By NumPy, of parents that are drawn with equal chances; the same ones in any block."""
    parents = [np.full((4_000, 3), value, np.float32) for value in (0, 10)]
    bits = jax.jit(operators.candidate_bits)(jax.random.key(0), jnp.arange(4_000, dtype=jnp.int32))
    children = np.asarray(jax.jit(operators.IsoLine(0.1, 0.5))(parents, bits))
    along = children.mean(axis=1, keepdims=True)
    assert np.std(along) == pytest.approx(5, rel=0.04) and abs(np.mean(along)) < 0.3
    assert np.std(children - along) == pytest.approx(0.1 * np.sqrt(2 / 3), rel=0.05)
    only_line = np.asarray(jax.jit(operators.IsoLine(0.0, 0.5))(parents, bits))
    np.testing.assert_array_equal(only_line, np.tile(only_line[:, :1], 3))

    plain = MapElites(600, 1, lambda key, numbers: jnp.zeros((len(numbers), 1)), (0.0,), (1.0,), 8,
                      operators.IsoLine(0.0, 0.0))  # fmt: skip
    scores = np.array([1.0, 2.0, 3.0], np.float32)
    state = jax.jit(plain.init)(jax.random.key(1))
    state = jax.jit(plain.add)(state, scores[:, None], scores, np.array([[0.1], [0.5], [0.9]], np.float32))
    numbers = jnp.arange(600, dtype=jnp.int32)
    ask = jax.jit(plain.ask)
    asked = np.asarray(ask(state, numbers))[:, 0]
    counts = [int(np.sum(asked == score)) for score in (1, 2, 3)]
    assert sum(counts) == 600 and min(counts) > 160
    np.testing.assert_array_equal(ask(state, numbers[::-7])[:, 0], asked[::-7])


def test_it_fills_an_archive_and_tell_is_add():
    def fitness(genomes, numbers, key):
        return jnp.concatenate([-jnp.sum(genomes**2, axis=1, keepdims=True), genomes[:, :2]], axis=1)

    def step(state, key):
        scores = evaluate(fitness, ELITES, state, key, 16)
        added = ELITES.add(state, ELITES.ask(state, jnp.arange(64, dtype=jnp.int32)), scores[:, 0], scores[:, 1:])
        return ELITES.tell(state, scores), (added, ELITES.metrics(state))

    state = ELITES.init(jax.random.key(0))
    state, (added, found) = jax.jit(lambda state, keys: jax.lax.scan(step, state, keys))(
        state, jax.random.split(jax.random.key(1), 60)
    )
    np.testing.assert_array_equal(added.scores[-1], state.scores)
    np.testing.assert_array_equal(added.genomes[-1], state.genomes)
    assert found["filled_cells"][0] == 0 and found["filled_cells"][-1] >= 12
    assert np.all(np.diff(found["filled_cells"]) >= 0) and float(jnp.max(state.scores)) > -0.1
    # The best of a cell is near its corner that is nearest to the origin.
    places = np.asarray(ELITES.places(state.descriptors))
    assert places[np.asarray(ELITES.filled(state))].tolist() == np.flatnonzero(ELITES.filled(state)).tolist()


@pytest.mark.parametrize(("descriptors", "place"), [("draws+length", (3, 1)), ("length", (1,))])
def test_a_picture_shows_an_elite_in_its_cell(descriptors, place):
    """The first descriptor is the first dimension."""
    config = MapElitesConfig(NetworkConfig("tic_tac_toe"), descriptors=descriptors, cells=4, most_plies=8)
    algorithm, end = config.algorithm(None), np.array(config.ranges[1], np.float32)
    state = algorithm.init(jax.random.key(0))
    elite = (np.array([place], np.float32) + 0.5) * end / 4
    state = algorithm.add(state, jnp.zeros((1, algorithm.dimension)), jnp.asarray([0.25]), jnp.asarray(elite))
    found = config.archive(state)
    assert (found.score, found.descriptors, found.low) == ("wins", config.measures, (0.0,) * len(place))
    assert found.high == tuple(end) and np.argwhere(np.isfinite(found.scores)).tolist() == [[*place]]
    assert found.scores[place] == 0.25


def test_without_elites_candidates_are_drawn_anew():
    numbers, key = jnp.arange(4, dtype=jnp.int32), jax.random.key(0)
    told = jnp.full((64, 3), jnp.nan)

    @jax.jit
    def both():
        state = ELITES.init(key)
        later = ELITES.tell(state, told)
        again = first(jax.random.fold_in(key, 1), numbers)
        return ELITES.ask(state, numbers), ELITES.ask(later, numbers), first(key, numbers), again

    asked, anew, drawn, again = both()
    np.testing.assert_array_equal(asked, drawn)
    np.testing.assert_array_equal(anew, again)
    assert not np.any(anew == asked)


def test_numbers_of_64_bits_leave_the_state_as_it_is():
    with jax.enable_x64(True):
        state = ELITES.init(jax.random.key(0))
        wide = [np.random.default_rng(0).random(shape) for shape in ((3, 5), 3, (3, 2))]
        after = ELITES.add(state, *map(jnp.asarray, wide))
    assert jax.tree.map(lambda x: x.dtype, after) == jax.tree.map(lambda x: x.dtype, state)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: MapElites(4, 5, first, (0.0,), (0.0,)), "expected a range for each descriptor, such as"),
        (lambda: MapElites(4, 5, first, (1.0,), (1.0 + 1e-9,)), "expected a range for each descriptor, such as"),
        (lambda: MapElites(4, 5, first, (-3e38,), (3e38,)), "expected a range for each descriptor, such as"),
        (lambda: MapElites(4, 5, first, (0.0,), (1.0, 2.0)), "expected a range for each descriptor, such as"),
        (lambda: MapElites(4, 5, first, (0.0,) * 3, (1.0,) * 3, 128), "expected at most 1,048,576 in all"),
        (
            lambda: ELITES.tell(ELITES.init(jax.random.key(0)), jnp.zeros(64)),
            r"scores float32\[64\]: expected 3 numbers",
        ),
    ],
)
def test_bad_input(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_measures_are_of_the_games_with_all_kinds_of_opponents(monkeypatch):
    """Three quarters of the games are won after 5 turns without a capture, the others lost after 9 with some."""

    def results(self, genomes, numbers, key):
        shape = len(genomes), self.games
        few, full = self.opponents.count == 3, functools.partial(jnp.full, shape)
        details = Details(plies=full(5 if few else 9), moves=full(3 if few else 5), captures=full(0 if few else 2))
        return Results(full(1.0 if few else -1.0), full(False), details)

    monkeypatch.setattr(ByPlay, "results", results)
    changes = {"population": 4, "block": 4, "opponents": "random*3+random*1", "most_plies": 9, "high": (9.0, 1.0)}
    network = NetworkConfig("checkers", encoding="pieces", head="target").replace(hidden=(2,))
    config = MapElitesConfig(network, descriptors="spread+captures", low=(0.0, 0.0), **changes)
    algorithm = types.SimpleNamespace(dimension=2, columns=3, ask=lambda *_: jnp.zeros((4, 2)), tell=lambda *_: None)
    numbers, told = np.arange(4, dtype=np.int32), []

    def evaluated(fitness, asking, state, key, *_):
        told.append(fitness(asking.ask(state, numbers), numbers, key))
        return told[0]

    @jax.jit
    def generation(key):
        hall = population.HallOfFame(jnp.zeros((0, 2)), 0)
        state = population.PopulationState(types.SimpleNamespace(generation=0), hall, key)
        population.Population(config, algorithm, None).generation(state, Evolution(config))
        return told.pop()

    monkeypatch.setattr(population, "evaluate", evaluated)
    np.testing.assert_allclose(generation(jax.random.key(0))[0], [0.75, np.std([5, 5, 5, 9]), 2 / 14], rtol=1e-6)


def test_descriptors_are_different_ones():
    with pytest.raises(ValueError, match="^descriptors=draws.draws: expected one or two different ones"):
        MapElitesConfig(NetworkConfig("tic_tac_toe"), descriptors="draws+draws")
