"""What networks learn from examples: the studies of two published texts, on data made here. Writes one JSON file.

    jaxgames data make --game checkers --players alphabeta:5 --games 8192 --games-per-shard 512 --seed 1 --out C
    jaxgames data merge C --out CM
    jaxgames data make --game connect_four --players uct:500,c=0.4,final=mean --games 16000 --seed 1 --out F
    jaxgames data merge F --out FM --split position --without tests/data/connect_four/move_scores_500.jsonl
    python benchmarks/imitation.py --checkers CM --connect-four FM --study FOLDER --out docs/algorithms/imitation.json

Everything measured is kept in the study's folder, so a run that was stopped goes on.
"""

import argparse
import functools
import json
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np

from jaxgames.algos import mcts
from jaxgames.algos.imitation.data import load, open_of
from jaxgames.algos.imitation.saved import load_network
from jaxgames.arena import match
from jaxgames.arena.connect_four import accuracy, solved
from jaxgames.arena.data_sets.make import info
from jaxgames.envs.registry import make
from jaxgames.players import make as make_player
from jaxgames.players.mcts import MCTSTurn
from jaxgames.players.player import Player
from jaxgames.recipes.imitation.named import CHECKERS as CHECKERS_IMITATION
from jaxgames.recipes.imitation.named import CONNECT_FOUR as CONNECT_FOUR_NETWORKS
from jaxgames.recipes.plan import Plan
from jaxgames.recipes.report import Report
from jaxgames.recipes.reproduce.study import Study
from jaxgames.runs import Run, environment

ROOT = Path(__file__).parent.parent
SOLVED = ROOT / "tests" / "data" / "connect_four" / "move_scores_500.jsonl"
CHECKERS, FOUR = make("checkers"), make("connect_four")

_RULE, _MODERN = {"blocks_per_epoch": "1", "patience": "4"}, {"blocks_per_epoch": "1", "patience": "3"}
LEARNERS: Sequence[tuple[str, int, Mapping[str, str]]] = (
    ("adamczyk-2018", 1_000, {"epochs": "100", "blocks_per_epoch": "1", "patience": "6"}),
    ("adamczyk-2018", 10_000, {"epochs": "20", **_RULE}),
    ("modern", 100_000, {"epochs": "10", **_MODERN}),
    ("modern", 10_000, {"epochs": "20", **_MODERN}),
    ("adamczyk-2018", 100_000, {"epochs": "4", **_RULE}),
    ("modern", 0, {"epochs": "5", **_MODERN}),
    ("modern", 1_000, {"epochs": "60", **_MODERN}),
    ("adamczyk-2018", 0, {"epochs": "1", "blocks_per_epoch": "4", "patience": "4"}),
    ("modern-small", 10_000, {"epochs": "20", **_MODERN}),
    ("modern-small", 100_000, {"epochs": "10", **_MODERN}),
    ("modern-small", 0, {"epochs": "5", **_MODERN}),
    ("adamczyk-2018-deep", 100_000, {"epochs": "2", **_RULE}),
)
"""Settings of `checkers-imitation`, positions to learn from (0 for all), and changes."""

FORMS: Mapping[str, Mapping[str, str]] = {
    "dense": {"64": "64", "256,128,64": "256,128,64"},
    "conv": {"16,16 + 32": "16,16;32"},
}
"""The small sweep in place of the text's automatic search: hidden layers; convolutions and hidden layers."""
SWEPT = {"dense": {"epochs": "20", "patience": "20"}, "conv": {"epochs": "2", "patience": "3"}}
FINAL = {"dense": {"epochs": "40", "patience": "8"}, "conv": {"epochs": "5", "patience": "3"}}
NAMES = {"dense-unit": "DenseNetNorm", "conv-unit": "ConvNetNorm", "dense": "DenseNet", "conv": "ConvNet"}
REPLIES = mcts.last_good_reply(forget=False, path=False)
AGENTS: Mapping[str, tuple[str, mcts.Rule, mcts.Evaluator, int]] = {
    "DenseNet": ("dense-unit", mcts.uct(0.4), mcts.rollout(), 909),
    "ConvNet": ("conv-unit", mcts.uct(0.4), mcts.rollout(), 386),
    "LGR-DenseNet": ("dense-unit", mcts.uct(0.5), REPLIES, 833),
    "LGR-ConvNet": ("conv-unit", mcts.uct(0.5), REPLIES, 377),
    "RAVE-LGR-DenseNet": ("dense-unit", mcts.rave(50, 0.1), REPLIES, 772),
    "RAVE-LGR-ConvNet": ("conv-unit", mcts.rave(50, 0.1), REPLIES, 364),
}
"""The agents of tables 11 to 13: network, rule, what it is mixed with, and the author's iterations per second."""
UCT_SPEED = 7000
SCALES = (1000, 4000)


