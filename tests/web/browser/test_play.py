"""The page in a real browser: whole games by mouse and by keys, undo, hint, set-up, files, two people, narrow ones."""

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from tests.web.browser.conftest import Server
from tests.web.browser.table import Line, opened, picture, play_by_mouse

PICTURES = os.environ.get("JAXGAMES_SCREENSHOTS")
WIDE = {"width": 1440, "height": 900}
PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True, "device_scale_factor": 2}

# A key that comes before the page is drawn without its dialog: what the dialog held has the focus still.
KEY_AFTER_DIALOG = """(key) => {
  document.getElementById("help-dialog").close();
  document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
}"""


@pytest.mark.parametrize(
    ("game", "ends"),
    [
        ("tic_tac_toe", "wins|draw"),
        ("connect_four", "wins|draw"),
        ("checkers", "wins|draw"),
        ("backgammon", "wins"),
    ],
)
def test_whole_game_by_mouse(browser: Any, server: Server, game: str, ends: str) -> None:
    with opened(browser, server.url) as table:
        table.open(f"game={game}&against=random")
        status = play_by_mouse(table, seed=1)
        assert re.search(ends, status.lower()), status
        table.wait_for_status(status)
        assert len(table.moves()) >= 5


def test_whole_game_by_keyboard(browser: Any, server: Server) -> None:
    """Connect Four with arrows and Enter alone; then steps through it, dialogs, and a move as text."""
    with opened(browser, server.url) as table:
        board, keys = table.open("game=connect_four&against=random"), table.page.keyboard
        keys.press("b")
        for turn in range(300):
            now = board.look()
            if now["over"] == "true":
                break
            keys.press("ArrowRight" if turn % 14 < 7 else "ArrowLeft")  # over all seven columns, and back
            focused = table.page.evaluate("document.activeElement.getAttribute('aria-label')")
            assert focused.startswith("column")
            if "legal target" in focused:
                keys.press("Enter")
                board.wait(now["version"])
        assert re.search("wins|draw", now["status"].lower())
        played = len(table.moves())
        keys.press("ArrowLeft")  # on the board: to the next column
        assert "turn" not in table.look()["status"]
        keys.press("Escape")
        table.page.evaluate("document.activeElement.blur()")
        keys.press("ArrowLeft")
        table.wait_for_status(f"After turn {played - 1} of {played}")
        keys.press("End")
        table.wait_for("!document.getElementById('status').textContent.includes('After')")
        keys.press("?")
        table.wait_for("document.getElementById('help-dialog').open")
        keys.press("Escape")
        table.wait_for("!document.getElementById('help-dialog').open")  # keys are the dialog's while it is open
        keys.press("?")
        table.wait_for("document.getElementById('help-dialog').open")
        table.page.evaluate(KEY_AFTER_DIALOG, "n")
        table.wait_for("document.getElementById('game-dialog').open")
        keys.press("Enter")
        table.wait_for("!document.getElementById('game-dialog').open")
        table.wait_for_moves(0)
        keys.press("m")
        keys.type("4")
        keys.press("Enter")
        table.wait_for_moves(2)
        assert table.moves()[0] == "4"


def test_checker_by_checker(browser: Any, server: Server) -> None:
    """Backgammon: either die first, single checkers back, dragging, handing over, undo and redo of whole turns."""
    with opened(browser, server.url) as table:
        table.open("game=backgammon&position=4HPwATDgc%2FABMA%3A31&against=random")
        named = {"6": "point 6, 5 white checkers, can move", "12": "point 12, 5 black checkers"}
        assert named.items() <= table.look()["places"].items()
        table.click(8)
        targets = [place for place, name in table.look()["places"].items() if "legal target" in name]
        assert sorted(targets) == ["4", "5", "7"]  # by the 3, by the 1, and by both
        picture(table, PICTURES, "backgammon-targets")
        table.play(7)
        assert "1 white" in table.look()["places"]["7"]
        before = table.look()["version"]
        table.button("undo-step")
        assert "empty" in table.wait(before)["places"]["7"]
        table.drag(8, 5)
        assert table.drag(6, 5)["done"]
        assert "2 white" in table.look()["places"]["5"]
        assert table.moves() == []
        version = table.look()["version"]
        table.button("end-turn")
        table.wait(version)
        assert table.moves()[0] == "3-1 8/5 6/5"  # the roll, and the turn
        assert table.page.locator(".die.dark.before").count() in (2, 4)  # what the other side has rolled
        version = table.look()["version"]
        table.button("undo")
        table.wait_for_moves(0)
        assert "5 white" in table.wait(version)["places"]["6"]
        table.button("redo")
        table.wait_for_moves(2)


