"""The generations of `evolution.py`: ours, and those of an evosax strategy whose fitness is play with pgx's games.

Both play the same games: candidates against opponents, one game with each, of which the candidates begin every other
one; both choose the highest output of a legal action. The peer's loop is the best that we could write: only the network
that is to move is evaluated, two plies in each round of the loop, until the last game is over.
"""

import math
import time
import warnings
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from _common import compiled
from _figures import Timing

import jaxgames
from jaxgames.algos.evolution import ByPlay, Genomes, Networks, OpenES, Outputs, generation, population_mesh
from jaxgames.envs import heads_of
from jaxgames.nets import MLP

OURS, PEER = "jaxgames", "evosax with pgx's games"
HIDDEN = {"tic_tac_toe": (18, 18), "connect_four": (16,), "checkers": (16,)}
SEEN = {"tic_tac_toe": ("cells", "highest"), "connect_four": ("cells", "highest"), "checkers": ("board64", "squares")}
MOST_PLIES = {"tic_tac_toe": 9, "connect_four": 42, "checkers": 300}
SIGMA = 0.05
SECONDS = 0.5
WIDE = {"xla_cpu_prefer_vector_width": 512}
"""How both are compiled for a CPU: for its widest vectors, of which XLA uses a half by default."""
BLOCKS = {"tic_tac_toe": 256, "connect_four": 128, "checkers": 64}
"""Candidates at a time on each device of a CPU: as many as stay in its cache. Other devices take the usual block."""
SPLIT_FROM = {"tic_tac_toe": 1024, "connect_four": 0, "checkers": 0}
"""Populations that are worth two devices of a CPU: smaller ones of short games would wait for each other."""


def policy(name: str, hidden: tuple[int, ...] = ()) -> Outputs:
    """How the networks play, both ours and the peer's, with the usual hidden layers or others."""
    game = jaxgames.make(name)
    encoding, reading = SEEN[name]
    sizes = (*(hidden or HIDDEN[name]), heads_of(game)[reading].size)
    network = MLP(sizes, "softsign_unit", "softsign_unit", "uniform:1")
    return Outputs(game, Genomes(network, game.encodings[encoding].size), encoding, reading)


def genomes(name: str, count: int, seed: int, hidden: tuple[int, ...] = ()) -> jax.Array:
    """Random networks."""
    return jax.random.normal(jax.random.key(seed), (count, policy(name, hidden).dimension), jnp.float32)


def fitness(name: str, opponents: jax.Array) -> ByPlay:
    """Our games."""
    return ByPlay(policy(name), Networks(policy(name), opponents), "points", "alternate", most_plies=MOST_PLIES[name])


class Generations:
    """A compiled program that goes on from generation to generation, for `SECONDS` in each run."""

    mode, unit = "", "games"

    def __init__(self, by: str, function: Callable, state: Any, opponents: jax.Array, amount: int):
        self.by, self.amount, self.state, self.opponents = by, amount, state, opponents
        self.number, self.calls = 0, 1
        jax.clear_caches()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            given = state, opponents, jax.random.key(0)
            wide = WIDE if jax.default_backend() == "cpu" else None
            self.program, self.compile_seconds = compiled(function, *given, compiler_options=wide)
        wall, cpu = time.perf_counter(), time.process_time()
        self.run()
        self.first = Timing(amount, time.perf_counter() - wall, time.process_time() - cpu)
        self.calls = math.ceil(SECONDS / self.first.wall)

    def run(self) -> tuple[int, None]:
        """Some generations."""
        for _ in range(self.calls):
            self.number += 1
            key = jax.random.key(self.number)
            self.state = jax.block_until_ready(self.program(self.state, self.opponents, key))
        return self.calls * self.amount, None


def ours(name: str, population: int, opponents: jax.Array) -> Generations:
    """OpenAI's evolution strategy."""
    cpu = jax.default_backend() == "cpu"
    block = BLOCKS[name] if cpu else None
    mesh = population_mesh() if not cpu or population >= SPLIT_FROM[name] else None
    algorithm = OpenES(population, policy(name).dimension, SIGMA, mesh=mesh)
    state = jax.jit(algorithm.start)(jax.random.key(0), genomes(name, 1, 0)[0])

    def run(state, opponents, key):
        return generation(algorithm, fitness(name, opponents), state, key, block, mesh)[0]

    return Generations(OURS, run, state, opponents, population * len(opponents))


def evosax(
    name: str, population: int, opponents: jax.Array, hidden: tuple[int, ...] = (), block: int | None = None
) -> Generations:
    """The same strategy of evosax, whose candidates play `block` at a time; None: all at once."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from evosax.algorithms import Open_ES

        mean = genomes(name, 1, 0, hidden)[0]
        strategy = Open_ES(population_size=population, solution=mean)
        settings = strategy.default_params
        state = strategy.init(jax.random.key(0), mean, settings)
    play = with_pgx(name, hidden)

    def run(state, opponents, key):
        asking, playing, telling = jax.random.split(key, 3)
        candidates, state = strategy.ask(asking, state, settings)
        parts = candidates.reshape(-1, block or population, candidates.shape[-1])
        points = jax.lax.map(lambda part: play(part, opponents, playing), parts)
        scores = jnp.mean(points.reshape(population, -1), axis=1)
        return strategy.tell(telling, candidates, -scores, state, settings)[0]

    return Generations(PEER, run, state, opponents, population * len(opponents))


def with_pgx(name: str, hidden: tuple[int, ...] = ()) -> Callable[[jax.Array, jax.Array, jax.Array], jax.Array]:
    """The candidates' points in the same games, [candidates, opponents], played with pgx."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pgx

        env = pgx.make(name)
    networks = policy(name, hidden).genomes

    def choose(params, state):
        board = state.observation.astype(jnp.float32)
        outputs = networks.network.apply(params, (board[..., 0] - board[..., 1]).reshape(-1))
        return jnp.argmax(jnp.where(state.legal_action_mask, outputs, -jnp.inf))

    def points(first, second, key):
        """Those of the player who begins."""
        state = env.init(key)
        beginner = state.current_player

        def two_plies(carry):
            state, points = carry
            for params in (first, second):
                state = env.step(state, choose(params, state))
                points += state.rewards[beginner]
            return state, points

        return jax.lax.while_loop(lambda carry: ~carry[0].terminated, two_plies, (state, jnp.float32(0)))[1]

    def play(candidates, opponents, key):
        candidates, opponents = (jax.vmap(networks.params)(rows) for rows in (candidates, opponents))
        even, odd = (jax.tree.map(lambda x, i=i: x[i::2], opponents) for i in range(2))
        keys = jax.random.split(key, len(jax.tree.leaves(even)[0]))

        def of_one(candidate):
            begun = jax.vmap(lambda opponent, key: points(candidate, opponent, key))(even, keys)
            other = jax.vmap(lambda opponent, key: -points(opponent, candidate, key))(odd, keys)
            return jnp.stack([begun, other], axis=1).reshape(-1)

        return jax.vmap(of_one)(candidates)

    return play
