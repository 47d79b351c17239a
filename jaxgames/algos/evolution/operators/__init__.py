"""Operators of genetic algorithms: mutation, crossover, selection, and the three together."""

from jaxgames.algos.evolution.operators.breeding import candidate_bits, offspring
from jaxgames.algos.evolution.operators.crossover import Crossover, Segments, WholeLayers, whole_layers
from jaxgames.algos.evolution.operators.mutation import Cubic, Gaussian, Multiplicative, Mutation
from jaxgames.algos.evolution.operators.selection import (
    FitnessWeighted,
    Selection,
    Tournament,
    Truncation,
    best_first,
)

__all__ = [
    "Crossover",
    "Cubic",
    "FitnessWeighted",
    "Gaussian",
    "Multiplicative",
    "Mutation",
    "Segments",
    "Selection",
    "Tournament",
    "Truncation",
    "WholeLayers",
    "best_first",
    "candidate_bits",
    "offspring",
    "whole_layers",
]
