"""The application: the page, its files, what it asks, and the WebSocket over which games are played."""

import asyncio
import contextlib
import importlib.metadata
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any

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
from jaxgames.web.offered_players import OfferedPlayers
from jaxgames.web.page_files import PAGES, PageFile, page_file, page_files
from jaxgames.web.tournaments import TournamentForm, Tournaments
from jaxgames.web.training import Trainings

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
        names: host names that it answers to, besides its own.
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
        self.lobby = Lobby(self.engine, limits, keeper, self.commands)
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
        """Takes up the trainings that the page has started, as soon as they have a folder."""
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
                "keeps": self.lobby.keeps,
                "runs": list(self.offered.runs),
                "version": importlib.metadata.version("jaxgames"),
            }
        return self._games

    async def warm_up(self) -> None:
        """Compiles the rules of all games and the usual players, the small ones first, while nobody asks for others."""
        await self.engine.run("compile", self.games)
        for game_id in VIEWS:
            await self.engine.rest()
            with contextlib.suppress(Exception):
                await self.engine.prepare(make(game_id))
        for game_id in VIEWS:
            game = make(game_id)
            await self.engine.rest()
            with contextlib.suppress(Exception):
                await self.engine.warm(analyst(self.offered, game), game)

    @contextlib.asynccontextmanager
    async def _lifespan(self, _: Any) -> AsyncIterator[None]:
        sweeping = asyncio.create_task(self.lobby.sweep())
        warming = asyncio.create_task(self.warm_up()) if self._warm else None
        try:
            yield
        finally:
            sweeping.cancel()
            if warming is not None:
                warming.cancel()
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
            names = self.trainings.names
            return api(
                {"runs": [await self.engine.run("file", self.trainings.describe, name, False) for name in names]}
            )

        @app.get("/api/runs/{name}")
        async def run(name: str) -> Response:
            described = await self.engine.run("file", self.trainings.describe, name)
            if described is None:
                raise HTTPException(
                    404, f"unknown training; the server was started with: {_names(self.trainings.names)}"
                )
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
            if not client.rate.allows():
                most = self.limits.messages_per_second
                client.error(None, f"too many messages: at most {most} a second; this one was left out")
                client.fault("too many messages")
                await asyncio.sleep(1 / most)
                continue
            content = event.get("text")
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


def _names(names: Sequence[str]) -> str:
    return ", ".join(names) or "none"
