"""One step of a depth-first search in every lane, of which each searches one position.

A step does the following in all lanes together.

1. A move of the node is tried. If it ends the game or reaches the horizon, its value is the node's if that is better.
2. A move that leads on takes the search one level *down*, to the position reached.
3. If there are no more moves, or what the node has makes it pointless (`best` has reached `beta`: a *cut*), the search
   goes *up*, and its value is that of a move of the node above.

Two short cuts save steps where branches are cut. The position after the last move of a node takes that node's place, as
nothing is left to do there. And where a node could not raise its value, the node above is cut: up two levels at once.
So about every step tries a move.

The node's row is written in each step, and the row of the level that the search comes to is read. The moves of a node
are found anew when it is needed again: that is cheaper than to store them.
"""

import dataclasses
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float32, UInt32

from jaxgames.algos.minimax import moves as sets
from jaxgames.algos.minimax.node import (
    BEGUN,
    NEGATED,
    OTHER,
    OWN,
    RAISED,
    TURN,
    UNDER_OWN,
    VIA,
    Lanes,
    Node,
    from_row,
    to_row,
)
from jaxgames.algos.minimax.packing import Packing, Words
from jaxgames.algos.minimax.table import EXACT, LOWER, UPPER, Entry, look_up, store
from jaxgames.envs.core import Game, Value
from jaxgames.ops.materialize import materialize

WIN = 10_000.0
"""The value of one point won at once; each turn that it takes costs 1."""

LIMIT = 9_000.0
"""Evaluations beyond this count as this, so that no guess is better than a win in sight."""


@dataclasses.dataclass(frozen=True)
class Rules:
    """What a search is about: the game, how leaves are evaluated, whether branches are cut, how many levels fit."""

    game: Game
    packing: Packing
    evaluate: Value
    prune: bool
    levels: int
    table: int = 0

    @property
    def short_cuts(self) -> bool:
        """Whether the search leaves nodes out on the way up. A table is to hold them."""
        return self.prune and not self.table

    @property
    def most(self) -> float:
        """More than any value."""
        return self.game.max_reward * WIN


class Tried(NamedTuple):
    """A node after a move: what the move was, whether any is left, and, if `push`, that it leads on to `child`."""

    node: Node
    move: UInt32[Array, " lanes"]
    rank: UInt32[Array, " lanes"]
    none_left: Bool[Array, " lanes"]
    may: Bool[Array, " lanes"]
    push: Bool[Array, " lanes"]
    child: Words
    switch: Bool[Array, " lanes"]


def tick(rules: Rules, lanes: Lanes, listed: UInt32[Array, " moves"]) -> Lanes:
    """One step in every lane. `listed`: the moves of the roots, those of one lane after those of another."""
    level = lanes.level
    tried = _try(rules, lanes, listed)
    node, push, none_left = tried.node, tried.push, tried.none_left
    via, other = node.flags >> VIA, (node.flags & OTHER) != 0
    active, at_root = level >= 0, level == 0
    cut = active & ~push & (node.best >= node.beta)
    up = materialize(active & ~push & (none_left | cut), level)
    in_place = materialize(push & none_left & (level > 0) & rules.short_cuts, level)
    twice = materialize(up & _cuts_above(node.flags) & rules.short_cuts & (level > 1), level)
    after = level + (push & ~in_place).astype(jnp.int32) - up.astype(jnp.int32) - twice.astype(jnp.int32)
    after = materialize(after, level)

    # The row of a node that is done is of no use, but for the move to try first on this level next time. If the one
    # above is done too, its move is written.
    killer = jnp.where(twice, via, jnp.where(cut & tried.may & ~at_root, tried.move, node.order >> 16))
    node = node._replace(order=materialize((node.order & 0xFFFF) | (killer << 16), level))
    count, lane = len(level), jnp.arange(len(level), dtype=jnp.int32)
    place = (level - twice.astype(jnp.int32)) * count + lane
    stack = lanes.stack.at[jnp.where(active, place, len(lanes.stack))].set(
        to_row(node), mode="drop", unique_indices=True
    )
    got = from_row(stack.at[jnp.maximum(after, 0) * count + lane].get(mode="promise_in_bounds"))

    handed = jnp.minimum(node.best, node.beta)
    handed = materialize(jnp.where(((node.flags & NEGATED) != 0) & ~twice, -handed, handed), level)
    raised = jnp.where((handed > got.best) & ~twice, jnp.uint32(RAISED), jnp.uint32(0))
    cuts_there = (handed >= got.beta) & ~twice & (after > 0)
    upper = got._replace(
        flags=got.flags | raised,
        order=jnp.where(cuts_there, (got.order & 0xFFFF) | (via << 16), got.order),
        best=jnp.maximum(got.best, handed),
    )
    lower = _down(rules, tried, at_root, in_place, got.order)
    chosen = jax.tree.map(lambda x, y, z: jnp.where(push, x, jnp.where(up, y, z)), lower, upper, node)
    found = jnp.where(at_root, node.best, handed)
    better = active & ~push & (at_root | (up & (after == 0))) & (found > lanes.value)
    cuts, above = (cut & ~none_left).astype(jnp.uint32), twice.astype(jnp.uint32)
    table = lanes.table
    if rules.table:
        kind = jnp.where((node.flags & RAISED) != 0, jnp.uint32(EXACT), jnp.uint32(UPPER))
        kind = jnp.where(node.best >= node.beta, jnp.uint32(LOWER), kind)
        whole = Entry(up & ((node.flags & OWN) != 0) & ~at_root, kind, node.best)
        table = store(table, node.position, _tag(lanes, _turn(node.flags)), whole)
    return lanes._replace(
        node=chosen,
        table=table,
        level=after,
        stack=stack,
        value=jnp.where(better, found, lanes.value),
        rank=jnp.where(better, jnp.where(at_root, tried.rank, via), lanes.rank),
        nodes=lanes.nodes + tried.may.astype(jnp.uint32),
        alpha_cuts=lanes.alpha_cuts + jnp.where(other, cuts, above),
        beta_cuts=lanes.beta_cuts + jnp.where(other, above, cuts),
    )


