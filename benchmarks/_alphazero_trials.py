"""Short AlphaZero trainings in Connect Four with one setting changed after the other, measured on solved positions.

`python benchmarks/_alphazero_trials.py [NAME ...]` trains those of `TRIALS`, all by default, and writes what came out
into `docs/algorithms/alphazero.json`, from which the page's table and picture are made. `--training RUN` adds a whole
training by the recipe, with what `jaxgames train --json` printed, under its number of games or a `--name`;
`--beside NAME RESULT [MATCH ...]` adds a training of another game, with what it and `jaxgames match --json` printed.
Trials are compared at about equal numbers of moves, and say what they cost in seconds of processor time, as the machine
may be shared.
"""

import argparse
import dataclasses
import json
import math
import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from _machine import machine

import jaxgames
from jaxgames.algos import mcts
from jaxgames.algos.alphazero import AlphaZeroConfig, make_learner
from jaxgames.algos.imitation import ImitationConfig, prepare
from jaxgames.algos.imitation import make_learner as make_imitation
from jaxgames.data_sets import played_games, solved_tests
from jaxgames.envs import Game
from jaxgames.matches import solved as solved_files
from jaxgames.players import by_policy
from jaxgames.players import make as make_player
from jaxgames.recipes import solved
from jaxgames.recipes.training import run_updates
from jaxgames.runs import Panel, Run
from jaxgames.runs.figures import draw

FILE = Path(__file__).parents[1] / "docs" / "algorithms" / "alphazero.json"
PICTURE = FILE.parents[1] / "images" / "alphazero-trials.png"
MOVES, MEASUREMENTS = 712_704, 12
FIRST = {"batch": 256, "plies": 8, "steps": 8, "minibatch": 512, "buffer_plies": 256, "simulations": 32}
OPENINGS = FIRST | {"opening_plies": 8}
DISCOUNT = OPENINGS | {"discount": 0.98}
MIXED = DISCOUNT | {"opening_plies": 12, "result_share": 0.5}
WINDOWS = MIXED | {"form": "windows", "channels": 64, "hidden": (128, 128)}
STEPS: dict[str, dict[str, Any]] = {
    "openings of 0 to 2 random plies": FIRST,
    "openings of 0 to 8": OPENINGS,
    "and discount 0.98": DISCOUNT,
    "openings of 0 to 12, and values half from the search": MIXED,
    "and features of all windows of 4 x 4": WINDOWS,
}
"""What was added, one after the other; the picture shows these."""
SCORED = (
    ("move_scores_500.jsonl", "RUN"),
    ("move_scores_500.jsonl", "puct:RUN:800"),
    ("move_scores_500.jsonl", "gumbel:RUN:800,scale=0"),
    ("Test_L3_R1", "puct:RUN:600"),
    ("Test_L2_R1", "puct:RUN:600"),
)
"""Published positions, and who moves in them after a whole training."""
COUNTED = ("positions", "perfect", "good")
TRIALS = STEPS | {
    "all steps, but: values from results only": WINDOWS | {"result_share": 1.0},
    "all steps, but: the search's own choice is played": WINDOWS | {"played": "choice"},
    "all steps, but: targets are visits (PUCT)": WINDOWS | {"search": "puct"},
    "all steps, but: PUCT, and trees used again": WINDOWS | {"search": "puct", "reuse": True},
    "all steps, but: 16 simulations": WINDOWS | {"simulations": 16},
    "all steps, but: 64 simulations": WINDOWS | {"simulations": 64},
    "all steps, but: 3 of 4 plies with 8 simulations": WINDOWS | {"fast_share": 0.75},
    "all steps, but: a quarter of the buffer": WINDOWS | {"buffer_plies": 64},
    "all steps, but: a constant step size": WINDOWS | {"last_step_size": 0.002},
    "all steps, but: no mirror images": WINDOWS | {"symmetries": False},
    "all steps, but: no mean weights": WINDOWS | {"ema": 0.0},
    "the fourth step, begun with imitation": MIXED,
}
IMITATIONS = ("the fourth step, begun with imitation",)
"""Trials that begin with a network that has learned moves and results of games of search without learning."""
EXAMPLES, GAMES, EPOCHS = "uct:200", 2_048, 8


