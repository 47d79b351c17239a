"""32 trainings at once: TD(lambda) with different step sizes and first weights in one `vmap`; the best is kept.

    python examples/population_of_learners.py

A learner is two pure functions, `init` and `update`, and its state holds the whole training. So `jax.vmap` turns one
training into a population. On a CPU this takes about as long as one training after another. On a GPU, where one small
network uses little of the device, there is room for all. Settings that differ are arrays of the state; others are
compiled in.
"""

import argparse
import time
from pathlib import Path

import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt

import jaxgames
from jaxgames.algos.td import make_config, make_learner
from jaxgames.matches import match
from jaxgames.players import greedy

GAME, MEMBERS, LOW, HIGH = "connect_four", 32, 1e-5, 1e-1  # how many, and the step sizes of the first and the last


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], usage=argparse.SUPPRESS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default="population_of_learners.png", help="the picture")
    parser.add_argument("--quick", action="store_true", help="a tiny run, to see that it works")
    options = parser.parse_args()
    if options.out.suffix not in (".png", ".svg") or not options.out.resolve().parent.is_dir():
        parser.error(f"--out {options.out}: expected a .png or .svg in a folder that exists")
    members, parts, updates, batch, games = (2, 1, 2, 4, 4) if options.quick else (MEMBERS, 4, 600, 32, 200)
    rival = "random" if options.quick else "uct:50"
    game = jaxgames.make(GAME)

    # Each learner plays `batch` games; with probability epsilon a move is a random one, as there are no dice here.
    layers = dict(encoding="cells", hidden=(64, 32), activation="relu", initializer="lecun_normal", outputs=2)
    settings = dict(plies=8, epsilon=0.3, step_size=1.0, schedule="constant")
    learner = make_learner(make_config("n_step", game=GAME, batch=batch, **layers, **settings))

    def begin(key, step_size):
        return learner.init(key)._replace(factor=step_size)  # it multiplies every step of the optimizer

    def train(state, key):
        state, metrics = jax.lax.scan(learner.update, state, jax.random.split(key, updates))
        return state, metrics.games.sum()

    step_sizes = jnp.geomspace(LOW, HIGH, members)
    keys = jax.random.split(jax.random.key(options.seed), (parts + 1, members))
    states = jax.jit(jax.vmap(begin))(keys[0], step_sizes)
    one = jax.jit(train).lower(jax.tree.map(lambda x: x[0], states), keys[0, 0]).compile()
    all_ = jax.jit(jax.vmap(train), donate_argnums=0).lower(states, keys[0]).compile()
    began = time.perf_counter()
    jax.block_until_ready(one(jax.tree.map(lambda x: x[0], states), keys[0, 0]))
    alone, played = time.perf_counter() - began, jnp.zeros(members, jnp.int32)

    figure, axes = plt.subplots(figsize=(6, 3.5), layout="constrained")
    for part in range(1, parts + 1):
        began = time.perf_counter()
        states, ended = jax.block_until_ready(all_(states, keys[part]))
        seconds, played = time.perf_counter() - began, played + ended
        won = []
        for member in range(members):  # the same program for all of them
            params = jax.tree.map(lambda x, member=member: x[member], states.params)
            player = greedy(game, f"member {member}", params, learner.network.value)
            won.append(100 * match(player, rival, games=games, seed=1).win_rate)
        best = max(range(members), key=won.__getitem__)
        print(
            f"{played[best]:,} games of each: {seconds:.1f} s for {members}, {alone:.1f} s for one alone; "
            f"the best learns with {step_sizes[best]:.2g} and wins {won[best]:.1f}% against {rival}"
        )
        axes.semilogx(
            step_sizes, won, marker="o", label=f"after {played[best]:,} games", alpha=0.3 + 0.7 * part / parts
        )
    kept = jax.tree.map(lambda x: x[best], states)  # a state like any other: it could go on alone
    result = match(greedy(game, "the best", kept.params, learner.network.value), rival, games=5 * games, seed=2)
    print(f"the best, chosen among {members}, in games that did not choose it: {result.win_rate:.1%}")
    axes.set(xlabel="step size", ylabel=f"won against {rival}, %", title=f"{members} trainings of {GAME} in one vmap")
    axes.set_ylim(0)
    axes.legend(loc="lower left")
    figure.savefig(options.out, dpi=100)


if __name__ == "__main__":
    main()
