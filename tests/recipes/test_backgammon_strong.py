"""The recipe in stages: what each begins with, that it goes on where it was stopped, and what it refuses."""

import dataclasses

import jax
import numpy as np
import pytest

from jaxgames.algos.td.methods import TDCheckpoint, config_of
from jaxgames.algos.td.value import apart
from jaxgames.envs import registry
from jaxgames.players import champions
from jaxgames.players import make as make_player
from jaxgames.recipes import Plan, recipe_named
from jaxgames.recipes.backgammon_strong import FIRST, SECOND, Stages, StrongRecipe
from jaxgames.recipes.backgammon_strong import STAGES as STRONG
from jaxgames.recipes.report import Report
from jaxgames.runs import Run
from tests.algos.small_games import Dash

SMALL = {"game": "dash", "encoding": "track", "hidden": (5,), "batch": 4, "plies": 3}
LATER = SECOND.replace(**SMALL, by_class=False, updates=4, replay=24, minibatch=8, steps=2)
STAGES = Stages(
    (
        FIRST.replace(**SMALL, updates=4),
        LATER,
        LATER.replace(teacher=True, members=2, replay=48),
    ),
    (2, 2, 2),
)
RECIPE = StrongRecipe("strong", "small", {"fast": LATER}, stages_by_name={"fast": STAGES})
STEPS = [2, 4, 6, 8, 10, 12]
PLAN = Plan(seed=3, measured_games=4, final_games=4)


@pytest.fixture(scope="module", autouse=True)
def dash():
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(registry.GAMES, "dash", Dash)
        yield


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A training that nobody disturbed, its result, and the learner's state after each step that was saved."""
    path = tmp_path_factory.mktemp("runs") / "whole"
    training = RECIPE.begin(PLAN, path, Report(quiet=True))
    states = {}

    def seeing(advance):
        def seen(checkpoint, step):
            block = advance(checkpoint, step)
            states[block.entry["step"]] = jax.device_get(block.state.state)
            return block

        return seen

    for job in training.stages:
        job.advance = seeing(job.advance)
    result = training.run_to_end()
    return Run.open(path), result, states


def test_steps_are_the_updates_of_all_stages(whole):
    run, result, _ = whole
    assert [line["step"] for line in run.metrics()] == STEPS
    games = [line["games"] for line in run.metrics()]
    assert games == sorted(games) and len(set(games)) > 3
    assert [match["b"] for match in result["matches"]] == ["random"]
    assert make_player(str(run.path), Dash()).game == Dash()


def test_all_stages_learn_on_two_devices(tmp_path):
    path = tmp_path / "run"
    RECIPE.begin(dataclasses.replace(PLAN, devices=2), path, Report(quiet=True)).run_to_end()
    run = Run.open(path)
    assert [line["step"] for line in run.metrics()] == STEPS
    job = RECIPE.job(run, Report(quiet=True))
    replay = run.restore(job.template())[1].state.replay
    assert int(replay.number) == 4 * 6 and len(replay.weight) == 48  # each device has half of the games and positions


def test_devices_of_the_plan_are_those_of_the_run(tmp_path):
    """Each job learns on them all; all stages on two devices are slow."""
    plan = dataclasses.replace(PLAN, devices=2)
    assert RECIPE.content(plan)["devices"] == 2
    training = RECIPE.begin(plan, tmp_path / "run", Report(quiet=True))
    assert [job.placed.mesh.size for job in training.stages] == [2, 2, 2]


def far(one, other):
    return max(jax.tree.leaves(jax.tree.map(lambda a, b: np.abs(a - b).max(), one, other)))


@pytest.mark.parametrize("stage", [1, 2])
def test_a_later_stage_begins_with_the_player_of_the_one_before(whole, stage):
    """Each of its members is that player."""
    run, _, states = whole
    before = states[4 * stage].params
    job, members = RECIPE.stages(run, Report(quiet=True))[stage], STAGES.configs[stage].members
    begun = job.begin_after(TDCheckpoint(states[4 * stage], 0, None)).state
    for number in range(members):
        one = jax.tree.map(lambda x, n=number: x[n], apart(begun.weights, members))
        jax.tree.map(lambda x, y: np.testing.assert_allclose(x, y, rtol=1e-6), one, before)
    assert int(begun.replay.number) == 0 and int(states[4 * stage + 4].updates) == 4


def test_the_player_of_the_second_stage_teaches_to_the_end_of_the_last_one(whole):
    _, _, states = whole
    before, last = states[8], states[12]
    assert before.teacher == ()
    jax.tree.map(lambda x, y: np.testing.assert_allclose(x, y, rtol=1e-6), last.teacher, before.params)
    one, other = (jax.tree.map(lambda x, n=n: x[n], apart(last.weights, 2)) for n in range(2))
    assert far(one, before.params) > 1e-4 and far(one, other) > 1e-4  # members learn, each something else


