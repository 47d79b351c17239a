"""The networks of the thesis: what they learn of 16,000 games, and what they add to searches (tables 1, 2, 11, 12)."""

import functools
from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxgames.algos import mcts
from jaxgames.algos.imitation import load_network
from jaxgames.algos.imitation.data import load, open_of
from jaxgames.data_sets import solved_tests
from jaxgames.matches.solved import MOVE_SCORES
from jaxgames.players import Player
from jaxgames.recipes.reproduce.connect_four_mcts.matches import GAME, empty_boards
from jaxgames.recipes.reproduce.connect_four_mcts.searches import (
    PUBLISHED,
    QUICK,
    REPLIES,
    CountedTurn,
    Kind,
    left_out,
    percent_row,
    percents,
    shortest,
)
from jaxgames.recipes.reproduce.rows import Row
from jaxgames.recipes.reproduce.study import Study
from jaxgames.runs import Run
from jaxgames.runs.figures import Diagram, PlottedLine, draw_diagrams

RECIPE, TEACHER, GAMES, SHARD = "connect-four-networks", "uct:500,c=0.4,final=mean", 16_000, 2_048
"""The text does not say how many iterations its players made."""
NETWORKS = {"DenseNetNorm": "dense-unit", "ConvNetNorm": "conv-unit", "DenseNet": "dense", "ConvNet": "conv"}
"""The recipe's settings by the names of table 1."""
FORMS: Mapping[str, Sequence[Mapping[str, str]]] = {
    "dense": ({"hidden": "64"}, {"hidden": "256,128,64"}, {"hidden": "512,512,256"}),
    "conv": ({"convolutions": "16,16", "hidden": "32"}, {"convolutions": "32,32", "hidden": "64"}),
}
"""The small sweep in place of the text's automatic search."""
SWEPT = {"dense": {"epochs": "10"}, "conv": {"epochs": "3"}}
FINAL = {"dense": {"epochs": "40", "patience": "8"}, "conv": {"epochs": "10", "patience": "3"}}
FEW = 20_000
"""Positions of the text's short training, on values from -1 to 1."""
SWEPT_POSITIONS = 50_000
MATCH = {table: PUBLISHED[table]["games"] for table in ("table 2", "table 12")}
"""Games of each row."""
ROOMS = (520, 4_000, 10**5)
"""Iterations that a search is compiled for: of table 12's networks, of its opponents, and of any other."""
UCT_SPEED = 7_000
"""The author's iterations per second without a network, by which table 12 gives others their time."""


ABOUT = 0.005
"""The margin of what the text calls approximate."""
_OTHERS = (
    "other games, and another length of training: the text does not say how its players searched; its 16,000 games "
    "reached 509,066 positions with their mirror images, ours more; it learned mirror images of the positions that it "
    "kept for validation; and it learned for 300 epochs, ours for "
)
WHY, WHY_CURVES = _OTHERS + "40 (dense) and 10 (convolutions)", _OTHERS + "50"
WHY_FEW = "other games and positions for validation; ours learned for 30 epochs, the text's for 100, as in figure 18"


UCT = Kind(mcts.uct(0.4))
SEARCHES = {"": UCT, "LGR": Kind(mcts.uct(0.5), REPLIES), "RAVE-LGR": Kind(mcts.rave(50, 0.1), REPLIES)}
"""By what an agent's name begins with: the search whose evaluator has the other half of a leaf's value."""


def table_1(study: Study) -> list[Row]:
    """What networks learn: errors on positions that they have not learned."""
    theirs = PUBLISHED["table 1"]
    if study.quick:
        return [Row(name, row[0], best="low", why=QUICK, digits=3) for name, row in theirs["rows"].items()]
    data = _data(study)
    constant = study.cell("guess", {"games": GAMES}, _guess, data["folder"])
    rows = [
        Row("positions to learn from, one of each two images", None, data["training"], digits=0),
        *_errors("a constant", theirs["constant"], constant, study.seconds_of("guess"), ABOUT),
    ]
    for name, setting in NETWORKS.items():
        best, seconds = _final(study, setting), study.seconds_of(f"training {setting}")
        rows += _errors(f"{name}, {_told(_form(study, setting))}", theirs["rows"][name], best, seconds)
    for setting, figures in (("naive", theirs["naive"]), ("dense", (None, None)), ("conv", (None, None))):
        name = f"few {setting}"
        changes = {"epochs": "30", "patience": "10", "positions": str(FEW), **_form(study, setting)}
        best = _trained(study, name, setting, changes)
        seconds = study.seconds_of(f"training {name}")
        rows += _errors(f"{setting}, {FEW:,} positions", figures, best, seconds)
    return rows


