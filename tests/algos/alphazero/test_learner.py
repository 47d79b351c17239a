"""Games of self-play, and tiny trainings that must learn."""

import functools
from types import SimpleNamespace

import chex
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames.algos import mcts
from jaxgames.algos.alphazero import AlphaZeroConfig, make_learner, self_play
from jaxgames.algos.alphazero.learner import Examples, _clip, examples_of, loss, turn
from jaxgames.algos.alphazero.self_play import Plies, begin_games, draw, play
from jaxgames.algos.imitation import ImitationConfig
from jaxgames.algos.imitation import make_learner as make_imitation_learner
from jaxgames.nets import NetworkSpec
from tests.algos.small_games import Nim

GAME = jaxgames.make("tic_tac_toe")
CONFIG = AlphaZeroConfig(
    NetworkSpec(hidden=(32,)),
    batch=32,
    plies=4,
    simulations=8,
    buffer_plies=16,
    steps=4,
    minibatch=64,
    updates=60,
    step_size=0.01,
    ema=0.9,
)


@pytest.fixture(scope="module")
def learner():
    return make_learner(GAME, CONFIG)


@pytest.fixture(scope="module")
def update(learner):
    return jax.jit(learner.update)


@pytest.fixture(scope="module")
def first(learner):
    return jax.jit(learner.init)(jax.random.key(0))


def test_actions_are_drawn_by_their_weights():
    weights = jnp.tile(jnp.array([0.0, 0.2, 0.8]), (20_000, 1))
    for temperature, share in ((1.0, 0.8), (0.5, 16 / 17), (2.0, 2 / 3)):
        counts = np.bincount(np.asarray(draw(weights, temperature, jax.random.key(3))), minlength=3) / 20_000
        np.testing.assert_allclose(counts, [0, 1 - share, share], atol=0.012)


def test_games_begin_after_random_plies():
    states = begin_games(GAME, jax.random.key(0), 3000, 2)
    counts = np.bincount(np.asarray(states._step_count))
    assert len(counts) == 3 and abs(counts - 1000).max() < 130
    assert not np.any(begin_games(GAME, jax.random.key(0), 50, 0)._step_count)


def test_no_game_begins_that_is_over():
    states = jax.jit(lambda key: begin_games(Nim(), key, 64, 4))(jax.random.key(0))
    assert np.max(states._step_count) == 4 and not np.any(states.terminated)


@pytest.fixture(scope="module")
def played(learner, first):
    """`played(reuse)` is what `play` gives with and without the trees of the plies before."""

    @functools.cache
    def of(reuse):
        config = CONFIG.replace(search="puct", reuse=reuse)
        run = jax.jit(functools.partial(play, GAME, config, learner.network.apply))
        return run(first.params, first.states, jax.random.key(1))

    return of


def test_play_records_the_games_that_it_plays(first, played):
    """Every recorded position follows from the one before by a legal action, and results are those of the rules."""
    states, plies, counts = played(False)
    record = jax.device_get(plies)
    starts = jax.device_get(first.states._position)
    np.testing.assert_array_equal(jax.tree.leaves(record.position)[0][0], jax.tree.leaves(starts)[0])
    np.testing.assert_allclose(record.policy.astype(np.float32).sum(-1), 1, atol=0.01)
    legal = jax.vmap(jax.vmap(GAME.legal))(plies.position)
    assert not np.any((record.policy > 0) & ~np.asarray(legal))
    assert int(counts["games"]) > 0 and np.all(np.isin(record.result[record.known], [-1, 0, 1]))
    assert len(states.terminated) == CONFIG.batch and not np.any(states.terminated)


