"""Evolutions of networks for backgammon, checkers, Connect Four and any game; matches measure champions."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import jax.numpy as jnp

from jaxgames.algos.evolution.saved import NetworkConfig
from jaxgames.algos.evolution.strategies.hill_climb import HillClimbConfig
from jaxgames.algos.evolution.strategies.low_rank import LowRankConfig
from jaxgames.algos.evolution.strategies.neuroevolution import GeneticConfig
from jaxgames.algos.evolution.strategies.open_es import OpenESConfig
from jaxgames.envs.registry import make
from jaxgames.matches import MatchResult, match
from jaxgames.players import make as make_player
from jaxgames.players.generic import evolved
from jaxgames.recipes import strength
from jaxgames.recipes.evolution import Champions, EvolutionRecipe, Measures
from jaxgames.recipes.recipe import OfAnyGame
from jaxgames.recipes.report import published_marks, show_results
from jaxgames.runs import Panel
from jaxgames.runs.console import percent

# How champions are measured.


@dataclasses.dataclass(frozen=True)
class ByMatches:
    """Matches of the champion with `opponents` at the end, and with those `watched` now and then; the first of these
    decides which champion is kept.
    """

    opponents: tuple[str, ...]
    watched: tuple[str, ...] = ("random",)
    references: tuple[tuple[str, float], ...] = ()
    """Published figures in the diagram: of won games in percent, or points per game."""

    def measures(self) -> Measures:
        """What a recipe of evolution needs of these matches."""
        return Measures(self.quick, self.thorough, self.panels)

    def quick(self, network: NetworkConfig, champions: Champions, games: int, seed: int) -> tuple[dict[str, Any], int]:
        """Points per game, or where a game is worth one point, the games won, drawn and lost and the score in percent,
        where a draw is half a win.
        """
        measured: dict[str, Any] = {}
        for name in self.watched:
            result = self._match(network, champions, name, games, seed)
            measured |= strength.points_of(result, name) | strength.rates_of(result, name)
            measured.setdefault("strength", measured[f"{strength.kind_of(name, measured)}_{name}"])
        return measured, 0

    def thorough(self, network: NetworkConfig, champions: Champions, games: int, seed: int) -> dict[str, Any]:
        """The matches."""
        return {"matches": [self._match(network, champions, name, games, seed).to_dict() for name in self.opponents]}

    def panels(self, metrics: Sequence[Mapping[str, Any]]) -> list[Panel]:
        """The learning curve."""
        points = any(f"ppg_{self.watched[0]}" in line for line in metrics)
        panels = []
        for name in self.watched:
            lines = {f"{rate}_{name}": label for rate, label in (("win", "won"), ("draw", "drawn"), ("loss", "lost"))}
            references = self.references if name == self.watched[0] else ()
            if points:
                panels.append(
                    Panel("points per game", {f"ppg_{name}": f"against {name}"}, references, 2.0, signed=True)
                )
            panels.append(Panel(f"% against {name}", lines, () if points else references, height=1.6))
        panels.append(Panel("fitness", {"fitness_mean": "mean", "fitness": "best"}))
        panels.append(Panel("diversity", {"diversity": "diversity"}, from_zero=True))
        return panels

    @staticmethod
    def _match(network: NetworkConfig, champions: Champions, name: str, games: int, seed: int) -> MatchResult:
        champion = evolved("champion", jnp.asarray(champions[0]), network)
        fewer = games if not name.startswith(SLOW) else max(2, games // 10)
        return match(champion, make_player(name, champion.game), fewer, seed=seed)


RATES = ("win_rate", "draw_rate", "loss_rate")
SLOW = ("uct", "alphabeta", "minimax")
"""Players that are met in a tenth of the games."""


def show(result: Mapping[str, Any]) -> None:
    """Prints the matches of a champion, beside what is published."""
    points = any(match["max_reward"] > 1 for match in result["matches"])

    def row(player: str, match: Mapping[str, Any], sign: str = "+.3f") -> tuple[str, ...]:
        rates = [percent(match[rate]) if rate in match else "-" for rate in RATES]
        ppg = [f"{match['ppg']:{sign}}"] if points else []
        return player, match["b"], f"{match['games']:,}" if "games" in match else "-", *ppg, *rates

    marks = published_marks(result)
    rows = [row("champion", match) for match in result["matches"]]
    rows += [row(f"published: {mark}", published, "+.2f") for mark, published in marks.items()]
    columns = ("player", "against", "games", *(("PPG",) if points else ()), "won %", "drawn %", "lost %")
    title = f"{result['recipe']} ({result['setting']}): {result['games']:,} games"
    notes = [f"{mark}: {published['source']}" for mark, published in marks.items()]
    play = f"{result['matches'][-1]['b']} --games 1000"
    show_results(result, title, columns, rows, notes, play, texts=2)


# Backgammon: hill climbing from nothing, as Pollack and Blair did, the third method of a published comparison; better
# by an evolution strategy.

_BACKGAMMON_PUBLISHED = (
    {
        "b": "pubeval",
        "ppg": -0.91,
        "source": "mutation, 198-40-4: L. D. Ebert (2007)",
    },
    {"b": "pubeval", "ppg": 0.26, "source": "TD(lambda), 198-40-4, for comparison: the same text"},
)

_BACKGAMMON = NetworkConfig("backgammon", "outcomes", encoding="tesauro").replace(
    hidden=(40,), activation="sigmoid", output="sigmoid", initializer="zeros"
)

BACKGAMMON = EvolutionRecipe(
    name="backgammon-hill-climb",
    summary="hill climbing of a 198-40-4 network from zero, raw board input",
    settings={
        "faithful": HillClimbConfig(_BACKGAMMON, generations=100_000, sigma=0.05, factor=0.05, duel=4),
        "ebert-2007": HillClimbConfig(
            _BACKGAMMON.replace(biases=False, cumulative=True),
            generations=275_000, sigma=0.05, duel=4, schedule="tested", bound="scale",
        ),
        "best": OpenESConfig(
            NetworkConfig("backgammon", "afterstate", encoding="tesauro").replace(
                hidden=(), initializer="uniform:0.01"
            ),
            generations=100, population=64, sigma=0.05, step_size=0.02, last_step_size=0.004,
            opponents="pubeval*32", score="points", block=64, most_plies=150,
        ),
    },
    measures=ByMatches(
        ("random", "simple:3", "pubeval"), ("pubeval",), (("published", -0.91), ("TD, Ebert 2007", 0.26))
    ).measures(),
    show_result=show,
    published=_BACKGAMMON_PUBLISHED,
)  # fmt: skip

# Checkers: as a published text has them, as its program had them by a defect, and better.

_CHECKERS_PUBLISHED = (
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

_TEXT = NetworkConfig("checkers", encoding="pieces", head="target").replace(
    hidden=(64,), activation="bipolar_sigmoid", output="bipolar_sigmoid", initializer="uniform:10"
)
_ADAMCZYK = GeneticConfig(
    _TEXT, generations=200, population=200, opponents="others*200", score="pieces", selection="weighted",
    mutation="cubic", rate=1.0, crossover="layers", elites=20, block=50, most_plies=150,
)  # fmt: skip
"""What the text leaves open is as in the program published with it: all against all, each pair twice; children of
parents drawn by their score above the worst one; first weights in [-10, 10]. Its saved trainings keep 5 of 42, 15 of
100 or 20 of 150 networks as they are, here 20 of 200. Its players name a multiple jump by the last square; here each
jump is named by itself.
"""

_MENDED = NetworkConfig("checkers", encoding="board64", head="squares").replace(hidden=(64,), activation="sigmoid")
_SELF_PLAY = GeneticConfig(
    _MENDED, generations=200, population=200, keep=20, elites=20, rate=0.2, opponents="others*2", block=200,
    most_plies=200,
)  # fmt: skip
_ALPHA_BETA = _SELF_PLAY.replace(opponents="alphabeta:2,ties=first*1")

CHECKERS = EvolutionRecipe(
    name="checkers-evolution",
    summary="networks 64-...-64 that learn draughts by evolution: as published, with the program's defect, and better",
    settings={
        "self-play": _SELF_PLAY,
        "self-play-one-square": _SELF_PLAY.replace(encoding="one_square"),
        "alpha-beta": _ALPHA_BETA,
        "alpha-beta-one-square": _ALPHA_BETA.replace(encoding="one_square"),
        "best": OpenESConfig(
            _MENDED, generations=250, population=128, sigma=0.1, step_size=0.05, last_step_size=0.01,
            opponents="random*8+hall*4", score="material", block=64, most_plies=150,
        ),
        "adamczyk-2018": _ADAMCZYK,
        "adamczyk-2018-deep": _ADAMCZYK.replace(hidden=(64,) * 10),
        "adamczyk-2018-legality": _ADAMCZYK.replace(strict=True, score="legality"),
        "adamczyk-2018-minimax": _ADAMCZYK.replace(opponents="alphabeta:4,ties=first,value=pieces*1", block=200),
    },
    measures=ByMatches(("random", "alphabeta:2", "alphabeta:4"), references=(("published", 52.9),)).measures(),
    show_result=show,
    published=_CHECKERS_PUBLISHED,
)  # fmt: skip

# Connect Four: a small network that values positions.

_CELLS = NetworkConfig("connect_four", "afterstate").replace(
    hidden=(64, 32), activation="relu", output="tanh", initializer="lecun_normal"
)
_USUAL = OpenESConfig(
    _CELLS, generations=500, population=256, sigma=0.05, step_size=0.02, last_step_size=0.002,
    opponents="random*48+hall*16", block=64, most_plies=42,
)  # fmt: skip

CONNECT_FOUR = EvolutionRecipe(
    name="connect-four-evolution",
    summary="a small network of Connect Four, by evolution strategy",
    settings={"usual": _USUAL, "random-only": _USUAL.replace(opponents="random*64")},
    measures=ByMatches(("random", "uct:50", "uct:200")).measures(),
    show_result=show,
)

# Any game: networks that value positions, by two evolution strategies.


def recipe_for(game_id: str) -> EvolutionRecipe:
    """The recipe `evolution` for a game. Raises `ValueError` if there is no such game."""
    game = make(game_id)
    if not game.encodings:
        raise ValueError(f"evolved networks see one of a game's encodings, and {game_id} has none: give it `encodings`")
    encoding = "cells" if "cells" in game.encodings else next(iter(game.encodings))
    network = NetworkConfig(game_id, "afterstate", encoding=encoding).replace(
        hidden=(64, 32), activation="relu", output="identity", initializer="lecun_normal"
    )
    score = "wins" if game.max_reward == 1 else "points"
    watched = ("random",) if game.outcome_probabilities else ("random", "uct:50")
    return EvolutionRecipe(
        name="evolution",
        summary=f"evolution of networks that value positions: {game_id}",
        settings={
            "usual": OpenESConfig(
                network, generations=200, population=256, sigma=0.05, step_size=0.02, last_step_size=0.002,
                opponents="random*24+hall*8", score=score,
            ),
            "large": LowRankConfig(
                network.replace(hidden=(256, 256)), generations=1_000, population=2_048, sigma=0.02, step_size=0.005,
                last_step_size=0.0005, opponents="random*1+hall*1", score=score,
            ),
        },
        measures=ByMatches(watched).measures(),
        show_result=show,
    )  # fmt: skip


ANY = OfAnyGame(
    "evolution",
    "evolution of networks that value positions, for the game named with --game",
    recipe_for,
    lambda: ["settings: usual, large (networks of 256 x 256, noise of low rank, four games a candidate)"],
    several_processes=True,
)
