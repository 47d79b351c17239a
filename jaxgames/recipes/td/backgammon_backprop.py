"""The second method of the comparison: backprop of every position to the final result of its game."""

import dataclasses

from jaxgames.algos.td import TDConfig
from jaxgames.recipes.td.recipe import BACKGAMMON_OPPONENTS, Published, TDRecipe

_BACKPROP = TDConfig(method="monte_carlo", batch=128, plies=1024)

RECIPE = TDRecipe(
    name="backgammon-backprop",
    summary="Monte-Carlo self-play: 198-40-4 network, backprop to the final result",
    settings={
        "fast": _BACKPROP,
        "plain": dataclasses.replace(
            _BACKPROP, optimizer="sgd", step_size=0.001, last_step_size=0.0001, symmetric=False
        ),
    },
    opponents=BACKGAMMON_OPPONENTS,
    watched="pubeval",
    published=(
        Published(
            "pubeval", 0.26, "TD, the thesis", "TD(lambda), for comparison: the thesis that rebuilds TD-Gammon 0.0"
        ),
    ),
)