def test_a_search_goes_on_in_the_tree_of_the_ply_before(played):
    """Without it a policy is so many visits of so many simulations; with it those of earlier plies count, too."""
    multiples = {}
    for reuse in (False, True):
        _, plies, counts = played(reuse)
        games, lengths = int(counts["games"]), int(counts["plies_of_games"])
        assert 0 < 5 * games <= lengths <= 9 * games
        visits = np.asarray(plies.policy, np.float64) * CONFIG.simulations
        multiples[reuse] = np.all(np.abs(visits - np.round(visits)) < 0.01, axis=(1, 2))
    assert multiples[False].tolist() == [True] * CONFIG.plies
    assert multiples[True].tolist() == [True] + [False] * (CONFIG.plies - 1), "a new update begins with new trees"


@pytest.mark.parametrize("search", CONFIG.declarations()["search"].choices)
def test_a_search_has_noise_just_where_it_can_be_set(search, first, monkeypatch):
    def noise_of(game, states, key, simulations, *, noise, **_):
        raise StopIteration(noise)

    monkeypatch.setattr(mcts, "search", noise_of)
    learner = make_learner(GAME, CONFIG.replace(search=search))
    settings = {name for name in ("noise_alpha", "noise_fraction") if name in learner.config.to_json()}
    with pytest.raises(StopIteration) as found:
        learner.update(first, jax.random.key(0))
    assert found.value.value == (mcts.dirichlet(0.3, 0.25) if settings else None)
    assert len(settings) in (0, 2)


def test_nothing_is_learned_before_a_game_ends(update, first):
    """Four plies after they began."""
    start = first._replace(states=begin_games(GAME, jax.random.key(0), CONFIG.batch, 0))
    after, metrics = update(start, jax.random.key(1))
    assert int(metrics["games"]) == 0 and int(after.updates) == 1
    jax.tree.map(np.testing.assert_array_equal, (after.params, after.optimizer), (start.params, start.optimizer))


def test_a_tiny_training_learns(learner, update, first):
    state, losses = first, []
    for number in range(60):
        state, metrics = update(state, jax.random.fold_in(jax.random.key(7), number))
        losses.append(metrics)
    early, late = (np.mean([float(m["value_loss"]) for m in part]) for part in (losses[1:11], losses[-10:]))
    assert late < 0.8 * early
    # With two in a row it completes the line, and blocks the other one's.
    for text in ("XX./OO./...", "X.X/.O./O.."):
        logits, _ = learner.network.apply(state.mean_params, GAME.from_string(text).observation[None])
        legal = np.asarray(GAME.from_string(text).legal_action_mask)
        assert np.argmax(np.where(legal, logits[0], -np.inf)) == text.replace("/", "").index(".")


def test_an_update_is_reproduced_bit_by_bit(update, first):
    one, other = (update(first, jax.random.key(9))[0] for _ in range(2))
    jax.tree.map(np.testing.assert_array_equal, one, other)
    # Of four steps each is one part in ten of the mean.
    moved = (one.params, first.params), (one.mean_params, first.mean_params)
    far = [
        sum(((x - y) ** 2).sum() for x, y in zip(*map(jax.tree.leaves, pair), strict=True))
        for pair in jax.device_get(moved)
    ]
    assert 0 < far[1] < 0.4**2 * far[0]
    different = update(first, jax.random.key(10))[0]
    assert any(jax.tree.leaves(jax.tree.map(lambda a, b: bool(np.any(a != b)), one.params, different.params)))


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float8_e4m3fn"])
def test_weights_whose_mean_would_not_move_are_refused(learner, dtype):
    class Small:
        apply = learner.network.apply

        def init(self, *given):
            return jax.tree.map(lambda x: x.astype(dtype), learner.network.init(*given))

    with pytest.raises(TypeError, match=f"weights of {dtype}: expected float32"):
        jax.eval_shape(make_learner(GAME, CONFIG, Small()).init, jax.random.key(0))


