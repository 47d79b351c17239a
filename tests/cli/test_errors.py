"""Errors of the system: one line, an exit status, and nothing lost."""

import errno
import io
import json
import os
import re
import signal
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import jax
import numpy as np
import pytest

from jaxgames import cli
from jaxgames.algos.td import make_learner
from jaxgames.algos.td.methods import config_of, template
from jaxgames.cli import common, train
from jaxgames.records import json_lines
from jaxgames.runs import Run, console, files, folder, run

TINY = "td --game tic_tac_toe --games 200 --devices 1 --set hidden=4 --set batch=32 --set encoding=cells".split()
TINY += "--measured-games 20 --final-games 20 --seed 5 --json".split()


def begin(path):
    return ["train", *TINY, "--out", str(path)]


def resume(path):
    return ["train", "--out", str(path), "--resume", "--json"]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A training that nothing disturbed."""
    path = tmp_path_factory.mktemp("runs") / "whole"
    assert cli.main(begin(path)) == 0
    return Run.open(path)


def contents(run):
    """All that a training leaves but for the time it took: checkpoints, the best player, metrics."""
    shapes = template(make_learner(config_of(run.config["learner"])))
    trees = [run.restore(shapes, step) for step in run.steps()] + [run.load_best(shapes.state.params)]
    bits = [np.asarray(leaf).tobytes() for _, tree in trees for leaf in jax.tree.leaves(tree)]
    return run.steps(), bits, [{k: v for k, v in line.items() if "second" not in k} for line in run.metrics()]


def one_line(capsys, status, *words):
    """What a command said, which is one line on stderr with these words."""
    said = capsys.readouterr()
    assert status == 2 and said.out == "" and said.err.count("\n") == 1 and said.err.startswith("jaxgames")
    assert all(word in said.err for word in words), said.err


def at_call(monkeypatch, owner, name, number, happens):
    """Lets something happen at the call of a function with this number, instead of the call."""
    real, calls = getattr(owner, name), []

    def call(*args, **kwargs):
        calls.append(name)
        return happens() if len(calls) == number else real(*args, **kwargs)

    monkeypatch.setattr(owner, name, call)


def refuse(number, *path):
    raise OSError(number, os.strerror(number), *path)


def test_full_disk_while_training(whole, tmp_path, monkeypatch, capsys):
    path = tmp_path / "run"
    with monkeypatch.context() as patch:
        at_call(patch, files.os, "fsync", 40, lambda: refuse(errno.ENOSPC))
        status = cli.main(begin(path))
    one_line(capsys, status, str(path), "No space left on device; free some space; a training goes on with --resume")
    assert not list(path.rglob(".saving*"))
    assert cli.main(resume(path)) == 0
    assert contents(Run.open(path)) == contents(whole)


def test_stopped_training(whole, tmp_path, monkeypatch, capsys):
    path, before = tmp_path / "my run[1]", signal.getsignal(signal.SIGTERM)
    with monkeypatch.context() as patch:
        at_call(patch, Run, "log", 4, lambda: signal.raise_signal(signal.SIGTERM))
        assert cli.main(begin(path)) == 143
    assert capsys.readouterr().err == f"stopped; go on with: jaxgames train --out '{path}' --resume\n"
    assert signal.getsignal(signal.SIGTERM) == before
    assert cli.main(resume(path)) == 0
    assert contents(Run.open(path)) == contents(whole)


def test_closed_streams(monkeypatch):
    names = ("stdin", "stdout", "stderr")
    for name in names:
        monkeypatch.setattr(sys, name, None)
    statuses = [cli.main(arguments.split()) for arguments in ("perft tic_tac_toe 1", "perft tic_tac_toe 1000000000")]
    for name in names:
        getattr(sys, name).close()
    assert statuses == [0, 2]


def test_signs_that_the_terminal_has_not(monkeypatch):
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="ascii"))
    monkeypatch.setattr("jaxgames.cli.perft.run", lambda _: print("50.0 ± 1.0"))
    assert cli.main("perft tic_tac_toe 1".split()) == 0 and written.getvalue() == b"50.0 ? 1.0\n"


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_stopped_match(monkeypatch, capsys, number, status):
    if number == signal.SIGINT:  # a shell that starts the tests in the background has it ignored
        signal.signal(number, signal.default_int_handler)
    at_call(monkeypatch, common.ProgressLine, "show", 1, lambda: signal.raise_signal(number))
    assert cli.main("match random random --game tic_tac_toe --games 20".split()) == status
    assert capsys.readouterr().err == "stopped\n"


REFUSED = [
    ("match random random --games 99999999999", "cannot play 99999999999 games; expected 1 or more, at most 100,"),
    ("match random random --game tic_tac_toe --seed -1", "--seed: '-1': expected a whole number from 0 to 4294967295"),
    ("match random random --seed 4294967296", "--seed: '4294967296': expected a whole number from 0 to 4294967295"),
    ("score connect_four random --positions x --seed 9223372036854775808", "'9223372036854775808': expected a whole"),
    ("train td-gammon --out {path}/a --seed 9223372036854775808", "seed 9223372036854775808: expected a whole"),
    ("train td-gammon --out {path}/a --seed -1", "seed -1: expected a whole number from 0 to 4,294,967,295"),
    ("match uct:9,trees=1000000000 random", "trees '1000000000': expected a whole number from 1 to 256"),
    ("match uct:9,c=1e30 random", "c '1e30': expected a number from 0 to 1,000,000"),
    ("match rave:9,k=0 random --game tic_tac_toe", "k '0': expected a number above 0"),
    ("match uct:1000000000 random --game tic_tac_toe", "a tree of 1,000,000,001 slots is too large"),
    ("match alphabeta:1000000000 random --game tic_tac_toe", "depth 1000000000: expected a whole number from 1 to 500"),
    ("train td-gammon --games 9 --out {path}/file/a", "cannot be made, as {path}/file is no folder; choose another"),
    ("train checkers-evolution --out {path}/file/a/b", "cannot be made, as {path}/file is no folder; choose another"),
    ("train tic-tac-toe-self-play --out {path}/file", "file exists already and is never overwritten"),
    ("train td-gammon --games 9 --out {path}/" + "a" * 300, "File name too long; choose a shorter name"),
    ("perft connect_four 99999999999999999999", "depth 99999999999999999999: expected a whole number from 0"),
    ("perft tic_tac_toe 1000000000", "depth 1000000000: expected a whole number from 0 to 10000"),
    ("perft tic_tac_toe 3 --plugin {path}/none.py", "plug-in {path}/none.py: there is no such file"),
    ("train td --game chekers --out {path}/a --plugin {path}/file", "plug-in {path}/file is no Python file"),
    ("match random random --game connect_four --set rows=x", "rows='x': expected a whole number"),
    ("--version now", "--version stands alone, or with --json"),
    ("score connect_four random --positions {path}", "cannot be read: Is a directory"),
]


@pytest.mark.parametrize(("command", "words"), REFUSED)
def test_refused_before_anything_is_made(tmp_path, capsys, command, words):
    (tmp_path / "file").write_text("")
    try:
        status = cli.main(command.format(path=tmp_path).split())
    except SystemExit as end:  # of the parser
        status = end.code
    one_line(capsys, status, words.format(path=tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_positions_that_are_no_text(tmp_path, capsys):
    file = tmp_path / "positions.txt"
    file.write_bytes(b"\xff\xfe")
    one_line(capsys, cli.main(["rollout", str(file)]), f"{file} is no text; expected a position a line")


def test_folders_that_cannot_be_written(tmp_path, capsys, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(folder.os, "access", lambda *_: False)  # root may write anywhere
        status = cli.main(begin(tmp_path / "a"))
    one_line(capsys, status, f"{tmp_path}/a cannot be made, as {tmp_path} cannot be written; choose another folder")
    with monkeypatch.context() as patch:
        patch.setattr(folder, "LEAST_FREE", 2**62)
        status = cli.main(begin(tmp_path / "a"))
    one_line(capsys, status, f"{tmp_path}/a needs {2**62:,} bytes, but the disk has ")
    at_call(monkeypatch, files.os, "open", 1, lambda: refuse(errno.EROFS, f"{tmp_path}/a/.lock"))
    one_line(
        capsys, cli.main(begin(tmp_path / "a")), ".lock: Read-only file system; choose a place that can be written"
    )
    assert [path.name for path in tmp_path.rglob("*")] == ["a"]  # the system's refusal came too late


@pytest.mark.parametrize("name", ["config.json", "metrics.jsonl"])
def test_a_folder_in_place_of_a_file(whole, tmp_path, capsys, name):
    path = Run.create(tmp_path / "run", whole.config).path
    (path / name).unlink(missing_ok=True)
    (path / name).mkdir()
    one_line(capsys, cli.main(resume(path)), f"{path}/{name} is a folder; ")


@pytest.mark.parametrize("key", ["recipe", "learner", "devices", "block", "seed", "batch"])
def test_a_configuration_that_lacks_a_key(whole, tmp_path, capsys, key):
    config = json.loads(json.dumps(whole.config))
    del (config if key in config else config["learner"])[key]
    path = Run.create(tmp_path / "run", config).path
    words = {"recipe": "holds no training", "batch": "setting 'batch' of a TD learner is missing"}
    one_line(capsys, cli.main(resume(path)), words.get(key, f"{path}/config.json lacks {key!r}; restore the file"))


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"recipe": "chess"}, "unknown recipe 'chess'; available: td-gammon, "),
        ({"recipe": "tic-tac-toe-evolution", "network": {"game": "tic_tac_toe"}}, "config.json lacks '"),
        ({"recipe": "tic-tac-toe-self-play"}, "config.json lacks '"),
        ({"recipe": "td-gammon", "learner": 3}, "the settings of a TD learner are 3; expected names with values"),
    ],
)
def test_configurations_of_no_training(tmp_path, capsys, config, words):
    path = Run.create(tmp_path / "run", config).path
    one_line(capsys, cli.main(resume(path)), words)


def test_a_configuration_that_a_recipe_cannot_read(whole):
    recipe = SimpleNamespace(name="td", resume=lambda run, report: run.config["seed"] + "1")
    with pytest.raises(ValueError, match=r"whole/config.json is no configuration of td \(unsupported operand"):
        train._resumed(recipe, whole, None)


def test_a_closed_pipe():
    """As in `jaxgames perft ... | head -1`: nobody reads any more."""
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "jaxgames", *"perft tic_tac_toe 2".split()]
    ended = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True)
    os.close(write)
    assert (ended.returncode, ended.stderr) == (141, "")


def test_a_device_without_enough_memory(monkeypatch, capsys):
    module = import_module("jaxgames.envs.testing.perft")
    monkeypatch.setattr(module, "perft", lambda *_, **__: jax.jit(lambda: jax.numpy.zeros(2**50, "uint8") + 1)())
    one_line(capsys, cli.main("perft tic_tac_toe 2".split()), "the memory is used up; ask for less")

    def broken(*_, **__):
        raise RuntimeError("a mistake of ours")

    monkeypatch.setattr(module, "perft", broken)
    with pytest.raises(RuntimeError, match="of ours"):
        cli.main("perft tic_tac_toe 2".split())


def test_a_system_that_does_not_tell_cores(monkeypatch):
    """macOS has no `sched_getaffinity`."""
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    assert train._cores() == os.cpu_count()


@pytest.mark.parametrize("missing", ["matplotlib", "orbax.checkpoint"])
def test_a_core_install_is_told_before_training(whole, tmp_path, monkeypatch, capsys, missing):
    monkeypatch.setitem(sys.modules, missing, None)
    words = f"not installed: {missing.replace('.', '-')}; install with: pip install 'jaxgames[cli]'"
    for arguments in (begin(tmp_path / "a"), resume(whole.path)):
        one_line(capsys, cli.main(arguments), words)
    wrong = {"nonsense": "unknown recipe 'nonsense'", "td --game chekers": "unknown game 'chekers'"}
    for given, said in wrong.items():  # before what is missing
        one_line(capsys, cli.main(["train", *given.split(), "--out", str(tmp_path / "a")]), said)
    with pytest.raises(ValueError, match="not installed: "):
        Run.check_free(tmp_path / "a")
    assert not (tmp_path / "a").exists() and not run._is_installed("not_there.at_all")


def test_without_rich_tables_and_progress_are_plain(whole, tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "rich", None)
    monkeypatch.setattr(console, "PLAIN_SECONDS", 0.0)
    assert cli.main("match random random --game connect_four --games 8".split()) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "connect_four: 8 games" and lines[1].split() == ["random", "random"] and set(lines[2]) == {"-"}
    assert any(line.startswith("score") and line.count("%") == 2 for line in lines)
    assert cli.main([word for word in begin(tmp_path / "a") if word != "--json"]) == 0
    told = capsys.readouterr()
    assert "100 %  " in told.err and f"run folder      {tmp_path / 'a'}" in told.out


def test_the_seed_of_a_match_is_that_of_the_command(capsys):
    results = []
    for seed in (1, 2, 1):
        assert cli.main(f"match random random --game connect_four --games 64 --seed {seed} --json".split()) == 0
        results.append(json.loads(capsys.readouterr().out))
    assert [result["seed"] for result in results] == [1, 2, 1]
    one, other, again = ((result["plies_per_game"], result["draw_rate"]) for result in results)
    assert one == again != other


def test_the_seed_of_a_training_is_that_of_the_command(whole, tmp_path):
    assert whole.config["seed"] == 5
    assert cli.main([*begin(tmp_path / "a"), "--seed", "6"]) == 0
    other = Run.open(tmp_path / "a")
    assert other.config["seed"] == 6
    assert all(one["loss"] != two["loss"] for one, two in zip(whole.metrics(), other.metrics(), strict=True))


def test_what_the_command_says_is_in_the_run(tmp_path, monkeypatch):
    configs = []

    def stop(path, config):
        configs.append(config)
        raise KeyboardInterrupt

    monkeypatch.setattr(Run, "create", stop)
    for number in (12, 20):
        command = f"train connect-four-evolution --population {number} --seed {number} --out {tmp_path}/a"
        assert cli.main(command.split()) == 130
    assert [config["evolution"]["population"] for config in configs] == [12, 20]
    assert [config["seed"] for config in configs] == [12, 20]


def test_version(capsys):
    for option, read in (([], str), (["--json"], json.loads)):
        with pytest.raises(SystemExit) as ended:
            cli.main(["--version", *option])
        found = read(capsys.readouterr().out)
        assert ended.value.code == 0 and all(word in found for word in ("jaxgames", "Python", "jax", "device"))
        assert isinstance(found, dict) or (found.count("\n") == 1 and f"jax {jax.__version__}" in found)


DEEP = "[" * 200_000 + "]" * 200_000


@pytest.mark.parametrize("text", [DEEP, "[" * 200 + "]" * 200])
def test_json_that_is_nested_too_deeply(whole, tmp_path, text):
    path = Run.create(tmp_path / "run", whole.config).path
    (path / "metrics.jsonl").write_text(f'{{"step": 1, "a": {text}}}\n')
    with pytest.raises(ValueError, match=r"line 1 of .* is no JSON object"):
        Run.open(path).metrics()
    (path / "config.json").write_text(text)
    with pytest.raises(ValueError, match="config.json is broken: it is no JSON"):
        Run.open(path)
    with pytest.raises(ValueError, match="nested more than 100 deep"):
        json_lines.read(f'{{"game": {text}}}')


def test_json_is_read_in_one_place():
    """Anybody may have written a file: `json.loads` itself ends in a traceback where it is nested deeply."""
    folder = Path(cli.__file__).parents[1]
    users = [path for path in folder.rglob("*.py") if re.search(r"\bjson\.(loads?|JSONDecoder)\(", path.read_text())]
    assert {str(path.relative_to(folder)) for path in users} == {"ops/json_text.py", "web/messages.py"}
