"""One step of a depth-first search in every lane, of which each searches one position.

A step does the following in all lanes together.

1. A move of the node is tried. If it ends the game or reaches the horizon, its value is the node's if that is better.
   As long as that goes on and the node has moves, a few moves are tried in one step.
2. A move that leads on takes the search one level *down*, to the position reached.
3. If there are no more moves, or what the node has makes it pointless (`best` has reached `beta`: a *cut*), the search
   goes *up*, and its value is that of a move of the node above.

Two short cuts save steps where branches are cut. The position after the last move of a node takes that node's place, as
nothing is left to do there. And where a node could not raise its value, the node above is cut: up two levels at once.

The node's row is written in each step, and the row of the level that the search comes to is read.
"""

import dataclasses
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float32, UInt32

from jaxgames.algos.minimax import moves as sets
from jaxgames.algos.minimax.moves import Moves
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
from jaxgames.envs import once
from jaxgames.envs.core import Game, Value
from jaxgames.envs.words import stream

WIN = 10_000.0
"""The value of one point won at once; each turn that it takes costs 1."""

LIMIT = 9_000.0
"""Evaluations beyond this count as this, so that no guess is better than a win in sight."""


@dataclasses.dataclass(frozen=True)
class Rules:
    """What a search is about: the game, how leaves are evaluated, whether branches are cut and ties are drawn."""

    game: Game
    packing: Packing
    evaluate: Value
    prune: bool
    draw: bool
    levels: int
    tries: int = 2

    @property
    def most(self) -> float:
        """More than any value."""
        return self.game.max_reward * WIN


class Tried(NamedTuple):
    """A node after some of its moves, of which `left` are left; `push`: the last one, `move`, leads on to `child`."""

    node: Node
    left: Moves
    at_root: Moves
    move: UInt32[Array, " lanes"]
    push: Bool[Array, " lanes"]
    child: Words
    switch: Bool[Array, " lanes"]
    nodes: UInt32[Array, " lanes"]
    better: Bool[Array, " lanes"]
    best_move: UInt32[Array, " lanes"]


def tick(rules: Rules, lanes: Lanes) -> Lanes:
    """One step in every lane."""
    level = lanes.level
    tried = _tries(rules, lanes)
    node, push = tried.node, tried.push
    via, other = node.flags >> VIA, (node.flags & OTHER) != 0
    active, none_left = level >= 0, sets.is_empty(tried.left)
    cut = active & ~push & (node.best >= node.beta)
    up = once.flag(active & ~push & (none_left | cut), level)
    in_place = once.flag(push & none_left & (level > 0) & rules.prune, level)
    twice = once.flag(up & _cuts_above(node.flags) & rules.prune & (level > 1), level)
    after = level + (push & ~in_place).astype(jnp.int32) - up.astype(jnp.int32) - twice.astype(jnp.int32)
    after = once.index(after, level)

    # The row of a node that is done is of no use, but for the move to try first on this level next time. If the one
    # above is done too, its move is written.
    killer = jnp.where(twice, via, jnp.where(cut & (tried.nodes > 0), tried.move, node.order >> 16))
    node = node._replace(order=once.word((node.order & 0xFFFF) | (killer << 16), level))
    count, lane = len(level), jnp.arange(len(level), dtype=jnp.int32)
    place = (level - twice.astype(jnp.int32)) * count + lane
    stack = lanes.stack.at[jnp.where(active, place, len(lanes.stack))].set(
        to_row(node), mode="drop", unique_indices=True
    )
    got = from_row(stack.at[jnp.maximum(after, 0) * count + lane].get(mode="promise_in_bounds"))

    handed = jnp.minimum(node.best, node.beta)
    handed = once.number(jnp.where(((node.flags & NEGATED) != 0) & ~twice, -handed, handed), level)
    raised = jnp.where((handed > got.best) & ~twice, jnp.uint32(RAISED), jnp.uint32(0))
    cuts_there = (handed >= got.beta) & ~twice
    upper = got._replace(
        flags=got.flags | raised,
        order=jnp.where(cuts_there, (got.order & 0xFFFF) | (via << 16), got.order),
        best=jnp.maximum(got.best, handed),
    )
    lower = _down(rules, node, tried, in_place, got.order)
    chosen = jax.tree.map(lambda x, y, z: jnp.where(push, x, jnp.where(up, y, z)), lower, upper, node)
    better = tried.better | (up & (after == 0) & (handed > lanes.value))
    value = jnp.where(tried.better, node.best, handed)
    cuts, above = (cut & ~none_left).astype(jnp.uint32), twice.astype(jnp.uint32)
    return lanes._replace(
        node=chosen,
        level=after,
        stack=stack,
        left=tried.at_root,
        value=jnp.where(better, value, lanes.value),
        move=jnp.where(better, jnp.where(tried.better, tried.best_move, via), lanes.move),
        nodes=lanes.nodes + tried.nodes,
        alpha_cuts=lanes.alpha_cuts + jnp.where(other, cuts, above),
        beta_cuts=lanes.beta_cuts + jnp.where(other, above, cuts),
    )


