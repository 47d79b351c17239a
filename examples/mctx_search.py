"""Our games under mctx's own policies, and the same searches by ours: their results, and their speed.

    python examples/mctx_search.py --game connect_four

mctx searches any model; here the game itself is the model, and the state is what it embeds. The caller says which
actions are illegal, whose reward counts and which sign the next value has. `jaxgames.algos.mcts` asks the game for all
that; it searches games with dice by the same call, and keeps subtrees from move to move (`mcts.advance`).
"""

import argparse
import time
from pathlib import Path

import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import mctx
from flax import linen as nn

import jaxgames
from jaxgames.algos import mcts

BATCHES, SIMULATIONS, REPEATS = (16, 128, 1024), 64, 5
GAMES = ("tic_tac_toe", "connect_four", "checkers")  # games with chance need another model in mctx


class PolicyValue(nn.Module):
    """Logits of the actions, and the value for the player who is to move."""

    actions: int

    @nn.compact
    def __call__(self, observation):
        x = observation.reshape(len(observation), -1).astype(jnp.float32)
        x = nn.relu(nn.Dense(128)(x))
        return nn.Dense(self.actions)(x), jnp.tanh(nn.Dense(1)(x)[:, 0])


def by_mctx(game, network, policy, **options):
    """A search by mctx: a function of parameters, states and a key that gives the visits at the root."""

    def evaluate(params, states):
        logits, value = network.apply(params, states.observation)
        return jnp.where(states.legal_action_mask, logits, jnp.finfo(jnp.float32).min), value

    def recurrent_fn(params, key, actions, states):
        mover = states.current_player
        states = jax.vmap(game.step)(states, actions)
        logits, value = evaluate(params, states)
        sign = jnp.where(states.current_player == mover, 1.0, -1.0)  # in checkers a jump may go on
        over = states.terminated | states.truncated
        output = mctx.RecurrentFnOutput(
            reward=jnp.take_along_axis(states.rewards, mover[:, None], 1)[:, 0],
            discount=jnp.where(over, 0.0, sign),
            prior_logits=logits,
            value=jnp.where(over, 0.0, value),
        )
        return output, states

    def search(params, states, key):
        logits, value = evaluate(params, states)
        root = mctx.RootFnOutput(prior_logits=logits, value=value, embedding=states)
        illegal = ~states.legal_action_mask
        found = policy(params, key, root, recurrent_fn, SIMULATIONS, invalid_actions=illegal, **options)
        return found.search_tree.summary().visit_counts

    return search


def by_jaxgames(game, network, rule):
    """The same by ours."""

    def search(params, states, key):
        evaluate = mcts.network(network.apply, params)
        return mcts.search(game, states, key, SIMULATIONS, select=rule, evaluate=evaluate).visits

    return search


def timed(search, params, states, repeats):
    """Visits at the root, and simulations per second: the best of some repeats, without compilation."""
    compiled = jax.jit(search).lower(params, states, jax.random.key(0)).compile()
    seconds = []
    for _ in range(repeats):
        began = time.perf_counter()
        visits = jax.block_until_ready(compiled(params, states, jax.random.key(0)))
        seconds.append(time.perf_counter() - began)
    return visits, len(visits) * SIMULATIONS / min(seconds)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], usage=argparse.SUPPRESS)
    parser.add_argument("--game", default="connect_four", choices=GAMES)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default="mctx_search.png", help="the picture")
    parser.add_argument("--quick", action="store_true", help="a tiny run, to see that it works")
    options = parser.parse_args()
    if options.out.suffix not in (".png", ".svg") or not options.out.resolve().parent.is_dir():
        parser.error(f"--out {options.out}: expected a .png or .svg in a folder that exists")
    batches, repeats = ((4,), 1) if options.quick else (BATCHES, REPEATS)
    game, key = jaxgames.make(options.game), jax.random.key(options.seed)
    network = PolicyValue(game.num_actions)
    params = network.init(key, jnp.zeros((1, *game.observation_shape)))

    # Both with the same constants, and without noise, so that the same network leads to the same visits.
    pairs = {
        "MuZero": (
            by_mctx(game, network, mctx.muzero_policy, dirichlet_fraction=0.0),
            by_jaxgames(game, network, mcts.puct(qtransform="parent_and_siblings")),
        ),
        "Gumbel MuZero": (
            by_mctx(game, network, mctx.gumbel_muzero_policy, gumbel_scale=0.0),
            by_jaxgames(game, network, mcts.gumbel(scale=0.0)),
        ),
    }
    if options.quick:
        pairs.pop("MuZero")
    figure, (every,) = plt.subplots(1, len(pairs), figsize=(7, 3.5), sharey=True, squeeze=False, layout="constrained")
    for axes, (name, searches) in zip(every, pairs.items(), strict=True):
        speeds = []
        for batch in batches:
            states = jax.vmap(game.init)(jax.random.split(key, batch))
            states = jaxgames.rollout(game, states, key, 4)[0]  # four random moves, so that positions differ
            (theirs, slow), (ours, fast) = (timed(search, params, states, repeats) for search in searches)
            speeds.append((slow, fast))
            print(
                f"{name}, {batch} positions: mctx {slow:,.0f} simulations/s, jaxgames {fast:,.0f}; "
                f"{jnp.all(theirs == ours, axis=1).mean():.0%} of the positions have the same visits"
            )
        for shift, label, speed in zip((-0.2, 0.2), ("mctx", "jaxgames"), zip(*speeds, strict=True), strict=True):
            axes.bar([place + shift for place in range(len(batches))], speed, 0.4, label=label)
        axes.set(title=name, xlabel="positions at once", xticks=range(len(batches)), xticklabels=batches)
    every[0].set_ylabel(f"simulations/s, {game.id}")
    every[0].legend()
    figure.savefig(options.out, dpi=100)


if __name__ == "__main__":
    main()
