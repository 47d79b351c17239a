"""Rollouts: a leaf is worth the result of one game that is played from it to the end."""

import dataclasses
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Float32, Int32, UInt32

from jaxgames.algos.mcts.evaluators.evaluator import Evaluation, Evaluator
from jaxgames.algos.mcts.path import SelectedLeaf
from jaxgames.envs.core import Game
from jaxgames.ops import checks
from jaxgames.ops.materialize import materialize
from jaxgames.ops.random_bits import fold_in
from jaxgames.ops.settings import Settings, setting

KeySets = tuple[tuple[UInt32[Array, " batch"], ...], ...]
"""Sets of AMAF keys of two players, word by word: XLA:CPU does not vectorise arrays with short last axes."""


def plies_limit() -> Any:
    """The setting of the most actions of a rollout: by default more than any random game of ours has."""
    return setting(10_000, "a rollout that has not ended after this many actions is worth 0", low=1, high=checks.MOST)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Rollout(Settings, Evaluator):
    """The result of one game played on by random legal moves; 0 if it has not ended after `max_plies` actions."""

    of: ClassVar[str] = "rollouts"
    max_plies: int = plies_limit()
    has_policy = False

    def __call__(self, game: Game, leaves: SelectedLeaf, memory: Any, track: bool) -> tuple[Evaluation, Any]:
        """Plays on at random."""

        def choose(rollout: RolloutState, bits: UInt32[Array, " batch"]) -> Int32[Array, " batch"]:
            return jax.vmap(game.draw_action)(rollout.position, bits)

        rollout, _ = play_out(game, leaves, choose, track, self.max_plies)
        return Evaluation(rollout.value, None, rollout.key_sets), memory


jax.tree_util.register_static(Rollout)


class RolloutState(NamedTuple):
    """Games being played on.

    Attributes:
        ply: the actions played so far.
        position: the positions, a pytree whose first axis is the batch.
        running: which games are not over.
        other_to_move: whether the player to act is not the one at the leaf.
        value: the result so far, to the player at the leaf.
        amaf_key: that of the last action, word by word.
        played: the AMAF keys of all actions, those of the player at the leaf and of the other one.
    """

    ply: UInt32[Array, ""]
    position: Any
    running: Bool[Array, " batch"]
    other_to_move: Bool[Array, " batch"]
    value: Float32[Array, " batch"]
    amaf_key: tuple[UInt32[Array, " batch"], ...]
    played: KeySets | None

    @property
    def key_sets(self) -> UInt32[Array, "batch 2 words"] | None:
        """The keys of all actions, as in `Evaluation.played`."""
        if self.played is None:
            return None
        return jnp.stack([jnp.stack(words, axis=1) for words in self.played], axis=1)


def play_out(
    game: Game,
    leaves: SelectedLeaf,
    choose: Callable[[RolloutState, UInt32[Array, " batch"]], Int32[Array, " batch"]],
    track: bool,
    max_plies: int,
    notes: Any = (),
    note: Callable[[RolloutState, RolloutState, Int32[Array, " batch"], Any], Any] = lambda *args: args[-1],
) -> tuple[RolloutState, Any]:
    """Plays games to their ends, or for `max_plies` actions; those that have not ended by then are worth 0.

    Args:
        game: the game.
        leaves: where the games begin; only those that need an evaluation are played.
        choose: gives the actions, `choose(state, bits)`.
        track: whether to keep the AMAF keys of all actions.
        max_plies: the most actions of a game.
        notes: anything to record about the games.
        note: gives the notes after a ply, `note(before, after, actions, notes)`.
    """
    batch, words = len(leaves.needs_eval), leaves.amaf_key.shape[1]
    none = tuple(jnp.zeros(batch, jnp.uint32) for _ in range(words))
    start = RolloutState(
        ply=jnp.uint32(0),
        position=_after_chance(game, leaves.position, fold_in(leaves.bits, 1)),
        running=leaves.needs_eval,
        other_to_move=jnp.zeros(batch, bool),
        value=jnp.zeros(batch, jnp.float32),
        amaf_key=tuple(leaves.amaf_key[:, word] for word in range(words)),
        played=(none, none) if track else None,
    )

    def step(carry):
        state, notes = carry
        bits = fold_in(leaves.bits, 2 + state.ply)
        actions = materialize(choose(state, bits), bits)  # else each array of a position draws them again
        outcome = jax.vmap(game.play)(state.position, actions)
        keys = jax.vmap(game.amaf_key)(state.position, actions)
        amaf_key = tuple(jnp.where(state.running, keys[:, word], 0) for word in range(words))
        reward = jnp.where(state.other_to_move, -outcome.reward, outcome.reward)
        after = RolloutState(
            ply=state.ply + 1,
            position=_after_chance(game, outcome.position, fold_in(bits, 1)),
            running=state.running & ~outcome.over,
            other_to_move=state.other_to_move ^ outcome.turn_passes,
            value=jnp.where(state.running & outcome.over, reward, state.value),
            amaf_key=amaf_key,
            played=None if state.played is None else add_keys(state.played, state.other_to_move, amaf_key),
        )
        return after, note(state, after, actions, notes)

    def more(carry):
        state, _ = carry
        return jnp.any(state.running) & (state.ply < max_plies)

    return lax.while_loop(more, step, (start, notes))


def add_keys(
    played: KeySets,
    second: Bool[Array, " batch"],
    keys: tuple[UInt32[Array, " batch"], ...],
) -> KeySets:
    """The sets with added keys of the first player or, where `second`, of the second one."""
    first, other = played
    return (
        tuple(jnp.where(second, old, old | new) for old, new in zip(first, keys, strict=True)),
        tuple(jnp.where(second, old | new, old) for old, new in zip(other, keys, strict=True)),
    )


def _after_chance(game: Game, position: Any, bits: UInt32[Array, " batch"]) -> Any:
    if not game.outcome_probabilities:
        return position
    return jax.vmap(game.chance)(position, game.draw_outcome(bits))
