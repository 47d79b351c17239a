"""The trainings of the comparison, their saved networks as players, and the best of each by knock-out."""

import functools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxgames.algos.evolution.saved import NetworkConfig
from jaxgames.algos.td.methods import config_of
from jaxgames.matches.knockout import BEHIND, knockout
from jaxgames.ops.pytrees import take
from jaxgames.players import from_folder, make
from jaxgames.players.generic import greedy
from jaxgames.players.player import Player
from jaxgames.recipes.reproduce.rows import Row, published
from jaxgames.recipes.reproduce.study import Study
from jaxgames.recipes.td import TD_GAMMON
from jaxgames.runs import Run

PUBLISHED = published("td_gammon")
METHODS = {"td": "TD", "backprop": "Backprop", "mutation": "Mutation"}
"""The three ways to learn, and their names in pictures."""
LEFT_OUT = "left out of a quick study"
BATCH = 256
"""Games at once in all matches, so that players of one kind share a compiled program."""
RECIPES = {
    "td": ("td-gammon", "ebert-2007", 700_000),
    "backprop": ("backgammon-backprop", "ebert-2007", 1_100_000),
    "mutation": ("backgammon-hill-climb", "ebert-2007", 1_100_000),
    "extra": ("td-gammon", "ebert-2007-extra", 1_000_000),
    "wish": ("td-gammon", "ebert-2007", 3_000_000),
}
"""Recipe, setting, and games of a whole study."""
LEARNER = "ebert-2007"


def games_row(what: str, theirs: float | None, ours: int | None, why: str) -> Row:
    """A row of a number of games."""
    return Row(what, theirs, ours, unit="games", why=why, learner=LEARNER, digits=0)


class Trained(NamedTuple):
    """A training: its networks after every 1,000 games."""

    every: int
    players: Sequence[Player]

    @property
    def games(self) -> int:
        """Of the whole training."""
        return self.every * len(self.players)

    def after(self, games: int) -> Player:
        """The network after so many games."""
        return self.players[games // self.every - 1]


def _of_snapshots(run: Run, name: str) -> Trained:
    """Networks of all methods become players of one kind."""
    _, every, snapshots = from_folder.snapshots_of(run)
    rows = snapshots.load(np.arange(len(snapshots)))
    if run.config["kind"] == "td":
        network = config_of(run.config["learner"]).network()
        params = [jax.tree.map(jnp.asarray, {"params": take(rows["params"], row)}) for row in range(len(snapshots))]
    else:
        # A genome sees each position as the first player does: the same function, in the parameters of a TD network.
        network = TD_GAMMON.settings[LEARNER].network()
        genomes = NetworkConfig.from_json(run.config["network"]).genomes()
        params = [genomes.params(jnp.asarray(row)) for row in rows]
    game, ages = network.game, [every * (number + 1) for number in range(len(params))]
    players = [greedy(game, f"{name}@{age}", one, network.value) for age, one in zip(ages, params, strict=True)]
    return Trained(every, players)


@functools.lru_cache(maxsize=8)
def trained(study: Study, name: str) -> Trained:
    """A training, once for all tables."""
    recipe, setting, full = RECIPES[name]
    games, measured = study.amount(full, 2_000), study.amount(2_000, 200)
    path = study.train(name, recipe, setting, games=games, measured_games=measured, final_games=measured)
    return _of_snapshots(Run.open(path), name)


def best_after(study: Study, name: str) -> Mapping[str, Any]:
    """The knock-out of a training's networks: after how many games the best one was saved, and how it went."""
    training = trained(study, name)

    def measure() -> Mapping[str, Any]:
        result = knockout(training.players, seed=study.seed, slots=BATCH // 2)
        games = (result.winner + 1) * training.every
        return {"games": games, "rounds": len(result.rounds), "played": result.games}

    return study.cell(f"knock-out of {name}", {"trained": training.games, "behind": BEHIND}, measure)


def player(study: Study, name: str) -> Player:
    """One of the six players of table 5.2, `extra`, or any spec."""
    if name in RECIPES:
        return trained(study, name).after(best_after(study, name)["games"])
    return make({"simple": "simple:3"}.get(name, name), TD_GAMMON.settings[LEARNER].network().game)


def meet(study: Study, a: str, b: str, games: int) -> Mapping[str, Any]:
    """A match of two players by name; `ppg` and so on are those of `a`."""
    settings = {name: trained(study, name).games for name in (a, b) if name in RECIPES}
    cell, seed = f"{a} against {b}", study.seed + 1
    return study.match(cell, lambda: (player(study, a), player(study, b)), games, seed, settings, batch=BATCH)