def test_doubles_and_the_left_die(browser: Any, server: Server) -> None:
    with opened(browser, server.url) as table:
        table.open("game=backgammon&position=4HPwATDgc%2FABMA%3A1111&against=random")
        assert table.page.locator(".die").count() == 4
        table.play(8, 7)
        assert table.page.locator(".die.played").count() == 1
        table.page.goto("about:blank")
        table.open("game=backgammon&position=4HPwATDgc%2FABMA%3A31&against=random")
        table.click(8)
        assert "1 white" in table.play(8)["places"]["5"]  # a second click: by the die on the left, the 3
        version = table.look()["version"]
        table.button("undo-step")
        table.wait(version)
        table.page.keyboard.press("d")
        table.click(8)
        assert "1 white" in table.play(8)["places"]["7"]


def test_jumps_step_by_step(browser: Any, server: Server) -> None:
    with opened(browser, server.url) as table:
        table.open("game=checkers&position=W%3AW22%2C23%3AB18%2C11%2CK2&seat=1&against=random")
        assert [place for place, name in table.look()["places"].items() if "can move" in name] == ["22", "23"]
        after = table.play(22, 15)
        assert "must jump on" in after["places"]["15"]
        assert "empty" in after["places"]["18"]
        table.drag(15, 8)
        assert table.moves()[0] == "22x15x8"


def test_hint_and_evaluation(browser: Any, server: Server) -> None:
    with opened(browser, server.url, viewport=WIDE, color_scheme="dark") as table:
        table.open("game=tic_tac_toe&position=XX./OO./...&against=random")
        assert not table.page.locator("#evaluation").is_visible()
        table.button("hint")
        table.wait_for("document.querySelector('.hint-ring')")
        assert table.page.locator("#notice").text_content().startswith("Hint: 3")
        table.page.get_by_role("switch", name="Evaluate").check()
        table.wait_for("document.querySelector('#variants .best')")
        best = table.page.locator("#variants .best td").first
        assert best.text_content() == "3"
        assert table.page.locator(".value.best").count() == 1
        assert float(table.page.get_by_role("meter").get_attribute("aria-valuenow")) > 0.5
        picture(table, PICTURES, "tic-tac-toe-dark")
        best.get_by_role("button").click()
        table.wait_for_status("wins")
        table.button("draw-curve")
        table.wait_for("document.querySelector('#curve .trace')")
        table.button("previous")
        table.wait_for_status("After turn 0 of 1")
        assert "empty" in table.look()["places"]["2"]
        table.button("from-here")
        table.wait_for_moves(0)
        table.wait_for_status("Your turn")


def test_set_up_by_hand_and_by_text(browser: Any, server: Server) -> None:
    with opened(browser, server.url) as table:
        table.open("game=checkers&against=random")
        table.open_card("position")
        table.button("set-up")
        setup = table.page.locator("#setup")
        setup.get_by_text("Clear the board").click()
        table.wait_for("document.querySelector('.verdict.wrong')")
        assert setup.get_by_text("Play from here").is_disabled()
        for brush, square in (("black king", 11), ("white man", 15), ("white man", 30), ("white man", 31)):
            setup.get_by_role("radio", name=brush).check()
            table.click(square)
        setup.get_by_role("radio", name="Eraser").check()
        table.click(31)
        table.wait_for("document.querySelector('.verdict').textContent === 'B:W15,30:BK11'")
        picture(table, PICTURES, "set-up")
        setup.get_by_text("Play from here").click()
        table.wait_for_status("Your turn")
        assert "position=B%3AW15%2C30%3ABK11" in table.page.url
        table.play(11, 18)
        assert table.moves()[0] == "11x18"
        link = table.page.evaluate("location.hash").replace("session", "of")  # such as somebody else gets it
        with opened(browser, server.url) as guest:
            guest.page.goto(f"{server.url}/{link}")
            guest.wait_for("document.getElementById('game-dialog').open")
            assert guest.moves() == [] and guest.page.locator("#game-dialog h2").text_content() == "Who plays?"
            guest.page.locator("#game-dialog select.who").last.select_option("random")
            guest.page.locator("#game-dialog").get_by_role("button", name="Start").click()
            guest.wait_for("document.getElementById('plate-top').textContent.includes('random')")
        field = table.page.locator("#position")
        field.fill("B:W15,30:BK1x")
        field.press("Enter")
        table.wait_for("document.getElementById('notice').classList.contains('error')")
        field.fill("B:W15,K30:BK5")  # the person is to move: no reply changes the address
        field.press("Enter")
        table.wait_for("location.hash.includes('K30')")


