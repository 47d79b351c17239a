"""Trainings from the command line: what they leave on disk, what a kill -9 costs (nothing), and what bad input is
told.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import jax
import numpy as np
import pytest

from jaxgames import cli
from jaxgames.algos.td.saved import config_of, template
from jaxgames.recipes import RECIPES
from jaxgames.runs import Run

TINY = "--games 1200 --devices 1 --set hidden=4 --set batch=32 --measured-games 20 --final-games 40 --json".split()


def train(out: Path, *arguments: str) -> list[str]:
    return ["train", "td-gammon", "--out", str(out), *TINY, *arguments]


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A training that nobody disturbed."""
    path = tmp_path_factory.mktemp("runs") / "whole"
    assert cli.main(train(path)) == 0
    return Run.open(path)


def leaves_of(run: Run):
    step, checkpoint = run.restore(template(config_of(run.config["learner"])))
    return step, [np.asarray(leaf) for leaf in jax.tree.leaves(checkpoint)]


def test_a_run_leaves_its_settings_metrics_curve_and_best_player(finished):
    metrics = finished.metrics()
    assert metrics[-1]["games"] >= 1200
    assert all(np.isfinite(line["loss"]) and line["games_per_second"] > 0 for line in metrics)
    assert any("ppg_pubeval" in line for line in metrics)
    assert (finished.path / "curve.png").read_bytes()[:4] == b"\x89PNG"
    assert finished.best_info()["games"] > 0
    assert finished.config["learner"]["hidden"] == [4]


def test_a_killed_training_ends_with_the_same_bits(finished, tmp_path):
    path = tmp_path / "killed"
    process = subprocess.Popen([sys.executable, "-m", "jaxgames.cli", *train(path)], stdout=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 300
        while not (path / "checkpoints").is_dir() or not Run.open(path).steps():
            assert process.poll() is None and time.monotonic() < deadline, "the training ended before it was killed"
            time.sleep(0.02)
        os.kill(process.pid, signal.SIGKILL)
    finally:
        process.kill()
        process.wait()
    assert cli.main(["train", "--out", str(path), "--resume", "--json"]) == 0
    resumed = Run.open(path)
    (step, leaves), (step_whole, leaves_whole) = leaves_of(resumed), leaves_of(finished)
    assert step == step_whole
    for leaf, whole in zip(leaves, leaves_whole, strict=True):
        np.testing.assert_array_equal(leaf, whole)
    assert [line["games"] for line in resumed.metrics()] == [line["games"] for line in finished.metrics()]


def test_a_run_is_never_overwritten(finished, capsys):
    assert cli.main(train(finished.path)) == 2
    assert "never overwritten" in one_line(capsys)


def test_a_truncated_checkpoint_is_named(finished, tmp_path, capsys):
    import shutil

    path = tmp_path / "broken"
    shutil.copytree(finished.path, path)
    newest = finished.steps()[-1]
    largest = max(
        (path / "checkpoints" / f"step-{newest}").rglob("*"), key=lambda p: p.stat().st_size if p.is_file() else -1
    )
    largest.write_bytes(largest.read_bytes()[:-1])
    assert cli.main(["train", "--out", str(path), "--resume"]) == 2
    line = one_line(capsys)
    assert f"step {newest}" in line and "still good" in line


def test_match_of_a_run(finished, capsys):
    assert cli.main(["match", str(finished.path), "pubeval", "--games", "40", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["games"] == 40
    assert result["ppg_low"] <= result["ppg"] <= result["ppg_high"]
    assert result["games_per_second"] > 0


def test_backprop_to_results_trains(tmp_path, capsys):
    arguments = "--games 40 --devices 2 --set hidden=4 --set batch=16 --set plies=400".split()
    arguments += "--measured-games 20 --final-games 20 --json".split()
    assert cli.main(["train", "backgammon-backprop", "--out", str(tmp_path / "run"), *arguments]) == 0
    result = json.loads(capsys.readouterr().out)
    assert [match["b"] for match in result["matches"]] == ["random", "simple:3", "pubeval"]


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
        ("train td-gammon --out {out} --set lambda_=x", "expected a number"),
        ("train td-gammon --out {out} --set lambda_=1.5", "from 0 to 1"),
        ("train td-gammon --out {out} --set decay", "NAME=VALUE"),
        ("train td-gammon --out {out} --set foo=1", "available: encoding"),
        ("train td-gammon --out {out} --setting foo", "available: fast"),
        ("train td-gammon --out {out} --devices 99", "99 devices"),
        ("train td-gammon --out {out} --set batch=3 --devices 2", "evenly"),
        ("train --out {out} --resume", "does not exist"),
        ("train td-gammon --out {out} --resume", "nothing else"),
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


@pytest.mark.parametrize(
    "arguments", ["", "fly", "match random", "train td-gammon --out x --games 1 --minutes 1", "match a b --games x"]
)
def test_bad_syntax_gets_one_line(arguments, capsys):
    with pytest.raises(SystemExit) as exit_:
        cli.main(arguments.split())
    assert exit_.value.code == 2
    one_line(capsys)


def one_line(capsys) -> str:
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1, captured.err
    return captured.err