def checkers(study: Study, data: str, games: int, keep: Callable[[str, Any], None]) -> None:
    """Networks that learn moves of alpha-beta, by the amount of data."""
    keep("data", {**info(data), "data": Path(data).name})
    rows: list[dict[str, Any]] = []
    for setting, amount, changes in LEARNERS:
        name = f"{setting} {amount or 'all'}"
        changed = {**changes, "positions": str(amount)}
        result = trained(study, name, setting, data, changed, games)
        run = Run.open(study.folder / "runs" / name)
        weights = sum(leaf.size for leaf in jax.tree.leaves(load_network(run, CHECKERS)[0]))
        rows.append(
            {
                "setting": setting, "positions": run.config["data"]["training"], "weights": int(weights),
                "seconds": result["seconds"], "best": result["best"],
                "matches": [{**match, "a": setting} for match in result["matches"]],
                "curve": [
                    {key: line[key] for key in ("positions", "policy_loss", "validation_policy_loss",
                                                "predicted", "validation_predicted")}
                    for line in run.metrics()
                ],
            }
        )  # fmt: skip
        keep("rows", rows)


def form(kind: str, text: str) -> dict[str, str]:
    """A form as changes of a setting."""
    if kind == "dense":
        return {"hidden": text}
    convolutions, hidden = text.split(";")
    return {"convolutions": convolutions, "hidden": hidden}


def connect_four(study: Study, data: str, games: int, keep: Callable[[str, Any], None]) -> None:
    """Networks that learn results of games, alone and in searches."""
    keep("data", {**info(data), "data": Path(data).name})
    keep("guess", study.cell("guess", {}, functools.partial(guess, data)))
    sweep: list[dict[str, Any]] = []
    chosen = {}
    for kind, forms in FORMS.items():
        for label, text in forms.items():
            name = f"sweep {kind} {label}"
            best = trained(
                study, name, f"{kind}-unit", data, {**SWEPT[kind], "positions": "50000", **form(kind, text)}
            )["best"]
            sweep.append({"kind": kind, "form": label, "squared": best["validation_value_squared"]})
        best = min((row for row in sweep if row["kind"] == kind), key=lambda row: row["squared"])
        chosen[kind] = best["form"]
    keep("sweep", sweep)
    networks = []
    for setting, label in NAMES.items():
        kind = setting.removesuffix("-unit")
        changes = {**FINAL[kind], **form(kind, FORMS[kind][chosen[kind]])}
        result = trained(study, setting, setting, data, changes)
        params, _ = load_network(Run.open(study.folder / "runs" / setting), FOUR)
        networks.append(
            {
                "network": label, "setting": setting, "form": chosen[kind], "seconds": result["seconds"],
                "weights": sum(int(leaf.size) for leaf in jax.tree.leaves(params)),
                "squared": result["best"]["validation_value_squared"],
                "absolute": result["best"]["validation_value_absolute"],
                "positions": result["data"]["training"], "epoch": result["best"]["epoch"],
                "matches": [{**match, "a": label} for match in result["matches"]], "curve": curve(study, setting),
                "accuracy": study.cell(f"accuracy {setting}", {}, functools.partial(accurate, study, setting)),
            }
        )  # fmt: skip
    keep("networks", networks)
    keep("table 2", table_2(study, games))
    keep("table 11", table_11(study))
    keep("equal time here", equal_time(study, games))
    keep("table 12", table_12(study, games))
    keep("naive", naive(study, data, chosen))