def test_save_and_load(browser: Any, server: Server, tmp_path: Path) -> None:
    with opened(browser, server.url) as table:
        table.open("game=checkers&against=random")
        for _ in range(3):
            start = next(place for place, name in table.look()["places"].items() if name.endswith("can move"))
            table.click(start)
            table.play(next(place for place, name in table.look()["places"].items() if "legal target" in name))
        played = table.moves()
        table.open_card("position")
        with table.page.expect_download() as download:
            table.button("save")
        file = tmp_path / download.value.suggested_filename
        download.value.save_as(file)
        assert file.suffix == ".pdn"
        assert played[0] in file.read_text()
        table.page.locator("#games").get_by_text("Connect Four").click()
        table.wait_for("document.getElementById('board').dataset.kind === 'drop'")
        table.page.locator("#games").get_by_text("Checkers").click()
        table.wait_for("document.getElementById('board').dataset.kind === 'draughts'")
        table.page.locator("#load").set_input_files(file)
        table.wait_for_moves(len(played))
        assert table.moves() == played
        broken = tmp_path / "broken.pdn"
        broken.write_text("1. 11-15 1-2")
        table.page.locator("#load").set_input_files(broken)
        table.wait_for("document.getElementById('notice').classList.contains('error')")
        assert table.moves() == played


def test_two_people_a_spectator_and_a_lost_connection(browser: Any, server: Server) -> None:
    line = Line()
    with opened(browser, server.url) as ann, opened(browser, server.url) as bob, opened(browser, server.url) as carl:
        bob.page.route_web_socket("**/ws", line.connect)
        ann.open("game=tic_tac_toe&against=random&clock=300%2B3")
        ann.open_card("together")
        ann.page.locator("#my-name").fill("Ann")
        ann.page.locator("#my-name").press("Enter")
        link = ann.page.locator("#link")
        watches = "document.getElementById('present').textContent.includes('are watching')"
        ann.button("invite")
        ann.wait_for("document.getElementById('link').value.includes('token=')")
        old = link.input_value()
        ann.button("invite")
        ann.wait_for("document.getElementById('link').value !== arg", old)
        bob.page.goto(old)  # a seat that was given to another one since: then one watches
        bob.wait_for(f"{watches} && document.getElementById('notice').textContent.includes('ask for a new link')")
        bob.page.goto(link.input_value())
        bob.wait_for(f"!{watches}")
        assert "token" not in bob.page.url
        ann.wait(-1)
        ann.click(4)
        assert "X" in bob.wait(-1)["places"]["4"]
        bob.click(0)
        ann.wait_for_moves(2)
        carl.page.goto(f"{server.url}/#{re.search('session=[^&]*', ann.page.url)[0]}")  # type: ignore[index]
        carl.wait_for_moves(2)
        assert carl.look()["mine"] == "false"
        carl.wait_for("document.querySelector('.clock.timed.running').textContent.startsWith('4:5')")
        carl.click(8)
        bob.open_card("together")
        bob.page.locator("#chat-text").fill("a <b>good</b> game")
        bob.page.locator("#chat-text").press("Enter")
        ann.wait_for("document.getElementById('chat').textContent.includes('a <b>good</b> game')")
        ann.wait_for("document.getElementById('present').textContent.includes('1 watching')")
        picture(ann, PICTURES, "two-people")

        line.cut()
        ann.wait_for("document.querySelector('.plate.away')")
        bob.wait_for("document.querySelector('.banner')")
        ann.click(2)
        ann.wait_for_moves(3)
        line.down = False
        bob.wait_for_moves(3)  # it has come back by itself, to its own seat
        assert bob.wait(-1)["mine"] == "true"
        ann.wait_for("!document.querySelector('.plate.away')")
        bob.page.reload()
        bob.wait_for_moves(3)
        bob.wait(-1)
        bob.click(6)
        ann.wait_for_moves(4)
        ann.click(8)
        bob.wait_for_moves(5)
        bob.click(5)
        ann.wait_for_moves(6)

        ann.button("undo")
        bob.wait_for("!document.getElementById('offer').hidden")
        bob.button("offer-accept")
        ann.wait_for_moves(4)
        bob.page.get_by_role("switch", name="Evaluate").check()
        bob.wait_for("document.getElementById('notice').textContent.includes('no evaluations')")
        ann.button("resign")
        ann.button("resign")
        bob.wait_for("!document.getElementById('evaluation').hidden")  # nobody plays any more
        bob.errors.clear()  # the browser's own lines about the lost connection


