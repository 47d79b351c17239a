"""TD learning by self-play in backgammon: plies and games per second, compile times, and choosing plays beside gnubg.

Every network first learns for some seconds, because the games of untrained networks differ: they are longer, with more
checkers on the bar. No peer learns backgammon in this way. So we compare the work at the heart of it, choosing plays by
a network: GNU Backgammon without look-ahead (its networks are larger) beside ours.
"""

import argparse
import sys
import time
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from _backgammon import gnubg, plain
from _common import (
    begin,
    bind_to_one_core,
    compiled,
    finish,
    in_process,
    names,
    numbers,
    one_line_errors,
    parsed,
    parser,
    place,
    rate,
    short_name,
    timed,
)
from _figures import Comparison, Figure, Report, Timing
from _machine import cores

import jaxgames
from jaxgames.algos import parallel
from jaxgames.algos.td import TDConfig, load_player_value, make_learner
from jaxgames.algos.td.methods import config_of
from jaxgames.envs import rollout
from jaxgames.envs.backgammon.play_lists import pairs, repeats
from jaxgames.recipes import recipe_named
from jaxgames.runs import Run

TITLE = "TD learning by self-play in backgammon"
PUBLISHED = "about 25 games/s, the program of 2007"
BLOCK = 8192  # plies in one call, at least
SNAPSHOTS = 8  # of the games of a learner, put together to a batch of positions
BATCHES = 4
GNUBG_POSITIONS = 1000
MIXING = 2.0  # seconds until the games of players that know how to play are in all their phases
EXACT_PLIES, FAST_PLIES, FAST_GAMES = 40e3, 120e3, 2000
STEP_COMPILES, TRAINING_COMPILES = 3.0, 10.0  # seconds
SAME_NETWORK = ("game", "encoding", "hidden", "activation", "outputs", "symmetric")


class Case(NamedTuple):
    """A learner to measure, on all devices or also on one, and the figure that we ask of it on all."""

    name: str
    config: TDConfig
    alone: bool = False
    plies: float | None = None
    games: float | None = None


class Learned(NamedTuple):
    """Weights that were learned, and their network."""

    network: dict[str, Any]
    params: Any


def cases(batches: list[int]) -> list[Case]:
    """The recipe's settings, and windows of larger batches."""
    settings = recipe_named("td-gammon").settings
    exact, fast = settings["exact"], settings["fast"]
    larger = [fast.replace(batch=batch, plies=plies) for batch in batches for plies in (4, 16)]
    return [
        Case(f"exact TD(lambda), batch {exact.batch}", exact, alone=True, plies=EXACT_PLIES),
        Case(f"fast, batch {fast.batch} x {fast.plies} (recipe)", fast, alone=True, plies=FAST_PLIES, games=FAST_GAMES),
        *(Case(f"fast, batch {config.batch} x {config.plies}", config) for config in larger),
    ]


def main() -> int:
    """Learners, choices, compile times."""
    options = parser(TITLE, repeats=3)
    options.add_argument("--train", type=float, default=6.0, help="seconds to learn before measuring (default 6)")
    options.add_argument("--batch", type=numbers, default=[256], help="games of larger batches (default 256)")
    options.add_argument("--against", type=names(("gnubg",), "none"), default=["gnubg"], help="gnubg or none")
    options.add_argument("--run", help="a run folder: learners of the same network start from its best player")
    options = parsed(options)
    if options.quick:
        options.train, options.repeats, options.batch = 0.1, 1, [8]
    report = Report("td_speed", TITLE)
    begin(cores())
    with one_line_errors():
        known = load(options.run) if options.run else None
    compile_times(report)  # before anything that would make it faster
    for case in cases(options.batch)[-1:] if options.quick else cases(options.batch):
        network = network_of(case.config)
        trainer = measure(report, options, case, known if known and known.network == network else None)
        if not options.run:
            known = Learned(network, jax.device_get(trainer.state.params))
    training = max(figure.compile_seconds or 0.0 for figure in report.figures if figure.unit == "plies/s")
    what = "compile a training step (the slowest of the above)"
    report.add(Figure(what, "jaxgames", "s", (training,), at_most=TRAINING_COMPILES, form=".1f"))
    if options.against:
        compare_choices(report, options, case.config, trainer)
    options.run = options.run and short_name(options.run)
    return finish(report, options, ("flax", "optax", "gnubg"))


