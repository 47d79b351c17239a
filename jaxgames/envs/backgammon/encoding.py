"""What a network sees of a backgammon position: Tesauro's 198 inputs, alone or with others, and a fast value.

All encodings describe a position that waits for a roll, seen by the player about to roll.
"""

import dataclasses
import functools
import itertools
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Bool, Float32, Int32, UInt32

from jaxgames.envs.backgammon import board, strategic
from jaxgames.envs.backgammon.best import FEW, Score
from jaxgames.envs.backgammon.board import Position, Side
from jaxgames.envs.backgammon.play_lists import steps
from jaxgames.ops import bits
from jaxgames.ops.materialize import materialize
from jaxgames.ops.pytrees import take


@dataclasses.dataclass(frozen=True)
class Tesauro:
    """Tesauro's raw encoding (TD-Gammon, 1992): 198 inputs.

    Four for each point and side, at least 1, 2, 3 checkers and half of those above three; 96 for the player about to
    roll, then 96 for the other, each in own numbering. Then bar / 2 of both, off / 15 of both, and whose turn it is:
    1, 0.
    """

    size: int = 198

    def __call__(self, positions: Position) -> Float32[Array, "... 198"]:
        """float32[..., 198] for positions of any batch shape."""
        sides = (positions.own, positions.opponent)
        points = [_point_units(side) for side in sides]
        bar = [board.count(side, jnp.uint32(board.BAR)).astype(jnp.float32) * 0.5 for side in sides]
        off = [(board.CHECKERS - board.total(side)).astype(jnp.float32) * jnp.float32(1 / 15) for side in sides]
        rest = jnp.stack([*bar, *off, jnp.ones_like(bar[0]), jnp.zeros_like(bar[0])], axis=-1)
        return jnp.concatenate([*points, rest], axis=-1)

    def swap(self, inputs: Float32[Array, "... 198"]) -> Float32[Array, "... 198"]:
        """The same inputs with the names of the two players exchanged."""
        return inputs[..., _SWAPPED]

    def value(self, kernel: Array, bias: Array, tail: Callable, swapped: Array | None = None) -> "FirstLayer":
        """The fast value of a network on these inputs, from its first layer and what follows it."""
        return FirstLayer(self, kernel, bias, tail, swapped)


_SWAPPED = np.concatenate([np.arange(96, 192), np.arange(96), [193, 192, 195, 194, 197, 196]]).astype(np.int32)


@dataclasses.dataclass(frozen=True)
class Extra:
    """The 212 inputs of the "Extra" network: Tesauro's 198, two race flags and the longest block of both sides.

    Race flags: 1, 0 while the players can still hit each other, 0, 1 in a race. Longest block, six units for each side,
    the player about to roll first: unit k says that at least k adjacent points hold two or more checkers each.
    """

    size: int = 212

    def __call__(self, positions: Position) -> Float32[Array, "... 212"]:
        """float32[..., 212] for positions of any batch shape."""
        rear = [bits.top_index(board.occupied(side)) for side in (positions.own, positions.opponent)]
        race = (rear[0] + rear[1] < jnp.uint32(25)).astype(jnp.float32)
        flags = jnp.stack([1.0 - race, race], axis=-1)
        blocks = [_longest_block(side) for side in (positions.own, positions.opponent)]
        return jnp.concatenate([Tesauro()(positions), flags, *blocks], axis=-1)

    def swap(self, inputs: Float32[Array, "... 212"]) -> Float32[Array, "... 212"]:
        """The same inputs with the names of the two players exchanged."""
        order = np.concatenate([_SWAPPED, [198, 199], np.arange(206, 212), np.arange(200, 206)])
        return inputs[..., order]


@dataclasses.dataclass(frozen=True)
class Strategic:
    """Tesauro's 198 inputs and the 63 numbers of `strategic`; three classes of positions, which have networks each."""

    size: int = 198 + strategic.SIZE
    classes: int = strategic.CLASSES

    def __call__(self, positions: Position) -> Float32[Array, "... 261"]:
        """float32[..., 261] for positions of any batch shape."""
        return jnp.concatenate([Tesauro()(positions), strategic.features(positions)], axis=-1)

    def swap(self, inputs: Float32[Array, "... 261"]) -> Float32[Array, "... 261"]:
        """The same inputs with the names of the two players exchanged."""
        return inputs[..., np.concatenate([_SWAPPED, 198 + strategic.SWAPPED])]

    def value(self, kernel: Array, bias: Array, tail: Callable, swapped: Array | None = None) -> "FirstLayer":
        """The fast value of a network on these inputs, or of one for each class: those have an axis in front."""
        by_class = kernel.ndim == 3
        if by_class:
            kernel, bias = jnp.moveaxis(kernel, 0, 1).reshape(self.size, -1), bias.reshape(-1)
        return FirstLayer(Tesauro(), kernel[:198], bias, tail, swapped, kernel[198:], self.classes if by_class else 1)

    def class_of(self, positions: Position) -> Int32[Array, "..."]:
        """The class of each position: contact, crashed, race."""
        return strategic.position_class(positions)