def test_a_buffer_that_does_not_fit_is_said_before():
    config = CONFIG.replace(buffer_plies=4 * 10**10)
    with pytest.raises(
        ValueError, match=r"no room for the replay buffer: 40,000,000,000 plies of 32 games need .* fits"
    ):
        make_learner(GAME, config).check()
    fits = str(pytest.raises(ValueError, make_learner(GAME, config).check).value).split()[-2].replace(",", "")
    rows = int(fits) // 2 // 4 * 4
    make_learner(GAME, CONFIG.replace(buffer_plies=rows)).check()
    with pytest.raises(ValueError, match="no room"):
        make_learner(GAME, CONFIG.replace(buffer_plies=4 * rows)).check()


GAME = jaxgames.make("tic_tac_toe")


def test_values_are_those_of_the_player_to_act():
    states = jax.jit(jax.vmap(GAME.init))(jax.random.split(jax.random.key(0), 4))
    plies = Plies(
        states._position,
        policy=np.ones((4, 9), np.float16) / 9,
        root_value=np.full(4, 0.5, np.float32),
        player=np.array([0, 1, 0, 0], np.int32),
        is_target=np.array([1, 0, 1, 1], bool),
        result=np.array([1, -1, 0, 1], np.float32),
        known=np.array([1, 1, 1, 0], bool),
    )
    found = examples_of(GAME, jax.tree.map(jnp.asarray, plies), 0.75)
    np.testing.assert_allclose(found.value[:3], [0.75 + 0.125, 0.75 + 0.125, 0.125])
    np.testing.assert_array_equal(found.value_weight, [1, 1, 1, 0])
    np.testing.assert_array_equal(found.policy_weight, [1, 0, 1, 0])


def test_turned_examples_are_the_same_positions_seen_otherwise():
    game = jaxgames.make("connect_four")
    state = functools.reduce(game.step, [0, 0, 1], game.init(jax.random.key(0)))
    batch = jax.tree.map(lambda x: jnp.stack([x] * 64), state)
    policy = jnp.arange(7, dtype=jnp.float32) / 21
    one = Examples(
        batch.observation, batch.legal_action_mask, jnp.tile(policy, (64, 1)), *(jnp.ones(64) for _ in range(3))
    )
    found = turn(game, one, jax.random.key(1))
    mirrored = np.asarray(found.policy[:, 0]) > 0
    assert 16 < mirrored.sum() < 48
    np.testing.assert_array_equal(found.observation[mirrored], one.observation[mirrored][:, :, ::-1])
    np.testing.assert_array_equal(found.observation[~mirrored], one.observation[~mirrored])
    np.testing.assert_allclose(found.policy[mirrored], one.policy[mirrored][:, ::-1])


def test_the_loss_is_cross_entropy_and_squared_error():
    rng = np.random.default_rng(2)
    logits, value = rng.normal(size=(6, 4)).astype(np.float32), rng.normal(size=6).astype(np.float32)
    legal = rng.random((6, 4)) < 0.7
    legal[:, 0] = True
    policy = np.where(legal, rng.random((6, 4)), 0).astype(np.float32)
    policy /= policy.sum(1, keepdims=True)
    weights = np.array([[1, 1, 0, 1, 1, 0], [1, 1, 1, 1, 1, 0]], np.float32)
    target = rng.normal(size=6).astype(np.float32)
    examples = Examples(jnp.zeros((6, 1)), jnp.asarray(legal), jnp.asarray(policy), jnp.asarray(target), *weights)
    total, metrics = loss(lambda params, x: (jnp.asarray(logits), jnp.asarray(value)), (), examples, 3.0, 0.5)
    log_policy = np.where(legal, logits, -np.inf)
    log_policy = log_policy - np.log(np.exp(log_policy).sum(1, keepdims=True))
    entropy = -(policy * np.where(legal, log_policy, 0)).sum(1)
    expected = (entropy * weights[0]).sum() / 4, (((value - target) / 3) ** 2 * weights[1]).sum() / 5
    np.testing.assert_allclose((metrics["policy_loss"], metrics["value_loss"]), expected, rtol=1e-5)
    np.testing.assert_allclose(total, expected[0] + 0.5 * expected[1], rtol=1e-5)
    unsure = -np.where(legal, np.exp(log_policy) * np.where(legal, log_policy, 0), 0).sum(1)
    np.testing.assert_allclose(metrics["entropy"], (unsure * weights[0]).sum() / 4, rtol=1e-5)


