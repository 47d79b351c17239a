"""Players made from other people's functions: plain Python outside of compiled programs, or JAX inside them.

A plain Python function gets one state after the other. A match with such a player runs its loop in Python.
"""

import dataclasses
import re
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, UInt32
from typing_extensions import override

from jaxgames.envs.core import Game, Outcome, State, position_text, state_on_host
from jaxgames.ops.pytrees import add_batch_axis, select, take
from jaxgames.players.player import Player, TurnPolicy
from jaxgames.players.specs import PlayerEntry

Move = Callable[[State], int | Sequence[int]]
"""Chooses in one state: an action, or the actions of a whole turn."""

LONGEST_REASON = 200


class _Reasons(threading.local):
    """The reasons of forfeits of each turn in plain Python, as long as it lives."""

    def __init__(self) -> None:
        self.of: weakref.WeakKeyDictionary[Any, list[str]] = weakref.WeakKeyDictionary()


_REASONS = _Reasons()


class PlayerFailed(ValueError):
    """A player in plain Python has raised an error or chosen an illegal action: it loses the game for this reason."""


@dataclasses.dataclass(frozen=True, eq=False)
class HostTurn:
    """The turn that a Python function chooses. An exception or an illegal action loses the game, and is remembered.

    `forfeits` holds the reasons, one line for each lost game, until `take_forfeits` takes them. Each thread has its
    own, as it plays its own games.
    """

    game: Game
    move: Move
    name: str
    on_host = True

    @property
    def forfeits(self) -> list[str]:
        """The reasons of this thread."""
        return _REASONS.of.setdefault(self, [])

    def __call__(self, params: Any, positions: Any, bits: UInt32[Array, " batch"]) -> Outcome:
        """As `TurnPolicy`, but not inside `jit`: raises `ValueError` there."""
        del params
        if isinstance(bits, jax.core.Tracer):
            raise ValueError(f"{self.name} runs as plain Python: it plays, but cannot be part of a compiled program")
        positions = jax.device_get(positions)
        outcomes = [self._play(take(positions, row)) for row in range(len(bits))]
        return jax.tree.map(lambda *rows: np.stack(rows), *outcomes)

    def _play(self, position: Any) -> Outcome:
        """The outcome of one turn."""
        state = jax.device_put(state_on_host(self.game, position))
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
                raise ValueError(f"illegal action {action} in {position_text(state_on_host(self.game, position))}")
            position = outcome.position
            if (outcome.over or outcome.turn_passes) and number + 1 < len(actions):
                raise ValueError(f"actions {actions.tolist()} go on after the end of the turn")
        return outcome


@dataclasses.dataclass(frozen=True)
class ActionTurn(TurnPolicy):
    """The actions that a function of JAX chooses for a batch: `act(states, bits)`, with 32 random bits for each state;
    `act(params, states, bits)` of a player with parameters. An illegal action loses the game.
    """

    game: Game
    act: Callable[..., Any]

    @override
    def __call__(self, params: Any, positions: Any, bits: UInt32[Array, " batch"]) -> Outcome:
        states = self.game.state(positions, jnp.zeros(len(bits), jnp.int32))
        actions = jnp.asarray(self.act(states, bits) if params is None else self.act(params, states, bits))
        if actions.shape != bits.shape or not jnp.issubdtype(actions.dtype, jnp.integer):
            got = f"{actions.dtype}{list(actions.shape)}"
            raise ValueError(f"act(states, bits) gives {got} for {len(bits)} states: expected int32[{len(bits)}]")
        actions = actions.astype(jnp.int32)
        legal = jax.vmap(self.game.is_legal)(positions, actions)
        return select(legal, jax.vmap(self.game.play)(positions, actions), jax.vmap(forfeit)(positions))


def compile_for(player: Player, position: Any) -> None:
    """Compiles what judges the actions of a plain Python function, and the players made from it, without asking it."""
    turn: Any = player.turn
    if hasattr(turn, "turn"):  # by a turn that counts nowhere
        _unasked(turn, player.game)(player.params, add_batch_axis(position), np.zeros(1, np.uint32))
    while hasattr(turn, "turn"):
        turn = turn.turn
    if isinstance(turn, HostTurn):
        _try(player.game, position, np.int32(-1))


