"""Backgammon positions to measure with, and GNU Backgammon beside us."""

import functools
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from _common import peer

from jaxgames.envs import Game
from jaxgames.envs.backgammon import Position, board
from jaxgames.envs.backgammon.board import high_low

Turn = Callable[[Position, jax.Array], Any]
"""Plays a turn in each of a batch of positions, by one random word each."""


def ply(game: Game, turn: Turn, positions: Position, key: jax.Array) -> tuple[Position, jax.Array]:
    """A turn of each game and the next roll; games that are over begin anew. Also returns which were over."""
    turn_key, chance_key, opening_key = jax.random.split(key, 3)
    batch = len(positions.dice)
    outcome = turn(positions, jax.random.bits(turn_key, (batch,)))
    rolled = jax.vmap(game.chance)(outcome.position, game.draw_outcome(jax.random.bits(chance_key, (batch,))))
    fresh = jax.vmap(game.init_position)(jax.random.split(opening_key, batch))
    after = jax.tree.map(lambda new, old: jnp.where(outcome.over, new, old), fresh, rolled)
    return after, outcome.over


@functools.partial(jax.jit, static_argnames=("game", "turn", "batch", "number", "before", "apart"))
def positions_of_play(
    game: Game, turn: Turn, key: jax.Array, batch: int, number: int, before: int = 100, apart: int = 10
) -> Position:
    """`number` batches of rolled positions, [number, batch], from games played by `turn`.

    The games have been going on for `before` plies, so that they are in all their phases, and the batches are `apart`
    plies apart.
    """
    start_key, before_key, key = jax.random.split(key, 3)

    def play(positions, keys):
        return jax.lax.scan(lambda positions, key: (ply(game, turn, positions, key)[0], None), positions, keys)[0]

    def snapshot(positions, key):
        positions = play(positions, jax.random.split(key, apart))
        return positions, positions

    positions = jax.vmap(game.init_position)(jax.random.split(start_key, batch))
    positions = play(positions, jax.random.split(before_key, before))
    return jax.lax.scan(snapshot, positions, jax.random.split(key, number))[1]


def plain(positions: Position) -> tuple[list[list[int]], list[list[int]], list[tuple[int, int]]]:
    """Checkers of the mover and of the opponent on points 1..24 and the bar, and the dice, as Python's numbers."""
    own, opponent = (np.asarray(board.to_counts(side)).tolist() for side in (positions.own, positions.opponent))
    dice = zip(*(np.asarray(die).tolist() for die in high_low(positions.dice)), strict=True)
    return own, opponent, list(dice)


class Gnubg:
    """GNU Backgammon, looking no ply ahead (0-ply), money play without the cube, its Python package from PyPI."""

    def __init__(self, module: Any):
        self.module = module
        # Jacoby off: else gammons count for nothing while the cube is in the middle.
        self.cube = {**module.cubeinfo(), "jacoby": 0}
        self.context = module.evalcontext(0, 0, 1, 0, 0.0)

    def plays(self, mover: list[int], opponent: list[int], dice: tuple[int, int]) -> list[dict[str, Any]]:
        """All legal plays, each evaluated, the best first; none where no checker can move."""
        return self.module.find_best_moves((opponent, mover), self.cube, self.context, dice)

    def forget(self) -> None:
        """Empties the cache of evaluations."""
        self.module.command("clear cache")

    def equity(self, roller: list[int], other: list[int]) -> float:
        """Cubeless equity of the player about to roll."""
        win, gammon, backgammon, lose_gammon, lose_backgammon, _ = self.module.evaluate(
            (other, roller), self.cube, self.context
        )
        return 2 * win - 1 + gammon - lose_gammon + backgammon - lose_backgammon

    def call_seconds(self, mover: list[int], opponent: list[int], calls: int = 20_000) -> float:
        """Seconds of a call that does nothing but read the board: what Python adds to every other call."""
        start = time.perf_counter()
        for _ in range(calls):
            self.module.classify((opponent, mover))
        return (time.perf_counter() - start) / calls


def gnubg() -> Gnubg | None:
    """GNU Backgammon, if it is installed."""
    module = peer("gnubg")
    return module and Gnubg(module)
