"""One server and one Chromium for the tests of the page. Without Chromium they are left out, and a warning says so.

`JAXGAMES_BROWSER=required` makes a missing Chromium an error; `JAXGAMES_SCREENSHOTS=FOLDER` has pictures drawn.
"""

import importlib.util
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

from jaxgames.algos.td import make_config, make_learner
from jaxgames.algos.td.methods import template
from jaxgames.runs import Run

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
REQUIRED = os.environ.get("JAXGAMES_BROWSER") == "required"
LEFT_OUT = "The browser tests were left out: install Debian's package chromium, and pip install playwright"
QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
HERE = Path(__file__).parent
START_SECONDS = 120


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = [item for item in items if HERE in item.path.parents]
    missing = CHROMIUM is None or importlib.util.find_spec("playwright") is None
    if here and missing and not REQUIRED:
        warnings.warn(LEFT_OUT, stacklevel=1)
        for item in here:
            item.add_marker(pytest.mark.skip(reason=LEFT_OUT))


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


class Server:
    """A `jaxgames web` in a process of its own, without players that nobody plays."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.port, self.arguments, self.log = free_port(), arguments, folder / "server.log"
        self.url = f"http://127.0.0.1:{self.port}"
        self.process: subprocess.Popen | None = None

    def start(self) -> None:
        command = [sys.executable, str(HERE / "serve.py"), "--port", str(self.port), *self.arguments]
        with self.log.open("a") as log:
            kept = {**os.environ, "XDG_STATE_HOME": str(self.log.parent)}
            self.process = subprocess.Popen(command, stdout=log, stderr=log, env=kept)
        limit = time.monotonic() + START_SECONDS
        while True:
            try:
                with urllib.request.urlopen(f"{self.url}/api/games", timeout=5):
                    return
            except OSError:
                if self.process.poll() is not None or time.monotonic() > limit:
                    raise RuntimeError(f"the server did not start:\n{self.log.read_text()}") from None
                time.sleep(0.05)

    def stop(self) -> None:
        if self.process is not None:
            self.process.terminate()
            try:
                self.process.wait(3)
            except subprocess.TimeoutExpired:  # a search may still be under way
                self.process.kill()
                self.process.wait()


def make_training(folder: Path) -> Path:
    """A training of tic-tac-toe with 40 lines of metrics and two checkpoints, whose network knows nothing."""
    config = make_config(game="tic_tac_toe", encoding="observation", hidden=(3,))
    content = {"kind": "td", "recipe": "td-gammon", "game": "tic_tac_toe", "learner": config.to_json()}
    run = Run.create(folder, content)
    for step in range(1, 41):
        score, margin = 90 - 60 / (step + 1), 12 / step**0.5
        interval = {"score_random_low": score - margin, "score_random_high": score + margin}
        line = {"step": step, "games": 256 * step, "loss": 0.4 / step**0.5, "score_random": score, **interval}
        run.log({**line, "games_per_second": 9000.0, "plies_per_game": 7.5, "points_per_game": 0.1})
    for step in (20, 40):
        run.save(step, jax.tree.map(lambda leaf: np.zeros(leaf.shape, leaf.dtype), template(make_learner(config))))
    return run.path


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("web")
    made = Server(folder, str(make_training(folder / "first-steps")))
    made.start()
    yield made
    made.stop()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if CHROMIUM is None:
        pytest.fail(LEFT_OUT)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=CHROMIUM, args=list(QUIET))
        yield made
        made.close()
