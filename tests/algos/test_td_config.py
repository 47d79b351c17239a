"""The settings: what is refused, what comes of them, and how they are saved."""

import dataclasses
import json
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxgames.algos.td import ExactTD, MonteCarlo, NStepTD, TDConfig, load_player_value, make_learner, step_sizes
from jaxgames.algos.td.config import METHODS
from jaxgames.algos.td.expected import ExpectedTD
from jaxgames.algos.td.saved import ADDED, config_of
from jaxgames.algos.td.sequential import SequentialBackprop, SequentialTD
from jaxgames.recipes import recipe_named
from jaxgames.recipes.recipe import Plan


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"method": "windows"}, "method='windows': expected one of n_step, exact, monte_carlo"),
        ({"optimizer": "rmsprop"}, "optimizer='rmsprop': expected one of sgd, adam"),
        ({"schedule": "linear"}, "schedule='linear': expected one of constant, cosine, exponential, tested"),
        ({"outputs": 5}, "outputs=5: expected one of 2, 4, 6"),
        ({"lambda_": 1.1}, "lambda_=1.1: expected a number from 0 to 1"),
        ({"lambda_": float("nan")}, "lambda_=nan: expected a number from 0 to 1"),
        ({"epsilon": 1.5}, "epsilon=1.5: expected a number from 0 to 1"),
        ({"restarts": 0.5}, "restarts=0.5: only method='expected' keeps positions to begin at"),
        ({"members": 2}, "members=2: needs method='expected' and one hidden layer"),
        (
            {"members": 2, "hidden": (9, 9), "method": "expected", "output": "softmax"},
            "members=2: needs method='expected' and one hidden layer",
        ),
        ({"teacher": True}, "teacher=True: only method='expected' learns from one"),
        ({"weight_decay": 0.5}, "weight_decay=0.5: only optimizer=adamw has one, not adam"),
        ({"weight_decay": -1, "optimizer": "adamw"}, "weight_decay=-1: expected a number from 0 to"),
        ({"batch": 0}, "batch=0: expected a number from 1 to"),
        ({"plies": 0}, "plies=0: expected a number from 1 to"),
        ({"step_size": -0.1}, "step_size=-0.1: expected a number from 0 to"),
        ({"last_step_size": -1}, "last_step_size=-1: expected a number from 0 to"),
        ({"updates": -1}, "updates=-1: expected a number from 0 to"),
        (
            {"output": "softmax", "method": "exact"},
            "output='softmax' needs cumulative=False, and a method of n",
        ),
        ({"output": "softmax", "cumulative": True}, "output='softmax' needs cumulative=False"),
        (
            {"by_class": True, "method": "monte_carlo"},
            "by_class=True needs a method of n_step, expected",
        ),
        ({"method": "expected"}, "method='expected' learns by cross-entropy: use output=softmax"),
        ({"average": 1.1}, "average=1.1: expected a number from 0 to 1"),
        ({"step_size": 0, "updates": 9, "schedule": "cosine"}, "step_size=0: the schedule cosine needs a number"),
    ],
)
def test_settings_that_make_no_sense(changes, message):
    with pytest.raises(ValueError) as error:
        TDConfig(**changes)
    assert message in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"encoding": "raw"}, "unknown encoding 'raw' of dash; available: observation, track"),
        ({"game": "dashes"}, "unknown game 'dashes'; available: "),
        ({"activation": "gauss"}, "unknown activation 'gauss'; available: "),
        ({"initializer": "random"}, "unknown initializer 'random'; available: "),
        ({"by_class": True}, "by_class=True: the encoding track of dash tells no classes apart"),
        ({"hidden": (40, 0)}, "expected one or more positive whole numbers"),
    ],
)
def test_networks_that_cannot_be(changes, message):
    config = TDConfig(**{"game": "dash", "encoding": "track", **changes})
    with pytest.raises(ValueError) as error:
        make_learner(config).init(jax.random.key(0))
    assert message in str(error.value) and "\n" not in str(error.value)


