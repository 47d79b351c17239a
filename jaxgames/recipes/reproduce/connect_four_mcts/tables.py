"""The tables of the thesis, measured: players, settings and games of each."""

import dataclasses
import functools
import time
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, UInt32

from jaxgames.algos import mcts
from jaxgames.envs.core import Outcome
from jaxgames.matches import solved
from jaxgames.matches.match import interval
from jaxgames.players import Player
from jaxgames.players import make as make_player
from jaxgames.recipes.reproduce.connect_four_mcts import kept, published
from jaxgames.recipes.reproduce.connect_four_mcts.sweep import GAME, play, sweep
from jaxgames.recipes.reproduce.report import Row
from jaxgames.recipes.reproduce.study import Study

PAIRS, QUICK_PAIRS = 250, 4
SIMULATIONS, QUICK_SIMULATIONS = 1000, 16
SLOTS, QUICK_SLOTS = 1024, 64
POSITIONS = solved.MOVE_SCORES
"""Half of the positions of the thesis; they come with the repository only."""


class Kind(NamedTuple):
    """A search: its rule, whose constants the settings replace, its evaluator, and whether it keeps what it learned."""

    rule: mcts.Rule
    evaluate: mcts.Evaluator = mcts.rollout()
    keep: bool = False


REPLIES = mcts.last_good_reply(forget=False, path=False)
FORGETS = mcts.last_good_reply(forget=True, path=False)
UCT = Kind(mcts.uct())
GRAPHS = {"UCT1": mcts.uct1, "UCT2": mcts.uct2, "UCT3": mcts.uct3}
GRAPH_KINDS = {
    f"{name}, {label}": Kind(rule(symmetries=symmetries))
    for label, symmetries in (("with symmetry", True), ("without", False))
    for name, rule in GRAPHS.items()
}
LGR = Kind(mcts.uct(), REPLIES, True)
LGR_KINDS = {
    "replies not kept, none forgotten": Kind(mcts.uct(), REPLIES),
    "kept, none forgotten": LGR,
    "not kept, forgotten": Kind(mcts.uct(), FORGETS),
    "kept, forgotten": Kind(mcts.uct(), FORGETS, True),
}


def match_rows(
    study: Study,
    cell: str,
    kind: Kind,
    settings: Mapping[str, Sequence[float]],
    names: Sequence[str],
    theirs: Sequence[float],
    games: int = 500,
    opponent: Kind = UCT,
    against: Mapping[str, float] | None = None,
    factor: int = 1,
) -> list[Row]:
    """A kind of search at several settings against one opponent, all games at once.

    Args:
        study: keeps the cell.
        cell: its name.
        kind: the search.
        settings: constants of the rule by name, one for each setting.
        names: what the settings are called.
        theirs: the published percents.
        games: of each published figure, for its margin.
        opponent: whom it plays against.
        against: the opponent's constants; c = 0.4 if none are given.
        factor: so many times as many games as usual.
    """
    pairs, simulations = factor * study.amount(PAIRS, QUICK_PAIRS), study.amount(SIMULATIONS, QUICK_SIMULATIONS)
    slots, against = study.amount(SLOTS, QUICK_SLOTS), against or {"c": 0.4}
    chosen = [number for number, name in enumerate(names) if is_chosen(study, cell, name)]
    left_out = QUICK if study.quick else LEFT_OUT
    settings = {name: [values[number] for number in chosen] for name, values in settings.items()}
    told = {"pairs": pairs, "simulations": simulations, "against": dict(against), **settings}

    def measure() -> dict[str, Any]:
        own = sweep(kind.rule, kind.evaluate, settings, pairs, simulations, kind.keep)
        fixed = {name: [value] for name, value in against.items()}
        other = sweep(opponent.rule, opponent.evaluate, fixed, pairs, simulations, opponent.keep)
        return {"cells": play(own, other, len(chosen), pairs, study.seed, slots)}

    found = dict(zip(chosen, study.cell(cell, told, measure)["cells"], strict=True)) if chosen else {}
    seconds = study.seconds_of(cell) / len(chosen) if chosen else 0.0
    return [
        match_row(cell, name, percent, found[number], 2 * pairs, games, seconds)
        if number in found
        else Row(name, percent, unit="%", best="high", why=left_out)
        for number, (name, percent) in enumerate(zip(names, theirs, strict=True))
    ]


