"""The list of edits fits the code, and the program that tries them finds those that no test notices."""

import re
import signal
import subprocess
import time
from unittest import mock

import pytest

from tests.mutants import run
from tests.mutants.run import COPIED, ROOT, Edit, main, read, survivors

LEAST = 80
SEAMS = 17
"""Edits that once passed all tests."""


def test_there_are_enough_edits_of_all_rooms():
    edits = read()
    assert len(edits) >= LEAST
    assert sum(edit.name.startswith("seam: ") for edit in edits) >= SEAMS
    rooms = {path.parent.name for path in (ROOT / "jaxgames").glob("*/__init__.py")}
    assert {edit.file.split("/")[1] for edit in edits if "/" in edit.file} >= rooms


@pytest.mark.parametrize("edit", read(), ids=lambda edit: edit.name)
def test_edits_and_their_tests_are_there(edit):
    source = (ROOT / edit.file).read_text("utf-8")
    broken = edit.broken(source)
    if edit.file.endswith(".py"):
        compile(broken, edit.file, "exec")
    assert edit.new != edit.old and edit.tests
    for test in edit.tests:
        file, *names = test.partition("[")[0].split("::")
        text = (ROOT / file).read_text("utf-8")
        assert all(re.search(rf"^ *(def|class) {name}\b", text, re.MULTILINE) for name in names), test


@pytest.fixture(autouse=True)
def no_plugins(monkeypatch):
    """The tests of a toy need none, and begin at once."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")


def toy(tmp_path, source="def half(x):\n    return x / 2\n"):
    """A project of one function and one test."""
    for name, text in {
        "jaxgames/__init__.py": "",
        "jaxgames/toy.py": source,
        "tests/test_toy.py": "from jaxgames.toy import half\n\n\ndef test_half():\n    assert half(4) == 2\n",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def edit(old, new):
    return Edit(f"{old} to {new}", "jaxgames/toy.py", old, new, ("tests/test_toy.py::test_half",))


def test_edits_that_survive_are_named(tmp_path, capsys):
    root = toy(tmp_path)
    found = survivors([edit("x / 2", "x / 3"), edit("x / 2", "x - 2"), edit("return x", "return  x")], root, 1)
    assert found == ["x / 2 to x - 2", "return x to return  x"]
    said = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in said] == ["noticed", "SURVIVED", "SURVIVED"]
    assert "x / 2" in (root / "jaxgames" / "toy.py").read_text()


def test_what_cannot_be_tried_is_refused(tmp_path, capsys):
    with pytest.raises(ValueError, match="toy.py has the text 0 times, expected once: 'x / 9'"):
        survivors([edit("x / 9", "x")], toy(tmp_path / "a"), 1)
    with pytest.raises(ValueError, match="has the text 2 times"):
        survivors([edit("x", "y")], toy(tmp_path / "b"), 1)
    with pytest.raises(ValueError, match="these tests fail without any edit"):
        survivors([edit("x / 2", "x")], toy(tmp_path / "c", "def half(x):\n    return x / 2 + 1\n"), 1)
    broken = edit("x / 2", "x / (")
    assert survivors([broken], toy(tmp_path / "d"), 1) == [broken.name]
    said = capsys.readouterr().out
    assert said.startswith("BROKEN") and "pytest ended with" in said
    with pytest.raises(SystemExit):
        main(["--only", "no such edit"])
    assert "no edit has 'no such edit'" in capsys.readouterr().err


def test_ctrl_c_ends_the_tests_under_way(tmp_path, monkeypatch, capsys):
    root = toy(tmp_path, "import os, signal, time\n\nos.kill(os.getppid(), signal.SIGINT)\ntime.sleep(30)\n")
    before, began = signal.signal(signal.SIGINT, signal.default_int_handler), time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            survivors([edit("30", "31")], root, 1)
    finally:
        signal.signal(signal.SIGINT, before)
    assert time.monotonic() - began < 20
    monkeypatch.setattr(run, "survivors", mock.Mock(side_effect=KeyboardInterrupt))
    assert main(["--only", "bits"]) == 130 and capsys.readouterr().err == "stopped\n"


def test_what_tests_read_is_copied():
    """Whatever a test comes to read: all that belongs to the project."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True).stdout.splitlines()
    assert {name.partition("/")[0] for name in listed} <= set(COPIED)