def test_the_first_players_view_needs_turns_that_alternate():
    config = TDConfig(game="relay", encoding="track", symmetric=False)
    with pytest.raises(ValueError, match="^symmetric=False: a player of relay may act twice in a row; use symmetric"):
        make_learner(config).init(jax.random.key(0))
    for fine in (dataclasses.replace(config, symmetric=True), dataclasses.replace(config, game="dash")):
        assert fine.network().symmetric == fine.symmetric


def test_settings_survive_json():
    config = TDConfig(hidden=(40, 20), symmetric=False, method="exact", lambda_=0.3, biases=False, minibatch=64)
    assert config_of(json.loads(json.dumps(dataclasses.asdict(config)))) == config
    older = {name: value for name, value in dataclasses.asdict(config).items() if name not in ADDED}
    assert config_of(older) == dataclasses.replace(config, biases=True, minibatch=512)
    assert hash(config) == hash(dataclasses.replace(config))
    assert config.hidden == TDConfig(hidden=[40, 20]).hidden


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: s | {"lambda": 0.7}, "unknown setting 'lambda' of a TD learner; known: activation, average, "),
        (
            lambda s: {n: s[n] for n in s if n != "hidden"},
            "setting 'hidden' of a TD learner is missing; expected all of activation, ",
        ),
        (lambda s: s | {"hidden": 40}, "hidden=40 of a TD learner: expected a value such as (40,)"),
        (lambda s: s | {"batch": "128"}, "batch='128' of a TD learner: expected a value such as 128"),
        (lambda s: s | {"symmetric": 1}, "symmetric=1 of a TD learner: expected a value such as True"),
        (lambda s: s | {"step_size": None}, "step_size=None of a TD learner: expected a value such as 0.004"),
        (lambda s: s | {"outputs": 5}, "outputs=5: expected one of 2, 4, 6"),
        (lambda s: [s], "the settings of a TD learner are [{"),
    ],
)
def test_configs_that_cannot_be_read(change, message):
    settings = change(dataclasses.asdict(TDConfig()))
    with pytest.raises(ValueError) as error:
        load_player_value(SimpleNamespace(path="runs/x", config={"learner": settings}))
    assert str(error.value).startswith(f"runs/x/config.json: {message}") and "\n" not in str(error.value)


def test_a_run_without_a_player():
    with pytest.raises(ValueError, match="^runs/x holds no TD player; expected a run of "):
        load_player_value(SimpleNamespace(path="runs/x", config={}))


def test_old_names_still_work():
    with pytest.warns(DeprecationWarning, match="^setting 'decay' is now called 'lambda_'$"):
        assert recipe_named("td-gammon").config(Plan(changes={"decay": "0.5"})).lambda_ == 0.5
    with pytest.warns(DeprecationWarning, match="^setting 'explore' is now called 'epsilon'$"):
        assert config_of({"explore" if n == "epsilon" else n: v for n, v in dataclasses.asdict(TDConfig()).items()})
    for old, new in (("window", "n_step"), ("result", "monte_carlo")):
        with pytest.warns(DeprecationWarning, match=f"^method '{old}' is now called '{new}'$"):
            assert TDConfig(method=old) == TDConfig(method=new)


def sizes(config: TDConfig, steps: int) -> list[float]:
    """The lengths of steps along a gradient of 1."""
    optimizer = config.optimizer_for()
    params, found = jnp.float32(0), []
    state = optimizer.init(params)
    with jax.numpy_dtype_promotion("standard"):  # optax mixes int32 counts with float32
        for _ in range(steps):
            update, state = optimizer.update(jnp.float32(1), state, params)
            found.append(-float(update))
    return found


