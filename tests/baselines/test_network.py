"""Trained networks as functions of observations: they rate highest what their players play."""

import functools
from importlib import resources

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames import baselines, players
from jaxgames.interop import softsign_norm
from jaxgames.matches import match
from jaxgames.players import champions, packaged
from jaxgames.players.generic import by_policy

GAMES = 16
MOST_BYTES = 5_000_000
CHAMPIONS, TEXTS = champions.champion_games(), tuple(packaged.PUBLISHED)
QUICK = [name for name in baselines.available_baselines() if baselines.card(name)["game"] != "backgammon"]
"""Whole turns of backgammon take long to compile: `make certify` tries them."""


def game_of(name):
    return jaxgames.make(baselines.card(name)["game"])


def player_of(name):
    return players.make(name if name in TEXTS else "champion@1", game_of(name))


@functools.cache
def states_of(game):
    """Games after four random actions."""
    states = jax.jit(jax.vmap(game.init))(jax.random.split(jax.random.key(0), GAMES))
    return jaxgames.rollout(game, states, jax.random.key(1), num_steps=4)[0]


def check(name):
    """The highest legal logit is that of the action that the player takes, and the values are what they should be."""
    game, player = game_of(name), player_of(name)
    apply, params = baselines.load(name)
    states = states_of(game)
    logits, values = jax.jit(apply)(params, states.observation)
    assert logits.shape == states.legal_action_mask.shape and values.shape == (GAMES,)
    assert logits.dtype == values.dtype == jnp.float32 and np.isfinite(logits).all() and np.isfinite(values).all()
    legal = np.where(states.legal_action_mask, logits, -np.inf)
    actions = np.asarray(jax.jit(player.act)(states, jax.random.key(0), player.init_memory(GAMES))[0])
    # Checkers of a turn may be moved in another order, for the same points.
    np.testing.assert_allclose(legal[np.arange(GAMES), actions], legal.max(axis=1), atol=1e-6)
    if game.id != "backgammon":
        assert (legal.argmax(axis=1) == actions).all()
    assert len(set(actions.tolist())) > 1, "positions that tell nothing"
    return states, logits, values


@pytest.mark.parametrize("name", QUICK)
def test_the_highest_logit_is_what_the_player_plays(name):
    check(name)


def test_every_legal_action_is_rated():
    """Also where there are more than one pass has room for: 9 each."""
    game, (apply, params) = jaxgames.make("tic_tac_toe"), baselines.load("tic_tac_toe")
    states = jax.jit(jax.vmap(game.init))(jax.random.split(jax.random.key(2), GAMES))
    logits, _ = jax.jit(apply)(params, states.observation)
    assert (logits > -2).all() and (logits == logits[:1]).all()
    states = jax.jit(jax.vmap(game.step))(states, jnp.arange(GAMES) % 9)
    logits, _ = jax.jit(apply)(params, states.observation)
    np.testing.assert_array_equal(logits > -2, states.legal_action_mask)


def best_turns(states, player):
    """Of backgammon. Closed over, weights are NumPy's, which an index that is traced must not trip over."""
    return states._game.best_turn(states._position, player.value(player.params))


def test_a_state_of_backgammon_is_worth_its_best_turn():
    states, player = states_of(jaxgames.make("backgammon")), player_of("td-gammon-0.0")
    few = jax.tree.map(lambda x: x[:4], states)  # their inputs are looked up one by one
    assert jax.eval_shape(lambda states: best_turns(states, player)[1], few).shape == (4,)
    apply, params = baselines.load("td-gammon-0.0")
    values, best = jax.jit(lambda states: (apply(params, states.observation)[1], best_turns(states, player)[1]))(states)
    np.testing.assert_allclose(values, best, atol=1e-5)


@pytest.mark.parametrize("name", ["tic-tac-toe-evolved", "tic-tac-toe-self-taught", "connect_four"])
def test_gradients_pass(name):
    apply, params = baselines.load(name)
    observation = states_of(game_of(name)).observation

    def loss(params):
        return jnp.mean(jax.nn.logsumexp(apply(params, observation)[0], axis=1))

    gradient = jax.jit(jax.grad(loss, allow_int=True))(params)
    assert any(np.any(leaf != 0) for leaf in jax.tree.leaves(gradient) if leaf.dtype == jnp.float32)


def test_the_logits_of_an_evolved_network_are_the_outputs_that_it_plays_by():
    (apply, params), player = baselines.load("tic-tac-toe-evolved"), player_of("tic-tac-toe-evolved")
    states, policy = states_of(player.game), player.turn.network.policy()
    outputs = jax.jit(policy.outputs)(params[None], jax.tree.map(lambda x: x[None], states._position))
    np.testing.assert_array_equal(jax.jit(apply)(params, states.observation)[0], outputs[0].T)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["td-gammon-0.0", "backgammon"])
def test_the_same_in_backgammon(name):
    """Values are those of the best turn with the dice; following the logits to its end leads to that turn."""
    states, _, values = check(name)
    best = jax.jit(functools.partial(best_turns, player=player_of(name)))(states)
    np.testing.assert_allclose(values, best[1], atol=1e-5)


