"""The pieces of the benchmarks for a GPU: their options are known to the scripts, and the trace of a device is read."""

import importlib
import re
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"


@pytest.fixture
def script(monkeypatch):
    """Imports a script of the benchmarks, which forget what they imported from beside them."""
    monkeypatch.setattr(sys, "path", [str(BENCHMARKS), *sys.path])
    before = set(sys.modules)
    yield importlib.import_module
    for name in set(sys.modules) - before:
        if (BENCHMARKS / f"{name}.py").exists():
            del sys.modules[name]


def test_the_scripts_know_the_options_of_their_pieces(script, monkeypatch):
    """Each comes as far as the start of JAX's backend, in a quick run and in one that is saved."""

    class Begun(Exception):
        pass

    def begun(*_):
        raise Begun

    gpu = script("gpu")
    lines = [line for piece in gpu.PIECES.values() for line in piece]
    assert len(lines) >= len(gpu.PIECES) >= 7
    for line in lines:
        for quick in (True, False):
            path, *options = gpu.arguments(line, quick)
            module = script(Path(path).stem)
            monkeypatch.setattr(module, "begin", begun)
            monkeypatch.setattr(sys, "argv", [path, *options])
            with pytest.raises(Begun):
                module.main()


def test_a_piece_ends_well_only_with_all_its_scripts_and_in_time(script, monkeypatch, tmp_path, capfd):
    gpu = script("gpu")
    monkeypatch.setattr(gpu, "__file__", str(tmp_path / "gpu.py"))
    (tmp_path / "good.py").write_text(
        "import os, sys; print(sys.argv[1:], os.environ['XLA_PYTHON_CLIENT_PREALLOCATE'])"
    )
    (tmp_path / "bad.py").write_text("raise SystemExit(3)")
    (tmp_path / "long.py").write_text("import time; time.sleep(60)")
    monkeypatch.setattr(
        gpu, "PIECES", {"a": ("good.py --batch 8",), "b": ("bad.py", "good.py"), "c": ("long.py", "good.py")}
    )
    assert gpu.run("a", quick=True) and capfd.readouterr().out == "['--batch', '8', '--quick'] false\n"
    monkeypatch.setattr(sys, "argv", ["gpu.py", "--piece", "a", "--piece", "b"])
    assert gpu.main() == 1
    found = capfd.readouterr()
    assert found.out.splitlines() == ["['--batch', '8', '--merge'] false", "['--merge'] false"]
    assert found.err.splitlines()[-1] == "gpu.py: not all scripts ended well: b"
    monkeypatch.setattr(gpu, "LIMIT", 0.5)
    assert not gpu.run("c", quick=False) and "c: stopped after" in capfd.readouterr().err


def test_the_makefile_has_a_command_for_it():
    makefile = (BENCHMARKS.parent / "Makefile").read_text("utf-8")
    assert re.search(r"^bench-gpu:.*\n.*benchmarks/gpu\.py", makefile, re.MULTILINE)


def test_what_a_trace_says(script, tmp_path):
    """More rounds of a loop are more kernels; one busy thread is not busier than the time that went by."""
    trace = script("device_trace")
    program = jax.jit(lambda x, rounds: jax.lax.fori_loop(0, rounds, lambda _, x: jnp.sin(x @ x), x))
    found = []
    for rounds in (10, 1000):
        program(jnp.ones((32, 32)), rounds).block_until_ready()
        folder = tmp_path / str(rounds)
        with jax.profiler.trace(str(folder)):
            program(jnp.ones((32, 32)), rounds).block_until_ready()
        found.append(trace.busy(folder))
    few, many = found
    assert many.kernels > few.kernels + 1000 and many.seconds > few.seconds
    assert all(0 < one.busy <= one.seconds * 1.001 for one in found)


def test_spans_that_overlap_count_once(script, monkeypatch, tmp_path):
    """And only those of the device's streams, where there is a device."""
    trace = script("device_trace")

    def of(**fields):
        return type("Of", (), fields)()

    def line(name, *spans):
        return of(name=name, events=[of(start_ns=a, duration_ns=b) for a, b in spans])

    device = of(name="/device:GPU:0", lines=[line("Stream #1", (0, 10), (20, 10)), line("Stream #2", (5, 10), (25, 1))])
    host = of(name="/host:CPU", lines=[line("tf_XLAExecute", (0, 1000))])
    (tmp_path / "a.xplane.pb").write_bytes(b"")
    monkeypatch.setattr(jax.profiler.ProfileData, "from_file", lambda path: of(planes=[host, device]))
    found = trace.busy(tmp_path)
    assert (found.kernels, round(1e9 * found.seconds), round(1e9 * found.busy)) == (4, 31, 25)


@pytest.mark.slow
@pytest.mark.parametrize("piece", ["policy-loop", "games", "search", "alphazero", "evolution", "td", "trace"])
def test_a_quick_run_of_each_piece(script, piece, capfd):
    gpu = script("gpu")
    assert set(gpu.PIECES) >= {piece}
    assert gpu.run(piece, quick=True), capfd.readouterr().err
