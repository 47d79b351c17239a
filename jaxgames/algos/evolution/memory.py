"""How much memory a training needs, counted before it starts."""

import dataclasses
import math
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import jax

from jaxgames.algos.evolution.evaluate import Algorithm, block_sizes
from jaxgames.ops.device_memory import machine_bytes

GENOMES_AT_ONCE = 3
"""Copies of one block's genomes: the noise or the parents, the genomes, and the layers that the networks multiply."""

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
    """What decides how much of one memory a training takes.

    Each device holds the algorithm's state. Where that is the whole population, use many devices only if each has its
    own memory (GPUs, hosts); the cores of a CPU work together as one device.
    """

    algorithm: Algorithm
    block: int = 256
    devices: int = 1
    """Devices that share the memory: those of one process on CPU, 1 on GPU."""
    memories: int = 1
    """Memories that the population is split over, each with as many devices: hosts, or GPUs."""
    games: int = 1
    """Games that each candidate plays at a time."""
    game_bytes: int = 1024
    """Bytes of one game: its position, what the network reads of it, and the network's widest layers."""
    opponents: Any = ()
    """The shapes of networks that candidates meet, and of former champions, a pytree as of `jax.eval_shape`: they stay
    in place from one generation to the next.
    """

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

        `less`: settings of the caller's own that need less memory, by name, and their plans, tried before a smaller
        population.

        Raises ValueError if not; its one line names a setting that fits.
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
    """An even number of two digits, not above the number where it has more than one."""
    unit = 10 ** max(0, int(math.log10(number)) - 1)
    return max(2, int(number / unit) * unit // 2 * 2)


def _readable(size: int) -> str:
    """Bytes in the unit that people use for them."""
    for unit, power in (("GB", 30), ("MB", 20), ("kB", 10)):
        if size >= 2**power:
            return f"{size / 2**power:.1f} {unit}"
    return f"{size} bytes"
