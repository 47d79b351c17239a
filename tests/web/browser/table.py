"""What the tests of the page do: they look at the names of squares, as a screen reader does, and click and type."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PATIENCE = 15_000  # milliseconds: compiling a player may come first

# One look at the board: the version, whose turn it is, and the names of all places.
LOOK = """() => {
  const frame = document.getElementById("board");
  const places = [...frame.querySelectorAll(".place")].map((place) => [place.dataset.place, place.getAttribute("aria-label")]);
  return {...frame.dataset, places: Object.fromEntries(places), status: document.getElementById("status").textContent};
}"""
READY = """([version, over]) => {
  const {dataset} = document.getElementById("board");
  return Number(dataset.version ?? -1) > version && (dataset.mine === "true" || (over && dataset.over === "true"));
}"""


class Table:
    """A page with a game. `errors` lists what its console complained of."""

    def __init__(self, page: Any, url: str) -> None:
        self.page, self.url, self.errors = page, url, []
        page.set_default_timeout(PATIENCE)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda line: self.errors.append(line.text) if line.type in ("error", "warning") else None)

    def open(self, address: str, wait: bool = True) -> "Table":
        self.page.goto(f"{self.url}/#{address}")
        self.page.wait_for_function("() => document.getElementById('board')?.dataset.version")
        self.page.get_by_text("0 s", exact=True).click()
        if wait:
            self.wait(-1)
        return self

    def look(self) -> dict[str, Any]:
        return self.page.evaluate(LOOK)

    @property
    def version(self) -> int:
        return int(self.look()["version"])

    def wait(self, version: int) -> dict[str, Any]:
        """The board once it is newer than `version` and it is this page's turn, or the game is over."""
        self.page.wait_for_function(READY, arg=[version, True])
        return self.look()

    def place(self, name: object) -> Any:
        return self.page.locator(f'.place[data-place="{name}"]')

    def click(self, name: object) -> None:
        box = self.place(name).bounding_box()
        self.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)

    def drag(self, start: object, end: object) -> None:
        boxes = [self.place(name).bounding_box() for name in (start, end)]
        (x1, y1), (x2, y2) = [(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2) for box in boxes]
        self.page.mouse.move(x1, y1)
        self.page.mouse.down()
        self.page.mouse.move((x1 + x2) / 2, (y1 + y2) / 2)
        self.page.mouse.move(x2, y2)
        self.page.mouse.up()

    def named(self, word: str) -> list[str]:
        return [place for place, name in self.look()["places"].items() if word in name]

    def button(self, name: str) -> None:
        self.page.locator(f"#{name}").click()

    def moves(self) -> list[str]:
        return self.page.locator("#moves button").all_text_contents()

    def status(self) -> str:
        return self.page.locator("#status").text_content()

    def wait_for_status(self, text: str) -> None:
        self.page.wait_for_function("(text) => document.getElementById('status').textContent.includes(text)", arg=text)


def play_by_mouse(table: Table, seed: int, most: int = 400) -> str:
    """Plays a whole game with legal moves drawn at random; the last status line."""
    draw = random.Random(seed)
    board = table.look()
    for _ in range(most):
        if board["over"] == "true":
            return board["status"]
        version = int(board["version"])
        sources = [place for place, name in board["places"].items() if name.endswith("can move")]
        if table.page.locator("#end-turn").is_visible():
            table.button("end-turn")
        else:
            if sources:
                table.click(draw.choice(sources))
                if table.version == version and (targets := table.named("legal target")):
                    table.click(draw.choice(targets))
            else:
                table.click(draw.choice([place for place, name in board["places"].items() if "legal target" in name]))
        board = table.wait(version)
    raise AssertionError(f"the game did not end within {most} moves: {table.status()}")


@contextmanager
def opened(browser: Any, url: str, **options: Any) -> Iterator[Table]:
    """A page in a fresh context; whatever its console complained of is an error."""
    options = {"viewport": {"width": 1280, "height": 860}, "reduced_motion": "reduce"} | options
    context = browser.new_context(**options)
    try:
        table = Table(context.new_page(), url)
        yield table
        assert not table.errors
    finally:
        context.close()


def picture(table: Table, folder: str | None, name: str, whole: bool = False) -> None:
    """Draws the page into a file, where a folder for pictures is named."""
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
        table.page.screenshot(path=Path(folder) / f"web-{name}.png", full_page=whole)
