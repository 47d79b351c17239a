"""The AlphaZero trainings as a user runs them: trained, stopped, resumed, and played with."""

import dataclasses
import json
from types import SimpleNamespace

import jax
import numpy as np
import pytest

import jaxgames
from jaxgames.cli import main
from jaxgames.players import make as make_player
from jaxgames.recipes import Plan, alphazero, recipe_named
from jaxgames.recipes.report import Report
from jaxgames.runs import Run, tensorboard

TINY = (
    "train tic-tac-toe-alphazero --games 400 --json --set batch=16 --set hidden=16 --set simulations=4 --set steps=2 "
    "--set minibatch=32 --set buffer_plies=16 --set discount=0.9 --measured-games 20 --final-games 20 --tensorboard"
).split()


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    path = tmp_path_factory.mktemp("runs") / "alphazero"
    with pytest.MonkeyPatch.context() as patch:
        printed = []
        patch.setattr("builtins.print", lambda text, **_: printed.append(text))
        assert main([*TINY, "--seed", "5", "--out", str(path)]) == 0
    return path, json.loads(printed[0])


def test_a_training_measures_itself(trained):
    path, result = trained
    metrics = Run.open(path).metrics()
    assert metrics[-1]["games"] >= 400 and [match["b"] for match in result["matches"]] == ["random"]
    assert result["games"] in {line["games"] for line in metrics if "score_random" in line}  # when the best was kept
    assert {"policy_loss", "value_loss", "entropy", "score_random", "lines_lost"} <= metrics[-1].keys()
    assert (path / "curve.png").exists() and Run.open(path).config["seed"] == 5


def test_updates_in_which_nothing_is_learned_have_no_loss(trained, monkeypatch):
    run = Run.open(trained[0])
    job = alphazero.AlphaZeroJob(recipe_named("tic-tac-toe-alphazero"), run, Report(quiet=True))
    job.learner = dataclasses.replace(job.learner, config=job.learner.config.replace(value_weight=4.0))

    def entry(losses, games):
        metrics = dict.fromkeys(("policy_loss", "value_loss", "entropy"), np.float32(losses))
        metrics |= {"games": np.int32(games), "plies_of_games": 7 * np.int32(games)}
        monkeypatch.setattr(alphazero, "run_updates", lambda *_: (SimpleNamespace(updates=9), metrics))
        return job.advance(SimpleNamespace(games=np.int64(0), state=None), 0)

    block = entry([0.0, 0.0], [0, 0])
    assert block.finite and {block.entry[name] for name in ("loss", "policy_loss", "plies_per_game")} == {None}
    block = entry([0.0, 0.5], [0, 2])
    assert block.finite and (block.entry["policy_loss"], block.entry["loss"]) == (0.5, 2.5)
    assert block.entry["plies_per_game"] == 7 and not entry([0.0, np.nan], [0, 2]).finite


def test_events_for_tensorboard_are_those_of_the_metrics(trained):
    path, _ = trained
    content, lengths = (path / "tensorboard" / tensorboard.NAME).read_bytes(), []
    while content:
        lengths.append(int.from_bytes(content[:8], "little"))
        content = content[16 + lengths[-1] :]
    assert len(lengths) == 1 + len(Run.open(path).metrics()), "the version, and a record for each line"


