"""Is the training by AlphaZero reliable? The same training from several seeds, judged from outside.

`python benchmarks/_alphazero_reliability.py GAME SEED FOLDER` trains by the game's recipe (`jaxgames train
GAME-alphazero`) for a fixed number of updates, and writes what was measured into
`docs/algorithms/alphazero-reliability.json`, from which the page's table and picture are made. A training that was
stopped goes on in its FOLDER. Its length is counted in updates, as a machine may be shared; the processor time of all
threads is written down.

Nothing of ours judges: in Connect Four solved positions of others and the solver BitBully (`pip install bitbully`),
in tic-tac-toe all lines of play that there are, in checkers OpenSpiel's search, in backgammon GNU Backgammon.
"""

import argparse
import json
import random
import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np
from _machine import machine

import jaxgames
from jaxgames.algos import mcts
from jaxgames.algos.alphazero import make_learner
from jaxgames.matches import every_line, match
from jaxgames.matches import solved as solved_files
from jaxgames.players import Player, by_policy, by_search
from jaxgames.players import make as make_player
from jaxgames.recipes import RECIPES
from jaxgames.runs import Run

FILE = Path(__file__).parents[1] / "docs" / "algorithms" / "alphazero-reliability.json"
POINTS = {"tic_tac_toe": 50, "connect_four": 50, "checkers": 10, "backgammon": 10}
"""How often a training is measured: seldom where the judge takes a minute."""
KEPT = 0.4
"""The share of the points, the last ones, by which it is judged whether strength is kept."""
UPDATES = {"tic_tac_toe": 500, "connect_four": 2_250, "checkers": 2_400, "backgammon": 1_500}
OPTIONS: dict[str, dict[str, Any]] = {"checkers": {"draw_after": 40}}
"""Of the game: OpenSpiel's checkers player knows only its own rule of draws."""
SIMULATIONS = 64
CONVERTED = 100
"""Games against the solver from the start, which the player who begins can win."""


