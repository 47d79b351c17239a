"""How different the genomes of a population are, from a few of them at a time."""

from collections.abc import Callable
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Float32, Int32, Key

from jaxgames.algos.evolution.operators import candidate_words
from jaxgames.algos.evolution.operators.draws import below


class Diversity(NamedTuple):
    """`deviation`: the standard deviation of a gene over the population, mean over the genes. `distance`: the root of
    the mean squared difference of two genomes' genes, mean over pairs of candidates drawn at random.
    """

    deviation: Float32[Array, ""]
    distance: Float32[Array, ""]


def diversity(
    genomes: Callable[[Int32[Array, " b"]], Float32[Array, "b dimension"]],
    population: int,
    key: Key[Array, ""],
    pairs: int = 256,
    block: int = 256,
) -> Diversity:
    """The diversity of candidates 0 to `population` - 1, `block` of them at a time.

    `genomes(numbers)` gives the genomes of any candidates: `lambda numbers: algorithm.ask(state, numbers)`, or
    `lambda numbers: matrix[numbers]`. A gene that is not finite makes the results so. Raises `ValueError` for a
    population below 2, and less than one pair or candidate at a time.
    """
    if population < 2:
        raise ValueError(f"a population of {population} has no diversity: expected at least 2")
    if pairs < 1 or block < 1:
        raise ValueError(f"pairs={pairs}, block={block}: expected at least 1 of each")
    return Diversity(
        _deviation(genomes, population, min(block, population)), _distance(genomes, population, key, pairs)
    )


def _deviation(genomes: Callable[[Array], Array], population: int, block: int) -> Float32[Array, ""]:
    """Sums of the differences from the first genome, so that no large mean takes the digits of a small deviation."""
    origin = genomes(jnp.zeros(1, jnp.int32))
    places = jnp.arange(block, dtype=jnp.int32)

    def add(sums: tuple[Array, Array], start: Array) -> tuple[tuple[Array, Array], None]:
        numbers = start + places
        away = genomes(jnp.minimum(numbers, population - 1)) - origin
        away = jnp.where((numbers < population)[:, None], away, 0.0)
        return (sums[0] + jnp.sum(away, axis=0), sums[1] + jnp.sum(away * away, axis=0)), None

    nothing = jnp.zeros(origin.shape[1], jnp.float32)
    (first, second), _ = lax.scan(add, (nothing, nothing), jnp.arange(0, population, block, dtype=jnp.int32))
    share = np.float32(1 / population)
    return jnp.mean(jnp.sqrt(jnp.maximum(second * share - (first * share) ** 2, 0.0)))


def _distance(
    genomes: Callable[[Array], Array], population: int, key: Key[Array, ""], pairs: int
) -> Float32[Array, ""]:
    words = candidate_words(key, jnp.arange(2 * pairs, dtype=jnp.int32))
    one = below(words[:pairs], population)
    step = 1 + below(words[pairs:], population - 1)  # to another one
    # One pair after the other, so that any number of them needs the memory of two genomes.
    other = jnp.where(one >= population - step, one - (population - step), one + step)
    numbers = jnp.stack([one, other], axis=1).astype(jnp.int32)

    def apart(pair: Array) -> Array:
        two = genomes(pair)
        return jnp.sqrt(jnp.mean((two[0] - two[1]) ** 2))

    return jnp.mean(lax.map(apart, numbers))
