"""Evolution: whole generations of networks that play each other, in one jit.

Networks are rows of a matrix (`Genomes`), a `Policy` says how they play, and `play` lets candidates meet opponents. Of
that `ByPlay` makes a fitness, which all algorithms take: `generation(algorithm, fitness, state, key)`.
"""

from jaxgames.algos.evolution.cma_es import CMAES
from jaxgames.algos.evolution.duel import duel
from jaxgames.algos.evolution.evaluate import Algorithm, Fitness, evaluate, generation, population_mesh
from jaxgames.algos.evolution.fitness import SCORES, ByPlay, HallOfFame, Table, by_table, right_turns
from jaxgames.algos.evolution.genomes import Genomes
from jaxgames.algos.evolution.group_ga import GroupGA
from jaxgames.algos.evolution.hill_climb import HillClimb
from jaxgames.algos.evolution.neuroevolution import Neuroevolution
from jaxgames.algos.evolution.open_es import OpenES
from jaxgames.algos.evolution.play import Details, Networks, Others, RandomMoves, Results, play
from jaxgames.algos.evolution.policies import Afterstate, Outputs, Policy

__all__ = [
    "CMAES",
    "SCORES",
    "Afterstate",
    "Algorithm",
    "ByPlay",
    "Details",
    "Fitness",
    "Genomes",
    "GroupGA",
    "HallOfFame",
    "HillClimb",
    "Networks",
    "Neuroevolution",
    "OpenES",
    "Others",
    "Outputs",
    "Policy",
    "RandomMoves",
    "Results",
    "Table",
    "by_table",
    "duel",
    "evaluate",
    "generation",
    "play",
    "population_mesh",
    "right_turns",
]