def compare_choices(report: Report, options: argparse.Namespace, config: TDConfig, trainer: "Trainer") -> None:
    """Choosing plays by the weights that were learned last, beside gnubg."""
    batches = [trainer.positions(1 if options.quick else SNAPSHOTS) for _ in range(1 if options.quick else BATCHES)]
    params = jax.device_get(trainer.state.params)
    report.merge(in_process(choices, options, config, params, batches))


def load(folder: str) -> Learned:
    """The best player of a run."""
    run = Run.open(folder)
    params, _ = load_player_value(run)
    return Learned(network_of(config_of(run.config["learner"])), params)


def network_of(config: TDConfig) -> dict[str, Any]:
    """What identifies the network of a learner."""
    settings = config.to_json()
    return {name: settings[name] for name in SAME_NETWORK}


class Trainer:
    """A learner at work; each call of the compiled program makes so many updates."""

    def __init__(self, learner: Any, state: Any, seed: int, updates: int):
        def many(state, key, first):
            keys = jax.vmap(lambda i: jax.random.fold_in(key, i))(first + jnp.arange(updates, dtype=jnp.uint32))
            state, metrics = jax.lax.scan(learner.update, state, keys)
            return state, jax.tree.map(lambda x: jnp.sum(x, axis=0, dtype=x.dtype), metrics)

        self.updates, self.state, self.key, self.calls = updates, state, jax.random.key(seed), 0
        self.program, self.compile_seconds = compiled(many, state, self.key, np.uint32(0), donate_argnums=0)

    def go_on(self, calls: int) -> list[Any]:
        """The metrics of so many calls."""
        metrics = []
        for _ in range(calls):
            self.state, found = self.program(self.state, self.key, np.uint32(self.calls * self.updates))
            self.calls += 1
            metrics.append(found)
        return jax.block_until_ready(metrics)

    def learn(self, seconds: float) -> float:
        """Goes on for so many seconds, and returns how long the last call took."""
        began = time.perf_counter()
        while True:
            start = time.perf_counter()
            self.go_on(1)
            if time.perf_counter() - began > seconds:
                return time.perf_counter() - start

    def positions(self, snapshots: int) -> Any:
        """Rolled positions of its games, some plies apart."""
        taken = []
        for _ in range(snapshots):
            self.go_on(1)
            taken.append(jax.device_get(self.state.games.positions))
        return jax.tree.map(lambda *parts: np.concatenate(parts), *taken)