CURVES: Mapping[str, Mapping[str, str]] = {
    "figure-18": {"naive": "Naiv", "dense": "DenseNet", "conv": "ConvNet"},
    "figure-19": {"dense-unit": "DenseNet", "conv-unit": "ConvNet"},
    "figure-20": {"dense": "DenseNet", "conv": "ConvNet"},
}
"""The recipe's settings of each figure of training curves, and what they are called there."""
LENGTHS = {"figure-18": {"epochs": "100", "patience": "100", "positions": str(FEW)}}
"""What is set of them: in the last two figures the curves are nearly flat after 50 of 300 epochs, says the text."""
LONG = {"epochs": "50", "patience": "50"}


def curves(figure: str, study: Study) -> list[Row]:
    """The lowest and the last errors of training curves, with the numbers of positions of these."""
    if study.quick:
        return [Row(f"{name}, squared error", None, why=QUICK) for name in CURVES[figure].values()]
    theirs, rows = PUBLISHED["table 1"], []
    if figure == "figure-18":
        data, games = _data(study), PUBLISHED["5.3 data"]
        rows = [
            Row("games of two searches", games["games"], GAMES, digits=0, is_set=True),
            Row(
                "positions for learning and validation, with mirror images", games["positions"],
                2 * (data["training"] + data["validation"]), digits=0,
            ),
            Row("of these, learned at most", games["learned"], 2 * data["training"], digits=0),
        ]  # fmt: skip
    for setting, name in CURVES[figure].items():
        metrics = _metrics(study, figure, setting)
        figures = theirs["naive"] if setting == "naive" else theirs["rows"][name + "Norm" * setting.endswith("-unit")]
        if figure == "figure-18" and setting != "naive":
            figures = (None, None)  # drawn without numbers
        best = min(metrics, key=itemgetter("validation_value_squared"))
        seconds = study.seconds_of(f"training {figure} {setting}")
        for line, published, which in ((best, figures, "best epoch"), (metrics[-1], (None, None), "last epoch")):
            errors = {kind: line[f"validation_value_{kind}"] for kind in ("squared", "absolute")}
            rows += _errors(f"{name}, {which} ({line['epoch']:.0f})", published, errors, seconds)
    return rows


def _metrics(study: Study, figure: str, setting: str) -> Sequence[Mapping[str, Any]]:
    """The lines of a training that have errors on positions that were not learned."""
    name, data = f"{figure} {setting}", _data(study)["folder"]
    changes = {**LENGTHS.get(figure, LONG), **FORMS[_kind(setting)][-1]}
    study.train(name, RECIPE, setting, changes, data=str(data), final_games=2)
    return [line for line in Run.open(study.path / "runs" / name).metrics() if "validation_value_squared" in line]


def draw_curves(figure: str, study: Study, rows: Sequence[Row], path: Path) -> None:
    """Draws the errors over epochs."""
    panels = []
    for kind in ("squared", "absolute"):
        lines = []
        for setting, name in ({} if study.quick else CURVES[figure]).items():
            metrics = _metrics(study, figure, setting)
            x, y = ([line[key] for line in metrics] for key in ("epoch", f"validation_value_{kind}"))
            lines.append(PlottedLine(x, y, name, style="-"))
        panels.append(Diagram(lines, f"{kind} error", "epochs"))
    draw_diagrams(panels, path, columns=2, size=(4.5, 2.8))


