"""The article on a network that teaches itself tic-tac-toe: its charts, one after the other."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from jaxgames.recipes.reproduce import pictures
from jaxgames.recipes.reproduce.report import Row
from jaxgames.recipes.reproduce.study import Study
from jaxgames.recipes.reproduce.system import Part, System
from jaxgames.recipes.tic_tac_toe_self_play.population import NETWORK, VARIANTS, WINDOW
from jaxgames.recipes.tic_tac_toe_self_play.recipe import GAMES, RECIPE
from jaxgames.runs import Run
from jaxgames.runs.curves import GREY, LIGHT, LINE_COLORS

PUBLISHED: dict[str, Any] = {
    "layers": [9, 18, 9, 3, 1],
    "input of an empty square": 0.01,
    "step size": 0.025,
    "step sizes that look alike": [0.0125, 0.075],
    "step size that goes wrong": 0.1,
    "step size with empty squares of 0": 0.05,
    "training games": 500_000,
    "games of a point": 100,
    "every so many games one is self-play": 3,
    "good results per 100 games": [90, 100],
    "good results of self-play alone": 100,
}
"""What the article says in numbers. Its charts are pictures, of which the text has only the words."""

LAST = 0.1
"""The part of a training, its end, in which good results are counted."""
LOW, HIGH = PUBLISHED["good results per 100 games"]
STEPS = ("steps-0.0125", "faithful", "steps-0.05", "steps-0.075", "large-steps")
EMPTY = ("faithful", "empty-zero", "empty-zero-0.05")
TENTH = ("faithful", "absolute", "side-input", "side-input-0.05", "side-input-0.1")
WEIGHTS = ("faithful", "symmetric")


# The parts.


def settings(study: Study) -> list[Row]:
    """The program's numbers beside those of the recipe."""
    variant = VARIANTS["faithful"]
    ours: dict[str, float] = {
        "input of an empty square": variant.empty,
        "step size": variant.step_size,
        "training games": GAMES,
        "games of a point": WINDOW,
        "every so many games one is self-play": len(variant.cycle) / variant.cycle.count("self"),
    }
    rows = [Row(name, PUBLISHED[name], value, digits=3 if value < 1 else 0) for name, value in ours.items()]
    sizes = (NETWORK.learner(1).game.num_actions, *NETWORK.layers.hidden, 1)
    for number, (published, found) in enumerate(zip(PUBLISHED["layers"], sizes, strict=True)):
        name = "inputs" if number == 0 else f"units of layer {number}"
        rows.append(Row(name, published, float(found), digits=0))
    return rows