@pytest.mark.parametrize(("method", "steps"), [("n_step", 3), ("monte_carlo", 3), ("exact", 12)])
def test_schedules_end_with_the_training(method, steps):
    """Exact TD makes a step after each ply, the others one in each update."""
    config = TDConfig(method=method, optimizer="sgd", step_size=0.5, last_step_size=0.0625, updates=3, plies=4)
    powers = [0.5 * 0.125 ** (min(step / steps, 1)) for step in range(steps + 2)]
    np.testing.assert_allclose(sizes(config, steps + 2), powers, rtol=1e-5)
    cosine = [0.0625 + 0.4375 * (1 + np.cos(np.pi * min(step / steps, 1))) / 2 for step in range(steps + 2)]
    np.testing.assert_allclose(sizes(dataclasses.replace(config, schedule="cosine"), steps + 2), cosine, rtol=1e-5)
    for constant in ({"schedule": "constant"}, {"updates": 0}):
        assert sizes(dataclasses.replace(config, **constant), 3) == [0.5] * 3
    assert sizes(dataclasses.replace(config, schedule="tested"), 2) == [1.0] * 2  # times the factor in the state


@pytest.mark.parametrize("weight_decay", [0.0001, 0.25])
def test_weights_decay_without_slopes(weight_decay):
    config = TDConfig(optimizer="adamw", schedule="constant", step_size=0.5, weight_decay=weight_decay)
    optimizer, weights = config.optimizer_for(), jnp.float32([2.0, -4.0])
    with jax.numpy_dtype_promotion("standard"):  # as above
        change, _ = optimizer.update(jnp.zeros_like(weights), optimizer.init(weights), weights)
    np.testing.assert_allclose(change, -0.5 * weight_decay * np.asarray(weights), rtol=1e-6)


@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
def test_the_factor_multiplies_steps(optimizer):
    """Those of Adam too, which would not notice longer gradients."""
    config = TDConfig(game="nim", encoding="observation", hidden=(2,), outputs=2, batch=2, optimizer=optimizer)
    learner = make_learner(config)
    state = learner.init(jax.random.key(0))
    slopes = jax.tree.map(jnp.ones_like, state.params)
    steps = []
    for factor in (1.0, 0.25):
        params, _ = learner.step(state.params, state.optimizer, slopes, jnp.float32(factor))
        steps.append(jax.tree.leaves(jax.tree.map(lambda a, b: np.asarray(b - a), params, state.params)))
    for whole, part in zip(*steps, strict=True):
        np.testing.assert_allclose(whole, config.step_size, rtol=1e-3)
        np.testing.assert_allclose(part, whole / 4, rtol=1e-3)


def test_each_method_has_its_learner():
    kinds = {"n_step": NStepTD, "exact": ExactTD, "monte_carlo": MonteCarlo, "expected": ExpectedTD}
    kinds |= {"sequential_td": SequentialTD, "sequential_backprop": SequentialBackprop}
    one = {"batch": 1, "optimizer": "sgd"}
    own = {"expected": {"output": "softmax"}}
    made = {method: make_learner(TDConfig(method=method, **one, **own.get(method, {}))) for method in METHODS}
    assert {method: type(learner) for method, learner in made.items()} == kinds


# The step sizes of the comparison


def test_step_sizes_fall_when_25_tests_in_a_row_are_lost():
    schedule = step_sizes.TestedStepSizes()
    assert schedule.step_size == 0.25
    for _ in range(24):
        schedule = schedule.after_test(-10.0)
    assert schedule.step_size == 0.25  # not 25 tests yet
    schedule = schedule.after_test(240.0)
    assert schedule.step_size == 0.25 and sum(schedule.recent) == 0  # not less than zero
    schedule = schedule.after_test(-11.0)  # the first of the 25 is forgotten
    assert schedule.step_size == 0.1 and schedule.recent == ()  # 25 new tests decide about the next one


def test_step_sizes_stay_while_the_player_gets_better():
    schedule = step_sizes.TestedStepSizes()
    for number in range(100):
        schedule = schedule.after_test(30.0 if number % 3 == 0 else -14.0)
    assert schedule.step_size == 0.25 and len(schedule.recent) == 25


def test_the_last_step_size_stays():
    schedule, seen = step_sizes.TestedStepSizes(), []
    for _ in range(12 * 25):
        seen.append(schedule.step_size)
        schedule = schedule.after_test(-1.0)
    assert tuple(dict.fromkeys(seen)) == step_sizes.STEP_SIZES and seen[-1] == 0.001
    assert [seen.count(size) for size in step_sizes.STEP_SIZES[:-1]] == [25] * 7