def times(study: Study) -> list[Row]:
    """Table 2's column of times: seconds of the 800 games of each network, at both weights."""
    theirs = PUBLISHED["table 2"]["seconds"]
    if study.quick:
        return [Row(f"{name}, 800 games", seconds, unit="s", why=QUICK) for name, seconds in theirs.items()]
    table_2(study)
    cells = {name: [f"table 2: {name}, weight {x}" for x in PUBLISHED["table 2"]["weights"]] for name in theirs}
    return [
        Row(f"{name}, 800 games", seconds, sum(map(study.seconds_of, cells[name])), unit="s", best="low", digits=0)
        for name, seconds in theirs.items()
    ]


def table_2(study: Study) -> list[Row]:
    """100 iterations with each network against 400 without; then as many, and as much time."""
    theirs = PUBLISHED["table 2"]
    if study.quick:
        return _left_out(theirs["rows"], [f"weight {weight}" for weight in theirs["weights"]])
    _train_all(study)
    rows = []
    for name, figures in theirs["rows"].items():
        for weight, figure in zip(theirs["weights"], figures, strict=True):
            own = functools.partial(_agent, study, name, UCT, weight, 100)
            rows.append(_match(study, "table 2", f"{name}, weight {weight}", figure, own, 400))
    speed = _speeds(study)
    for label in ("DenseNet", "ConvNet"):
        own = functools.partial(_agent, study, f"{label}Norm", UCT, 0.5, 100)
        as_long = max(100, round(100 * speed["UCT"] / speed[label]))
        for text, count in (("100 iterations each", 100), (f"100 against {as_long}, the same time here", as_long)):
            rows.append(_match(study, "table 2", f"{label}Norm, {text}", None, own, count))
    return rows


def table_11(study: Study) -> list[Row]:
    """Iterations per second, 256 positions at once."""
    theirs = PUBLISHED["table 11"]["rows"]
    if study.quick:
        return [Row(name, rate, unit="/s", best="high", why=QUICK) for name, rate in theirs.items()]
    ours = _speeds(study)
    return [
        Row(f"{name}, 256 positions at once", rate, ours[name], best="high", unit="/s", digits=0)
        for name, rate in theirs.items()
    ]


def table_12(study: Study) -> list[Row]:
    """Searches with networks in the time that the author's UCT takes for so many iterations, by his speeds."""
    theirs = PUBLISHED["table 12"]
    times = [f"time of {count:,}" for count in theirs["iterations"]]
    if study.quick:
        return _left_out(theirs["rows"], times)
    _train_all(study)
    rows = []
    for label, figures in theirs["rows"].items():
        network, search = _parts(label)
        for iterations, text, figure in zip(theirs["iterations"], times, figures, strict=True):
            count = round(iterations * PUBLISHED["table 11"]["rows"][label] / UCT_SPEED)
            own = functools.partial(_agent, study, network, search, 0.5, count)
            rows.append(_match(study, "table 12", f"{label}, {text} iterations", figure, own, iterations))
    return rows


def _left_out(table: Mapping[str, Sequence[float]], columns: Sequence[str]) -> list[Row]:
    return [
        left_out(f"{name}, {column}", theirs)
        for name, figures in table.items()
        for column, theirs in zip(columns, figures, strict=True)
    ]


def _data(study: Study) -> Mapping[str, Any]:
    return study.examples("games of UCT", GAME, TEACHER, GAMES, SHARD, "position", _tests())


@functools.cache
def _tests() -> Any:
    """The solved positions, which no network learns."""
    return solved_tests(GAME, [MOVE_SCORES])


def _kind(setting: str) -> str:
    return "conv" if setting.startswith("conv") else "dense"


def _form(study: Study, setting: str) -> Mapping[str, str]:
    """The form of a network of this kind that had the lowest error after a short training."""
    kind = _kind(setting)

    def error(form: Mapping[str, str]) -> float:
        changes = {**SWEPT[kind], "positions": str(SWEPT_POSITIONS), **form}
        return _trained(study, f"sweep {kind} {_told(form)}", f"{kind}-unit", changes)["squared"]

    return min(FORMS[kind], key=error)


def _told(form: Mapping[str, str]) -> str:
    return " + ".join(text.replace(",", "-") for text in form.values())