def test_other_devices_clip_the_same_gradient(monkeypatch):
    """By one norm of all weights: a long gradient is shortened to the limit, a short one stays."""
    clip, key = _clip(1.0), jax.random.key(0)
    for size in (0.01, 10.0):
        gradient = {"kernel": size * jax.random.normal(key, (3, 4)), "bias": jnp.full(4, size)}
        state = clip.init(gradient)
        expected, _ = clip.update(gradient, state)
        with monkeypatch.context() as patch:
            patch.setattr(jax.lax, "platform_dependent", lambda x, cpu, default: default(x))
            found, _ = clip.update(gradient, state)
        chex.assert_trees_all_close(found, expected, rtol=1e-6)
        assert bool(jnp.all(found["bias"] == gradient["bias"])) == (size < 1)


@pytest.mark.parametrize("algorithm", ["alphazero", "imitation"])
def test_step_sizes_fall_over_all_steps(algorithm):
    """By half a cosine; the steps of Adam are as long as the step size while the gradient stays."""
    changes = {"step_size": 0.01, "last_step_size": 0.002}
    if algorithm == "alphazero":
        optimizer = make_learner(GAME, CONFIG.replace(updates=3, steps=4, weight_decay=0.0, **changes)).optimizer
    else:
        config = ImitationConfig(NetworkSpec(hidden=(8,)), optimizer="adam", steps=12, **changes)
        optimizer = make_imitation_learner(GAME, config).optimizer

    def step(state, _):
        updates, state = optimizer.update(jnp.ones(1), state, jnp.zeros(1))
        return state, updates[0]

    with jax.numpy_dtype_promotion("standard"):
        _, steps = jax.lax.scan(step, optimizer.init(jnp.zeros(1)), None, 14)
    done = np.minimum(np.arange(14) / 12, 1)
    np.testing.assert_allclose(-steps, 0.002 + 0.004 * (1 + np.cos(np.pi * done)), rtol=1e-3)


def test_so_many_searches_are_full_ones(monkeypatch):
    """Three quarters are fast."""

    def search(key):
        (simulations, *_), full = self_play._search(GAME, config, None, None, key, key, None)
        return simulations, full

    def searched(game, states, key, simulations, **_):
        return SimpleNamespace(weights=jnp.float32(simulations), values=0, actions=0, tree=None)

    monkeypatch.setattr(mcts, "search", searched)
    config = CONFIG.replace(fast_share=0.75, fast_simulations=3)
    simulations, full = jax.device_get(jax.jit(jax.vmap(search))(jax.random.split(jax.random.key(0), 400)))
    assert 60 < full.sum() < 140 and (simulations == np.where(full, 8, 3)).all()


def test_only_full_searches_are_targets(monkeypatch):
    """A search says of each ply whether it was full: here its values tell it, too."""

    def search(game, config, evaluate, states, key, fast_key, tree):
        full = jax.random.bernoulli(fast_key)
        policy = states.legal_action_mask.astype(jnp.float32)
        return (policy, jnp.full(len(policy), full, jnp.float32), jnp.argmax(policy, axis=1), tree), full

    monkeypatch.setattr(self_play, "_search", search)
    config = CONFIG.replace(batch=2, plies=8, buffer_plies=8)
    states = self_play.begin_games(GAME, jax.random.key(0), config.batch, 0)
    play = jax.jit(lambda states: self_play.play(GAME, config, lambda *_: None, None, states, jax.random.key(0))[1])
    plies = jax.device_get(play(states))
    assert plies.is_target.any() and (plies.is_target == (plies.root_value > 0)).all() and not plies.is_target.all()
