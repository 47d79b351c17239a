"""The named TD trainings: `td-gammon`, `backgammon-backprop`, and `td` for every game."""

import dataclasses
from typing import Any

from jaxgames.algos.td import TDConfig, make_config
from jaxgames.envs.registry import make
from jaxgames.recipes.recipe import OfAnyGame
from jaxgames.recipes.td.recipe import Published, TDRecipe

_OPPONENTS = ("random", "simple:3", "pubeval")
_FAST = make_config()
_EXACT = make_config("exact", lambda_=0.7, batch=64, plies=16, optimizer="sgd", symmetric=False)
_AS_EBERT: dict[str, Any] = {"schedule": "tested", "symmetric": False, "cumulative": True, "biases": False}
"""As in Ebert's comparison (2007): one game after the other, a step after each ply."""
_EBERT = make_config("sequential_td", lambda_=0.7, **_AS_EBERT)
_EBERT_GAMES = {"ebert-2007": 700_000, "ebert-2007-extra": 1_000_000}

TD_GAMMON = TDRecipe(
    name="td-gammon",
    summary="TD-Gammon 0.0: TD(lambda) by self-play, 198-40-4 network, raw board input",
    settings={
        "fast": _FAST,
        "six": _FAST.replace(outputs=6),
        "wide": _FAST.replace(outputs=6, hidden=(80,)),
        "extra": _FAST.replace(outputs=6, encoding="extra"),
        "exact": _EXACT.replace(step_size=0.01, last_step_size=0.001),
        "tested": _EXACT.replace(schedule="tested"),
        "ebert-2007": _EBERT,
        "ebert-2007-extra": _EBERT.replace(encoding="extra"),
    },
    lengths=_EBERT_GAMES,
    opponents=_OPPONENTS,
    watched="pubeval",
    published=(
        Published("pubeval", 0.26, "Ebert 2007", "TD(lambda), 198-40-4: L. D. Ebert (2007)"),
        Published("pubeval", 0.33, "40 hidden units", "best known for 40 hidden units (compgammon, Benchmark 2)"),
        Published("pubeval", 0.43, "80 hidden units", "best known for 80 hidden units (the same)"),
    ),
)

_BACKPROP = make_config("monte_carlo", batch=128, plies=1024)
BACKGAMMON_BACKPROP = TDRecipe(
    name="backgammon-backprop",
    summary="Monte-Carlo self-play: 198-40-4 network, backprop to the final result",
    settings={
        "fast": _BACKPROP,
        "plain": _BACKPROP.replace(optimizer="sgd", step_size=0.001, last_step_size=0.0001, symmetric=False),
        "ebert-2007": make_config("sequential_backprop", **_AS_EBERT),
    },
    lengths={"ebert-2007": 1_100_000},
    opponents=_OPPONENTS,
    watched="pubeval",
    published=(Published("pubeval", -0.18, "Ebert 2007", "backprop, 198-40-4: L. D. Ebert (2007)"),),
)

_DEEP: dict[str, Any] = {
    "encoding": "observation",
    "hidden": (64, 32),
    "activation": "relu",
    "initializer": "lecun_normal",
    "outputs": 2,
    "batch": 128,
}


def _of_any_game(config: TDConfig, **settings: Any) -> TDRecipe:
    return TDRecipe("td", f"TD(lambda) by self-play: {config.game}", {"fast": config}, measured_early=True, **settings)


TIC_TAC_TOE = _of_any_game(
    make_config(**_DEEP, game="tic_tac_toe", lambda_=0.3, epsilon=0.5, plies=4, step_size=0.005, last_step_size=0.0002),
    minutes=None,
    games=300_000,
    plies_per_game=7,
    plies_per_measurement=200_000,
    every_line=True,
)
CONNECT_FOUR = _of_any_game(
    make_config(**_DEEP, game="connect_four", epsilon=0.3, plies=8, step_size=0.002),
    minutes=3.0,
    plies_per_game=25,
)
CHECKERS = _of_any_game(
    make_config(**{**_DEEP, "encoding": "pieces"}, game="checkers", epsilon=0.1, plies=8, step_size=0.002),
    minutes=3.0,
    plies_per_game=75,
)
BACKGAMMON = dataclasses.replace(TD_GAMMON, name="td")

BY_GAME: dict[str, TDRecipe] = {recipe.game: recipe for recipe in (TIC_TAC_TOE, CONNECT_FOUR, CHECKERS, BACKGAMMON)}


def recipe_for(game_id: str) -> TDRecipe:
    """The recipe `td` for a game; one that has no settings of its own gets some that suit many.

    Raises `ValueError` if there is no such game.
    """
    if game_id in BY_GAME:
        return BY_GAME[game_id]
    game = make(game_id)
    epsilon = 0.0 if game.outcome_probabilities else 0.1
    outputs = 2 * min(game.max_reward, 3)
    config = make_config(**{**_DEEP, "outputs": outputs}, game=game_id, epsilon=epsilon, plies=8, step_size=0.002)
    return _of_any_game(config)


TD = OfAnyGame(
    "td",
    "TD(lambda) by self-play, for the game named with --game",
    recipe_for,
    lambda: [f"--game {game}: {', '.join(r.settings)}; {r.length()}" for game, r in BY_GAME.items()],
)
