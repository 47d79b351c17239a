"""Populations in blocks and on devices: the same scores however they are split."""

import dataclasses
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from jax.sharding import Mesh

from jaxgames.algos.evolution.evaluate import (
    MemoryPlan,
    block_sizes,
    evaluate,
    generation,
    platform_of,
    population_mesh,
    usual_block,
)
from jaxgames.algos.evolution.evolution import summarize
from jaxgames.algos.evolution.fitness import ByPlay
from jaxgames.algos.evolution.noise import noise
from jaxgames.algos.evolution.operators import Truncation
from jaxgames.algos.evolution.play import FixedPlayer, Networks, RandomMoves
from jaxgames.algos.evolution.saved import NetworkConfig
from jaxgames.algos.evolution.strategies.group_ga import GroupGA
from jaxgames.algos.evolution.strategies.hill_climb import HillClimb
from jaxgames.algos.evolution.strategies.map_elites import MapElites
from jaxgames.algos.evolution.strategies.neuroevolution import Neuroevolution
from jaxgames.algos.evolution.strategies.nsga2 import NSGA2
from jaxgames.algos.evolution.strategies.open_es import OpenES, OpenESConfig
from jaxgames.algos.evolution.strategies.population import HallOfFame, League
from jaxgames.nets import NetworkSpec
from jaxgames.ops.device_memory import machine_bytes
from jaxgames.runs.processes import spread

ES = OpenES(90, 12, sigma=0.1, optimizer=optax.adam(0.05))


def fitness(genomes, numbers, key):
    """A score that depends on the genome, the number and the key: the genome's share of a random direction."""
    return jnp.sum(genomes * noise(key, numbers, genomes.shape[1]), axis=1)


def run(algorithm, key, block, mesh, generations):
    """The scores of the last of a few generations, and the champion."""
    state = algorithm.init(key)
    if mesh is not None:
        state = spread(state, mesh)

    @jax.jit
    def steps(state):
        def step(state, number):
            return generation(algorithm, fitness, state, jax.random.fold_in(jax.random.key(9), number), block, mesh)

        state, scores = jax.lax.scan(step, state, jnp.arange(generations))
        return scores[-1], algorithm.champion(state)

    return [np.asarray(part) for part in steps(state)]


@pytest.fixture(scope="module")
def state():
    return ES.init(jax.random.key(0))


@pytest.fixture(scope="module")
def alone(state):
    """Each candidate scored by itself."""
    numbers = jnp.arange(ES.population)
    score = jax.jit(jax.vmap(lambda n: fitness(ES.ask(state, n[None]), n[None], jax.random.key(1))[0]))
    return np.asarray(score(numbers))


@pytest.mark.parametrize(("block", "devices"), [(256, None), (7, None), (1000, 2), (7, 2)])
def test_scores_do_not_depend_on_the_split(state, alone, block, devices):
    mesh = None if devices is None else population_mesh(devices)
    scores = jax.jit(lambda state: evaluate(fitness, ES, state, jax.random.key(1), block, mesh))(state)
    assert scores.shape == (ES.population,)
    np.testing.assert_allclose(scores, alone, atol=1e-5)


def test_blocks_are_as_equal_as_can_be():
    assert block_sizes(65536, 256, 1) == (256, 256)
    assert block_sizes(200, 256, 1) == (1, 200)
    assert block_sizes(200, 256, 8) == (1, 25)
    assert block_sizes(257, 256, 1) == (2, 129)
    assert block_sizes(3, 256, 8) == (1, 1)


def test_blocks_by_device():
    """A GPU has as many games at a time as it takes, or genomes; a CPU genomes that stay in the cache; a TPU a few."""
    small, large = jax.ShapeDtypeStruct((1, 693), jnp.float32), jax.ShapeDtypeStruct((1, 100_000), jnp.float32)
    assert [usual_block(small, 32, platform) for platform in ("cpu", "tpu", "gpu", "cuda")] == [256, 256, 4096, 4096]
    assert usual_block(small, 2, "gpu") == 2**24 // 693 and usual_block(large, 2, "gpu") == 2**24 // 100_000
    assert usual_block(small, 2**20, "gpu") == 1
    assert [usual_block(large, 2, platform, opponents=0) for platform in ("cpu", "tpu")] == [2, 256]
    assert [usual_block(large, 2, alone=alone, opponents=0) for alone in (False, True)] == [2, 16]
    assert [usual_block(large, 64, opponents=opponents) for opponents in (8 * 400_000, 2**30, None)] == [32, 256, 256]
    assert platform_of(None) == platform_of(population_mesh(2)) == "cpu"


