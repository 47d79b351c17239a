"""MAP-Elites: an archive of checkers players that differ in style, the best of each style.

    python examples/map_elites.py

A player's style is measured in its games: how long they last, and how often it captures (jumps are forced, so a player
that captures often seeks exchanges). Each cell of the archive keeps the network that wins most among those of its
style (Mouret and Clune, 2015); the iso+line operator makes children of two elites (Vassiliades and Mouret, 2018).
The same by one command: `jaxgames train checkers-evolution --setting best --set strategy=map_elites`.
"""

import argparse
import time
from pathlib import Path

import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt

import jaxgames
from jaxgames.algos.evolution import ByPlay, FixedPlayer, Genomes, MapElites, Outputs, RandomMoves, generation, play
from jaxgames.nets import MLP
from jaxgames.players import make

SIDE, LENGTHS, TAKES = 20, (50.0, 130.0), (0.1, 0.4)  # of the archive; plies of a game, share of moves that take


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], usage=argparse.SUPPRESS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default="map_elites.png", help="the picture")
    parser.add_argument("--quick", action="store_true", help="a tiny run, to see that it works")
    options = parser.parse_args()
    if options.out.suffix not in (".png", ".svg") or not options.out.resolve().parent.is_dir():
        parser.error(f"--out {options.out}: expected a .png or .svg in a folder that exists")
    count, opponents, generations = (4, 1, 2) if options.quick else (256, 16, 200)
    game = jaxgames.make("checkers")
    networks = Genomes(MLP((32, 64), "sigmoid", "sigmoid"), inputs=64)  # 64 outputs: a square to leave and one to go to
    policy = Outputs(game, networks, encoding="board64", head="squares")
    style = ("captures", "length")
    fitness = ByPlay(policy, RandomMoves(opponents), common=False, most_plies=150, measures=style)
    elites = MapElites(count, networks.dimension, networks.init, *zip(TAKES, LENGTHS, strict=True), SIDE)
    key, began = jax.random.key(options.seed), time.perf_counter()

    @jax.jit
    def evolve(state):
        def step(state, key):
            state, _ = generation(elites, fitness, state, key, block=count)
            return state, (*elites.metrics(state).values(), jnp.max(state.scores))

        return jax.lax.scan(step, state, jax.random.split(key, generations))

    state, (filled, total, best) = jax.block_until_ready(evolve(elites.init(key)))
    games, cells = generations * count * 2 * opponents, int(filled[-1])
    print(f"{time.perf_counter() - began:.0f} s, {games:,} games: {cells} of {SIDE**2} cells, best {best[-1]:.1%}")

    # The elites against a player that looks two plies ahead: styles that beat random moves need not beat that.
    rows = jnp.argsort(-state.scores)[:cells]
    rival = make("alphabeta:2", game)
    rivals = FixedPlayer(rival.turn, rival.params, opponents)
    numbers = jnp.arange(len(rows), dtype=jnp.int32)
    score = 50 + 50 * jnp.sign(play(policy, state.genomes[rows], rivals, key, numbers).points).mean(1)
    print(f"against alphabeta:2 the best elite makes {score.max():.1f} % of the points, all {score.mean():.1f} %")

    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.5), layout="constrained")
    picture = left.imshow(
        jnp.where(elites.filled(state), 100 * state.scores, jnp.nan).reshape(SIDE, SIDE),
        origin="lower", extent=(*LENGTHS, *(100 * x for x in TAKES)), aspect="auto",
    )  # fmt: skip
    figure.colorbar(picture, label="games won, %")
    left.set(xlabel="plies of a game", ylabel="moves that take, %", title="One player a cell")
    right.plot(filled, label="cells")
    right.plot(total, label="sum of shares won")
    right.set(xlabel="generation", title=f"Checkers, {count} children a generation")
    right.legend()
    figure.savefig(options.out, dpi=100)


if __name__ == "__main__":
    main()
