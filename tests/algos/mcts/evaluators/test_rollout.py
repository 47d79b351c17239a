"""Rollouts that end, rollouts that never would, and actions drawn with a temperature: in games that compile fast."""

import dataclasses
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgames.algos import mcts
from tests.algos.small_games import Heap, Nim

BATCH = 64


@dataclasses.dataclass(frozen=True)
class EndlessNim(Nim):
    """Nim in which nobody can take the last one: no game ends."""

    id: ClassVar[str] = "endless_nim"

    def play(self, position, action):
        outcome = super().play(position, action)
        left = jnp.where(outcome.over, 12, outcome.position.left)
        return outcome._replace(position=Heap(left), over=jnp.bool_(False))


def searched(game, heap, simulations, batch=BATCH, **options):
    """A search of the same heap in all lanes."""
    states = game.state(Heap(jnp.full(batch, heap, jnp.int32)), np.zeros(batch, np.int32))
    return mcts.search(game, states, jax.random.key(1), simulations, **options)


@pytest.mark.parametrize("evaluate", [mcts.rollout(), mcts.last_good_reply(max_plies=30)], ids=["rollout", "replies"])
def test_games_that_never_end_are_worth_nothing(evaluate):
    found = searched(EndlessNim(), 12, 3, batch=2, evaluate=evaluate)
    assert found.visits.sum(axis=1).tolist() == [3, 3]
    assert found.values.tolist() == [0, 0] and not found.tree.root("value_sums").any()


def test_a_rollout_plays_no_more_than_the_limit():
    # Simulation 1 takes 1, 2 or 3 of 4; what is left ends with the next action if that takes all of it.
    one, many = (searched(Nim(), 4, 1, evaluate=mcts.rollout(max_plies=plies)).values for plies in (1, 4))
    assert set(np.asarray(one).tolist()) == {0.0, -1.0}
    assert set(np.asarray(many).tolist()) == {1.0, -1.0}
    for plies in (0, 2.5, 2**31):
        with pytest.raises(ValueError, match=f"max_plies {plies}: expected a whole number from 1 "):
            mcts.rollout(max_plies=plies)


def constant(params, observation):
    """The same policy everywhere, and no idea of values."""
    return jnp.broadcast_to(params[None, :], (len(observation), 3)), jnp.zeros(len(observation))


@pytest.mark.parametrize("temperature", [0.5, 2.0])
def test_actions_are_drawn_by_weights_to_the_inverse_temperature(temperature):
    network = mcts.network(constant, jnp.array([1.5, 0.5, 0.0]))
    found = searched(Nim(), 12, 24, 2048, select=mcts.puct(), evaluate=network, temperature=temperature)
    weights = np.asarray(found.weights)[0]
    assert (np.asarray(found.weights) == weights).all() and len(set(weights.tolist())) == 3
    expected = weights ** (1 / temperature) / (weights ** (1 / temperature)).sum()
    drawn = np.bincount(np.asarray(found.actions), minlength=3) / 2048
    np.testing.assert_allclose(drawn, expected, atol=4 * np.sqrt(0.25 / 2048))
    inverted = weights**temperature / (weights**temperature).sum()
    assert np.abs(expected - inverted).max() > 0.1  # or it would not be seen
