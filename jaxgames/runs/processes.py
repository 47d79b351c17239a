"""One run by several processes, on one machine or many hosts: how they join, how arrays are spread over all
devices, and how the others end if one process dies.
"""

import atexit
import contextlib
import inspect
import os
import sys
import threading
from collections.abc import Iterator
from typing import Any, TypeVar

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from jaxgames.runs.checkpoints import is_key

Tree = TypeVar("Tree")
EVERYWHERE = PartitionSpec()

HEARTBEAT = 30
"""Seconds without a sign of life after which a process counts as dead."""

PATIENCE = 300
"""Seconds that a process waits for the others to join."""

DAY = 86_400


def join(
    coordinator: str | None = None,
    processes: int | None = None,
    process: int | None = None,
    heartbeat: int = HEARTBEAT,
    patience: int = PATIENCE,
) -> int:
    """Makes this process part of a run, before JAX is used; from then on `jax.devices()` are those of all processes.

    `coordinator` is HOST:PORT, where process 0 listens and all others find it; `process` is this one's number, from 0
    to `processes` - 1. Without any of them, if Slurm has started several tasks, these are the run (and Slurm
    gives the rest); otherwise it is this process alone. Returns the number of processes.

    On CPU the processes exchange arrays by gloo. If not all processes have joined within `patience` seconds, a process
    ends with status 1 and one line on stderr. If one dies later, the others end too: at once if they wait for its
    results (see `ending_together`), otherwise within `heartbeat` seconds.

    Raises ValueError if settings are missing or contradict each other, or process 0 cannot listen there.
    """
    given = {"--coordinator": coordinator, "--processes": processes, "--process": process}
    missing = [name for name, value in given.items() if value is None]
    if len(missing) == len(given) and not _under_slurm():
        return 1
    if missing and len(missing) < len(given):
        raise ValueError(f"several processes need {', '.join(given)}; {' and '.join(missing)} missing")
    if coordinator is not None and processes is not None and process is not None:
        _check(coordinator, processes, process)
    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    if hasattr(jax.config, "jax_enable_preemption_service"):  # JAX 0.9; its handler of SIGTERM keeps us from ours
        jax.config.update("jax_enable_preemption_service", False)
    timeouts: dict[str, Any] = {
        "initialization_timeout": patience + 60,
        "heartbeat_timeout_seconds": heartbeat,
        "shutdown_timeout_seconds": DAY,  # a finished process waits for the others; the heartbeat notices a death
    }
    known = inspect.signature(jax.distributed.initialize).parameters  # JAX 0.8 has no timeout of the shutdown
    timeouts = {name: seconds for name, seconds in timeouts.items() if name in known}
    line = f"error: not all {processes or 'of the'} processes came to {coordinator or 'the run'} within {patience} s"
    # JAX itself would end this process with a page of its own.
    alarm = threading.Timer(patience, _end, (line,))
    alarm.daemon = True
    alarm.start()
    try:
        jax.distributed.initialize(coordinator, processes, process, **timeouts)
    except RuntimeError as error:
        raise ValueError(f"the processes cannot be joined: {_first_line(error)}") from error
    finally:
        alarm.cancel()
    return jax.process_count()


@contextlib.contextmanager
def ending_together(advice: str = "") -> Iterator[None]:
    """Common work of the processes: an error in one of them ends them all, without waiting.

    If another process's death shows as an error inside, this one ends with status 1 and one line on stderr, with
    `advice` on how to continue. An error of this process itself propagates, and the process then ends with status 1
    without waiting for the others, which notice its death.

    While a process computes alone it notices a death only by the missing heartbeat, and JAX then ends it: the last
    words are "another task died" and the status is 134 (SIGABRT). This may also happen if process 0 has died.
    """
    try:
        yield
    except BaseException as error:
        if jax.distributed.is_initialized() and jax.process_count() > 1:
            if _is_of_another(error):
                line = f"error: another of the {jax.process_count()} processes ended ({_first_line(error)[:200]})"
                _end(f"{line}; {advice}" if advice else line)
            atexit.register(_end)  # before JAX's own, which waits for the others
        raise


def spread(tree: Tree, mesh: Mesh, specs: Any = EVERYWHERE) -> Tree:
    """The arrays on all devices of a mesh, split by their specs; by default each device has all of them.

    Every process passes the same complete values. Functions that are jitted over the devices of several processes
    need their arguments in this form.

    Args:
        tree: arrays of this process, keys too.
        mesh: the devices.
        specs: one for all arrays, or a pytree like `tree`.
    """

    def place(array: Any, spec: PartitionSpec) -> Any:
        if is_key(array):
            data = place(jax.random.key_data(array), spec)
            return jax.random.wrap_key_data(data, impl=jax.random.key_impl(array))
        return jax.device_put(array, NamedSharding(mesh, spec))

    if isinstance(specs, PartitionSpec):
        return jax.tree.map(lambda array: place(array, specs), tree)
    return jax.tree.map(place, tree, specs)


def fetched(tree: Tree) -> Tree:
    """The complete arrays, as NumPy arrays of this process; keys stay keys.

    Arrays that are split over processes are put together, for which all processes must call this.
    """

    def fetch(leaf: Any) -> Any:
        if is_key(leaf):
            return jax.random.wrap_key_data(fetch(jax.random.key_data(leaf)), impl=jax.random.key_impl(leaf))
        if not isinstance(leaf, jax.Array) or leaf.is_fully_addressable or leaf.is_fully_replicated:
            return np.asarray(leaf)
        assert isinstance(leaf.sharding, NamedSharding)  # as `spread` and programs over its arrays make them
        whole = NamedSharding(leaf.sharding.mesh, EVERYWHERE)
        return np.asarray(jax.jit(lambda array: array, out_shardings=whole)(leaf).addressable_data(0))

    return jax.tree.map(fetch, tree)


def check_all_take_part(devices: int) -> None:
    """Raises `ValueError` if several processes should train on fewer devices than they have together."""
    available = jax.device_count()
    if jax.process_count() > 1 and devices != available:
        raise ValueError(f"{devices} of {available} devices: expected all, so that every process has its share")


def _check(coordinator: str, processes: int, process: int) -> None:
    """Raises ValueError if the settings are impossible."""
    host, _, port = coordinator.rpartition(":")
    if not host or not port.isdecimal():
        raise ValueError(f"the coordinator is HOST:PORT, such as 10.0.0.1:1234, not {coordinator!r}")
    if not 0 <= process < processes:
        raise ValueError(f"process {process} is not one of {processes}: numbers go from 0 to {processes - 1}")


def _under_slurm() -> bool:
    """Whether Slurm started this process as one of several tasks of a step."""
    return "SLURM_STEP_NODELIST" in os.environ and int(os.environ.get("SLURM_NTASKS", "1")) > 1


def _end(line: str = "") -> None:
    """Ends this process at once with status 1; the line is the last on stderr."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
        if line:
            stderr = os.dup(2)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # a thread of XLA may be about to report the same death
            os.write(stderr, f"{line}\n".encode())
    finally:
        os._exit(1)


def _is_of_another(error: BaseException) -> bool:
    """Whether an error comes from an exchange between processes."""
    text = str(error)
    return any(sign in text for sign in ("Gloo", "gloo", "NCCL", "CoordinationService", "coordination service"))


def _first_line(error: BaseException) -> str:
    return str(error).strip().splitlines()[0]