def naive(study: Study, data: str, chosen: Mapping[str, str]) -> list[dict[str, Any]]:
    """Errors with 20,000 positions, by the coding of the board."""
    rows = []
    for setting, kind, epochs in (("naive", "dense", "30"), ("dense", "dense", "30"), ("conv", "conv", "8")):
        changes = {"epochs": epochs, "patience": "10", "positions": "20000", **form(kind, FORMS[kind][chosen[kind]])}
        best = trained(study, f"20000 {setting}", setting, data, changes)["best"]
        rows.append(
            {
                "setting": setting, "squared": best["validation_value_squared"],
                "absolute": best["validation_value_absolute"],
            }
        )  # fmt: skip
    return rows


def trained(
    study: Study, name: str, setting: str, data: str, changes: Mapping[str, str], games: int = 100
) -> Mapping[str, Any]:
    """The results of a training, begun, resumed or found finished."""
    folder, quiet = study.folder / "runs" / name, Report(quiet=True)
    recipe = next(one for one in (CHECKERS_IMITATION, CONNECT_FOUR_NETWORKS) if setting in one.settings)

    def run_to_end() -> Mapping[str, Any]:
        if (folder / "config.json").exists():
            return recipe.resume(Run.open(folder), quiet).run_to_end()
        plan = Plan(setting=setting, changes=changes, seed=study.seed, data=data, final_games=games)
        return recipe.begin(plan, str(folder), quiet).run_to_end()

    return study.cell(f"training {name}", {"setting": setting, "changes": dict(changes), "games": games}, run_to_end)


def curve(study: Study, name: str) -> list[dict[str, float]]:
    """Errors by epoch."""
    keys = ("epoch", "value_squared", "validation_value_squared", "value_absolute", "validation_value_absolute")
    return [{key: line[key] for key in keys} for line in Run.open(study.folder / "runs" / name).metrics()]


def guess(data: str) -> dict[str, float]:
    """The errors of the best constant on the positions of validation, values -1 to 1."""
    rows = load(open_of(data, FOUR, {}), FOUR)
    held, value = rows.validation, rows.value
    mean = float(value[~held].mean())
    errors = value[held] - mean
    return {"squared": float(np.square(errors).mean()), "absolute": float(np.abs(errors).mean())}


def accurate(study: Study, name: str) -> dict[str, float]:
    """Perfect and good moves of a network by one-ply look-ahead on the solved positions."""
    player = make_player(str(study.folder / "runs" / name), FOUR)
    found = accuracy.score(player, solved.read(SOLVED))
    return {"perfect": found.perfect, "good": found.good}


def agent(study: Study, setting: str, rule: mcts.Rule, evaluate: Any, weight: float, iterations: int) -> Player:
    """A search whose leaves are worth a mix of a network's value, the mean of both images, and of a rollout."""
    params, network = load_network(Run.open(study.folder / "runs" / setting), FOUR)
    mixed = mcts.mixture(weight, mcts.valued(network.for_play.make_mean_value, params), evaluate)
    return Player(f"{setting} {iterations}", FOUR, MCTSTurn(FOUR, rule, iterations, 1, "mean"), mixed)


def uct(iterations: int) -> Player:
    """The opponent: UCT with Cp 0.8."""
    return Player("uct", FOUR, MCTSTurn(FOUR, mcts.uct(0.4), iterations, 1, "mean"), mcts.rollout())


def played(one: Player, other: Player, games: int, seed: int) -> dict[str, Any]:
    """Percent of the points of a match, with its interval."""
    found = match(one, other, games, seed=seed)
    rates = {name: 100 * getattr(found, name) for name in ("score", "score_low", "score_high")}
    return rates | {"games": found.games, "seconds": found.seconds}


def table_2(study: Study, games: int) -> list[dict[str, Any]]:
    """100 iterations with each network against 400 without."""
    rows = []
    for setting, label in NAMES.items():
        for weight in (0.5, 0.85):
            own = functools.partial(agent, study, setting, mcts.uct(0.4), mcts.rollout(), weight, 100)
            cell = f"table 2: {label}, {weight}"
            found = study.cell(cell, {"games": games}, lambda own=own: played(own(), uct(400), games, study.seed))
            rows.append({"network": label, "weight": weight, **found})
    return rows


