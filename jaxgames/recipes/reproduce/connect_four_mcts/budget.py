"""Searches with a budget of time: how much of it their moves take, in a game and in a match."""

import time
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxgames.matches.match import PairedGames
from jaxgames.players import Player
from jaxgames.players import make as make_player
from jaxgames.recipes.reproduce.connect_four_mcts.matches import GAME
from jaxgames.recipes.reproduce.connect_four_mcts.searches import QUICK
from jaxgames.recipes.reproduce.rows import Row
from jaxgames.recipes.reproduce.study import Study

SECONDS = 0.5
PLAYERS = f"uct:{SECONDS}s", f"alphabeta:{SECONDS}s"
MOST = 105
"""Percent of its time that no move may exceed."""


def budgets(study: Study) -> list[Row]:
    """The longest move of a game, and all time of a match, in percent of the budget."""
    if study.quick:
        return [Row(f"{spec}, longest move of a game", None, unit="%", why=QUICK) for spec in PLAYERS]
    times = study.cell("budgets of time", {"players": PLAYERS}, measure, *PLAYERS, SECONDS)
    names = [f"{spec}, longest move of {times['moves'][spec]} in a game" for spec in PLAYERS]
    names.append(f"{' against '.join(PLAYERS)}, all {times['plies']} plies of 2 games at once")
    figures = [*times["longest"].values(), times["match"]]
    why = [f"more than {MOST} %: was the machine busy?" if figure > MOST else "" for figure in figures]
    return [Row(name, None, figure, unit="%", why=text) for name, figure, text in zip(names, figures, why, strict=True)]


def measure(one: str, other: str, seconds: float) -> dict[str, Any]:
    """Moves of both players in a game and their longest, plies and time of a match; times in percent of `seconds`."""
    players = make_player(one, GAME), make_player(other, GAME)
    took = {player.name: times for player, times in zip(players, _game(players), strict=True)}
    games = PairedGames(*players, 1, slots=2)
    wall = games.play_all()
    plies = int(np.max(games.plies))  # at each of which both players search side by side, each where it is to move
    return {
        "moves": {name: len(times) for name, times in took.items()},
        "longest": {name: 100 * max(times) / seconds for name, times in took.items()},
        "plies": plies,
        "match": 100 * wall / (plies * seconds),
    }


def _game(players: tuple[Player, Player]) -> tuple[list[float], list[float]]:
    """Seconds of each move of each player in one game."""
    opening = jax.tree.map(lambda x: x[None], GAME.init_position(jax.random.key(0)))
    play = [jax.jit(player.play) for player in players]
    memory = [player.begin(jnp.zeros(1, jnp.int32)) for player in players]
    for turn, player in enumerate(play):  # compiles
        jax.block_until_ready(player(opening, jnp.zeros(1, jnp.uint32), memory[turn]))
    took: tuple[list[float], list[float]] = ([], [])
    position, ply, over = opening, 0, False
    while not over:
        turn, bits = ply % 2, jnp.full(1, ply, jnp.uint32)
        began = time.perf_counter()
        outcome, memory[turn] = jax.block_until_ready(play[turn](position, bits, memory[turn]))
        took[turn].append(time.perf_counter() - began)
        position, over, ply = outcome.position, bool(outcome.over[0]), ply + 1
    return took