@pytest.mark.parametrize("stage", [0, 1, 2])
def test_every_stage_has_a_player_of_the_last_one_s_shape(whole, stage):
    """A run's best player may be of any stage, and the run is known by the network of the last one."""
    run, _, states = whole
    job = RECIPE.stages(run, Report(quiet=True))[stage]
    params = states[4 * stage + 4].params
    game, network = Dash(), STAGES.configs[stage].network()
    positions = jax.jit(jax.vmap(game.init_position))(jax.random.split(jax.random.key(0), 3))
    found, wanted = (
        net.predict(weights, positions, np.zeros(3, np.int32))
        for net, weights in ((job.network, job.for_play(params)), (network, params))
    )
    np.testing.assert_allclose(found, wanted, atol=1e-6)


@pytest.mark.parametrize("blocks", [2, 5, *(pytest.param(number, marks=pytest.mark.slow) for number in (1, 3, 4))])
def test_a_stopped_training_goes_on_bit_by_bit(whole, tmp_path, blocks):
    """The quick tier stops at the end of the first stage, and within the last one."""
    training = RECIPE.begin(PLAN, tmp_path / "run", Report(quiet=True))
    left = iter(range(blocks))

    def stopping(advance):
        def stopped(*arguments):
            if next(left, None) is None:
                raise KeyboardInterrupt
            return advance(*arguments)

        return stopped

    for job in training.stages:
        job.advance = stopping(job.advance)
    with pytest.raises(KeyboardInterrupt):
        training.run_to_end()
    run = Run.open(tmp_path / "run")
    assert max(run.steps()) == 2 * blocks
    RECIPE.resume(run, Report(quiet=True)).run_to_end()
    template = RECIPE.job(run, Report(quiet=True)).template()
    jax.tree.map(np.testing.assert_array_equal, run.restore(template)[1], whole[0].restore(template)[1])
    assert [line["step"] for line in run.metrics()] == STEPS


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        (Plan(minutes=3), "backgammon-strong trains for a number of updates: --set first_updates=N"),
        (Plan(games=3), "backgammon-strong trains for a number of updates"),
        (Plan(devices=2, changes={"minibatch": "3"}), "minibatch=3 cannot be split over 2 devices evenly"),
        (Plan(devices=3), "this runs on 3 devices, but 2 are here"),
        (Plan(setting="slow"), "unknown setting 'slow' of backgammon-strong; available: fast, hours, gpu"),
        (Plan(changes={"first_updates": "0"}), "first_updates='0': expected a whole number from 1 to"),
        (Plan(changes={"last_updates": "9"}), "unknown setting 'last_updates'"),
        (Plan(changes={"updates": "x"}), "updates='x': expected a whole number"),
        (Plan(changes={"encoding": "extra"}), "by_class=True: the encoding extra of backgammon tells no classes apart"),
        (Plan(game="checkers"), "backgammon-strong learns backgammon, not checkers"),
    ],
)
def test_bad_plans_get_one_line(plan, message, tmp_path):
    with pytest.raises(ValueError) as error:
        recipe_named("backgammon-strong").begin(plan, tmp_path / "run", Report(quiet=True))
    assert message in str(error.value) and "\n" not in str(error.value)
    assert not (tmp_path / "run").exists()


def test_changes_reach_the_stages():
    changes = {"first_updates": "6", "updates": "8", "last_updates": "50", "hidden": "7", "batch": "16", "members": "2"}
    content = recipe_named("backgammon-strong").content(Plan(setting="hours", changes=changes))
    assert [config["updates"] for config in content["stages"]] == [6, 8, 50] and content["goal"]["updates"] == 64
    assert [config["hidden"] for config in content["stages"]] == [[7], [7], [7]]
    assert [config["batch"] for config in content["stages"]] == [FIRST.batch, 16, 16]
    assert [config.get("teacher") for config in content["stages"]] == [None, False, True]
    assert [config.get("members") for config in content["stages"]] == [None, 1, 2]
    assert content["learner"] == content["stages"][-1]
    assert content["blocks"] == [2, 1, 25]


@pytest.mark.parametrize("setting", STRONG)
def test_all_stages_of_a_setting_learn_the_same_network(setting):
    """Else one could not begin with the weights of the one before, which would be seen after ten minutes or more."""
    first, *later = STRONG[setting].configs
    assert later and all(config.member().network == first.network().network for config in later)


def test_the_champion_is_that_of_the_setting_that_the_docs_name():
    learner = champions.card("backgammon")["learner"]
    assert config_of(learner) == STRONG["hours"].configs[-1]


def test_long_stages_are_saved_every_ten_minutes_or_so():
    content = recipe_named("backgammon-strong").content(Plan(setting="hours"))
    assert content["measure_every"] == [8_000, 1_000, 1_000]
    short = recipe_named("backgammon-strong").content(Plan(changes={"first_updates": "4000", "updates": "200"}))
    assert short["measure_every"] == [1_000, 50]
