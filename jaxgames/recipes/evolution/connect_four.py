"""A small network that values positions of Connect Four, evolved by OpenAI's evolution strategy."""

import dataclasses

from jaxgames.algos.evolution.saved import NetworkConfig
from jaxgames.recipes.evolution.matches import ByMatches, show
from jaxgames.recipes.evolution.population import OpenESConfig
from jaxgames.recipes.evolution.recipe import EvolutionRecipe

_NETWORK = NetworkConfig(
    "connect_four", "afterstate", encoding="cells", hidden=(64, 32), activation="relu", output="tanh",
    initializer="lecun_normal",
)  # fmt: skip
_USUAL = OpenESConfig(
    _NETWORK, generations=500, population=256, sigma=0.05, step_size=0.02, last_step_size=0.002,
    opponents="random*48+hall*16", block=64, most_plies=42,
)  # fmt: skip

RECIPE = EvolutionRecipe(
    name="connect-four-evolution",
    summary="a small network of Connect Four, by evolution strategy",
    settings={"usual": _USUAL, "random-only": dataclasses.replace(_USUAL, opponents="random*64")},
    measures=ByMatches(("random", "uct:50", "uct:200")).measures(),
    show_result=show,
)
