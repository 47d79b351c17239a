"""The tests that lower the step size: the player against its own state 25,000 games younger."""

import dataclasses

import jax
import jax.numpy as jnp

from jaxgames.algos.td import TDConfig, TestedStepSizes
from jaxgames.algos.td.saved import TDCheckpoint
from jaxgames.algos.td.step_sizes import GAMES_BETWEEN_TESTS, GAMES_PER_TEST, TESTS
from jaxgames.arena import match
from jaxgames.players.player import Player


def plies_in_update(config: TDConfig, plies_per_game: int) -> int:
    """Plies of one update, all games together."""
    return config.batch * (plies_per_game if config.method == "monte_carlo" else config.plies)


def updates_per_test(config: TDConfig, plies_per_game: int) -> int:
    """Updates in which about 1,000 games are played."""
    return max(1, round(GAMES_BETWEEN_TESTS * plies_per_game / plies_in_update(config, plies_per_game)))


def after_block(checkpoint: TDCheckpoint, player: Player, config: TDConfig) -> TDCheckpoint:
    """Tests the player after a block of about 1,000 games, and returns the checkpoint with the next step size.

    The first 25 blocks have no younger self to meet. Gradients are sums over the games played at once; the factor
    makes means of them, so that a step size means what it means for a single game.
    """
    tests = checkpoint.tests
    assert tests is not None, "only for the schedule `tested`"
    known = int(tests.known)
    schedule = TestedStepSizes(int(tests.place), tuple(map(float, tests.points[TESTS - known :])))
    if int(tests.number) >= TESTS:
        younger = dataclasses.replace(player, name="younger", params=jax.tree.map(lambda x: x[0], tests.younger))
        result = match(player, younger, GAMES_PER_TEST, seed=int(tests.number), batch=GAMES_PER_TEST)
        schedule = schedule.after_test(result.ppg * GAMES_PER_TEST)
    points = [0.0] * (TESTS - len(schedule.recent)) + list(schedule.recent)
    tests = tests._replace(
        younger=jax.tree.map(lambda all_, new: jnp.concatenate([all_[1:], new[None]]), tests.younger, player.params),
        points=jnp.asarray(points, jnp.float32),
        known=jnp.int32(len(schedule.recent)),
        number=tests.number + 1,
        place=jnp.int32(schedule.index),
    )
    factor = jnp.full_like(checkpoint.state.factor, schedule.step_size / config.batch)
    return checkpoint._replace(state=checkpoint.state._replace(factor=factor), tests=tests)
