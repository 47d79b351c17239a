"""Rollouts by last good replies: moves are answered as they were in the last game that this won."""

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Int32, UInt32

from jaxgames.algos.mcts.backup import over_levels
from jaxgames.algos.mcts.evaluators.evaluator import Evaluation, Leaves
from jaxgames.algos.mcts.evaluators.rollout import Run, play_out
from jaxgames.envs.core import Game
from jaxgames.ops import bits


class Moves(NamedTuple):
    """Moves of games, one to a lane: whether there is one, who made it, and its reply code; what it was a reply to.

    `other` is a player that was not to act at the root. A code is 1 + action + 2^16 x the number of the mark.
    """

    there: Bool[Array, "..."]
    other: Bool[Array, "..."]
    before: Int32[Array, "..."]
    code: Int32[Array, "..."]


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class LastGoodReply:
    """See `last_good_reply`."""

    forget: bool = dataclasses.field(metadata={"static": True})
    limit: int = dataclasses.field(metadata={"static": True})
    has_policy = False

    def init(self, game: Game, batch: int) -> tuple[Int32[Array, " places"], Moves]:
        """No replies: codes by player, by the mark replied to, by lane; 0 for none. And room for a rollout's moves."""
        shape = (self.limit, batch)
        moves = Moves(*(jnp.zeros(shape, kind) for kind in (bool, bool, jnp.int32, jnp.int32)))
        return jnp.zeros(2 * _marks(game) * batch, jnp.int32), moves

    def __call__(self, game: Game, leaves: Leaves, memory: Any, track: bool) -> tuple[Evaluation, Any]:
        """Plays on, and learns of the whole game."""
        replies, room = memory
        batch, count = len(leaves.going), _marks(game)
        lanes = jnp.arange(batch, dtype=jnp.int32)

        def place(lanes, other, before):
            return (jnp.where(other, count, 0) + before) * batch + lanes

        def choose(run: Run, words: UInt32[Array, " batch"]) -> Int32[Array, " batch"]:
            code = replies[place(lanes, run.other ^ leaves.other, number_of(run.mark))] - 1
            action = jnp.maximum(code, 0) & 0xFFFF
            legal = jax.vmap(game.is_legal)(run.position, action)
            same = number_of(jax.vmap(game.amaf_key)(run.position, action)) == code >> 16
            return jnp.where((code >= 0) & legal & same, action, jax.vmap(game.draw_action)(run.position, words))

        def note(before: Run, after: Run, actions: Int32[Array, " batch"], notes: Moves) -> Moves:
            code = 1 + actions + (number_of(after.mark) << 16)
            move = Moves(before.going, before.other ^ leaves.other, number_of(before.mark), code)
            return jax.tree.map(lambda x, y: x.at[before.ply].set(y, mode="drop"), notes, move)

        run, notes = play_out(game, leaves, choose, track, room, note)
        value = jnp.where(leaves.going, jnp.where(leaves.other, -run.value, run.value), leaves.sure)

        def learn(replies: Array, lanes: Array, value: Array, move: Moves) -> Array:
            """The winner's reply is kept, the loser's forgotten."""
            spot = jnp.where(move.there & (value != 0), place(lanes, move.other, move.before), len(replies))
            old = replies.at[spot].get(mode="clip")
            lost = jnp.where((old == move.code) & self.forget, 0, old)
            return replies.at[spot].set(jnp.where((value > 0) != move.other, move.code, lost), mode="drop")

        replies = _learn_path(game, leaves, learn, replies, value)
        replies = lax.fori_loop(
            0,
            jnp.minimum(run.ply.astype(jnp.int32), self.limit),
            lambda ply, replies: learn(replies, lanes, value, jax.tree.map(lambda x: x[ply], notes)),
            replies,
        )
        return Evaluation(run.value, None, run.played), (replies, notes)


def last_good_reply(*, forget: bool = True, limit: int = 512) -> LastGoodReply:
    """Rollouts by last good replies (Drake, 2009), with forgetting (Baier and Drake, 2010) unless told not to.

    A move is answered as it last was by whoever won that game, if that is legal; else at random. Of a game that was
    lost replies are forgotten, draws teach nothing. Replies are kept for each position searched, in the tree and in the
    first `limit` moves of rollouts; moves are known by `Game.mark`.
    """
    if not isinstance(limit, int) or limit < 1:
        raise ValueError(f"limit {limit}: expected a number of moves from 1 on")
    return LastGoodReply(bool(forget), limit)


def number_of(mark: UInt32[Array, "batch words"]) -> Int32[Array, " batch"]:
    """The number of a mark: that of its bit, from 1 on; 0 for none."""
    places = jnp.arange(mark.shape[1], dtype=jnp.uint32) * 32 + 1
    return jnp.sum(jnp.where(mark != 0, places[None, :] + bits.top_index(mark), 0), axis=1).astype(jnp.int32)


def _marks(game: Game) -> int:
    """How many numbers of marks there are."""
    position = jax.eval_shape(game.init_position, jax.random.key(0))
    return 32 * jax.eval_shape(game.amaf_key, position, jax.ShapeDtypeStruct((), jnp.int32)).size + 1


def _learn_path(game: Game, leaves: Leaves, learn: Callable, replies: Array, value: Array) -> Array:
    """Learns of the moves in the tree, from the root on."""
    tree, layout = leaves.tree, leaves.tree.layout

    def step(replies, some, level):
        lanes, value, before = some
        position = jax.tree.map(lambda x: x.at[level.row].get(mode="clip"), tree.position)
        action = jnp.minimum(level.edge, game.num_actions - 1)
        number = number_of(jax.vmap(game.amaf_key)(position, action))
        awaits = layout.read(tree.edges.at[level.row].get(mode="clip"), "awaits") != 0
        there = level.on & ~awaits
        move = Moves(there, level.other, before, 1 + action + (number << 16))
        return learn(replies, lanes, value, move), (lanes, value, jnp.where(there, number, before))

    lanes = jnp.arange(tree.batch, dtype=jnp.int32)
    return over_levels(layout, leaves.stages, step, replies, (lanes, value, jnp.zeros_like(lanes)), down=True)[0]
