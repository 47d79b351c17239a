"""Tables 5.1 and 5.2, and section 5.4."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jaxgames.matches import match
from jaxgames.players import make
from jaxgames.recipes.reproduce.report import Row
from jaxgames.recipes.reproduce.study import Study
from jaxgames.recipes.reproduce.td_gammon import published
from jaxgames.recipes.reproduce.td_gammon.trained import BATCH, LEARNER, best_after, meet, trained
from jaxgames.recipes.td.named import TD_GAMMON

GAMES = 10_000
LEARNERS = ("mutation", "backprop", "td")


def games_of(study: Study) -> int:
    """Of each match."""
    return study.amount(GAMES, 256)


def trainings(study: Study) -> list[Row]:
    """Table 5.1: how long was trained, and when the best network was saved."""
    rows = []
    for name in LEARNERS:
        found, best = trained(study, name), best_after(study, name)
        long = published.TRAINED[name]
        short = f"{found.games:,} games were trained in the time there was" if found.games < long else ""
        rows.append(
            Row(f"{name}: games trained", long, found.games, unit="games", why=short, learner=LEARNER, digits=0)
        )
        why = (
            f"by a knock-out of all {len(found.players):,} networks in {best['rounds']} rounds and "
            f"{best['played']:,} games; among equals the lot decides"
        )
        rows.append(
            Row(f"{name}: best network after", published.BEST_AFTER[name], best["games"], unit="games",
                why=why, learner=LEARNER, digits=0)
        )  # fmt: skip
    return rows


def _why(study: Study, a: str, b: str) -> str:
    """What differs between the text's players and ours."""
    reasons = []
    for name in (a, b):
        if name in LEARNERS and trained(study, name).games < published.TRAINED[name]:
            reasons.append(f"{name}: {trained(study, name).games:,} of {published.TRAINED[name]:,} games trained")
    if "mutation" in (a, b):
        reasons.append("the text does not say how many games a mutant plays (here 4) nor whose colours it sees")
    if "simple" in (a, b):
        reasons.append("the text gives the aims of Simple_003, not how they are added up")
    if not reasons:
        reasons.append("one training of each method in the text and here: other first weights, other dice")
    return "; ".join(reasons)


def compared(study: Study) -> list[Row]:
    """Table 5.2, row against column."""
    rows = []
    for a, others in published.PPG.items():
        for b, ppg in others.items():
            found = meet(study, a, b, games_of(study))
            row = Row(
                f"{a} against {b}", ppg, found["ppg"], found["ppg_low"], found["ppg_high"], "PPG",
                "high" if a in LEARNERS and b not in LEARNERS else None, published.SAMPLING,
                learner=LEARNER if a in LEARNERS else "", digits=3, seconds=found["seconds"],
            )  # fmt: skip
            few = f"{found['games']:,} games" if found["games"] < GAMES else ""
            reasons = few if row.verdict == "agrees" else "; ".join(filter(None, (_why(study, a, b), few)))
            rows.append(row._replace(why=reasons))
    return rows


def second_opponent(study: Study) -> list[Row]:
    """A player that nothing was chosen on: neither learners' settings nor what is kept of a training."""
    rows = []
    for a in ("pubeval", *LEARNERS):
        found = meet(study, a, "tidy:3", games_of(study))
        learner = LEARNER if a in LEARNERS else ""
        rows.append(
            Row(f"{a} against tidy:3", None, found["ppg"], found["ppg_low"], found["ppg_high"], "PPG",
                learner=learner, digits=3)
        )  # fmt: skip
    return rows


def ours(study: Study) -> list[Row]:
    """Our own learner beside the text's: `fast` has Adam, windows of plies and symmetric values."""
    rows = []
    if study.quick:
        return [Row("TD against pubeval", published.PPG["td"]["pubeval"], unit="PPG", learner=OURS[0], why=LEFT_OUT)]
    for name in OURS:
        found = {b: meet_ours(study, name, b) for b in ("pubeval", "tidy:3")}
        for b, result in found.items():
            rows.append(
                Row(f"TD against {b}", published.PPG["td"].get(b), result["ppg"], result["ppg_low"], result["ppg_high"],
                    "PPG", "high", published.SAMPLING, learner=name, digits=3,
                    why="chosen on pubeval: the setting, and which network of the training is kept"
                    if b == "pubeval" else "")
            )  # fmt: skip
    return rows


OURS: tuple[str, ...] = ("fast", "six")
LEFT_OUT = "left out of a quick study"
OUR_GAMES = 100_000


def meet_ours(study: Study, setting: str, opponent: str) -> Mapping[str, Any]:
    """A match of the network that a training by our learner has kept."""
    path, games = train_ours(study, setting), games_of(study)
    game = TD_GAMMON.settings[setting].network().game

    def measure() -> Mapping[str, Any]:
        return match(make(str(path), game), make(opponent, game), games, seed=study.seed + 1, batch=BATCH).to_dict()

    return study.cell(f"{setting} against {opponent}", {"games": games}, measure)


def train_ours(study: Study, setting: str) -> Path:
    """A training by our learner."""
    games, measured = study.amount(OUR_GAMES, 2_000), study.amount(2_000, 256)
    return study.train(setting, "td-gammon", setting, games=games, measured_games=measured, final_games=measured)


def extra(study: Study) -> list[Row]:
    """Section 5.4: 212 inputs."""
    if study.quick:
        return [Row("extra against td", published.EXTRA_PPG, unit="PPG", digits=4, learner=LEARNER, why=LEFT_OUT)]
    found = trained(study, "extra")
    short = f"{found.games:,} games were trained in the time there was"
    result = meet(study, "extra", "td", games_of(study))
    rows = [
        Row("extra: games trained", published.EXTRA_TRAINED, found.games, unit="games", digits=0, learner=LEARNER,
            why=short if found.games < published.EXTRA_TRAINED else ""),
        Row("extra: best network after", published.EXTRA_BEST_AFTER, best_after(study, "extra")["games"], unit="games",
            digits=0, learner=LEARNER, why="among equals the lot decides"),
        Row("extra against td", published.EXTRA_PPG, result["ppg"], result["ppg_low"], result["ppg_high"], "PPG", None,
            published.SAMPLING, learner=LEARNER, digits=4,
            why=_why(study, "extra", "td") if found.games >= published.EXTRA_TRAINED else short),
    ]  # fmt: skip
    return rows
