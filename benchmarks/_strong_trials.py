"""Short trials of how to go on from backgammon's champion, measured on the 2,279 decisions.

`python benchmarks/_strong_trials.py [NAME ...]` makes those of `TRIALS`, all by default (three minutes of one core
each), and writes what came out into `docs/algorithms/strong-backgammon.json`, from which the page's table is made.
"""

import argparse
import dataclasses
import json
import time
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from move_choice import losses, of_player, read
from strong_backgammon import DECISIONS

import jaxgames
from jaxgames import players
from jaxgames.algos.td import TDConfig, make_learner
from jaxgames.algos.td.methods import config_of
from jaxgames.players import champions
from jaxgames.recipes.backgammon_strong import SECOND

FILE = Path(__file__).parents[1] / "docs" / "algorithms" / "strong-backgammon.json"
BLOCK = 25
"""Updates in one call."""
CHAMPION = config_of(champions.card("backgammon")["learner"])
GO_ON = SECOND.replace(
    hidden=CHAMPION.net.hidden,
    members=CHAMPION.values()["members"],
    updates=500,
    step_size=0.0005,
    last_step_size=0.00001,
)
TRIALS: dict[str, TDConfig] = {
    "3 of 4 games begin where plies disagree": GO_ON.replace(restarts=0.75),
    "every other one, every tenth turn is random, and targets are a look-ahead of one ply": GO_ON.replace(
        restarts=0.5, epsilon=0.1, lambda_=0.0
    ),
}
"""What was tried, each from the champion's weights."""


def main() -> None:
    """Makes the trials that are asked for, and writes what they gave."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("names", nargs="*", metavar="NAME", help="of TRIALS (all)")
    found = json.loads(FILE.read_text("utf-8"))
    for name in options.parse_args().names or TRIALS:
        found.setdefault("trials", {})[name] = trial(TRIALS[name])
        print(name, json.dumps(found["trials"][name]))
    FILE.write_text(json.dumps(found, indent=1) + "\n", "utf-8")


def trial(config: TDConfig) -> dict[str, Any]:
    """Goes on from the champion; says what is lost a decision before and after, by the same decisions."""
    decisions = read(DECISIONS)
    champion = players.make("champion@1", jaxgames.make(config.game))

    def lost(params: Any) -> np.ndarray:
        return np.array(losses(decisions, of_player(dataclasses.replace(champion, params=params), decisions)))

    began = time.process_time()
    learner = make_learner(config)
    params = jax.tree.map(jnp.asarray, champion.params)
    state = jax.jit(learner.init)(jax.random.key(0), params)
    block = jax.jit(lambda state, key: jax.lax.scan(learner.update, state, jax.random.split(key, BLOCK))[0])
    before = lost(params)
    for number in range(config.updates // BLOCK):
        state = block(state, jax.random.key(number))
    return summary(config.updates, (time.process_time() - began) / 60, before, lost(state.params))


def summary(updates: int, minutes: float, before: np.ndarray, after: np.ndarray) -> dict[str, Any]:
    """Means before and after, and of the differences with their standard error, decision by decision."""
    gained = after - before
    return {
        "updates": updates,
        "core_minutes": round(minutes, 1),
        "before": round(float(before.mean()), 5),
        "after": round(float(after.mean()), 5),
        "change": [round(float(gained.mean()), 5), round(float(gained.std() / len(gained) ** 0.5), 5)],
    }


if __name__ == "__main__":
    main()
