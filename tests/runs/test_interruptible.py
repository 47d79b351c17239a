"""Signals are heard while something computes outside of Python."""

import hashlib
import signal
import subprocess
import sys

import pytest

from jaxgames.runs import interruptible as module
from jaxgames.runs.interruptible import interruptible, is_computing


def test_what_is_computed_is_given_and_errors_are_raised():
    assert interruptible(lambda: 3) == 3 and not is_computing()
    with pytest.raises(ZeroDivisionError):
        interruptible(lambda: 1 // 0)


def test_a_signal_ends_the_wait_and_not_the_computation():
    """As a computation of XLA, the hash lets other threads run and hears nothing itself."""
    done = []

    def computes():
        hashlib.pbkdf2_hmac("sha256", b"", b"", 1_500_000)
        done.append(True)

    def stop(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(KeyboardInterrupt):
            interruptible(computes)
        assert is_computing() and not done
    finally:
        signal.signal(signal.SIGALRM, before)
    assert interruptible(lambda: list(done)) == [True]  # one after the other


def test_python_ends_though_a_signal_came_while_the_thread_began():
    """It came before Python knew that the thread had begun."""
    lines = (
        "import runpy, threading",
        f"interruptible = runpy.run_path({module.__file__!r})['interruptible']",
        "began = threading.Thread.start",
        "def start(self):",
        "    began(self)",
        "    raise KeyboardInterrupt",
        "threading.Thread.start = start",
        "try:",
        "    interruptible(threading.Event().wait)",
        "except KeyboardInterrupt:",
        "    print('heard')",
    )
    done = subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, timeout=30)
    assert (done.stdout, done.stderr, done.returncode) == ("heard\n", "", 0)
