"""The searches of the thesis: their speeds, their moves in solved positions, their first moves, their budgets of time.

And how the figures of its tables become rows.
"""

import dataclasses
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, UInt32

from jaxgames.algos import mcts
from jaxgames.envs.core import Outcome
from jaxgames.matches import solved
from jaxgames.matches.match import PairedGames
from jaxgames.players import Player
from jaxgames.players import make as make_player
from jaxgames.recipes.reproduce.connect_four_mcts.matches import GAME, empty_boards
from jaxgames.recipes.reproduce.rows import Row, mean_row, percent_margin, published
from jaxgames.recipes.reproduce.study import Study

PUBLISHED = published("connect_four_mcts")
QUICK = "not in quick figures"
BY_ORDER = "; we found its row by the order"
NOTES: Mapping[str, str] = dict.fromkeys(("table 7: not kept, forgotten", "table 7: kept, forgotten"), BY_ORDER)
"""What is to be said of all rows of a cell, by its name."""


class Kind(NamedTuple):
    """A search: its rule, whose constants the settings replace, its evaluator, and whether it keeps what it learned."""

    rule: mcts.Rule
    evaluate: mcts.Evaluator = mcts.rollout()
    keep: bool = False


REPLIES = mcts.last_good_reply(forget=False, path=False)
UCT = Kind(mcts.uct())


def percents(mean: float, low: float, high: float) -> dict[str, float]:
    """Points per game, and their interval, as percent of the points."""
    return {"ours": 50 * (1 + mean), "low": 50 * (1 + max(low, -1)), "high": 50 * (1 + min(high, 1))}


def percent_row(
    cell: str, name: str, theirs: float | None, ours: Mapping[str, float], games: int, their_games: int, seconds: float
) -> Row:
    """A row of a percentage of the points; the published one has a margin as if no game were drawn."""
    margin = (0.0, 0.0) if theirs is None else percent_margin(theirs, their_games)
    return Row(
        name, theirs, ours["ours"], ours["low"], ours["high"], "%", "high", margin,
        learner=f"{games} games{NOTES.get(cell, '')}", seconds=seconds,
    )  # fmt: skip


def left_out(name: str, theirs: float) -> Row:
    """A row that is no part of quick figures."""
    return Row(name, theirs, unit="%", best="high", why=QUICK)


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
    most: int = PUBLISHED["move scores"]["iterations"][-1]

    def __call__(self, params: Any, positions: Any, bits: UInt32[Array, " batch"]) -> Outcome:
        """Plays one action in each position."""
        evaluate, count = params
        result = mcts.search_positions(
            GAME, positions, bits, count, self.rule, evaluate, final="mean", capacity=self.most + 1
        )
        return jax.vmap(GAME.play)(positions, result.actions)


RUNS = 10
POSITIONS = solved.MOVE_SCORES, Path(__file__).parent / "move_scores_other_500.jsonl"
"""Every second one of the 1,000 positions of the thesis, and the others."""


def move_scores(study: Study) -> list[Row]:
    """Perfect and good moves on the solved positions of the thesis."""
    theirs, every = PUBLISHED["move scores"], [one for file in POSITIONS for one in solved.read(file)]
    positions = every[: study.amount(None, 20)]
    random = make_player("random", GAME)
    rows = _score_rows(study, positions, "random", random, theirs["rows"]["random"][0], theirs["margins of random"])
    for label, kind in list(SCORED.items())[: study.amount(None, 1)]:
        pairs = zip(theirs["iterations"], theirs["rows"][label], strict=True)
        for count, figures in list(pairs)[: study.amount(None, 1)]:
            player = Player(label, GAME, CountedTurn(kind.rule), (kind.evaluate, jnp.uint32(count)))
            rows += _score_rows(study, positions, f"{label}, {count} iterations", player, figures, theirs["margins"])
    return rows


