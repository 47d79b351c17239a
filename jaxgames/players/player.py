"""What a player is: a name, a game, arrays, and a pure function that plays turns."""

import dataclasses
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int32, Key, UInt32

from jaxgames.envs.core import Game, Outcome, State
from jaxgames.ops.pytrees import equal, select

Position = TypeVar("Position")


class TurnPolicy(Protocol[Position]):
    """Plays a turn in each of a batch of positions ready to act, given 32 random bits for each.

    A policy is hashable. Policies that compare equal share one compiled program, whatever their parameters.
    """

    def __call__(self, params: Any, positions: Position, bits: UInt32[Array, " batch"], /) -> Outcome[Position]:
        """The position after each turn, before the dice of the next one are rolled."""
        ...


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
    """Turns of several actions under way: the position that each leads to, and whether there is one. `learned` is the
    memory of a `LearningTurnPolicy`.
    """

    target: Position
    pending: Bool[Array, " batch"]
    learned: Any = ()


@dataclasses.dataclass(frozen=True)
class Player(Generic[Position]):
    """Anything that picks moves: `turn(params, positions, bits)` plays whole turns, `act` one action at a time.

    `turn` is a `TurnPolicy` or, if the player remembers something over a game, a `LearningTurnPolicy`. A player is a
    pytree of its `params`: a jitted function that takes a player is not compiled again for another
    checkpoint of the same kind.
    """

    name: str
    game: Game[Position]
    turn: Any
    params: Any = ()

    def begin(self, games: Int32[Array, " batch"]) -> Any:
        """What the player remembers before its first turn in games with these numbers; nothing for most players."""
        return self.turn.begin(self.params, games) if hasattr(self.turn, "begin") else ()

    def play(self, positions: Position, bits: UInt32[Array, " batch"], memory: Any) -> tuple[Outcome[Position], Any]:
        """Plays a turn in each position, by what it remembers of these games; also what it remembers then."""
        if hasattr(self.turn, "begin"):
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
        by `turn`. It chooses again where the chosen turn has become impossible because the game was changed.
        Raises `ValueError` if the states are no batch of rank 1.
        """
        if states.terminated.ndim != 1:
            raise ValueError(f"act needs states of shape [batch], not {list(states.terminated.shape)}")
        positions = states._position
        bits = jax.random.bits(key, states.terminated.shape, jnp.uint32)
        outcome, learned = self.play(positions, bits, memory.learned)
        chosen = outcome.position
        actions, kept = self.game.turn_actions(positions, memory.target, memory.pending, chosen)
        target, learned = select(kept, memory.target, chosen), select(kept, memory.learned, learned)
        after = jax.vmap(self.game.play)(positions, actions)
        pending = ~(after.over | after.turn_passes | equal(after.position, target))
        return actions, PlayerMemory(target, pending, learned)

    def init_memory(self, batch: int) -> PlayerMemory[Position]:
        """The memory before the first action of `batch` games."""
        single = jax.eval_shape(self.game.init_position, jax.random.key(0))
        target = jax.tree.map(lambda x: jnp.zeros((batch, *x.shape), x.dtype), single)
        return PlayerMemory(target, jnp.zeros(batch, bool), self.begin(jnp.arange(batch, dtype=jnp.int32)))


@dataclasses.dataclass(frozen=True)
class _StaticPart:
    """All of a player but its params. Two players with equal ones share compiled programs; names do not matter."""

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
