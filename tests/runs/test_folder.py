"""Folders on disk of every kind: begun once, opened again, locked, and refused in one line where they are damaged."""

import json
import os
import pickle
import shutil
import subprocess
import sys

import pytest

from jaxgames.matches.tournament import TournamentFolder
from jaxgames.runs import Run, folder
from jaxgames.runs.folder import DataSetFolder
from jaxgames.tables.folder import TableFolder

DATA = {"game": "tic_tac_toe", "options": {}, "version": "v1", "made": {"by": "test"}, "shards": 1}
KINDS = {
    Run: {"config": {"recipe": "td", "sizes": [40, 4]}},
    DataSetFolder: DATA,
    TournamentFolder: {"players": ["random", "uct:8"], "seed": 1},
    TableFolder: {"table": "checkers-2", "slices": {}},
}


@pytest.fixture(params=KINDS, ids=lambda kind: kind.__name__)
def kind(request):
    return request.param


def refusal(action):
    """What an action is refused with, which is one line."""
    with pytest.raises(ValueError) as error:
        action()
    assert "\n" not in str(error.value)
    return str(error.value)


def test_what_is_begun_is_opened_again(kind, tmp_path):
    begun = kind.begin(tmp_path / "deep" / "a", KINDS[kind])
    assert kind.is_at(begun.path) and not kind.is_at(tmp_path)
    assert kind.open(str(begun.path)).header == begun.header == {"format": 1, **KINDS[kind]}
    again = kind.begin_or_go_on(begun.path, KINDS[kind])
    assert again.header == begun.header
    other = {**KINDS[kind], "seed": 7}
    said = refusal(lambda: kind.begin_or_go_on(begun.path, other))
    assert f"{begun.path} was begun otherwise: seed is " in said and said.endswith(f"not 7; {kind.ANOTHER}")


def test_nothing_is_overwritten(kind, tmp_path):
    kind.begin(tmp_path / "begun", KINDS[kind])
    (tmp_path / "file").write_text("x")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").write_text("x")
    for name in ("begun", "file", "full"):
        said = refusal(lambda name=name: kind.begin(tmp_path / name, KINDS[kind]))
        assert said == f"{tmp_path / name} exists already and is never overwritten; {kind.ANOTHER}"
    assert [path.name for path in (tmp_path / "full").iterdir()] == ["thesis.txt"]
    said = refusal(lambda: kind.begin(tmp_path / "file" / "a", KINDS[kind]))
    assert f"{tmp_path}/file/a cannot be made, as {tmp_path}/file is no folder" in said


def test_a_beginning_that_was_killed_is_repeated(kind, tmp_path):
    (tmp_path / ".lock").touch()
    (tmp_path / f".saving-{kind.HEADER}").write_text('{"for')
    kind.begin(tmp_path, KINDS[kind])
    assert sorted(path.name for path in tmp_path.iterdir()) == [".lock", kind.HEADER]


def test_no_folder_of_this_kind(kind, tmp_path):
    assert refusal(lambda: kind.open(tmp_path / "x")) == f"{tmp_path / 'x'} does not exist; expected {kind.EXPECTED}"
    (tmp_path / "file").write_text("x")
    for path in (tmp_path, tmp_path / "file"):
        said = refusal(lambda path=path: kind.open(path))
        assert said == f"{path} is not {kind.KIND}: it has no {kind.HEADER}; expected {kind.EXPECTED}"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "is broken: it is no JSON"),
        ('{"format": 1, "conf', "is broken: it is no JSON"),
        ("\x00\x01", "is broken: it is no JSON"),
        ("[" * 200 + "]" * 200, "is broken: it is no JSON"),
        ("[1]", "is broken: it is no JSON object"),
        ('{"learning_rate": 1}', "has format None; this version of jaxgames reads format 1"),
        ('{"format": 2, "config": {}}', "has format 2; this version of jaxgames reads format 1"),
    ],
)
def test_headers_that_are_damaged(kind, tmp_path, content, words):
    (tmp_path / kind.HEADER).write_text(content)
    said = refusal(lambda: kind.open(tmp_path))
    assert f"{tmp_path / kind.HEADER} {words}" in said
    assert "format" in words or said.endswith(f"; {kind.RESTORE}")


