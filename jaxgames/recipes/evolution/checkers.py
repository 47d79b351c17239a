"""Networks 64-...-64 that evolve draughts: as a published program had them, with its defect and mended; and better."""

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
        "source": "the published program: its network after 200 epochs",
    },
    {
        "b": "random",
        "win_rate": 0.771,
        "source": "the best network saved with that program; alpha-beta of depth 4 wins 98.9 %",
    },
)

_MENDED = NetworkConfig("checkers", encoding="board64", head="squares", hidden=(64,), activation="sigmoid")
_DEFECT = dataclasses.replace(_MENDED, encoding="one_square")
_SELF_PLAY = GeneticConfig(
    _MENDED, generations=200, population=200, keep=20, elites=20, rate=0.2, opponents="others*2", block=200,
    most_plies=200,
)  # fmt: skip
_ALPHA_BETA = dataclasses.replace(_SELF_PLAY, opponents="alphabeta:2,ties=first*1")

RECIPE = EvolutionRecipe(
    name="checkers-evolution",
    summary="networks 64-64-64 that evolve draughts, with a published program's defect and without",
    settings={
        "self-play": _SELF_PLAY,
        "self-play-one-square": dataclasses.replace(_SELF_PLAY, network=_DEFECT),
        "alpha-beta": _ALPHA_BETA,
        "alpha-beta-one-square": dataclasses.replace(_ALPHA_BETA, network=_DEFECT),
        "best": OpenESConfig(
            _MENDED, generations=250, population=128, sigma=0.1, step_size=0.05, last_step_size=0.01,
            opponents="random*8+hall*4", score="material", block=64, most_plies=150,
        ),
    },
    measures=ByMatches(("random", "alphabeta:2", "alphabeta:4"), references=(("published", 52.9),)).measures(),
    show_result=show,
    published=PUBLISHED,
)  # fmt: skip
