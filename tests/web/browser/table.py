"""What the tests of the page do: they look at the names of squares, as a screen reader does, and click and type."""

import io
import os
import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import Image

PATIENCE = 1000 * int(os.environ.get("JAXGAMES_PATIENCE", 300))
"""Milliseconds: a player may have to be compiled first, on a machine that has other work."""

# One look at the board: its version, whose turn it is, and the names and middles of all places.
LOOK = """
const middle = (element) => {
  const {x, y, width, height} = element.getBoundingClientRect();
  return [x + width / 2, y + height / 2];
};
const look = () => {
  const frame = document.getElementById("board");
  const places = [...frame.querySelectorAll(".place")];
  const done = document.getElementById("end-turn");
  frame.scrollIntoView({block: "nearest"});
  return {
    ...frame.dataset,
    version: Number(frame.dataset.version ?? -1),
    places: Object.fromEntries(places.map((place) => [place.dataset.place, place.getAttribute("aria-label")])),
    middles: Object.fromEntries(places.map((place) => [place.dataset.place, middle(place)])),
    done: done.hidden ? null : middle(done),
    status: document.getElementById("status").textContent,
  };
};
"""
READY = f"""([version, picked]) => {{
  {LOOK}
  const now = look();
  const ready = now.version > version && (now.mine === "true" || now.over === "true");
  const names = Object.values(now.places);
  const held = picked && now.version === version && names.some((name) => name.includes("picked up"));
  return ready || held ? now : null;
}}"""


class Table:
    """A page with a game. `errors` lists what its console complained of."""

    def __init__(self, page: Any, url: str) -> None:
        self.page, self.url = page, url
        self.errors: list[str] = []
        page.set_default_timeout(PATIENCE)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda line: self.errors.append(line.text) if line.type in ("error", "warning") else None)

    def open(self, address: str) -> "Table":
        """Opens an address and waits until it is this page's turn, with programs that do not pause between moves."""
        self.page.goto(f"{self.url}/#{address}")
        self.page.wait_for_function("() => document.getElementById('board')?.dataset.version")
        version = self.look()["version"]
        self.page.get_by_role("radio", name="0 s").check()
        self.wait(version)
        return self

    def look(self) -> dict[str, Any]:
        return self.page.evaluate(f"() => {{ {LOOK} return look(); }}")

    def wait(self, version: int, picked: bool = False) -> dict[str, Any]:
        """The board once it is newer than `version` and it is this page's turn, or the game is over.

        With `picked` also when a piece is picked up.
        """
        return self.page.wait_for_function(READY, arg=[version, picked]).json_value()

    def place(self, name: object) -> Any:
        return self.page.locator(f'.place[data-place="{name}"]')

    def click(self, name: object) -> None:
        self.page.mouse.click(*self.look()["middles"][str(name)])

    def play(self, *names: object) -> dict[str, Any]:
        """Clicks on places one after another and waits for the next turn."""
        self.wait_for_no_dialog()
        version = self.look()["version"]
        for name in names:
            self.click(name)
        return self.wait(version)

    def play_on(self, *names: object) -> None:
        """Clicks on places one after another, and waits until the server has answered."""
        version = self.look()["version"]
        for name in names:
            self.click(name)
        self.wait_for("Number(document.getElementById('board').dataset.version) > arg", version)

    def drag(self, start: object, end: object) -> dict[str, Any]:
        self.wait_for_no_dialog()
        before = self.look()
        (x1, y1), (x2, y2) = (before["middles"][str(name)] for name in (start, end))
        mouse = self.page.mouse
        mouse.move(x1, y1)
        mouse.down()
        mouse.move((x1 + x2) / 2, (y1 + y2) / 2)
        mouse.move(x2, y2)
        mouse.up()
        return self.wait(before["version"])

    def button(self, name: str) -> None:
        self.page.locator(f"#{name}").click()

    def open_card(self, name: str) -> None:
        """Opens a card of the page that may be folded."""
        card = self.page.locator(f"#{name}-card")
        if card.get_attribute("open") is None:
            card.locator("summary").click()

    def moves(self) -> list[str]:
        return self.page.locator("#moves button").all_text_contents()

    def wait_for(self, what: str, arg: object = None) -> None:
        """Waits until a JavaScript expression of `arg` holds."""
        self.page.wait_for_function(f"(arg) => {what}", arg=arg)

    def wait_for_no_dialog(self) -> None:
        """A dialog closes when the server has answered, which may be after the page shows what it asked for."""
        self.wait_for("!document.querySelector('dialog[open]')")

    def wait_for_status(self, text: str) -> None:
        self.wait_for("document.getElementById('status').textContent.includes(arg)", text)

    def wait_for_moves(self, count: int) -> None:
        self.wait_for("document.querySelectorAll('#moves button').length === arg", count)


class Line:
    """The line between a page and the server, which can be cut."""

    def __init__(self) -> None:
        self.down, self.ends = False, list[Any]()

    def connect(self, page: Any) -> None:
        if self.down:
            page.close()
        else:
            self.ends = [page, page.connect_to_server()]

    def cut(self) -> None:
        self.down = True
        for end in self.ends:
            end.close()


def play_by_mouse(table: Table, seed: int, most: int = 600) -> str:
    """Plays a whole game with legal moves drawn at random; the last status line.

    In backgammon the rearmost checker runs, as far as it can: random play would take hundreds of turns.
    """
    draw, board = random.Random(seed), table.look()
    rank = ["bar", *map(str, range(24, 0, -1)), "off"].index

    def choose(places: list[str], furthest: bool) -> str:
        if board["kind"] != "backgammon":
            return draw.choice(places)
        return (max if furthest else min)(places, key=rank)

    click = table.page.mouse.click
    for _ in range(most):
        if board["over"] == "true":
            return board["status"]
        names = board["places"]
        if board["done"]:
            click(*board["done"])
        else:
            sources = [place for place, name in names.items() if name.endswith("can move")]
            targets = [place for place, name in names.items() if "legal target" in name]
            click(*board["middles"][choose(sources or targets, furthest=False)])
        held, board = board["version"], table.wait(board["version"], picked=True)
        if board["version"] == held:
            targets = [place for place, name in board["places"].items() if "legal target" in name]
            click(*board["middles"][choose(targets, furthest=True)])
            board = table.wait(held)
    raise AssertionError(f"the game did not end within {most} moves: {board['status']}")


@contextmanager
def opened(browser: Any, url: str, **options: Any) -> Iterator[Table]:
    """A page in a fresh context; whatever its console complained of is an error."""
    usual = {"viewport": {"width": 1280, "height": 800}, "reduced_motion": "reduce"}
    context = browser.new_context(**(usual | options))
    try:
        table = Table(context.new_page(), url)
        yield table
        assert table.errors == []
    finally:
        context.close()


def picture(table: Table, folder: str | None, name: str) -> None:
    """Draws the page into a file of 256 colours, where a folder for pictures is named."""
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
        drawn = Image.open(io.BytesIO(table.page.screenshot())).convert("RGB")
        drawn.quantize(256, dither=Image.Dither.NONE).save(Path(folder) / f"web-{name}.png", optimize=True)