def measure(report: Report, options: argparse.Namespace, case: Case, known: Learned | None) -> Trainer:
    """Learns for a while on all devices, then measures there and, if the case says so, on one device.

    The rows beside what was published are of as many devices as the recipe takes by itself.
    """
    config, everywhere = case.config, jax.device_count()
    learner = make_learner(config)
    state, train = jax.jit(learner.init)(jax.random.key(options.seed)), options.train
    if known:
        state = state._replace(params=jax.tree.map(jnp.array, known.params))  # a copy: states are donated
        train = min(MIXING, train)
    updates = max(BLOCK // (config.batch * config.plies), 1)
    for devices in (everywhere, 1) if case.alone and everywhere > 1 else (everywhere,):
        placed = parallel.place(learner, devices)
        state = placed.place(state) if devices > 1 else jax.device_put(jax.device_get(state), jax.devices()[0])
        trainer = Trainer(placed, state, options.seed, updates)
        seconds = trainer.learn(train if devices == everywhere else min(train, 1.0))
        what = f"{case.name}, {devices} device{'s' if devices > 1 else ''}"
        asked = (case.plies, case.games) if devices == parallel.devices_for(config.batch) else (None, None)
        rates(report, what, trainer, seconds, options.repeats, *asked)
        state = trainer.state
    return trainer


def rates(
    report: Report, what: str, trainer: Trainer, seconds: float, repeats: int, plies: float | None, games: float | None
) -> None:
    """Plies and games per second, in repeats of about a second."""
    calls = max(round(1 / seconds), 1)
    found = []

    def amount(metrics):
        found.append((sum(int(m.plies) for m in metrics), sum(int(m.games) for m in metrics)))
        return found[-1][0]

    timings = timed(lambda _: trainer.go_on(calls), amount, repeats)
    # All repeats together say how long a game is, as chance decides how many of them end in one repeat.
    length = sum(n for n, _ in found) / max(sum(n for _, n in found), 1)
    in_games = [timing._replace(amount=timing.amount / length) for timing in timings]
    note = f"{length:.1f} plies a game after {trainer.calls * trainer.updates:,} updates"
    compile_seconds = trainer.compile_seconds
    found_plies = rate(what, "jaxgames", "plies/s", timings, compile_seconds=compile_seconds, at_least=plies)
    found_games = rate(what, "jaxgames", "games/s", in_games, at_least=games, note=note)
    for figure, published in ((found_plies, ""), (found_games, PUBLISHED)):
        report.add(figure)
        if plies is not None:
            report.comparisons.append(Comparison(f"self-play with learning: {what}", figure, published=published))


def choices(options: argparse.Namespace, config: TDConfig, params: Any, batches: list[Any]) -> Report:
    """The best play of positions by weights that were learned, on one core, beside gnubg on the same."""
    report = Report("", "")
    bind_to_one_core()
    begin()
    network = config.network()

    def best(params, positions):
        return network.game.best_turn(positions, network.value(params))

    def number(positions):
        all_of_them = jnp.ones(len(positions.dice), bool)
        lists = [list_plays(positions, all_of_them, 2**16) for list_plays in (pairs, repeats)]
        return sum(jnp.sum(one.first[-1]) for one in lists), lists[0].complete & lists[1].complete

    program, seconds = compiled(best, params, batches[0])
    timings = timed(lambda _: [program(params, batch) for batch in batches], 0, options.repeats)
    counted, complete = zip(*map(jax.jit(number), batches), strict=True)
    report.checks["the plays that are evaluated are counted completely"] = bool(np.all(complete))
    plays, size = int(sum(counted)), sum(len(batch.dice) for batch in batches)
    layers = "-".join(map(str, (network.encoding.size, *config.net.hidden, config.outputs)))
    what = f"best play by a {layers} network ({place()})"
    timings = [timing._replace(amount=size) for timing in timings]
    ours = add_choices(report, what, "jaxgames", timings, plays / size, seconds)
    engine = gnubg()
    if engine is None:
        return report
    rows = [row for batch in batches for row in zip(*plain(jax.tree.map(jnp.asarray, batch)), strict=True)]
    rows = rows[: GNUBG_POSITIONS * options.repeats]
    parts = np.array_split(np.arange(len(rows)), options.repeats)
    found: list[int] = []
    engine.forget()

    def play(part):
        found.extend(len(engine.plays(*rows[index])) for index in parts[part])

    timings = [t._replace(amount=len(part)) for t, part in zip(timed(play, 0, options.repeats, 0), parts, strict=True)]
    theirs = add_choices(report, "best play, no ply ahead (1 core)", "gnubg", timings, sum(found) / len(rows), None)
    report.comparisons.append(Comparison(f"{what}; gnubg by its own, no ply ahead", ours, theirs))
    return report


def add_choices(
    report: Report, what: str, by: str, timings: list[Timing], plays: float, compile_seconds: float | None
) -> Figure:
    """Positions, and plays evaluated, per second. Returns the latter."""
    evaluated = [timing._replace(amount=timing.amount * plays) for timing in timings]
    note = f"{plays:.1f} plays a position"
    report.add(rate(what, by, "positions/s", timings, compile_seconds=compile_seconds, note=note))
    return report.add(rate(what, by, "plays evaluated/s", evaluated))


def compile_times(report: Report) -> None:
    """Seconds for tracing and compiling what a user compiles first."""
    game, batch = jaxgames.make("backgammon"), 256
    keys = jax.random.split(jax.random.key(0), batch)
    states = jax.jit(jax.vmap(game.init))(keys)
    _, step = compiled(jax.vmap(game.step), states, jnp.zeros(batch, jnp.int32), keys)
    _, played = compiled(lambda states, key: rollout(game, states, key, 100), states, keys[0])
    report.add(Figure("compile jit(vmap(game.step))", "jaxgames", "s", (step,), at_most=STEP_COMPILES, form=".1f"))
    report.add(Figure("compile rollout(game, states, key, 100)", "jaxgames", "s", (played,), form=".1f"))


if __name__ == "__main__":
    sys.exit(main())
