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
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float32, UInt32

from jaxgames.algos.minimax import moves as sets
from jaxgames.algos.minimax.node import NEGATED, OTHER, OWN, RAISED, TURN, UNDER_OWN, VIA, Lanes, Node, from_row, to_row
from jaxgames.algos.minimax.packing import Packing, Words
from jaxgames.envs import once
from jaxgames.envs.core import Game, Outcome, Value
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
    """A node after some of its moves. `expand`: one was tried; `push`: the last one leads on, to `child`."""

    node: Node
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
    active = level >= 0
    none_left = sets.is_empty(node.moves)
    cut = active & ~push & (node.best >= node.beta) & ~none_left
    up = once.flag(active & ~push & (none_left | cut), level)
    in_place = push & none_left & (level > 0) & rules.prune
    twice = up & _cuts_above(node.flags) & rules.prune & (level > 1)
    in_place, twice = once.flag(in_place, level), once.flag(twice, level)

    killer = jnp.where(cut, tried.move, node.tried >> 16)
    node = node._replace(tried=tried.move | (killer << 16))
    after = level + (push & ~in_place).astype(jnp.int32) - up.astype(jnp.int32) - twice.astype(jnp.int32)
    after = once.index(after, level)
    count, lane = len(level), jnp.arange(len(level), dtype=jnp.int32)
    nowhere = len(lanes.stack)
    stack = lanes.stack.at[jnp.where(active, level * count + lane, nowhere)].set(
        to_row(node), mode="drop", unique_indices=True
    )
    via = node.flags >> VIA
    if rules.prune:  # the cut above: its move is to be the first next time
        column = len(node.position) + len(node.moves) + 1
        above = jnp.where(twice, (level - 1) * count + lane, nowhere)
        stack = stack.at[above, column].set(via | (via << 16), mode="drop", unique_indices=True)
    row = stack.at[jnp.maximum(after, 0) * count + lane].get(mode="promise_in_bounds")
    got = from_row(row, len(node.moves))

    handed = jnp.minimum(node.best, node.beta)
    handed = jnp.where(((node.flags & NEGATED) != 0) & ~twice, -handed, handed)
    higher = handed > got.best
    upper = got._replace(
        best=jnp.maximum(got.best, handed),
        flags=got.flags | jnp.where(higher & ~twice, jnp.uint32(RAISED), jnp.uint32(0)),
    )
    lower = _down(rules, node, tried, in_place, got.tried)
    chosen = jax.tree.map(lambda x, y, z: jnp.where(push, x, jnp.where(up, y, z)), lower, upper, node)
    better = tried.better | (up & (after == 0) & (handed > lanes.value))
    value = jnp.where(tried.better, node.best, handed)
    move = jnp.where(tried.better, tried.best_move, got.tried & 0xFFFF)
    cuts = cut.astype(jnp.uint32)
    other = (node.flags & OTHER) != 0
    above = twice.astype(jnp.uint32)
    return lanes._replace(
        node=chosen,
        level=after,
        stack=stack,
        value=jnp.where(better, value, lanes.value),
        move=jnp.where(better, move, lanes.move),
        nodes=lanes.nodes + tried.nodes,
        alpha_cuts=lanes.alpha_cuts + jnp.where(other, cuts, above),
        beta_cuts=lanes.beta_cuts + jnp.where(other, above, cuts),
    )


def _tries(rules: Rules, lanes: Lanes) -> Tried:
    """Tries moves of each node until one leads on, or there were enough of them."""
    level = lanes.level
    at_root, turn = level == 0, _turn(lanes.node.flags)
    node, none = lanes.node, jnp.zeros_like(lanes.node.flags)
    tried = Tried(node, node.tried & 0xFFFF, none != 0, node.position, none != 0, none, none != 0, none)
    for attempt in range(rules.tries):
        node = tried.node
        may = (level >= 0) & ~tried.push & ~sets.is_empty(node.moves) & (node.best < node.beta)
        may = once.flag(may, level)
        move = once.word(jnp.where(may, _choice(rules, node, at_root, lanes.word), tried.move), level)
        outcome, child, switch = _play(rules, node.position, move, level)
        leaf = outcome.over | (turn + switch.astype(jnp.uint32) > lanes.horizon) | (level + 1 >= rules.levels)
        reached = rules.packing.unpack(child)
        value = once.number(_leaf_value(rules, lanes, outcome, reached, switch), level)
        better = once.flag(may & leaf & (value > node.best), level)
        raised = jnp.where(better, jnp.uint32(RAISED), jnp.uint32(0))
        left = tuple(once.word(x, level) for x in sets.without(node.moves, move, may))
        after = node._replace(moves=left, best=jnp.where(better, value, node.best), flags=node.flags | raised)
        push = once.flag(may & ~leaf, level)
        if attempt:
            child = [once.word(jnp.where(may, x, y), level) for x, y in zip(child, tried.child, strict=True)]
            switch = once.flag(jnp.where(may, switch, tried.switch), level)
        tried = Tried(
            after,
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
    rules: Rules, node: Node, at_root: Bool[Array, " lanes"], word: UInt32[Array, " lanes"]
) -> UInt32[Array, " lanes"]:
    """The move to try next: the last one that made a cut here, else the first; at the root any, if ties are drawn."""
    move = sets.first(node.moves)
    if rules.prune:
        killer = node.tried >> 16
        move = jnp.where(sets.has(node.moves, killer), killer, move)
    if rules.draw:
        random = stream(word, sets.count(node.moves).astype(jnp.uint32))
        move = jnp.where(at_root, sets.drawn(node.moves, random), move)
    return move