ONLY: Mapping[str, Collection[str]] | None = None
"""The rows to be measured by the name of their cell, where a run has not the time for all of them."""
QUICK = "not in quick figures"
QUICK_CELLS = ("table 3", "table 6", "table 7: kept, none forgotten", "table 9", "table 4: UCT2, with symmetry")
"""What quick figures are of: each search compiles for some seconds."""
LEFT_OUT = "left out of this run for time; `jaxgames reproduce` measures it"
CHANCE = "chance, it seems: the cells beside it agree, and of 180 such rows nine are expected to differ"
WHY: Mapping[str, str] = {
    "table 8: alpha 0.8, Cp 0.3": CHANCE,
    "table 4: UCT3, with symmetry: UCT3, with symmetry, Cp 0.7": CHANCE,
    "table 13: RAVE-LGR, time of 3,000 iterations": CHANCE,
}
"""Reasons of differences that were looked into, by the names of cells and rows."""


BY_ORDER = "; which row it is of we read from the order"
NOTES: Mapping[str, str] = dict.fromkeys(("table 7: not kept, forgotten", "table 7: kept, forgotten"), BY_ORDER)
"""What is to be said of all rows of a cell, by its name."""


def is_chosen(study: Study, cell: str, name: str) -> bool:
    """Whether a row is to be measured."""
    if study.quick:
        return cell in QUICK_CELLS
    return ONLY is None or name in ONLY.get(cell, ())


def match_row(
    cell: str, name: str, theirs: float | None, ours: Mapping[str, float], games: int, their_games: int, seconds: float
) -> Row:
    """A row of a percentage of the points."""
    row = Row(
        name,
        theirs,
        ours["ours"],
        ours["low"],
        ours["high"],
        "%",
        "high",
        0.0 if theirs is None else margin(theirs, their_games),
        seconds=seconds,
        learner=f"{games} games{NOTES.get(cell, '')}",
    )
    return row._replace(why=WHY.get(f"{cell}: {name}", "")) if row.verdict == "differs" else row


def margin(percent: float, games: int) -> float:
    """Half the 95 % interval of a published percentage of the points, as if no game were drawn."""
    return 196 * (percent / 100 * (1 - percent / 100) / games) ** 0.5


def table_3(study: Study) -> list[Row]:
    """UCT by Cp against Cp = 1.0."""
    settings = {"c": _halves(published.CP)}
    names = [f"UCT, Cp {cp}" for cp in published.CP]
    return match_rows(study, "table 3", UCT, settings, names, published.TABLE_3["UCT"], 900, against={"c": 0.5})


def table_4(study: Study) -> list[Row]:
    """UCT on graphs, with and without symmetry."""
    return _by_cp(study, "table 4", GRAPH_KINDS, published.TABLE_4, published.GRAPH_CP)


def table_5(study: Study) -> list[Row]:
    """alpha-AMAF by alpha and Cp."""
    return _by_constant(study, "table 5", Kind(mcts.amaf()), "alpha", published.TABLE_5)


def table_6(study: Study) -> list[Row]:
    """RAVE by k and Cp."""
    return _by_constant(study, "table 6", Kind(mcts.rave()), "k", published.TABLE_6)


def table_7(study: Study) -> list[Row]:
    """Last good replies, kept or not, with and without forgetting."""
    return _by_cp(study, "table 7", LGR_KINDS, published.TABLE_7, published.LGR_CP)


def table_8(study: Study) -> list[Row]:
    """Replies and alpha-AMAF."""
    return _by_constant(study, "table 8", Kind(mcts.amaf(), REPLIES, True), "alpha", published.TABLE_8)