def main() -> None:
    """Trains and writes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="of TRIALS (default: all)")
    parser.add_argument("--training", help="the folder of a training of connect-four-alphazero")
    parser.add_argument("--result", type=Path, help="what it printed with --json")
    parser.add_argument("--name", help="of the training (default: its number of games)")
    parser.add_argument("--beside", nargs="+", metavar="NAME RESULT MATCH", help="a training of another game")
    options = parser.parse_args()
    found = json.loads(FILE.read_text("utf-8")) if FILE.exists() else {"trials": {}}
    found["machine"] = machine()
    if options.training:
        run = Run.open(options.training)
        name = options.name or f"{run.config['goal']['games']:,} games"
        found.setdefault("trainings", {})[name] = training(run, options.result)
    if options.beside:
        name, *files = options.beside
        found.setdefault("beside", {})[name] = beside(*map(Path, files))
    for name in options.names or ([] if options.training or options.beside else TRIALS):
        found["trials"][name] = trial(TRIALS[name], imitated if name in IMITATIONS else None)
        print(name, json.dumps({key: value for key, value in found["trials"][name].items() if key != "curve"}))
    FILE.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    picture({name: found["trials"][name] for name in STEPS if name in found["trials"]})


def picture(trials: dict[str, Any]) -> None:
    """Draws the shares of good moves by the policy alone over the games of all trials."""
    points = [
        {"games": point["games"]} | {f"{kind} {name}": point[f"reporting_{kind}"] for kind in ("good", "perfect")}
        for name, trial in trials.items()
        for point in trial["curve"]
    ]
    points.sort(key=lambda point: point["games"])
    panels = [
        Panel(f"% of {kind} moves, policy alone", {f"{kind} {name}": name for name in trials}, height=2.0)
        for kind in ("good", "perfect")
    ]
    draw(points, PICTURE, panels=panels, title="AlphaZero in Connect Four: short trials")


def imitated(game: Game) -> tuple[Any, str, list[float]]:
    """Weights learned from games of `EXAMPLES`, what was done for them, and CPU seconds of games and of learning."""
    times, player = [cpu_seconds()], make_player(EXAMPLES, game)
    games = played_games(player, player, GAMES)
    tests = solved_tests(game, [solved_files.MOVE_SCORES])  # and none of them is learned
    shards = map(games.rows, range(games.shards))
    rows, _ = prepare(game, jax.tree.map(lambda *parts: np.concatenate(parts), *shards), tests)
    rows = jax.tree.map(lambda x: x[np.random.default_rng(0).permutation(len(rows.game))], rows)
    times.append(cpu_seconds())
    steps = EPOCHS * len(rows.game) // 512
    learner = make_imitation(game, ImitationConfig(minibatch=512, steps=steps))
    state = jax.jit(learner.init)(jax.random.key(0), rows)
    keys = jax.random.split(jax.random.key(1), steps)
    state, _ = jax.block_until_ready(jax.jit(lambda state: jax.lax.scan(learner.update, state, keys))(state))
    times.append(cpu_seconds())
    note = f"{len(rows.game):,} positions of {GAMES:,} games of `{EXAMPLES}`, {EPOCHS} epochs"
    return state.params, note, np.diff(times).round(1).tolist()


def trial(
    settings: dict[str, Any], first: Callable[[Game], tuple[Any, str, list[float]]] | None = None
) -> dict[str, Any]:
    """A training of about `MOVES` moves from seed 0; its curve, and searches with its network at the end.

    `first` gives weights to begin with, what was done for them, and its CPU seconds.
    """
    game = jaxgames.make("connect_four")
    config = AlphaZeroConfig().replace(**settings)
    block = max(1, round(MOVES / (config.batch * config.plies) / MEASUREMENTS))
    learner = make_learner(game, dataclasses.replace(config, updates=MEASUREMENTS * block))
    positions, key, games, curve = solved.positions_of(game), jax.random.key(0), 0, []
    state, before = jax.jit(learner.init)(jax.random.fold_in(key, 2**31)), {}
    if first is not None:
        params, note, seconds = first(game)
        state = state._replace(params=params, mean_params=jax.tree.map(jnp.copy, params))
        before = {
            "note": f"{note}: {' and '.join(f'{part:.0f} s' for part in seconds)} more",
            "seconds_before": seconds,
        }
        player = by_policy("imitating", game, learner.network.apply, params, config.discount)
        before["solved_before"] = solved.measure(player, positions)
    began = 0.0
    for number in range(MEASUREMENTS):
        state, metrics = jax.block_until_ready(run_updates(learner, state, key, block))
        games += int(np.sum(metrics.pop("games")))
        metrics.pop("plies_of_games")
        player = by_policy("trained", game, learner.network.apply, state.mean_params, config.discount)
        shares = solved.measure(player, positions)
        means = {name: float(np.mean(values)) for name, values in metrics.items()}
        curve.append({"games": games, "cpu_seconds": cpu_seconds() - began, **shares, **means})
        if not number:  # without compilation, and with the first block as long as the second
            began = curve[0]["cpu_seconds"]
    lasted = curve[-1]["cpu_seconds"] * MEASUREMENTS / (MEASUREMENTS - 1)
    network = mcts.network(learner.network.apply, state.mean_params)
    return {
        "settings": settings,
        **before,
        "games": games,
        "moves": int(state.updates) * config.batch * config.plies,
        "cpu_seconds": round(lasted, 1),
        "curve": curve[1:],
        "solved": solved.final(player, network, config.discount, positions),
    }


def cpu_seconds() -> float:
    """Of all threads of this process so far."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def training(run: Run, printed: Path) -> dict[str, Any]:
    """What a training by the recipe measured, and its moves in all solved positions."""
    result = json.loads(printed.read_text("utf-8").replace(str(run.path), "RUN"))
    kept = {key: result[key] for key in ("recipe", "setting", "games", "seconds", "matches", "solved")}
    game, own = jaxgames.make("connect_four"), solved_files.MOVE_SCORES
    pons = []
    for file, spec in SCORED:
        path = own if file == own.name else Path("tests/data/connect_four") / file
        player, positions = make_player(spec.replace("RUN", str(run.path)), game), solved_files.read(path)
        found = solved_files.score(player, positions, file)
        pons.append({"file": file, "player": spec} | {name: getattr(found, name) for name in COUNTED})
    curve = [line for line in run.metrics() if "reporting_good" in line]
    config = run.config | {"from": Path(run.config["from"]).name if run.config["from"] else None}
    return {**kept, "pons": pons, "config": config, "curve": curve}


def beside(printed: Path, *matches: Path) -> dict[str, Any]:
    """What a training of another game printed, and matches of what it trained; those of the same players are one."""
    result = json.loads(printed.read_text("utf-8"))
    others = [json.loads(path.read_text("utf-8").replace(result["run"], "RUN")) for path in matches]
    kept = {key: result[key] for key in ("recipe", "setting", "game", "games", "seconds")}
    same: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for match in [{**match, "a": "RUN"} for match in result["matches"]] + others:
        same.setdefault((match["a"], match["b"]), []).append(match)
    return {**kept, "matches": [{"a": a, "b": b, **as_one(parts)} for (a, b), parts in same.items()]}


def as_one(matches: list[dict[str, Any]]) -> dict[str, Any]:
    """Games and points of independent matches, with their 95 % interval."""
    games = sum(match["games"] for match in matches)
    ppg = sum(match["games"] * match["ppg"] for match in matches) / games
    wide = math.hypot(*(match["games"] * (match["ppg_high"] - match["ppg"]) for match in matches)) / games
    return {"games": games, "ppg": ppg, "ppg_low": ppg - wide, "ppg_high": ppg + wide}


if __name__ == "__main__":
    main()
