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

import pytest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
REQUIRED = os.environ.get("JAXGAMES_BROWSER") == "required"
LEFT_OUT = "The browser tests were left out: install Debian's package chromium, and pip install playwright"
QUIET = "--no-sandbox --disable-gpu --disable-background-networking --disable-component-update --disable-sync --no-first-run"
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
    """A `jaxgames web` of its own process. `stop` and `start` keep the address, as after a lost machine."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.port, self.arguments, self.log = free_port(), arguments, folder / "server.log"
        self.url = f"http://127.0.0.1:{self.port}"
        self.process: subprocess.Popen | None = None

    def start(self) -> None:
        command = [sys.executable, "-m", "jaxgames.cli", "web", "--port", str(self.port), *self.arguments]
        with self.log.open("a") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log)
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
            self.process.wait(30)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    made = Server(tmp_path_factory.mktemp("web"))
    made.start()
    yield made
    made.stop()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if CHROMIUM is None:
        pytest.fail(LEFT_OUT)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET.split())
        yield made
        made.close()
