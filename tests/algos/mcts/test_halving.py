"""The search of one round, beside a slow one in plain Python; what it cannot do is refused."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames.algos import mcts
from jaxgames.ops.random_bits import fold_in
from tests.algos.mcts.positions import compiled, middle_positions, network_of

DISCOUNT, SCALE = 0.9, 0.7


def behind(game, position, edge, bits, is_chance):
    """The position behind an edge, what it is worth to the player before it, and whether the turn passes and the game
    is over.
    """
    look, play, chance, _ = compiled(game)
    if is_chance:
        after, passes, over, reward = chance(position, jnp.int32(edge)), False, False, 0.0
    else:
        after, passes, over, reward = (getattr(play(position, jnp.int32(edge)), name) for name in MOVED)
    value = (1 if is_chance else DISCOUNT) * float(look(after)[1])  # a roll is no action
    return after, float(reward) if over else -value if passes else value, bool(passes), bool(over)


MOVED = ("position", "turn_passes", "over", "reward")


def plain(game, position, bits, number):
    """Visits, policy, value and choice at the root, one action after another."""
    look, _, _, fold = compiled(game)
    logits, own, legal, _ = look(position)
    legal, logits = np.asarray(legal), np.asarray(logits, np.float64)
    edges = max(game.num_actions, len(game.outcome_probabilities))
    prior = np.zeros(edges)
    prior[: game.num_actions] = np.where(legal, np.exp(logits - logits[legal].max()), 0)
    prior /= prior.sum()
    uniform = ((np.array([int(fold(bits, np.uint32(edge))) for edge in range(edges)]) >> 9) + 0.5) / 2**23
    drawn = np.where(prior > 0, -SCALE * np.log(-np.log(uniform)) + np.log(np.maximum(prior, 1e-30)), -np.inf)
    twice = number // 3
    once = [edge for edge in np.argsort(-drawn)[: number - twice] if prior[edge] > 0]
    visits, sums, seen = np.zeros(edges), np.zeros(edges), {}
    for edge in once:
        of_edge = fold(fold(bits, np.uint32(2**31)), np.uint32(edge))
        seen[edge] = of_edge, *behind(game, position, edge, of_edge, False)
        visits[edge], sums[edge] = 1, seen[edge][2]
    scores = drawn + completed(prior, visits, sums, float(own))
    for edge in sorted(once, key=lambda edge: -scores[edge])[:twice]:
        of_edge, after, value, passes, over = seen[edge]
        if not over:
            logits, _, legal, is_chance = look(after)
            of_edge = fold(of_edge, np.uint32(0))
            liked = int(np.argmax(np.where(legal, logits, -np.inf)))
            if bool(is_chance):
                liked = int(game.draw_outcome(of_edge))
            _, below, *_ = behind(game, after, liked, of_edge, bool(is_chance))
            value = DISCOUNT * (-below if passes else below)
        visits[edge], sums[edge] = 2, sums[edge] + value
    values = completed(prior, visits, sums, float(own))
    policy = prior * np.exp(values - values.max())
    best = np.argmax(np.where(visits == visits.max(), drawn + values, -np.inf))
    return visits, policy / policy.sum(), sums.sum() / visits.sum(), best


def completed(prior, visits, sums, own):
    """Completed values of Gumbel MuZero with the mixed value, scaled from 0 to 1 (appendix D, and mctx)."""
    tried, q = visits > 0, sums / np.maximum(visits, 1)
    weighted = (prior * q)[tried].sum() / prior[tried].sum() if tried.any() else 0
    total = visits.sum()
    value = np.where(tried, q, (own + total * weighted) / (total + 1))
    return 0.1 * (50 + visits.max()) * (value - value.min()) / max(value.max() - value.min(), 1e-8)


@pytest.mark.parametrize(
    ("name", "plies", "count", "number"),
    [
        ("tic_tac_toe", 4, 8, 13),
        ("tic_tac_toe", 4, 2, 2),
        ("backgammon", 9, 3, 40),
        pytest.param("connect_four", 20, 6, 8, marks=pytest.mark.slow),
        pytest.param("connect_four", 20, 2, 2, marks=pytest.mark.slow),
    ],
)
def test_results_are_those_of_a_plain_search(name, plies, count, number):
    game = jaxgames.make(name)
    states, bits = middle_positions(game, count, plies), jnp.arange(7, 7 + count, dtype=jnp.uint32)
    of = {"select": mcts.one_round(SCALE), "evaluate": network_of(game), "discount": DISCOUNT}
    found = jax.device_get(mcts.search_positions(game, states._position, bits, number, **of))
    of_tree, positions = jax.device_get((jax.jit(fold_in)(bits, jnp.uint32(0)), states._position))
    for lane in range(count):
        position = jax.tree.map(lambda x, lane=lane: x[lane], positions)
        visits, policy, value, best = plain(game, position, of_tree[lane], number)
        np.testing.assert_array_equal(found.visits[lane], visits[: game.num_actions])
        np.testing.assert_allclose(found.weights[lane], policy[: game.num_actions], atol=2e-5)
        np.testing.assert_allclose(found.values[lane], value, atol=1e-5)
        assert int(found.actions[lane]) == best


def test_ended_games_and_faults_of_the_network_stay_in_their_lane():
    game = jaxgames.make("tic_tac_toe")
    states = middle_positions(game, 64, 7)
    states = jax.jit(jax.vmap(game.step))(states, jnp.argmax(states.legal_action_mask, axis=1))
    over = np.asarray(states.terminated)

    def broken(params, seen):
        return jnp.zeros((len(seen), 9)), jnp.where(seen[:, 0, 0].any(-1), jnp.nan, 0.5)

    found = mcts.search(game, states, jax.random.key(0), 9, select="one_round", evaluate=mcts.network(broken, ()))
    reward = np.asarray(states.rewards)[np.arange(64), np.asarray(states.current_player)]
    np.testing.assert_array_equal(np.asarray(found.values)[over], reward[over])
    assert over.any() and not np.asarray(found.visits)[over].any() and not np.asarray(found.weights)[over].any()
    nan = np.isnan(np.asarray(found.values))
    assert nan.any() and not nan.all() and not nan[over].any()
    np.testing.assert_allclose(np.asarray(found.weights)[~over].sum(axis=1), 1, atol=1e-5)


REFUSED = {
    "simulations": ({"num_simulations": 14}, "9 actions of tic_tac_toe once and .* expected at most 13"),
    "final": ({"final": "mean"}, "plays by its policy"),
    "depth": ({"max_depth": 3}, "leave out max_depth and capacity"),
    "trees": ({"num_trees": 2}, "expected num_trees 1"),
    "learner": (
        {"evaluate": mcts.mixture(0.5, network_of(jaxgames.make("tic_tac_toe")), mcts.mast())},
        "learns nothing",
    ),
    "policy": ({"evaluate": mcts.rollout()}, "needs an evaluator with a policy"),
    "numbers": ({"numbers": {"scale": 1.0}}, "has no number 'scale'"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_has_no_meaning_is_refused(case):
    changes, message = REFUSED[case]
    game = jaxgames.make("tic_tac_toe")
    states = jax.jit(jax.vmap(game.init))(jax.random.split(jax.random.key(0), 2))
    of = {"select": mcts.one_round(), "evaluate": network_of(game), "num_simulations": 8} | changes
    with pytest.raises(ValueError, match=message):
        mcts.search(game, states, jax.random.key(0), **of)
