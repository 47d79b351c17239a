"""AlphaZero's self-play with learning in Connect Four: moves/s beside pgx and mctx, and beside the network alone.

All rows are the same update: every game plays some plies by Gumbel search, finished games go into the replay buffer,
and the network learns minibatches. Only games and search differ: ours; pgx's Connect Four with mctx's Gumbel search, in
blocks of its best size; and, as the limit, no search but as many evaluations of the network.
"""

import argparse
import dataclasses
import math
import sys
import warnings
from typing import Any

import _search as programs
import jax
import jax.numpy as jnp
from _common import begin, compiled, finish, names, numbers, one_line_errors, parsed, parser, peer, rate
from _figures import Comparison, Figure, Report
from _games_timing import in_turn

from jaxgames.algos.alphazero import AlphaZeroConfig, AlphaZeroLearner, make_learner
from jaxgames.algos.alphazero.learner import Examples
from jaxgames.algos.alphazero.self_play import Plies, draw, results_backwards
from jaxgames.nets import NetworkSpec
from jaxgames.ops.pytrees import select

TITLE = "AlphaZero: moves of self-play with learning per second"
OURS, PEER, LIMIT = "jaxgames", "pgx and mctx", "the network alone"
NETWORKS = {
    "mlp": ("MLP 256-256", NetworkSpec(hidden=(256, 256)), 2.0),
    "residual": ("residual 3 x 32", NetworkSpec("residual", blocks=3, channels=32), 1.1),
}
"""Title, description, and how many times the peer's moves ours should be."""
BLOCKS = {"mlp": (16, 64, 256), "residual": (64, 256)}
MOST_COMPILE_SECONDS = 15.0


def main() -> int:
    """All networks at all batch sizes."""
    options = parser(TITLE, repeats=3)
    options.add_argument("--against", type=names(("pgx",), "none"), default=["pgx"], help="pgx (with mctx) or none")
    options.add_argument("--networks", type=names(tuple(NETWORKS)), default=list(NETWORKS), help="mlp,residual")
    options.add_argument("--batch", type=numbers, default=[256, 1024], help="games at once (default 256,1024)")
    options.add_argument("--simulations", type=int, default=32, help="of each move (default 32)")
    options.add_argument("--plies", type=int, default=8, help="of each game in an update (default 8)")
    options.add_argument("--seconds", type=float, default=2.0, help="of each repeat, at least (default 2)")
    options = parsed(options)
    if options.quick:
        options.batch, options.simulations, options.plies, options.repeats, options.seconds = [8], 4, 2, 1, 0.01
        options.networks = options.networks[:1]
    begin()
    report = Report("alphazero", TITLE)
    against = bool(options.against) and all([peer("pgx"), peer("mctx")])
    for network in options.networks:
        for batch in options.batch:
            one_size(report, network, batch, against, options)
    report.notes.append(
        "an optimizer step for each ply, on minibatches of twice the games; games begin at the first move"
    )
    return finish(report, options, ("pgx", "mctx", "flax", "optax"))


def one_size(report: Report, network: str, batch: int, against: bool, options: argparse.Namespace) -> None:
    """Our update, the peer's and the limit, their repeats in turn."""
    game = programs.make("connect_four")
    title, spec, ratio = NETWORKS[network]
    plies = options.plies
    config = AlphaZeroConfig(
        spec,
        batch=batch,
        plies=plies,
        simulations=options.simulations,
        opening_plies=0,
        buffer_plies=16 * plies,
        steps=plies,
        minibatch=2 * batch,
    )
    ours = make_learner(game, config)
    fields = {"game": game, "network": ours.network, "config": config}
    learners: list[tuple[str, AlphaZeroLearner]] = [(LIMIT, NetworkAlone(**fields)), (OURS, ours)]
    if against:
        env = programs.pgx_game("connect_four")
        params = jax.jit(ours.init)(jax.random.key(0)).params
        states = jax.vmap(env.init)(jax.random.split(jax.random.key(0), batch))
        search = programs.mctx(env, options.simulations, ours.network.apply, "Gumbel")
        tried = BLOCKS[network] if jax.default_backend() == "cpu" else ()
        sizes = [size for size in tried if size <= batch] or [batch]
        rates = programs.best_blocks(search, params, states, options.simulations, sizes)
        block = max(rates, key=rates.__getitem__)
        found = ", ".join(f"{size}: {value:,.0f}" for size, value in rates.items())
        what = f"{title}, batch {batch:,}: mctx's simulations/s by blocks of {found}"
        report.notes.append(what)
        learners.append((PEER, PgxLearner(**fields, env=env, block=block)))
    runners = [Updates(by, learner, options.seconds, options.seed) for by, learner in learners]
    row = f"AlphaZero, Connect Four, {title}, batch {batch:,}, {options.simulations} simulations"
    figures: dict[str, Figure] = {}
    for runner, (timings, _) in zip(runners, in_turn(runners, options.repeats), strict=True):
        more = {"compile_seconds": runner.compile_seconds}
        figures[runner.by] = report.add(rate(row, runner.by, "moves/s", timings, **more))
    theirs, limit = figures.get(PEER), figures[LIMIT]
    report.comparisons.append(Comparison(row, figures[OURS], theirs))
    if theirs:
        times = tuple(a / b for a, b in zip(figures[OURS].values, theirs.values, strict=True))
        report.add(Figure(f"{row}: times the peer", OURS, "x", times, at_least=ratio, form=".2f"))
    for by in (OURS, *([PEER] if theirs else [])):
        shares = tuple(100 * a / b for a, b in zip(figures[by].values, limit.values, strict=True))
        least = 85.0 if (by, network) == (OURS, "residual") else None
        report.add(Figure(f"{row}: of what {LIMIT} does", by, "%", shares, at_least=least, form=".0f"))
    seconds = figures[OURS].compile_seconds
    report.add(Figure(f"{row}: compiling the update", OURS, "s", (float(seconds or 0),), at_most=MOST_COMPILE_SECONDS))