@pytest.mark.parametrize("name", baselines.available_baselines())
def test_every_baseline_loads(name):
    game, (apply, params) = game_of(name), baselines.load(name)
    states = jax.eval_shape(jax.vmap(game.init), jax.random.split(jax.random.key(0), 3))
    logits, values = jax.eval_shape(lambda params, states: apply(params, states.observation), params, states)
    assert logits.shape == (3, game.num_actions) and values.shape == (3,)
    observation = jax.eval_shape(lambda states: states.observation, states)
    none = jax.ShapeDtypeStruct((0, *observation.shape[1:]), observation.dtype)
    assert jax.eval_shape(lambda params, none: apply(params, none), params, none)[0].shape == (0, game.num_actions)
    assert hash(apply) == hash(baselines.load(name)[0]) and apply == baselines.load(name)[0]
    facts = baselines.card(name)
    assert facts["trained"] and facts["matches"]
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(params))


def test_all_of_them_are_small():
    files = [file for room in ("baselines", "champions") for file in (resources.files("jaxgames") / room).iterdir()]
    weights = {file.name.removesuffix(".safetensors"): file for file in files if file.name.endswith(".safetensors")}
    assert weights.keys() == set(baselines.available_baselines())
    assert {name: len(file.read_bytes()) for name, file in weights.items()} == {
        name: baselines.card(name)["bytes"] for name in weights
    }
    assert sum(len(file.read_bytes()) for file in files if file.is_file()) < MOST_BYTES


@pytest.mark.parametrize("name", [name for name in TEXTS if name in QUICK])
def test_figures_of_the_cards(name):
    """Other games than the card tells of: both are samples of the same strength."""
    row = baselines.card(name)["matches"][0]
    result = match(name, row["opponent"], 400, seed=row["seed"] + 1, game=game_of(name))
    spread = np.hypot(row["ppg_high"] - row["ppg_low"], result.ppg_high - result.ppg_low) / 2
    assert abs(result.ppg - row["ppg"]) < 2.5 * spread + 0.02, (result.ppg, row)


def test_the_evolved_network_is_one_of_the_original_program(data_dir):
    """The program's own moves and outputs are compared in `algos/evolution/test_original_program.py`."""
    trained = baselines.card("tic-tac-toe-evolved")["trained"]
    networks = softsign_norm.load(data_dir / "tic_tac_toe/evolution/nets.txt")
    row = softsign_norm.to_rows(networks)[trained["line"] - 1]
    np.testing.assert_array_equal(baselines.load("tic-tac-toe-evolved")[1], row)


def test_names_in_specs():
    assert players.make("tic-tac-toe-evolved", "tic_tac_toe").name == "tic-tac-toe-evolved"
    assert players.game_of("weak:0.2:checkers-evolved") == "checkers"
    assert "checkers-evolved" in players.available_players("checkers")
    with pytest.raises(ValueError, match="checkers-evolved plays checkers, not connect_four"):
        players.make("checkers-evolved", "connect_four")
    with pytest.raises(ValueError, match="does not value positions, so it cannot look 2 plies ahead"):
        players.make("checkers-evolved@2", "checkers")


def test_players_that_are_networks_and_others():
    def apply(params, observation):
        return observation.reshape(len(observation), -1)[:, :9] * params, observation[:, 0, 0, 0] * 1.0

    game = jaxgames.make("tic_tac_toe")
    assert baselines.from_player(by_policy("mine", game, apply, 2.0)) == (apply, 2.0)
    with pytest.raises(ValueError, match=r"uct:20 is no network; expected the folder of a training, backgammon"):
        baselines.load("uct:20", "tic_tac_toe")
    with pytest.raises(ValueError, match="unknown player 'conect_four'"):
        baselines.load("conect_four", "connect_four")
    with pytest.raises(ValueError, match="unknown baseline 'x'; available: backgammon, checkers"):
        baselines.card("x")
    with pytest.raises(TypeError, match="name a list: expected a text"):
        baselines.card([])
    with pytest.raises(TypeError, match="name 3: expected a text"):
        baselines.load(3)


def test_another_game_is_refused():
    with pytest.raises(ValueError, match="^connect_four is the champion of connect_four, not of checkers$"):
        baselines.load("connect_four", "checkers")
    with pytest.raises(ValueError, match=r"the champion of connect_four has learned on ConnectFour\(rows=6.*not on"):
        baselines.load("connect_four", jaxgames.make("connect_four", rows=5))
    with pytest.raises(ValueError, match="td-gammon-0.0 plays backgammon, not checkers"):
        baselines.load("td-gammon-0.0", "checkers")


@pytest.mark.parametrize("name", baselines.available_baselines())
def test_what_is_no_batch_of_observations_is_refused(name):
    game, (apply, params) = game_of(name), baselines.load(name)
    another = jaxgames.make("checkers" if game.id == "connect_four" else "connect_four")
    one, other = (of.init(jax.random.key(0)).observation for of in (game, another))
    shape = ", ".join(map(str, one.shape))
    wrongs = (one, ValueError), (other[None], ValueError), (one[None].astype(jnp.float32), ValueError), ("x", TypeError)
    for wrong, kind in wrongs:
        with pytest.raises(kind, match=rf"^observation .*: expected \w+\[n, {shape}\] of {game.id}$"):
            apply(params, wrong)
