"""The comparison's third method: hill climbing from nothing, as Pollack and Blair did; and an evolution strategy."""

import dataclasses

from jaxgames.algos.evolution.saved import NetworkConfig
from jaxgames.recipes.evolution.climb import HillClimbConfig
from jaxgames.recipes.evolution.matches import ByMatches, show
from jaxgames.recipes.evolution.population import OpenESConfig
from jaxgames.recipes.evolution.recipe import EvolutionRecipe

PUBLISHED = (
    {
        "b": "pubeval",
        "ppg": -0.91,
        "source": "mutation, 198-40-4: L. D. Ebert (2007)",
    },
    {"b": "pubeval", "ppg": 0.26, "source": "TD(lambda), 198-40-4, for comparison: the same text"},
)

_NETWORK = NetworkConfig(
    "backgammon", "outcomes", encoding="tesauro", hidden=(40,), activation="sigmoid", output="sigmoid",
    initializer="zeros",
)  # fmt: skip

RECIPE = EvolutionRecipe(
    name="backgammon-hill-climb",
    summary="hill climbing of a 198-40-4 network from zero, raw board input",
    settings={
        "faithful": HillClimbConfig(_NETWORK, generations=100_000, sigma=0.05, factor=0.05, duel=4),
        "ebert-2007": HillClimbConfig(
            dataclasses.replace(_NETWORK, biases=False, cumulative=True),
            generations=275_000, sigma=0.05, duel=4, schedule="tested", bound="scale",
        ),
        "best": OpenESConfig(
            NetworkConfig("backgammon", "afterstate", encoding="tesauro", hidden=(), initializer="uniform:0.01"),
            generations=100, population=64, sigma=0.05, step_size=0.02, last_step_size=0.004,
            opponents="pubeval*32", score="points", block=64, most_plies=150,
        ),
    },
    measures=ByMatches(
        ("random", "simple:3", "pubeval"), ("pubeval",), (("published", -0.91), ("TD, Ebert 2007", 0.26))
    ).measures(),
    show_result=show,
    published=PUBLISHED,
)  # fmt: skip
