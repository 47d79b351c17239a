"""Matches that measure champions."""

from types import SimpleNamespace

import numpy as np

from jaxgames.algos.evolution.saved import NetworkConfig
from jaxgames.recipes import evolution_by_matches
from jaxgames.recipes.evolution_by_matches import ByMatches

NETWORK = NetworkConfig("tic_tac_toe", "afterstate").replace(hidden=(4,), activation="tanh", output="tanh")


def test_slow_players_are_met_in_a_tenth_of_the_games(monkeypatch):
    met = {}

    def match(champion, opponent, games, seed):
        met[opponent.name] = games
        return SimpleNamespace(to_dict=dict)

    monkeypatch.setattr(evolution_by_matches, "match", match)
    champions = np.zeros((1, NETWORK.genomes().dimension), np.float32)
    measures = ByMatches(("random", "uct:5", "alphabeta:1"))
    for games, fewer in ((100, 10), (10, 2)):
        measures.thorough(NETWORK, champions, games, 0)
        assert met == {"random": games, "uct:5": fewer, "alphabeta:1": fewer}
