"""Processes of one run: how they join, and that they end together."""

import subprocess
import sys
import time

import jax
import pytest

from jaxgames.runs import processes
from tests.runs.several import ends, start

TOGETHER = """
from jax.sharding import PartitionSpec
mesh = jax.make_mesh((2,), ("all",))
everywhere = PartitionSpec()
total = jax.jit(jax.shard_map(lambda x: jax.lax.psum(x, "all"), mesh=mesh, in_specs=everywhere, out_specs=everywhere))
with processes.ending_together("continue with --resume"):
    for step in range(10000):
        assert float(total(float(step))) == 2 * step
        if step == 3 and int(number) == {dies}:
            {how}
        if step == 3 and {alone}:
            time.sleep(1000)
"""

KILLED = "os.kill(os.getpid(), 9)"
"""As the kernel does when memory runs out."""


@pytest.mark.parametrize(
    ("dies", "how", "alone", "said"),
    [
        (0, KILLED, False, ["error: another of the 2 processes ended", "another task died"]),
        (1, KILLED, True, ["another task died"]),
        (1, "raise OSError('disk full')", False, ["error: another of the 2 processes ended"]),
    ],
)
def test_when_one_dies_the_other_ends(tmp_path, dies, how, alone, said):
    """Within a minute, whether it waits for the other's results or is computing alone (here with 5 s between signs)."""
    started = time.monotonic()
    found = ends(start(TOGETHER.format(dies=dies, how=how, alone=alone), ["", ""], tmp_path, heartbeat=5), 60)
    assert time.monotonic() - started < 60
    status, words = found[1 - dies]
    assert status in (1, -6)
    assert any(line in words for line in said)
    if status == 1 and jax.__version_info__ >= (0, 9):  # JAX 0.8 may end the process itself, in its own words
        assert words.strip().splitlines()[-1].endswith("; continue with --resume")
    assert found[dies][0] == (1 if "raise" in how else -9)
    assert "raise" not in how or "disk full" in found[dies][1]


SAVES = """
import pathlib
import numpy as np
from jax.sharding import PartitionSpec
from jaxgames.runs import Run
from jaxgames.runs.processes import fetched, spread
run = Run(file, {"config": {}}) if int(number) else Run.create(file, {})
mesh = jax.make_mesh((2,), ("all",))
state = spread(np.arange(5.0), mesh)
with processes.ending_together():
    split, key = spread((np.arange(6), jax.random.key(1)), mesh, (PartitionSpec("all"), PartitionSpec()))
    assert split.addressable_shards[0].data.shape == (3,)
    split, key = fetched(jax.jit(lambda split, key: (split * 2, key))(split, key))
    assert isinstance(split, np.ndarray) and np.array_equal(split, 2 * np.arange(6))
    assert key.is_fully_addressable and jax.random.key_data(key).tolist() == [0, 1]
    state = {"state": jax.jit(lambda x: x + 1)(state)}
    if not int(number):
        run.save(1, state)
    while not run.steps():
        time.sleep(0.01)
    step, back = run.restore({"state": jax.ShapeDtypeStruct((5,), np.float32)})
    assert step == 1 and np.array_equal(back["state"], np.arange(1.0, 6.0))
    doubled = jax.jit(lambda x: x * 2)(spread(back["state"], mesh))
    assert np.array_equal(doubled, np.arange(2.0, 11.0, 2.0))
"""


def test_one_process_writes_and_all_read(tmp_path):
    folder = tmp_path / "run"
    found = ends(start(SAVES, [folder, folder], tmp_path), 60)
    assert [status for status, _ in found] == [0, 0], found


NOBODY = """
import os
from jaxgames.runs import processes
end = os._exit
os._exit = lambda status: (os.write(2, b"what another thread has to say"), end(status))
processes.join("127.0.0.1:1", 2, 1, patience=1)
"""


def test_nobody_else_comes():
    """The line is the last one, even where XLA's threads speak while the process ends."""
    ended = subprocess.run([sys.executable, "-c", NOBODY], capture_output=True, text=True, timeout=60)
    assert ended.returncode == 1
    assert ended.stderr == "error: not all 2 processes came to 127.0.0.1:1 within 1 s\n"


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        (("h:1", 2, None), "--process missing"),
        ((None, 2, 0), "--coordinator missing"),
        (("host", 2, 0), "HOST:PORT"),
        (("h:1", 2, 2), "process 2 is not one of 2: numbers go from 0 to 1"),
    ],
)
def test_wrong_settings_are_refused(settings, error):
    with pytest.raises(ValueError, match=error):
        processes.join(*settings)


def test_alone_nothing_is_joined(monkeypatch):
    monkeypatch.setenv("SLURM_NTASKS", "1")
    monkeypatch.setenv("SLURM_STEP_NODELIST", "node1")
    assert processes.join() == 1
    assert not jax.distributed.is_initialized()


def test_slurm_tells_the_rest(monkeypatch):
    joined = []
    monkeypatch.setattr(jax.distributed, "initialize", lambda *settings, **_: joined.append(settings))
    monkeypatch.setenv("SLURM_NTASKS", "4")
    monkeypatch.setenv("SLURM_STEP_NODELIST", "node[1-4]")
    names = "jax_cpu_collectives_implementation", "jax_enable_preemption_service"
    before = {name: getattr(jax.config, name) for name in names if hasattr(jax.config, name)}  # JAX 0.8 lacks one
    try:
        processes.join()
    finally:
        for name, value in before.items():
            jax.config.update(name, value)
    assert joined == [(None, None, None)]
