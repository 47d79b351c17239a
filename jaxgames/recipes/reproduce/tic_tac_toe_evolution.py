"""Keller 2018: groups of networks that evolve at tic-tac-toe."""

import itertools
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxgames.algos.evolution.saved import NetworkConfig
from jaxgames.algos.evolution.strategies.group_ga import GroupsConfig
from jaxgames.matches.intervals import Z95, share_margin
from jaxgames.nets.layers import activation
from jaxgames.recipes.evolution import networks_file
from jaxgames.recipes.reproduce.report import Part, System
from jaxgames.recipes.reproduce.rows import Row, layer_rows, mean_row, published, setting_rows
from jaxgames.recipes.reproduce.study import Study
from jaxgames.recipes.tic_tac_toe_evolution import (
    RECIPE,
    RERUN,
    against,
    all_positions,
    choices_of,
    measured,
    read_text,
    sizes_of,
)
from jaxgames.runs import Run
from jaxgames.runs.figures import DARK, GREY, LINE_COLORS, Diagram, PlottedLine, draw_diagrams, new_figure, save, tidy

PUBLISHED = published("tic_tac_toe_evolution")
"""What the text says in numbers. Its games are boards, row by row; X is the network."""

MEASURES = {
    "win_random": "won against random moves",
    "draw_random": "drawn against random moves",
    "loss_random": "lost against random moves",
    "wins": "wins at hand that are taken",
    "blocks": "threats of the other player that are met",
    "kept": "moves that keep the result of perfect play",
    "perfect_draw": "drawn against perfect play",
}
ROUNDS: int = PUBLISHED["settings"]["rounds"]
SIDE_ROUNDS = 100
"""Of the original setting, and of those beside it."""


class PlayedMove(NamedTuple):
    """A move of the network in the printed games: in `all_positions().open`, and the cell."""

    position: int
    cell: int


# The program's settings.


def settings(study: Study) -> list[Row]:
    """The program's numbers beside those of the recipe."""
    config = RECIPE.settings["original"]
    assert isinstance(config, GroupsConfig)
    genomes, numbers = config.network.genomes(), jnp.arange(200, dtype=jnp.int32)
    weights = np.abs(np.asarray(genomes.init(jax.random.key(study.seed), numbers)))
    ours: dict[str, float] = {
        "groups": config.groups,
        "networks of a group": config.members,
        "networks that are kept": config.keep,
        "mutation rate": config.rate,
        "iterations of a turn": config.turn,
        "networks that each group sends as opponents": config.strategy(None).best,
        "largest first weight": float(np.round(weights.max(), 3)),
        "rounds": config.generations,
    }
    sizes = layer_rows(PUBLISHED["layers"], sizes_of(config.network))
    return [*setting_rows(PUBLISHED["settings"], ours, digits=1), *sizes]


# What is learned.


def learning(study: Study) -> list[Row]:
    """The champions after the whole training."""
    rounds = study.amount(ROUNDS, 8)
    shares, games_played = champions(study, "original", rounds), rounds * RECIPE.settings["original"].games(1)
    return [
        *(_row(f"{text}, after {rounds} rounds", shares[name]) for name, text in MEASURES.items()),
        Row("best champion: won against random moves", None, float(np.max(shares["win_random"])), unit="%"),
        Row("games of the training", None, games_played, digits=0),
        Row(
            "games a second", None, games_played / study.seconds_of("training original"), digits=0,
            why="the text gives no speed; our rerun of its program played 38,400",
        ),
    ]  # fmt: skip


def draw_learning(study: Study, rows: Sequence[Row], path: Path) -> None:
    """The learning curve over rounds."""
    groups = (("win_random", "draw_random", "loss_random"), ("wins", "blocks", "kept", "perfect_draw"))
    panels = [_panel(study, {MEASURES[name]: ("original", name) for name in names}) for names in groups]
    draw_diagrams(panels, path, "Mean of the 20 groups' best networks, %", size=(9.0, 2.4))


def rerun(study: Study) -> list[Row]:
    """The program itself beside ours after as many games."""
    rounds = study.amount(24, 8)
    shares = champions(study, "original", rounds)
    why = "" if not study.quick else "quick: fewer rounds than the rerun's 24"
    return [
        _row(f"{text}, after {rounds} rounds", shares[name], RERUN[name], RERUN["margins"][name], why)
        for name, text in MEASURES.items()
        if name in RERUN
    ]


