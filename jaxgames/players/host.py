"""Players that run as plain Python beside the compiled ones: functions and programs of other people.

They are asked about one state after the other. A match that has one of them runs its loop in Python.
"""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, UInt32

from jaxgames.envs.core import Game, Outcome, State
from jaxgames.ops.pytrees import select, take
from jaxgames.players.player import Player

Move = Callable[[State], int | Sequence[int]]
"""Chooses in one state: an action, or the actions of a whole turn."""

LONGEST_REASON = 200


class PlayerFailed(ValueError):
    """A player in plain Python has failed or chosen an illegal action: it loses the game, for this reason."""


@dataclasses.dataclass(frozen=True, eq=False)
class HostTurn:
    """The turn that a Python function chooses. An exception or an illegal action loses the game, and is remembered.

    `forfeits` holds the reasons, one line for each lost game, until somebody takes them.
    """

    game: Game
    move: Move
    name: str
    forfeits: list[str] = dataclasses.field(default_factory=list)
    on_host = True

    def __call__(self, params: Any, positions: Any, bits: UInt32[Array, " batch"]) -> Outcome:
        """As `TurnPolicy`, but not inside `jit`: raises `ValueError` there."""
        del params
        if isinstance(bits, jax.core.Tracer):
            raise ValueError(f"{self.name} runs as plain Python: it plays, but is no part of a compiled program")
        found = [self._play(take(positions, row)) for row in range(len(bits))]
        return jax.tree.map(lambda *rows: np.stack(rows), *found)

    def _play(self, position: Any) -> Outcome:
        """The outcome of one turn."""
        state = jax.device_put(_state(self.game, position))
        try:
            actions = np.atleast_1d(np.asarray(self.move(state)))
            return self._outcome(position, actions)
        except (Exception, SystemExit) as error:
            what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            self.forfeits.append(" ".join(f"{self.name}: {what}".split())[:LONGEST_REASON])
            return forfeit(position)

    def _outcome(self, position: Any, actions: np.ndarray) -> Outcome:
        if actions.ndim != 1 or not len(actions) or not np.issubdtype(actions.dtype, np.integer):
            raise ValueError(f"move(state) gave {actions.tolist()!r}; expected the number of an action")
        for number, action in enumerate(actions.tolist()):
            legal, outcome = jax.device_get(_try(self.game, position, np.int32(np.clip(action, -1, 2**31 - 1))))
            if not legal:
                raise ValueError(f"illegal action {action} in {self.game.unparse(position)}")
            position = outcome.position
            if (outcome.over or outcome.turn_passes) and number + 1 < len(actions):
                raise ValueError(f"actions {actions.tolist()} go on after the end of the turn")
        return outcome


@dataclasses.dataclass(frozen=True)
class ActionTurn:
    """The actions that a function of JAX chooses for a batch: `act(states, bits)`, with 32 random bits for each state;
    `act(params, states, bits)` of a player with parameters. An illegal action loses the game.
    """

    game: Game
    act: Callable[..., Any]

    def __call__(self, params: Any, positions: Any, bits: UInt32[Array, " batch"]) -> Outcome:
        """As `TurnPolicy`."""
        states = self.game.state(positions, jnp.zeros(len(bits), jnp.int32))
        actions = jnp.asarray(self.act(states, bits) if params is None else self.act(params, states, bits))
        if actions.shape != bits.shape or not jnp.issubdtype(actions.dtype, jnp.integer):
            got = f"{actions.dtype}{list(actions.shape)}"
            raise ValueError(f"act(states, bits) gives {got} for {len(bits)} states: expected int32[{len(bits)}]")
        actions = actions.astype(jnp.int32)
        legal = jax.vmap(self.game.is_legal)(positions, actions)
        return select(legal, jax.vmap(self.game.play)(positions, actions), jax.vmap(forfeit)(positions))


def on_host(player: Player) -> bool:
    """Whether a player runs as plain Python, and so cannot be compiled."""
    return bool(getattr(player.turn, "on_host", False))


def take_forfeits(player: Player) -> list[str]:
    """Why a player has lost games by an exception or an illegal action, since this was last asked."""
    turn: Any = player.turn
    while not hasattr(turn, "forfeits") and hasattr(turn, "turn"):
        turn = turn.turn
    reasons = getattr(turn, "forfeits", [])
    found = list(reasons)
    reasons.clear()
    return found


def forfeit(position: Any) -> Outcome:
    """A lost game: the position stays as it is."""
    yes: Any = np.bool_(True)
    lost: Any = np.float32(-1)
    return Outcome(position, yes, yes, lost)


def _state(game: Game, position: Any) -> State:
    zero, no = np.int32(0), np.bool_(False)
    return State(zero, np.zeros(2, np.float32), no, no, zero, jax.tree.map(np.asarray, position), game)  # type: ignore


@jax.jit
def _look(state: State, action: Any) -> Any:
    return state._game.is_legal(state._position, action), state._game.play(state._position, action)


def _try(game: Game, position: Any, action: np.int32) -> Any:
    """Whether an action is legal, and its outcome."""
    return _look(_state(game, position), action)
