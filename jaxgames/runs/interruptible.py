"""Long computations that Ctrl-C and SIGTERM can end: while XLA computes, Python's own thread handles no signals."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, TypeVar

T = TypeVar("T")

_EXECUTOR = ThreadPoolExecutor(1, "computing")
_UNDER_WAY: set[Future[Any]] = set()


def interruptible(call: Callable[[], T]) -> T:
    """What `call()` returns or raises. It runs in another thread; a signal handler may raise and so end the wait.

    The computation itself then goes on, as XLA cannot be stopped: see `is_computing`.
    """
    future = _EXECUTOR.submit(call)
    _UNDER_WAY.add(future)
    future.add_done_callback(_UNDER_WAY.discard)
    while not future.done():
        wait([future], 1.0)  # the system may deliver a signal to another thread, which does not end this one's wait
    return future.result()


def is_computing() -> bool:
    """Whether a computation is running that nobody waits for. A normal exit of Python would wait for it."""
    return not all(future.done() for future in list(_UNDER_WAY))  # a finished one leaves the set a moment later
