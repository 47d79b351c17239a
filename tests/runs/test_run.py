"""The run folder: configuration, metrics, one writer, kill -9."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxgames
from jaxgames.algos import alphazero, imitation
from jaxgames.algos.self_play_backprop import load_self_play
from jaxgames.runs import Run, check_extras
from jaxgames.runs.checkpoints import Snapshots


def test_create_and_open(tmp_path):
    run = Run.create(
        tmp_path / "deep" / "a", {"recipe": "td-gammon", "sizes": (40, 4), "rate": np.float32(0.5), "n": None}
    )
    assert run.config == {"recipe": "td-gammon", "sizes": [40, 4], "rate": 0.5, "n": None}
    assert Run.open(str(run.path)).config == run.config
    assert run.metrics() == [] and run.steps() == []


def test_configurations_that_are_no_json(tmp_path):
    for config, message in (
        ({"a": {"b": object()}}, r"config\['a'\]\['b'\] is of type object"),
        ({"a": {1: 2}}, r"config\['a'\] has the key 1; keys must be texts"),
        ({"a": [1, np.float32(np.nan)]}, r"config\['a'\]\[1\] is nan; expected a finite number"),
    ):
        with pytest.raises(ValueError, match=message):
            Run.create(tmp_path / "a", config)
    assert not (tmp_path / "a").exists()


def test_metrics_are_valid_json_lines(tmp_path):
    run = Run.create(tmp_path, {})
    run.log({"step": 1, "loss": float("nan"), "ppg": float("-inf"), "name": "é\n", "list": [1.5, float("inf")]})
    run.log({"step": jnp.int32(2), "loss": jnp.bfloat16(0.5), "array": np.array([[1, 2]]), "flag": np.bool_(True)})
    expected = [
        {"step": 1, "loss": None, "ppg": None, "name": "é\n", "list": [1.5, None]},
        {"step": 2, "loss": 0.5, "array": [[1, 2]], "flag": True},
    ]
    assert run.metrics() == expected

    def no_constants(name):
        raise AssertionError(f"{name} is no JSON")

    lines = (tmp_path / "metrics.jsonl").read_text().splitlines()
    assert [json.loads(line, parse_constant=no_constants) for line in lines] == expected


@pytest.mark.parametrize("values", [{}, {"step": 1.5}, {"step": None}, {"step": True}, {"step": -1}, {"step": 1 << 63}])
def test_metrics_need_a_step(tmp_path, values):
    run = Run.create(tmp_path, {})
    with pytest.raises(ValueError, match="metrics need a whole number 'step', got"):
        run.log(values)
    assert run.metrics() == []


def test_a_line_cut_anywhere_is_ignored_and_then_removed(tmp_path):
    run = Run.create(tmp_path, {})
    first, last = {"step": 1, "text": "x" * 10_000}, {"step": 2, "text": "y" * 10_000}
    run.log(first)
    run.log(last)
    path = tmp_path / "metrics.jsonl"
    whole = path.read_bytes()
    start = whole.index(b"\n") + 1
    for cut in (start, start + 1, start + 4096, start + 5000, len(whole) - 1):
        path.write_bytes(whole[:cut])
        assert run.metrics() == [first]
        run.log({"step": 3})
        assert run.metrics() == [first, {"step": 3}]
        assert path.read_bytes() == whole[:start] + b'{"step": 3}\n'
    path.write_bytes(whole[: start // 2])
    assert run.metrics() == []
    run.log({"step": 3})
    assert run.metrics() == [{"step": 3}]


@pytest.mark.parametrize("line", ["no JSON", "[1]", '{"loss": 1}', "\x00\x00"])
def test_a_broken_line_in_the_middle_is_named(tmp_path, line):
    run = Run.create(tmp_path, {})
    (tmp_path / "metrics.jsonl").write_text(f'{{"step": 1}}\n{line}\n{{"step": 3}}\n')
    with pytest.raises(ValueError, match="line 2 of .*metrics.jsonl is no JSON object with a whole number 'step'"):
        run.metrics()


def test_dropping_metrics_after_a_step(tmp_path):
    run = Run.create(tmp_path, {})
    run.drop_metrics_after(0)
    for step in (0, 10, 10, 20, 30):
        run.log({"step": step, "x": 0.1 * step})
    before = run.metrics()
    run.drop_metrics_after(30)
    assert run.metrics() == before
    run.drop_metrics_after(15)
    assert run.metrics() == before[:3]
    run.log({"step": 20})
    assert [line["step"] for line in Run.open(tmp_path).metrics()] == [0, 10, 10, 20]
    run.drop_metrics_after(-1)
    assert run.metrics() == []


# Values tell the step they belong to, so that a mixture of two checkpoints would show.
CHILD = """
import sys
import numpy as np
from jaxgames.runs import Run

