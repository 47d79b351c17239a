"""Programs of several processes, for tests."""

import socket
import subprocess
import sys
import time
from pathlib import Path

JOIN = """
import os, sys, time
import jax
jax.config.update("jax_num_cpu_devices", 1)
from jaxgames.runs import processes
port, number, heartbeat, file = sys.argv[1:]
processes.join(f"127.0.0.1:{port}", 2, int(number), heartbeat=int(heartbeat))
assert jax.device_count() == 2 == jax.process_count()
"""


def start(script: str, files: list[object], folder: Path, heartbeat: int = 10) -> list[subprocess.Popen]:
    """A process for each file: it joins the others and runs the script, which knows its `number` and `file`."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    return [
        subprocess.Popen(
            [sys.executable, "-c", JOIN + script, str(port), str(number), str(heartbeat), str(file)],
            cwd=folder,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number, file in enumerate(files)
    ]


def ends(running: list[subprocess.Popen], within: float) -> list[tuple[int, str]]:
    """Status and last words of each process; one that lasts longer than `within` seconds is killed."""
    deadline = time.monotonic() + within
    found = []
    for process in running:
        try:
            _, words = process.communicate(timeout=max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            _, words = process.communicate()
        found.append((process.returncode, words))
    return found
