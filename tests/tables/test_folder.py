"""Tables on disk: built, resumed, checked, and what is refused."""

import copy as copies
import json
import pickle
import shutil

import numpy as np
import pytest

from jaxgames.cli import main
from jaxgames.players import make
from jaxgames.tables import folder as folder_module
from jaxgames.tables import lookup
from jaxgames.tables.checkers import CheckersEndings
from jaxgames.tables.folder import TableFolder, build, open_table, pack, unpack
from jaxgames.tables.lookup import VARIABLE, index_of
from jaxgames.tables.retrograde import solve_all

ENDINGS = CheckersEndings(2)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    path = tmp_path_factory.mktemp("tables") / "checkers-2"
    assert main(["tables", "build", "checkers", "--pieces", "2", "--out", str(path)]) == 0
    return path


@pytest.fixture
def copy(built, tmp_path):
    return shutil.copytree(built, tmp_path / "copy")


def test_two_bits_a_position():
    values = np.random.default_rng(0).integers(0, 4, 103).astype(np.uint8)
    packed = pack(values)
    assert len(packed) == 26 and (unpack(packed)[:103] == values).all()


def test_a_table_is_read_as_it_was_solved(built):
    table = open_table(ENDINGS, built)
    for number, values in enumerate(solve_all(ENDINGS)):
        for one, other in zip(table.slice(number), values, strict=True):
            np.testing.assert_array_equal(one, other)
    for kept in table.slice(0):  # it is what all others get, too
        with pytest.raises(ValueError, match="read-only"):
            kept[:] = 0
    sent = pickle.loads(pickle.dumps(table))
    assert sent.slice(0).value is not table.slice(0).value and (sent.slice(0).value == table.slice(0).value).all()
    assert copies.deepcopy(table).slice(0).value is not table.slice(0).value
    assert table.bytes <= sum(folder_module.bytes_of(part.size) for part in ENDINGS.slices) + 8 * 128


def test_a_build_that_was_killed_goes_on(tmp_path, monkeypatch, built):
    solve, solved = folder_module.solve, []

    def die(index, group, known):
        if solved:
            raise KeyboardInterrupt
        solved.append(group)
        return solve(index, group, known)

    monkeypatch.setattr(folder_module, "solve", die)
    with pytest.raises(KeyboardInterrupt):
        build(ENDINGS, tmp_path / "t")
    with pytest.raises(ValueError, match="is not complete: 3 of 4 slices are missing"):
        open_table(ENDINGS, tmp_path / "t")
    groups = []
    monkeypatch.setattr(folder_module, "solve", lambda *a: groups.append(a[1]) or solve(*a))
    build(ENDINGS, tmp_path / "t")
    assert groups == list(ENDINGS.groups[1:])  # the first one is not solved again
    for path in built.glob("*.*"):
        assert path.read_bytes() == (tmp_path / "t" / path.name).read_bytes(), path.name


def test_a_file_that_is_gone_is_solved_again(built, copy):
    (copy / "01-01.turns").unlink()
    build(ENDINGS, str(copy))
    assert (copy / "01-01.turns").read_bytes() == (built / "01-01.turns").read_bytes()


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("01-01.values", b"", "01-01.values has 0 bytes instead of"),
        ("01-01.turns", None, "is not complete: 1 of 4 slices are missing; build on"),
        ("table.json", b'{"format": 1, "table": "chess-2", "slices": {}}', "holds 'chess-2', expected 'checkers-2'"),
        ("table.json", b'{"format": 1, "table": "checkers-2", "slices": {"01-01": {}}}', "a slice lacks its files"),
        ("table.json", b'{"format": 1, "table": "checkers-2", "slices": {"01-01": 3}}', "a slice lacks its files"),
    ],
)
def test_files_that_are_broken_or_foreign_are_refused_in_one_line(copy, capsys, name, content, said):
    if content is None:
        (copy / name).unlink()
    else:
        (copy / name).write_bytes(content)
    assert main(["tables", "info", "checkers", "--pieces", "2", "--out", str(copy)]) == 2
    error = capsys.readouterr().err
    assert said in error and error.count("\n") == 1


