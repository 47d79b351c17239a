"""Every line of play of players whose lines are known, against lines followed one by one in plain Python."""

import dataclasses
import functools
import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames import players
from jaxgames.envs.tic_tac_toe import notation
from jaxgames.matches import every_line
from jaxgames.matches.exhaustive import Tally
from jaxgames.players import Player, generic
from tests.players.dash import GAME as DASH

GAME = jaxgames.make("tic_tac_toe")


@functools.cache
def minimax(cells: tuple[int, ...]) -> int:
    """What the player to act, who has the cells marked 1, can be sure of: 1, 0 or -1."""
    if notation.winning_cells(cells):
        return -1
    free = [cell for cell in range(9) if not cells[cell]]
    return max((-minimax(after(cells, cell)) for cell in free), default=0)


def after(cells: tuple[int, ...], cell: int) -> tuple[int, ...]:
    taken = [*cells[:cell], 1, *cells[cell + 1 :]]
    return tuple(0 if owner == 0 else 3 - owner for owner in taken)


def worth(cells: tuple[int, ...], kind: str) -> float:
    """What a player of a kind takes a position to be worth for the player to act."""
    number = sum(owner * 3**cell for cell, owner in enumerate(cells))
    return {"perfect": minimax(cells), "worst": -minimax(cells), "any": (number * 7919 % 1009) / 1009 - 0.5}[kind]


@functools.cache
def reachable() -> dict[int, tuple[int, ...]]:
    """All positions in which nobody has won yet, by their words."""
    found, waiting = {}, [(0,) * 9]
    while waiting:
        cells = waiting.pop()
        word = sum(1 << (cell + 16 * (owner == 2)) for cell, owner in enumerate(cells) if owner)
        if word not in found and not notation.winning_cells(cells):
            found[word] = cells
            waiting += [after(cells, cell) for cell in range(9) if not cells[cell]]
    return found


@dataclasses.dataclass(frozen=True)
class Table:
    """Positions are worth what a table says; they are found by their words."""

    def value(self, params):
        words, worths = params
        return lambda positions: worths[jnp.searchsorted(words, positions.cells)]


def player_of(kind: str) -> Player:
    known = sorted(reachable().items())
    words = jnp.asarray(np.array([word for word, _ in known], np.uint32))
    worths = jnp.asarray(np.array([worth(cells, kind) for _, cells in known], np.float32))
    return players.greedy(GAME, kind, (words, worths), Table().value)


def lines_of(cells: tuple[int, ...], ours: bool, kind: str) -> np.ndarray:
    """Lost, drawn and won lines from a position on, followed one by one."""
    if notation.winning_cells(cells):
        return np.array([ours, 0, not ours], int)
    free = [cell for cell in range(9) if not cells[cell]]
    if not free:
        return np.array([0, 1, 0])
    if ours:
        won = [1.0 if notation.winning_cells(after(cells, cell)) else None for cell in free]
        worths = [-worth(after(cells, cell), kind) if w is None else w for cell, w in zip(free, won, strict=True)]
        free = [free[int(np.argmax(np.float32(worths)))]]
    return sum(lines_of(after(cells, cell), not ours, kind) for cell in free)


@pytest.mark.parametrize("kind", ["perfect", "any", "worst"])
def test_lines_are_those_followed_one_by_one(kind):
    result = every_line(player_of(kind))
    for tally, ours in ((result.first, True), (result.second, False)):
        assert (tally.lost, tally.drawn, tally.won) == tuple(lines_of((0,) * 9, ours, kind))
    assert (result.lost == 0) == (kind == "perfect")
    assert result.lost == result.first.lost + result.second.lost
    data = json.loads(json.dumps(result.to_dict()))
    assert data["game"] == "tic_tac_toe" and data["player"] == kind
    assert data["second"] == {**dataclasses.asdict(result.second), "lines": result.second.lines}


@dataclasses.dataclass(frozen=True)
class FirstAction:
    """The first legal action; `params` is nothing."""

    def __call__(self, params, positions, words):
        return jax.vmap(lambda position: GAME.play(position, jnp.argmax(GAME.legal(position))))(positions)


def test_all_lines_are_there():
    """One who takes the lowest free cell leaves the other one any order of the rest."""
    result = every_line(Player("lowest", GAME, FirstAction()))
    assert 8 * 6 < result.first.lines < 8 * 6 * 4 * 2 and 9 * 7 * 5 < result.second.lines < 9 * 7 * 5 * 3
    assert min(result.first.lost, result.second.lost, result.second.won) > 0
    assert Tally(3, 2, 1).lines == 6


def test_what_cannot_be_counted():
    with pytest.raises(ValueError, match="^random draws its turns: its lines of play cannot be counted$"):
        every_line(generic.random(GAME))
    with pytest.raises(ValueError, match="^rarely draws its turns"):
        every_line(generic.exact(generic.weak(player_of("any"), "weak", 1e-6), "rarely"))
    with pytest.raises(ValueError, match="^dash has chance: its lines of play cannot be counted$"):
        every_line(generic.random(DASH))
    with pytest.raises(ValueError, match="^tic_tac_toe has too many lines of play: more than 20 positions$"):
        every_line(player_of("any"), most_positions=20)
