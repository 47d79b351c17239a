"""What a player is: a name, a game, arrays, and a pure function that plays turns."""

import dataclasses
from collections.abc import Callable
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float32, Int32, Key, UInt32

from jaxgames.envs.core import Game, Outcome, State, Value
from jaxgames.ops.pytrees import equal, select

Position = TypeVar("Position")


def forfeits(positions: Any, outcomes: Outcome) -> Bool[Array, " batch"]:
    """Which turns are lost by an illegal action: the game is over, and the position still the same."""
    return jnp.asarray(outcomes.over) & equal(outcomes.position, positions)


class TurnPolicy(Protocol[Position]):
    """Plays a turn in each of a batch of positions, after their dice are rolled, given 32 random bits for each.

    A policy is hashable. Policies that compare equal share one compiled program, whatever their parameters.
    """

    def __call__(self, params: Any, positions: Position, bits: UInt32[Array, " batch"], /) -> Outcome[Position]:
        """The position after each turn, before the dice of the next one are rolled."""
        ...


class NetworkPolicy(NamedTuple):
    """A network that rates actions and values positions: `apply(params, observation) -> (logits, values)`.

    `discount` is that of its values, for searches that use them.
    """

    apply: Callable[[Any, Array], tuple[Array, Array]]
    discount: float = 1.0


class LearningTurnPolicy(Protocol[Position]):
    """A turn policy that remembers something over a game. Its memory is a pytree whose first axis is games."""

    def begin(self, params: Any, games: Int32[Array, " batch"], /) -> Any:
        """The memory before the first turn of games with these numbers."""
        ...

    def __call__(
        self, params: Any, positions: Position, bits: UInt32[Array, " batch"], memory: Any, /
    ) -> tuple[Outcome[Position], Any]:
        """As `TurnPolicy`, and the memory for the player's next turn."""
        ...


class PlayerMemory(NamedTuple, Generic[Position]):
    """Unfinished turns of several actions: the position that each leads to, and whether there is one. `learned` is the
    memory of a `LearningTurnPolicy`.
    """

    target: Position
    pending: Bool[Array, " batch"]
    learned: Any = ()