def table_9(study: Study) -> list[Row]:
    """Replies and RAVE."""
    return _by_constant(study, "table 9", Kind(mcts.rave(), REPLIES, True), "k", published.TABLE_9)


def table_10(study: Study) -> list[Row]:
    """Both combinations against replies alone."""
    best = {
        "AMAF-LGR": (mcts.amaf(), {"alpha": [0.5], "c": [0.2]}),
        "RAVE-LGR": (mcts.rave(), {"k": [50.0], "c": [0.1]}),
    }
    rows = []
    for label, (rule, settings) in best.items():
        kind, theirs = Kind(rule, REPLIES, True), published.TABLE_10[label]
        rows += match_rows(study, f"table 10: {label}", kind, settings, [label], theirs, 1000, LGR, {"c": 0.5}, 2)
    return rows


def _by_cp(
    study: Study, table: str, kinds: Mapping[str, Kind], figures: Mapping[str, Sequence[float]], column: Sequence[str]
) -> list[Row]:
    """A table by kind of search and Cp."""
    rows = []
    for label, theirs in figures.items():
        names = [f"{label}, Cp {cp}" for cp in column]
        rows += match_rows(study, f"{table}: {label}", kinds[label], {"c": _halves(column)}, names, theirs)
    return rows


def _by_constant(study: Study, table: str, kind: Kind, name: str, figures: Mapping[str, Sequence[float]]) -> list[Row]:
    """A table by another constant and Cp."""
    column, values = published.AMAF_CP, [float(value) for value in figures]
    settings = {"c": _halves(column) * len(values), name: [value for value in values for _ in column]}
    names = [f"{name} {value}, Cp {cp}" for value in figures for cp in column]
    return match_rows(study, table, kind, settings, names, [x for row in figures.values() for x in row])


def _halves(column: Sequence[str]) -> list[float]:
    """The constants of Cp in a column."""
    return [float(cp) / 2 for cp in column]


class Agent(NamedTuple):
    """An agent of table 13: its search, and how many iterations it makes in the time of 1,000 of UCT."""

    kind: Kind
    iterations: int


AGENTS = {
    "UCT1": Agent(Kind(mcts.uct1(0.4)), 850),
    "UCT2": Agent(Kind(mcts.uct2(0.5)), 850),
    "UCT3": Agent(Kind(mcts.uct3(0.45)), 695),
    "AMAF": Agent(Kind(mcts.amaf(0.5, 0.2)), 809),
    "RAVE": Agent(Kind(mcts.rave(100, 0.1)), 809),
    "LGR": Agent(Kind(mcts.uct(0.5), REPLIES), 654),
    "AMAF-LGR": Agent(Kind(mcts.amaf(0.5, 0.2), REPLIES), 563),
    "RAVE-LGR": Agent(Kind(mcts.rave(50, 0.1), REPLIES), 563),
}


def table_13(study: Study) -> list[Row]:
    """All agents in the same time, with trees kept between moves."""
    rows, scales = [], study.amount(len(published.SCALES), 1)
    for label, agent in AGENTS.items():
        for number, scale in enumerate(published.SCALES, 1):
            theirs = published.TABLE_13[label][number - 1]
            name = f"{label}, time of {scale} iterations"
            chosen = (label, number) == ("RAVE-LGR", 1) if study.quick else is_chosen(study, "table 13", name)
            if not chosen:
                why = QUICK if study.quick else LEFT_OUT
                rows.append(Row(name, theirs, unit="%", best="high", why=why))
                continue
            games, factor = study.amount(2 * PAIRS, 2 * QUICK_PAIRS), study.amount(1.0, 0.02)
            own, other = (
                kept.Keeper(kind.rule, kind.evaluate, *(max(8, int(factor * x * count)) for x in (number, scales)))
                for kind, count in (agent, Agent(Kind(mcts.uct(0.4)), 1000))
            )
            cell = f"table 13: {label}, {scale}"
            settings = {"games": games, "iterations": [own.simulations, other.simulations]}
            found = study.cell(cell, settings, functools.partial(_kept_match, own, other, games, study.seed))
            rows.append(match_row("table 13", name, theirs, found, games, 500, study.seconds_of(cell)))
    return rows


