"""The application: the page, its files, its queries, and the WebSocket over which games are played."""

import asyncio
import contextlib
import functools
import gzip
import hashlib
import importlib.metadata
import json
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

from jaxgames.envs.core import Game
from jaxgames.envs.registry import make
from jaxgames.matches.tournament import TournamentFolder
from jaxgames.runs import Run
from jaxgames.web.boards import VIEWS
from jaxgames.web.commands import CommandForm, CommandKind, Commands
from jaxgames.web.connection import Client
from jaxgames.web.engine import Engine
from jaxgames.web.games import analyst, describe_game
from jaxgames.web.guard import Guard, is_here
from jaxgames.web.keeping import RoomKeeper
from jaxgames.web.kept_games import KeptGames
from jaxgames.web.limits import USUAL_LIMITS, Limits
from jaxgames.web.lobby import Lobby
from jaxgames.web.messages import id_in
from jaxgames.web.offered_players import OfferedPlayers
from jaxgames.web.tournaments import TournamentForm, Tournaments
from jaxgames.web.training import Trainings

MEDIA = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}
"""The kinds of files that the page is made of; no others are served."""
PAGES = {"": "index.html", "train": "train.html", "challenge": "challenge.html", "tournaments": "tournaments.html"}
"""The pages by their paths."""
FRAME = "frame.html"
"""The frame around the content of the smaller pages."""
FRAMED = {"train.html": "Trainings", "challenge.html": "Challenge", "tournaments.html": "Tournaments"}
"""Their files, and titles."""
SCRIPTS = ("main.js", "train.js", "challenge.js", "tournaments.js", "socket.js")
_IMPORT = re.compile(r'^import \{ ([^}]*) \} from "([^"]+)";$', re.M)
_COMMENT = re.compile(r"^ *//[^\n]*\n|^ */\*\*.*?\*/\n", re.M | re.S)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const|class) (\w+))", re.M)


class PageFile(NamedTuple):
    """A file, plain and compressed; `tag` changes when its content does."""

    media: str
    plain: bytes
    small: bytes
    tag: str


def page_file(media: str, content: bytes) -> PageFile:
    """A content as it is sent."""
    return PageFile(media, content, gzip.compress(content, mtime=0), f'"{hashlib.sha256(content).hexdigest()[:24]}"')


def page_files() -> dict[str, PageFile]:
    """The files of the page by their names below `/static/`, made once: no request becomes a path."""
    root = Path(str(resources.files("jaxgames.web") / "static"))
    paths = [path for path in sorted(root.iterdir()) if path.suffix in MEDIA and path.suffix != ".js"]
    files = {path.name: page_file(MEDIA[path.suffix], path.read_bytes()) for path in paths if path.name != FRAME}
    files |= {name: page_file(MEDIA[".html"], framed(root, name).encode()) for name in FRAMED}
    return files | {name: page_file(MEDIA[".js"], bundled(root / name).encode()) for name in SCRIPTS}


def framed(root: Path, name: str) -> str:
    """A complete page of `FRAMED`: its content in the frame, with its link marked as the current page."""
    parts = {"title": FRAMED[name], "name": name.removesuffix(".html"), "main": (root / name).read_text("utf-8")}
    page = re.sub(r"\{(\w+)\}", lambda part: parts[part[1]], (root / FRAME).read_text("utf-8"))
    link = f'href="/{parts["name"]}"'
    return page.replace(link, f'{link} aria-current="page"')


def bundled(script: Path) -> str:
    """A module and all modules that it imports, as one script without comments: each becomes a function that returns
    its exports.
    """
    names: dict[Path, str] = {}
    parts: list[str] = []

    def taken(path: Path, match: re.Match[str]) -> str:
        return f"const {{ {match[1].replace(' as ', ': ')} }} = {add((path.parent / match[2]).resolve())};"

    def add(path: Path) -> str:
        if path not in names:
            text = _IMPORT.sub(functools.partial(taken, path), _COMMENT.sub("", path.read_text(encoding="utf-8")))
            exported = ", ".join(_EXPORT.findall(text))
            names[path] = f"module{len(names)}"
            parts.append(f"const {names[path]} = (() => {{\n{_EXPORT.sub('', text)}return {{ {exported} }};\n}})();\n")
        return names[path]

    add(script.resolve())
    return "".join(parts)


