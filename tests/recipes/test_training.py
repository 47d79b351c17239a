"""Trainings from the command line: what they leave on disk, what a kill -9 costs (nothing), and what bad input is
told.
"""

import dataclasses
import inspect
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import traceback
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames import cli
from jaxgames.algos.evolution.saved import NetworkConfig
from jaxgames.algos.evolution.strategies.group_ga import GroupsConfig
from jaxgames.algos.td import METHODS, NStepTD, make_learner
from jaxgames.algos.td.methods import config_of, template
from jaxgames.players import make as make_player
from jaxgames.recipes import RECIPES, Plan, training
from jaxgames.recipes.evolution import EvolutionCheckpoint, EvolutionJob, EvolutionRecipe, Measures
from jaxgames.recipes.report import Report
from jaxgames.runs import Run
from jaxgames.runs.interruptible import is_computing
from tests.recipes.conftest import TIC_TAC_TOE, one_line

# All matches are of the same shape, so that each opponent's program is compiled once.
TINY = "--games 1200 --devices 1 --set hidden=4 --set batch=32 --measured-games 20 --final-games 20 --json".split()


def train(out: Path, *arguments: str) -> list[str]:
    return ["train", "td-gammon", "--out", str(out), *TINY, *arguments]


@pytest.fixture
def finished(tic_tac_toe):
    """A training that nobody disturbed."""
    return tic_tac_toe.run


@pytest.fixture(scope="module")
def backgammon(tmp_path_factory):
    """The same of backgammon, measured by one opponent only: each has a program of its own."""
    path = tmp_path_factory.mktemp("runs") / "whole"
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(RECIPES, "td-gammon", dataclasses.replace(RECIPES["td-gammon"], opponents=("pubeval",)))
        assert cli.main(train(path)) == 0
        yield Run.open(path)


def leaves_of(run: Run):
    """The newest checkpoint of a TD training, as NumPy arrays."""
    step, checkpoint = run.restore(template(make_learner(config_of(run.config["learner"]))))
    return step, [np.asarray(leaf) for leaf in jax.tree.leaves(checkpoint)]


@pytest.mark.parametrize(
    ("name", "games", "measure", "hidden"),
    [
        ("finished", 20_000, "score_random", 16),
        pytest.param("backgammon", 1200, "ppg_pubeval", 4, marks=pytest.mark.slow),
    ],
)
def test_a_run_leaves_its_settings_metrics_curve_and_best_player(name, games, measure, hidden, request):
    run = request.getfixturevalue(name)
    metrics = run.metrics()
    assert metrics[-1]["games"] >= games
    assert all(np.isfinite(line["loss"]) and line["games_per_second"] > 0 for line in metrics)
    assert any(measure in line for line in metrics)
    assert (run.path / "curve.png").read_bytes()[:4] == b"\x89PNG"
    assert run.best_info()["games"] > 0
    assert run.config["learner"]["hidden"] == [hidden]