def state(step):
    return {"a": np.full((200, 40), step, np.float32), "b": [np.full(3000, step, np.uint32), np.int64(step)]}

if __name__ == "__main__":
    run = Run.create(sys.argv[1], {})
    for step in range(1, 10_000):
        run.log({"step": step, "text": "x" * 1000})
        run.save(step, state(step))
        run.save_best(state(step), {"step": step})
        print(step, flush=True)
"""


def start_child(path):
    program = [sys.executable, "-c", CHILD, str(path)]
    return subprocess.Popen(program, stdout=subprocess.PIPE, text=True, env={**os.environ, "JAX_PLATFORMS": "cpu"})


def assert_whole(state, step):
    assert (state["a"] == step).all() and (state["b"][0] == step).all() and state["b"][1] == step


def test_kill_at_any_moment(tmp_path):
    template = {"a": np.zeros((200, 40), np.float32), "b": [np.zeros(3000, np.uint32), np.int64(0)]}
    delays = random.Random(0)
    children = {tmp_path / str(i): start_child(tmp_path / str(i)) for i in range(4)}
    for path, child in children.items():
        with child:
            assert child.stdout.readline() == "1\n"  # the folder is there, and the child goes on writing
            with pytest.raises(ValueError, match="is being written by another process; wait until it ends or stop it"):
                Run.open(path).log({"step": 0})
            time.sleep(delays.uniform(0, 0.2))
            child.send_signal(signal.SIGKILL)
            printed = [1, *map(int, child.stdout.read().split())][-1]
        assert child.returncode == -signal.SIGKILL

        run = Run.open(path)
        step, state = run.restore(template)
        assert_whole(state, step)
        assert step in (printed, printed + 1)
        for older in run.steps():
            assert_whole(run.restore(template, older)[1], older)
        info, best = run.load_best(template)
        assert_whole(best, info["step"])
        assert info["step"] in (step - 1, step)

        run.drop_metrics_after(step)
        run.log({"step": step + 1})
        assert [line["step"] for line in run.metrics()] == list(range(1, step + 2))
        run.save(step + 1, state)
        run.save_best(state, {})
        assert run.steps() == [step - 1, step, step + 1] if step > 1 else [step, step + 1]
        assert len(list((path / "checkpoints").iterdir())) == len(run.steps())
        assert len(list((path / "best").iterdir())) == 1


LOCKED = """
import sys
from jaxgames.runs import Run
Run.open(sys.argv[1]).log({"step": 2})
"""


def test_the_lock_is_kept_whatever_else_this_process_closes(tmp_path):
    """Locks of records are lost with the first descriptor of the file that is closed."""
    run = Run.create(tmp_path / "a", {})
    open(run.path / ".lock").close()
    again = Run.open(run.path)
    again.log({"step": 1})  # within one process there may be several
    del again
    command = [sys.executable, "-c", LOCKED, str(run.path)]
    refused = subprocess.run(command, capture_output=True, text=True)
    assert "is being written by another process; wait until it ends or stop it" in refused.stderr
    del run
    subprocess.run(command, check=True)
    assert [line["step"] for line in Run.open(tmp_path / "a").metrics()] == [1, 2]


def test_all_of_a_run_stays_where_it_was_opened(tmp_path, monkeypatch):
    """Also if there is one of that name where the process works now, and however it is asked for the first time."""
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        run = Run.create("r", {"of": name})
    snapshots = Snapshots(run.path, np.zeros(1, np.float32))
    monkeypatch.chdir(tmp_path / "here")
    run.log({"step": 1})
    run.save(1, {"x": 1})
    run.save_best({"x": 2}, {"of": "there"})
    snapshots.put(0, np.ones(1, np.float32))
    again = Run.open("../there/r")
    for name in (".", "here", "there"):
        monkeypatch.chdir(tmp_path / name)
        for each in (run, again):
            assert (each.metrics(), each.steps(), each.best_info()) == ([{"step": 1}], [1], {"of": "there"})
            assert each.restore({"x": 0}) == (1, {"x": 1}) and len(snapshots) == 1
    assert sorted(path.name for path in (tmp_path / "here" / "r").iterdir()) == [".lock", "config.json"]


@pytest.mark.parametrize("name", ["sweep[lr=0.1]", "back\\slash", "all*?"])
def test_folders_whose_names_are_patterns(tmp_path, name):
    run = Run.create(tmp_path / name / "a", {})
    run.save(1, {"w": np.arange(3)})
    assert [path.name for path in tmp_path.iterdir()] == [name]
    read = [run.restore({"w": np.zeros(3, int)})]
    read += [Run.open(run.path.rename(tmp_path / "plain")).restore({"w": np.zeros(3, int)})]
    assert [state["w"].tolist() for _, state in read] == [[0, 1, 2]] * 2


def test_numbers_that_jax_would_cut_need_arrays_of_numpy_as_template(tmp_path):
    run, state = Run.create(tmp_path / "a", {}), {"games": np.int64(2**40 + 5), "mean": np.array([1 / 3])}
    run.save(1, state)
    run.save_best(state, {})
    assert run.restore(state) == (1, state) and run.load_best(state) == ({}, state)
    for place, form in (("games", r"int64\[\]"), ("mean", r"float64\[1\]")):
        shape = jax.ShapeDtypeStruct(state[place].shape, state[place].dtype)
        for read in (run.restore, run.load_best):
            with pytest.raises(ValueError, match=f"'{place}' is {form}, .* give an array of NumPy"):
                read({**state, place: shape})


def test_one_array_by_its_place(tmp_path):
    run = Run.create(tmp_path / "a", {})
    run.save(1, {"a": {"empty": np.zeros((0, 3), np.float32)}, "b": np.arange(2.0)})
    empty = run.restore_leaf("a/empty")
    assert (empty.shape, empty.dtype) == ((0, 3), np.float32) and run.restore_leaf("b").tolist() == [0, 1]
    with pytest.raises(ValueError, match="does not fit: it lacks 'a/b'"):
        run.restore_leaf("a/b")


def test_a_configuration_says_what_it_lacks(tmp_path):
    run = Run.create(tmp_path / "a", {"learner": {"batch": 1}})
    assert Run.open(run.path).config == {"learner": {"batch": 1}} == run.config
    for config in (run.config, Run.open(run.path).config):
        for lacking in (config, config["learner"]):
            with pytest.raises(ValueError, match="a/config.json lacks 'seed'; restore the file or start a new run"):
                lacking["seed"]
            assert lacking.get("seed") is None


def test_the_file_is_named_once(tmp_path):
    run, game = Run.create(tmp_path / "a", {"kind": "mine"}), jaxgames.make("tic_tac_toe")
    for read in (
        partial(alphazero.load_network, game=game),
        partial(imitation.load_network, game=game),
        load_self_play,
    ):
        with pytest.raises(ValueError, match=f"^{tmp_path}/a/config.json lacks '(learner|self_play)'"):
            read(run)


def test_modules_are_those_of_the_table():
    with pytest.raises(ValueError, match="^module 'numpyy': expected one of matplotlib, orbax.checkpoint$"):
        check_extras("numpyy")