def table_11(study: Study) -> list[dict[str, Any]]:
    """Iterations per second of one position at a time, and of 256."""
    rows = []
    cases: dict[str, Any] = {"UCT": lambda count: uct(count)}
    for label, (setting, rule, evaluate, _) in AGENTS.items():
        cases[label] = functools.partial(agent, study, setting, rule, evaluate, 0.5)
    for label, make_agent in cases.items():
        found = study.cell(f"speed: {label}", {}, functools.partial(speeds, make_agent))
        rows.append({"agent": label, **found})
    return rows


def speeds(make_agent: Any) -> dict[str, float]:
    """Iterations per second from the empty board, by the number of positions searched at once."""
    rates = {}
    for batch, count in ((1, 1000), (256, 100)):
        player = make_agent(count)
        states = jax.vmap(FOUR.init)(jax.random.split(jax.random.key(0), batch))
        play = jax.jit(player.play_once)
        seconds = []
        for number in range(4):
            bits = jax.random.bits(jax.random.key(number), (batch,))
            began = time.perf_counter()
            jax.block_until_ready(play(states._position, bits))
            seconds.append(time.perf_counter() - began)
        rates[str(batch)] = batch * count / min(seconds[1:])
    return rates


def table_12(study: Study, games: int) -> list[dict[str, Any]]:
    """Searches with networks in the time that the author's UCT took for so many iterations, by his speeds."""
    rows = []
    for label, (setting, rule, evaluate, speed) in AGENTS.items():
        for scale in SCALES:
            count = round(scale * speed / UCT_SPEED)
            own = functools.partial(agent, study, setting, rule, evaluate, 0.5, count)
            found = study.cell(
                f"table 12: {label}, {scale}", {"games": games},
                lambda own=own, scale=scale: played(own(), uct(scale), games, study.seed),
            )  # fmt: skip
            rows.append({"agent": label, "scale": scale, "iterations": count, **found})
    return rows


def equal_time(study: Study, games: int) -> list[dict[str, Any]]:
    """The same at equal iterations, and at equal time on this machine by the speeds of 256 positions at once."""
    speed = {row["agent"]: row["256"] for row in table_11(study)}
    rows = []
    for label in ("DenseNet", "ConvNet"):
        setting, rule, evaluate, _ = AGENTS[label]
        for kind, own, other in (
            ("equal iterations", 100, 100),
            ("equal time", 100, max(100, round(100 * speed["UCT"] / speed[label]))),
        ):
            one = functools.partial(agent, study, setting, rule, evaluate, 0.5, own)
            found = study.cell(
                f"{kind}: {label}", {"games": games, "other": other},
                lambda one=one, other=other: played(one(), uct(other), games, study.seed),
            )  # fmt: skip
            rows.append({"agent": label, "kind": kind, "own": own, "other": other, **found})
    return rows


def main() -> None:
    """Measures what is asked for and writes it beside what the file holds already."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkers", metavar="FOLDER", help="a merged data set of checkers")
    parser.add_argument("--connect-four", metavar="FOLDER", help="a merged data set of Connect Four")
    parser.add_argument("--study", required=True, metavar="FOLDER", help="keeps what was measured")
    parser.add_argument("--games", type=int, default=400, help="of each match (400)")
    parser.add_argument("--out", required=True, metavar="FILE", help="the JSON")
    options = parser.parse_args()
    begin = Study.open if (Path(options.study) / "study.json").exists() else Study.create
    study = begin(options.study, "imitation", False, 1, Report())
    path = Path(options.out)
    result = json.loads(path.read_text("utf-8")) if path.exists() else {}

    def keep(part: str, name: str, value: Any) -> None:
        result.setdefault(part, {})[name] = value
        result["environment"] = environment()
        path.write_text(json.dumps(result, indent=1) + "\n", "utf-8")

    if options.checkers:
        checkers(study, options.checkers, options.games, functools.partial(keep, "checkers"))
    if options.connect_four:
        connect_four(study, options.connect_four, options.games, functools.partial(keep, "connect_four"))


if __name__ == "__main__":
    main()