# The six games of the appendix.


def games(study: Study) -> list[Row]:
    """The network's moves in the printed games, beside those of our champions in the same positions."""
    moves, every = played_moves(), all_positions()
    choices = _choices(study)
    rows = [
        Row(f"games {kind} by the network, of 6", number, digits=0, why="its opponent was a person")
        for kind, number in PUBLISHED["results of the network"].items()
    ]
    positions = np.array([move.position for move in moves])
    cells = np.array([move.cell for move in moves])
    for name, right in (("wins", every.wins), ("blocks", every.blocks), ("kept", every.keeps)):
        open_right = right[every.open]
        asked = open_right[positions].any(axis=1)
        theirs = open_right[positions, cells][asked]
        ours = 100 * open_right[positions[asked], choices[:, positions[asked]]].mean(axis=1)
        share, number = float(theirs.mean()), len(theirs)
        margin = 100 * share_margin(share, number) if 0 < share < 1 else 300 / number
        why = f"{int(theirs.sum())} of {number} moves in the printed games"
        rows.append(_row(f"{MEASURES[name]}, in these games", ours, 100 * share, margin, why))
    same = 100 * (choices[:, positions] == cells).mean(axis=1)
    rows.append(_row("moves that are the published network's", same))
    return rows


def played_moves() -> list[PlayedMove]:
    """All moves of the network in the printed games."""
    every, moves = all_positions(), []
    numbers = {int(word): number for number, word in enumerate(every.cells[every.open])}
    for game in PUBLISHED["5.1 games, X is the network"]:
        for before, after, cell in _plies(game):
            if after[cell] == "X":
                own, other = (sum(1 << place for place, mark in enumerate(before) if mark == side) for side in "XO")
                moves.append(PlayedMove(numbers[own | other << 16], cell))
    return moves


def _plies(game: Sequence[str]) -> Iterator[tuple[str, str, int]]:
    """The boards of a printed game before and after each move, and the cell that was taken."""
    for before, after in itertools.pairwise(["." * 9, *(board.replace("/", "") for board in game)]):
        yield before, after, next(cell for cell in range(9) if before[cell] != after[cell])


def draw_games(study: Study, rows: Sequence[Row], path: Path) -> None:
    """The printed games, move by move; below a move of the network, how many of our champions play the same."""
    choices, moves = _choices(study), iter(played_moves())
    figure = new_figure(10.5, 9.2, "The six printed games: the network's moves blue, the person's grey")
    axes = figure.subplots(6, 9)
    for number, (game, of_game) in enumerate(zip(PUBLISHED["5.1 games, X is the network"], axes, strict=True), 1):
        for axis in of_game:
            axis.set_axis_off()
        for axis, (before, after, newest) in zip(of_game, _plies(game), strict=False):
            note = ""
            if after[newest] == "X":
                move = next(moves)
                note = f"{int((choices[:, move.position] == move.cell).sum())} of {len(choices)}"
            _draw_board(axis, after, newest, "" if before.strip(".") else f"game {number}", note)
    save(figure, path)