def _final(study: Study, setting: str) -> Mapping[str, float]:
    """The errors of a network of table 1, which is trained first, if it is not."""
    return _trained(study, setting, setting, {**FINAL[_kind(setting)], **_form(study, setting)})


def _train_all(study: Study) -> None:
    """Trains the networks of table 1 that are not trained yet, so that no match's time holds a training."""
    for setting in NETWORKS.values():
        _final(study, setting)


def _trained(study: Study, name: str, setting: str, changes: Mapping[str, str]) -> Mapping[str, float]:
    """The errors of a training at its best epoch."""
    data = _data(study)["folder"]
    study.train(name, RECIPE, setting, changes, data=str(data), final_games=2)
    best = study.result_of(f"training {name}")["best"]
    return {kind: best[f"validation_value_{kind}"] for kind in ("squared", "absolute")}


def _errors(
    name: str,
    theirs: Sequence[float | None],
    errors: Mapping[str, float],
    seconds: float,
    margin: float = 0.0005,
) -> list[Row]:
    """The two rows of a network."""
    return [
        Row(
            f"{name}, {kind} error", figure, errors[kind], best="low", published_margin=margin, digits=3,
            seconds=seconds / 2,
        )
        for kind, figure in zip(("squared", "absolute"), theirs, strict=True)
    ]  # fmt: skip


def _guess(folder: Any) -> dict[str, float]:
    """The errors of one guess for all positions of validation, the mean value of the others; values from -1 to 1."""
    rows = load(open_of(folder, GAME, {}), GAME)
    errors = rows.value[rows.validation] - rows.value[~rows.validation].mean()
    return {"squared": float(np.square(errors).mean()), "absolute": float(np.abs(errors).mean())}


def _agent(study: Study, name: str, search: Kind, weight: float, iterations: int) -> Player:
    """A search whose leaves are worth a mix of a network's value, the mean of both images, and of a rollout."""
    params, network = load_network(Run.open(study.path / "runs" / NETWORKS[name]), GAME)
    value = mcts.valued(network.for_play.make_mean_value, params)
    return _player(name, search.rule, mcts.mixture(weight, value, search.evaluate), iterations)


def _uct(iterations: int) -> Player:
    return _player("UCT", UCT.rule, UCT.evaluate, iterations)


def _player(name: str, rule: mcts.Rule, evaluate: mcts.Evaluator, iterations: int) -> Player:
    most = next(room for room in ROOMS if room >= iterations)
    return Player(name, GAME, CountedTurn(rule, most), (evaluate, jnp.uint32(iterations)))


def _match(study: Study, table: str, name: str, theirs: float | None, own: Callable[[], Player], other: int) -> Row:
    games, cell = MATCH[table], f"{table}: {name}"
    result = study.match(cell, lambda: (own(), _uct(other)), games, study.seed, {"other": other})
    ours = percents(*(result[name] for name in ("ppg", "ppg_low", "ppg_high")))
    return percent_row(table, name, theirs, ours, games, PUBLISHED[table]["games"], study.seconds_of(cell))


OTHER_NETWORKS = "other networks than the text's, which learned from other games (table 1)"


def _speeds(study: Study) -> Mapping[str, float]:
    """Iterations per second of each agent, and of UCT."""
    _train_all(study)
    makers: dict[str, Callable[[int], Player]] = {"UCT": _uct}
    for label in PUBLISHED["table 11"]["rows"]:
        makers[label] = functools.partial(_agent, study, *_parts(label), 0.5)
    return {
        label: study.cell(f"speed with networks: {label}", {}, _speed, make)["rate"] for label, make in makers.items()
    }


def _parts(agent: str) -> tuple[str, Kind]:
    """Network and search of an agent of tables 11 and 12; all have learned values from 0 to 1."""
    search, _, kind = agent.rpartition("-")
    return f"{kind}Norm", SEARCHES[search]


def _speed(make: Callable[[int], Player]) -> dict[str, float]:
    count, batch = 100, 256
    player, positions = make(count), empty_boards(batch)
    play, bits = jax.jit(player.play_once), [jax.random.bits(jax.random.key(i), (batch,), jnp.uint32) for i in range(4)]
    return {"rate": batch * count / shortest(lambda number: play(positions, bits[number]))}