def _score_rows(
    study: Study,
    positions: Sequence[solved.Solved],
    name: str,
    player: Player,
    theirs: Sequence[float],
    margins: Sequence[float],
) -> list[Row]:
    """Two rows of a player, the means of some runs on all positions: the interval is that of further runs on these."""
    runs, cell, kinds = study.amount(RUNS, 2), f"move scores: {name}", ("perfect", "good")

    def measure() -> dict[str, Any]:
        right, _ = solved.judge_moves(player, list(positions) * runs, seed=study.seed, batch=len(positions))
        shares = 100 * np.reshape(right, (runs, len(positions), len(kinds))).mean(axis=1)
        return dict(zip(kinds, shares.T.tolist(), strict=True))

    shares = study.cell(cell, {"positions": len(positions), "runs": runs}, measure)
    return [
        mean_row(
            f"{name}, {kind}", shares[kind], figure, unit="%", best="high", published_margin=margin,
            seconds=study.seconds_of(cell) / len(kinds),
        )
        for kind, figure, margin in zip(kinds, theirs, margins, strict=True)
    ]  # fmt: skip


SPEEDS = {
    "UCT": UCT,
    "UCT1": Kind(mcts.uct1()),
    "UCT2": Kind(mcts.uct2()),
    "UCT3": Kind(mcts.uct3()),
    "AMAF": Kind(mcts.amaf()),
    "RAVE": Kind(mcts.rave()),
    "LGR": Kind(mcts.uct(), REPLIES),
    "AMAF-LGR": Kind(mcts.amaf(), REPLIES),
    "RAVE-LGR": Kind(mcts.rave(50, 0.1), REPLIES),
}


def speeds(study: Study) -> list[Row]:
    """Iterations per second, 500 searches at once."""
    batch, count, theirs = study.amount(500, 64), study.amount(800, 16), PUBLISHED["speeds"]["rows"]
    settings = {"batch": batch, "count": count}
    rates = {
        label: study.cell(f"speed: {label}", settings, _speed, kind, batch, count)["rate"]
        for label, kind in list(SPEEDS.items())[: study.amount(None, 1)]
    }
    rows = [
        Row(f"{label}, {batch} positions at once", theirs[label], rate, best="high", unit="/s", digits=0)
        for label, rate in rates.items()
    ]
    for label, rate in list(rates.items())[1:]:
        share, ours = 100 * theirs[label] / theirs["UCT"], 100 * rate / rates["UCT"]
        rows.append(Row(f"{label}, of UCT's speed", share, ours, unit="%", best="high", digits=0))
    return rows


def _speed(kind: Kind, batch: int, count: int) -> dict[str, float]:
    states = GAME.state(empty_boards(batch), jnp.zeros(batch, jnp.int32))

    def search(number: int) -> Any:
        return mcts.search(
            GAME, states, jax.random.key(number), count, select=kind.rule, evaluate=kind.evaluate, final="mean"
        ).visits

    return {"rate": batch * count / shortest(search)}


def shortest(run: Any) -> float:
    """Seconds of the fastest of three runs, after one that compiles; `run(number)` returns arrays."""
    seconds = []
    for number in range(4):
        began = time.perf_counter()
        jax.block_until_ready(run(number))
        seconds.append(time.perf_counter() - began)
    return min(seconds[1:])


COLUMNS = "abcdefg"
SOLVED_OPENINGS = (-1, -1, 0, 1, 0, -1, -1)
"""What the first player makes of each column by perfect play."""
OPENING_TREES = 64
"""Trees merged at the root: one alone would take many minutes for 5 million iterations."""