def test_changes_in_mid_game(browser: Any, server: Server) -> None:
    """Another player on a seat, swapped sides, a flipped board, resigning, a new size of board."""
    with opened(browser, server.url) as table:
        table.open("game=checkers&against=random")
        first = table.look()["middles"]
        assert first["1"][1] > first["32"][1]  # Black plays from below
        table.button("flip")
        assert table.look()["middles"]["1"] == first["32"]
        table.button("flip")
        table.page.locator("#plate-top .who").click()
        dialog = table.page.locator("#seat-dialog")
        dialog.get_by_role("combobox").select_option("weak")
        dialog.get_by_label("Share of random moves").fill("0.5")
        dialog.get_by_label("Player", exact=True).fill("random")
        dialog.get_by_role("button", name="Take the seat").click()
        table.wait_for("document.getElementById('plate-top').textContent.includes('weak:0.5:random')")
        table.play(11, 15)
        table.button("swap")
        table.wait_for_moves(3)
        assert "weak:0.5:random" in table.page.locator("#plate-top").text_content()
        table.button("resign")
        table.button("resign")
        table.wait_for_status("wins")
        table.page.locator("#games").get_by_text("Connect Four").click()
        table.wait_for("document.getElementById('board').dataset.kind === 'drop'")
        table.page.keyboard.press("n")
        for name, value in (("rows", 4), ("cols", 5), ("connect", 3)):
            table.page.locator(f"#game-dialog input[name={name}]").fill(str(value))
        table.page.locator("#game-dialog").get_by_role("button", name="Start").click()
        table.wait_for("document.querySelectorAll('.place').length === arg", 5)
        assert "rows=4&cols=5&connect=3" in table.page.url
        table.page.go_back()
        table.wait_for("document.getElementById('board').dataset.kind === 'draughts'")
        table.wait_for_status("wins")


def test_watched_games_in_a_row(browser: Any, server: Server) -> None:
    with opened(browser, server.url) as table:
        table.open("game=tic_tac_toe&against=random")
        table.button("pause")
        table.page.locator("#plate-bottom .who").click()
        table.page.locator("#seat-dialog").get_by_role("combobox").select_option("random")
        table.page.locator("#seat-dialog").get_by_role("button", name="Take the seat").click()
        table.wait_for_status("Paused")
        table.button("play-on")
        table.wait_for_moves(1)
        table.button("play-on")
        table.wait_for_moves(2)
        table.page.locator("#display").uncheck()
        table.page.locator("#match-games").fill("6")
        table.button("match-start")
        table.button("pause")
        table.wait_for("document.getElementById('score').textContent.includes('6 of 6 games')")
        won = [int(cell) for cell in table.page.locator("#score tbody td:nth-of-type(1)").all_text_contents()]
        drawn = re.findall("([0-9]+) drawn", " ".join(table.page.locator("#score p").all_text_contents()))
        assert sum(won) + sum(map(int, drawn)) == 6


@pytest.mark.parametrize("game", ["tic_tac_toe", "connect_four", "checkers", "backgammon"])
def test_narrow_screen(browser: Any, server: Server, game: str) -> None:
    with opened(browser, server.url, **PHONE) as table:
        table.open(f"game={game}&against=random")
        assert table.page.evaluate("document.documentElement.scrollWidth") <= 360
        now = table.look()
        table.page.evaluate("scrollTo(0, 0)")
        assert all(0 <= x <= 360 for x, _ in table.look()["middles"].values())
        name = next(place for place, name in now["places"].items() if "can move" in name or "legal target" in name)
        table.page.touchscreen.tap(*table.look()["middles"][name])
        if (after := table.wait(now["version"], picked=True))["version"] == now["version"]:
            target = next(place for place, name in after["places"].items() if "legal target" in name)
            table.page.touchscreen.tap(*after["middles"][target])
            table.wait(now["version"])
        picture(table, PICTURES, f"{game}-narrow")
        widths = "[...document.querySelectorAll('.place')].map((place) => place.getBoundingClientRect().width)"
        assert min(table.page.evaluate(widths)) >= 24
        table.page.set_viewport_size({"width": 740, "height": 360})
        board = table.page.locator("#board").bounding_box()
        assert board["y"] >= 0 and board["y"] + board["height"] <= 360
        assert table.page.evaluate("document.documentElement.scrollWidth") <= 740
        if game in ("checkers", "backgammon"):
            picture(table, PICTURES, f"{game}-landscape")


