"""Random games of backgammon, many at once: games per second, beside pgx.

The loops draw whole turns (all distinct plays are equally likely), or moves of single checkers. For single moves, our
games and pgx's run the same loop: once with pgx's `act_randomly`, a categorical draw over the mask, and once with a
cheap draw over the mask. Games that are over begin anew. Games are counted as soon as all phases are mixed.
"""

import functools
import sys
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from _backgammon import ply
from _common import begin, compiled, finish, parsed, parser, peer, rate, timed
from _figures import Comparison, Figure, Report

import jaxgames
from jaxgames.envs import random_action

TITLE = "Backgammon: random play"
BATCH = 256
WARM_UP_STEPS, WARM_UP_TURNS = 800, 400  # about four games
ASKED = 10  # times pgx's games


class Loop(NamedTuple):
    """A batch of games played on: `start(key)`, and `step(games, key)`, which also says which games are over."""

    name: str
    by: str
    unit: str
    start: Callable[[jax.Array], Any]
    step: Callable[[Any, jax.Array], tuple[Any, jax.Array]]
    steps: int
    """In one call: enough for a repeat of about half a second on a few cores."""


Sample = Callable[[jax.Array, jax.Array], jax.Array]
"""Draws an action for each mask."""


def categorical(key: jax.Array, mask: jax.Array) -> jax.Array:
    """As pgx's `act_randomly`."""
    return jax.random.categorical(key, jnp.log(mask.astype(jnp.float32)), axis=1)


def main() -> int:
    """Our loops and pgx's at each batch size."""
    options = parser(TITLE)
    options.add_argument("--batch", type=int, nargs="+", default=[BATCH], help=f"games at once (default {BATCH})")
    options = parsed(options)
    if options.quick:
        options.batch, options.repeats = [8], 1
    report = Report("backgammon_random_play", TITLE)
    begin()
    pgx = None if options.quick else peer("pgx")
    for batch in options.batch:
        one_batch(report, options, pgx, batch)
    return finish(report, options, ("pgx",))


def one_batch(report: Report, options: Any, pgx: Any, batch: int) -> None:
    """All loops at one batch size."""
    theirs, theirs_cheap = None, None
    if pgx is not None:
        act_randomly = peer("pgx.experimental.utils").act_randomly
        theirs = measure(report, pgx_moves("single moves, act_randomly", pgx, batch, act_randomly), batch, options)
        theirs_cheap = measure(report, pgx_moves("single moves, cheap draw", pgx, batch, random_action), batch, options)
    turns = measure(report, whole_turns(batch), batch, options, theirs and ASKED * theirs.value)
    comparisons = [Comparison(f"random games, batch {batch:,}: by whole turns, pgx by single moves", turns, theirs)]
    if not options.quick:
        cheap = measure(report, single_moves("single moves, cheap draw", batch, random_action), batch, options)
        same = measure(report, single_moves("single moves, act_randomly", batch, categorical), batch, options)
        comparisons += [
            Comparison(f"random games, batch {batch:,}: single moves, cheap draw for both", cheap, theirs_cheap),
            Comparison(f"random games, batch {batch:,}: single moves, categorical draw for both", same, theirs),
        ]
    report.comparisons += comparisons


def whole_turns(batch: int) -> Loop:
    """Our games, a turn at a time."""
    game = jaxgames.make("backgammon")
    step = functools.partial(ply, game, game.random_turn)
    return Loop("whole turns", "jaxgames", "turns", starts(game.init_position, batch), step, 1000)


def single_moves(name: str, batch: int, sample: Sample) -> Loop:
    """Our games, a checker at a time, as one would write it for pgx."""
    game = jaxgames.make("backgammon")

    def step(states, key):
        choice_key, step_key, reset_key = jax.random.split(key, 3)
        actions = sample(choice_key, states.legal_action_mask)
        states = jax.vmap(game.step)(states, actions, jax.random.split(step_key, batch))
        over = states.terminated
        fresh = jax.vmap(game.init)(jax.random.split(reset_key, batch))

        def choose(new, old):
            return jnp.where(over.reshape(-1, *(1,) * (new.ndim - 1)), new, old)

        return jax.tree.map(choose, fresh, states), over

    return Loop(name, "jaxgames", "steps", starts(game.init, batch), step, 1000)


def pgx_moves(name: str, pgx: Any, batch: int, sample: Sample) -> Loop:
    """pgx's games, as its documentation plays them."""
    env = pgx.make("backgammon")
    step_or_reset = jax.vmap(peer("pgx.experimental.wrappers").auto_reset(env.step, env.init))

    def step(states, key):
        choice_key, step_key = jax.random.split(key)
        actions = sample(choice_key, states.legal_action_mask)
        states = step_or_reset(states, actions, jax.random.split(step_key, batch))
        return states, states.terminated

    return Loop(name, "pgx", "steps", starts(env.init, batch), step, 200)


def starts(start: Callable[[jax.Array], Any], batch: int) -> Callable[[jax.Array], Any]:
    """New games."""
    return lambda key: jax.vmap(start)(jax.random.split(key, batch))


def measure(report: Report, loop: Loop, batch: int, options: Any, at_least: float | None = None) -> Figure:
    """Games per second, and steps. Before the first repeat the games are played on until their phases are mixed."""

    def play(games, key):
        games, over = jax.lax.scan(loop.step, games, jax.random.split(key, loop.steps))
        return games, jnp.sum(over, dtype=jnp.int32)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        key = jax.random.key(options.seed)
        games = jax.jit(loop.start)(key)
        program, seconds = compiled(play, games, key)

    def run(number):
        nonlocal games
        games, ended = program(games, jax.random.fold_in(key, number))
        return ended

    warm_up = WARM_UP_TURNS if loop.unit == "turns" else WARM_UP_STEPS
    timings = timed(run, float, options.repeats, -(-warm_up // loop.steps))
    # All repeats together say how long a game is, as chance decides how many of them end in one repeat.
    steps, ended = batch * loop.steps, sum(timing.amount for timing in timings)
    length = steps * len(timings) / max(ended, 1)
    timings = [timing._replace(amount=steps) for timing in timings]
    what, note = f"{loop.name}, batch {batch:,}", f"{length:.0f} {loop.unit} a game"
    games_rate = Figure(
        what,
        loop.by,
        "games/s",
        tuple(steps / length / timing.wall for timing in timings),
        tuple(timings),
        compile_seconds=seconds,
        at_least=at_least,
        note=note,
    )
    report.add(rate(what, loop.by, f"{loop.unit}/s", timings))
    return report.add(games_rate)


if __name__ == "__main__":
    sys.exit(main())