def main() -> None:
    """Trains and measures one seed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("game", choices=UPDATES)
    parser.add_argument("seed", type=int)
    parser.add_argument("folder", type=Path, help="of the training, kept until it is done")
    options = parser.parse_args()
    points = train(options.game, options.seed, options.folder)
    found = json.loads(FILE.read_text("utf-8")) if FILE.exists() else {"machines": {}, "games": {}}
    found["machines"][options.game] = machine()
    found["games"].setdefault(options.game, {})[str(options.seed)] = points
    FILE.write_text(json.dumps(found, indent=1) + "\n", "utf-8")


def train(name: str, seed: int, folder: Path) -> list[dict[str, Any]]:
    """The points of one training."""
    rules = OPTIONS.get(name, {})
    game = jaxgames.make(name, **rules)
    recipe = RECIPES[f"{name.replace('_', '-')}-alphazero"]
    updates, points = UPDATES[name], POINTS[name]
    config = recipe.settings["fast"].replace(updates=updates)
    learner, key = make_learner(game, config), jax.random.key(seed)
    asked = {"game": name, "options": rules, "seed": seed, "points": points, "learner": config.to_json()}
    run = Run.open(folder) if folder.exists() else Run.create(folder, asked)
    if run.config != asked:
        raise SystemExit(f"{folder} holds another training; expected one of {asked}")
    state = jax.jit(learner.init)(jax.random.fold_in(key, 2**31))
    step, state = run.restore(state) if run.steps() else (0, state)
    run.drop_metrics_after(step)
    judge, update = JUDGES[name], jax.jit(learner.update, donate_argnums=0)
    while (number := int(state.updates)) < updates:
        began = cpu_seconds()
        games = 0
        for place in range(number, number + updates // points):
            state, metrics = update(state, jax.random.fold_in(key, place))
            games += int(metrics["games"])
        seconds = cpu_seconds() - began
        point = number // (updates // points)
        apply, params = learner.network.apply, state.mean_params
        players = {"policy": by_policy("policy", game, apply, params, config.discount)}
        for kind, rule in (("puct", mcts.puct()), ("gumbel", mcts.gumbel(scale=0.0))):
            players[kind] = by_search(kind, game, rule, mcts.network(apply, params), SIMULATIONS, config.discount)
        line = {
            "step": int(state.updates),
            "games": games + (run.metrics()[-1]["games"] if run.metrics() else 0),
            "cpu_seconds": round(seconds, 1),
            "policy_loss": float(metrics["policy_loss"]),
            "value_loss": float(metrics["value_loss"]),
            **judge(players, point >= (1 - KEPT) * points),
        }
        print(json.dumps(line), flush=True)
        run.log(line)
        run.save(line["step"], state)
    return run.metrics()


def judge_connect_four(players: dict[str, Player], late: bool) -> dict[str, float]:
    """Percent of perfect and good moves in the solved positions; late in a training also of wins that are converted."""
    positions, found = solved_files.read(solved_files.MOVE_SCORES), {}
    for name, player in players.items():
        accuracy = solved_files.score(player, positions)
        found |= {f"{name}_perfect": 100 * accuracy.perfect, f"{name}_good": 100 * accuracy.good}
        if late:
            found[f"{name}_converted"] = 100 * converted(player)
    return found


def converted(player: Player, seed: int = 0) -> float:
    """The share of games won by a player who begins against BitBully, which holds out as long as it can.

    Among equally good moves the solver picks one at random.
    """
    game, draw = player.game, random.Random(seed)
    states = jax.vmap(game.init)(jax.random.split(jax.random.key(0), CONVERTED))
    step, memory = jax.jit(jax.vmap(game.step)), player.init_memory(CONVERTED)
    act = jax.jit(player.act)
    lines: list[list[int]] = [[] for _ in range(CONVERTED)]
    begins = np.asarray(states.current_player)
    won = np.zeros(CONVERTED, bool)
    for ply in range(game.rows * game.cols):
        over = np.asarray(states.terminated)
        if over.all():
            break
        if ply % 2 == 0:
            actions, memory = act(states, jax.random.key(ply), memory)
            columns = np.asarray(actions).tolist()
        else:
            pairs = zip(lines, over, strict=True)
            columns = [0 if done else draw.choice(best_moves(tuple(line))) for line, done in pairs]
        for line, column in zip(lines, columns, strict=True):
            line.append(column)
        states = step(states, np.array(columns, np.int32))
        rewards = np.asarray(states.rewards)
        won |= ~over & (rewards[np.arange(CONVERTED), begins] > 0)
    return float(won.mean())


BEST: dict[tuple[int, ...], list[int]] = {}
_solver: list[Any] = []


def best_moves(line: tuple[int, ...]) -> list[int]:
    """The columns with the highest exact score after a line of moves, by BitBully."""
    if line not in BEST:
        import bitbully

        if not _solver:
            _solver.append(bitbully.BitBully(opening_book="12-ply-dist"))
        board = bitbully.Board()
        for column in line:
            board.play(column)
        scores = _solver[0].score_all_moves(board)
        BEST[line] = [column for column, score in scores.items() if score == max(scores.values())]
    return BEST[line]


def judge_by_lines(players: dict[str, Player], late: bool) -> dict[str, float]:
    """How many of all lines of play are lost, by the policy alone."""
    lines = every_line(players["policy"])
    return {"policy_lines": lines.first.lines + lines.second.lines, "policy_lost": lines.lost}


def judge_by_matches(*opponents: str, games: int) -> Callable[[dict[str, Player], bool], dict[str, float]]:
    """Points a game against programs of others, late by the search, too."""

    def judge(players: dict[str, Player], late: bool) -> dict[str, float]:
        found: dict[str, float] = {}
        for opponent in opponents:
            for name in ("policy", "gumbel") if late else ("policy",):
                result = match(players[name], make_player(opponent, players[name].game), games)
                found |= {f"{name} {opponent}": result.ppg, f"{name} {opponent} low": result.ppg_low}
                found[f"{name} {opponent} high"] = result.ppg_high
        return found

    return judge


JUDGES: dict[str, Callable[[dict[str, Player], bool], dict[str, float]]] = {
    "tic_tac_toe": judge_by_lines,
    "connect_four": judge_connect_four,
    "checkers": judge_by_matches("openspiel:mcts:100", games=100),
    "backgammon": judge_by_matches("gnubg:0", games=200),
}


def cpu_seconds() -> float:
    """Of all threads of this process so far."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
