"""Evolution: whole generations of networks that play each other, in one jit.

Networks are rows of a matrix (`Genomes`), a `Policy` says how they play, and `play` lets candidates meet opponents.
`ByPlay` turns this into a fitness, which all algorithms take: `generation(algorithm, fitness, state, key)`.
"""

from jaxgames.algos.evolution import operators
from jaxgames.algos.evolution.candidates import LowRank, Matrix, Parameters, linen_apply
from jaxgames.algos.evolution.duel import duel
from jaxgames.algos.evolution.evaluate import Algorithm, Fitness, MemoryPlan, evaluate, generation, population_mesh
from jaxgames.algos.evolution.fitness import MEASURES, SCORES, ByPlay
from jaxgames.algos.evolution.genomes import Genomes
from jaxgames.algos.evolution.play import Details, FixedPlayer, Networks, RandomMoves, Results, play
from jaxgames.algos.evolution.policies import Afterstate, Outputs, Policy
from jaxgames.algos.evolution.strategies.evosax import Evosax
from jaxgames.algos.evolution.strategies.group_ga import GroupGA
from jaxgames.algos.evolution.strategies.hill_climb import HillClimb
from jaxgames.algos.evolution.strategies.low_rank import LowRankES
from jaxgames.algos.evolution.strategies.map_elites import MapElites
from jaxgames.algos.evolution.strategies.neuroevolution import Neuroevolution
from jaxgames.algos.evolution.strategies.nsga2 import NSGA2
from jaxgames.algos.evolution.strategies.open_es import OpenES
from jaxgames.algos.evolution.strategies.population import HallOfFame, League

__all__ = [
    "MEASURES",
    "NSGA2",
    "SCORES",
    "Afterstate",
    "Algorithm",
    "ByPlay",
    "Details",
    "Evosax",
    "Fitness",
    "Genomes",
    "GroupGA",
    "HallOfFame",
    "HillClimb",
    "League",
    "LowRank",
    "LowRankES",
    "MapElites",
    "Matrix",
    "MemoryPlan",
    "Networks",
    "Neuroevolution",
    "OpenES",
    "FixedPlayer",
    "Outputs",
    "Parameters",
    "Policy",
    "RandomMoves",
    "Results",
    "duel",
    "evaluate",
    "generation",
    "linen_apply",
    "operators",
    "play",
    "population_mesh",
]
