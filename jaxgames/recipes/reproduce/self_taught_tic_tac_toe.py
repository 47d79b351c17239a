"""The article on a network that teaches itself tic-tac-toe: its charts, one after the other."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from jaxgames.recipes.reproduce.report import Part, System
from jaxgames.recipes.reproduce.rows import Row, layer_rows, mean_row, published, range_row, setting_rows
from jaxgames.recipes.reproduce.study import Study
from jaxgames.recipes.self_play_population import NETWORK, VARIANTS, WINDOW
from jaxgames.recipes.tic_tac_toe_self_play import GAMES, RECIPE
from jaxgames.runs import Run
from jaxgames.runs.figures import LINE_COLORS, Diagram, PlottedLine, draw_diagrams

PUBLISHED = published("self_taught_tic_tac_toe")
"""What the article says in numbers. Its charts are pictures, of which the text has only the words."""

LAST = 0.1
"""The part of a training, its end, in which good results are counted."""
LOW, HIGH = PUBLISHED["good results per 100 games"]
STEPS = ("steps-0.0125", "faithful", "steps-0.05", "steps-0.075", "large-steps")
ALIKE = tuple(name for name in STEPS if VARIANTS[name].step_size < PUBLISHED["step size that goes wrong"])
"""Whose charts look alike, says the article: all good in the end."""
EMPTY = ("faithful", "empty-zero", "empty-zero-0.05")
TENTH = ("faithful", "absolute", "side-input", "side-input-0.05", "side-input-0.1")
WEIGHTS = ("faithful", "symmetric")
WORSE = {
    "empty-zero": "far below", "empty-zero-0.05": "far below", "side-input": "far worse",
    "side-input-0.05": "far worse", "side-input-0.1": "far worse",
}  # fmt: skip
"""What the article says of the mean of variants, beside that of the network as published."""


# The parts.


def settings(study: Study) -> list[Row]:
    """The program's numbers beside those of the recipe."""
    variant = VARIANTS["faithful"]
    ours: dict[str, float] = {
        "input of an empty square": variant.empty,
        "step size": variant.step_size,
        "training games": GAMES,
        "games of a point": WINDOW,
        "games of which one is self-play": len(variant.cycle) / variant.cycle.count("self"),
    }
    sizes = (NETWORK.learner(1).game.num_actions, *NETWORK.layers.hidden, 1)
    return [*setting_rows(PUBLISHED, ours), *layer_rows(PUBLISHED["layers"], sizes)]


def final_training(study: Study) -> list[Row]:
    """The final network, trained as long as in the article's program."""
    last, metrics = good(study, WHOLE, "faithful"), _run(study, WHOLE).metrics()
    reached = [entry["games"] for entry in metrics if entry["faithful/training"] >= LOW]
    return [
        _good_row("good results per 100 games at the end, mean", last),
        Row("networks with 90 or more at the end, of all", None, _share(last), unit="%"),
        Row(
            "games after which the median first reaches 90", None, reached[0] if reached else None, digits=0,
            why="" if reached else "it does not",
        ),
    ]  # fmt: skip


def step_sizes(study: Study) -> list[Row]:
    """The same with other step sizes."""
    rows = [Row("games of each network, here and below", None, _run(study, BESIDE).config["games"], digits=0)]
    for name in STEPS:
        size, last = VARIANTS[name].step_size, good(study, BESIDE, name)
        rows.append(_good_row(f"step size {size}: good results at the end", last, name in ALIKE))
        rows.append(Row(f"step size {size}: networks with 90 or more", None, _share(last), unit="%"))
    return rows


def only_random(study: Study) -> list[Row]:
    """Random opponents alone, and the random games of the mixed training."""
    alone, mixed = (good(study, BESIDE, name, "random") for name in ("only-random", "faithful"))
    return [
        mean_row("won of the last games, only random opponents", alone, unit="%"),
        mean_row("won of the last games against random moves, mixed training", mixed, unit="%"),
        _gain_by_self_play(mixed, alone),
    ]


def variants(names: Sequence[str], study: Study) -> list[Row]:
    """Measures of each variant the mean, the best and the worst network; figures are published of the first only."""
    rows = []
    for name in names:
        last, label = good(study, BESIDE, name), VARIANTS[name].label
        rows.append(_good_row(f"{label}: good results at the end", last, name == "faithful"))
        rows.append(Row(f"{label}: best network", None, max(last)))
        rows.append(Row(f"{label}: networks with 90 or more", None, _share(last), unit="%"))
        rows += _gain_rows(study, BESIDE, name)
    return rows


