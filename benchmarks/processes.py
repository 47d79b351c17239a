"""Updates on 1, 2 and 4 processes of this machine's CPU, each with the same share: what they tell one another, and what
the share costs each of them.

They are joined like those of a cluster. Where there are fewer cores than processes, the processes take turns, so
seconds on the clock say nothing of a cluster. Two things can be seen. The collectives and their bytes are as the sizes
say. And the processor seconds say how long a process computes for its share beside others: of joined processes, and of
as many that run at once without knowing of one another (`--apart`).
"""

import argparse
import json
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from _accelerators import COLLECTIVES, collectives
from _common import begin, finish, numbers, one_line_errors, parsed, parser
from _evolution import fitness, genomes, policy
from _figures import Figure, Report

import jaxgames
from jaxgames.algos import parallel, td
from jaxgames.algos.alphazero import AlphaZeroConfig
from jaxgames.algos.alphazero import make_learner as make_alphazero
from jaxgames.algos.evolution import OpenES, generation, population_mesh
from jaxgames.nets import NetworkSpec
from jaxgames.runs import processes

TITLE = "Updates on several processes of one machine, each with the same share"
BY, GAME, STEPS, UPDATES = "jaxgames", "tic_tac_toe", 4, 20
CANDIDATES, OPPONENTS, GAMES, SEARCHED = 2048, 8, 4096, 512
"""Of each process: candidates and whom they meet, games of TD, games of AlphaZero."""
FLOAT = 4


def main() -> int:
    """All programs on each number of processes."""
    options = parser(TITLE, repeats=3)
    options.add_argument("--processes", type=numbers, default=[1, 2, 4], help="numbers of processes (default 1,2,4)")
    options.add_argument("--apart", action="store_true", help="not joined: what sharing the cores alone costs")
    options.add_argument("--child", type=json.loads, help=argparse.SUPPRESS)
    options = parsed(options)
    if options.child:
        return child(options)
    if options.quick:
        options.processes, options.repeats = [2], 1
    report = Report("processes", TITLE)
    for number in options.processes:
        for row in together(number, options.repeats, options.apart):
            add(report, number, row, options.apart)
    return finish(report, options, ("flax", "optax"))


def add(report: Report, number: int, row: dict[str, Any], apart: bool) -> None:
    """The figures of a program."""
    name = f"{row['what']}, {number} process{'es' * (number > 1)}{' apart' * apart}"
    for unit, value in (("processor", row["cpu"]), ("clock", row["wall"])):
        report.add(Figure(f"{name}: {unit}", BY, "ms an update", tuple(1e3 * one for one in value)))
    if apart:
        return
    for kind, (times, size) in row["said"].items():
        report.add(Figure(f"{name}: {kind}", BY, "KiB", (size / 2**10,), note=f"{times} collective{'s' * (times > 1)}"))
    bytes_told = sum(size for _, size in row["said"].values())
    # Of one device an update tells nobody, though XLA may keep collectives that do nothing.
    report.checks[f"{name}: bytes are as the sizes say"] = number == 1 or bytes_told == row["expected"]


def together(number: int, repeats: int, apart: bool) -> list[dict[str, Any]]:
    """What the first of so many processes found, that run at once, joined or each by itself."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    commands = [
        [sys.executable, __file__, "--repeats", str(repeats), "--child", json.dumps(place)]
        for place in ([port, 1, 0] if apart else [port, number, process] for process in range(number))
    ]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for command in commands]
    told = [one.communicate()[0] for one in running]
    if any(one.returncode for one in running):
        raise ValueError(f"one of {number} processes ended with an error")
    return json.loads(told[0].splitlines()[-1])


def child(options: argparse.Namespace) -> int:
    """One of the processes; the first one prints what it found."""
    port, number, process = options.child
    jax.config.update("jax_num_cpu_devices", 1)
    if number > 1:
        processes.join(f"127.0.0.1:{port}", number, process)
    begin()
    found = [measured(*one, options.repeats) for one in programs(number)]
    if process == 0:
        print(json.dumps(found), flush=True)
    return 0


def measured(what: str, update: Callable, state: Any, key: Any, loops: int, expected: int, repeats: int) -> Any:
    """Seconds of an update, on the clock and of the processor, and the collectives of its program."""
    program = jax.jit(update).lower(state, key).compile()
    said = collectives(program.as_text(), loops)
    state = jax.block_until_ready(program(state, key))[0]
    cpu, wall = [], []
    for _ in range(repeats):
        clock, processor = time.perf_counter(), time.process_time()
        for _ in range(UPDATES):
            state = jax.block_until_ready(program(state, key))[0]
        wall.append((time.perf_counter() - clock) / UPDATES)
        cpu.append((time.process_time() - processor) / UPDATES)
    found = {kind: said[kind] for kind in COLLECTIVES if kind in said}
    return {"what": what, "cpu": cpu, "wall": wall, "said": found, "expected": expected}


def programs(number: int) -> Iterator[tuple[str, Callable, Any, Any, int, int]]:
    """The updates: names, functions, what they begin with, how often loops with collectives run, and bytes to tell."""
    yield evolution(number)
    yield learner(
        "TD by n steps",
        td.make_learner(td.make_config("n_step", game=GAME, encoding="cells", hidden=(40,), batch=GAMES * number)),
        number,
        lambda weights: FLOAT * (weights + len(td.Metrics._fields)),
    )
    config = AlphaZeroConfig(
        NetworkSpec(hidden=(64,)),
        batch=SEARCHED * number,
        plies=4,
        simulations=8,
        steps=STEPS,
        minibatch=SEARCHED * number,
    )
    # Of each step the gradient and the weight of its positions, then three metrics and two counts.
    yield learner(
        "AlphaZero",
        make_alphazero(jaxgames.make(GAME), config),
        number,
        lambda weights: FLOAT * (STEPS * (weights + 1) + 5),
        STEPS,
    )


def evolution(number: int) -> tuple[str, Callable, Any, Any, int, int]:
    """A generation of OpenES, whose processes tell their scores and their share of the gradient."""
    mesh = population_mesh(number)
    population, dimension = CANDIDATES * number, policy(GAME).dimension
    algorithm = OpenES(population, dimension, mesh=mesh)
    opponents = np.asarray(genomes(GAME, OPPONENTS, 1))  # a constant: arguments of a mesh may not be closed over

    def update(state: Any, key: jax.Array) -> Any:
        return generation(algorithm, fitness(GAME, jnp.asarray(opponents)), state, key, mesh=mesh)

    state = processes.spread(jax.jit(algorithm.init)(jax.random.key(0)), mesh)
    return (
        "evolution by OpenES",
        update,
        state,
        processes.spread(jax.random.key(1), mesh),
        1,
        FLOAT * (population + dimension),
    )


def learner(what: str, alone: Any, number: int, told: Callable[[int], int], loops: int = 1) -> Any:
    """The update of a learner on all processes."""
    placed = parallel.Parallel(alone, parallel.mesh_of(alone.config, number))
    state = placed.place(jax.jit(alone.init)(jax.random.key(0)))
    weights = sum(leaf.size for leaf in jax.tree.leaves(state.params))
    return what, placed.update, state, placed.shared(jax.random.key(1)), loops, told(weights)


if __name__ == "__main__":
    with one_line_errors():
        sys.exit(main())
