"""Every possible line of play of one player, against all possible replies, from either side."""

import dataclasses
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool

from jaxgames.envs.core import Game, Outcome
from jaxgames.envs.turns.expand import Children, Expansion, batches
from jaxgames.ops.pytrees import add_batch_axis, concatenate, equal, in_chunks, num_rows, take, unique_rows
from jaxgames.players.generic import is_weak
from jaxgames.players.player import Player
from jaxgames.players.registry import as_players

CHUNK = 256  # positions at once, so that two programs are enough for any number of positions
MOST_POSITIONS = 1_000_000
DRAWS = "{} draws its turns: its lines of play cannot be counted"
_ONCE = np.ones(1, object)  # numbers of lines are exact, however many


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
    """The results of a player against all replies: when the player begins, and when the other one does."""

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


def every_line(
    player: Player | str, most_positions: int = MOST_POSITIONS, game: Game | str | None = None
) -> LinesResult:
    """Plays every possible line: the player takes its own turns, the opponent every legal action.

    A line is a sequence of actions from the opening to the end of the game. Lines that reach the same position are
    followed together. For small games without chance. If the player is given by a name, `game` says of which game.

    Raises `ValueError` for a game with chance, a player that draws its turns, and for more than `most_positions`
    different positions after the same number of turns.
    """
    (player,) = as_players(player, game=game)
    game = player.game
    opening, other = (add_batch_axis(game.init_position(jax.random.key(seed))) for seed in range(2))
    if game.outcome_probabilities or len(_merged([(opening, _ONCE), (other, _ONCE)])[1]) > 1:
        raise ValueError(f"{game.id} has chance: its lines of play cannot be counted")
    if is_weak(player):
        raise ValueError(DRAWS.format(player.name))
    first, second = (_follow(player, opening, ours, most_positions) for ours in (True, False))
    return LinesResult(game.id, player.name, first, second)


def _follow(player: Player, opening: Any, ours: bool, most_positions: int) -> Tally:
    """The tally of all lines from one position on; it is the player's turn, or not."""
    ended = np.zeros(3, object)  # lost, drawn, won
    waiting = {ours: (opening, _ONCE)}
    while waiting:
        reached: dict[bool, list[tuple[Any, np.ndarray]]] = {True: [], False: []}
        for mine, (positions, numbers) in waiting.items():
            children = _turns(player, positions) if mine else _replies(player.game, positions)
            numbers = numbers[children.parent]
            result = np.sign(children.reward if mine else -children.reward).astype(int)
            for kind in range(3):
                ended[kind] += sum(numbers[children.over & (result == kind - 1)])
            for again in (True, False):
                there = ~children.over & (children.complete != again)
                reached[mine == again].append((take(children.position, there), numbers[there]))
        merged = ((mine, _merged(parts)) for mine, parts in reached.items())
        waiting = {mine: (positions, numbers) for mine, (positions, numbers) in merged if len(numbers)}
        if sum(len(numbers) for _, numbers in waiting.values()) > most_positions:
            raise ValueError(f"{player.game.id} has too many lines of play: more than {most_positions:,} positions")
    lost, drawn, won = map(int, ended)
    return Tally(won, drawn, lost)


def _turns(player: Player, positions: Any) -> Children:
    """What the player's turns lead to."""
    outcome, certain = in_chunks(partial(_deterministic_turn, player), positions, CHUNK)
    if not certain.all():
        raise ValueError(DRAWS.format(player.name))
    index = np.arange(len(certain))
    return Children(index, index, outcome.position, outcome.turn_passes | outcome.over, outcome.over, outcome.reward)


def _replies(game: Game, positions: Any) -> Children:
    """What all legal actions lead to."""
    pages = []
    for index, batch in batches(np.arange(num_rows(positions)), positions, CHUNK):
        pages += [page._replace(parent=index[page.parent]) for page in Expansion(game, batch, CHUNK).pages()]
    return concatenate(pages)


@jax.jit
def _deterministic_turn(player: Player, positions: Any) -> tuple[Outcome, Bool[Array, " n"]]:
    """The player's turns, and whether other random bits would give the same turns."""
    bits = jax.random.bits(jax.random.key(0), (2, CHUNK), jnp.uint32)
    one, other = (player.play_once(positions, some) for some in bits)
    return one, equal(one, other)


def _merged(parts: list[tuple[Any, np.ndarray]]) -> tuple[Any, np.ndarray]:
    """The different positions, and how many lines lead to each."""
    positions, numbers = concatenate(parts)
    if not len(numbers):
        return positions, numbers
    first, kind = unique_rows(positions)
    total = np.zeros(len(first), object)
    np.add.at(total, kind, numbers)
    return take(positions, first), total