def test_page_of_the_trainings(browser: Any, server: Server) -> None:
    with opened(browser, server.url, viewport={"width": 1200, "height": 620}) as table:
        page = table.page
        page.goto(f"{server.url}/train")
        page.wait_for_selector(".measure .chart")
        shown = [text for text in page.locator(".measure h3").all_text_contents() if text]
        first = page.locator(".measure:visible h3").all_text_contents()
        assert first == ["score against random, %88.5", "loss0.0632", "games a second9,000"] and len(shown) == 5
        curve = page.locator(".measure .chart").first
        assert curve.locator(".trace").get_attribute("d").count("L") == 39
        assert curve.locator(".band").get_attribute("d").count("L") == 79  # there and back
        assert "between 86.6 and 90.4" in curve.get_attribute("aria-label")
        picture(table, PICTURES, "train")
        page.get_by_text("Play the newest checkpoint").click()
        table.wait_for("document.getElementById('board')?.dataset.version")
        assert "newest:first-steps" in page.locator("#plate-top").text_content()
        table.wait(-1)
        table.play(4)
        table.wait_for_moves(2)


def shown_without_an_answer(browser: Any, server: Server) -> float:
    """Milliseconds from letting go of the mouse until the next frame, which has the stone; the server hears nothing."""
    with opened(browser, server.url) as table:
        held: list[str] = []

        def connect(page: Any) -> None:
            there = page.connect_to_server()
            page.on_message(lambda text: held.append(text) if '"step"' in text else there.send(text))

        table.page.route_web_socket("**/ws", connect)
        table.open("game=connect_four&against=random")
        table.page.evaluate("""() => {
          addEventListener("pointerup", () => {
            const start = performance.now();
            requestAnimationFrame(() => {
              window.framesOfTest = [document.querySelectorAll(".piece").length, performance.now() - start];
            });
          }, true);
        }""")
        table.click(3)
        table.wait_for("window.framesOfTest")
        stones, milliseconds = table.page.evaluate("window.framesOfTest")
        assert stones == 1
        assert len(held) == 1
        assert all("legal" not in name for name in table.look()["places"].values())
        return milliseconds


def test_moves_are_shown_before_the_server_answers(browser: Any, server: Server) -> None:
    assert shown_without_an_answer(browser, server) < 250  # a few on an idle machine


if PICTURES:  # for the documents; what is evaluated may have to be compiled first

    def test_how_soon_moves_are_shown(browser: Any, server: Server) -> None:
        times = [round(shown_without_an_answer(browser, server), 1) for _ in range(20)]
        said = {"chromium": browser.version, "cores": os.cpu_count(), "milliseconds": times}
        (Path(PICTURES).parent / "play" / "web-shown.json").write_text(json.dumps(said, indent=1) + "\n")
        assert sorted(times)[-2] <= 50

    @pytest.mark.parametrize(
        ("name", "address", "scheme"),
        [
            ("backgammon", "game=backgammon&position=mNfBAyBoz8EBAw%3A42", "light"),
            (
                "checkers",
                "game=checkers&position=B%3AW17%2C18%2C21%2C22%2C26%2CK31%2C32%3AB1%2C3%2C6%2C8%2C10%2C12%2CK28",
                "dark",
            ),
            ("connect_four", "game=connect_four&position=443533", "light"),
        ],
    )
    def test_gallery(browser: Any, server: Server, name: str, address: str, scheme: str) -> None:
        with opened(browser, server.url, viewport=WIDE, color_scheme=scheme) as table:
            table.open(f"{address}&against=random")
            table.page.get_by_role("switch", name="Evaluate").check()
            table.wait_for("document.querySelector('#variants .best')")
            moves = {"backgammon": ["20/16 13/11"], "checkers": ["12-16", "8-11"], "connect_four": ["4", "4"]}
            for text in moves[name]:
                version = table.look()["version"]
                table.page.locator("#entry-text").fill(text)
                table.page.locator("#entry-text").press("Enter")
                table.wait(version)
            table.page.keyboard.press("Tab")
            table.page.wait_for_timeout(5000)
            table.button("draw-curve")
            table.wait_for("document.querySelector('#curve .trace')")
            picture(table, PICTURES, name)
