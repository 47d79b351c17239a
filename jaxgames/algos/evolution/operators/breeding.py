"""The next generation: parents read, crossed and mutated in one pass over the genes."""

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float32, Int32, Key, UInt32

from jaxgames.algos.evolution.operators.crossover import Crossover
from jaxgames.algos.evolution.operators.mutation import Mutation
from jaxgames.ops.random_bits import fold_in, random_bits

CROSSING = 2**32 - 1
"""The number that a crossover folds into a candidate's bits; those from 0 on are for the genes."""


def offspring(
    pool: Float32[Array, "k dimension"],
    parents: Int32[Array, "n parents"],
    elite: Bool[Array, " n"],
    bits: UInt32[Array, " n"],
    mutation: Mutation,
    crossover: Crossover | None = None,
) -> Float32[Array, "n dimension"]:
    """The children of the rows `parents` of `pool`, each by its random `bits`, by `crossover` and then `mutation`.

    The `elite` is its first parent unchanged.

    All of it is elementwise but for the rows that are read, so XLA makes one loop of it.
    """
    rows = [pool.at[parents[:, i]].get(mode="clip") for i in range(parents.shape[1])]
    child = rows[0] if crossover is None else crossover(rows, fold_in(bits, CROSSING))
    return jnp.where(elite[:, None], rows[0], mutation(child, bits))


def candidate_bits(key: Key[Array, ""], numbers: Int32[Array, "..."]) -> UInt32[Array, "..."]:
    """32 random bits for each number, which depend on the key and the number only."""
    first, second = random_bits(key, (2,))
    return fold_in(fold_in(numbers.astype(jnp.uint32), first), second)