def openings(study: Study) -> list[Row]:
    """The first moves as one large search orders them."""
    count = study.amount(5_000_000 // OPENING_TREES, 100)

    def measure() -> dict[str, Any]:
        state = GAME.state(empty_boards(1), jnp.zeros(1, jnp.int32))
        result = mcts.search(
            GAME, state, jax.random.key(study.seed), count, select=mcts.uct(0.5), num_trees=OPENING_TREES
        )
        visits = np.asarray(result.visits)[0]
        assert result.tree is not None
        sums = np.asarray(result.tree.root("value_sums"))[:, : GAME.num_actions].sum(axis=0)
        return {"means": (sums / np.maximum(visits, 1)).tolist(), "visits": visits.tolist()}

    cell = study.cell("openings", {"iterations": count, "trees": OPENING_TREES}, measure)
    means, worth = dict(zip(COLUMNS, cell["means"], strict=True)), dict(zip(COLUMNS, SOLVED_OPENINGS, strict=True))
    order = sorted(COLUMNS, key=lambda column: -means[column])
    pairs = [(one, two) for i, one in enumerate(order) for two in order[i + 1 :] if worth[one] != worth[two]]
    right, seconds = sum(worth[one] > worth[two] for one, two in pairs), study.seconds_of("openings")
    what = "pairs of first moves of different worth in the right order"
    rows = [Row(what, len(pairs), right, best="high", digits=0, seconds=seconds)]
    for column, mean in means.items():
        says = {1: "wins", 0: "draws", -1: "loses"}[worth[column]]
        rows.append(Row(f"mean of column {column.upper()}, which {says}", None, mean, digits=3))
    return rows


def kaggle(study: Study) -> list[Row]:
    """Section 7: the place of the agents in a contest."""
    place, agents = PUBLISHED["7 place among agents on Kaggle"]
    return [Row("place in Kaggle's Connect X", None, text=f"{place} or better of more than {agents}")]


SECONDS = 0.5
PLAYERS = f"uct:{SECONDS}s", f"alphabeta:{SECONDS}s"
MOST = 105
"""Percent of its time that no move may exceed."""


def budgets(study: Study) -> list[Row]:
    """The longest move of a game, and all time of a match, in percent of the budget."""
    if study.quick:
        return [Row(f"{spec}, longest move of a game", None, unit="%", why=QUICK) for spec in PLAYERS]
    times = study.cell("budgets of time", {"players": PLAYERS}, timed, *PLAYERS, SECONDS)
    names = [f"{spec}, longest move of {times['moves'][spec]} in a game" for spec in PLAYERS]
    names.append(f"{' against '.join(PLAYERS)}, all {times['plies']} plies of 2 games at once")
    figures = [*times["longest"].values(), times["match"]]
    why = [f"more than {MOST} %: was the machine busy?" if figure > MOST else "" for figure in figures]
    return [Row(name, None, figure, unit="%", why=text) for name, figure, text in zip(names, figures, why, strict=True)]


def timed(one: str, other: str, seconds: float) -> dict[str, Any]:
    """Moves of both players in a game and their longest, plies and time of a match; times in percent of `seconds`."""
    players = make_player(one, GAME), make_player(other, GAME)
    took = {player.name: times for player, times in zip(players, _game(players), strict=True)}
    games = PairedGames(*players, 1, slots=2)
    wall = games.play_all()
    plies = int(np.max(games.plies))  # at each of which both players search side by side, each where it is to move
    return {
        "moves": {name: len(times) for name, times in took.items()},
        "longest": {name: 100 * max(times) / seconds for name, times in took.items()},
        "plies": plies,
        "match": 100 * wall / (plies * seconds),
    }


def _game(players: tuple[Player, Player]) -> tuple[list[float], list[float]]:
    """Seconds of each move of each player in one game."""
    opening = empty_boards(1)
    play = [jax.jit(player.play) for player in players]
    memory = [player.begin(jnp.zeros(1, jnp.int32)) for player in players]
    for turn, player in enumerate(play):  # compiles
        jax.block_until_ready(player(opening, jnp.zeros(1, jnp.uint32), memory[turn]))
    took: tuple[list[float], list[float]] = ([], [])
    position, ply, over = opening, 0, False
    while not over:
        turn, bits = ply % 2, jnp.full(1, ply, jnp.uint32)
        began = time.perf_counter()
        outcome, memory[turn] = jax.block_until_ready(play[turn](position, bits, memory[turn]))
        took[turn].append(time.perf_counter() - began)
        position, over, ply = outcome.position, bool(outcome.over[0]), ply + 1
    return took
