"""Tables 5.1 and 5.2, section 5.4, our own learner, and what a tester asked for (section 5.3)."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jaxgames.recipes.reproduce.rows import Row, points_row
from jaxgames.recipes.reproduce.study import Study
from jaxgames.recipes.reproduce.td_gammon.figures import against, draw_curves, smooth
from jaxgames.recipes.reproduce.td_gammon.trained import (
    BATCH,
    LEARNER,
    LEFT_OUT,
    METHODS,
    PUBLISHED,
    best_after,
    games_row,
    meet,
    player,
    trained,
)
from jaxgames.recipes.td import TD_GAMMON

GAMES: int = PUBLISHED["table 5.2"]["games"]
PPG: Mapping[str, Sequence[float | None]] = PUBLISHED["table 5.2"]["PPG"]
TRAINED: Mapping[str, int] = PUBLISHED["5.1"]["games trained, more than"]
SAMPLING = 0.03
"""Half the 95 % interval of a mean of 10,000 games: a game's points have a standard deviation of about 1.5."""


def games_of(study: Study) -> int:
    """Of each match."""
    return study.amount(GAMES, 256)


def trainings(study: Study) -> list[Row]:
    """Table 5.1: how long was trained, and when the best network was saved."""
    rows = []
    for name in reversed(METHODS):
        training, best = trained(study, name), best_after(study, name)
        why = (
            f"by a knock-out of all {len(training.players):,} networks in {best['rounds']} rounds and "
            f"{best['played']:,} games; among equals the lot decides"
        )
        rows += [
            trained_row(name, TRAINED[name], training.games),
            games_row(f"{name}: best network after", PUBLISHED["table 5.1"][name], best["games"], why),
        ]
    return rows


def trained_row(name: str, theirs: float, ours: int) -> Row:
    """The games of a training, which are set."""
    return games_row(f"{name}: games trained", theirs, ours, _short(ours, int(theirs)))._replace(is_set=True)


def _short(games: int, wanted: int) -> str:
    return f"{games:,} games were trained in the time there was" if games < wanted else ""


def _why(study: Study, a: str, b: str) -> str:
    """What differs between the text's players and ours."""
    reasons = []
    for name in (a, b):
        if name in METHODS and trained(study, name).games < TRAINED[name]:
            reasons.append(f"{name}: {trained(study, name).games:,} of {TRAINED[name]:,} games trained")
    if "mutation" in (a, b):
        reasons.append("the text does not say how many games a mutant plays (here 4) nor whose colours it sees")
    if "simple" in (a, b):
        reasons.append("the text gives the aims of Simple_003, not how they are added up")
    if not reasons:
        reasons.append("one training of each method in the text and here: other first weights, other dice")
    return "; ".join(reasons)


def compared(study: Study) -> list[Row]:
    """Table 5.2 below its diagonal, row against column."""
    rows, players = [], PUBLISHED["table 5.2"]["players"]
    for number, a in enumerate(players):
        for b, ppg in zip(players[:number], PPG[a], strict=False):
            result = meet(study, a, b, games_of(study))
            row = points_row(
                f"{a} against {b}", result, ppg, best="high" if a in METHODS and b not in METHODS else None,
                published_margin=SAMPLING, learner=LEARNER if a in METHODS else "", seconds=result["seconds"],
            )  # fmt: skip
            few = f"{result['games']:,} games" if result["games"] < GAMES else ""
            reasons = few if row.verdict == "agrees" else "; ".join(filter(None, (_why(study, a, b), few)))
            rows.append(row._replace(why=reasons))
    return rows


def second_opponent(study: Study) -> list[Row]:
    """A player that nothing was chosen on: neither learners' settings nor what is kept of a training."""
    return [
        points_row(
            f"{a} against tidy:3", meet(study, a, "tidy:3", games_of(study)), learner=LEARNER if a in METHODS else ""
        )
        for a in ("pubeval", *reversed(METHODS))
    ]


def extra(study: Study) -> list[Row]:
    """Section 5.4: 212 inputs."""
    theirs = PUBLISHED["5.4"]
    ppg, long = theirs["PPG against td"], theirs["games trained, a little over"]
    if study.quick:
        return [Row("extra against td", ppg, unit="PPG", digits=4, learner=LEARNER, why=LEFT_OUT)]
    training = trained(study, "extra")
    short, best = _short(training.games, long), best_after(study, "extra")["games"]
    return [
        trained_row("extra", long, training.games),
        games_row("extra: best network after", theirs["best after"], best, "among equals the lot decides"),
        points_row(
            "extra against td", meet(study, "extra", "td", games_of(study)), ppg, published_margin=SAMPLING,
            learner=LEARNER, digits=4, why=short or _why(study, "extra", "td"),
        ),
    ]  # fmt: skip


# Our own learner.

OURS: tuple[str, ...] = ("fast", "six")
OUR_GAMES = 100_000


def ours(study: Study) -> list[Row]:
    """Our own learner beside the text's: `fast` has Adam, windows of plies and symmetric values."""
    theirs = {"pubeval": PPG["td"][PUBLISHED["table 5.2"]["players"].index("pubeval")], "tidy:3": None}
    if study.quick:
        return [Row("TD against pubeval", theirs["pubeval"], unit="PPG", learner=OURS[0], why=LEFT_OUT)]
    chosen = "chosen on pubeval: the setting, and which network of the training is kept"
    return [
        points_row(
            f"TD against {b}", meet_ours(study, name, b), ppg, best="high", published_margin=SAMPLING, learner=name,
            why=chosen if b == "pubeval" else "",
        )
        for name in OURS
        for b, ppg in theirs.items()
    ]  # fmt: skip


def meet_ours(study: Study, setting: str, opponent: str) -> Mapping[str, Any]:
    """A match of the network that a training by our learner has kept."""
    path, game = train_ours(study, setting), TD_GAMMON.settings[setting].network().game
    return study.match(
        f"{setting} against {opponent}", lambda: (str(path), opponent), games_of(study), study.seed + 1,
        batch=BATCH, game=game,
    )  # fmt: skip


def train_ours(study: Study, setting: str) -> Path:
    """A training by our learner."""
    games, measured = study.amount(OUR_GAMES, 2_000), study.amount(2_000, 256)
    return study.train(setting, "td-gammon", setting, games=games, measured_games=measured, final_games=measured)


# What a tester asked for: how good the network becomes in 3,000,000 games.


def longer(study: Study) -> list[Row]:
    """The last network against the best of the usual training, and both against others."""
    if study.quick:
        return [Row("after the wished games, against td", None, unit="PPG", learner=LEARNER, why=LEFT_OUT)]
    training, games, usual = trained(study, "wish"), games_of(study), trained(study, "td").games
    opponents, settings = ("td", "pubeval", "tidy:3"), {"trained": training.games}

    def meet_last(other: str) -> Mapping[str, Any]:
        return study.match(
            f"wish against {other}", lambda: (training.after(training.games), player(study, other)), games,
            study.seed + 1, settings, batch=BATCH,
        )  # fmt: skip

    matches = {f"after {training.games:,} games, against {b}": meet_last(b) for b in opponents}
    matches |= {f"td, of {usual:,} games, against {b}": meet(study, "td", b, games) for b in opponents[1:]}
    return [points_row(what, result, learner=LEARNER) for what, result in matches.items()]


def draw_longer(study: Study, rows: Sequence[Row], path: Path) -> None:
    """Draws the networks of all games against pubeval."""
    curve = [] if study.quick else smooth(against(study, "wish", "pubeval"))
    draw_curves({"TD": curve}, "pubeval", "3,000,000 games", path)
