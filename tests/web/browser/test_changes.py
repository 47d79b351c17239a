"""The modules of the page one by one, in one visit; and the page where games, lines and addresses change."""

import json
from pathlib import Path
from typing import Any

from jaxgames.web import app
from tests.web.browser.conftest import Server
from tests.web.browser.table import Line, opened

HERE, STATIC = Path(__file__).parent, Path(app.__file__).parent / "static"


def test_the_modules_of_the_page(browser: Any, server: Server) -> None:
    with opened(browser, server.url) as table:
        table.page.route(
            "**/parts/**",
            lambda route: route.fulfill(path=STATIC / route.request.url.partition("/parts/")[2].partition("?")[0]),
        )
        table.page.goto(server.url)
        table.page.wait_for_selector(".game-card")
        assert table.page.evaluate((HERE / "modules.js").read_text()) == []


class Talk(Line):
    """A line whose evaluations the test says itself."""

    def connect(self, page: Any) -> None:
        super().connect(page)
        if not self.down:
            page.on_message(self.from_page)

    def from_page(self, text: str) -> None:
        message = json.loads(text)
        if message["type"] == "analysis":
            self.say(type="ok", id=message["id"])
        else:
            self.ends[1].send(text)

    def say(self, **message: Any) -> None:
        self.ends[0].send(json.dumps(message))


def test_games_lines_and_addresses_change(browser: Any, server: Server, tmp_path: Path) -> None:
    """What is shown of a game is not shown of another one of the same length; what went on elsewhere is not copied."""
    line = Talk()
    with opened(browser, server.url) as table:
        page, title = table.page, "document.getElementById('game-title').textContent === arg"
        page.route_web_socket("**/ws", line.connect)
        table.open("game=connect_four&against=random")
        line.say(type="error", id=None, message="one was left out")
        table.wait_for("document.getElementById('notice').textContent === 'one was left out'")
        table.open_card("position")
        for columns in ("123456", "765432"):
            file = tmp_path / f"{columns}.txt"
            file.write_text(columns)
            page.locator("#load").set_input_files(file)
            table.wait_for("document.querySelector('#moves button')?.textContent === arg", columns[0])
            assert "After" not in table.look()["status"] and page.locator("#curve").is_hidden()
            line.say(type="curve", values=[0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6], final=True)
            page.locator("#curve .trace").wait_for()
            page.locator("#moves button").nth(2).click()
            table.wait_for_status("After turn 3 of 6")
        table.button("last")
        table.wait_for_status("Your turn")

        page.get_by_role("switch", name="Evaluate").check()
        for value in (0.5, 0.25):
            moves = [{"text": "4", "actions": [3], "from": None, "to": 3, "value": value, "visits": 1, "best": True}]
            line.say(type="analysis", ply=6, spec="uct", value=value, most=1, moves=moves, line=[], final=False)
            table.wait_for("document.querySelector('#variants td + td')?.textContent === arg", f"+{value:.3f}")
            page.evaluate("window.rowOfTest ??= document.querySelector('#variants button')")
        assert page.evaluate("rowOfTest.isConnected && rowOfTest === document.querySelector('#variants button')")
        assert page.locator("#evaluation").is_visible()
        page.get_by_label("Show the boards").uncheck()
        table.wait_for("document.getElementById('evaluation').hidden")  # the state says that none are to be seen
        assert table.look()["status"] == "Your turn"  # no programs play in a row

        page.locator("#games").get_by_text("Tic-tac-toe").click()
        table.wait_for(title, "Tic-tac-toe")
        line.cut()
        table.wait_for_status("Not connected")
        page.go_back()
        line.down = False
        table.wait_for(title, "Connect Four")
        assert "game=connect_four" in page.url and len(table.moves()) == 6
        page.evaluate("location.hash = '#session=gone&game=checkers'")
        page.get_by_role("button", name="Start a new one").click()
        table.wait_for("location.hash.includes('session=')")
        assert page.locator("#game-title").text_content() == "Checkers" and table.moves() == []
        table.errors.clear()  # the browser's own lines about the lost connection