def _kept_match(own: kept.Keeper, other: kept.Keeper, games: int, seed: int) -> dict[str, float]:
    points = kept.play(own, other, games, seed)
    low, high = interval(points, 1)
    return {"ours": 50 * (1 + points.mean()), "low": 50 * (1 + max(low, -1)), "high": 50 * (1 + min(high, 1))}


SCORED = {
    "UCT": Kind(mcts.uct(0.5)),
    "UCT1": Kind(mcts.uct1(0.45, symmetries=True)),
    "UCT2": Kind(mcts.uct2(0.45, symmetries=True)),
    "AMAF": Kind(mcts.amaf(0.5, 0.2)),
    "RAVE": Kind(mcts.rave(100, 0.1)),
    "LGR": Kind(mcts.uct(0.4), REPLIES),
    "RAVE-LGR": Kind(mcts.rave(100, 0.1), REPLIES),
}
"""The settings of the published move scores, with Cp = 2 c."""


@dataclasses.dataclass(frozen=True)
class CountedTurn:
    """A search that plays the best mean; parameters are the evaluator and the number of simulations, `most` at most.

    Other numbers need no new compilation.
    """

    rule: mcts.Rule
    most: int = published.ITERATIONS[-1]

    def __call__(self, params: Any, positions: Any, bits: UInt32[Array, " batch"]) -> Outcome:
        """Plays one action in each position."""
        evaluate, count = params
        found = mcts.search_positions(
            GAME, positions, bits, count, self.rule, evaluate, final="mean", capacity=self.most + 1
        )
        return jax.vmap(GAME.play)(positions, found.actions)


REPEATS = 2


def move_scores(study: Study) -> list[Row]:
    """Perfect and good moves on solved positions."""
    if not POSITIONS.exists():
        why = "the solved positions come with the repository, not with an installed package"
        return [Row("perfect and good moves", None, why=why)]
    positions = solved.read(POSITIONS, study.amount(None, 20))
    rows = _score_rows(study, positions, "random", make_player("random", GAME), published.MOVE_SCORES["random"][0])
    for label, kind in list(SCORED.items())[: study.amount(None, 1)]:
        pairs = zip(published.ITERATIONS, published.MOVE_SCORES[label], strict=True)
        for count, theirs in list(pairs)[: study.amount(None, 1)]:
            player = Player(label, GAME, CountedTurn(kind.rule), (kind.evaluate, jnp.uint32(count)))
            rows += _score_rows(study, positions, f"{label}, {count} iterations", player, theirs)
    return rows


def _score_rows(
    study: Study, positions: Sequence[solved.Solved], name: str, player: Player, theirs: tuple[float, float]
) -> list[Row]:
    """Two rows of a player, each position searched a few times."""
    repeats, cell = study.amount(REPEATS, 1), f"move scores: {name}"

    def measure() -> dict[str, Any]:
        found = solved.score(player, list(positions) * repeats, seed=study.seed, batch=len(positions))
        return {"perfect": 100 * found.perfect, "good": 100 * found.good}

    found = study.cell(cell, {"positions": len(positions), "repeats": repeats}, measure)
    rows = []
    for kind, published_figure in zip(("perfect", "good"), theirs, strict=True):
        ours = found[kind]
        spread, seconds = margin(ours, len(positions)), study.seconds_of(cell) / 2
        rows.append(
            Row(
                f"{name}, {kind}",
                published_figure,
                ours,
                ours - spread,
                ours + spread,
                "%",
                "high",
                0.7,
                seconds=seconds,
            )
        )
    return rows