def _longest_block(side: Side) -> Float32[Array, "... 6"]:
    points = board.several(side) & board.POINTS
    runs = [points]
    for length in range(1, 6):
        runs.append(runs[-1] & (points >> jnp.uint32(length)))
    return jnp.stack([(run != 0).astype(jnp.float32) for run in runs], axis=-1)


def _point_units(side: Side) -> Float32[Array, "... 96"]:
    """at least 1, at least 2, at least 3, (n - 3) / 2 above: four blocks of 24."""
    counts = board.to_counts(side)[..., :24].astype(jnp.float32)
    units = [(counts >= n).astype(jnp.float32) for n in (1, 2, 3)]
    return jnp.concatenate([*units, jnp.maximum(counts - 3.0, 0.0) * 0.5], axis=-1)


class FirstLayer(NamedTuple):
    """The value of a network on Tesauro's inputs. Its first layer is linear in them, so a play can update its sums.

    `tail` maps the sums `encoding(positions) @ kernel + bias`, float32[n, hidden], to the expected points,
    float32[n], of the player about to roll. Called like any other value it recomputes the sums. If `swapped`, the
    network sees the two players exchanged. `strategic` are the weights of the inputs of `strategic`, if it
    sees them too: those inputs are recomputed for every position. If there are several `classes`, each has a network:
    their hidden units are side by side, and `tail(sums, number)` is the rest of the network of class `number`.
    """

    encoding: Tesauro
    kernel: Float32[Array, "198 classes*hidden"]
    bias: Float32[Array, " classes*hidden"]
    tail: Callable[..., Float32[Array, " n"]]
    swapped: Bool[Array, ""] | None = None
    strategic: Float32[Array, "63 classes*hidden"] | None = None
    classes: int = 1

    def __call__(self, positions: Position) -> Float32[Array, " n"]:
        """Expected points of the player about to roll."""
        kind, sums = self.class_of(positions), self.sums(positions)
        places = self.places(jnp.arange(len(sums), dtype=jnp.int32), kind)
        return self.points(self.rows(sums)[places], positions, kind)

    def class_of(self, positions: Position) -> Int32[Array, " n"] | None:
        """The class of each position; None if there is only one."""
        return strategic.position_class(positions) if self.classes > 1 else None

    def points(
        self, sums: Float32[Array, "n hidden"], positions: Position, kind: Int32[Array, " n"] | None
    ) -> Float32[Array, " n"]:
        """Expected points, from the part of each position's sums that comes from Tesauro's inputs."""
        if self.strategic is None:
            return self.tail(sums)
        inputs = strategic.features(positions)
        if self.swapped is not None:
            inputs = jnp.where(self.swapped, inputs[..., strategic.SWAPPED], inputs)
        if kind is None:
            return self.tail(sums + inputs @ self.strategic)
        points = jnp.zeros(len(sums), jnp.float32)
        for number, weights in enumerate(jnp.split(self.strategic, self.classes, axis=-1)):
            here = kind == number

            def of_class(points, here=here, number=number, weights=weights):
                return jnp.where(here, self.tail(sums + inputs @ weights, number), points)

            # Positions that are looked at together are often all of one class.
            points = lax.cond(jnp.any(here), of_class, lambda points: points, points)
        return points

    def rows(self, wide: Float32[Array, "m classes*hidden"]) -> Float32[Array, "m*classes hidden"]:
        """A row for each class."""
        return jnp.asarray(wide).reshape(len(wide) * self.classes, -1)

    def places(self, number: Int32[Array, " n"], kind: Int32[Array, " n"] | None) -> Int32[Array, " n"]:
        """Where in `rows` the row `number` of a class stands."""
        return number if kind is None else number * self.classes + kind

    def sums(self, positions: Position) -> Float32[Array, "n classes*hidden"]:
        """The part of the first layer's sums that comes from Tesauro's inputs, before activation, for every class."""
        inputs = self.encoding(positions)
        if self.swapped is not None:
            inputs = jnp.where(self.swapped, self.encoding.swap(inputs), inputs)
        return inputs @ self.kernel + self.bias[None, :]


LANDS, OFF, NO_CHANGE = 24 * 4 + 1, 24 * 4 + 1 + 24 * 5, 24 * 4 + 1 + 24 * 5 + 1  # numbers of changes


class Change(NamedTuple):
    """Up to three inputs that a change adds to, and how much."""

    inputs: Int32[np.ndarray, "219 3"]
    amounts: Float32[np.ndarray, "219 3"]


