"""Sets of moves over several words, as `Game.moves` lists them; all functions work on whole batches."""

import functools
import operator

import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Int32, UInt32

from jaxgames.ops import bits

Moves = tuple[UInt32[Array, " lanes"], ...]
Number = UInt32[Array, " lanes"]


def is_empty(moves: Moves) -> Bool[Array, " lanes"]:
    """Whether there is no move."""
    return functools.reduce(operator.or_, moves) == 0


def count(moves: Moves) -> Int32[Array, " lanes"]:
    """How many moves there are."""
    return functools.reduce(operator.add, map(lax.population_count, moves)).astype(jnp.int32)


def first(moves: Moves) -> Number:
    """The lowest number; 0 if there is none."""
    number = jnp.zeros_like(moves[0])
    for index, word in reversed(list(enumerate(moves))):
        number = jnp.where(word != 0, bits.bottom_index(word) + jnp.uint32(32 * index), number)
    return number


def has(moves: Moves, number: Number) -> Bool[Array, " lanes"]:
    """Whether a move is in the set."""
    word = moves[0] if len(moves) == 1 else jnp.zeros_like(number)
    if len(moves) > 1:
        for index, each in enumerate(moves):
            word = jnp.where(number >> 5 == index, each, word)
    return bits.has(word, number & 31) & (number < 32 * len(moves))


def without(moves: Moves, number: Number, where: Bool[Array, " lanes"]) -> Moves:
    """The set without one move, in lanes where that is wanted."""
    return tuple(
        word & ~jnp.where(where & (number >> 5 == index), bits.bit(number & 31), jnp.uint32(0))
        for index, word in enumerate(moves)
    )


def from_on(moves: Moves, number: Number) -> Moves:
    """The moves that are not below a number."""
    left = []
    for index, word in enumerate(moves):
        # Wraps around to a large number where all of this word's moves are left.
        place = number - jnp.uint32(32 * index)
        rest = jnp.where(place < 32, ~bits.below(place), jnp.where(number < 32 * index, ~jnp.uint32(0), jnp.uint32(0)))
        left.append(word & rest)
    return tuple(left)
