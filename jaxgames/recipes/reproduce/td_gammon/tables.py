"""Tables 5.1 and 5.2, section 5.4, our own learner, what a tester asked for (section 5.3), and figures 5.1 to 5.4."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from jaxgames.matches import match
from jaxgames.matches.intervals import Z95
from jaxgames.players import Player
from jaxgames.recipes.reproduce.rows import Row, points_row
from jaxgames.recipes.reproduce.study import Study
from jaxgames.recipes.reproduce.td_gammon.trained import (
    BATCH,
    LEARNER,
    LEFT_OUT,
    METHODS,
    PUBLISHED,
    Trained,
    best_after,
    games_row,
    meet,
    player,
    trained,
)
from jaxgames.recipes.td import TD_GAMMON
from jaxgames.runs import Panel
from jaxgames.runs.figures import draw as draw_metrics

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
            f"{best['played']:,} games; among networks of equal strength chance decides"
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
        reasons.append(
            "the text does not say how many games a mutant plays (here 4), nor from which side it sees the board"
        )
    if "simple" in (a, b):
        reasons.append("the text names the aims of Simple_003, but not how it adds them up")
    if not reasons:
        reasons.append("one training of each method, in the text and here, with other first weights and dice")
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
        games_row("extra: best network after", theirs["best after"], best, "chance decides among equals"),
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
    chosen = "games against pubeval have chosen the setting, and which network of the training is kept"
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


# Figures 5.1 to 5.4: the saved networks against the three benchmarks, and Extra against TD of the same age.

MATCH = 200
"""Games of a network against a benchmark."""
DEVIATION = 1.5
"""Of the points of a game, about."""
MEAN_OF = 10
"""Networks whose mean is drawn."""

Curve = list[tuple[int, float]]


def ages(study: Study, training: Trained) -> list[int]:
    """After how many games the networks that are met were saved: all of them, in a quick study the first and last."""
    steps = range(1, len(training.players) + 1)
    return [step * training.every for step in study.amount(steps, sorted({steps[0], steps[-1]}))]


def against(study: Study, name: str, benchmark: str) -> Curve:
    """Points per game of the networks of a training, in 200 games each."""
    training, opponent, cell = trained(study, name), player(study, benchmark), f"{name} over games against {benchmark}"
    return _curve(study, cell, ages(study, training), lambda age: (training.after(age), opponent))


def _curve(study: Study, cell: str, met: list[int], players: Callable[[int], tuple[Player, Player]]) -> Curve:
    """Points per game of the two players of each age."""

    def measure() -> dict[str, list[float]]:
        return {"ppg": [match(*players(age), MATCH, seed=study.seed + age, batch=BATCH).ppg for age in met]}

    return list(zip(met, study.cell(cell, {"ages": met, "games": MATCH}, measure)["ppg"], strict=True))


def smooth(curve: Curve) -> Curve:
    """Means of ten networks in a row, or of all if there are fewer, each at the middle of their ages."""
    width = min(MEAN_OF, len(curve))
    table = np.array(curve)
    means = np.stack([table[i : i + width].mean(axis=0) for i in range(len(curve) - width + 1)])
    return [(int(games), float(ppg)) for games, ppg in means]


def reached(curve: Curve, level: float) -> int | None:
    """The first age at which the smooth curve reaches a level."""
    return next((games for games, ppg in smooth(curve) if ppg >= level), None)


READ = "read from a curve of means of ten networks; the text's number, in words, counts as right within a quarter"


def _games_row(what: str, theirs: float | str, ours: int | None, why: str = READ) -> Row:
    """Games that are read off a curve: the published number may be a quarter larger or smaller; or it is in words."""
    why = why if ours is not None else f"not reached; {why}"
    if isinstance(theirs, str):
        return games_row(what, None, ours, why)._replace(text=theirs)
    return games_row(what, theirs, ours, why)._replace(published_margin=0.25 * theirs)


def figure_random(study: Study) -> list[Row]:
    """Figure 5.1: when each curve is at 2.5 points per game."""
    flat = PUBLISHED["5.1"]["flat against random"]
    level = flat["about PPG"]
    return [
        _games_row(f"{name}: at +{level} PPG after", games, reached(against(study, name, "random"), level))
        for name, games in flat["after games"].items()
    ]


def figure_simple(study: Study) -> list[Row]:
    """Figure 5.2: when backprop overtakes mutation."""
    mutation, backprop = (np.array(smooth(against(study, name, "simple"))) for name in ("mutation", "backprop"))
    places = np.linspace(max(mutation[0, 0], backprop[0, 0]), min(mutation[-1, 0], backprop[-1, 0]), 200)
    ahead = np.interp(places, *backprop.T) > np.interp(places, *mutation.T)
    behind = np.flatnonzero(~ahead)
    last = int(places[min(behind[-1] + 1, len(places) - 1)]) if len(behind) else int(places[0])
    overtakes = PUBLISHED["5.1"]["backprop overtakes mutation against simple"]
    rows = [_games_row("backprop is ahead of mutation from", overtakes, last if ahead[-1] else None)]
    return rows + _ends(study, "simple")


def figure_pubeval(study: Study) -> list[Row]:
    """Figure 5.3: when each curve comes within 0.1 of its highest point."""
    rows = []
    for name, theirs in PUBLISHED["5.1"]["top against pubeval"].items():
        curve, games = against(study, name, "pubeval"), trained(study, name).games
        top = max(ppg for _, ppg in smooth(curve))
        at_top = reached(curve, top - 0.1) if games >= theirs else None
        why = READ if games >= theirs else f"{games:,} games were trained"
        rows.append(_games_row(f"{name}: at its top (within 0.1 PPG) after", theirs, at_top, why))
    return rows + _ends(study, "pubeval")


def _ends(study: Study, benchmark: str) -> list[Row]:
    """Where the curves end."""
    ends = {name: smooth(against(study, name, benchmark))[-1] for name in METHODS}
    return [
        Row(f"{name}: the end of its curve, {games:,} games", None, ppg, unit="PPG", learner=LEARNER, digits=2)
        for name, (games, ppg) in ends.items()
    ]


def drawing(benchmark: str) -> Callable[[Study, Sequence[Row], Path], None]:
    """Draws the figure against a benchmark."""

    def draw(study: Study, rows: Sequence[Row], path: Path) -> None:
        curves = {METHODS[name]: smooth(against(study, name, benchmark)) for name in METHODS}
        draw_curves(curves, benchmark, f"Three ways to learn, against {benchmark}", path)

    return draw


def draw_curves(curves: Mapping[str, Curve], opponent: str, title: str, path: Path) -> None:
    """Draws points per game over games by label; an empty curve, of a quick study, as a zero."""
    lines = [{"games": games, name: ppg} for name, curve in curves.items() for games, ppg in curve or [(0, 0.0)]]
    panel = Panel(f"points per game against {opponent}", {name: name for name in curves}, height=2.6, signed=True)
    draw_metrics(lines, path, panels=[panel], title=title)


def extra_curve(study: Study) -> Curve:
    """Figure 5.4: Extra against TD of the same age."""
    extra, td = trained(study, "extra"), trained(study, "td")
    met = [games for games in ages(study, extra) if games <= td.games]
    return _curve(study, "extra over games against td", met, lambda age: (extra.after(age), td.after(age)))


def figure_extra(study: Study) -> list[Row]:
    """Figure 5.4: whether Extra is ahead in the first 5,000 games, and later."""
    if study.quick:
        return [Row("extra against td of the same age", None, unit="PPG", learner=LEARNER, why=LEFT_OUT)]
    curve, first = extra_curve(study), PUBLISHED["5.4"]["faster in the first games"]
    parts = {
        f"extra against td, the first {first:,} games": [ppg for games, ppg in curve if games <= first],
        "extra against td, later": [ppg for games, ppg in curve if games > first],
    }
    rows: list[Row] = []
    for what, points in parts.items():
        if points:
            mean, margin = float(np.mean(points)), float(Z95 * DEVIATION / np.sqrt(MATCH * len(points)))
            row = Row(what, None, mean, mean - margin, mean + margin, "PPG", learner=LEARNER, digits=3)
            rows.append(row._replace(claim="above", text="learns faster", why=ONE_TRAINING) if not rows else row)
    return rows


ONE_TRAINING = "one training of each, as in the text; the first weights decide much of the first games"


def draw_extra(study: Study, rows: Sequence[Row], path: Path) -> None:
    """Draws figure 5.4."""
    curve = [] if study.quick else smooth(extra_curve(study))
    draw_curves({"Extra": curve}, "td", "212 inputs against 198, networks of the same age", path)
