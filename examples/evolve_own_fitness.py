"""Low-rank evolution of your own network by your own fitness: to win in few moves.

    python examples/evolve_own_fitness.py --game connect_four

A thousand candidates play four games each. They share the matrices of one network of 128 x 128 units, and each has
its own noise of rank 1 (Sarkar et al., 2025), so all cost little more than one network that plays all games.
`candidates.each` maps a plain function of the parameters over them; in it `x @ w` does the rest.
"""

import argparse
import time
from pathlib import Path

import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import optax

import jaxgames
from jaxgames.algos.evolution import LowRankES, Parameters, evaluate
from jaxgames.matches import match
from jaxgames.players import jax_player

UNITS, GAMES, HASTE = 128, 4, 0.01  # of both hidden layers; of each candidate; what a move costs


def init(game, key):
    sizes = (int(jnp.prod(jnp.array(game.observation_shape))), UNITS, UNITS, game.num_actions)
    keys = jax.random.split(key, 3)
    return [
        {"w": jax.random.normal(key, (a, b)) * a**-0.5, "b": jnp.zeros(b)}
        for key, a, b in zip(keys, sizes[:-1], sizes[1:], strict=True)
    ]


def act(params, states, bits=None):
    """The legal action of the highest output; the same function plays matches."""
    del bits
    x = states.observation.reshape(*states.terminated.shape, -1).astype(jnp.float32)
    for layer in params[:-1]:
        x = jax.nn.relu(x @ layer["w"] + layer["b"])
    logits = x @ params[-1]["w"] + params[-1]["b"]
    return jnp.argmax(jnp.where(states.legal_action_mask, logits, -jnp.inf), axis=-1).astype(jnp.int32)


def fitness_of(game, most_moves):
    """Points against random moves, less what each move costs. Both candidates of a pair meet the same luck."""

    def score(params, key):
        init_key, key = jax.random.split(key)
        states = jax.vmap(game.init)(jax.random.split(init_key, GAMES))  # who begins is drawn

        def policy(key, states):
            return jnp.where(states.current_player == 0, act(params, states), jaxgames.random_action(key, states))

        def keep(step):
            return step.rewards[:, 0] - HASTE * ~step.states.terminated

        return jaxgames.rollout(game, states, key, most_moves, policy, keep=keep)[1].sum() / GAMES

    def fitness(candidates, numbers, key):
        return candidates.each(score, jax.vmap(lambda number: jax.random.fold_in(key, number // 2))(numbers))

    return fitness


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], usage=argparse.SUPPRESS)
    parser.add_argument("--game", default="connect_four", choices=jaxgames.available_games())
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default="evolve_own_fitness.png", help="the picture")
    parser.add_argument("--quick", action="store_true", help="a tiny run, to see that it works")
    options = parser.parse_args()
    if options.out.suffix not in (".png", ".svg") or not options.out.resolve().parent.is_dir():
        parser.error(f"--out {options.out}: expected a .png or .svg in a folder that exists")
    population, generations, parts, games = (8, 1, 1, 4) if options.quick else (1024, 20, 10, 400)
    game, key, began = jaxgames.make(options.game), jax.random.key(options.seed), time.perf_counter()
    params = init(game, jax.random.fold_in(key, 0))
    layout = Parameters.of(params)
    strategy = LowRankES(population, layout, sigma=0.02, optimizer=optax.adam(0.01))
    fitness, state = fitness_of(game, 60), strategy.start(key, layout.row(params))

    @jax.jit
    def evolve(state, key):
        def generation(state, key):
            scores = evaluate(fitness, strategy, state, key)
            return strategy.tell(state, scores), scores.mean()

        return jax.lax.scan(generation, state, jax.random.split(key, generations))

    means, won = [], []
    for part in range(parts):
        state, scores = evolve(state, jax.random.fold_in(key, 1 + part))
        means += scores.tolist()
        player = jax_player(act, layout.params(strategy.champion(state))).make(game, "evolved")
        won.append(100 * match(player, "random", games=games, seed=options.seed).win_rate)
        print(f"{time.perf_counter() - began:.0f} s, {len(means)} generations: {won[-1]:.1f}% won against random moves")
    figure, (above, below) = plt.subplots(2, figsize=(6, 5), layout="constrained", sharex=True)
    above.plot(range(1, len(means) + 1), means)
    above.set(ylabel="mean fitness", title=f"{game.id}: {population} candidates, {GAMES} games each")
    below.plot([generations * (part + 1) for part in range(parts)], won, marker="o")
    below.set(xlabel="generations", ylabel="won, %")
    figure.savefig(options.out, dpi=100)


if __name__ == "__main__":
    main()
