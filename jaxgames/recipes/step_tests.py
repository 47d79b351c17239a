"""The tests that lower the step size: the player against its own state 25,000 games younger."""

import dataclasses

import jax

from jaxgames.algos.td.step_sizes import GAMES_PER_TEST, Tests
from jaxgames.matches import match
from jaxgames.players.player import Player


def after_test(tests: Tests, player: Player) -> Tests:
    """The tests after a block of about 1,000 games: the player meets its younger self, if there is one."""
    points = None
    if tests.has_younger:
        younger = dataclasses.replace(player, name="younger", params=jax.tree.map(lambda x: x[0], tests.younger))
        result = match(player, younger, GAMES_PER_TEST, seed=int(tests.number), batch=GAMES_PER_TEST)
        points = result.ppg * GAMES_PER_TEST
    return tests.after_block(player.params, points)