@dataclasses.dataclass(frozen=True)
class Player(Generic[Position]):
    """Anything that picks moves: `turn(params, positions, bits)` plays whole turns, `act` one action at a time.

    `turn` is a `TurnPolicy` or, if the player remembers something over a game, a `LearningTurnPolicy`. Optional
    attributes of `turn` say what else the player can do: see the properties. A player is a pytree of its
    `params`: a jitted function that takes a player is not compiled again for another checkpoint of the same kind. So a
    player that it returns bears the name of the first one: `dataclasses.replace(after, name=player.name)`.
    """

    name: str
    game: Game[Position]
    turn: Any
    params: Any = ()

    @property
    def value(self) -> Callable[[Any], Value] | None:
        """`value(params)` gives the values of positions by which the player chooses, `turn.make_value`."""
        return getattr(self.turn, "make_value", None)

    @property
    def policy(self) -> NetworkPolicy | None:
        """The network that rates its actions, `turn.policy`; its weights are `params`."""
        return getattr(self.turn, "policy", None)

    @property
    def rule(self) -> Any:
        """The selection rule of a search by simulations, `turn.rule`; the evaluator of its leaves is `params`."""
        return getattr(self.turn, "rule", None)

    @property
    def plies(self) -> int | None:
        """How far it looks ahead, `turn.plies`: 1 if it takes the turn to the position with the best value."""
        return getattr(self.turn, "plies", None)

    @property
    def on_host(self) -> bool:
        """Whether it runs as plain Python, and so cannot be compiled: `turn.on_host`."""
        return bool(getattr(self.turn, "on_host", False))

    @property
    def learns(self) -> bool:
        """Whether it remembers something over a game: `turn` is a `LearningTurnPolicy`."""
        return hasattr(self.turn, "begin")

    @property
    def has_values(self) -> bool:
        """Whether `values` works: `turn` has `values(params, positions, bits)`."""
        return hasattr(self.turn, "values")

    def values(self, positions: Position, bits: UInt32[Array, " n"]) -> Float32[Array, " n"]:
        """What n positions after a turn, before chance, are worth to the player to act, in points.

        Only players with `has_values` have it.
        """
        return self.turn.values(self.params, positions, bits)

    def begin(self, games: Int32[Array, " batch"]) -> Any:
        """The player's memory before its first turn in games with these numbers; empty for most players."""
        return self.turn.begin(self.params, games) if self.learns else ()

    def play(self, positions: Position, bits: UInt32[Array, " batch"], memory: Any) -> tuple[Outcome[Position], Any]:
        """Plays a turn in each position with its memory of these games; also returns the new memory."""
        if self.learns:
            return self.turn(self.params, positions, bits, memory)
        return self.turn(self.params, positions, bits), memory

    def play_once(self, positions: Position, bits: UInt32[Array, " batch"]) -> Outcome[Position]:
        """Plays a turn in each position as if it were the player's first one of a game."""
        return self.play(positions, bits, self.begin(jnp.zeros(len(bits), jnp.int32)))[0]

    def act(
        self, states: State, key: Key[Array, ""], memory: PlayerMemory[Position]
    ) -> tuple[Int32[Array, " batch"], PlayerMemory[Position]]:
        """An action for each of a batch of states, and the memory for the next call on these games.

        The player chooses a whole turn and then plays its actions one by one, so games by `act` are the same as games
        by `turn`. It chooses again if the chosen turn has become impossible because the game was changed. An illegal
        action is -1. Raises `ValueError` unless the states are a batch of rank 1.
        """
        if states.terminated.ndim != 1:
            raise ValueError(f"act needs states of shape [batch], not {list(states.terminated.shape)}")
        positions = states._position
        bits = jax.random.bits(key, states.terminated.shape, jnp.uint32)
        played = self.play(positions, bits, memory.learned)
        next_actions = _compiled_next_actions if self.on_host else _next_actions
        return next_actions(self.game, positions, *played, memory)

    def init_memory(self, batch: int) -> PlayerMemory[Position]:
        """The memory before the first action of `batch` games."""
        single = jax.eval_shape(self.game.init_position, jax.random.key(0))
        target = jax.tree.map(lambda x: jnp.zeros((batch, *x.shape), x.dtype), single)
        return PlayerMemory(target, jnp.zeros(batch, bool), self.begin(jnp.arange(batch, dtype=jnp.int32)))


def _next_actions(
    game: Game[Position], positions: Position, outcome: Outcome[Position], learned: Any, memory: PlayerMemory[Position]
) -> tuple[Int32[Array, " batch"], PlayerMemory[Position]]:
    """What `Player.act` gives, from the turns that were chosen."""
    chosen = outcome.position
    actions, kept = game.turn_actions(positions, memory.target, memory.pending, chosen)
    target, learned = select(kept, memory.target, chosen), select(kept, memory.learned, learned)
    after = jax.vmap(game.play)(positions, actions)
    illegal = ~kept & forfeits(positions, outcome)
    pending = ~(after.over | after.turn_passes | equal(after.position, target) | illegal)
    return jnp.where(illegal, -1, actions), PlayerMemory(target, pending, learned)


_compiled_next_actions = jax.jit(_next_actions, static_argnums=0)


@dataclasses.dataclass(frozen=True)
class _StaticPart:
    """A player without its params. Two players for which this is equal share compiled programs; names do not matter."""

    game: Game
    turn: Any
    name: str = dataclasses.field(compare=False)


jax.tree_util.register_pytree_with_keys(
    Player,
    lambda player: (
        ((jax.tree_util.GetAttrKey("params"), player.params),),
        _StaticPart(player.game, player.turn, player.name),
    ),
    lambda kind, children: Player(kind.name, kind.game, kind.turn, *children),
)