def only_self_play(study: Study) -> list[Row]:
    """Self-play alone."""
    last = good(study, BESIDE, "only-self-play")
    drawn, metrics = PUBLISHED["good results of self-play alone"], _run(study, BESIDE).metrics()[-1]
    why = "" if min(last) > 99 else "not all of our networks learn to draw against themselves"
    return [
        mean_row("drawn with itself at the end, mean", last, drawn, unit="%", why=why),
        Row("the same, median of the networks", drawn, float(np.median(last)), unit="%"),
        Row(
            "good results in all three kinds of games, a third of them draws with itself", None,
            metrics["only-self-play/measured"], metrics["only-self-play/measured/low"],
            metrics["only-self-play/measured/high"], "%", why="median, with 10th and 90th percentile",
        ),
    ]  # fmt: skip


def long(study: Study) -> list[Row]:
    """All variants for as many games as in the article."""
    if study.quick:
        return [Row("all variants", None, why="not in a quick study")]
    rows = []
    for name, variant in VARIANTS.items():
        rows.append(_good_row(f"{variant.label}: good results at the end", good(study, LONG, name), name in ALIKE))
        rows += _gain_rows(study, LONG, name)
    alone, mixed = (good(study, LONG, name, "random") for name in ("only-random", "faithful"))
    return [*rows, _gain_by_self_play(mixed, alone)]


def boards(study: Study) -> list[Row]:
    """The two pictures of boards."""
    why = "the picture of the board is not in the text that we have"
    return [Row(f"the {name} board with a blunder", None, why=why) for name in ("first", "second")]


# What several parts need.

WHOLE, BESIDE, LONG = "faithful", "all", "all, whole"
"""The trainings: one as long as in the article, all variants beside each other, shorter, and these for as long."""
BESIDE_GAMES = 120_000
"""Of each network in the second one. The network as published has learned it after 100,000."""
FEW = "the reason is not known; here are sixteen networks of each kind, in the article one"
FEWER = f"{FEW}, which trained for {GAMES:,} games, ours for {BESIDE_GAMES:,}"


def good(study: Study, training: str, name: str, curve: str = "training") -> list[float]:
    """Good results per 100 games in the last tenth of a training, of each network: of all games, or of the `random`
    ones.
    """

    def measure() -> dict[str, list[float]]:
        metrics = _run(study, training).metrics()
        last = metrics[-max(1, round(LAST * len(metrics))) :]
        return {"good": np.mean([line[f"{name}/{curve}/each"] for line in last], axis=0).tolist()}

    _run(study, training)  # trains, if it has not: the cell follows it
    values: list[float] = study.cell(f"{training}: {curve} games of {name}", {"curve": curve}, measure)["good"]
    return values


def _run(study: Study, training: str) -> Run:
    if study.quick:  # one training stands for both
        changes, few = {"seeds": "4"}, {"games": 4_000, "measured_games": 10, "final_games": 20}
        return Run.open(study.train(BESIDE, RECIPE.name, BESIDE, changes, **few))
    setting, games = {WHOLE: (WHOLE, GAMES), BESIDE: (BESIDE, BESIDE_GAMES), LONG: (BESIDE, GAMES)}[training]
    return Run.open(study.train(training, RECIPE.name, setting, games=games))


def _gain_rows(study: Study, training: str, name: str) -> list[Row]:
    """What a variant gains over the network as published; nothing is said of that one itself."""
    if name == "faithful":
        return []
    row = _difference(f"{VARIANTS[name].label}: gain", good(study, training, name), good(study, training, "faithful"))
    return [row._replace(claim="below", text=WORSE[name]) if name in WORSE else row]


def _gain_by_self_play(mixed: Sequence[float], alone: Sequence[float]) -> Row:
    """What mixed training gains over that by random opponents alone, in games against random moves."""
    return _difference("gain by self-play", mixed, alone)._replace(claim="above", text="self-play helps")


def _good_row(what: str, values: Sequence[float], is_published: bool = True) -> Row:
    """A row of good results per 100 games; the published ones go from 90 to 100."""
    row = mean_row(what, values)
    if not is_published:
        return row
    why = "some networks have not learned it by then; they pull the mean down" if min(values) < LOW else ""
    return range_row(what, (LOW, HIGH), row.ours, low=row.low, high=row.high, why=why)


def _share(values: Sequence[float]) -> float:
    """How many networks reach what is published, in percent."""
    return 100 * float(np.mean(np.array(values) >= LOW))


def _difference(what: str, values: Sequence[float], others: Sequence[float]) -> Row:
    """The mean difference of two variants, seed by seed: they begin with the same weights and meet the same luck."""
    return mean_row(what, np.subtract(values, others))


# The charts.


