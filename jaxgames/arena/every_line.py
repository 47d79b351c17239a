"""Every possible line of play of one player, against all replies there are, from either side."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool

from jaxgames.envs.core import Game, Outcome
from jaxgames.players.player import Player

CHUNK = 256  # positions at once, so that whatever the number of positions two programs do
MOST_POSITIONS = 1_000_000


@dataclasses.dataclass(frozen=True)
class Tally:
    """Numbers of lines of play, by how they end for the player."""

    won: int = 0
    drawn: int = 0
    lost: int = 0

    @property
    def lines(self) -> int:
        """All of them."""
        return self.won + self.drawn + self.lost


@dataclasses.dataclass(frozen=True)
class LinesResult:
    """What becomes of a player whatever the other one does: where the player begins, and where the other one does."""

    game: str
    player: str
    first: Tally
    second: Tally

    @property
    def lost(self) -> int:
        """The lines that are lost, from both sides."""
        return self.first.lost + self.second.lost

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        sides = {name: dataclasses.asdict(tally) | {"lines": tally.lines} for name, tally in self._sides().items()}
        return {"game": self.game, "player": self.player, "lost": self.lost, **sides}

    def _sides(self) -> dict[str, Tally]:
        return {"first": self.first, "second": self.second}


def every_line(player: Player, most_positions: int = MOST_POSITIONS) -> LinesResult:
    """Plays out all lines: in each the player takes its own turns, and the other one anything that is legal.

    A line is a sequence of actions from the opening to the end of the game. Lines that come to the same position are
    followed together. For games without chance that are small enough.

    Raises `ValueError` for a game with chance, a player that draws its turns, and for more than `most_positions`
    different positions after the same number of turns.
    """
    game = player.game
    openings = [jax.device_get(game.opening(jax.random.key(seed))) for seed in range(2)]
    if game.outcome_probabilities or _bytes(_batch(openings[0])).tolist() != _bytes(_batch(openings[1])).tolist():
        raise ValueError(f"{game.id} has chance: its lines of play cannot be counted")
    first, second = (_follow(player, _batch(openings[0]), ours, most_positions) for ours in (True, False))
    return LinesResult(game.id, player.name, first, second)


def _follow(player: Player, opening: Any, ours: bool, most_positions: int) -> Tally:
    """The tally of all lines from one position on, where it is the player's turn or not."""
    ended = np.zeros(3, object)  # lost, drawn, won
    waiting = {ours: (opening, np.ones(1, object))}
    while waiting:
        reached: dict[bool, list[tuple[Any, np.ndarray]]] = {True: [], False: []}
        for mine, (positions, numbers) in waiting.items():
            outcome, legal = _turns(player, positions) if mine else _actions(player.game, positions)
            numbers = np.broadcast_to(numbers[:, None], legal.shape)[legal]
            outcome = jax.tree.map(lambda x, legal=legal: x[legal], outcome)
            result = np.sign(outcome.reward if mine else -outcome.reward).astype(int)
            for kind in range(3):
                ended[kind] += sum(numbers[outcome.over & (result == kind - 1)])
            for again in (True, False):
                there = ~outcome.over & (outcome.switch != again)
                following = jax.tree.map(lambda x, there=there: x[there], outcome.position)
                reached[mine == again].append((following, numbers[there]))
        merged = ((mine, _merged(parts)) for mine, parts in reached.items())
        waiting = {mine: (positions, numbers) for mine, (positions, numbers) in merged if len(numbers)}
        if sum(len(numbers) for _, numbers in waiting.values()) > most_positions:
            raise ValueError(f"{player.game.id} has too many lines of play: more than {most_positions:,} positions")
    lost, drawn, won = map(int, ended)
    return Tally(won, drawn, lost)


def _turns(player: Player, positions: Any) -> tuple[Outcome, Bool[np.ndarray, "n 1"]]:
    """What the player's turn leads to, [n, 1]."""
    outcome, certain = _in_chunks(_certain_turn, player, positions)
    if not certain.all():
        raise ValueError(f"{player.name} draws its turns: its lines of play cannot be counted")
    return jax.tree.map(lambda x: x[:, None], outcome), certain[:, None]


def _actions(game: Game, positions: Any) -> tuple[Outcome, Bool[np.ndarray, "n actions"]]:
    """What all actions lead to, and which of them are legal, [n, actions]."""
    return _in_chunks(_all_actions, game, positions)


@jax.jit
def _certain_turn(player: Player, positions: Any) -> tuple[Outcome, Bool[Array, " n"]]:
    """The player's turns, and whether other random words would have led to the same."""
    words = jax.random.bits(jax.random.key(0), (2, CHUNK))
    one, other = (player.turn(player.params, positions, word) for word in words)
    same = [(x == y).reshape(CHUNK, -1).all(axis=1) for x, y in zip(*map(jax.tree.leaves, (one, other)), strict=True)]
    return one, jnp.stack(same).all(axis=0)


def _all_actions(game: Game, positions: Any) -> tuple[Outcome, Bool[Array, "n actions"]]:
    actions = jnp.arange(game.num_actions, dtype=jnp.int32)
    outcomes = jax.vmap(lambda position: jax.vmap(lambda action: game.play(position, action))(actions))(positions)
    return outcomes, jax.vmap(game.legal)(positions)


_all_actions = jax.jit(_all_actions, static_argnums=0)


def _in_chunks(function: Any, of: Any, positions: Any) -> Any:
    """`function(of, positions)` for any number of positions, on the host."""
    number = len(jax.tree.leaves(positions)[0])
    parts = []
    for start in range(0, number, CHUNK):
        places = np.minimum(np.arange(start, start + CHUNK), number - 1)
        part = jax.device_get(function(of, jax.tree.map(lambda x, places=places: x[places], positions)))
        parts.append(jax.tree.map(lambda x, size=number - start: x[:size], part))
    return jax.tree.map(lambda *xs: np.concatenate(xs), *parts)


def _merged(parts: list[tuple[Any, np.ndarray]]) -> tuple[Any, np.ndarray]:
    """The different positions, and how many lines lead to each."""
    positions = jax.tree.map(lambda *xs: np.concatenate(xs), *(positions for positions, _ in parts))
    numbers = np.concatenate([numbers for _, numbers in parts])
    if not len(numbers):
        return positions, numbers
    _, index, places = np.unique(_bytes(positions), axis=0, return_index=True, return_inverse=True)
    total = np.zeros(len(index), object)
    np.add.at(total, places.reshape(-1), numbers)
    return jax.tree.map(lambda x: x[index], positions), total


def _bytes(positions: Any) -> np.ndarray:
    """All that a position is, as uint8[n, bytes]."""
    leaves = [np.ascontiguousarray(leaf).reshape(len(leaf), -1) for leaf in jax.tree.leaves(positions)]
    return np.concatenate([leaf.view(np.uint8).reshape(len(leaf), -1) for leaf in leaves], axis=1)


def _batch(position: Any) -> Any:
    return jax.tree.map(lambda x: np.asarray(x)[None], position)