def _try(rules: Rules, lanes: Lanes, listed: UInt32[Array, " moves"]) -> Tried:
    """Tries a move of each node. The root's have their order; elsewhere the last one that made a cut is the first."""
    game, level, node = rules.game, lanes.level, lanes.node
    begun, at_root = node.order & 0xFFFF, level == 0
    special = node.order >> 16  # at the root, the rank at which its moves end
    left = sets.from_on(jax.vmap(game.moves)(rules.packing.unpack(node.position)), begun)
    if rules.prune:
        left = sets.without(left, special, (node.flags & BEGUN) != 0)
    left = tuple(materialize(word, level) for word in left)
    any_left = jnp.where(at_root, begun < special, ~sets.is_empty(left))
    may = materialize((level >= 0) & any_left & (node.best < node.beta), level)
    move = sets.first(left)
    if rules.prune:
        move = jnp.where(sets.has(left, special), special, move)
    place = jnp.arange(len(level), dtype=jnp.int32) * lanes.moves.shape[1] + begun.astype(jnp.int32)
    move = materialize(jnp.where(at_root, listed.at[place].get(mode="clip"), move), level)

    child, verdict = _play(rules, node.position, move, level)
    switch = verdict == jnp.inf
    late = _turn(node.flags) + switch.astype(jnp.uint32) > lanes.horizon
    leaf = materialize(~jnp.isinf(verdict) | late | (level + 1 >= rules.levels), level)
    value = materialize(_leaf_value(rules, lanes, verdict, child), level)
    if rules.table:
        entry = look_up(lanes.table, child, _tag(lanes, _turn(node.flags) + 1))
        low, high = (entry.kind & LOWER) != 0, (entry.kind & UPPER) != 0
        enough = (low & high) | (low & (-entry.value <= node.best)) | (high & (-entry.value >= node.beta))
        known = materialize(entry.there & enough & switch & ~leaf, level)
        leaf, value = leaf | known, jnp.where(known, -entry.value, value)
    better = may & leaf & (value > node.best)
    flags = node.flags | jnp.where(better, jnp.uint32(RAISED), jnp.uint32(0))
    flags = flags | jnp.where(may, jnp.uint32(BEGUN), jnp.uint32(0))
    in_order = may & (at_root | (move != special)) if rules.prune else may
    begun = jnp.where(in_order, jnp.where(at_root, begun, move) + 1, begun)
    tried = node._replace(
        flags=materialize(flags, level),
        order=materialize((special << 16) | begun, level),
        best=materialize(jnp.where(better, value, node.best), level),
    )
    none_left = jnp.where(at_root, begun >= special, sets.is_empty(sets.without(left, move, may)))
    none_left, push = materialize(none_left, level), materialize(may & ~leaf, level)
    return Tried(tried, move, node.order & 0xFFFF, none_left, may, push, child, switch)


