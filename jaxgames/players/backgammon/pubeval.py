"""Pubeval, the public benchmark of backgammon (Gerald Tesauro, IBM Research, 1993).

A linear function of the board after the move, with one set of weights for positions with contact and one for races.
Whether it is a race is decided before the move, once for all plays, as in the original program.
"""

import dataclasses
import functools
import operator
from importlib import resources
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float32, UInt32

from jaxgames.envs.backgammon import board
from jaxgames.envs.backgammon.best import Score, apply_plays, best_plays
from jaxgames.envs.backgammon.board import Position, Side
from jaxgames.envs.backgammon.play_lists import after
from jaxgames.envs.core import Outcome
from jaxgames.ops import bits, json_text
from jaxgames.players.backgammon.simple import contact

WON = np.float32(99999999.0)  # the original's value of having borne off all


class Weights(NamedTuple):
    """Pubeval's two weight vectors, or others of its kind."""

    contact: Float32[Array | np.ndarray, "122"]
    race: Float32[Array | np.ndarray, "122"]


@functools.cache
def tesauro_weights() -> Weights:
    """The published weights, as NumPy arrays; see `pubeval.json` for their source and order."""
    data = json_text.loads((resources.files("jaxgames.players.backgammon") / "pubeval.json").read_text("utf-8"))
    return Weights(np.array(data["contact"], np.float32), np.array(data["race"], np.float32))


def evaluate(weights: Weights, own: Side, opponent: Side) -> tuple[Float32[Array, "..."], Float32[Array, "..."]]:
    """Pubeval's contact and race score of the board after a move of the player with the checkers `own`.

    Five inputs for each point from 24 down to 1: a blot of the opponent; of the mover one checker, two or more, exactly
    three, (n - 3) / 2 if there are n > 3. Then opponent's checkers on the bar / 2, and the mover's checkers off / 15.
    """
    both = jnp.stack([jnp.asarray(weights.contact), jnp.asarray(weights.race)], axis=-1)
    blots = board.blots(opponent)

    def add_point(sums: tuple[Array, Array], row: tuple[Array, Array]) -> tuple[tuple[Array, Array], None]:
        point, weight = row
        count = board.count(own, point).astype(jnp.int32)
        flags = (bits.has(blots, jnp.uint32(board.BAR) - point), count == 1, count >= 2, count == 3)
        units = [flag.astype(jnp.float32) for flag in flags] + [jnp.maximum(count - 3, 0).astype(jnp.float32) * 0.5]
        contact, race = (total + sum(map(operator.mul, weight[:, k], units)) for k, total in enumerate(sums))
        return (contact, race), None

    bar = board.count(opponent, jnp.uint32(board.BAR)).astype(jnp.float32) * 0.5
    off = (board.CHECKERS - board.total(own)).astype(jnp.float32) / 15
    contact, race = (bar * both[120, k] + off * both[121, k] for k in range(2))
    # A loop over points: its body compiles in a fraction of the time of 24 copies, and XLA cannot repeat the moves that
    # led to this board for each input, as it does when the 122 inputs are an array.
    points = jnp.arange(24, 0, -1, dtype=jnp.uint32)
    return jax.lax.scan(add_point, (contact, race), (points, both[:120].reshape(24, 5, 2)))[0]


def score(weights: Weights, positions: Position) -> Score:
    """What `best_plays` asks for: pubeval's score of a list of plays."""
    touching = contact(positions.own, positions.opponent)

    def of_plays(game, code, moves):
        own, opponent = after(positions, game, code, moves)
        value = jnp.where(touching[game], *evaluate(weights, own, opponent))
        return jnp.where(board.occupied(own) == 0, jnp.float32(WON), value)

    return of_plays


@dataclasses.dataclass(frozen=True)
class PubevalTurn:
    """The play with the highest score; the first in list order among equals. Parameters: `Weights`."""

    def __call__(self, params: Any, positions: Position, bits: UInt32[Array, " batch"]) -> Outcome[Position]:
        """Plays the whole roll of each position."""
        del bits
        return apply_plays(positions, best_plays(positions, score(params, positions)).code)
