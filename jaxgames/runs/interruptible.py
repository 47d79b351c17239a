"""Long computations that Ctrl-C and SIGTERM can end: while XLA computes, Python hears no signal in its own thread."""

import threading
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")

_NAME = "computing"


def interruptible(call: Callable[[], T]) -> T:
    """What `call()` gives or raises. It runs in another thread; the handler of a signal may raise out of the wait.

    The computation itself goes on then, as XLA cannot be stopped: see `is_computing`.
    """
    found: dict[str, Any] = {}

    def run() -> None:
        try:
            found["result"] = call()
        except BaseException as error:
            found["error"] = error

    thread = threading.Thread(target=run, name=_NAME, daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(1.0)  # the system may give a signal to another thread, which does not end a wait of this one
    if "error" in found:
        raise found["error"]
    return found["result"]


def is_computing() -> bool:
    """Whether a computation goes on that nobody waits for. Python's orderly end would wait for it."""
    return any(thread.name == _NAME for thread in threading.enumerate())
