"""Commands of the command line that the page starts, watches and stops: trainings and tournaments.

Each runs in a separate process, one at a time, and writes a folder on disk. It ends with the server; its folder
stays, and can be continued.
"""

import asyncio
import collections
import concurrent.futures
import contextlib
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from jaxgames.web.connection import Client
from jaxgames.web.limits import Limits

Asked = Mapping[str, Any]
"""What a page asks for: `fields` and `set` are texts by name, `players` a list of specs."""
RUN = (sys.executable, "-m", "jaxgames.web.attended")
LINES, WIDTH = 40, 300
"""How much of a command's output is kept."""
END_SECONDS = 0.5
"""Seconds that the server's end waits for a command to end."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,39}")
_SIGNS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
ELSEWHERE = "only people at the server's own machine may do this; let others, too: jaxgames web --trust-guests"


class CommandForm(Protocol):
    """A command as the page sees it."""

    verb: str

    def form(self, asked: Asked) -> dict[str, Any]:
        """What to fill in after the present choices; `error` is what is wrong with these, `name` a free name."""
        ...

    def arguments(self, asked: Asked) -> list[str]:
        """The arguments of the command, without its folder. Raises `ValueError` for impossible ones."""
        ...


class CommandKind(NamedTuple):
    """A kind of command, the folder for this kind, and whether a path is a command that has begun."""

    form: CommandForm
    folder: Path
    is_at: Callable[[Path], bool]


class Command:
    """One process. `says` are the last lines that it has printed."""

    def __init__(self, kind: str, path: Path, arguments: Sequence[str]):
        self.kind, self.path, self.began, self.stopping = kind, path, time.monotonic(), False
        self.says: collections.deque[str] = collections.deque(maxlen=LINES)
        path.parent.mkdir(parents=True, exist_ok=True)
        self._process = subprocess.Popen(
            [*RUN, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,  # Ctrl-C in the terminal is for the server, which stops it
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def running(self) -> bool:
        """Whether it has not come to its end."""
        return self._reader.is_alive()

    @property
    def status(self) -> str:
        """`running`, `stopping`, `stopped`, `done` or `failed`."""
        if self.running:
            return "stopping" if self.stopping else "running"
        if self._process.returncode == 0:
            return "done"
        return "stopped" if self.stopping else "failed"

    def stop(self) -> None:
        """Tells it to end, as Ctrl-C does."""
        self.stopping = True
        with contextlib.suppress(OSError):
            if self._process.stdin is not None:
                self._process.stdin.close()

    def wait(self, seconds: float) -> None:
        """Waits for its end."""
        self._reader.join(seconds)

    def _read(self) -> None:
        with self._process as process:  # at its end all pipes are closed, and it has ended
            self._read_lines(process.stdout or ())

    def _read_lines(self, lines: Iterable[str]) -> None:
        for line in lines:
            text = _SIGNS.sub("", line).rstrip()
            if text:
                self.says.append(text.rpartition("\r")[2][:WIDTH])

    def shown(self) -> dict[str, Any]:
        """For the page."""
        facts = {"kind": self.kind, "name": self.path.name, "status": self.status}
        return facts | {"seconds": round(time.monotonic() - self.began, 1), "says": [*self.says]}


class Commands:
    """The commands of a server.

    Args:
        kinds: what can be started, by name.
        limits: the bounds of the server.
        shared: whether people elsewhere may start and stop them, too.
        taken: whether something else has a name already.
    """

    def __init__(
        self,
        kinds: Mapping[str, CommandKind],
        limits: Limits,
        shared: bool = False,
        taken: Callable[[str], bool] = lambda name: False,
    ):
        self.kinds = kinds
        self.last: Command | None = None
        self._limits, self._shared, self._taken = limits, shared, taken
        self._checking = 0
        self._thread = concurrent.futures.ThreadPoolExecutor(1, "jaxgames-form")
        self.handlers = {"form": self._form, "start": self._start, "stop": self._stop, "resume": self._resume}

    @property
    def current(self) -> Command | None:
        """That which runs."""
        return self.last if self.last is not None and self.last.running else None

    def may(self, here: bool) -> bool:
        """Whether somebody may start and stop commands: people at this machine, or everybody."""
        return bool(self.kinds) and (here or self._shared)

    def folders(self, kind: str) -> list[Path]:
        """Those of a kind that have begun, the newest first."""
        if kind not in self.kinds:
            return []
        _, folder, is_at = self.kinds[kind]
        with contextlib.suppress(OSError):
            paths = [path for path in folder.iterdir() if _NAME.fullmatch(path.name) and is_at(path)]
            return sorted(paths, key=lambda path: path.stat().st_mtime, reverse=True)[: self._limits.folders]
        return []

    def runs(self, path: Path) -> bool | None:
        """Whether a folder is being written; None if somebody else may be writing it."""
        if self.current is not None and self.current.path == path:
            return True
        return False if path.parent in {kind.folder for kind in self.kinds.values()} else None

    def describe(self, here: bool) -> dict[str, Any]:
        """What `/api/commands` says to somebody."""
        may = self.may(here)
        return {"may": may, "last": self.last.shown() if may and self.last is not None else None}

    def close(self) -> None:
        """Ends what runs."""
        self._thread.shutdown(wait=False, cancel_futures=True)
        if (current := self.current) is not None:
            current.stop()
            current.wait(END_SECONDS)

    async def _form(self, client: Client, message: Asked) -> None:
        kind = self._kind(client, message)
        form = await self._checked(kind.form.form, message["asked"])
        name = next(name for number in range(1, 10**6) if not self._is_taken(kind, name := f"{form['name']}-{number}"))
        client.put({"type": "form", "id": message["id"], **form, "name": name})

    async def _start(self, client: Client, message: Asked) -> None:
        kind, name = self._kind(client, message), message["name"]
        if not _NAME.fullmatch(name):
            raise ValueError(f"name {name!r}: expected letters, digits, - _ and ., first a letter or digit, at most 40")
        if self._is_taken(kind, name):
            raise ValueError(f"there is something called {name} already; choose another name")
        if len(self.folders(message["what"])) >= self._limits.folders:
            raise ValueError(f"there are {self._limits.folders} of them already; delete some in {kind.folder}")
        self._check_free()
        arguments = await self._checked(kind.form.arguments, message["asked"])
        self._begin(client, message, kind.folder / name, arguments)

    async def _resume(self, client: Client, message: Asked) -> None:
        self._kind(client, message)
        name = message["name"]
        path = next((path for path in self.folders(message["what"]) if path.name == name), None)
        if path is None:
            raise ValueError(f"there is no {message['what']} {name[:40]!r} here to go on with")
        self._begin(client, message, path, ["--resume"])

    async def _stop(self, client: Client, message: Asked) -> None:
        self._kind(client, message)
        current = self.current
        if current is None or (current.kind, current.path.name) != (message["what"], message["name"]):
            raise ValueError(f"no {message['what']} {message['name'][:40]!r} is under way")
        current.stop()
        client.answer(message["id"])

    def _begin(self, client: Client, message: Asked, path: Path, arguments: Sequence[str]) -> None:
        self._check_free()
        verb = self.kinds[message["what"]].form.verb
        self.last = Command(message["what"], path, [verb, *arguments, f"--out={path}"])
        client.answer(message["id"])

    def _kind(self, client: Client, message: Asked) -> CommandKind:
        if not self.may(client.here):
            raise ValueError(ELSEWHERE)
        if message["what"] not in self.kinds:
            raise ValueError(f"this server starts no {message['what']}")
        return self.kinds[message["what"]]

    def _check_free(self) -> None:
        if (current := self.current) is not None:
            raise ValueError(f"one at a time: the {current.kind} {current.path.name} is under way; stop it first")

    def _is_taken(self, kind: CommandKind, name: str) -> bool:
        path = kind.folder / name
        return self._taken(name) or (path.exists() and not (path.is_dir() and not any(path.iterdir())))

    async def _checked(self, function: Callable[[Asked], Any], asked: Asked) -> Any:
        """A form, computed in a thread: checking a plan may need tracing."""
        if self._checking >= self._limits.forms:
            raise ValueError("other plans are being checked; try again in a moment")
        self._checking += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, function, asked)
        finally:
            self._checking -= 1