def test_blocks_by_opponents():
    """Random moves cost nothing, networks their bytes; players that calculate have large blocks."""
    network = NetworkConfig("connect_four", layers=NetworkSpec(hidden=(256, 256)))
    of_large = OpenESConfig(network=network, population=512)
    for opponents, block in (("random*2", 2), ("random*2+hall*8", 32), ("league*64", 256), ("uct:8*1+random*2", 256)):
        config = of_large.replace(opponents=opponents)
        assert config.candidates_at_once(config.algorithm(None), population_mesh(2)) == block
    policy = network.policy()
    met = Networks(policy, jnp.zeros((8, policy.dimension), jnp.float32))
    player = FixedPlayer(lambda params, positions, bits: None, (), 2)
    found = [ByPlay(policy, opponents).opponent_bytes for opponents in (RandomMoves(2), met, player)]
    assert found == [0, 8 * 4 * policy.dimension, None]


def test_blocks_are_those_of_the_devices_and_the_opponents():
    """What a fitness gets at a time, of 64 candidates of 400,000 bytes, on one device and on two."""
    seen, strategy = [], OpenES(64, 100_000)

    def of_zeros(genomes, numbers, key):
        seen.append(len(genomes))
        return jnp.zeros(len(genomes), jnp.float32)

    state = jax.eval_shape(strategy.init, jax.random.key(0))
    for mesh, met in ((None, 0), (population_mesh(2), 0), (population_mesh(2), 3_200_000), (population_mesh(2), None)):
        of_zeros.games, of_zeros.opponent_bytes = 2, met
        jax.eval_shape(
            lambda state, key, mesh=mesh: evaluate(of_zeros, strategy, state, key, mesh=mesh), state, jax.random.key(1)
        )
    assert seen == [16, 2, 32, 32]  # the last two have half of the candidates each, in one block
    config = OpenESConfig(network=NetworkConfig("connect_four", layers=NetworkSpec(hidden=(256, 256))))
    assert config.replace(opponents="random*2").candidates_at_once(config.algorithm(None), None) == 16


def test_wrong_splits_are_refused(state):
    with pytest.raises(ValueError, match="block=0"):
        evaluate(fitness, ES, state, jax.random.key(1), 0)
    with pytest.raises(TypeError, match="mesh 'two': expected evolution.population_mesh"):
        evaluate(fitness, ES, state, jax.random.key(1), mesh="two")
    with pytest.raises(ValueError, match="'population'"):
        evaluate(fitness, ES, state, jax.random.key(1), mesh=Mesh(jax.devices()[:1], ("games",)))
    explicit = jax.make_mesh((1,), ("population",), (jax.sharding.AxisType.Explicit,))
    with pytest.raises(ValueError, match=r"not Auto: expected evolution\.population_mesh\(\)"):
        evaluate(fitness, ES, state, jax.random.key(1), mesh=explicit)
    with pytest.raises(ValueError, match="on 3 devices, but 2 are here"):
        population_mesh(3)
    with pytest.raises(ValueError, match="^devices 0: expected a whole number from 1 on$"):
        population_mesh(0)


EIGHT = """
import sys
import jax
jax.config.update("jax_num_cpu_devices", 8)
import dataclasses
import numpy as np
from jaxgames.algos.evolution.evaluate import population_mesh
from test_evaluate import ES, run
mesh = population_mesh()
assert mesh.size == 8
np.savez(sys.argv[1], *run(dataclasses.replace(ES, mesh=mesh), jax.random.key(3), 4, mesh, 3))
"""


def test_eight_devices_are_one(tmp_path):
    """Three generations with 8 virtual devices in a process of their own, and on one device here."""
    file = tmp_path / "eight.npz"
    command = [sys.executable, "-c", EIGHT, str(file)]
    subprocess.run(command, check=True, timeout=100, cwd=Path(__file__).parent)
    eight = np.load(file)
    one = run(ES, jax.random.key(3), 256, None, 3)
    for name, expected in zip(eight.files, one, strict=True):
        np.testing.assert_allclose(eight[name], expected, atol=1e-5)


class Stored(NamedTuple):
    """An algorithm that keeps its population, as far as its memory is concerned."""

    genomes: jax.Array


@dataclasses.dataclass(frozen=True)
class Keeps:
    population: int
    dimension: int = 693

    def init(self, key):
        return Stored(jnp.zeros((self.population, self.dimension), jnp.float32))


