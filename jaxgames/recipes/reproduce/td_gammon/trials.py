"""Sections 4.3, 5.2.2 and 5.3: trials of step sizes, the best programs of the time, and people against the network."""

import math
from collections.abc import Mapping

from jaxgames.players import Player, make
from jaxgames.recipes.reproduce.rows import Row, points_row
from jaxgames.recipes.reproduce.study import Study
from jaxgames.recipes.reproduce.td_gammon.trained import BATCH, LEARNER, LEFT_OUT, PUBLISHED, RECIPES
from jaxgames.recipes.td import TD_GAMMON

STEP_SIZE: Mapping[str, str] = {"td": "step_size", "backprop": "step_size", "mutation": "factor"}
"""What the step size of a method is called."""
GAMES, MATCH = 50_000, 2_000
"""Of each training, which the text does not say, and of the match after it."""


def step_sizes(study: Study) -> list[Row]:
    """Section 4.3: each method with several step sizes, which stay as they are."""
    if study.quick:
        return [Row("a lower step size: gain", None, unit="PPG", why=LEFT_OUT)]
    rows: list[Row] = []
    for method, name in STEP_SIZE.items():
        recipe, setting, *_ = RECIPES[method]
        met = []
        for size in PUBLISHED["4.3"]["step sizes tried"]:
            training, changes = f"{method}, step size {size}", {"schedule": "constant", name: str(size)}
            study.train(training, recipe, setting, changes, games=GAMES, measured_games=200, final_games=MATCH)
            matches = study.result_of(f"training {training}")["matches"]
            met.append(next(match for match in matches if match["b"] == "pubeval"))
            rows.append(points_row(f"{training}, {GAMES:,} games, against pubeval", met[-1], learner=LEARNER))
        low, high = met[0], met[-1]
        gain, down, up = (
            low["ppg"] - high["ppg"],
            math.hypot(low["ppg"] - low["ppg_low"], high["ppg_high"] - high["ppg"]),
            math.hypot(low["ppg_high"] - low["ppg"], high["ppg"] - high["ppg_low"]),
        )
        rows.append(
            Row(
                f"{method}: gain by the lowest step size over the highest", None, gain, gain - down, gain + up, "PPG",
                learner=LEARNER, digits=3, claim="above", text="a lower one plays better",
            )
        )  # fmt: skip
    return rows


PROGRAM, PROGRAM_GAMES = "gnubg:0", 2_000


def programs(study: Study) -> list[Row]:
    """Section 5.2.2: what the best programs make of pubeval; here the only one that is installed."""
    theirs = PUBLISHED["5.2.2 best programs, about PPG against pubeval"]
    if study.quick:
        return [Row(f"{PROGRAM} against pubeval", theirs, unit="PPG", why=LEFT_OUT)]
    game = TD_GAMMON.settings[LEARNER].network().game

    def players() -> tuple[Player, Player]:
        return make(PROGRAM, game), make("pubeval", game)

    result = study.match(f"{PROGRAM} against pubeval", players, PROGRAM_GAMES, study.seed + 1, batch=BATCH)
    row = points_row(f"{PROGRAM} against pubeval, {PROGRAM_GAMES:,} games", result, theirs, best="high")
    return [row._replace(published_margin=0.005, seconds=result["seconds"])]


def people(study: Study) -> list[Row]:
    """Section 5.3: games of people against the best network of TD."""
    told = PUBLISHED["5.3 people, games and PPG against td"]
    rows = [Row(f"{who}, {games} games", ppg, unit="PPG", digits=3) for who, (games, ppg) in told.items()]
    low, high = PUBLISHED["5.3 good players in the long run, PPG"]
    return [*rows, Row("good players in the long run", (low + high) / 2, unit="PPG", text=f"{low:g} to {high:g}")]
