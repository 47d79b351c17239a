"""When a TD training is tested for its step size, and what the test changes."""

import jax.numpy as jnp

from jaxgames.algos.td import TDConfig
from jaxgames.algos.td.saved import TDCheckpoint
from jaxgames.algos.td.step_sizes import GAMES_BETWEEN_TESTS
from jaxgames.players.player import Player
from jaxgames.recipes.strength import after_test


def plies_in_update(config: TDConfig, plies_per_game: int) -> int:
    """Plies of one update, all games together."""
    if config.sequential:
        return config.games * plies_per_game
    return config.batch * (plies_per_game if config.method == "monte_carlo" else config.plies)


def updates_per_test(config: TDConfig, plies_per_game: int) -> int:
    """Updates in which about 1,000 games are played; exactly 1,000 where games are played one after the other."""
    return max(1, round(GAMES_BETWEEN_TESTS * plies_per_game / plies_in_update(config, plies_per_game)))


def after_block(checkpoint: TDCheckpoint, player: Player, config: TDConfig) -> TDCheckpoint:
    """The checkpoint with the next step size. Gradients are sums over the games played at once; the factor makes means
    of them, so that a step size means what it means for a single game.
    """
    assert checkpoint.tests is not None, "only for the schedule `tested`"
    tests = after_test(checkpoint.tests, player)
    factor = jnp.full_like(checkpoint.state.factor, tests.schedule.step_size / config.batch)
    return checkpoint._replace(state=checkpoint.state._replace(factor=factor), tests=tests)