def _draw_board(axis: Any, board: str, newest: int, title: str, note: str) -> None:
    for line in (1, 2):
        axis.plot([0, 3], [line, line], color="#c4ccd3", linewidth=0.8)
        axis.plot([line, line], [0, 3], color="#c4ccd3", linewidth=0.8)
    for cell, mark in enumerate(board.replace(".", " ")):
        color, weight = LINE_COLORS[0] if mark == "X" else GREY, "bold" if cell == newest else "normal"
        axis.text(cell % 3 + 0.5, 2.5 - cell // 3, mark, color=color, ha="center", va="center", weight=weight)
    axis.set_aspect("equal")
    axis.set_title(title, loc="left", fontsize=9, color=DARK)
    axis.text(1.5, -0.1, note, ha="center", va="top", fontsize=7.5, color=LINE_COLORS[0])


# Sigmoid and modified softsign.


def activations(study: Study) -> list[Row]:
    """How much longer the sigmoid takes than the modified softsign."""
    repeats = study.amount(60, 10)
    times = study.cell("activations", {"repeats": repeats, "clock": "processor"}, _times, repeats)
    rows = (Row(f"processor time of the sigmoid, softsign = 1: {what}", None, *times[what]) for what in times)
    return [row._replace(digits=2, why=CLEARLY) for row in rows]


CLEARLY = "the text says clearly faster, without a number"
FUNCTIONS: Mapping[str, Callable[[np.ndarray], np.ndarray]] = {
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "softsign_unit": lambda x: 0.5 * x / (1 + np.abs(x)) + 0.5,
}
"""Both functions as in the text, by our names of them."""


def _times(repeats: int) -> dict[str, list[float]]:
    """Mean ratios with 95 % intervals: of the function alone, and of whole networks."""
    x = np.random.default_rng(0).normal(size=2**18)
    inputs = jnp.asarray(np.random.default_rng(1).integers(-1, 2, (200, 9, 128)), jnp.float32)

    def on_jax(name: str) -> Any:
        function = jax.jit(activation(name))
        values = jnp.asarray(x, jnp.float32)
        return lambda: jax.block_until_ready(function(values))

    def network(name: str) -> Any:
        genomes = NetworkConfig("tic_tac_toe").replace(activation=name, output=name).genomes()
        rows = genomes.init(jax.random.key(0), jnp.arange(len(inputs), dtype=jnp.int32))
        function = jax.jit(genomes.apply)
        return lambda: jax.block_until_ready(function(rows, inputs))

    makers: dict[str, Callable[[str], Any]] = {
        "the function alone, in float64 as in the text (NumPy)": lambda name: partial(FUNCTIONS[name], x),
        "the function alone (XLA, float32)": on_jax,
        "a whole network 9-18-18-9 (XLA, float32)": network,
    }
    return {what: _ratio([make(name) for name in FUNCTIONS], repeats) for what, make in makers.items()}


def _ratio(functions: Sequence[Any], repeats: int) -> list[float]:
    """The median ratio of the processor times of two functions that take turns, and its 95 % interval."""
    for function in functions:
        function()
    ratios = []
    for _ in range(repeats):
        times = []
        for function in functions:
            began = time.process_time()
            for _ in range(5):
                function()
            times.append(time.process_time() - began)
        ratios.append(times[0] / times[1])
    margin = Z95 / 2 / repeats**0.5  # of the rank of the median
    return np.quantile(ratios, (0.5, max(0.0, 0.5 - margin), min(1.0, 0.5 + margin))).tolist()


def draw_activations(study: Study, rows: Sequence[Row], path: Path) -> None:
    """Both functions, and the ratios."""
    figure = new_figure(9, 3.2)
    left, right = figure.subplots(1, 2, width_ratios=(1, 1.2))
    x = np.linspace(-8, 8, 321)
    for color, label, function in zip(
        LINE_COLORS, ("sigmoid", "modified softsign"), FUNCTIONS.values(), strict=False
    ):  # fmt: skip
        left.plot(x, function(x), color=color, label=label)
    tidy(left, "the two functions")
    left.legend(fontsize=8, frameon=False, labelcolor=GREY)
    tidy(right, "processor time of the sigmoid, softsign = 1")
    labels = [row.what.partition(": ")[2].replace(" (", "\n(").replace(", in", ",\nin") for row in rows]
    ours = [row.ours or 0.0 for row in rows]
    right.bar(range(len(rows)), ours, color=LINE_COLORS[0], width=0.5)
    for place, (row, value) in enumerate(zip(rows, ours, strict=True)):
        right.text(place, value / 2, f"{value:.2f}", ha="center", va="center", fontsize=10, color="white")
        right.vlines(place, row.low, row.high, color=DARK, linewidth=1)
    right.axhline(1, color=GREY, linewidth=1, linestyle=(0, (5, 3)))
    right.set_xticks(range(len(rows)), labels, fontsize=7.5)
    save(figure, path)


# Illegal moves, and the outlook.


def illegal(study: Study, rounds: int | None = None) -> list[Row]:
    """Possibility 1, an illegal choice loses, beside possibility 2, the highest legal output is played."""
    rounds = rounds or study.amount(SIDE_ROUNDS, 4)
    rows = _beside(study, {"illegal-loses": "illegal moves lose", "original": "the highest legal output"}, rounds)
    text = f"positions with an illegal choice, after {rounds} rounds"
    illegal_choices = champions(study, "illegal-loses", rounds)["illegal"]
    return [*rows, _row(text, illegal_choices)._replace(learner="illegal moves lose")]


def draw_illegal(study: Study, rows: Sequence[Row], path: Path) -> None:
    """Won against random moves over rounds, both ways."""
    settings = {"the highest legal output": "original", "illegal moves lose": "illegal-loses"}
    lines = {label: (name, "win_random") for label, name in settings.items()}
    panel = _panel(study, lines, study.amount(SIDE_ROUNDS, 4))
    draw_diagrams([panel], path, "Won against random moves, mean of the groups' best networks, %", size=(9.0, 3.2))


def outlook(study: Study, rounds: int | None = None) -> list[Row]:
    """Crossover, beside the original after as many rounds."""
    settings = {"crossover": "crossover", "original": "as published"}
    return _beside(study, settings, rounds or study.amount(SIDE_ROUNDS, 4), (*LEARNED, "perfect_draw"))


def for_whole_trainings(study: Study) -> list[Row]:
    """Both after as many rounds as the text's network had."""
    if study.quick:
        return [Row("illegal moves, and crossover", None, why="not in a quick study")]
    return [*illegal(study, ROUNDS), *outlook(study, ROUNDS)]


LEARNED = ("win_random", "loss_random", "kept")


def _beside(study: Study, settings: Mapping[str, str], rounds: int, names: Sequence[str] = LEARNED) -> list[Row]:
    """Measures of settings, and what these are called, after as many rounds."""
    shares = {label: champions(study, setting, rounds) for setting, label in settings.items()}
    return [
        _row(f"{MEASURES[name]}, after {rounds} rounds", of[name])._replace(learner=label)
        for name in names
        for label, of in shares.items()
    ]


WEAK = 0.2
"""How often a weakened player errs; the text gives no number."""


def weakened(study: Study) -> list[Row]:
    """The champions of the whole training and a perfect player, and both with a random move now and then."""
    records = {errs: _records(study, errs) for errs in (0.0, WEAK)}
    return [
        _row(result, of[player][result])._replace(learner=f"weak:{errs}:{player}" if errs else player)
        for player in records[WEAK]
        for result in records[WEAK][player]
        for errs, of in records.items()
    ]


def _records(study: Study, errs: float) -> Mapping[str, Mapping[str, list[float]]]:
    """Of each player, in percent."""

    def measure() -> dict[str, dict[str, list[float]]]:
        every, records = all_positions(), {}
        players = {"NETWORK": _choices(study), "perfect": every.keeps[every.open].argmax(axis=1)[None]}
        for name, choices in players.items():
            random, perfect = (against(choices, of_kind, errs) for of_kind in (False, True))
            records[name] = {
                "won against random moves": (100 * random.win).tolist(),
                "lost against random moves": (100 * random.loss).tolist(),
                "lost against perfect play": (100 * perfect.loss).tolist(),
            }
        return records

    rounds = study.amount(ROUNDS, 8)
    return study.cell(f"players that err in {errs:.0%} of their moves", {"rounds": rounds}, measure)


def drawings(study: Study) -> list[Row]:
    """The figures that show no result."""
    why = "a drawing: there is nothing in it to measure"
    texts = ("a nerve cell", "an artificial neuron", "a feed-forward network")
    return [Row(f"figure {number}: {text}", None, why=why) for number, text in enumerate(texts, 1)]


# What several parts need.


def champions(study: Study, setting: str, rounds: int) -> Mapping[str, list[float]]:
    """How good each group's best network is after so many rounds of a setting, in percent, by `measured`."""
    run = _run(study, setting, rounds)  # before the cell, whose time is that of measuring

    def measure() -> dict[str, list[float]]:
        return {name: values.tolist() for name, values in measured(*_networks(run, setting, rounds)).items()}

    return study.cell(f"champions of {setting} after {rounds} rounds", {"rounds": rounds}, measure)


def _choices(study: Study) -> np.ndarray:
    """The cells that our champions choose after the whole training, [champions, open positions]."""
    rounds = study.amount(ROUNDS, 8)
    return choices_of(*_networks(_run(study, "original", rounds), "original", rounds))


def _networks(run: Run, setting: str, rounds: int) -> tuple[NetworkConfig, np.ndarray]:
    """Each group's best network after so many rounds of a training."""
    network = RECIPE.settings[setting].network
    return network, np.asarray(read_text(network, networks_file(run, rounds)))


def _run(study: Study, setting: str, rounds: int) -> Run:
    """A training of a setting that has so many rounds; but for the original there is a short one, too."""
    whole, short = study.amount(ROUNDS, 8), study.amount(SIDE_ROUNDS, 4)
    length = whole if setting == "original" or rounds > short else short
    name = setting if setting == "original" or length == short else f"{setting}, whole"
    changes = {} if length == RECIPE.settings[setting].generations else {"generations": str(length)}
    return Run.open(study.train(name, RECIPE.name, setting, changes))


def _row(what: str, values: Any, published: float | None = None, margin: float = 0.0, why: str = "") -> Row:
    """The mean of the champions in percent."""
    return mean_row(what, values, published, unit="%", published_margin=margin, why=why)


def _panel(study: Study, lines: Mapping[str, tuple[str, str]], last: int | None = None) -> Diagram:
    """Means over rounds, up to the `last` one; each line is a measure of a setting."""
    last = last or study.amount(ROUNDS, 8)
    rounds = [number for number in (1, 2, 3, 5, 8, 12, 24, 50, *range(100, last, 100)) if number < last] + [last]
    drawn = [
        PlottedLine(rounds, [np.mean(champions(study, setting, number)[name]) for number in rounds], label)
        for label, (setting, name) in lines.items()
    ]
    ticks = {number: f"{number}" for number in (1, 2, 5, 10, 24, 50, 100, 200, 400, 900) if number <= last}
    return Diagram(drawn, x="rounds", log_x=True, ticks=ticks, limits=(0, None))


SYSTEM = System(
    "tic-tac-toe-evolution",
    "Evolved tic-tac-toe",
    PUBLISHED["citation"],
    (
        Part("settings", "The program's settings (2.2.5)", settings, note=(
            "All numbers are those of the text and its program. First weights are uniform in [-1, 1]. Opponents are "
            "shuffled before each turn, and the network under test begins against every other one. One thing cannot be "
            "rebuilt: the program's ten threads share the opponents' activations, so now and then an opponent may "
            "answer a move of another game."
        )),
        Part("results", "What is learned (3.1)", learning, draw_learning, note=(
            "The text gives no rates. It says that after almost 900 rounds the network often wins where it can and "
            "often meets a threat, but not always. Our shares are exact, over all positions and games; they are means "
            "of the 20 groups' best networks."
        )),
        Part("rerun", "The program itself, rerun by us for 24 rounds", rerun, note=(
            "Here the column *published* holds no published figures, but those of the 20 champions of the original "
            "Java program, which we ran for 4 minutes and 9.2 million games."
        )),
        Part("games", "The six games of the appendix (5.1)", games, draw_games, note=(
            "In these games the network, X in the picture, meets a person. Below each of its moves stands how many of "
            "our 20 champions play the same there."
        )),
        Part("activations", "Sigmoid and modified softsign (2.2.3)", activations, draw_activations, note=(
            "The text prefers the modified softsign because it is clearly faster to compute."
        )),
        Part("illegal", "Illegal moves (2.2.2)", illegal, draw_illegal, note=(
            "The text weighs two ways. Either an illegal choice loses the game (score = (won + drawn / 2 - illegal) / "
            "games), or the network plays its highest legal output. The text says that the second way learns clearly "
            "faster, and takes it."
        )),
        Part("outlook", "Crossover (3.3)", outlook, note="The text proposes crossover, and did not try it."),
        Part(
            "whole", f"Illegal moves, and crossover, after {ROUNDS} rounds", for_whole_trainings, takes="an hour"
        ),
        Part("weak", "A weakened player (3.2)", weakened, note=(
            "A player that never errs is soon no fun, says the text: now and then it could play a random move "
            "instead. `weak:0.2:PLAYER` does so with a probability of 0.2. All shares are exact."
        )),
        Part("figures", "Figures 1 to 3", drawings),
    ),
)  # fmt: skip
