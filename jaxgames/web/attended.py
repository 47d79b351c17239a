"""`python -m jaxgames.web.attended VERB ...`: a command of the command line that ends with whoever started it.

Its input is a pipe. When the pipe is closed, by the server that stops the command or because the server is gone, the
command gets SIGINT as from Ctrl-C, after which its folder can be continued; if it does not end, it is killed.
"""

import contextlib
import os
import runpy
import signal
import threading
import time

PATIENCE = 60.0
"""Seconds that a command has to end."""
NICE = 10
"""The niceness: people who play get the cores first."""


def attend() -> None:
    """Waits until the pipe is closed, then ends this process."""
    with contextlib.suppress(OSError):
        while os.read(0, 64):
            pass
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(PATIENCE)
    os._exit(130)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a server in the background may ignore it
    os.nice(NICE)
    threading.Thread(target=attend, daemon=True).start()
    runpy.run_module("jaxgames", run_name="__main__", alter_sys=True)
