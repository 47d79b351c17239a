"""Rollouts by move averages (MAST): moves from won games are drawn more often, wherever they were played."""

import dataclasses
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float32, Int32, UInt32

from jaxgames.algos.mcts.evaluators.evaluator import Evaluation
from jaxgames.algos.mcts.evaluators.rollout import KeySets, RolloutState, add_keys, play_out
from jaxgames.algos.mcts.path import SelectedLeaf, over_levels
from jaxgames.algos.mcts.tree import Tree
from jaxgames.envs.core import Game
from jaxgames.ops import checks


class MoveAverages(NamedTuple):
    """For each player (the one at the root, the other), AMAF key and lane: the number of games in which the player made
    such a move, and the sum of their values for the player.
    """

    games: Float32[Array, "places batch"]
    sums: Float32[Array, "places batch"]


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Mast:
    """See `mast`."""

    temperature: Float32[Array, ""] | float
    max_plies: int = dataclasses.field(metadata={"static": True})
    has_policy = False

    def init(self, game: Game, batch: int) -> MoveAverages:
        """No games."""
        none = jnp.zeros((2 * 32 * _words(game), batch), jnp.float32)
        return MoveAverages(none, none)

    def __call__(self, game: Game, leaves: SelectedLeaf, memory: Any, track: bool) -> tuple[Evaluation, Any]:
        """Plays on by the averages, and learns from the whole game."""
        batch, words = len(leaves.needs_eval), _words(game)
        means = (memory.sums / jnp.maximum(memory.games, 1) / game.max_reward).reshape(2, 32 * words, batch)
        actions, lanes = jnp.arange(game.num_actions, dtype=jnp.int32), jnp.arange(batch, dtype=jnp.int32)

        def choose(state: RolloutState, bits: UInt32[Array, " batch"]) -> Int32[Array, " batch"]:
            keys = jax.vmap(lambda x: jax.vmap(lambda action: game.amaf_key(x, action))(actions))(state.position)
            opponent = (state.other_to_move ^ leaves.opponent_to_move).astype(jnp.int32)
            place, has_key = jnp.zeros(keys.shape[:2], jnp.int32), jnp.zeros(keys.shape[:2], bool)
            for word in range(words):
                bit = keys[:, :, word]
                place = jnp.where(bit != 0, 32 * word + 31 - jax.lax.clz(bit).astype(jnp.int32), place)
                has_key = has_key | (bit != 0)
            mean = jnp.where(has_key, means[opponent[:, None], place, lanes[:, None]], 0)
            legal = jax.vmap(game.legal)(state.position)
            most = jnp.max(jnp.where(legal, mean, -jnp.inf), axis=1, keepdims=True)  # else exp may leave float32
            weights = jnp.where(legal, jnp.exp((mean - most) / self.temperature), 0)
            return _draw(weights, bits)

        end, _ = play_out(game, leaves, choose, True, self.max_plies)
        to_root = jnp.where(leaves.opponent_to_move, -end.value, end.value)
        value = jnp.where(leaves.needs_eval, to_root, leaves.exact_value)
        first, second = end.played or ((), ())
        of_root = tuple(jnp.where(leaves.opponent_to_move, y, x) for x, y in zip(first, second, strict=True))
        of_other = tuple(jnp.where(leaves.opponent_to_move, x, y) for x, y in zip(first, second, strict=True))
        played: KeySets = (of_root, of_other)
        if leaves.tree is not None:
            played = _add_path(game, leaves.tree, leaves, played)
        valid = leaves.needs_eval | leaves.is_exact
        return Evaluation(end.value, None, end.key_sets if track else None), _learn(memory, played, value, valid)


def mast(temperature: float = 1.0, *, max_plies: int = 10_000) -> Mast:
    """Rollouts by the move-average sampling technique (Finnsson and Bjoernsson, 2008).

    A legal move is drawn with a probability proportional to exp(mean / temperature). The mean is that of the results,
    from -1 to 1, of this search's games in which its player made such a move, in the tree or in a rollout. Two
    moves are the same if their `Game.amaf_key` is equal. Raises `ValueError` for a temperature that is not from
    0.01 to 1,000,000.
    """
    if not isinstance(temperature, jax.core.Tracer):
        checks.number("temperature", temperature, "a number from 0.01 to 1,000,000", lambda t: 0.01 <= t <= 1e6)
    temperature = temperature if isinstance(temperature, jax.Array) else checks.native(temperature)
    return Mast(temperature, checks.whole("max_plies", max_plies, 1, checks.MOST))


def _draw(weights: Float32[Array, "batch actions"], bits: UInt32[Array, " batch"]) -> Int32[Array, " batch"]:
    """Draws actions with probabilities proportional to weights."""
    ends = jnp.cumsum(weights, axis=1)
    drawn = (bits >> 8).astype(jnp.float32) / 2**24 * ends[:, -1]
    return jnp.argmax((ends > drawn[:, None]) & (weights > 0), axis=1).astype(jnp.int32)


def _add_path(game: Game, tree: Tree, leaves: SelectedLeaf, played: KeySets) -> KeySets:
    """The moves of rollouts, and those in the tree."""

    def step(carry, some, level):
        row = jnp.minimum(level.row, len(tree.edges) - 1)
        keys = jax.vmap(game.amaf_key)(tree.positions(row), jnp.minimum(level.edge, game.num_actions - 1))
        valid = level.on_path
        if game.outcome_probabilities:
            valid = valid & (tree.node("is_chance", row) == 0)
        own = tuple(jnp.where(valid, keys[:, word], 0) for word in range(keys.shape[1]))
        return carry, add_keys(some, level.opponent_to_move, own)

    return over_levels(tree.layout, leaves.path, step, (), played)[1]


def _learn(
    memory: MoveAverages, played: KeySets, value: Float32[Array, " batch"], valid: Bool[Array, " batch"]
) -> MoveAverages:
    """The averages after games with these values for the player at the root."""
    places = jnp.arange(32, dtype=jnp.uint32)[:, None]
    made = jnp.stack(
        [jnp.concatenate([(word[None] >> places & 1).astype(jnp.float32) for word in words]) for words in played]
    )
    made = made * valid.astype(jnp.float32)[None, None]
    gain = made * jnp.stack([value, -value])[:, None]
    return MoveAverages(*(x + y.reshape(x.shape) for x, y in zip(memory, (made, gain), strict=True)))


def _words(game: Game) -> int:
    """The words of an AMAF key."""
    position = jax.eval_shape(game.init_position, jax.random.key(0))
    return jax.eval_shape(game.amaf_key, position, jax.ShapeDtypeStruct((), jnp.int32)).size