FOLDERS = {"training": Run, "tournament": TournamentFolder}
"""What the page starts, and the folder that it is then."""
MISSING = "the web page needs fastapi and uvicorn; install with: pip install 'jaxgames[web]'"


class WebServer:
    """What one server holds: players, sessions, trainings. `app` is the ASGI application, guarded.

    Args:
        runs: folders of trainings that may be played and watched.
        limits: its bounds.
        plugins: names of players of plug-ins that may be played.
        folder: where programs are kept for the next start; None: nowhere.
        keep: the file in which games are kept; None: they end with the server.
        names: host names to which it answers, besides its own.
        work: the folder of the trainings and tournaments that the page starts; None: it starts none.
        forms: how commands are asked for that are not known here, `training`.
        trust_guests: whether people at other machines may start them, too.
        local: whether it listens on this machine only.
        warm: whether the usual players are compiled before anybody asks.

    Raises `ValueError` if a folder is no run, and `ImportError` without the packages of the extra `web`.
    """

    def __init__(
        self,
        runs: Sequence[str] = (),
        limits: Limits = USUAL_LIMITS,
        names: Sequence[str] = (),
        local: bool = True,
        warm: bool = False,
        plugins: Sequence[str] = (),
        folder: Path | None = None,
        keep: Path | None = None,
        work: Path | None = None,
        forms: Mapping[str, CommandForm] | None = None,
        trust_guests: bool = False,
    ):
        self.limits = limits
        self.offered = OfferedPlayers(list(runs), limits, plugins)
        self.commands = Commands(self._kinds(work, forms or {}), limits, trust_guests, self.offered.is_taken)
        self.trainings = Trainings(self.offered.runs, self.commands.runs)
        self.tournaments = Tournaments(self.commands, self.offered.runs)
        self.engine = Engine(self.offered, limits, folder)
        keeper = None if keep is None else RoomKeeper(KeptGames(keep))
        self.lobby = Lobby(self.engine, keeper, self.commands)
        self._files = page_files()
        self._warm = warm
        self._games: dict[str, Any] | None = None
        self.find_runs()
        self.app = Guard(self._make_app(), names, local)

    def _kinds(self, work: Path | None, forms: Mapping[str, CommandForm]) -> dict[str, CommandKind]:
        """What the page starts."""
        if work is None:
            return {}
        forms = {**forms, "tournament": TournamentForm(self.offered, self.limits)}
        return {name: CommandKind(form, work / f"{name}s", FOLDERS[name].is_at) for name, form in forms.items()}

    def find_runs(self) -> None:
        """Adds the trainings that the page has started, as soon as they have a folder."""
        known = set(self.offered.runs.values())
        for path in self.commands.folders("training"):
            if path.resolve() not in known:
                with contextlib.suppress(ValueError):
                    self.offered.add(path)
                    self._games = None

    def games(self) -> dict[str, Any]:
        """What `/api/games` says."""
        self.find_runs()
        if self._games is None:
            self._games = {
                "games": [describe_game(game, self.offered) for game in VIEWS],
                "limits": self.limits.shown(),
                "keeps": self.lobby.keeper is not None,
                "runs": list(self.offered.runs),
                "version": importlib.metadata.version("jaxgames"),
            }
        return self._games

    async def warm_up(self) -> None:
        """Compiles the rules of all games and the usual players, small ones first, while nobody needs others."""
        await self.engine.run("compile", self.games)

        async def warm_analyst(game: Game) -> None:
            await self.engine.warm(analyst(self.offered, game), game)

        for work in (self.engine.prepare, warm_analyst):
            for game in map(make, VIEWS):
                await self.engine.rest()
                with contextlib.suppress(Exception):
                    await work(game)

    @contextlib.asynccontextmanager
    async def _lifespan(self, _: Any) -> AsyncIterator[None]:
        sweeping = asyncio.create_task(self.lobby.sweep())
        if self._warm:
            self.engine.spawn(self.warm_up())
        try:
            yield
        finally:
            sweeping.cancel()
            self.commands.close()
            await self.lobby.close()
            self.engine.close()

    def _make_app(self) -> Any:
        try:
            from fastapi import FastAPI, Request, WebSocket
            from fastapi.responses import JSONResponse, Response
            from starlette.exceptions import HTTPException
        except ImportError as error:
            raise ImportError(MISSING) from error

        app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None, redirect_slashes=False, lifespan=self._lifespan)

        def api(content: Any) -> Response:
            return JSONResponse(content, headers={"cache-control": "no-store"})

        def sent(request: Any, file: PageFile | None, name: str = "") -> Response:
            if file is None:
                raise HTTPException(404, f"there is no file {name[:80]!r} here")
            headers = {"cache-control": "no-cache", "etag": file.tag, "vary": "accept-encoding"}
            if request.headers.get("if-none-match") == file.tag:
                return Response(status_code=304, headers=headers)
            if "gzip" not in request.headers.get("accept-encoding", ""):
                return Response(file.plain, media_type=file.media, headers=headers)
            return Response(file.small, media_type=file.media, headers={**headers, "content-encoding": "gzip"})

        @app.exception_handler(HTTPException)
        async def refused(_: Any, error: Any) -> Response:
            return JSONResponse({"error": str(error.detail)}, error.status_code)

        for path, file in PAGES.items():

            async def shown(request: Request, file: str = file) -> Response:
                return sent(request, self._files[file])

            app.get(f"/{path}")(shown)

        @app.get("/static/{name:path}")
        async def static_file(request: Request, name: str) -> Response:
            return sent(request, self._files.get(name), name)

        @app.get("/api/games")
        async def games(request: Request) -> Response:
            content = await self.engine.run("compile", self.games)
            return sent(request, page_file("application/json", json.dumps(content).encode()))

        @app.get("/api/runs")
        async def runs() -> Response:
            await self.engine.run("file", self.find_runs)
            names = list(self.offered.runs)
            return api(
                {"runs": [await self.engine.run("file", self.trainings.describe, name, False) for name in names]}
            )

        @app.get("/api/runs/{name}")
        async def run(name: str) -> Response:
            described = await self.engine.run("file", self.trainings.describe, name)
            if described is None:
                known = ", ".join(self.offered.runs) or "none"
                raise HTTPException(404, f"unknown training; the server was started with: {known}")
            return api(described)

        @app.get("/api/tournaments")
        async def tournaments() -> Response:
            return api({"tournaments": await self.engine.run("file", self.tournaments.describe)})

        @app.get("/api/commands")
        async def commands(request: Request) -> Response:
            return api(self.commands.describe(is_here(request.scope)))

        @app.get("/api/status")
        async def status() -> Response:
            warming = sorted(self.engine.warming)
            return api({"sessions": len(self.lobby.rooms), "connections": len(self.lobby.clients), "warming": warming})

        async def connect(websocket: WebSocket) -> None:
            await self._serve(websocket)

        app.add_api_websocket_route("/ws", connect)
        return app

    async def _serve(self, websocket: Any) -> None:
        """One connection, until either side closes it."""
        client = Client(self.limits)
        client.here = is_here(websocket.scope)
        await websocket.accept()
        reason = self.lobby.enter(client)
        if reason is not None:
            client.error(None, reason)
            client.close(1013, reason)
        sender = asyncio.create_task(_send(websocket, client))
        receiver = asyncio.create_task(self._receive(websocket, client))
        try:
            await asyncio.wait((sender, receiver), return_when=asyncio.FIRST_COMPLETED)
        finally:
            self.lobby.leave(client)
            sender.cancel()
            receiver.cancel()

    async def _receive(self, websocket: Any, client: Client) -> None:
        from starlette.websockets import WebSocketDisconnect

        while client.closed is None:
            try:
                event = await websocket.receive()
            except (WebSocketDisconnect, RuntimeError):
                return
            if event["type"] != "websocket.receive":
                return
            content = event.get("text")
            if not client.rate.allows():
                most, number = self.limits.messages_per_second, id_in(content, self.limits.message_bytes)
                client.error(number, f"too many messages: at most {most} a second; this one was left out")
                client.fault("too many messages")
                await asyncio.sleep(1 / most)
                continue
            if content is None:
                client.error(None, "a message is a text, JSON")
                client.fault("too many messages that are wrong")
            else:
                await self.lobby.handle(client, content)
        await asyncio.sleep(3600)  # what waits is sent first; then the sender ends


async def _send(websocket: Any, client: Client) -> None:
    with contextlib.suppress(Exception):  # whoever reads may be gone at any time
        while (text := await client.next()) is not None:
            await websocket.send_text(text)
        code, reason = client.closed or (1000, "")
        await websocket.close(code, reason)