@pytest.mark.parametrize("name", ["finished", pytest.param("backgammon", marks=pytest.mark.slow)])
def test_a_killed_training_ends_with_the_same_bits(name, request, tmp_path):
    path, whole = tmp_path / "killed", request.getfixturevalue(name)
    arguments = train(path) if name == "backgammon" else ["train", *TIC_TAC_TOE, "--out", str(path)]
    process = subprocess.Popen([sys.executable, "-m", "jaxgames", *arguments], stdout=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 300
        while not (path / "checkpoints").is_dir() or not Run.open(path).steps():
            assert process.poll() is None and time.monotonic() < deadline, "the training ended before it was killed"
            time.sleep(0.02)
        os.kill(process.pid, signal.SIGKILL)
    finally:
        process.kill()
        process.wait()
    resumed = Run.open(path)
    assert resumed.steps()[-1] < whole.steps()[-1]
    assert cli.main(["train", "--out", str(path), "--resume", "--json"]) == 0
    (step, leaves), (step_whole, leaves_whole) = leaves_of(resumed), leaves_of(whole)
    assert step == step_whole
    for leaf, other in zip(leaves, leaves_whole, strict=True):
        np.testing.assert_array_equal(leaf, other)
    assert [line["games"] for line in resumed.metrics()] == [line["games"] for line in whole.metrics()]


def test_a_finished_training_resumed_says_how_long_it_was_and_finds_its_player_again(finished, tmp_path, capsys):
    path = tmp_path / "long"
    shutil.copytree(finished.path, path)
    metrics = path / "metrics.jsonl"
    metrics.write_text("".join(json.dumps(line | {"seconds": 7_200.0}) + "\n" for line in finished.metrics()), "utf-8")
    shutil.rmtree(path / "best")
    assert cli.main(["train", "--out", str(path), "--resume", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["seconds"] >= 7_200
    assert result["games_per_second"] is None
    assert Run.open(path).best_info()["step"] == finished.steps()[-1]


class Steps(training.Job):
    """A training of some steps in which nothing happens."""

    def __init__(self, number):
        self.number = number

    def template(self):
        return {"done": np.int64(0)}

    def start(self, checkpoint):
        return self.template() if checkpoint is None else checkpoint

    def advance(self, state, step):
        entry = {"step": step + 1, "games": step + 1, "fitness": 0.0}
        return training.Block({"done": np.int64(step + 1)}, entry, {"games": 1}, True)

    def progress(self, state, step):
        return step / self.number

    def is_measured(self, step):
        return True

    def results(self, state):
        return {}

    def draw(self, checkpoint):
        pass


@pytest.fixture
def run_of_steps(tmp_path):
    names = dict.fromkeys(("recipe", "setting", "game"), "steps")
    numbers = dict.fromkeys(("seed", "devices", "measured_games", "final_games"), 1)
    return Run.create(tmp_path / "run", names | numbers)


def test_signals_are_heard_while_a_block_is_computed(run_of_steps, monkeypatch):
    """A long one of XLA goes on in its thread; the main one hears the signal, and the training ends."""
    goes_on = threading.Event()

    def advance(self, state, step):
        os.kill(os.getpid(), signal.SIGUSR1)
        goes_on.wait(60)

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(Steps, "advance", advance)
    before = signal.signal(signal.SIGUSR1, stop)
    try:
        with pytest.raises(KeyboardInterrupt):
            training.Training([Steps(2)], run_of_steps, Report(quiet=True)).run_to_end()
        assert is_computing()
    finally:
        signal.signal(signal.SIGUSR1, before)
        goes_on.set()


def test_the_speed_of_a_training_is_that_of_its_blocks(run_of_steps, monkeypatch):
    """Measuring and drawing takes time of its own."""
    monkeypatch.setattr(Steps, "draw", lambda *_: time.sleep(0.2))
    monkeypatch.setattr(Steps, "advance", lambda *_, advance=Steps.advance: (time.sleep(0.01), advance(*_))[1])
    result = training.Training([Steps(2)], run_of_steps, Report(quiet=True)).run_to_end()
    assert 10 < result["games_per_second"] <= 100


def test_the_seed_of_the_end_is_another_one():
    for seed, after in ((7, 8), (2**32 - 1, 0)):
        assert training.Job.final_seed.fget(SimpleNamespace(settings={"seed": seed})) == after


def test_lines_of_metrics_count_the_time_before_a_resume(run_of_steps, monkeypatch):
    run = run_of_steps
    before = []  # its measurements
    monkeypatch.setattr(Steps, "measure", lambda _, state, e: before.append(e["seconds"]) or time.sleep(0.02) or {})
    training.Training([Steps(2)], run, Report(quiet=True)).run_to_end()
    assert all(line["seconds"] >= start + 0.02 for line, start in zip(run.metrics(), before, strict=True))
    lines = [json.dumps(line | {"seconds": 7_200.0}) + "\n" for line in run.metrics()]
    (run.path / "metrics.jsonl").write_text("".join(lines), "utf-8")
    training.Training([Steps(4)], Run.open(run.path), Report(quiet=True)).run_to_end()
    seconds = [line["seconds"] for line in Run.open(run.path).metrics()]
    assert seconds[:2] == [7_200, 7_200] and 7_200 < seconds[2] < seconds[3]


@pytest.mark.parametrize("began", ["here", "with another jax", "before runs noted it"])
def test_a_training_that_began_with_other_versions_says_so_and_goes_on(finished, began, tmp_path, capsys):
    path = tmp_path / "moved"
    shutil.copytree(finished.path, path)
    content = json.loads((path / "config.json").read_text("utf-8"))
    assert content["made_with"]["jax"] == jax.__version__ and content["made_with"]["device"] == "cpu"
    if began == "with another jax":
        content["made_with"]["jax"] = "0.1.2"
    elif began == "before runs noted it":
        del content["made_with"]
    (path / "config.json").write_text(json.dumps(content), "utf-8")
    assert cli.main(["train", "--out", str(path), "--resume", "--json"]) == 0
    told = "warning: the numbers may differ from now on from those of an undisturbed run: jax 0.1.2, now "
    assert capsys.readouterr().err == (f"{told}{jax.__version__}\n" if began == "with another jax" else "")


def test_a_run_is_never_overwritten(finished, capsys):
    assert cli.main(train(finished.path)) == 2
    assert "never overwritten" in one_line(capsys)


def test_a_truncated_checkpoint_is_named(tic_tac_toe, tmp_path, capsys):
    path = tmp_path / "broken"
    shutil.copytree(tic_tac_toe.run.path, path)
    newest = tic_tac_toe.run.steps()[-1]
    largest = max(
        (path / "checkpoints" / f"step-{newest}").rglob("*"), key=lambda p: p.stat().st_size if p.is_file() else -1
    )
    largest.write_bytes(largest.read_bytes()[:-1])
    assert cli.main(["train", "--out", str(path), "--resume"]) == 2
    line = one_line(capsys)
    assert f"step {newest}" in line and "still good" in line


def test_match_of_a_run(finished, capsys):
    assert cli.main(["match", str(finished.path), "random", "--games", "20", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["games"] == 20
    assert result["ppg_low"] <= result["ppg"] <= result["ppg_high"]
    assert result["games_per_second"] > 0


@pytest.mark.slow
def test_backprop_to_results_trains(tmp_path, capsys):
    arguments = "--games 40 --devices 2 --set hidden=4 --set batch=16 --set plies=400".split()
    arguments += "--measured-games 20 --final-games 20 --json".split()
    assert cli.main(["train", "backgammon-backprop", "--out", str(tmp_path / "run"), *arguments]) == 0
    result = json.loads(capsys.readouterr().out)
    assert [match["b"] for match in result["matches"]] == ["random", "simple:3", "pubeval"]


def evolution_of(run_folder, measured: dict[int, float]) -> EvolutionJob:
    """The job of a recipe whose champions have the strengths that `measured` says by their first weight."""

    def quick(network, champions, games, seed):
        strengths = [measured[int(champion[0])] for champion in champions]
        return {"strength": float(np.mean(strengths))}, int(np.argmax(strengths))

    network = NetworkConfig("tic_tac_toe", "afterstate").replace(hidden=(2,), activation="tanh", output="tanh")
    recipe = EvolutionRecipe(
        "tiny",
        "for tests",
        {"one": GroupsConfig(network, groups=3, members=2, keep=1, generations=2)},
        Measures(quick, lambda *_: {}, lambda metrics: []),
        show_result=print,
    )
    return recipe.job(Run.create(run_folder, recipe.content(Plan(seed=5))), Report(quiet=True))


def champions_of(job: EvolutionJob, *numbers: int) -> np.ndarray:
    """Networks whose weights are these numbers."""
    dimension = job.config.network.genomes().dimension
    return np.repeat(np.array(numbers, np.float32)[:, None], dimension, axis=1)


def test_the_best_champion_is_stored_first_and_plays(tmp_path):
    path = tmp_path / "run"
    job = evolution_of(path, {1: 10.0, 2: 30.0, 3: 20.0, 4: 0.0})
    job.measure(EvolutionCheckpoint(champions_of(job, 1, 2, 3), None), {"step": 1, "games": 9})
    info, kept = Run.open(path).load_best(champions_of(job, 0, 0, 0))
    assert kept[:, 0].tolist() == [2, 1, 3] and info["strength"] == 20
    player = make_player(str(path), jaxgames.make("tic_tac_toe"))
    np.testing.assert_array_equal(player.params, champions_of(job, 2)[0])
    weaker = EvolutionCheckpoint(champions_of(job, 1, 2, 4), None)  # not kept
    job.measure(weaker, {"step": 2, "games": 18})
    assert Run.open(path).best_info() == info


def test_the_way_to_the_first_jitted_call_is_short(tmp_path, monkeypatch):
    """The files that a reader passes through are those that the loop's own page names, and one learner is made."""
    package = Path(jaxgames.__file__).parent
    files = re.findall(r"^    (\S+\.py) ", training.__doc__, re.MULTILINE)
    assert len(files) <= 8 and all((package / file).is_file() for file in files)
    passed, made = set(), []

    def note():
        """Files of the package in which functions are under way."""
        paths = (Path(frame.filename) for frame in traceback.extract_stack())
        passed.update(str(path.relative_to(package)) for path in paths if path.is_relative_to(package))

    class Arrived(Exception):
        pass

    class Watched(NStepTD):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            made.append(self)

        def update(self, state, key):
            note()
            raise Arrived

    create = Run.create
    monkeypatch.setattr(Run, "create", lambda *arguments: (note(), create(*arguments))[1])
    monkeypatch.setitem(METHODS, "n_step", METHODS["n_step"]._replace(learner=Watched))
    with pytest.raises(Arrived):
        cli.main(train(tmp_path / "run"))
    assert passed == set(files) - {"recipes/__init__.py", "algos/td/learner.py"}
    assert len(made) == 1 and inspect.getfile(NStepTD) == str(package / "algos/td/learner.py")


@pytest.mark.parametrize(
    ("flags", "devices"),
    [("--xla_backend_optimization_level=0", "cores"), ("--xla_force_host_platform_device_count=3", "3")],
)
def test_a_training_has_a_device_for_each_core_unless_told(flags, devices):
    asked = (
        "from jaxgames.cli import train; import jax; train._use_all_cores(); print(train._cores(), len(jax.devices()))"
    )
    environment = os.environ | {"XLA_FLAGS": flags}
    said = subprocess.run([sys.executable, "-c", asked], env=environment, capture_output=True, text=True, check=True)
    cores, found = said.stdout.split()
    assert found == {"cores": cores}.get(devices, devices)


def test_help_lists_the_recipes(capsys):
    with pytest.raises(SystemExit) as exit_:
        cli.main(["train", "--help"])
    assert exit_.value.code == 0
    text = capsys.readouterr().out
    assert all(name in text for name in RECIPES)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("train nope --out {out}", "available: td-gammon"),
        ("train --out {out}", "name a recipe"),
        ("train td-gammon --out {out} --games 0", "from 1 to"),
        ("train td-gammon --out {out} --minutes -1", "above 0"),
        ("train tic-tac-toe-self-play --out {out} --games 99999999999", "from 1 to 999,999,999"),
        ("train td-gammon --out {out} --final-games 99999999999", "final-games 99999999999: expected"),
        ("train td-gammon --out {out} --set lambda_=x", "expected a number"),
        ("train td-gammon --out {out} --set lambda_=1.5", "from 0 to 1"),
        ("train td-gammon --out {out} --set decay", "NAME=VALUE"),
        ("train td-gammon --out {out} --set foo=1", "available: method, encoding"),
        ("train td-gammon --out {out} --setting foo", "available: fast"),
        ("train td-gammon --out {out} --devices 99", "99 devices"),
        ("train td-gammon --out {out} --set batch=3 --devices 2", "evenly"),
        ("train --out {out} --resume", "does not exist"),
        ("train td-gammon --out {out} --resume", "only --out"),
        ("match nobody pubeval", "random, pubeval"),
        ("match simple:9 pubeval", "simple:1"),
        ("match random pubeval --games 0", "1 or more"),
        ("match random pubeval --game chess", "backgammon"),
        ("match {out} pubeval", "unknown player"),
    ],
)
def test_bad_input_gets_one_line(arguments, expected, tmp_path, capsys):
    assert cli.main(arguments.format(out=tmp_path / "out").split()) == 2
    assert expected in one_line(capsys)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("seed", [-1, 2**32, 2**63])
def test_seeds_that_are_no_seeds(seed):
    """Those of 2^32 and more would repeat the keys of smaller ones."""
    with pytest.raises(ValueError, match=f"^seed {seed}: expected a whole number from 0 to 4,294,967,295$"):
        Plan(seed=seed)


@pytest.mark.parametrize(
    "arguments", ["", "fly", "match random", "train td-gammon --out x --games 1 --minutes 1", "match a b --games x"]
)
def test_bad_syntax_gets_one_line(arguments, capsys):
    with pytest.raises(SystemExit) as exit_:
        cli.main(arguments.split())
    assert exit_.value.code == 2
    one_line(capsys)


class Counter(NamedTuple):
    updates: jax.Array


class Counting(NamedTuple):
    """A learner that learns nothing."""

    def update(self, state, key):
        return Counter(state.updates + 1), {}


def test_the_time_of_an_update_is_that_of_the_second_half(monkeypatch):
    ends = np.cumsum([0.0, 8.0, 0.0, 4.0, 0.0, 2.0, 0.0, 1.0, 0.0, 1.0, 0.0, 99.0]).tolist()
    monkeypatch.setattr(training, "time", SimpleNamespace(perf_counter=iter(ends).__next__))
    first = Counter(jnp.int32(0))
    assert training.seconds_per_update(Counting(), first, 2, 16.0) == pytest.approx((2 + 1 + 1) / 3 / 2)
