"""Long computations that Ctrl-C and SIGTERM can end: while XLA computes, Python's own thread handles no signals."""

import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import Any, TypeVar

T = TypeVar("T")

_ONE = threading.Lock()
"""Held by the computation that runs: one after the other, also after one that nobody waits for any more."""
_UNDER_WAY: set[Future[Any]] = set()


def interruptible(call: Callable[[], T]) -> T:
    """What `call()` returns or raises. It runs in another thread; a signal handler may raise and so end the wait.

    The computation itself then goes on, as XLA cannot be stopped: see `is_computing`.
    """
    future: Future[T] = Future()

    def compute() -> None:
        with _ONE:
            try:
                future.set_result(call())
            except BaseException as error:
                future.set_exception(error)

    _UNDER_WAY.add(future)
    future.add_done_callback(_UNDER_WAY.discard)
    # Python would wait at its end for threads of another kind, and a signal may come before it knows of this one.
    threading.Thread(target=compute, name="computing", daemon=True).start()
    while not future.done():
        wait([future], 1.0)  # the system may deliver a signal to another thread, which does not end this one's wait
    return future.result()


def is_computing() -> bool:
    """Whether a computation is running that nobody waits for. A normal exit of Python would take XLA away from it."""
    return not all(future.done() for future in list(_UNDER_WAY))  # a finished one leaves the set a moment later
