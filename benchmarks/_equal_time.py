"""Evolution and AlphaZero at equal time: what do some minutes of one core teach a network of Connect Four?

`python benchmarks/_equal_time.py METHOD` trains by `low_rank`, `plain` (OpenES), `alphazero` with the settings of its
recipe, or AlphaZero by another of its searches. It trains for `--minutes` of processor time, compiling included, and at
20 points on the way the network plays in solved positions, without any search. All networks have two hidden layers of
256 units. AlphaZero's network names an action; the evolved ones say what the position after each action is worth. In
trials of some minutes, evolved networks that name an action were no better than random moves in such positions.

Candidates play two games, in turn against random moves and against one of 16 former champions. A strategy has as many
candidates as leave it time for some thousand generations. Both strategies have the same step size: in trials of three
minutes 0.03 won more against random moves, but within ten minutes that was lost again. `--tune` tries others, for two
minutes each on another seed; it compares points against random moves, not what the judge says. The results are in
`docs/studies/equal_time.json`, from which the page on populations has its table.
"""

import argparse
import itertools
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from _machine import machine
from _population_study import NetworkTurn, pairs_apart, solved_positions, won_by

import jaxgames
from jaxgames.algos import mcts
from jaxgames.algos.alphazero import make_learner
from jaxgames.algos.evolution import (
    Afterstate,
    ByPlay,
    Genomes,
    HallOfFame,
    LowRankES,
    Networks,
    OpenES,
    RandomMoves,
    generation,
)
from jaxgames.matches import solved as solved_files
from jaxgames.nets import MLP
from jaxgames.players import Player, by_policy
from jaxgames.recipes import RECIPES

FILE = Path(__file__).parents[1] / "docs" / "studies" / "equal_time.json"
GAME = jaxgames.make("connect_four")
HIDDEN, HALL, GAMES, SIGMA = (256, 256), 16, 2, 0.05
POLICY = Afterstate(GAME, Genomes(MLP((*HIDDEN, 1), "relu", "tanh"), GAME.encodings["cells"].size), "cells")
STRATEGIES: dict[str, Callable[[int, optax.GradientTransformation], Any]] = {
    "low_rank": lambda population, adam: LowRankES(population, POLICY.genomes, sigma=SIGMA, optimizer=adam),
    "plain": lambda population, adam: OpenES(population, POLICY.dimension, sigma=SIGMA, optimizer=adam),
}
POPULATIONS, RATES = (64, 256), (0.003, 0.01, 0.03)
CHOSEN = {"low_rank": (256, 0.01), "plain": (64, 0.01)}
"""Candidates, so many that there is time for some thousand generations, and the first step size, which falls to a tenth
of it by the end."""
TUNING_SEED, TUNING_MINUTES = 100, 2
POINTS, GENERATIONS, TIMED_UPDATES = 20, 16, 8
"""How often a network is judged, generations from one champion that is kept to the next, and updates that are timed."""
SEARCHES = {"gumbel": 32, "recursive": 32, "one_round": mcts.one_round().most_simulations(GAME)}
"""Of AlphaZero, and the simulations of each: as many as the recipe has, or the most that there can be."""
Network = tuple[Player, dict[str, Any], bool]
"""A player on the way, what was done for it, and whether it is the last one."""


