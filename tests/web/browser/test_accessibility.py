"""axe-core finds nothing on any screen: games, set-up, dialogs, trainings; wide, narrow and low, light and dark.

Nor has any of them a text that is none for people: a name of the code, a mark of the command line, a value that is not
there.
"""

import re
from pathlib import Path
from typing import Any

import axe_playwright_python
import pytest

from tests.web.browser.conftest import Server
from tests.web.browser.table import Table, opened

AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js").read_text()
WIDE, NARROW, LOW = (1440, 900), (360, 740), (740, 360)
GAMES = {
    "tic_tac_toe&clock=90": "5",
    "connect_four": "4",
    "checkers": "11-15",
    "backgammon&position=4HPwATDgc%2FABMA%3A31": "8/5 6/5",
}
# In the dark colours differ, and nothing else: only what asks about them is run again.
RUN = """async (dark) => {
  const all = { rules: { "label-content-name-mismatch": { enabled: true } } };
  const rules = dark ? { runOnly: { type: "rule", values: ["color-contrast"] } } : all;
  const { violations } = await axe.run(document, { ...rules, resultTypes: ["violations"] });
  const line = (id, { html, failureSummary }) => `${id}: ${html} ${failureSummary}`;
  return violations.flatMap(({ id, nodes }) => nodes.map((node) => line(id, node)));
}"""

# All that is read on the page, by eyes or by a screen reader. What a command of the command line says is its own text.
TEXTS = """() => {
  const texts = [document.title];
  for (const element of document.querySelectorAll("body *:not(script, .says)")) {
    const own = [...element.childNodes].filter(({ nodeType }) => nodeType === Node.TEXT_NODE);
    const attributes = ["aria-label", "title", "placeholder", "alt"].map((name) => element.getAttribute(name) ?? "");
    texts.push(...own.map(({ data }) => data), ...attributes);
  }
  return texts;
}"""
NOT_FOR_PEOPLE = re.compile(r"`|\b[a-z]+_[a-z_]+|\b(undefined|NaN|null)\b|\[object")


def found(table: Table, *sizes: tuple[int, int]) -> list[str]:
    """What axe-core finds at these sizes of the window in the light, and at the last one in the dark."""
    page, complaints = table.page, []
    if not page.evaluate("() => Boolean(window.axe)"):
        page.evaluate(AXE)
    for width, height in sizes:
        page.set_viewport_size({"width": width, "height": height})
        complaints += [f"{width} x {height}: {line}" for line in page.evaluate(RUN, False)]
    page.emulate_media(color_scheme="dark")
    complaints += [f"dark: {line}" for line in page.evaluate(RUN, True)]
    page.emulate_media(color_scheme="light")
    return complaints + [f"no text for people: {text}" for text in page.evaluate(TEXTS) if NOT_FOR_PEOPLE.search(text)]


@pytest.mark.parametrize(("game", "move"), GAMES.items(), ids=[name.partition("&")[0] for name in GAMES])
def test_games(browser: Any, server: Server, game: str, move: str) -> None:
    with opened(browser, server.url) as table:
        table.open(f"game={game}&against=random")
        version = table.look()["version"]
        table.page.locator("#entry-text").fill(move)
        table.page.locator("#entry-text").press("Enter")
        table.wait(version)
        assert found(table, LOW, WIDE, NARROW) == []


def test_start_page_challenge_and_tournaments(browser: Any, server: Server) -> None:
    with opened(browser, server.url) as table:
        table.page.goto(server.url)
        table.page.wait_for_selector(".game-card")
        assert found(table, LOW, WIDE, NARROW) == []
        table.page.goto(f"{server.url}/challenge")
        table.page.wait_for_selector(".picker")
        assert found(table, WIDE, NARROW) == []
        table.page.goto(f"{server.url}/tournaments")
        table.page.get_by_text("New tournament").click()
        assert found(table, WIDE, NARROW) == []


def test_dialogs_set_up_and_trainings(browser: Any, server: Server) -> None:
    with opened(browser, server.url) as table:
        table.open("game=checkers&against=random")
        for key, name in (("n", "game"), ("?", "help")):
            table.page.keyboard.press(key)
            table.wait_for("document.getElementById(arg).open", f"{name}-dialog")
            assert found(table, NARROW) == []
            table.page.keyboard.press("Escape")
            table.wait_for_no_dialog()
        for opener, name in (("#plate-top .who", "seat"), ("#my-games", "games")):
            table.page.locator(opener).click()
            table.wait_for("document.getElementById(arg).open", f"{name}-dialog")
            assert found(table, NARROW) == []
            table.page.keyboard.press("Escape")
            table.wait_for_no_dialog()
        table.open_card("position")
        table.open_card("together")
        table.button("set-up")
        table.wait_for("document.querySelector('.verdict')")
        assert found(table, WIDE) == []
        table.page.goto(f"{server.url}/train")
        table.page.wait_for_selector(".measure .chart")
        table.page.get_by_text("New training").click()
        table.page.get_by_text("Numbers of the setting").click()
        assert found(table, WIDE, NARROW) == []
