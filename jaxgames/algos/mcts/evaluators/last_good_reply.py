"""Rollouts by last good replies: a move is answered as in the last game that was won by answering it."""

import dataclasses
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Float32, Int32, UInt32

from jaxgames.algos.mcts.evaluators.evaluator import Evaluation
from jaxgames.algos.mcts.evaluators.rollout import RolloutState, play_out, plies_limit
from jaxgames.algos.mcts.path import SelectedLeaf, over_levels
from jaxgames.algos.mcts.tree import Tree
from jaxgames.envs.core import Game
from jaxgames.ops import bits as bitsets
from jaxgames.ops.materialize import materialize
from jaxgames.ops.settings import Settings, setting

REPEATS = 1 << 30
"""The bit that marks a reply made in a game if it was already the known one."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class LastGoodReply(Settings):
    """Rollouts by last good replies (Drake, 2009), with forgetting (Baier and Drake, 2010).

    A move gets the reply by which a winner last answered it, if legal; otherwise a random one. Draws teach
    nothing. Each searched position has its own replies, to moves in the tree and in rollouts; with `path` false only to
    those of rollouts, as in the thesis of Goeppert (2020). Two moves are the same if their `Game.amaf_key` is equal.
    """

    of: ClassVar[str] = "last good replies"
    forget: bool = setting(True, "whether a reply that lost is forgotten; else it stays until a better one comes")
    limit: int = setting(512, "replies are learned from this many first moves of a rollout", low=1)
    max_plies: int = plies_limit()
    path: bool = setting(True, "whether replies are learned from moves in the tree, too")
    has_policy = False

    def init(self, game: Game, batch: int) -> Int32[Array, "places batch"]:
        """No replies."""
        return jnp.zeros((2 * _num_keys(game), batch), jnp.int32)

    def __call__(self, game: Game, leaves: SelectedLeaf, memory: Any, track: bool) -> tuple[Evaluation, Any]:
        """Plays on by replies, and learns from the whole game."""
        table, replies = _ReplyTable(game, len(leaves.needs_eval)), memory.reshape(-1)

        def choose(state: RolloutState, bits: UInt32[Array, " batch"]) -> Int32[Array, " batch"]:
            reply = table.read(replies, state.other_to_move ^ leaves.opponent_to_move, key_index(state.amaf_key)) - 1
            action = jnp.maximum(reply, 0) & 0xFFFF
            legal = jax.vmap(game.is_legal)(state.position, action)
            same = _key_of(game, state.position, action) == reply >> 16
            known = (reply >= 0) & legal & same & (self.path | (state.ply > 0))
            return jnp.where(known, action, jax.vmap(game.draw_action)(state.position, bits))

        def note(
            before: RolloutState, after: RolloutState, actions: Int32[Array, " batch"], made: Array
        ) -> Int32[Array, " entries"]:
            valid = before.running & (before.ply < self.limit) & (self.path | (before.ply > 0))
            opponent = before.other_to_move ^ leaves.opponent_to_move
            place = table.place(opponent, key_index(before.amaf_key))
            move = 1 + actions + (key_index(after.amaf_key) << 16)
            return table.note(made, replies, valid, place, move, self.forget)

        made = jnp.zeros_like(replies)
        if self.path and leaves.tree is not None:
            made = _note_path(table, leaves.tree, leaves, made, replies, self.forget)
        end, made = play_out(game, leaves, choose, track, self.max_plies, made, note)
        to_root = jnp.where(leaves.opponent_to_move, -end.value, end.value)
        value = jnp.where(leaves.needs_eval, to_root, leaves.exact_value)
        return Evaluation(end.value, None, end.key_sets), table.learn(memory, made, value)


jax.tree_util.register_static(LastGoodReply)


class _ReplyTable:
    """Replies of a batch: for each player, key index replied to and lane one number, 1 + its action + 2^16 x its key
    index, or 0 for none. `opponent` says that the player who replies was not to act at the root.

    The moves of a game are noted in a second table of this form, and learned together at its end: so a ply costs
    one read and one write for each lane.
    """

    def __init__(self, game: Game, batch: int):
        self._batch, self._count = batch, _num_keys(game)
        self._lanes = jnp.arange(batch, dtype=jnp.int32)

    def place(
        self, opponent: Bool[Array, " n"], key: Int32[Array, " n"], lanes: Int32[Array, " n"] | None = None
    ) -> Int32[Array, " n"]:
        """The place of the reply to a move."""
        lanes = self._lanes if lanes is None else lanes
        return (jnp.where(opponent, self._count, 0) + key) * self._batch + lanes

    def read(
        self, replies: Int32[Array, " entries"], opponent: Bool[Array, " batch"], key: Int32[Array, " batch"]
    ) -> Int32[Array, " batch"]:
        """The replies to moves."""
        return replies.at[self.place(opponent, key)].get(mode="promise_in_bounds")

    def note(
        self,
        made: Int32[Array, " entries"],
        replies: Int32[Array, " entries"],
        valid: Bool[Array, " n"],
        place: Int32[Array, " n"],
        move: Int32[Array, " n"],
        forget: bool,
    ) -> Int32[Array, " entries"]:
        """Notes a reply made in a game, and whether it, or an earlier reply to the same move, was the known one."""
        if forget:
            here = replies.at[place].get(mode="promise_in_bounds") == move
            move = move | jnp.where(here, REPEATS, made.at[place].get(mode="promise_in_bounds") & REPEATS)
        place = jnp.where(valid, place, len(made))
        return made.at[place].set(move, mode="drop", unique_indices=True)

    def learn(
        self, replies: Int32[Array, "places batch"], made: Int32[Array, " entries"], value: Float32[Array, " batch"]
    ) -> Int32[Array, "places batch"]:
        """The replies after games with these values for the player at the root: the winner's are kept, the loser's are
        forgotten if they are marked as known ones.
        """
        games = made.reshape(replies.shape)
        opponent = lax.broadcasted_iota(jnp.int32, (len(replies), 1), 0) >= self._count
        value = materialize(value, self._lanes)[None]  # else each of the many places computes it anew
        own = jnp.where(opponent, -value, value)
        known = jnp.where((own < 0) & (games & REPEATS != 0), 0, replies)
        return jnp.where((own > 0) & (games != 0), games & ~REPEATS, known)


def key_index(words: tuple[UInt32[Array, " batch"], ...]) -> Int32[Array, " batch"]:
    """The number of the bit of an AMAF key, from 1 on; 0 if it has none. Word by word, as in `RolloutState`."""
    index = jnp.zeros_like(words[0])
    for number, word in enumerate(words):
        index = jnp.where(word != 0, 32 * number + 1 + bitsets.top_index(word), index)
    return index.astype(jnp.int32)


def _key_of(game: Game, positions: Any, actions: Int32[Array, " batch"]) -> Int32[Array, " batch"]:
    """The key index of actions."""
    keys = jax.vmap(game.amaf_key)(positions, actions)
    return key_index(tuple(keys[:, word] for word in range(keys.shape[1])))


def _num_keys(game: Game) -> int:
    """How many key indices there are."""
    position = jax.eval_shape(game.init_position, jax.random.key(0))
    return 32 * jax.eval_shape(game.amaf_key, position, jax.ShapeDtypeStruct((), jnp.int32)).size + 1


def _note_path(
    table: _ReplyTable, tree: Tree, leaves: SelectedLeaf, made: Array, replies: Array, forget: bool
) -> Int32[Array, " entries"]:
    """Notes the moves in the tree, from the root on."""
    game = tree.layout.game

    def step(made, some, level):
        lanes, before = some
        row = jnp.minimum(level.row, len(tree.edges) - 1)
        action = jnp.minimum(level.edge, game.num_actions - 1)
        key = _key_of(game, tree.positions(row), action)
        valid = level.on_path
        if game.outcome_probabilities:
            valid = valid & (tree.node("is_chance", row) == 0)
        place = table.place(level.opponent_to_move, before, lanes)
        made = table.note(made, replies, valid, place, 1 + action + (key << 16), forget)
        return made, (lanes, jnp.where(valid, key, before))

    lanes = jnp.arange(tree.batch, dtype=jnp.int32)
    return over_levels(tree.layout, leaves.path, step, made, (lanes, jnp.zeros_like(lanes)), down=True)[0]
