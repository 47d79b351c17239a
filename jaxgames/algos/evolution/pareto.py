"""Which candidates are best where several scores count: fronts of those that no other one dominates, and crowding."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float32, Int32

from jaxgames.ops import checks


def dominates(scores: Float32[Array, "n objectives"]) -> Bool[Array, "n n"]:
    """Whether candidate i is as good as candidate j in every score and better in one; higher is better, NaN the
    worst.
    """
    scores = _without_nan(scores)
    one, other = scores[:, None], scores[None]
    return jnp.all(one >= other, axis=2) & jnp.any(one > other, axis=2)


def fronts(scores: Float32[Array, "n objectives"], enough: int | None = None) -> Int32[Array, " n"]:
    """The front of each candidate: 0 if none dominates it, 1 if only candidates of front 0 do, and so on.

    Fronts are taken off one after the other, each by one look at all pairs, until `enough` candidates have theirs
    (None: all); those that are left get the number n. Source: Deb, Pratap, Agarwal and Meyarivan (2002), "A fast and
    elitist multiobjective genetic algorithm: NSGA-II", section III A. Raises `ValueError` for scores of another shape.
    """
    count = len(checks.array("scores", scores, jnp.floating, (None, None)))
    wanted = count if enough is None else checks.whole("enough", enough, 0, count)
    better = dominates(scores)

    def more(carry: tuple[Array, Array, Array]) -> Bool[Array, ""]:
        return jnp.sum(carry[0] < count, dtype=jnp.int32) < wanted

    def take_off(carry: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        ranks, above, number = carry  # above: how many of those that are left dominate each
        front = (ranks == count) & (above == 0)
        above = above - jnp.sum(better & front[:, None], axis=0, dtype=jnp.int32)
        return jnp.where(front, number, ranks), above, number + 1

    begin = jnp.full(count, count, jnp.int32), jnp.sum(better, axis=0, dtype=jnp.int32), jnp.int32(0)
    ranks: Array = jax.lax.while_loop(more, take_off, begin)[0]
    return ranks


def crowding(scores: Float32[Array, "n objectives"], ranks: Int32[Array, " n"]) -> Float32[Array, " n"]:
    """How far the neighbours of each candidate in its front are apart: the sum over scores of the difference between
    the next better and the next worse one, as a share of the range of all; infinite for the best and worst of a front.

    Equal scores stand in the order of candidates. Source: as `fronts`, section III B.
    """
    scores = _without_nan(checks.array("scores", scores, jnp.floating, (None, None)))
    places = jax.lax.iota(jnp.int32, len(scores))
    edge = jnp.ones(1, bool)

    def of_one(values: Float32[Array, " n"]) -> Float32[Array, " n"]:
        front, value, place = jax.lax.sort((ranks, values, places), num_keys=2, is_stable=True)
        differs = front[1:] != front[:-1]
        at_end = jnp.concatenate([edge, differs]) | jnp.concatenate([differs, edge])
        finite = jnp.isfinite(value)
        span = jnp.max(jnp.where(finite, value, -jnp.inf)) - jnp.min(jnp.where(finite, value, jnp.inf))
        gap = (jnp.roll(value, -1) - jnp.roll(value, 1)) / jnp.where(span > 0, span, 1.0)
        gap = jnp.where(at_end, jnp.inf, jnp.where(jnp.isnan(gap), 0.0, gap))
        return jax.lax.sort((place, gap), num_keys=1)[1]

    return jnp.sum(jax.vmap(of_one, in_axes=1)(scores), axis=0)


def _without_nan(scores: Float32[Array, "..."]) -> Float32[Array, "..."]:
    return jnp.where(jnp.isnan(scores), -jnp.inf, scores)