def _unasked(turn: Any, game: Game) -> Any:
    """The turn of a player that is made from another one, where that one loses instead of choosing."""
    if hasattr(turn, "turn"):
        return dataclasses.replace(turn, turn=_unasked(turn.turn, game))
    return HostTurn(game, _gives_up, "")


def _gives_up(state: State) -> int:
    raise PlayerFailed


def take_forfeits(player: Player) -> list[str]:
    """Why a player has lost games by an exception or an illegal action, since the last call."""
    reasons = forfeits_of(player.turn)
    taken = list(reasons)
    reasons.clear()
    return taken


def forfeits_of(turn: Any) -> list[str]:
    """The list of failures that a turn in plain Python, or the one from which it is made, keeps."""
    while not hasattr(turn, "forfeits") and hasattr(turn, "turn"):
        turn = turn.turn
    return getattr(turn, "forfeits", [])


def forfeit(position: Any) -> Outcome:
    """A lost game: the position stays as it is."""
    yes: Any = np.bool_(True)
    lost: Any = np.float32(-1)
    return Outcome(position, yes, yes, lost)


@jax.jit
def _look(state: State, action: Any) -> Any:
    return state._game.is_legal(state._position, action), state._game.play(state._position, action)


def _try(game: Game, position: Any, action: np.int32) -> Any:
    """Whether an action is legal, and its outcome."""
    return _look(state_on_host(game, position), action)


def python_player(move: Move, help: str = "", game: str | None = None, chance: bool = True) -> PlayerEntry:
    """The entry of a plain Python function `move(state) -> action`, which gets one state at a time.

    Args:
        move: gets a `State` in which the player is to act. It returns an action, or all actions of its turn.
        help: a line about it.
        game: the id of the only game it plays; None for any.
        chance: whether it plays games with chance.
    """

    def make(game: Game, name: str) -> Player:
        return Player(name, game, HostTurn(game, move, name))

    return PlayerEntry(make, help or _first_line(move), "", (), games=(game,) if game else (), chance=chance)


def jax_player(
    act: Callable[..., Any], params: Any = None, help: str = "", game: str | None = None, chance: bool = True
) -> PlayerEntry:
    """The entry of a function of JAX, `act(states, bits) -> int32[batch]`, which is compiled with the match.

    Args:
        act: gets a batch of states in which the player is to act, and 32 random bits for each of them.
        params: a pytree of arrays, such as the weights of a network; then `act(params, states, bits)` is called.
            Players of the same `act` share compiled programs, so the next checkpoint of a training needs no
            compilation.
        help: a line about it.
        game: the id of the only game it plays; None for any.
        chance: whether it plays games with chance.
    """

    def make(game: Game, name: str) -> Player:
        return Player(name, game, ActionTurn(game, act), params)

    return PlayerEntry(make, help or _first_line(act), "", (), games=(game,) if game else (), chance=chance)


def entry_of(name: str, player: Any) -> PlayerEntry:
    """The entry `name` of what a plug-in has: an entry, or a function `move(state)`. Raises `ValueError` otherwise."""
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z][\w-]*", name):
        raise ValueError(f"{name!r} is no name of a player: expected letters, digits, - and _")
    if not isinstance(player, PlayerEntry):
        if not callable(player):
            raise ValueError(f"player {name!r} is {type(player).__name__}; expected a function move(state) or an entry")
        player = python_player(player)
    if player.examples:
        return player
    inner = player.make  # of a function: it has neither arguments nor options, and gets its name
    return player._replace(
        make=lambda game: inner(game, name), usage=f"{name} has no options: write {name}", examples=(name,)
    )


def _first_line(function: Any) -> str:
    lines = (getattr(function, "__doc__", None) or "").strip().splitlines()
    return lines[0].rstrip(".") if lines else "a player of a plug-in"
