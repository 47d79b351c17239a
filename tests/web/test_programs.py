"""Programs that are kept on the disk: traced once, told apart by all that they are made of."""

import numpy as np
import pytest

from jaxgames.web import programs
from jaxgames.web.programs import ExportedProgram

TRACED = []


def halves(pair):
    """Notes whenever it is traced."""
    TRACED.append(pair["a"].shape)
    return pair["a"] / 2 + pair["b"]


def arguments(size=3):
    return {"a": np.arange(size, dtype=np.float32), "b": np.float32(1)}


@pytest.fixture(autouse=True)
def traced():
    TRACED.clear()
    return TRACED


def test_the_next_start_traces_nothing(tmp_path, traced):
    first = ExportedProgram(halves, "kind", tmp_path)
    assert first(arguments()).tolist() == first(arguments()).tolist() == [1, 1.5, 2]
    assert traced == [(3,)] and len(list(tmp_path.iterdir())) == 1
    again = ExportedProgram(halves, "kind", tmp_path)
    assert again(arguments()).tolist() == [1, 1.5, 2] and traced == [(3,)]
    assert again(arguments(2)).tolist() == [1, 1.5] and traced == [(3,), (2,)]


def test_another_kind_or_another_source_is_another_program(tmp_path, traced, monkeypatch):
    ExportedProgram(halves, "kind", tmp_path)(arguments())
    ExportedProgram(halves, "other", tmp_path)(arguments())
    assert len(traced) == 2
    monkeypatch.setattr(programs, "fingerprint", lambda: "edited")
    ExportedProgram(halves, "kind", tmp_path)(arguments())
    assert len(traced) == 3


def test_what_has_no_name_of_its_own_is_not_kept(tmp_path):
    for kind in (lambda: None, object()):
        assert ExportedProgram(halves, kind, tmp_path)(arguments())[0] == 1
    assert list(tmp_path.iterdir()) == []
    assert ExportedProgram(halves, "kind")(arguments())[0] == 1  # without a folder


def test_a_broken_file_and_a_full_disk_do_no_harm(tmp_path, traced, monkeypatch):
    ExportedProgram(halves, "kind", tmp_path)(arguments())
    file = next(tmp_path.iterdir())
    file.write_bytes(file.read_bytes()[:50])
    assert ExportedProgram(halves, "kind", tmp_path)(arguments())[0] == 1
    assert ExportedProgram(halves, "kind", tmp_path / "file" / "x")(arguments())[0] == 1
    monkeypatch.setattr(programs, "MOST_FILES", 2)
    for size in (4, 5, 6):
        ExportedProgram(halves, "kind", tmp_path)(arguments(size))
    assert len(list(tmp_path.glob("*.stablehlo"))) == 2
    before = len(traced)
    ExportedProgram(halves, "kind", tmp_path)(arguments(6))
    assert len(traced) == before  # it is the newest ones that stay