def test_a_million_networks_fit_or_what_fits_is_said():
    run = MemoryPlan(Keeps(1_000_000), games=64)
    assert run.check(24 * 2**30).state == 2 * 1_000_000 * 693 * 4
    with pytest.raises(
        ValueError, match=r"needs 11\d{9} bytes \(11\.\d GB.*but there are .* \(8\.6 GB\); devices=1 fits"
    ):
        dataclasses.replace(run, devices=2).check(8 * 2**30)
    with pytest.raises(ValueError, match=r"; population=(\d+) fits$") as error:
        run.check(2**30)
    assert "\n" not in str(error.value)
    fits = int(str(error.value).split("population=")[-1].split()[0])
    needed = [MemoryPlan(Keeps(number), games=64).needs().total for number in (fits, fits * 5 // 4)]
    assert needed[0] <= 2**30 < needed[1]


def test_smaller_blocks_fit_before_smaller_populations():
    run = MemoryPlan(OpenES(65536, 693), block=4096, games=64)
    with pytest.raises(ValueError, match="; block=1024 fits"):
        run.check(100 * 2**20)
    with pytest.raises(ValueError, match="; no smaller setting fits"):
        run.check(1000)
    assert run.check() == run.needs()
    assert 2**28 < machine_bytes() < 2**50


def test_the_plan_counts_the_opponents(monkeypatch):
    """Exactly the bytes of hall and league, and of the networks that are met, on each device."""
    config = OpenESConfig(NetworkConfig("tic_tac_toe"), population=8, block=2, opponents="random*9")
    dimension, usual = config.network.genomes().dimension, config.memory_plan(1).needs()

    def bytes_of(*arrays):
        return sum(leaf.nbytes for leaf in jax.tree.leaves(arrays))

    members, met = jnp.zeros((2, dimension), jnp.float32), jnp.zeros((5, dimension), jnp.float32)
    former = config.replace(opponents="random*4+league*2+hall*2+others*1", league_size=100)
    held = bytes_of(League.of(members, 100), HallOfFame.of(members), met)
    assert usual.opponents == bytes_of(HallOfFame.of(members[:0]))  # it counts who joined
    assert former.memory_plan(1).needs() == usual._replace(opponents=held)
    assert former.memory_plan(2).needs().opponents == 2 * held
    league = [bytes_of(League.of(members, size)) for size in (100, 100_000)]
    larger = former.replace(league_size=100_000).memory_plan(1)
    assert larger.needs().total - former.memory_plan(1).needs().total == league[1] - league[0]
    with pytest.raises(ValueError, match=r", opponents \d+\.\d MB, games .*; no smaller setting fits$"):
        larger.check(league[1])
    # No smaller block or population would do, a smaller league does.
    module = sys.modules[MemoryPlan.__module__]
    monkeypatch.setattr(module, "machine_bytes", lambda: larger.needs().total - league[1] // 2)
    with pytest.raises(ValueError, match=r"; league_size=50000 fits$"):
        former.replace(league_size=100_000).check_memory(1)


def test_needs_cover_what_the_compiler_says():
    """Peak of a generation of a large OpenES: state, scores and temporaries; and no more than counted."""
    es = OpenES(65536, 693, optimizer=optax.adam(0.01))
    state = jax.eval_shape(es.init, jax.random.key(0))

    def linear(genomes, numbers, key):
        return genomes @ jnp.ones(es.dimension)

    step = jax.jit(lambda state, key: generation(es, linear, state, key, block=1024))
    memory = step.lower(state, jax.eval_shape(lambda: jax.random.key(0))).compile().memory_analysis()
    peak = memory.temp_size_in_bytes + memory.output_size_in_bytes + memory.argument_size_in_bytes
    needed = MemoryPlan(es, block=1024, games=0).needs()
    assert peak <= needed.total
    network = 4 * es.dimension
    assert memory.temp_size_in_bytes <= 3 * 1024 * network + network


def test_diversity_is_a_share_of_the_size_of_weights():
    strategy = SimpleNamespace(sample=lambda x: x, best_networks=lambda x: x[:1], metrics=lambda x: {})
    _, diversity, _ = summarize.__wrapped__(SimpleNamespace(strategy=strategy), jnp.float32([[1, 3], [3, -1]]))
    assert float(diversity) == pytest.approx(np.sqrt(2.5 / 5))


def test_states_hold_no_array_of_the_caller_and_none_twice():
    """Whoever donates a state, so that a generation needs no second one, keeps the key and the weights."""
    key, first = jax.random.key(0), jnp.zeros(4, jnp.float32)

    def zeros(key, numbers):
        return jnp.zeros((len(numbers), 4), jnp.float32)

    states = {
        "OpenES": OpenES(4, 4).start(key, first),
        "genetic": Neuroevolution(4, 4, zeros, Truncation(2)).init(key),
        "groups": GroupGA(4, zeros, groups=2, members=2, keep=1, best=1).init(key),
        "hill climbing": HillClimb(4, tested=True).init(key),
        "MAP-Elites": MapElites(4, 4, zeros, low=(0,), high=(1,)).init(key),
        "NSGA-II": NSGA2(4, 4, zeros).init(key),
    }
    for name, state in states.items():
        arrays = [jax.random.key_data(x) if x.dtype == key.dtype else x for x in (key, first, *jax.tree.leaves(state))]
        assert len({array.unsafe_buffer_pointer() for array in arrays}) == len(arrays), name
