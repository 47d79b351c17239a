"""A page for tests: a WebSocket to an application, without a browser."""

from contextlib import contextmanager

from starlette.testclient import TestClient

from jaxgames.web.app import WebServer

PERSON = {"kind": "person"}
RANDOM = {"kind": "player", "spec": "random"}


class Page:
    """One connection; `state` is the last state that was read."""

    def __init__(self, socket):
        self.socket, self.state, self.welcome, self.chats = socket, None, None, []
        self._number = 0

    def send(self, kind, **fields):
        """Sends a message with an id of its own."""
        self._number += 1
        self.socket.send_json({"type": kind, "id": self._number, **fields})
        return self._number

    def until(self, wanted):
        """The next message of a type, or for which a function holds; an error is one if nobody waits for it."""
        while True:
            message = self.socket.receive_json()
            if message["type"] == "state":
                self.state = message
            if message["type"] == "chats":
                self.chats = message["lines"]
            if wanted(message) if callable(wanted) else message["type"] == wanted:
                return message
            assert message["type"] != "error" and message.get("kind") != "error", message

    def ask(self, kind, **fields):
        """Sends a message and waits until it is answered."""
        number = self.send(kind, **fields)
        return self.until(lambda m: m.get("id") == number)

    def do(self, kind, **fields):
        """The state after a message that must be understood."""
        answer = self.ask(kind, **fields)
        assert answer["type"] == "ok", answer
        return self.state

    def refuse(self, kind, **fields):
        """The error that a message must have."""
        answer = self.ask(kind, **fields)
        assert answer["type"] == "error", answer
        return answer["message"]

    def create(self, game, seats=(PERSON, PERSON), **fields):
        """Begins a session."""
        self.welcome = self.ask("create", game=game, seats=list(seats), **fields)
        assert self.welcome["type"] == "welcome", self.welcome
        self.until("state")
        return self

    def join(self, session, token=None, **fields):
        """Joins one."""
        self.welcome = self.ask("join", session=session, token=token, **fields)
        assert self.welcome["type"] == "welcome", self.welcome
        self.until("state")
        return self

    def wait(self, holds):
        """The first state, this one or a later one, for which a function holds."""
        if not holds(self.state):
            self.until(lambda m: m["type"] == "state" and holds(m))
        return self.state

    def step(self, place=0):
        """Plays one of the legal steps."""
        return self.do("step", actions=self.state["moves"][place]["actions"], version=self.state["version"])


@contextmanager
def serving(address="198.51.100.7", **settings):
    """A server and an HTTP client for it, which comes from an address."""
    server = WebServer(**settings)
    with TestClient(server.app, base_url="http://localhost", client=(address, 50_000)) as http:
        yield server, http


@contextmanager
def page(http, **headers):
    """A page that is connected."""
    with http.websocket_connect("ws://localhost/ws", headers=headers) as socket:
        yield Page(socket)
