"""What a game is: `Game`, from which every game derives.

A game defines its rules as pure functions of one *position*, always seen by the player to act. `Game` adds what all
games share: player ids, rewards, the end of a game, illegal actions, chance, and the derived attributes. Names, dtypes
and meanings follow pgx 2.6 (Koyamada et al., 2023), so that code written for pgx runs on these games.
"""

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Generic

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Bool, Float32, Int32, Key, Shaped, UInt32

from jaxgames.envs.checks import any_states, one_state, players
from jaxgames.envs.state import Outcome, Position, State, Value, single
from jaxgames.envs.svg import grid_svg
from jaxgames.envs.symmetry import Symmetry, identity
from jaxgames.envs.turns import best
from jaxgames.envs.turns.best import TopTurns
from jaxgames.ops import checks
from jaxgames.ops.bits import bit, bounded, choose_set, nth_set, pack
from jaxgames.ops.materialize import branchless, materialize
from jaxgames.ops.pytrees import select, take

__all__ = ["Game", "Outcome", "Position", "State", "Value", "action_from_bits", "single"]


MOST_ACTIONS = 16
"""The most actions of one turn in the search for a way to a position: more than any jump of checkers takes."""


@dataclasses.dataclass(frozen=True)
class Game(Generic[Position]):
    """The rules of one game: a frozen, hashable object with nothing but pure functions.

    A new game sets the class attributes and defines the rules: `init_position`, `legal`, `play`, `observe_position`;
    with chance also `chance` and `outcome_probabilities`; for people `parse`, `unparse`, `draw_board` and the names of
    actions. Users call the methods further down, which work on a `State`.
    """

    id: ClassVar[str]
    version: ClassVar[str] = "v1"
    num_players: ClassVar[int] = 2
    num_actions: ClassVar[int]
    observation_shape: ClassVar[tuple[int, ...]]
    outcome_probabilities: ClassVar[tuple[float, ...]] = ()
    """Probabilities of the outcomes of chance, in order; empty for a game without chance."""
    max_reward: ClassVar[int] = 1
    """The most points that one game is worth."""
    alternates: ClassVar[bool] = True
    """Whether the turn always passes to the other player after a whole turn, as `best_turn` plays it."""

    @property
    def encodings(self) -> Mapping[str, Any]:
        """What networks may see of a position besides the observation, by name."""
        return {}

    @property
    def heads(self) -> Mapping[str, Any]:
        """The game's own ways to read an action from the outputs of networks, by name.

        Each is a `jaxgames.envs.heads.ActionHead`; `heads_of` in the same module adds the one that all games share.
        """
        return {}

    @property
    def symmetries(self) -> tuple[Symmetry, ...]:
        """The rotations and reflections of the board that the rules allow; the first is the identity."""
        return (identity(self.num_actions, self.observation_shape),)

    @property
    def step_limit(self) -> int | None:
        """After how many actions a game is truncated; None for never."""
        return None

    # The rules, on one position seen by the player to act.

    def init_position(self, key: Key[Array, ""]) -> Position:
        """The position before the first action, after any chance that comes before it."""
        raise _undefined(self, "init_position")

    def legal(self, position: Position) -> Bool[Array, " actions"]:
        """The legal actions; at least one in a position that is not over."""
        raise _undefined(self, "legal")

    def is_legal(self, position: Position, action: Int32[Array, ""]) -> Bool[Array, ""]:
        """Whether one action is legal; it may be any integer."""
        inside = (action >= 0) & (action < self.num_actions)
        return inside & self.legal(position)[jnp.clip(action, 0, self.num_actions - 1)]

    def draw_action(self, position: Position, bits: UInt32[Array, ""]) -> Int32[Array, ""]:
        """A legal action drawn by 32 random bits, all of them equally likely."""
        return action_from_bits(bits, self.legal(position))

    def ended(self, position: Position) -> Bool[Array, ""]:
        """Whether a position that a user sets up is over; during a game `play` says this."""
        return jnp.bool_(False)

    def amaf_key(self, position: Position, action: Int32[Array, ""]) -> UInt32[Array, " words"]:
        """What makes actions of different positions the same move, as a set of bits; by default the action's number.

        Searches that also learn about an action from simulations that take it later (AMAF) use it.
        """
        place = action.astype(jnp.uint32) - 32 * jnp.arange(-(-self.num_actions // 32), dtype=jnp.uint32)
        return bit(place)  # 0 in all words but one: only there the place is one of 0 .. 31

    def play(self, position: Position, action: Int32[Array, ""]) -> Outcome[Position]:
        """The outcome of a legal action; chance is still to come."""
        raise _undefined(self, "play")

    def chance(self, position: Position, outcome: Int32[Array, ""]) -> Position:
        """The position after outcome number `outcome`; a position that awaits no chance stays the same."""
        return position

    def observe_position(self, position: Position, acting: Bool[Array, ""]) -> Shaped[Array, "..."]:
        """The observation of the player to act or, where `acting` is false, of the other player."""
        raise _undefined(self, "observe_position")

    # What searches ask of one position. A game that lists its moves faster overrides the first two together.

    def moves(self, position: Position) -> tuple[UInt32[Array, ""], ...]:
        """The legal moves as a set of bits: bit b of word w is move 32 w + b. Searches try low numbers first."""
        packed = pack(self.legal(position))
        return tuple(packed[word] for word in range(packed.shape[-1]))

    def action_of_move(self, position: Position, move: UInt32[Array, ""]) -> Int32[Array, ""]:
        """The action of a move, by its number in `moves`."""
        return move.astype(jnp.int32)

    def material(self, position: Position) -> Float32[Array, ""]:
        """The value of the player's pieces minus the value of the opponent's; 0 in games that take no pieces."""
        return jnp.float32(0)

    def piece_count(self, position: Position) -> Float32[Array, ""]:
        """The number of the player's pieces minus that of the opponent's; 0 in games that take no pieces."""
        return jnp.float32(0)

    # Whole turns of a batch of positions. A game whose turns are several actions long overrides all of these.

    def best_turn(self, positions: Position, value: Value) -> tuple[Outcome[Position], Float32[Array, " batch"]]:
        """The turn that is best for the player to act if positions are worth `value`, and what it is worth.

        Among equally good turns it always takes the same one. Chance after the turn is still to come. Call this and
        the next three inside `jit`: outside, the loops that some games have are compiled anew in each call.
        """
        return best.best_of_all(self, positions, value)

    def top_turns(self, positions: Position, value: Value, count: int) -> TopTurns:
        """The `count` best turns of each position if positions are worth `value`; the first is that of `best_turn`."""
        return best.top_of_all(self, positions, value, count)

    def random_turn(self, positions: Position, bits: UInt32[Array, " batch"]) -> Outcome[Position]:
        """A turn drawn uniformly from those that lead to different positions; 32 random bits for each position."""
        return jax.vmap(lambda position, draw: self.play(position, self.draw_action(position, draw)))(positions, bits)

    def turn_actions(
        self, positions: Position, target: Position, wanted: Bool[Array, " batch"], otherwise: Position
    ) -> tuple[Int32[Array, " batch"], Bool[Array, " batch"]]:
        """The next action of a chosen turn, which is given by the position that it leads to.

        Args:
            positions: The positions in the middle of the turn.
            target: The position that the turn should lead to.
            wanted: Which positions have such a target.
            otherwise: The position to go to if `target` is not wanted or not reachable; it must be reachable.

        Returns the actions, and which of them are on the way to `target`.
        """
        return best.action_to(self, positions, target, wanted, otherwise)

    def parse(self, text: str) -> Position:
        """The position written in the game's own notation; `ValueError` that points at the character."""
        raise _undefined(self, "parse")

    def unparse(self, position: Position) -> str:
        """The position in the game's own notation."""
        raise _undefined(self, "unparse")

    def draw_board(self, position: Position, theme: str, player: int = 0) -> str:
        """The position as an SVG document, where `player` is the id of the player to act."""
        raise _undefined(self, "draw_board")

    # What players use, on states.

    def init(self, key: Key[Array, ""]) -> State:
        """A new game. The first player is drawn at random."""
        checks.key(key)
        player = (jax.random.bits(key, dtype=jnp.uint32) >> 31).astype(jnp.int32)
        return self.state(self.init_position(jax.random.fold_in(key, 1)), player)

    def state(self, position: Position, current_player: Int32[Array, "..."] | int = 0) -> State:
        """A game that starts at `position`, or a batch of them, with `current_player` (0 or 1, or one for each) to act.

        Raises `TypeError` or `ValueError` for anything else.
        """
        player = players(self, position, current_player)
        return State(
            current_player=player,
            rewards=jnp.zeros((*player.shape, 2), jnp.float32),
            terminated=jnp.zeros(player.shape, bool),
            truncated=jnp.zeros(player.shape, bool),
            _step_count=jnp.zeros(player.shape, jnp.int32),
            _position=position,
            _game=self,
        )

    def step(self, state: State, action: Int32[Array, ""], key: Key[Array, ""] | None = None) -> State:
        """The state after `action` and, in a game with chance, after what `key` draws.

        An ended game stays as it is, with zero rewards; only its `step_count` goes on. An illegal action ends the game:
        -1 for its player, +1 for the other.

        One state, one action, one key: `jax.vmap(game.step)` takes batches. Anything else raises `TypeError` or
        `ValueError` when the step is traced. In a Python loop call `jax.jit(game.step)`: about a hundred times as fast.
        """
        if key is not None:
            checks.key(key)
        state = self.apply(state, action)
        if not self.outcome_probabilities:
            return state
        if key is None:
            raise ValueError(f"{self.id} has chance: call step(state, action, key)")
        return self.resolve(state, self.draw_outcome(jax.random.bits(key, dtype=jnp.uint32)))

    def apply(self, state: State, action: Int32[Array, ""]) -> State:
        """The state after `action`, before chance: `step` is `resolve(apply(state, action), outcome)`."""
        one_state(self, state)
        action = checks.integers("action", action, ())
        count, done = state._step_count, state.terminated | state.truncated
        action = materialize(action, count)
        legal = materialize(self.is_legal(state._position, action), count)
        after = self.play(state._position, action)
        over = materialize(~done & (after.over | ~legal), count)
        reward = jnp.where(legal, jnp.where(after.over, after.reward, 0.0), -1.0)
        reward = jnp.where(done, 0.0, jnp.where(state.current_player == 0, reward, -reward)).astype(jnp.float32)
        reward = materialize(reward, count, barrier=True)  # else a GPU plays the action again to get `rewards`
        turn_passes = ~done & legal & after.turn_passes
        # The same flags. A GPU copies what a step only passes on in a separate kernel, but not what it computes.
        truncated = lax.platform_dependent(state.truncated, done, cpu=lambda flags, _: flags, default=jnp.logical_and)
        if self.step_limit is not None:
            truncated |= ~done & ~over & (count + 1 >= self.step_limit)
        return state.replace(
            current_player=jnp.where(turn_passes, 1 - state.current_player, state.current_player),
            rewards=jnp.where(np.array([True, False]), reward, 0.0 - reward),
            terminated=state.terminated | over,
            truncated=truncated,
            _step_count=count + 1,
            _position=select(done | ~legal, state._position, after.position),
        )

    def resolve(self, state: State, outcome: Int32[Array, ""]) -> State:
        """The state after the outcome of chance that it awaits; a state that awaits none stays as it is.

        Raises `ValueError` for an outcome out of range, if it is known when this is traced.
        """
        one_state(self, state)
        most = len(self.outcome_probabilities) - 1 if self.outcome_probabilities else None
        position = self.chance(state._position, checks.integers("outcome", outcome, (), most))
        return state.replace(_position=select(state.terminated | state.truncated, state._position, position))

    def draw_outcome(self, bits: UInt32[Array, "..."]) -> Int32[Array, "..."]:
        """An outcome of chance drawn by 32 random bits. Raises `ValueError` for bits of another width."""
        checks.bits(bits)
        bounds = np.cumsum(np.asarray(self.outcome_probabilities, np.float64))[:-1]
        bounds_32 = np.round(bounds * 2**32).astype(np.uint32)
        each = bounds_32.reshape((1,) * jnp.ndim(bits) + (-1,))
        outcome: Array = lax.platform_dependent(
            bits,
            # Written like this, a GPU draws the bits in the same kernel.
            cuda=lambda bits: sum(
                ((bits >= bound).astype(jnp.int32) for bound in bounds_32), jnp.zeros_like(bits, jnp.int32)
            ),
            default=lambda bits: jnp.sum(bits[..., None] >= each, axis=-1, dtype=jnp.int32),
        )
        return outcome

    def observe(self, state: State, player_id: Int32[Array, ""] | None = None) -> Shaped[Array, "..."]:
        """What `player_id` (by default the current player) sees of one state.

        Raises `ValueError` for an id that is not 0 or 1, if it is known when this is traced.
        """
        one_state(self, state)
        acting = jnp.bool_(True)
        if player_id is not None:
            acting = state.current_player == checks.integers("player_id", player_id, (), 1)
        return self.observe_position(state._position, acting)

    def from_string(self, text: str, current_player: int = 0) -> State:
        """The state written in the game's notation. Raises `ValueError` pointing at the character that is wrong."""
        position = self.parse(checks.text("position", text))
        return _read(self, position, np.int32(checks.whole("current_player", current_player, 0, 1)))

    def to_string(self, state: State) -> str:
        """The position of one state in the game's notation; `from_string` reads it back.

        Except a won game of backgammon: in its notation both players have checkers.
        """
        return self.unparse(one_state(self, state)._position)

    def action_to_string(self, state: State, action: int) -> str:
        """The name that players give to an action; by default its number."""
        one_state(self, state)
        return str(checks.whole("action", action, 0, self.num_actions - 1))

    def string_to_action(self, state: State, text: str) -> int:
        """The action with this name; by default that of the legal actions. Raises `ValueError` if there is none."""
        legal = np.flatnonzero(np.asarray(one_state(self, state).legal_action_mask)).tolist()
        named = {self.action_to_string(state, action): action for action in legal}
        if checks.text("action", text) not in named:
            raise ValueError(f"{text!r} is no action here; expected one of {', '.join(named)}")
        return named[text]

    # Whole turns of one state for people. A game whose turns are several actions long overrides the first four.

    def board_text(self, state: State) -> str:
        """One state as lines of text for a terminal: its position, as `to_svg` draws it; by default in the game's
        notation, or if it has none the values of its fields.
        """
        try:
            return self.to_string(state)
        except NotImplementedError:
            fields = jax.tree_util.tree_leaves_with_path(one_state(self, state)._position)
            return "\n".join(f"{jax.tree_util.keystr(path)} {np.asarray(value)}" for path, value in fields)

    def legal_turns(self, state: State) -> list[tuple[int, ...]]:
        """The legal turns of one state, each as its actions; by default single actions, none where the game is over."""
        over = bool(one_state(self, state).terminated | state.truncated)
        return [] if over else [(int(action),) for action in np.flatnonzero(np.asarray(state.legal_action_mask))]

    def turn_to_string(self, state: State, actions: Sequence[int]) -> str:
        """The name that players give to a turn; by default those of its actions."""
        names = []
        for index, action in enumerate(actions):
            state = _apply_compiled(state, np.int32(actions[index - 1])) if index else one_state(self, state)
            names.append(self.action_to_string(state, checks.whole("action", action, None)))
        return " ".join(names)

    def string_to_turn(self, state: State, text: str) -> tuple[int, ...]:
        """The actions of the legal turn with this name. Raises `ValueError` that says why there is none."""
        actions: list[int] = []
        for word in checks.text("turn", text).split() or [text]:
            state = _apply_compiled(state, np.int32(actions[-1])) if actions else one_state(self, state)
            actions.append(self.string_to_action(state, word))
        return tuple(actions)

    def turn_to(self, state: State, target: Position) -> tuple[int, ...]:
        """The fewest actions that lead to a position, all of the same player's turn.

        Raises `ValueError` if there are none.
        """
        ways: list[tuple[tuple[int, ...], Any]] = [((), one_state(self, state)._position)]
        for _ in range(MOST_ACTIONS):
            longer: list[tuple[tuple[int, ...], Any]] = []
            for actions, position in ways:
                for action in np.flatnonzero(np.asarray(_legal_compiled(self, position))):
                    after = _play_compiled(self, position, np.int32(action))
                    if _same_leaves(after.position, target):
                        return (*actions, int(action))
                    if not (after.turn_passes or after.over):
                        longer.append(((*actions, int(action)), after.position))
            ways = longer
        raise ValueError("no turn leads to that position")

    def outcome_to_string(self, outcome: int) -> str:
        """The name that players give to an outcome of chance; by default its number, from 1 on."""
        return str(checks.whole("outcome", outcome, 0) + 1)

    def string_to_outcome(self, text: str) -> int:
        """The outcome of chance with this name. Raises `ValueError` if there is none."""
        checks.text("outcome", text)
        names = [self.outcome_to_string(outcome) for outcome in range(len(self.outcome_probabilities))]
        if text not in names:
            raise ValueError(f"{text!r} is no outcome of chance; expected {', '.join(names) or 'none'}")
        return names.index(text)

    def to_svg(self, state: State, theme: str = "light") -> str:
        """One state as an SVG document, a batch as a grid. It shows the position, so a game that was truncated, or lost
        by an illegal action, looks as if it went on.
        """
        any_states(self, state)
        if state.terminated.ndim == 0:
            return self.draw_board(state._position, theme, int(state.current_player))
        flat = jax.tree.map(lambda x: np.asarray(x).reshape(-1, *x.shape[state.terminated.ndim :]), state._position)
        players = np.asarray(state.current_player).ravel()
        boards = [self.draw_board(take(flat, i), theme, int(player)) for i, player in enumerate(players)]
        return grid_svg(boards, theme=theme)

    def _legal_action_mask(self, state: State) -> Bool[Array, " actions"]:
        done = (state.terminated | state.truncated) & (state._step_count > 0)  # a game that was reset has no steps yet
        return branchless(self.legal(state._position) | done)


def _same_leaves(one: Any, other: Any) -> bool:
    return all(np.array_equal(*leaves) for leaves in zip(*map(jax.tree.leaves, (one, other)), strict=True))


@functools.partial(jax.jit, static_argnums=0)
def _legal_compiled(game: Game, position: Any) -> Bool[Array, " actions"]:
    return game.legal(position)


@jax.jit
def _apply_compiled(state: State, action: Int32[Array, ""]) -> State:
    return state._game.apply(state, action)


@functools.partial(jax.jit, static_argnums=0)
def _read(game: Game, position: Any, current_player: Int32[Array, ""]) -> State:
    """The state of a position that was read: it may be over."""
    over = game.ended(position)
    state = game.state(position, current_player)
    return state.replace(terminated=over, _step_count=over.astype(jnp.int32))


def state_on_host(game: Game, position: Any) -> State:
    """As `Game.state` of one position, in NumPy arrays: nothing is sent to a device."""
    zero, no = np.int32(0), np.bool_(False)
    return State(zero, np.zeros(2, np.float32), no, no, zero, jax.tree.map(np.asarray, position), game)  # type: ignore


def position_text(state: State) -> str:
    """A position in the game's notation; if the game has none, its fields in one line."""
    try:
        return state._game.to_string(state)
    except NotImplementedError:
        return " ".join(state._game.board_text(state).split())


@functools.partial(jax.jit, static_argnums=0)
def _play_compiled(game: Game, position: Any, action: Int32[Array, ""]) -> Outcome:
    return game.play(position, action)


def action_from_bits(bits: UInt32[Array, "..."], mask: Bool[Array, "... actions"]) -> Int32[Array, "..."]:
    """An allowed action, drawn uniformly by 32 random bits.

    The bits give the rank of the action among those allowed, which is much faster than `jax.random.categorical`. With n
    actions allowed the relative error of each probability is at most n / 2^32.
    """
    if mask.shape[-1] <= 16:
        return choose_set([mask[..., action] for action in range(mask.shape[-1])], bits).astype(jnp.int32)
    packed = pack(mask)
    counts = jax.lax.population_count(packed)
    after = jnp.cumsum(counts, axis=-1, dtype=jnp.uint32)
    rank = bounded(bits, after[..., -1])[..., None]
    here = (rank < after) & (rank >= after - counts)
    number = jnp.arange(packed.shape[-1], dtype=jnp.uint32)
    first, chosen, rank = (
        jnp.sum(jnp.where(here, x, jnp.uint32(0)), axis=-1, dtype=jnp.uint32)
        for x in (32 * number, packed, rank - (after - counts))
    )
    action = (first + nth_set(chosen, rank)).astype(jnp.int32)
    # If nothing is allowed this gives 31, which small games do not have as an action.
    return jnp.minimum(action, mask.shape[-1] - 1) if mask.shape[-1] < 32 else action


def _undefined(game: Game, method: str) -> NotImplementedError:
    """The error of a method that the game's class has to define."""
    return NotImplementedError(f"{game.id}: {type(game).__name__} defines no `{method}`; see `Game.{method}`")