def _tries(rules: Rules, lanes: Lanes) -> Tried:
    """Tries moves of each node until one leads on, or there were enough of them."""
    level, node = lanes.level, lanes.node
    at_root, turn = level == 0, _turn(node.flags)
    none = jnp.zeros_like(node.flags)
    left = sets.from_on(jax.vmap(rules.game.moves)(rules.packing.unpack(node.position)), node.order & 0xFFFF)
    if rules.prune:
        left = sets.without(left, node.order >> 16, (node.flags & BEGUN) != 0)
    if rules.draw:
        left = tuple(jnp.where(at_root, x, y) for x, y in zip(lanes.left, left, strict=True))
    left = tuple(once.word(word, level) for word in left)
    tried = Tried(node, left, lanes.left, none, none != 0, node.position, none != 0, none, none != 0, none)
    for attempt in range(rules.tries):
        node = tried.node
        may = (level >= 0) & ~tried.push & ~sets.is_empty(tried.left) & (node.best < node.beta)
        may = once.flag(may, level)
        move = once.word(jnp.where(may, _choice(rules, tried, at_root, lanes.word), tried.move), level)
        child, verdict = _play(rules, node.position, move, level)
        switch = verdict == jnp.inf
        leaf = ~jnp.isinf(verdict) | (turn + switch.astype(jnp.uint32) > lanes.horizon) | (level + 1 >= rules.levels)
        value = once.number(_leaf_value(rules, lanes, verdict, child), level)
        better = once.flag(may & leaf & (value > node.best), level)
        flags = node.flags | jnp.where(better, jnp.uint32(RAISED), jnp.uint32(0))
        order = node.order
        if rules.prune:
            killer = order >> 16
            in_order = may & (move != killer)
            flags = flags | jnp.where(may, jnp.uint32(BEGUN), jnp.uint32(0))
        else:
            in_order, killer = may, order >> 16
        order = jnp.where(in_order, (killer << 16) | (move + 1), order)
        left = tuple(once.word(x, level) for x in sets.without(tried.left, move, may))
        push = once.flag(may & ~leaf, level)
        if attempt:
            child = [once.word(jnp.where(may, x, y), level) for x, y in zip(child, tried.child, strict=True)]
            switch = once.flag(jnp.where(may, switch, tried.switch), level)
        best = once.number(jnp.where(better, value, node.best), level)
        at_the_root = tried.at_root
        if rules.draw:
            at_the_root = tuple(jnp.where(at_root, x, y) for x, y in zip(left, at_the_root, strict=True))
        tried = Tried(
            node._replace(flags=once.word(flags, level), order=once.word(order, level), best=best),
            left,
            at_the_root,
            move,
            tried.push | push,
            child,
            switch,
            tried.nodes + may.astype(jnp.uint32),
            tried.better | (better & at_root),
            jnp.where(better, move, tried.best_move),
        )
    return tried


def _choice(
    rules: Rules, tried: Tried, at_root: Bool[Array, " lanes"], word: UInt32[Array, " lanes"]
) -> UInt32[Array, " lanes"]:
    """The move to try next: the last one that made a cut here, else the first; at the root any, if ties are drawn."""
    move = sets.first(tried.left)
    if rules.prune:
        killer = tried.node.order >> 16
        move = jnp.where(sets.has(tried.left, killer), killer, move)
    if rules.draw:
        random = stream(word, sets.count(tried.left).astype(jnp.uint32))
        move = jnp.where(at_root, sets.drawn(tried.left, random), move)
    return move


def _play(
    rules: Rules, words: Words, move: UInt32[Array, " lanes"], level: Array
) -> tuple[Words, Float32[Array, " lanes"]]:
    """The position after a move, and a verdict: the reward if that ends the game, else inf if the turn passes or -inf.

    All in one number, as what the rules compute is computed anew for each array that is made of it.
    """
    position = rules.packing.unpack(words)
    action = once.index(jax.vmap(rules.game.action_of_move)(position, move), level)
    outcome = jax.vmap(rules.game.play)(position, action)
    child = [once.word(word, level) for word in rules.packing.pack(outcome.position)]
    verdict = jnp.where(outcome.over, outcome.reward, jnp.where(outcome.switch, jnp.inf, -jnp.inf))
    return child, once.number(verdict, level)


def _leaf_value(
    rules: Rules, lanes: Lanes, verdict: Float32[Array, " lanes"], child: Words
) -> Float32[Array, " lanes"]:
    """What a position that is not searched is worth to the player who moved there."""
    flags = lanes.node.flags
    turn = _turn(flags).astype(jnp.int32).astype(jnp.float32)
    final = verdict * WIN - jnp.sign(verdict) * turn
    guess, other = rules.evaluate(rules.packing.unpack(child)), (flags & OTHER) != 0
    guess = jnp.where(verdict > 0, -guess, guess) - jnp.where(other, -lanes.base, lanes.base)
    # NaN is no reason to go anywhere. Adding 0 makes 0 of -0.
    guess = jnp.where(guess == guess, jnp.clip(guess, -LIMIT, LIMIT), -LIMIT) + 0.0
    return jnp.where(jnp.isinf(verdict), guess, final)


def _down(
    rules: Rules, node: Node, tried: Tried, in_place: Bool[Array, " lanes"], order: UInt32[Array, " lanes"]
) -> Node:
    """The node one level down, or in the same place."""
    flags, switch = node.flags, tried.switch
    turn = _turn(flags) + switch.astype(jnp.uint32)
    negated = jnp.where(switch, jnp.uint32(NEGATED), jnp.uint32(0))
    under = (flags & (OWN | NEGATED)) == (OWN | NEGATED)
    kind = jnp.where(switch, jnp.uint32(OWN), jnp.uint32(0)) | jnp.where(under, jnp.uint32(UNDER_OWN), jnp.uint32(0))
    kind = jnp.where(in_place, (flags & NEGATED) ^ negated, negated | kind)
    other = (flags & OTHER) ^ switch.astype(jnp.uint32)
    via = jnp.where(in_place, flags >> VIA, tried.move)
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


def _turn(flags: UInt32[Array, " lanes"]) -> UInt32[Array, " lanes"]:
    return (flags >> TURN) & ((1 << (VIA - TURN)) - 1)
