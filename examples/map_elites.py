"""MAP-Elites: an archive of checkers players that differ in style, the best of each style.

    python examples/map_elites.py

What a player is like is measured in its games: how long they last, and how often it takes (a jump is forced where there
is one; who takes often seeks exchanges). Each cell of the archive keeps the network that wins most among those of its
style (Mouret and Clune, 2015), and children come of two elites by the iso+line operator (Vassiliades and Mouret, 2018).
QDax has all this and more, with many packages that it needs; here the archive is written out, as it is twenty lines.
"""

import argparse
import time
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt

import jaxgames
from jaxgames.algos.evolution import FixedPlayer, Genomes, Outputs, RandomMoves, play
from jaxgames.nets import MLP
from jaxgames.players import make

SIDE, LENGTHS, TAKES = 20, (50.0, 130.0), (0.1, 0.4)  # of the archive; plies of a game, share of moves that take
ISO, LINE = 0.05, 0.2


class Archive(NamedTuple):
    """The elites, a row for each cell."""

    genomes: jax.Array  # float32[cells, dimension]
    fitness: jax.Array  # float32[cells], the share of games won; -inf where a cell is empty


def added(archive, genomes, fitness, cell):
    """The archive with those candidates that are the best of their cell."""
    cells, count = len(archive.fitness), len(fitness)
    best = jax.ops.segment_max(fitness, cell, cells)
    candidates = jnp.where(fitness == best[cell], jnp.arange(count), -1)
    winner = jax.ops.segment_max(candidates, cell, cells)  # of equals the last one
    better = best > archive.fitness
    return Archive(
        jnp.where(better[:, None], genomes[winner], archive.genomes), jnp.where(better, best, archive.fitness)
    )


def children(archive, key, count):
    """Each is an elite, moved by a little noise and along the line to another elite."""
    parent_key, iso_key, line_key = jax.random.split(key, 3)
    parents = jax.random.categorical(parent_key, jnp.where(archive.fitness > -1, 0.0, -jnp.inf), shape=(2, count))
    one, other = archive.genomes[parents]
    along = LINE * jax.random.normal(line_key, (count, 1))
    return one + ISO * jax.random.normal(iso_key, one.shape) + along * (other - one)


def place(value, low, high):
    """The row or column of a style in the archive."""
    return jnp.clip(SIDE * (value - low) / (high - low), 0, SIDE - 1).astype(jnp.int32)


def make_generation(policy, count, opponents):
    """A function of an archive and a key: children play, and those that are elites stay."""

    def evaluated(archive, genomes, key):
        numbers = jnp.arange(count, dtype=jnp.int32)
        style = ("plies", "moves", "captures")
        found = play(policy, genomes, RandomMoves(opponents), key, numbers, most_plies=150, details=style)
        fitness = 0.5 + 0.5 * jnp.sign(found.points).mean(1)  # a draw is half a win
        length = found.details.plies.mean(1)
        takes = found.details.captures.sum(1) / jnp.maximum(found.details.moves.sum(1), 1)
        return added(archive, genomes, fitness, SIDE * place(takes, *TAKES) + place(length, *LENGTHS))

    def generation(archive, key):
        child_key, play_key = jax.random.split(key)
        archive = evaluated(archive, children(archive, child_key, count), play_key)
        filled = archive.fitness > -1
        return archive, (filled.sum(), jnp.where(filled, archive.fitness, 0).sum(), archive.fitness.max())

    return evaluated, generation


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
    evaluated, generation = make_generation(policy, count, opponents)
    keys, began = jax.random.split(jax.random.key(options.seed), generations + 2), time.perf_counter()

    @jax.jit
    def evolve(keys):
        empty = Archive(jnp.zeros((SIDE**2, networks.dimension)), jnp.full(SIDE**2, -jnp.inf))
        first = evaluated(empty, networks.init(keys[0], jnp.arange(count, dtype=jnp.int32)), keys[1])
        return jax.lax.scan(generation, first, keys[2:])

    archive, (filled, total, best) = jax.block_until_ready(evolve(keys))
    games = generations * count * 2 * opponents
    print(f"{time.perf_counter() - began:.0f} s, {games:,} games: {filled[-1]} of {SIDE**2} cells, best {best[-1]:.1%}")

    # The elites against a player that looks two plies ahead: styles that beat random moves need not beat that.
    rows = jnp.argsort(-archive.fitness)[: int(filled[-1])]
    rival = make("alphabeta:2", game)
    rivals = FixedPlayer(rival.turn, rival.params, opponents)
    numbers = jnp.arange(len(rows), dtype=jnp.int32)
    score = 50 + 50 * jnp.sign(play(policy, archive.genomes[rows], rivals, keys[0], numbers).points).mean(1)
    print(f"against alphabeta:2 the best elite makes {score.max():.1f} % of the points, all {score.mean():.1f} %")

    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.5), layout="constrained")
    picture = left.imshow(
        jnp.where(archive.fitness > -1, 100 * archive.fitness, jnp.nan).reshape(SIDE, SIDE),
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