def test_a_folder_in_place_of_the_header(kind, tmp_path):
    (tmp_path / kind.HEADER).mkdir()
    assert refusal(lambda: kind.open(tmp_path)) == f"{tmp_path / kind.HEADER} is a folder; {kind.RESTORE}"


def test_a_pipe_in_place_of_the_header_is_not_waited_for(kind, tmp_path):
    os.mkfifo(tmp_path / kind.HEADER)
    assert refusal(lambda: kind.open(tmp_path)) == f"{tmp_path / kind.HEADER} is no file; {kind.RESTORE}"


def test_headers_that_lack_something(kind, tmp_path):
    begun = kind.begin(tmp_path / "a", KINDS[kind])
    for name in kind.FIELDS:
        for header in ({**KINDS[kind], name: None}, {key: KINDS[kind][key] for key in KINDS[kind] if key != name}):
            (begun.path / kind.HEADER).write_text(json.dumps({"format": 1, **header}))
            said = refusal(lambda: kind.open(begun.path))
            assert said == f"{begun.path / kind.HEADER} lacks {name!r}; {kind.RESTORE}"
    said = refusal(lambda: begun.header["nothing"])
    assert said == f"{begun.path / kind.HEADER} lacks 'nothing'; {kind.RESTORE}"


OTHER = """
import os, pickle, sys
def claim(folder):
    try:
        folder.claim()
    except ValueError as error:
        print(error, flush=True)
sent = pickle.loads(sys.stdin.buffer.read())
claim(sent)
claim(sent.open(sent.path))
here = sent.begin(sys.argv[1], {name: value for name, value in sent.header.items() if name != "format"})
if not os.fork():
    claim(here)
    claim(here.open(here.path))
    del here
    os._exit(0)
os.wait()
here.claim()
if not os.fork():
    claim(sent.open(sys.argv[1]))
    os._exit(0)
os.wait()
"""


def test_one_process_writes(kind, tmp_path):
    """Neither one that opens the folder, nor one that gets what another has opened, pickled or by a fork."""
    begun = kind.begin(tmp_path / "a", KINDS[kind])
    refused = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", OTHER, str(tmp_path / "b")],
        input=pickle.dumps(begun), capture_output=True, env={**os.environ, "JAX_PLATFORMS": "cpu"},
    )  # fmt: skip
    said = [f"{tmp_path / name} is being written by another process; wait until it ends or stop it" for name in "aabbb"]
    assert refused.stdout.decode().splitlines() == said, refused.stderr.decode()


def test_a_folder_stays_the_one_that_was_opened(kind, tmp_path, monkeypatch):
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        begun = kind.begin("a", KINDS[kind])
        assert str(begun.path) == "a"
    monkeypatch.chdir(tmp_path / "here")
    sent = pickle.dumps(begun)
    for each in (begun, pickle.loads(sent)):
        assert each.path == tmp_path / "there" / "a"
        each.write_json("b.json", {})
    assert not (tmp_path / "here" / "a" / "b.json").exists() and (each.path / "b.json").exists()


def test_a_folder_that_another_has_begun_anew_is_not_written(kind, tmp_path):
    begun = kind.begin(tmp_path / "a", KINDS[kind])
    shutil.rmtree(begun.path)
    said = f"{begun.path} was removed or begun anew by another process; {kind.ANOTHER}"
    assert refusal(begun.write_header) == said
    anew = kind.begin(begun.path, KINDS[kind])
    assert refusal(begun.claim) == refusal(begun.write_header) == said
    anew.write_header()


def test_a_place_that_cannot_be_written(kind, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(folder.os, "access", lambda *_: False)  # root may write anywhere
        said = refusal(lambda: kind.begin(tmp_path / "a", KINDS[kind]))
    assert said == f"{tmp_path}/a cannot be made, as {tmp_path} cannot be written; choose another folder"
    said = refusal(lambda: kind.begin(tmp_path / os.fsdecode(b"a\xff"), KINDS[kind]))
    assert said == f"{tmp_path}/a\udcff is no UTF-8; choose another name"
    monkeypatch.setattr(folder, "LEAST_FREE", 2**62)
    said = refusal(lambda: kind.begin(tmp_path / "a", KINDS[kind]))
    assert said.startswith(f"{tmp_path}/a needs {2**62:,} bytes, but the disk has ")
    assert not (tmp_path / "a").exists()
