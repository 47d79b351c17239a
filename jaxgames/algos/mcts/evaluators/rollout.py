"""Rollouts: leaves are worth what a game played on to its end brings, by random moves or by replies that were good."""

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Float32, Int32, UInt32

from jaxgames.algos.mcts.evaluators.evaluator import Evaluation, Leaves
from jaxgames.envs.core import Game
from jaxgames.ops.materialize import materialize
from jaxgames.ops.random_bits import fold_in


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Rollout:
    """See `rollout`."""

    has_policy = False

    def init(self, game: Game, batch: int) -> Any:
        """No memory."""
        return ()

    def __call__(self, game: Game, leaves: Leaves, memory: Any, track: bool) -> tuple[Evaluation, Any]:
        """Plays on."""
        run, _ = play_out(game, leaves, lambda run, words: jax.vmap(game.draw_action)(run.position, words), track)
        return Evaluation(run.value, None, run.played), memory


def rollout() -> Rollout:
    """The result of one game played on by random legal moves."""
    return Rollout()


class Run(NamedTuple):
    """Games being played on: `other` says that the player to act is not the one at the leaf, to whom `value` is the
    result so far. `mark` is that of the action before, `played` are all marks, as in `Evaluation`.
    """

    ply: UInt32[Array, ""]
    position: Any
    going: Bool[Array, " batch"]
    other: Bool[Array, " batch"]
    value: Float32[Array, " batch"]
    mark: UInt32[Array, "batch words"]
    played: UInt32[Array, "batch 2 words"] | None


def play_out(
    game: Game,
    leaves: Leaves,
    choose: Callable[[Run, UInt32[Array, " batch"]], Int32[Array, " batch"]],
    track: bool,
    notes: Any = (),
    note: Callable[[Run, Run, Int32[Array, " batch"], Any], Any] = lambda before, after, actions, notes: notes,
) -> tuple[Run, Any]:
    """Plays games to their ends by `choose(run, words)`, keeping `notes` by `note(before, after, actions, notes)`."""
    batch = len(leaves.going)
    start = Run(
        ply=jnp.uint32(0),
        position=_after_chance(game, leaves.position, fold_in(leaves.words, 1)),
        going=leaves.going,
        other=jnp.zeros(batch, bool),
        value=jnp.zeros(batch, jnp.float32),
        mark=leaves.mark,
        played=no_marks(game, leaves.position) if track else None,
    )

    def step(carry):
        run, notes = carry
        words = fold_in(leaves.words, 2 + run.ply)
        actions = materialize(choose(run, words), words)  # else each array of a position draws it anew
        outcome = jax.vmap(game.play)(run.position, actions)
        mark = jnp.where(run.going[:, None], jax.vmap(game.amaf_key)(run.position, actions), 0)
        reward = jnp.where(run.other, -outcome.reward, outcome.reward)
        after = Run(
            ply=run.ply + 1,
            position=_after_chance(game, outcome.position, fold_in(words, 1)),
            going=run.going & ~outcome.over,
            other=run.other ^ outcome.turn_passes,
            value=jnp.where(run.going & outcome.over, reward, run.value),
            mark=mark,
            played=run.played | of_player(run.other, mark) if track else None,
        )
        return after, note(run, after, actions, notes)

    return lax.while_loop(lambda carry: jnp.any(carry[0].going), step, (start, notes))


def no_marks(game: Game, positions: Any) -> UInt32[Array, "batch 2 words"]:
    """Sets of marks of two players, all empty."""
    marks = jax.eval_shape(jax.vmap(game.amaf_key, in_axes=(0, None)), positions, jax.ShapeDtypeStruct((), jnp.int32))
    return jnp.zeros((marks.shape[0], 2, marks.shape[1]), jnp.uint32)


def of_player(other: Bool[Array, " batch"], words: UInt32[Array, "batch words"]) -> UInt32[Array, "batch 2 words"]:
    """Sets of the first player or, where `other`, of the second."""
    return jnp.where(other[:, None, None] == jnp.array([False, True])[None, :, None], words[:, None], jnp.uint32(0))


def _after_chance(game: Game, position: Any, words: UInt32[Array, " batch"]) -> Any:
    if not game.outcome_probabilities:
        return position
    return jax.vmap(game.chance)(position, game.draw_outcome(words))
