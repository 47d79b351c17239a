"""TD-Gammon 0.0: a 198-40-4 network that learns backgammon by playing itself."""

import dataclasses

from jaxgames.algos.td import TDConfig
from jaxgames.recipes.td.recipe import BACKGAMMON_OPPONENTS, Published, TDRecipe

_FAST = TDConfig()

RECIPE = TDRecipe(
    name="td-gammon",
    summary="TD-Gammon 0.0: TD(lambda) by self-play, 198-40-4 network, raw board input",
    settings={
        "fast": _FAST,
        "six": dataclasses.replace(_FAST, outputs=6),
        "wide": dataclasses.replace(_FAST, outputs=6, hidden=(80,)),
        "extra": dataclasses.replace(_FAST, outputs=6, encoding="extra"),
        "exact": TDConfig(
            method="exact",
            lambda_=0.7,
            batch=64,
            plies=16,
            optimizer="sgd",
            step_size=0.01,
            last_step_size=0.001,
            symmetric=False,
        ),
        "tested": TDConfig(
            method="exact", lambda_=0.7, batch=64, plies=16, optimizer="sgd", schedule="tested", symmetric=False
        ),
    },
    opponents=BACKGAMMON_OPPONENTS,
    watched="pubeval",
    published=(
        Published("pubeval", 0.26, "the thesis", "TD(lambda), 198-40-4: the thesis that rebuilds TD-Gammon 0.0"),
        Published("pubeval", 0.33, "40 hidden units", "best known for 40 hidden units (compgammon, Benchmark 2)"),
        Published("pubeval", 0.43, "80 hidden units", "best known for 80 hidden units (the same)"),
    ),
)