def final_training(study: Study) -> list[Row]:
    """The final network, trained as long as in the article's program."""
    last, metrics = good(study, WHOLE, "faithful"), _run(study, WHOLE).metrics()
    reached = [entry["games"] for entry in metrics if entry["faithful/training"] >= LOW]
    return [
        _good_row("good results per 100 games at the end, mean", last),
        Row("networks with 90 or more at the end, of all", None, 100 * float(np.mean(np.array(last) >= LOW)), unit="%"),
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
        alike = size < PUBLISHED["step size that goes wrong"]
        rows.append(_good_row(f"step size {size}: good results at the end", last, alike))
        rows.append(Row(f"step size {size}: networks with 90 or more", None, _share(last), unit="%"))
    return rows


def only_random(study: Study) -> list[Row]:
    """Random opponents alone, and the random games of the mixed training."""
    alone, mixed = (good(study, BESIDE, name, "random") for name in ("only-random", "faithful"))
    return [
        _row("won of the last games, only random opponents", alone),
        _row("won of the last games against random moves, mixed training", mixed),
        _difference("gain by self-play", mixed, alone),
    ]


def only_self_play(study: Study) -> list[Row]:
    """Self-play alone."""
    last = good(study, BESIDE, "only-self-play")
    published, metrics = PUBLISHED["good results of self-play alone"], _run(study, BESIDE).metrics()[-1]
    why = "" if min(last) > 99 else "not all of our networks come to draw against themselves"
    return [
        _row("drawn with itself at the end, mean", last, published, why=why),
        Row("the same, median of the networks", published, float(np.median(last)), unit="%"),
        Row(
            "good results in all three kinds of games, a third of them draws with itself", None,
            metrics["only-self-play/measured"], metrics["only-self-play/measured/low"],
            metrics["only-self-play/measured/high"], "%", why="median, with 10th and 90th percentile",
        ),
    ]  # fmt: skip


def empty_squares(study: Study) -> list[Row]:
    """Empty squares of 0."""
    return _variants(study, EMPTY)


def tenth_input(study: Study) -> list[Row]:
    """The board as it is, without and with a tenth input."""
    return _variants(study, TENTH)


def first_weights(study: Study) -> list[Row]:
    """Weights that begin in [0, 1], and in [-1, 1]."""
    return _variants(study, WEIGHTS)


def boards(study: Study) -> list[Row]:
    """The two pictures of boards."""
    why = "the picture of the board is not in the text that we have"
    return [Row(f"the {name} board with a blunder", None, why=why) for name in ("first", "second")]


# What several parts need.

WHOLE, BESIDE = "faithful", "all"
"""The two trainings: one as long as in the article, and all variants beside each other, shorter."""
BESIDE_GAMES = 120_000
"""Of each network in the second one. The network as published has learned it after 100,000."""


def good(study: Study, training: str, name: str, curve: str = "training") -> list[float]:
    """Good results per 100 games in the last tenth of a training, of each network: of all games, or of the `random`
    ones.
    """

    run = _run(study, training)

    def measure() -> dict[str, list[float]]:
        metrics = run.metrics()
        last = metrics[-max(1, round(LAST * len(metrics))) :]
        return {"good": np.mean([line[f"{name}/{curve}/each"] for line in last], axis=0).tolist()}

    found: list[float] = study.cell(f"{training}: {curve} games of {name}", {"curve": curve}, measure)["good"]
    return found


def _run(study: Study, training: str) -> Run:
    if study.quick:  # one training stands for both
        changes, few = {"seeds": "4"}, {"games": 4_000, "measured_games": 10, "final_games": 20}
        return Run.open(study.train(BESIDE, RECIPE.name, BESIDE, changes, **few))
    games = {WHOLE: GAMES, BESIDE: BESIDE_GAMES}[training]
    return Run.open(study.train(training, RECIPE.name, training, games=games))


def _variants(study: Study, names: Sequence[str]) -> list[Row]:
    """Of each variant the mean, the best and the worst network; figures are published of the first one only."""
    rows = []
    for name in names:
        last, label = good(study, BESIDE, name), VARIANTS[name].label
        rows.append(_good_row(f"{label}: good results at the end", last, name == "faithful"))
        rows.append(Row(f"{label}: best network", None, max(last)))
        rows.append(Row(f"{label}: networks with 90 or more", None, _share(last), unit="%"))
        if name != "faithful":
            rows.append(_difference(f"{label}: gain", last, good(study, BESIDE, "faithful")))
    return rows


def _good_row(what: str, values: Sequence[float], published: bool = True) -> Row:
    """A row of good results per 100 games; the published ones go from 90 to 100."""
    row = _row(what, values, (LOW + HIGH) / 2 if published else None)._replace(unit="")
    why = "networks that have not learned it by then pull the mean down" if published and min(values) < LOW else ""
    return row._replace(published_margin=(HIGH - LOW) / 2 if published else 0.0, why=why)


def _share(values: Sequence[float]) -> float:
    """How many networks reach what is published, in percent."""
    return 100 * float(np.mean(np.array(values) >= LOW))


def _row(what: str, values: Sequence[float], published: float | None = None, why: str = "") -> Row:
    """The mean of the networks, with its 95 % interval."""
    middle, margin = _interval(values)
    return Row(what, published, middle, middle - margin, middle + margin, "%", why=why)


def _difference(what: str, values: Sequence[float], others: Sequence[float]) -> Row:
    """The mean difference of two variants, seed by seed: they begin with the same weights and meet the same luck."""
    return _row(what, np.subtract(values, others).tolist())._replace(unit="")


def _interval(values: Sequence[float]) -> tuple[float, float]:
    return float(np.mean(values)), 1.96 * float(np.std(values, ddof=1)) / len(values) ** 0.5


# The charts.


def chart(training: str, names: Sequence[str], curve: str = "training") -> Callable[[Study, Sequence[Row], Path], None]:
    """A picture as in the article: good results per 100 games over games, a diagram for each variant."""

    def draw(study: Study, rows: Sequence[Row], path: Path) -> None:
        metrics = _run(study, training).metrics()
        columns = min(3, len(names))
        lines = -(-len(names) // columns)
        figure = pictures.new_figure(max(7.0, 3.5 * columns), 0.7 + 2.4 * lines, "Good results per 100 games")
        axes = figure.subplots(lines, columns, squeeze=False, sharey=True).ravel()
        for axis, name in zip(axes, names, strict=False):
            _draw_variant(axis, metrics, name, curve)
        for axis in axes[len(names) :]:
            axis.set_visible(False)
        text = "pale: each 100 games of one network, as in the article" if curve == "training" else "random games only"
        note = f"{text}; line: median of the networks, with 10th to 90th percentile"
        figure.supxlabel(note, fontsize=8, color=GREY, x=0.01, ha="left")
        pictures.save(figure, path)

    return draw


def _draw_variant(axis: Any, metrics: Sequence[dict[str, Any]], name: str, curve: str) -> None:
    pictures.tidy(axis, VARIANTS[name].label, "games of each network")
    axis.axhspan(LOW, HIGH, color=LIGHT, alpha=0.5, linewidth=0)
    games = [line["games"] for line in metrics]
    if curve == "training":
        one = [count for line in metrics for count in line[f"{name}/one"]]
        axis.plot(WINDOW * np.arange(1, len(one) + 1), one, color=LINE_COLORS[0], alpha=0.3, linewidth=0.5)
    low, high = ([line[f"{name}/{curve}/{end}"] for line in metrics] for end in ("low", "high"))
    axis.fill_between(games, low, high, color=LINE_COLORS[0], alpha=0.2, linewidth=0)
    axis.plot(games, [line[f"{name}/{curve}"] for line in metrics], color=LINE_COLORS[0], linewidth=1.6)
    axis.set_ylim(0, 101.5)
    axis.xaxis.set_major_formatter(lambda value, _: f"{value / 1000:.4g}k" if value else "0")


SYSTEM = System(
    "self-taught-tic-tac-toe",
    "A network that teaches itself tic-tac-toe",
    "*Tic-tac-toe AI with neural network and machine learning*, an article for CodeProject's AI contest, with its C# "
    "program on AForge.Neuro 2.2.5 (the text that we have names neither author nor year).",
    (
        Part("settings", "The program's settings", settings, note=(
            "AForge's bipolar sigmoid with its usual alpha of 2 is tanh; its first weights and thresholds are uniform "
            "in [0, 1]. All positions of a game are learned, those after random moves, too, one step each in order."
        )),
        Part("chart-1", "Chart 1: the final network and training", final_training, chart(WHOLE, ("faithful",)), note=(
            "The article's chart rises quickly to 90 to 100 good results per 100 games: draws against itself, wins "
            "against random moves. It is one training; here are sixteen."
        )),
        Part("steps", "Other step sizes", step_sizes, chart(BESIDE, STEPS), note=(
            "Charts of step sizes from 0.0125 to 0.075 look alike, says the article, and at 0.1 it goes wrong."
        )),
        Part("chart-2", "Chart 2: only random opponents", only_random, chart(BESIDE, ("only-random",)), note=(
            "The article: in the end less near 100 than with self-play. The fair comparison is that with chart 3."
        )),
        Part("chart-3", "Chart 3: trained mixed, only the random games drawn", only_random,
             chart(BESIDE, ("faithful",), "random"), note=(
            "The article: after the jump its mean is higher than that of chart 2, so self-play helps."
        )),
        Part("chart-4", "Chart 4: only self-play", only_self_play, chart(BESIDE, ("only-self-play",)), note=(
            "The article: after some games 100 of 100 are drawn, and nothing is learned that helps against others."
        )),
        Part("empty", "Charts 5 and 6: empty squares of 0", empty_squares, chart(BESIDE, EMPTY), note=(
            "The article: unsteady at the beginning; with step size 0.05 the best one becomes as steady as with 0.01, "
            "the mean is far below."
        )),
        Part("tenth", "Charts of the tenth input, and the board as it is", tenth_input, chart(BESIDE, TENTH), note=(
            "The article's first attempt saw the board as it is (X 1, O -1; output 1: X wins) and did well otherwise, "
            "but did not grasp whose turn it was. A tenth input that says so was far worse, at all step sizes. How it "
            "was coded is not said; here it is 1 for X and -1 for O."
        )),
        Part("weights", "The first weights", first_weights, chart(BESIDE, WEIGHTS), note=(
            "Not in the article: what AForge's weights in [0, 1] cost, beside weights in [-1, 1]."
        )),
        Part("boards", "The two boards with blunders", boards),
    ),
)  # fmt: skip