@functools.cache
def change_table() -> Change:
    """What each change that one checker makes on the board adds to Tesauro's inputs.

    The checker belongs to the player who does not roll next. The rows, in order:

    - it leaves point p, where 1, 2, 3, or 4 and more checkers stood (24 x 4 rows);
    - it leaves the bar;
    - it lands on point p, where 0, 1, 2, or 3 and more checkers stood, or where it hits a blot (24 x 5 rows);
    - it is borne off;
    - nothing changes.

    Only a hit changes three inputs: the blot's point, by its owner's numbering, and the bar, too.
    """
    table = Change(np.zeros((NO_CHANGE + 1, 3), np.int32), np.zeros((NO_CHANGE + 1, 3), np.float32))

    def put(row: int, *parts: tuple[int, float]) -> None:
        for place, (number, amount) in enumerate(parts):
            table.inputs[row, place], table.amounts[row, place] = number, amount

    for point in range(24):
        for level, amount in enumerate((1, 1, 1, 0.5)):
            unit = 96 + 24 * level + point
            put(4 * point + level, (unit, -amount))
            put(LANDS + 5 * point + level, (unit, amount))
        put(LANDS + 5 * point + 4, (96 + point, 1), (23 - point, -1), (192, 0.5))
    put(96, (193, -0.5))
    put(OFF, (195, 1 / 15))
    return table


def change_rows(value: FirstLayer) -> Float32[Array, "219 hidden"]:
    """What each change adds to the first layer's sums."""
    inputs, amounts = change_table()
    parts = jnp.asarray(value.kernel)[_seen(value, inputs)] * jnp.asarray(amounts)[:, :, None]
    return parts[:, 0] + parts[:, 1] + parts[:, 2]


def _seen(value: FirstLayer, inputs: Int32[np.ndarray, "..."]) -> Int32[Array, "..."]:
    """The numbers of inputs as the network sees them."""
    seen = jnp.asarray(inputs)
    return seen if value.swapped is None else jnp.where(value.swapped, jnp.asarray(_SWAPPED)[inputs], seen)


def changes(
    positions: Position, game: Int32[Array, " n"], code: UInt32[Array, " n"], moves: int
) -> tuple[list[Int32[Array, " n"]], Side, Side]:
    """The changes (`change_table`) that each play of a list makes, and both sides after it.

    There are two for each of its moves: a checker leaves, and it lands.
    """
    own, opponent = take((positions.own, positions.opponent), game)
    rows = []
    for source, die in steps(positions, game, code, moves):
        left = jnp.minimum(board.count(own, source), jnp.uint32(4))
        target = source - jnp.minimum(die, source)
        there = jnp.minimum(board.count(own, target), jnp.uint32(3))
        active = source != 0
        blot = board.count(opponent, jnp.uint32(25) - target) == 1
        own, opponent = board.move(own, opponent, source, die, active)
        leave = jnp.where(
            source == board.BAR, jnp.uint32(96), (source - jnp.uint32(1)) * jnp.uint32(4) + left - jnp.uint32(1)
        )
        land = jnp.uint32(LANDS) + (target - jnp.uint32(1)) * jnp.uint32(5) + jnp.where(blot, jnp.uint32(4), there)
        land = jnp.where(target == 0, jnp.uint32(OFF), land)
        rows += [jnp.where(active, row, jnp.uint32(NO_CHANGE)).astype(jnp.int32) for row in (leave, land)]
    return rows, own, opponent


def score_first_layer(positions: Position, value: FirstLayer) -> Score:
    """A score that updates the first layer's sums by the rows that change, instead of multiplying 198 inputs.

    Exact up to rounding: the sums are linear in the inputs, and a move changes at most five of them.
    """
    base = value.rows(value.sums(Position(positions.opponent, positions.own, positions.dice)))
    # For few positions the table of all changes would cost more than it saves: their inputs are looked up one by one.
    few = len(positions.dice) <= FEW
    inputs, amounts = change_table()
    seen, rows = _seen(value, inputs), value.rows(value.kernel if few else change_rows(value))

    def add(sums, number, kind, parts):
        if not few:
            return sums + rows.at[value.places(number, kind)].get(mode="promise_in_bounds")
        for part in range(parts):
            row = rows.at[value.places(seen[:, part][number], kind)].get(mode="promise_in_bounds")
            sums += row * jnp.asarray(amounts[:, part])[number][:, None]
        return sums

    def score(game, code, moves):
        numbers, own, opponent = changes(positions, game, code, moves)
        own, opponent = jax.tree.map(lambda word: materialize(word, code), (own, opponent))
        after = Position(opponent, own, code)
        kind = value.class_of(after)
        if few:
            numbers = list(materialize(jnp.stack(numbers), positions.dice[:1]))
        sums = base[value.places(game, kind)]
        for number, parts in zip(numbers, itertools.cycle((1, 3)), strict=False):
            sums = add(sums, number, kind, parts)
        won = board.occupied(own) == 0
        theirs = value.points(sums, after, kind)
        return jnp.where(won, board.result(opponent).astype(jnp.float32), -theirs)

    return score