def speeds(study: Study) -> list[Row]:
    """Iterations per second, 500 searches at once."""
    batch, count = study.amount(500, 64), study.amount(800, 16)
    kinds = {name: Kind(rule()) for name, rule in GRAPHS.items()}
    kinds = {"UCT": UCT, **kinds, "AMAF": Kind(mcts.amaf()), "RAVE": Kind(mcts.rave()), "LGR": LGR}
    kinds |= {"AMAF-LGR": Kind(mcts.amaf(), REPLIES), "RAVE-LGR": Kind(mcts.rave(50, 0.1), REPLIES)}
    rates = {
        label: study.cell(
            f"speed: {label}", {"batch": batch, "count": count}, functools.partial(_speed, kind, batch, count)
        )["rate"]
        for label, kind in list(kinds.items())[: study.amount(None, 1)]
    }
    rows = [
        Row(f"{label}, {batch} positions at once", published.SPEEDS[label], rate, best="high", unit="/s", digits=0)
        for label, rate in rates.items()
    ]
    for label, rate in list(rates.items())[1:]:
        theirs, ours = (
            100 * x / y for x, y in ((published.SPEEDS[label], published.SPEEDS["UCT"]), (rate, rates["UCT"]))
        )
        row = Row(f"{label}, of UCT's speed", theirs, ours, unit="%", best="high", digits=0)
        rows.append(row._replace(why=FASTER_ROLLOUTS) if row.verdict == "differs" else row)
    return rows


FASTER_ROLLOUTS = "our plain rollouts are vector code on bits, beside which all that is looked up or counted costs more"


def _speed(kind: Kind, batch: int, count: int) -> dict[str, float]:
    opening = jax.tree.map(lambda x: jnp.broadcast_to(x, (batch,)), GAME.init_position(jax.random.key(0)))
    states, seconds = GAME.state(opening, jnp.zeros(batch, jnp.int32)), []
    for number in range(4):  # the first one compiles
        began = time.perf_counter()
        found = mcts.search(
            GAME, states, jax.random.key(number), count, select=kind.rule, evaluate=kind.evaluate, final="mean"
        )
        jax.block_until_ready(found.visits)
        seconds.append(time.perf_counter() - began)
    return {"rate": batch * count / min(seconds[1:])}


COLUMNS = "abcdefg"
SOLVED_OPENINGS = (-1, -1, 0, 1, 0, -1, -1)
"""What the first player makes of each column by perfect play."""
OPENING_TREES = 64
"""Trees merged at the root: one alone would take many minutes for 5 million iterations."""


def openings(study: Study) -> list[Row]:
    """The first moves as one large search orders them."""
    count = study.amount(5_000_000 // OPENING_TREES, 100)

    def measure() -> dict[str, Any]:
        state = GAME.state(
            jax.tree.map(lambda x: x[None], GAME.init_position(jax.random.key(0))), jnp.zeros(1, jnp.int32)
        )
        found = mcts.search(
            GAME, state, jax.random.key(study.seed), count, select=mcts.uct(0.5), num_trees=OPENING_TREES
        )
        visits = np.asarray(found.visits)[0]
        sums = np.asarray(found.tree.root("value_sums"))[:, : GAME.num_actions].sum(axis=0)
        return {"means": (sums / np.maximum(visits, 1)).tolist(), "visits": visits.tolist()}

    found = study.cell("openings", {"iterations": count, "trees": OPENING_TREES}, measure)
    worth = dict(zip(COLUMNS, SOLVED_OPENINGS, strict=True))
    order = sorted(COLUMNS, key=lambda column: -found["means"][COLUMNS.index(column)])
    pairs = [(one, two) for i, one in enumerate(order) for two in order[i + 1 :] if worth[one] != worth[two]]
    right = sum(worth[one] > worth[two] for one, two in pairs)
    rows = [
        Row(
            "pairs of first moves of different worth, ordered right",
            len(pairs),
            right,
            best="high",
            digits=0,
            seconds=study.seconds_of("openings"),
        )
    ]
    for column, mean in zip(COLUMNS, found["means"], strict=True):
        says = {1: "wins", 0: "draws", -1: "loses"}[worth[column]]
        rows.append(Row(f"mean of column {column.upper()}, which {says}", None, mean, digits=3))
    return rows