def _play(
    rules: Rules, words: Words, move: UInt32[Array, " lanes"], level: Array
) -> tuple[Outcome, Words, Bool[Array, " lanes"]]:
    """The outcome of a move, and the position after it as words."""
    position = rules.packing.unpack(words)
    outcome = jax.vmap(rules.game.play)(position, jax.vmap(rules.game.action_of_move)(position, move))
    child = [once.word(word, level) for word in rules.packing.pack(outcome.position)]
    return outcome, child, once.flag(outcome.switch, level)


def _leaf_value(
    rules: Rules, lanes: Lanes, outcome: Outcome, reached: Any, switch: Bool[Array, " lanes"]
) -> Float32[Array, " lanes"]:
    """What a position that is not searched is worth to the player who moved there."""
    flags = lanes.node.flags
    turn = _turn(flags).astype(jnp.int32).astype(jnp.float32)
    final = outcome.reward * WIN - jnp.sign(outcome.reward) * turn
    guess, other = rules.evaluate(reached), (flags & OTHER) != 0
    guess = jnp.where(switch, -guess, guess) - jnp.where(other, -lanes.base, lanes.base)
    # NaN is no reason to go anywhere. Adding 0 makes 0 of -0.
    guess = jnp.where(guess == guess, jnp.clip(guess, -LIMIT, LIMIT), -LIMIT) + 0.0
    return jnp.where(outcome.over, final, guess)


def _down(
    rules: Rules, node: Node, tried: Tried, in_place: Bool[Array, " lanes"], last: UInt32[Array, " lanes"]
) -> Node:
    """The node one level down, or in the same place."""
    flags, switch = node.flags, tried.switch
    turn = _turn(flags) + switch.astype(jnp.uint32)
    negated = jnp.where(switch, jnp.uint32(NEGATED), jnp.uint32(0))
    under = (flags & (OWN | NEGATED)) == (OWN | NEGATED)
    kind = jnp.where(switch, jnp.uint32(OWN), jnp.uint32(0)) | jnp.where(under, jnp.uint32(UNDER_OWN), jnp.uint32(0))
    kind = jnp.where(in_place, (flags & NEGATED) ^ negated, negated | kind)
    other = (flags & OTHER) ^ switch.astype(jnp.uint32)
    if rules.prune:
        least = turn.astype(jnp.int32).astype(jnp.float32) + 1 - rules.most  # that of losing to the next move
        best = jnp.where(switch, -node.beta, node.best)
        kind = kind | jnp.where(least > best, jnp.uint32(RAISED), jnp.uint32(0))
        best, beta = jnp.maximum(best, least), jnp.where(switch, -node.best, node.beta)
    else:
        best, beta = jnp.full_like(node.best, -jnp.inf), node.beta
    legal = jax.vmap(rules.game.moves)(rules.packing.unpack(tried.child))
    word = other | kind | (turn << TURN) | (tried.move << VIA)
    return Node(tried.child, legal, word, last | 0xFFFF, best, beta)


def _cuts_above(flags: UInt32[Array, " lanes"]) -> Bool[Array, " lanes"]:
    """Whether the value of such a node makes a cut in the node above."""
    wanted = OWN | NEGATED | UNDER_OWN
    return (flags & (wanted | RAISED)) == wanted


def _turn(flags: UInt32[Array, " lanes"]) -> UInt32[Array, " lanes"]:
    return (flags >> TURN) & ((1 << (VIA - TURN)) - 1)