def draw(
    training: str, names: Sequence[str], study: Study, rows: Sequence[Row], path: Path, curve: str = "training"
) -> None:
    """A picture as in the article: good results per 100 games over games, a diagram for each variant."""
    metrics = _run(study, training).metrics()
    text = "pale: each 100 games of one network, as in the article" if curve == "training" else "random games only"
    note = f"{text}; line: median of the networks, with 10th to 90th percentile"
    panels = [_panel(metrics, name, curve) for name in names]
    draw_diagrams(panels, path, "Good results per 100 games", note, columns=3, size=(3.5, 2.6))


def _panel(metrics: Sequence[dict[str, Any]], name: str, curve: str) -> Diagram:
    games = [line["games"] for line in metrics]
    median, low, high = ([line[f"{name}/{curve}{end}"] for line in metrics] for end in ("", "/low", "/high"))
    lines = [PlottedLine(games, median, low=low, high=high, color=LINE_COLORS[0], style="-")]
    if curve == "training":
        one = [count for line in metrics for count in line[f"{name}/one"]]
        places = WINDOW * np.arange(1, len(one) + 1)
        lines.insert(0, PlottedLine(places, one, color=LINE_COLORS[0], style="-", width=0.5, alpha=0.3))
    span, label = (LOW, HIGH), VARIANTS[name].label
    return Diagram(lines, label, "games of each network", span=span, limits=(0, 101.5), short_x=True)


_SHORT = f"Trained for {BESIDE_GAMES:,} of the article's {GAMES:,} games."

SYSTEM = System(
    "self-taught-tic-tac-toe",
    "A network that teaches itself tic-tac-toe",
    PUBLISHED["citation"],
    (
        Part("settings", "The program's settings", settings, note=(
            "AForge's bipolar sigmoid with its usual alpha of 2 is tanh; its first weights and thresholds are uniform "
            "in [0, 1]. The network learns all positions of a game in order, one step each, also those after random "
            "moves."
        )),
        Part("chart-1", "Chart 1: the final network and training", final_training,
             partial(draw, WHOLE, ("faithful",)), note=(
            "The article's chart rises quickly to 90 to 100 good results per 100 games. Good are draws against itself "
            "and wins against random moves. The chart is of one training; here are sixteen."
        )),
        Part("steps", "Other step sizes", step_sizes, partial(draw, BESIDE, STEPS), note=(
            "The article says that charts of step sizes from 0.0125 to 0.075 look alike, and that 0.1 goes wrong. "
            + _SHORT
        )),
        Part("chart-2", "Chart 2: only random opponents", only_random, partial(draw, BESIDE, ("only-random",)), note=(
            "The article says that this ends less near 100 than with self-play. It is fair to compare it with chart 3. "
            + _SHORT
        ), reasons={"gain*": FEWER}),
        Part("chart-3", "Chart 3: trained mixed, only the random games drawn", only_random,
             partial(draw, BESIDE, ("faithful",), curve="random"), note=(
            "The article says that after the jump the mean is higher than in chart 2, so self-play helps. "
            + _SHORT
        ), reasons={"gain*": FEWER}),
        Part("chart-4", "Chart 4: only self-play", only_self_play, partial(draw, BESIDE, ("only-self-play",)), note=(
            "The article says that after some games 100 of 100 are drawn, and that the network learns nothing that "
            "helps against others. "
            + _SHORT
        )),
        Part("empty", "Charts 5 and 6: empty squares of 0", partial(variants, EMPTY),
             partial(draw, BESIDE, EMPTY), note=(
            "The article says that the beginning is unsteady. With step size 0.05 the best network becomes as steady "
            "as with empty squares of 0.01, but the mean is far below. "
            + _SHORT
        ), reasons={"*gain": FEWER}),
        Part("tenth", "Charts of the tenth input, and the board as it is", partial(variants, TENTH),
             partial(draw, BESIDE, TENTH), note=(
            "The article's first network saw the board as it is (X 1, O -1; output 1: X wins). It did well, but did "
            "not grasp whose turn it was. With a tenth input that says whose turn it is, it was far worse, at all step "
            "sizes. The article does not say how the input was coded; here it is 1 for X and -1 for O. "
            + _SHORT
        )),
        Part("weights", "The first weights", partial(variants, WEIGHTS), partial(draw, BESIDE, WEIGHTS), note=(
            "This is not in the article: what AForge's weights in [0, 1] cost, compared with weights in [-1, 1]. "
            + _SHORT
        )),
        Part("long", "All settings for 500,000 games", long, partial(draw, LONG, tuple(VARIANTS)), note=(
            "The article's charts are of 500,000 games. Above, only the first chart is; the others are of "
            f"{BESIDE_GAMES:,}."
        ), reasons={"*gain*": FEW, "step size*": FEW}, takes="20 minutes"),
        Part("boards", "The two boards with blunders", boards),
    ),
)  # fmt: skip
