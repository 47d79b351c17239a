"""What the rules of a game speak of: positions, the outcomes of actions, the values of positions."""

from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from jaxtyping import Array, Bool, Float32, Int32

Position = TypeVar("Position")


class Outcome(NamedTuple, Generic[Position]):
    """What one action leads to, before chance.

    `position` is seen by the player who acts next; `turn_passes` says that this is the other player. `reward` is what
    the player who acted wins (the other one loses it); it counts only where the game is `over`.
    """

    position: Position
    turn_passes: Bool[Array, "..."]
    over: Bool[Array, "..."]
    reward: Float32[Array, "..."]


class Value(Protocol):
    """What positions are worth to the player to act: expected points, float32[n] for n positions.

    In a game with chance the positions await it. A game may know a faster way to use some values; called like this, all
    of them give the same.
    """

    def __call__(self, positions: Any, /) -> Float32[Array, " n"]:
        """Expected points of n positions."""
        ...


class Rules(Protocol):
    """The part of a `Game` that turns and heads read. `core` imports them, so they cannot name `Game` itself."""

    @property
    def num_actions(self) -> int:
        """How many actions the game has."""
        ...

    def legal(self, position: Any) -> Bool[Array, " actions"]:
        """As `Game.legal`."""
        ...

    def is_legal(self, position: Any, action: Int32[Array, ""]) -> Bool[Array, ""]:
        """As `Game.is_legal`."""
        ...

    def play(self, position: Any, action: Int32[Array, ""]) -> Outcome:
        """As `Game.play`."""
        ...
