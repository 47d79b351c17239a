"""Whole populations scored in blocks that suit the device, on one or many, in one process or many.

Also counts the memory that a training needs, before it starts.
"""

import dataclasses
import math
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
from jax.sharding import Mesh, PartitionSpec
from jaxtyping import Array, Float32, Int32, Key

from jaxgames.algos.evolution.candidates import LowRank
from jaxgames.algos.evolution.noise import AXIS, check_mesh
from jaxgames.algos.evolution.ranking import check_scores
from jaxgames.ops import checks
from jaxgames.ops.device_memory import machine_bytes
from jaxgames.ops.devices import device_mesh

BLOCK, BYTES_IN_CACHE, BYTES_FOR_ALL, TIMES_OPPONENTS = 256, 2**20, 2**23, 4
"""The most candidates of a block. On a CPU also the most bytes of their genomes: of a core's own block, which it reads
from its cache in every ply; and of a block on which all cores work at once, as a smaller one would leave some idle.
Each block also reads the networks that it meets again, so its genomes may always be this many times as large as those.
"""
GPUS, GAMES_AT_ONCE, BYTES_AT_ONCE = ("gpu", "cuda", "rocm"), 2**17, 2**26
"""On these kinds of devices, the most games of a block, and the most bytes of its genomes."""
USUAL_GAMES = 16
"""Games of a candidate, if their number is not known."""


class Fitness(Protocol):
    """Scores candidates, higher is better. A score depends only on the candidate's genome, its number and the key, not
    on the rest of its block.
    """

    def __call__(
        self, genomes: Float32[Array, "b dimension"], numbers: Int32[Array, " b"], key: Key[Array, ""]
    ) -> Float32[Array, "b ..."]:
        """The scores of these candidates, float32[b]; for algorithms with `columns` so many numbers of each."""
        ...


class Algorithm(Protocol):
    """A strategy with `ask` for candidates and `tell` for their scores: pure functions of one state, a pytree. Outside
    of `jit`, the loops that some strategies have are compiled anew in each call.

    A strategy that needs several numbers for each candidate says how many in `columns`, and gets float32[population,
    columns]: the score, and descriptors or further objectives.
    """

    @property
    def population(self) -> int:
        """The number of candidates of a generation."""
        ...

    @property
    def dimension(self) -> int:
        """The number of genes."""
        ...

    def init(self, key: Key[Array, ""]) -> Any:
        """The state before the first generation."""
        ...

    def ask(self, state: Any, numbers: Int32[Array, " b"]) -> Any:
        """Any block of the candidates 0 to population - 1: their genomes, float32[b, dimension], or `LowRank`."""
        ...

    def tell(self, state: Any, scores: Float32[Array, "population ..."]) -> Any:
        """The next generation's state, given the scores; higher is better, NaN counts as the worst."""
        ...

    def champion(self, state: Any) -> Float32[Array, " dimension"]:
        """The genome to play with."""
        ...


def population_mesh(devices: int | None = None) -> Mesh:
    """A mesh with the axis `population` over `devices` devices (None: all, of all processes).

    Raises `ValueError` if there are not so many.
    """
    return device_mesh(devices, AXIS)


