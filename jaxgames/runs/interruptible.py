"""Long computations that Ctrl-C and SIGTERM can end: while XLA computes, Python hears no signal in its own thread."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, TypeVar

T = TypeVar("T")

_EXECUTOR = ThreadPoolExecutor(1, "computing")
_UNDER_WAY: set[Future[Any]] = set()


def interruptible(call: Callable[[], T]) -> T:
    """What `call()` gives or raises. It runs in another thread; the handler of a signal may raise out of the wait.

    The computation itself goes on then, as XLA cannot be stopped: see `is_computing`.
    """
    future = _EXECUTOR.submit(call)
    _UNDER_WAY.add(future)
    future.add_done_callback(_UNDER_WAY.discard)
    while not future.done():
        wait([future], 1.0)  # the system may give a signal to another thread, which does not end a wait of this one
    return future.result()


def is_computing() -> bool:
    """Whether a computation goes on that nobody waits for. Python's orderly end would wait for it."""
    return not all(future.done() for future in list(_UNDER_WAY))  # who is done leaves the set a moment later