class Updates:
    """Updates of a learner as a compiled program, after enough of them that games are in all their phases."""

    mode, unit = "", "moves"

    def __init__(self, by: str, learner: AlphaZeroLearner, seconds: float, seed: int):
        self.by, self.key, self.number = by, jax.random.key(seed), 0
        self.amount = learner.config.batch * learner.config.plies
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.state = jax.jit(learner.init)(self.key)
            self.program, self.compile_seconds = compiled(learner.update, self.state, self.key, donate_argnums=0)
        self.calls = 1
        ((timings, _),) = in_turn([self], 2)
        self.calls = max(1, math.ceil(seconds / timings[-1].wall))

    def run(self) -> tuple[int, None]:
        """Updates; how many moves that were."""
        for _ in range(self.calls):
            self.number += 1
            self.state, metrics = self.program(self.state, jax.random.fold_in(self.key, self.number))
        jax.block_until_ready(metrics)
        return self.calls * self.amount, None


@dataclasses.dataclass(frozen=True)
class NetworkAlone(AlphaZeroLearner):
    """As many evaluations as the search makes, with the root's, and the same learning; the games stand still."""

    def _play(self, params: Any, states: Any, key: jax.Array) -> Any:
        config, observation = self.config, states.observation
        count = config.plies * (config.simulations + 1)

        def evaluate(number, total):
            logits, value = self.network.apply(params, observation ^ (total[0] > 1e30))  # see search_networks.py
            return total + value + jnp.max(logits, axis=1)

        total = jax.lax.fori_loop(0, count, evaluate, jnp.zeros(config.batch))
        shape = config.plies, config.batch
        plies = Plies(
            jax.tree.map(lambda x: jnp.broadcast_to(x, (config.plies, *x.shape)), states._position),
            jnp.full((*shape, self.game.num_actions), 1 / self.game.num_actions, jnp.float16),
            jnp.broadcast_to(jnp.tanh(total), shape),
            jnp.zeros(shape, jnp.int32),
            jnp.ones(shape, bool),
            jnp.zeros(shape),
            jnp.ones(shape, bool),
        )
        return states, plies, {"games": jnp.int32(0), "plies_of_games": jnp.int32(0)}


@dataclasses.dataclass(frozen=True)
class PgxLearner(AlphaZeroLearner):
    """The same update over pgx's game with mctx's search, in blocks of so many games."""

    env: Any = None
    block: int = 0

    def _begin(self, key: jax.Array) -> Any:
        return jax.vmap(self.env.init)(jax.random.split(key, self.config.batch))

    def _examples(self, plies: Plies) -> Examples:
        result = jnp.where(plies.player == 0, plies.result, -plies.result)
        share, known = self.config.result_share, plies.known.astype(jnp.float32)
        observation, legal = plies.position
        value = share * result + (1 - share) * plies.root_value
        return Examples(observation, legal, plies.policy.astype(jnp.float32), value, known, known)

    def _play(self, params: Any, states: Any, key: jax.Array) -> Any:
        search = programs.in_blocks(self._searched, self.block)

        def ply(states, key):
            search_key, draw_key, begin_key = jax.random.split(key, 3)
            policy, value = search(params, states, search_key)
            after = jax.vmap(self.env.step)(states, draw(policy, self.config.temperature, draw_key))
            ended = after.terminated | after.truncated
            record = Plies(
                (states.observation, states.legal_action_mask),
                policy.astype(jnp.float16),
                value,
                states.current_player,
                jnp.ones_like(ended),
                after.rewards[:, 0],
                ended,
            )
            return select(ended, self._begin(begin_key), after), (record, jnp.where(ended, after._step_count, 0))

        states, (plies, lengths) = jax.lax.scan(ply, states, jax.random.split(key, self.config.plies))
        counts = {"games": jnp.sum(plies.known, dtype=jnp.int32), "plies_of_games": jnp.sum(lengths, dtype=jnp.int32)}
        result, known = results_backwards(plies.result, plies.known)
        return states, plies._replace(result=result, known=known), counts

    def _searched(self, params: Any, states: Any, key: jax.Array) -> Any:
        """The improved policy and the root's value."""
        config = self.config
        return programs.mctx_policy(self.env, config.simulations, self.network.apply, config.considered)(
            params, states, key
        )


if __name__ == "__main__":
    with one_line_errors():
        sys.exit(main())