def _play(
    rules: Rules, words: Words, move: UInt32[Array, " lanes"], level: Array
) -> tuple[Words, Float32[Array, " lanes"]]:
    """The position after a move, and a verdict: the reward if that ends the game, else inf if the turn passes or -inf.

    All in one number, as what the rules compute is computed anew for each array that is made of it.
    """
    position = rules.packing.unpack(words)
    action = materialize(jax.vmap(rules.game.action_of_move)(position, move), level)
    outcome = jax.vmap(rules.game.play)(position, action)
    child = [materialize(word, level) for word in rules.packing.pack(outcome.position)]
    verdict = jnp.where(outcome.over, outcome.reward, jnp.where(outcome.turn_passes, jnp.inf, -jnp.inf))
    return child, materialize(verdict, level)


def _leaf_value(
    rules: Rules, lanes: Lanes, verdict: Float32[Array, " lanes"], child: Words
) -> Float32[Array, " lanes"]:
    """What a position that is not searched is worth to the player who moved there."""
    flags = lanes.node.flags
    turn = _turn(flags).astype(jnp.int32).astype(jnp.float32)
    final = verdict * WIN - jnp.sign(verdict) * turn
    guess, other = rules.evaluate(rules.packing.unpack(child)), (flags & OTHER) != 0
    guess = jnp.where(verdict > 0, -guess, guess) - jnp.where(other, -lanes.base, lanes.base)
    guess = jnp.where(guess == guess, jnp.clip(guess, -LIMIT, LIMIT), -LIMIT)  # NaN is no reason to go anywhere
    return jnp.where(jnp.isinf(verdict), guess, final)


def _down(
    rules: Rules,
    tried: Tried,
    at_root: Bool[Array, " lanes"],
    in_place: Bool[Array, " lanes"],
    order: UInt32[Array, " lanes"],
) -> Node:
    """The node one level down, or in the same place."""
    node, flags, switch = tried.node, tried.node.flags, tried.switch
    turn = _turn(flags) + switch.astype(jnp.uint32)
    negated = jnp.where(switch, jnp.uint32(NEGATED), jnp.uint32(0))
    under = (flags & (OWN | NEGATED)) == (OWN | NEGATED)
    kind = jnp.where(switch, jnp.uint32(OWN), jnp.uint32(0)) | jnp.where(under, jnp.uint32(UNDER_OWN), jnp.uint32(0))
    kind = jnp.where(in_place, (flags & NEGATED) ^ negated, negated | kind)
    other = (flags & OTHER) ^ switch.astype(jnp.uint32)
    via = jnp.where(in_place, flags >> VIA, jnp.where(at_root, tried.rank, tried.move))  # the root counts by ranks
    if rules.prune:
        least = turn.astype(jnp.int32).astype(jnp.float32) + 1 - rules.most  # that of losing to the next move
        best = jnp.where(switch, -node.beta, node.best)
        kind = kind | jnp.where(least > best, jnp.uint32(RAISED), jnp.uint32(0))
        best, beta = jnp.maximum(best, least), jnp.where(switch, -node.best, node.beta)
    else:
        best, beta = jnp.full_like(node.best, -jnp.inf), node.beta
    return Node(tried.child, other | kind | (turn << TURN) | (via << VIA), (order >> 16) << 16, best, beta)


def _cuts_above(flags: UInt32[Array, " lanes"]) -> Bool[Array, " lanes"]:
    """Whether the value of such a node makes a cut in the node above."""
    wanted = OWN | NEGATED | UNDER_OWN
    return (flags & (wanted | RAISED)) == wanted


def _tag(lanes: Lanes, turn: UInt32[Array, " lanes"]) -> UInt32[Array, " lanes"]:
    """For the table: the number of the search, and that of the turn."""
    return (lanes.job.astype(jnp.uint32) << (VIA - TURN)) | turn


def _turn(flags: UInt32[Array, " lanes"]) -> UInt32[Array, " lanes"]:
    return (flags >> TURN) & ((1 << (VIA - TURN)) - 1)