def test_a_run_plays_alone_and_in_searches(trained):
    path, _ = trained
    game = jaxgames.make("tic_tac_toe")
    positions = jax.jit(jax.vmap(game.init))(jax.random.split(jax.random.key(0), 3))._position
    bits = jax.random.bits(jax.random.key(1), (3,))
    policy = make_player(str(path), game)
    for spec in (str(path), f"gumbel:{path}:4", f"puct:{path}:4", f"puct:{path}:4,rollouts=0.5"):
        player = make_player(spec, game)
        after = player.turn(player.params, positions, bits)
        assert not np.any(after.over), spec
    searched = make_player(f"puct:{path}:4", game)
    assert searched.params.has_policy and searched.params.apply == policy.policy.apply
    jax.tree.map(np.testing.assert_array_equal, searched.params.params, policy.params)
    assert searched.turn.discount == policy.policy.discount == 0.9
    mixed = make_player(f"gumbel:{path}:4,rollouts=0.25", game)
    assert (mixed.params.weight, mixed.params.first.apply) == (0.75, policy.policy.apply)
    plies = make_player(f"alphabeta:{path}:1", game)
    seen = jax.vmap(lambda position: game.observe_position(position, np.bool_(True)))(positions)
    np.testing.assert_array_equal(
        plies.turn.make_value(plies.params)(positions), policy.policy.apply(policy.params, seen)[1]
    )
    assert make_player(f"{path}@1", game).turn == policy.turn
    run = Run.open(path)
    step, saved = run.restore(recipe_named(run.config["recipe"]).job(run, Report(quiet=True)).template())
    newest = make_player(f"{path}/checkpoints/step-{step}", game)
    jax.tree.map(np.testing.assert_array_equal, newest.params, saved.state.mean_params)
    with pytest.raises(ValueError, match="does not value positions, so it cannot look 2 plies ahead"):
        make_player(f"{path}@2", game)
    with pytest.raises(ValueError, match="rollouts '1.5': expected a number from 0 to 1"):
        make_player(f"puct:{path}:4,rollouts=1.5", game)


def test_a_resumed_training_has_the_same_bits(trained, tmp_path):
    """One that was stopped after its first checkpoint, and went on."""
    path, _ = trained
    from jaxgames.recipes import recipe_named
    from jaxgames.recipes.report import Report

    config = dict(Run.open(path).config)
    run, quiet = Run.create(tmp_path / "run", config), Report(quiet=True)
    recipe = recipe_named(config["recipe"])
    job = recipe.job(run, quiet)
    block = job.advance(job.start(None), 0)
    run.save(block.entry["step"], job.checkpoint(block.state))
    recipe.resume(Run.open(tmp_path / "run"), quiet).run_to_end()
    shapes = job.template().state.mean_params
    one, other = (Run.open(folder).load_best(shapes)[1] for folder in (path, tmp_path / "run"))
    jax.tree.map(np.testing.assert_array_equal, one, other)


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        (["--set", "search=uct"], "search='uct': expected one of gumbel, puct"),
        (["--setting", "huge"], "unknown setting 'huge' of tic-tac-toe-alphazero"),
        (["--devices", "99"], "this runs on 99 devices, but"),
        (["--devices", "2", "--set", "batch=15"], "batch=15 cannot be split over 2 devices evenly"),
        (["--devices", "2", "--set", "minibatch=33"], "minibatch=33 cannot be split over 2 devices evenly"),
        (["--set", "buffer_plies=800000000000"], "no room for the replay buffer"),
        (["--set", "updates=3"], "unknown setting 'updates'"),
        (["--minutes", "1", "--games", "5"], "not allowed with argument"),
    ],
)
def test_bad_input_is_one_line(changes, line, refused):
    assert line in refused("tic-tac-toe-alphazero", *changes)


@pytest.mark.parametrize(("name", "games", "positions"), [("tic-tac-toe", 500_000, 8), ("connect-four", 100_000, 20)])
def test_a_training_has_blocks_of_50_000_positions_and_about_20_measurements(name, games, positions):
    recipe = recipe_named(f"{name}-alphazero")
    plan = recipe.details(Plan(games=games))
    config, updates = recipe.settings["fast"], plan["goal"]["updates"]
    each = config.batch * config.plies
    assert abs(updates * each - games * positions) < 50_000 and abs(plan["block"] * each - 50_000) < each
    assert updates % plan["block"] == plan["measure_every"] % plan["block"] == 0
    assert 10 < updates / plan["measure_every"] <= 20 and plan["learner"]["updates"] == updates