def block_sizes(population: int, block: int, devices: int) -> tuple[int, int]:
    """How many blocks a device evaluates, and of how many candidates: equal blocks, none larger than `block`."""
    blocks = -(-population // (block * devices))
    return blocks, -(-population // (blocks * devices))


def usual_block(
    candidates: Any, games: int | None, platform: str = "cpu", alone: bool = False, opponents: int | None = None
) -> int:
    """How many candidates to score at a time.

    On a CPU these are as many as fit into the cache. A GPU starts as many kernels for a small block as for a large one,
    so there it is large. TPUs take small blocks: a large one takes many minutes to compile.

    Args:
        candidates: some of them, in the form in which they play; shapes are enough.
        games: of each; None if not known.
        platform: the kind of device.
        alone: whether one device has all cores of a CPU, and not each core a device.
        opponents: bytes of the networks that the candidates meet; None if they meet other players than networks and
            random moves, or if not known. A player that searches is fastest in large batches.
    """
    if isinstance(candidates, LowRank):
        numbers = candidates.numbers.shape[0]
    elif hasattr(candidates, "shape"):
        numbers = candidates.shape[-1]
    else:
        return BLOCK
    if platform in GPUS:
        return max(1, min(GAMES_AT_ONCE // (games or USUAL_GAMES), BYTES_AT_ONCE // (4 * numbers)))
    if platform != "cpu" or opponents is None:
        return BLOCK
    most = max(BYTES_FOR_ALL if alone else BYTES_IN_CACHE, TIMES_OPPONENTS * opponents) // (4 * numbers)
    return min(BLOCK, 1 << max(0, most.bit_length() - 1))


def platform_of(mesh: Mesh | None) -> str:
    """The kind of a mesh's devices; without a mesh a CPU is assumed."""
    return "cpu" if mesh is None else str(mesh.devices.flat[0].platform)


def evaluate(
    fitness: Fitness,
    algorithm: Algorithm,
    state: Any,
    key: Key[Array, ""],
    block: int | None = None,
    mesh: Mesh | None = None,
) -> Float32[Array, "population ..."]:
    """The score of every candidate; a row of numbers if the algorithm has `columns`.

    Scores do not depend on blocks and devices, except for rounding: each device makes and plays its share of the
    candidates, and all exchange the scores. Copies of the last candidate fill up the last block; their scores are
    dropped. Outside of `jit`, the games are compiled anew in each call.

    Args:
      state: the algorithm's, the same on all devices.
      key: decides what is random in the games.
      block: the most candidates that each device scores at a time; None: as many as suit it, see `usual_block`.
      mesh: the devices, of one process or of many, along one axis `population`; None: one device, with blocks for a
        CPU. For one GPU pass `population_mesh(1)`.

    Raises `ValueError` if the block is smaller than 1 or the mesh has another axis or axis type, and for scores that
    are not float32[b], or float32[b, columns]; `TypeError` for anything but a mesh.
    """
    checks.function("fitness", fitness, "(genomes, numbers, key) -> scores")
    checks.made("algorithm", algorithm, ("ask", "population"), "a strategy, such as evolution.OpenES(...)")
    checks.key(key)
    check_mesh(mesh)
    if block is None:
        asked = jax.eval_shape(algorithm.ask, state, jax.ShapeDtypeStruct((1,), jnp.int32))
        games, opponents = (getattr(fitness, name, None) for name in ("games", "opponent_bytes"))
        block = usual_block(asked, games, platform_of(mesh), mesh is None, opponents)
    if checks.whole("block", block, None) < 1:
        raise ValueError(f"block={block} is smaller than 1")
    devices = 1 if mesh is None else mesh.size
    blocks, size = block_sizes(algorithm.population, block, devices)
    columns: int | None = getattr(algorithm, "columns", None)

    def scores_of(state: Any, key: Key[Array, ""], device: Int32[Array, ""]) -> Float32[Array, "share ..."]:
        places = jax.lax.iota(jnp.int32, blocks * size) + device * jnp.int32(blocks * size)
        numbers = jnp.minimum(places, jnp.int32(algorithm.population - 1))

        def of_block(numbers: Int32[Array, " size"]) -> Float32[Array, "size ..."]:
            return check_scores(fitness(algorithm.ask(state, numbers), numbers, key), size, columns)

        scores = jax.lax.map(of_block, numbers.reshape(blocks, size))
        return scores.reshape(blocks * size, *scores.shape[2:])

    if mesh is None:
        return scores_of(state, key, jnp.int32(0))[: algorithm.population]

    def on_each(state: Any, key: Key[Array, ""]) -> Float32[Array, "places ..."]:
        return jax.lax.all_gather(scores_of(state, key, jax.lax.axis_index(AXIS)), AXIS, tiled=True)

    everywhere = PartitionSpec()
    # Each device computes something else, and a check of replicated values cannot see through a gather.
    gathered = jax.shard_map(
        on_each, mesh=mesh, in_specs=(everywhere, everywhere), out_specs=everywhere, check_vma=False
    )(state, key)
    return gathered[: algorithm.population]


def generation(
    algorithm: Algorithm,
    fitness: Fitness,
    state: Any,
    key: Key[Array, ""],
    block: int | None = None,
    mesh: Mesh | None = None,
) -> tuple[Any, Float32[Array, "population ..."]]:
    """The next state and the scores: one generation. Its arguments are those of `evaluate`.

    Outside of `jit`, it is compiled anew in each call.
    """
    scores = evaluate(fitness, algorithm, state, key, block, mesh)
    return algorithm.tell(state, scores), scores


GENOMES_AT_ONCE = 3
"""Copies of one block's genomes: the noise or the parents, the genomes, and the layers for matrix products."""

SCORES_AT_ONCE = 8
"""Arrays of a number for each candidate: scores, their order, ranks and weights."""


class MemoryNeeds(NamedTuple):
    """Bytes of each part."""

    state: int
    """The algorithm's old and new state, and scratch (`working_bytes` of the algorithm, where it has some)."""
    genomes: int
    """Of the blocks that are evaluated at a time."""
    opponents: int
    """The networks that candidates meet, and the hall and the league that they come from."""
    games: int
    """Of these blocks."""
    scores: int

    @property
    def total(self) -> int:
        """All of it."""
        return sum(self)


@dataclasses.dataclass(frozen=True)
class MemoryPlan:
    """What decides how much memory a training takes.

    Each device holds the algorithm's state. If this is the whole population, use many devices only if each has its
    own memory (GPUs, hosts); otherwise let the cores of a CPU work together as one device.
    """

    algorithm: Algorithm
    block: int = 256
    devices: int = 1
    """Devices that share the memory: those of one process on CPU, 1 on GPU."""
    memories: int = 1
    """How many separate memories the population is split over (hosts, or GPUs), each with as many devices."""
    games: int = 1
    """Games that each candidate plays at a time."""
    game_bytes: int = 1024
    """Bytes of one game: its position, what the network reads of it, and the network's widest layers."""
    opponents: Any = ()
    """The shapes of networks that candidates meet, and of former champions, as from `jax.eval_shape`: they stay
    in memory from one generation to the next.
    """

    def __post_init__(self) -> None:
        checks.native_fields(self, "block", "devices", "memories", "games", "game_bytes")

    def needs(self) -> MemoryNeeds:
        """The bytes needed of each memory: counted, not measured."""
        state = _bytes_of(jax.eval_shape(self.algorithm.init, jax.random.key(0)))
        _, size = block_sizes(self.algorithm.population, self.block, self.devices * self.memories)
        numbers = getattr(self.algorithm, "noise_numbers", self.algorithm.dimension)
        return MemoryNeeds(
            state=self.devices * (2 * state + getattr(self.algorithm, "working_bytes", 0)),
            genomes=GENOMES_AT_ONCE * self.devices * size * numbers * 4,
            opponents=self.devices * _bytes_of(self.opponents),
            games=self.devices * size * self.games * self.game_bytes,
            scores=SCORES_AT_ONCE * self.devices * self.algorithm.population * 4,
        )

    def check(self, limit: int | None = None, less: Iterable[tuple[str, "MemoryPlan"]] = ()) -> MemoryNeeds:
        """The bytes needed, if they fit into `limit` (None: this machine's memory).

        `less`: the caller's own settings that need less memory, by name, and their plans, tried before a smaller
        population.

        Raises ValueError if not; the message names a setting that fits.
        """
        limit = machine_bytes() if limit is None else limit
        needed = self.needs()
        if needed.total <= limit:
            return needed
        fits = next((name for name, run in self._smaller(less) if run.needs().total <= limit), None)
        raise ValueError(
            f"population={self.algorithm.population} needs {needed.total} bytes ({_readable(needed.total)}: state "
            f"{_readable(needed.state)}, genomes {_readable(needed.genomes)}, opponents {_readable(needed.opponents)}, "
            f"games {_readable(needed.games)}), but there are {limit} ({_readable(limit)}); "
            + (f"{fits} fits" if fits else "no smaller setting fits")
        )

    def _smaller(self, less: Iterable[tuple[str, "MemoryPlan"]]) -> Iterator[tuple[str, "MemoryPlan"]]:
        """Settings that need less memory, first those that change the training least."""
        block = block_sizes(self.algorithm.population, self.block, self.devices * self.memories)[1] // 2
        while block:
            yield f"block={block}", dataclasses.replace(self, block=block)
            block //= 2
        if self.devices > 1:
            yield "devices=1", dataclasses.replace(self, devices=1)
        yield from less
        population = self.algorithm.population
        algorithm: Any = self.algorithm
        while population > 2 and "population" in getattr(algorithm, "__dataclass_fields__", ()):
            population = _rounded(population * 0.9)
            try:
                smaller = dataclasses.replace(algorithm, population=population)
            except ValueError:  # too few for the algorithm's other settings
                return
            yield f"population={population}", dataclasses.replace(self, algorithm=smaller)


def _bytes_of(shapes: Any) -> int:
    """The bytes of a pytree of shapes; a key is its words."""
    return sum(math.prod(leaf.shape) * leaf.dtype.itemsize for leaf in jax.tree.leaves(shapes))


def _rounded(number: float) -> int:
    """The number rounded down to two significant digits and made even; at least 2."""
    unit = 10 ** max(0, int(math.log10(number)) - 1)
    return max(2, int(number / unit) * unit // 2 * 2)


def _readable(size: int) -> str:
    """Bytes in the unit that people use for them."""
    for unit, power in (("GB", 9), ("MB", 6), ("kB", 3)):
        if size >= 10**power:
            return f"{size / 10**power:.1f} {unit}"
    return f"{size} bytes"