def test_a_flipped_bit_is_noticed(copy, capsys):
    path = copy / "10-10.turns"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    assert main(["tables", "info", "checkers", "--pieces", "2", "--out", str(copy)]) == 2
    assert "10-10.turns have changed; remove the folder and build it anew" in capsys.readouterr().err


def test_what_cannot_be_built_is_said_before_it_begins(tmp_path, capsys, monkeypatch):
    def refused(*arguments):
        assert main(["tables", "build", *arguments]) == 2
        return capsys.readouterr().err

    assert "1 pieces: expected 2 to 6" in refused("checkers", "--pieces", "1")
    with pytest.raises(ValueError, match="^pieces 2.5: expected a whole number$"):
        CheckersEndings(2.5)
    assert "no tables can be built for 'go'" in refused("go")
    (tmp_path / "mine").write_text("x")
    assert "is never overwritten; choose another" in refused("checkers", "--pieces", "2", "--out", str(tmp_path))
    usage = shutil.disk_usage(tmp_path)._replace(free=1000)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    said = refused("checkers", "--pieces", "5", "--out", str(tmp_path / "five"))
    needed = sum(folder_module.bytes_of(part.size) for part in index_of("checkers", 5).slices)
    assert f"five needs {int(needed * 1.05):,} bytes, but the disk has 1,000;" in said
    assert not (tmp_path / "five").exists()


def test_an_unknown_slice_gets_one_line(copy, capsys):
    manifest = json.loads((copy / "table.json").read_text())
    manifest["slices"]["70-07"] = manifest["slices"]["01-01"]
    (copy / "table.json").write_text(json.dumps(manifest))
    assert main(["tables", "info", "checkers", "--pieces", "2", "--out", str(copy)]) == 2
    assert "names a slice '70-07', not of checkers-2" in capsys.readouterr().err


def test_of_several_tables_the_largest_one_is_taken(monkeypatch, tmp_path):
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    for pieces in (4, 5):
        TableFolder.begin(tmp_path / f"checkers-{pieces}", {"table": f"checkers-{pieces}", "slices": {}})
    monkeypatch.setattr(TableFolder, "missing", lambda self, index: [])
    assert lookup.lookup_of(ENDINGS.game)[0].index.pieces == 5


def test_players_take_the_largest_table_that_is_there(built, monkeypatch, tmp_path, capsys):
    small = make("exact:random", ENDINGS.game)
    assert small.turn.lookup.index.pieces == 3  # solved at once
    monkeypatch.setenv(VARIABLE, str(built.parent))
    assert make("exact:random", ENDINGS.game).turn.lookup.index.pieces == 3  # more than the table has
    TableFolder.begin(tmp_path / "checkers-4", {"table": "checkers-4", "slices": {}})
    (tmp_path / "checkers-2").symlink_to(built)
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    assert make("exact:random", ENDINGS.game).turn.lookup.index.pieces == 3  # that of 4 is not complete
    monkeypatch.setattr(lookup, "AT_ONCE", 1)
    assert make("exact:random", ENDINGS.game).turn.lookup.index.pieces == 2
    one, again = (make("exact:random", ENDINGS.game).params[0] for _ in range(2))
    assert one is again, "a large table takes minutes to read"
    header = tmp_path / "checkers-2" / "table.json"
    text = header.read_text()
    header.write_text(f"{text}\n")
    assert make("exact:random", ENDINGS.game).params[0] is not one, "another table is read"
    header.write_text(text)
    assert main(["tables", "info", "checkers", "--pieces", "2", "--json", "--out", str(built)]) == 0
    slices = json.loads(capsys.readouterr().out)["slices"]
    assert slices["01-01"] == {"positions": 992, "wins": 230, "losses": 108, "draws": 654, "longest": 11}
    with pytest.raises(ValueError, match="exact twice; write exact:random"):
        make("exact:exact:random", ENDINGS.game)
