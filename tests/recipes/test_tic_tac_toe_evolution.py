"""The recipe `tic-tac-toe-evolution`: exact measures, what a run leaves on disk, and how it goes on."""

import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames import cli
from jaxgames.algos.evolution.saved import champions_template
from jaxgames.algos.evolution.strategies import config_of
from jaxgames.matches import every_line, match
from jaxgames.players import make as make_player
from jaxgames.players.generic import evolved, weak
from jaxgames.recipes import RECIPES
from jaxgames.recipes.evolution import EvolutionCheckpoint, evolution_of, networks_file
from jaxgames.recipes.tic_tac_toe_evolution import (
    ILLEGAL,
    RECIPE,
    RERUN,
    against,
    all_positions,
    choices_of,
    kept_moves,
    measured,
    quick,
    share_of,
)
from jaxgames.runs import Run, checkpoints

NETWORK = RECIPE.settings["original"].network
TINY = "--set generations=4 --set groups=3 --set members=4 --set keep=2 --set turn=3 --set hidden=4 --json".split()


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A short training, and what its command printed."""
    path = tmp_path_factory.mktemp("runs") / "whole"
    with pytest.MonkeyPatch.context() as patch:
        printed = []
        patch.setattr("builtins.print", lambda text, **_: printed.append(text))
        assert cli.main(["train", "tic-tac-toe-evolution", "--out", str(path), *TINY]) == 0
    return SimpleNamespace(run=Run.open(path), result=json.loads(printed[0]))


def test_all_positions_are_known():
    every = all_positions()
    facts = json.loads((Path(__file__).parent.parent / "data/tic_tac_toe/tictactoe.json").read_text("utf-8"))
    assert np.bincount(every.marks).tolist() == [facts["distinct_states_by_ply"][ply] for ply in range(10)]
    assert len(every.open) == 4_520 and every.value[0] == 1
    # Games of random moves: each goes on to the fifth move, by which 1,440 of the 15,120 ways to begin are won.
    expected = [1] * 6 + [1 - 1_440 / 15_120]
    assert np.bincount(every.marks, every.reached)[:7] == pytest.approx(expected)
    random = against(np.array([[np.flatnonzero(row >= 0)[0] for row in every.after[every.open]]]))
    assert sum(random)[0] == pytest.approx(1)


def test_perfect_choices_keep_every_result_and_never_lose():
    every = all_positions()
    choices = every.keeps[every.open].argmax(axis=1)[None]
    assert share_of(choices, every.keeps)[0] == 1
    assert against(choices).loss[0] == 0
    assert against(choices, perfect=True).draw[0] == pytest.approx(1)
    worst = np.where(every.after[every.open] >= 0, ~every.keeps[every.open], False)
    worst = np.where(worst.any(axis=1), worst.argmax(axis=1), choices[0])[None]
    all_keep = ~(~every.keeps & (every.after >= 0))[every.open].any(axis=1)
    assert share_of(worst, every.keeps)[0] == pytest.approx(np.mean(all_keep))
    assert against(worst, perfect=True).loss[0] == pytest.approx(1)


def test_exact_shares_are_those_of_games():
    genome = np.asarray(NETWORK.genomes().init(jax.random.key(3), jnp.zeros(1, jnp.int32)))
    exact = measured(NETWORK, genome)
    game = jaxgames.make("tic_tac_toe")
    player = evolved("network", jnp.asarray(genome[0]), NETWORK)
    result = match(player, make_player("random", game), 20_000)
    for name in ("win", "draw", "loss"):
        assert 100 * getattr(result, f"{name}_rate") == pytest.approx(exact[f"{name}_random"][0], abs=1.5)
    lines = every_line(player)
    assert (exact["loss_random"][0] == 0) == (lines.lost == 0)
    often = weak(player, "weak:0.5:network", 0.5)
    result, exact = match(often, make_player("random", game), 20_000), against(choices_of(NETWORK, genome), errs=0.5)
    for name in ("win", "draw", "loss"):
        assert getattr(result, f"{name}_rate") == pytest.approx(getattr(exact, name)[0], abs=0.015)


@pytest.mark.slow  # 12 s: the exact shares and the games beside them stay in the quick tier
def test_kept_moves_are_counted_alike():
    genomes = NETWORK.genomes().init(jax.random.key(1), jnp.arange(2, dtype=jnp.int32))
    sampled = kept_moves(NETWORK.policy(), 40_000, genomes, jnp.arange(2), jax.random.key(0))
    every, choices = all_positions(), choices_of(NETWORK, np.asarray(genomes))
    right, often = every.keeps[every.open, choices], every.reached[every.open]
    expected = (right.mean(axis=1) + right @ (often / often.sum())) / 2
    np.testing.assert_allclose(sampled, expected, atol=0.01)


def test_moves_that_keep_the_result_are_those_that_are_played():
    """Of equal outputs, here all zero, the first legal one; with `strict` the highest, legal or not."""
    every = all_positions()
    often = every.reached[every.open] / every.reached[every.open].sum()
    judged = jax.jit(kept_moves, static_argnums=(0, 1))
    legal, keeps = every.after[every.open] >= 0, every.keeps[every.open]
    for network, bias, chosen in (
        (NETWORK.replace(output="relu"), 0.0, legal.argmax(axis=1)),
        (NETWORK.replace(strict=True), 1.0, np.full(len(legal), 8)),
    ):
        genomes = network.genomes()
        genome = np.zeros((1, genomes.dimension), np.float32)
        genome[:, genomes.layer_slices[-1].stop - 1] = bias
        found = judged(network.policy(), 4000, genome, np.arange(1), jax.random.key(0))
        right = keeps[np.arange(len(keeps)), chosen]
        assert float(found[0]) == pytest.approx((right.mean() + right @ often) / 2, abs=0.03)
    with pytest.raises(ValueError, match="^opponents positions: these judge outputs for moves"):
        kept_moves(NETWORK.replace(plays="afterstate").policy(), 1, genome, np.arange(1), jax.random.key(0))


def test_the_best_champion_stands_first():
    genomes = np.asarray(NETWORK.genomes().init(jax.random.key(1), jnp.arange(5, dtype=jnp.int32)))
    found, best = quick(NETWORK, genomes, 1, 0)
    every = measured(NETWORK, genomes)
    assert best == int((every["win_random"] + every["draw_random"] / 2 + every["kept"]).argmax())
    assert found["kept"] == pytest.approx(every["kept"].mean())


def test_a_run_leaves_champions_curves_and_metrics(finished):
    run, result = finished.run, finished.result
    metrics = run.metrics()
    assert [line["step"] for line in metrics] == [1, 2, 3, 4]
    assert [line["games"] for line in metrics] == [step * 3 * (4 + 2 * 2) * 4 for step in (1, 2, 3, 4)]
    for line in metrics:
        assert line["win_random"] + line["draw_random"] + line["loss_random"] == pytest.approx(100)
        assert 0 < line["diversity"] < 2 and 0 <= line["fitness_mean"] <= line["fitness"] <= 1
    assert (run.path / "curve.png").read_bytes()[:4] == b"\x89PNG"
    assert len(result["champions"]["kept"]) == 3
    assert result["mean"]["kept"] == pytest.approx(metrics[-1]["kept"], abs=0.001)
    assert result["published"] == [RERUN]


def test_a_run_is_a_player(finished, capsys):
    path = str(finished.run.path)
    assert cli.main(["match", path, "random", "--games", "40", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["game"] == "tic_tac_toe"
    game = jaxgames.make("tic_tac_toe")
    newest = make_player(f"{path}/checkpoints/step-4", game).params
    assert (
        newest.shape
        == make_player(path, game).params.shape
        == (config_of(finished.run.config).network.genomes().dimension,)
    )
    assert cli.main(["match", f"{path}@2", "random"]) == 2
    assert "does not value positions" in capsys.readouterr().err


def networks_of(run, generation):
    return RECIPE.text_form.read(config_of(run.config).network, networks_file(run, generation))


def test_each_round_s_best_networks_are_written_as_the_program_does(finished):
    written = [path.name for path in sorted((finished.run.path / "networks").iterdir())]
    assert written == [f"generation-{number:06d}.txt" for number in (1, 2, 3, 4)]
    text = networks_file(finished.run, 4).read_text("utf-8")
    assert text.count("softsign_norm:{[[") == text.count("\n") == 3
    champions = finished.run.restore_leaf("champions", 4)
    written = np.asarray(networks_of(finished.run, 4))
    assert sorted(map(bytes, written)) == sorted(map(bytes, champions)), "the same bits, in the order of the groups"


def test_a_training_goes_on_from_a_file(finished, tmp_path, capsys):
    file = networks_file(finished.run, 2)
    path = tmp_path / "more"
    assert cli.main(["train", "tic-tac-toe-evolution", "--out", str(path), "--from", str(file), *TINY]) == 0
    run = Run.open(path)
    begun = networks_of(run, 0)
    np.testing.assert_array_equal(begun, networks_of(finished.run, 2))
    evolution = evolution_of(config_of(run.config))
    strategy = evolution.strategy
    first = strategy.init_from(jax.random.key(0), begun)
    np.testing.assert_array_equal(first.genomes, np.repeat(np.asarray(begun)[:, None], 4, axis=1))
    alone = strategy.init_from(jax.random.key(0), begun[:1])
    assert np.array_equal(alone.genomes, np.broadcast_to(begun[0], alone.genomes.shape))
    state, scores = jax.jit(lambda state: strategy.generation(state, evolution))(first)
    np.testing.assert_array_equal(scores.networks, networks_of(run, 1))
    # One that was killed before these networks were written cannot go on.
    shutil.copytree(path, tmp_path / "killed")
    shutil.rmtree(tmp_path / "killed" / "checkpoints")
    networks_file(Run.open(tmp_path / "killed"), 0).unlink()
    capsys.readouterr()
    assert cli.main(["train", "--out", str(tmp_path / "killed"), "--resume"]) == 2
    assert "begin anew" in capsys.readouterr().err


def test_illegal_choices_lose_where_they_are_allowed():
    genomes = np.asarray(NETWORK.genomes().init(jax.random.key(1), jnp.arange(3, dtype=jnp.int32)))
    strict = NETWORK.replace(strict=True)
    choices, legal = choices_of(strict, genomes), choices_of(NETWORK, genomes)
    assert (choices == ILLEGAL).any() and (legal >= 0).all()
    np.testing.assert_array_equal(choices[choices != ILLEGAL], legal[choices != ILLEGAL])
    found = measured(strict, genomes)
    np.testing.assert_allclose(found["illegal"], 100 * (choices == ILLEGAL).mean(axis=1))
    every = all_positions()
    never = np.full((1, 4_520), ILLEGAL)
    assert against(never).loss[0] == 1 and share_of(never, every.keeps)[0] == 0
    assert (found["loss_random"] > measured(NETWORK, genomes)["loss_random"]).all()


def test_wins_and_threats_are_those_of_the_rules():
    every = all_positions()
    index = {int(word): number for number, word in enumerate(every.cells)}

    def cells(flags, own, other):
        return np.flatnonzero(flags[index[sum(1 << cell for cell in own) | sum(1 << cell for cell in other) << 16]])

    assert cells(every.wins, [0, 1], [3, 4]).tolist() == [2] and not cells(every.blocks, [0, 1], [3, 4]).size
    assert cells(every.blocks, [0, 8], [3, 4]).tolist() == [5] and not cells(every.wins, [0, 8], [3, 4]).size
    assert cells(every.blocks, [1, 3], [0, 4, 6]).tolist() == [2, 8]
    assert share_of(every.blocks[every.open].argmax(axis=1)[None], every.blocks) == 1


def test_a_training_that_was_stopped_ends_with_the_same_bits(finished, tmp_path):
    path = tmp_path / "stopped"
    shutil.copytree(finished.run.path, path)
    for step in (3, 4):
        shutil.rmtree(path / "checkpoints" / f"step-{step}")
    assert cli.main(["train", "--out", str(path), "--resume", "--json"]) == 0
    whole, again = leaves(finished.run), leaves(Run.open(path))
    for one, other in zip(whole, again, strict=True):
        np.testing.assert_array_equal(one, other)
    kept = [
        {name: value for name, value in line.items() if "second" not in name}
        for line in (*finished.run.metrics(), *Run.open(path).metrics())
    ]
    assert kept[:4] == kept[4:]


def test_settings_differ_in_what_they_say():
    original = RECIPE.settings["original"]
    assert original.games(1) == 20 * (10 + 99 * 5) * 38
    assert original.generations == 900 and original.network.layers.initializer == "uniform:1"
    assert RECIPE.settings["illegal-loses"] == original.replace(strict=True)
    assert RECIPE.settings["parallel"].schedule == "parallel" and RECIPE.settings["crossover"].crossover == "segments"


def test_the_table_fits_80_columns(finished, capsys):
    RECIPES["tic-tac-toe-evolution"].show({**finished.result, "run": "runs/x", "curve": "runs/x/curve.png"})
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= 80
    row = next(line for line in text.splitlines() if "keep the result" in line)
    assert f"{finished.result['mean']['kept']:.1f}" in row and f"{RERUN['kept']:.1f}" in row


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("--setting foo", "available: original, parallel, crossover, illegal-loses, best"),
        ("--set sigma=1", "unknown setting 'sigma' of evolution; available: generations"),
        ("--set groups=1", "groups='1': expected a whole number from 2"),
        ("--set keep=10", "keep=10 of groups of 10: expected less"),
        ("--set schedule=both", "expected one of sequential, parallel"),
        ("--set encoding=foo", "unknown encoding 'foo' of tic_tac_toe"),
        ("--minutes 3", "give --games, not --minutes"),
        ("--game checkers", "learns tic_tac_toe, not checkers"),
        ("--devices 2", "groups runs on one device"),
        ("--setting best --set opponents=nobody*3", "unknown player 'nobody'"),
        ("--setting best --set opponents=random", "expected players and numbers"),
        ("--setting best --set opponents=lgr:4,keep=1*3", "learns over a game"),
        ("--setting best --games 1000", "plays no games while it evolves"),
        ("--setting best --set population=16000000 --set block=1000000", "fits"),
        ("--games 400000 --set generations=2", "not both"),
        ("--process 1", "several processes need"),
        ("--from nowhere.txt", "nowhere.txt cannot be read"),
        ("--from tests/data/tic_tac_toe/evolution/round_robin_nets_0_9.csv", "line 1: begins with"),
        ("--from tests/data/tic_tac_toe/evolution/nets.txt --set groups=3", "20 networks; expected one, or 3"),
        ("--from tests/data/tic_tac_toe/evolution/nets.txt --set hidden=5", "is 9-18-18-9; expected 9-5-9"),
        ("--from tests/data/tic_tac_toe/evolution/nets.txt --set activation=tanh", "these have other ones"),
        ("--from tests/data/tic_tac_toe/evolution/nets.txt --setting best", "begins with random weights"),
    ],
)
def test_bad_input_gets_one_line(arguments, expected, refused):
    assert expected in refused("tic-tac-toe-evolution", *arguments.split())


def leaves(run):
    strategy = config_of(run.config).strategy(None)
    template = EvolutionCheckpoint(champions_template(run), jax.eval_shape(strategy.init, jax.random.key(0)))
    step, checkpoint = run.restore(template)
    assert step == 4
    return checkpoints.to_numpy(checkpoint)