def main() -> None:
    """One method, or its tuning."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("method", choices=(*STRATEGIES, "alphazero", *SEARCHES))
    parser.add_argument("--minutes", type=float, default=30, help="of processor time")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tune", action="store_true", help="tries populations and step sizes; saves nothing")
    options = parser.parse_args()
    if options.tune:
        for population, rate in itertools.product(POPULATIONS, RATES):
            *_, (player, done, _) = evolution(options.method, population, rate, 60 * TUNING_MINUTES, TUNING_SEED)
            won = float(won_by(POLICY, player.params[None])[0])
            print(json.dumps({"population": population, "step_size": rate, "won": round(won, 4)} | done), flush=True)
        return
    seconds = 60 * options.minutes
    if options.method in STRATEGIES:
        way = evolution(options.method, *CHOSEN[options.method], seconds, options.seed)
    else:
        way = alphazero(options.method, seconds, options.seed)
    points, due = list[dict[str, Any]](), 0.0
    for player, done, last in way:
        if done["seconds"] < due and not last:
            continue
        due = done["seconds"] + seconds / POINTS
        right, _ = solved_files.judge_moves(player, solved_positions())
        perfect, of_good = np.mean(right, axis=0).tolist()
        points.append(done | {"perfect": perfect, "good": of_good})
        good = "".join("01"[ok] for _, ok in right)
        if options.method in STRATEGIES:
            points[-1]["won"] = round(float(won_by(POLICY, player.params[None])[0]), 4)
        print(json.dumps(points[-1]), flush=True)
        # At every point: who is stopped keeps what was measured so far.
        save(options.method, {"seed": options.seed, "points": points, "good": good})


def save(method: str, result: dict[str, Any]) -> None:
    """Puts a training among those of its method, in place of the one of the same seed."""
    found = json.loads(FILE.read_text("utf-8")) if FILE.exists() else {}
    others = [one for one in found.get(method, []) if one["seed"] != result["seed"]]
    runs = sorted([*others, result | {"machine": machine()}], key=lambda one: one["seed"])
    FILE.write_text(json.dumps(found | {method: runs}, indent=1) + "\n", "utf-8")


def evolution(method: str, population: int, rate: float, seconds: float, seed: int) -> Iterator[Network]:
    """The champion after each few generations, until the processor's time is over."""
    strategy = STRATEGIES[method](population, optax.inject_hyperparams(optax.adam)(rate))
    first, key = jax.random.split(jax.random.key(seed))
    genomes = POLICY.genomes.init(first, jnp.arange(HALL, dtype=jnp.int32))
    state, hall = strategy.start(first, genomes[0]), HallOfFame.of(genomes)

    def step(carry: Any, key: jax.Array) -> tuple[Any, None]:
        """Two generations: against random moves, and against a former champion."""
        state, hall = carry
        keys = jax.random.split(key, 3)
        member = jax.random.randint(keys[2], (1,), 0, HALL, jnp.int32)
        for opponents, key in zip((RandomMoves(1), Networks(POLICY, hall.genomes[member])), keys[:2], strict=True):
            fitness = pairs_apart(ByPlay(POLICY, opponents, "points", common=False), GAMES)
            state, _ = generation(strategy, fitness, state, key)
        return (state, hall), None

    @jax.jit
    def some(state: Any, hall: HallOfFame, key: jax.Array) -> tuple[Any, HallOfFame]:
        (state, hall), _ = jax.lax.scan(step, (state, hall), jax.random.split(key, GENERATIONS // 2))
        return state, hall.with_champion(strategy.champion(state))

    began, number = time.process_time(), 0
    while (spent := time.process_time() - began) < seconds:
        state.optimizer.hyperparams["learning_rate"] = jnp.float32(rate * 0.1 ** (spent / seconds))
        state, hall = jax.block_until_ready(some(state, hall, jax.random.fold_in(key, number)))
        number += 1
        spent = time.process_time() - began
        player = Player(method, GAME, NetworkTurn(POLICY), strategy.champion(state))
        generations = number * GENERATIONS
        done = {"seconds": round(spent), "generations": generations, "games": GAMES * generations * population}
        yield player, done, spent >= seconds
        began = time.process_time() - spent  # without what the judge took


def alphazero(method: str, seconds: float, seed: int) -> Iterator[Network]:
    """The network after each update, by the settings of the recipe but for its layers, length, and the search named."""
    config = RECIPES["connect-four-alphazero"].settings["fast"].replace(form="mlp", hidden=HIDDEN)
    if method in SEARCHES:
        config = config.replace(search=method, reuse=False, simulations=SEARCHES[method])
    before, each = _times(config)  # tried first, since the step size falls over all updates
    learner = make_learner(GAME, config.replace(updates=round((seconds - before) / each)))
    key, began, games = jax.random.key(seed), time.process_time(), 0
    state, update = jax.jit(learner.init)(jax.random.fold_in(key, 2**31)), jax.jit(learner.update, donate_argnums=0)
    for number in range(learner.config.updates):
        state, metrics = update(state, jax.random.fold_in(key, number))
        games += int(metrics["games"])
        spent = time.process_time() - began
        player = by_policy("alphazero", GAME, learner.network.apply, state.mean_params, learner.config.discount)
        last = number + 1 == learner.config.updates
        yield player, {"seconds": round(spent), "updates": number + 1, "games": games}, last
        began = time.process_time() - spent  # without what the judge took


def _times(config: Any) -> tuple[float, float]:
    """Seconds to the end of the first update, with compiling, and of another one."""
    learner, key, times = make_learner(GAME, config), jax.random.key(TUNING_SEED), [time.process_time()]
    state, update = jax.jit(learner.init)(key), jax.jit(learner.update, donate_argnums=0)
    for _ in range(1 + TIMED_UPDATES):
        state, _ = jax.block_until_ready(update(state, key))
        times.append(time.process_time())
    return times[1] - times[0], (times[-1] - times[1]) / TIMED_UPDATES


if __name__ == "__main__":
    main()
