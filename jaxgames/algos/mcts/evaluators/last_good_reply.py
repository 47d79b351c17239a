"""Rollouts by last good replies: a move is answered as it was in the last game that this answer won."""

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Int32, UInt32

from jaxgames.algos.mcts.evaluators.evaluator import Evaluation
from jaxgames.algos.mcts.evaluators.rollout import MAX_PLIES, RolloutState, check_plies, play_out
from jaxgames.algos.mcts.path import SelectedLeaf, over_levels
from jaxgames.algos.mcts.tree import Tree
from jaxgames.envs.core import Game
from jaxgames.ops import bits as bitsets


class RolloutMoves(NamedTuple):
    """One move of each game.

    Attributes:
        valid: whether there is a move.
        opponent: whether it was made by the player that was not to act at the root.
        before: the key index (see `key_index`) of the move that it replied to.
        reply: 1 + its action + 2^16 x its key index.
    """

    valid: Bool[Array, "..."]
    opponent: Bool[Array, "..."]
    before: Int32[Array, "..."]
    reply: Int32[Array, "..."]


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class LastGoodReply:
    """See `last_good_reply`."""

    forget: bool = dataclasses.field(metadata={"static": True})
    limit: int = dataclasses.field(metadata={"static": True})
    max_plies: int = dataclasses.field(metadata={"static": True})
    has_policy = False

    def init(self, game: Game, batch: int) -> tuple[Int32[Array, " places"], RolloutMoves]:
        """No replies, 0, for each player, key index replied to and position; and room for the moves of a rollout."""
        shape = (self.limit, batch)
        moves = RolloutMoves(*(jnp.zeros(shape, kind) for kind in (bool, bool, jnp.int32, jnp.int32)))
        return jnp.zeros(2 * _num_keys(game) * batch, jnp.int32), moves

    def __call__(self, game: Game, leaves: SelectedLeaf, memory: Any, track: bool) -> tuple[Evaluation, Any]:
        """Plays on by replies, and learns from the whole game."""
        replies, room = memory
        batch, count = len(leaves.needs_eval), _num_keys(game)
        lanes = jnp.arange(batch, dtype=jnp.int32)

        def place(lanes, opponent, before):
            return (jnp.where(opponent, count, 0) + before) * batch + lanes

        def choose(state: RolloutState, bits: UInt32[Array, " batch"]) -> Int32[Array, " batch"]:
            opponent = state.other_to_move ^ leaves.opponent_to_move
            reply = replies[place(lanes, opponent, key_index(state.amaf_key))] - 1
            action = jnp.maximum(reply, 0) & 0xFFFF
            legal = jax.vmap(game.is_legal)(state.position, action)
            same = key_index(jax.vmap(game.amaf_key)(state.position, action)) == reply >> 16
            return jnp.where((reply >= 0) & legal & same, action, jax.vmap(game.draw_action)(state.position, bits))

        def note(
            before: RolloutState, after: RolloutState, actions: Int32[Array, " batch"], notes: RolloutMoves
        ) -> RolloutMoves:
            reply = 1 + actions + (key_index(after.amaf_key) << 16)
            opponent = before.other_to_move ^ leaves.opponent_to_move
            move = RolloutMoves(before.running, opponent, key_index(before.amaf_key), reply)
            return jax.tree.map(lambda x, y: x.at[before.ply].set(y, mode="drop"), notes, move)

        end, notes = play_out(game, leaves, choose, track, self.max_plies, room, note)
        to_root = jnp.where(leaves.opponent_to_move, -end.value, end.value)
        value = jnp.where(leaves.needs_eval, to_root, leaves.exact_value)

        def learn(replies: Array, lanes: Array, value: Array, move: RolloutMoves) -> Array:
            """The winner's reply is kept, the loser's forgotten."""
            spot = jnp.where(move.valid & (value != 0), place(lanes, move.opponent, move.before), len(replies))
            old = replies.at[spot].get(mode="clip")
            lost = jnp.where((old == move.reply) & self.forget, 0, old)
            return replies.at[spot].set(jnp.where((value > 0) != move.opponent, move.reply, lost), mode="drop")

        if leaves.tree is not None:
            replies = _learn_path(game, leaves.tree, leaves, learn, replies, value)
        replies = lax.fori_loop(
            0,
            jnp.minimum(end.ply.astype(jnp.int32), self.limit),
            lambda ply, replies: learn(replies, lanes, value, jax.tree.map(lambda x: x[ply], notes)),
            replies,
        )
        return Evaluation(end.value, None, end.played), (replies, notes)


def last_good_reply(*, forget: bool = True, limit: int = 512, max_plies: int = MAX_PLIES) -> LastGoodReply:
    """Rollouts by last good replies (Drake, 2009), with forgetting (Baier and Drake, 2010).

    A move is answered as the winner of the last game with it answered it, if that is legal; else at random. Draws teach
    nothing. Each position searched has replies of its own, to moves in the tree and in rollouts. Two moves are the same
    if their `Game.amaf_key` is.

    Args:
        forget: whether a reply is forgotten when it has lost.
        limit: the first moves of a rollout, of which replies are learned.
        max_plies: as in `rollout`.
    """
    if not isinstance(limit, int) or limit < 1:
        raise ValueError(f"limit {limit}: expected a number of moves from 1 on")
    return LastGoodReply(bool(forget), limit, check_plies(max_plies))


def key_index(amaf_key: UInt32[Array, "batch words"]) -> Int32[Array, " batch"]:
    """The number of the key's bit, from 1 on; 0 if it has none."""
    places = jnp.arange(amaf_key.shape[1], dtype=jnp.uint32) * 32 + 1
    return jnp.sum(jnp.where(amaf_key != 0, places[None, :] + bitsets.top_index(amaf_key), 0), axis=1).astype(jnp.int32)


def _num_keys(game: Game) -> int:
    """How many key indices there are."""
    position = jax.eval_shape(game.init_position, jax.random.key(0))
    return 32 * jax.eval_shape(game.amaf_key, position, jax.ShapeDtypeStruct((), jnp.int32)).size + 1


def _learn_path(game: Game, tree: Tree, leaves: SelectedLeaf, learn: Callable, replies: Array, value: Array) -> Array:
    """Learns from the moves in the tree, from the root on."""

    def step(replies, some, level):
        lanes, value, before = some
        action = jnp.minimum(level.edge, game.num_actions - 1)
        key = key_index(jax.vmap(game.amaf_key)(tree.positions(level.row), action))
        is_chance = tree.layout.read(tree.rows(level.row), "is_chance") != 0
        valid = level.on_path & ~is_chance
        move = RolloutMoves(valid, level.opponent_to_move, before, 1 + action + (key << 16))
        return learn(replies, lanes, value, move), (lanes, value, jnp.where(valid, key, before))

    lanes = jnp.arange(tree.batch, dtype=jnp.int32)
    start = (lanes, value, jnp.zeros_like(lanes))
    return over_levels(tree.layout, leaves.path, step, replies, start, down=True)[0]
