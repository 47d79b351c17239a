"""Networks that evolve draughts: as a published text has them, as its program had them by a defect; and better."""

import dataclasses

from jaxgames.algos.evolution.saved import NetworkConfig
from jaxgames.recipes.evolution.matches import ByMatches, show
from jaxgames.recipes.evolution.population import GeneticConfig, OpenESConfig
from jaxgames.recipes.evolution.recipe import EvolutionRecipe

PUBLISHED = (
    {
        "b": "random",
        "games": 10_000,
        "win_rate": 0.5291,
        "loss_rate": 0.3248,
        "draw_rate": 0.1461,
        "source": "Adamczyk, Brinkmann and Ward, Checkers-Simulation, 2018: one hidden layer, 200 epochs",
    },
    {
        "b": "random",
        "win_rate": 0.771,
        "source": "the best network saved with that program; alpha-beta of depth 4 wins 98.9 %",
    },
)

_TEXT = NetworkConfig(
    "checkers", encoding="pieces", head="target", hidden=(64,), activation="bipolar_sigmoid", output="bipolar_sigmoid",
    initializer="uniform:10",
)  # fmt: skip
_DEEP = dataclasses.replace(_TEXT, hidden=(64,) * 10)
_ADAMCZYK = GeneticConfig(
    _TEXT, generations=200, population=200, opponents="others*200", score="pieces", selection="weighted",
    mutation="cubic", rate=1.0, crossover="layers", keep=20, elites=20, block=50, most_plies=150,
)  # fmt: skip
"""What the text leaves open is as in the program published with it: all against all, each pair twice; children of
parents drawn by their score above the worst one; first weights in [-10, 10]. Its saved trainings keep 5 of 42, 15 of
100 or 20 of 150 networks as they are, here 20 of 200. Its players name a multiple jump by the last square; here each
jump is named by itself.
"""

_MENDED = NetworkConfig("checkers", encoding="board64", head="squares", hidden=(64,), activation="sigmoid")
_DEFECT = dataclasses.replace(_MENDED, encoding="one_square")
_SELF_PLAY = GeneticConfig(
    _MENDED, generations=200, population=200, keep=20, elites=20, rate=0.2, opponents="others*2", block=200,
    most_plies=200,
)  # fmt: skip
_ALPHA_BETA = dataclasses.replace(_SELF_PLAY, opponents="alphabeta:2,ties=first*1")

RECIPE = EvolutionRecipe(
    name="checkers-evolution",
    summary="networks 64-...-64 that evolve draughts, as published, with the program's defect, and better",
    settings={
        "self-play": _SELF_PLAY,
        "self-play-one-square": dataclasses.replace(_SELF_PLAY, network=_DEFECT),
        "alpha-beta": _ALPHA_BETA,
        "alpha-beta-one-square": dataclasses.replace(_ALPHA_BETA, network=_DEFECT),
        "best": OpenESConfig(
            _MENDED, generations=250, population=128, sigma=0.1, step_size=0.05, last_step_size=0.01,
            opponents="random*8+hall*4", score="material", block=64, most_plies=150,
        ),
        "adamczyk-2018": _ADAMCZYK,
        "adamczyk-2018-deep": dataclasses.replace(_ADAMCZYK, network=_DEEP),
        "adamczyk-2018-legality": dataclasses.replace(
            _ADAMCZYK, network=dataclasses.replace(_TEXT, strict=True), score="legality"
        ),
        "adamczyk-2018-minimax": dataclasses.replace(
            _ADAMCZYK, opponents="alphabeta:4,ties=first,value=pieces*1", block=200
        ),
    },
    measures=ByMatches(("random", "alphabeta:2", "alphabeta:4"), references=(("published", 52.9),)).measures(),
    show_result=show,
    published=PUBLISHED,
)  # fmt: skip
