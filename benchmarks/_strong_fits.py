"""Networks that learn the look-ahead of backgammon's champion from the start: how large, and with which steps.

`python benchmarks/_strong_fits.py` plays the champion's games for eight minutes of one core, and lets each network of
`FITS` learn their positions. What came out is written into `docs/algorithms/strong-backgammon.json`, from which the
page's table is made.
"""

import argparse
import dataclasses
import json
import time
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from _strong_trials import CHAMPION, FILE, summary
from move_choice import losses, of_player, read
from strong_backgammon import DECISIONS

import jaxgames
from jaxgames import players
from jaxgames.algos.td import ExpectedConfig, ExpectedTD, make_learner
from jaxgames.algos.td.expected import Replay, _put
from jaxgames.players import greedy

POSITIONS = 2**18
HELD_OUT = 2**14
STEPS = 30_000
BLOCK = 500
"""Steps in one call."""
assert isinstance(CHAMPION, ExpectedConfig)
PLAY = CHAMPION.replace(
    teacher=False, epsilon=0.0, lambda_=0.7, batch=64, plies=32, replay=POSITIONS, restarts=0.0
)
USED = PLAY.replace(
    hidden=(128,),
    members=1,
    step_size=0.0007,
    last_step_size=0.00002,
    weight_decay=0.0001,
    updates=STEPS,
    steps=1,
)
HIGH = USED.replace(step_size=0.01, last_step_size=0.00005, weight_decay=0.01)
FITS: dict[str, ExpectedConfig] = {
    "128 units, steps of 0.0007": USED,
    "128 units, steps of 0.01": HIGH,
    "256 units, steps of 0.01": HIGH.replace(hidden=(256,)),
}


def main() -> None:
    """Makes the positions and the fits, and writes what they gave."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    champion = players.make("champion@1", jaxgames.make("backgammon"))
    decisions = read(DECISIONS)
    before = np.array(losses(decisions, of_player(champion, decisions)))
    replay = played(jax.tree.map(jnp.asarray, champion.params))
    rows: dict[str, dict[str, Any]] = {}
    for name, config in FITS.items():
        began = time.process_time()
        weights, error = fit(config, replay)
        minutes = (time.process_time() - began) / 60
        player = greedy(champion.game, name, weights, config.network().value)
        after = np.array(losses(decisions, of_player(player, decisions)))
        rows[name] = {"error": round(error, 4)} | summary(STEPS, minutes, before, after)
        print(name, json.dumps(rows[name]), flush=True)
    FILE.write_text(json.dumps(json.loads(FILE.read_text("utf-8")) | {"fits": rows}, indent=1) + "\n", "utf-8")


def played(params: Any) -> Replay:
    """Positions of the champion's games, with their targets."""
    learner = ExpectedTD(PLAY)
    state = jax.jit(learner.init)(jax.random.key(0))._replace(params=params)

    @jax.jit
    def play(state, key):
        games, found, _ = learner._play(state, key)
        return state._replace(games=games, replay=_put(state.replay, found))

    for number in range(POSITIONS // (PLAY.batch * PLAY.plies)):
        state = play(state, jax.random.key(number))
    return state.replay


def fit(config: ExpectedConfig, replay: Replay) -> tuple[Any, float]:
    """The weights that learned all but some positions, and the root of their mean squared error on these, in points."""
    learner = make_learner(config)
    assert isinstance(learner, ExpectedTD)
    state = jax.jit(dataclasses.replace(learner, config=config.replace(replay=1)).init)(jax.random.key(1))
    held_out = jnp.arange(POSITIONS) >= POSITIONS - HELD_OUT
    known = replay._replace(weight=jnp.where(held_out, 0.0, replay.weight))

    @jax.jit
    def block(carry, key):
        return jax.lax.scan(lambda c, k: (learner._learn(*c, known, k), None), carry, jax.random.split(key, BLOCK))[0]

    carry = state.params, state.optimizer
    for number in range(STEPS // BLOCK):
        carry = block(carry, jax.random.key(number))
    weights, network = carry[0], learner.network
    last = jax.tree.map(lambda x: x[-HELD_OUT:], (replay.positions, replay.targets, replay.weight))
    errors = network.outcomes.expected(network.predict(weights, last[0], jnp.zeros(HELD_OUT, jnp.int32)) - last[1])
    return weights, float(jnp.sqrt(jnp.sum(last[2] * errors**2) / jnp.sum(last[2])))


if __name__ == "__main__":
    main()
