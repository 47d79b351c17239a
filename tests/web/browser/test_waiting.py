"""The page in a real browser where somebody waits: passing, draws that are offered, clocks, the pause between watched
moves, a server that begins again.
"""

import itertools
import json
import statistics
from typing import Any

from tests.web.browser.conftest import Server
from tests.web.browser.table import opened


def test_nothing_but_a_pass(browser: Any, server: Server) -> None:
    """A checker on the bar before a closed board: the button says Pass, and nothing else can be done."""
    with opened(browser, server.url) as table:
        sent: list[str] = []
        table.page.on("websocket", lambda line: line.on("framesent", lambda text: sent.append(text)))
        table.open("game=backgammon&position=27YBACAAAEAAAA%3A65&against=random")
        button = table.page.locator("#end-turn")
        assert button.is_visible() and button.text_content().strip() == "Pass"
        assert "there is no legal move" in table.look()["status"]
        assert not [name for name in table.look()["places"].values() if "can move" in name]
        table.open_card("position")
        table.button("set-up")
        dice = table.page.locator("#setup .dice-choice select")
        assert [dice.nth(place).input_value() for place in (0, 1)] == ["6", "5"]
        table.page.locator("#setup").get_by_text("Clear the board").click()
        assert [dice.nth(place).input_value() for place in (0, 1)] == ["0", "0"]
        table.page.keyboard.press("d")  # the dice of the game are none of the board that is set up
        table.page.locator("#setup").get_by_text("Cancel").click()
        assert sent and not any('"step"' in text for text in sent)
        table.page.keyboard.press("e")
        table.wait_for("document.querySelector('#moves button')")
        assert "pass" in table.moves()[0]


def test_draws(browser: Any, server: Server) -> None:
    """A program accepts a draw where it is behind and declines one where it is ahead; a person is asked."""
    with opened(browser, server.url) as ann, opened(browser, server.url) as bob:
        ann.open("game=tic_tac_toe&position=OXO%2FX..%2FX.O&against=champion")
        ann.button("draw")
        ann.wait_for("document.getElementById('notice').textContent.includes('declines the draw')")
        assert ann.look()["over"] == "false"
        ann.page.goto("about:blank")
        ann.open("game=tic_tac_toe&position=XX.%2FOO.%2F...&against=champion")
        ann.button("draw")
        ann.wait_for_status("Draw: draw agreed")
        ann.page.evaluate("[1, 2].forEach(() => document.getElementById('again').click())")  # exchanges sides once
        ann.wait_for_moves(1)
        ann.page.goto("about:blank")
        ann.open("game=checkers&against=random")
        ann.open_card("together")
        ann.button("invite")
        ann.wait_for("document.getElementById('link').value.includes('token=')")
        bob.page.goto(ann.page.locator("#link").input_value())
        bob.wait_for("document.getElementById('board').dataset.version")
        for answer, ends in (("offer-decline", False), ("offer-accept", True)):
            ann.button("draw")
            bob.wait_for("document.getElementById('offer-text').textContent.includes('a draw')")
            bob.button(answer)
            if ends:
                ann.wait_for_status("Draw: draw agreed")
                bob.wait_for_status("Draw: draw agreed")
            else:
                ann.wait_for("document.getElementById('notice').textContent.includes('declines')")
        ann.button("again")  # with the sides exchanged
        ann.wait_for_status("Black to move")
        bob.wait_for_status("Your turn")
        assert not ann.page.locator("#again").is_visible()


TONES = """
  window.tonesOfTest = 0;
  const made = AudioContext.prototype.createOscillator;
  AudioContext.prototype.createOscillator = function () {
    window.tonesOfTest += 1;
    return made.call(this);
  };
"""


def test_premoves_and_sounds(browser: Any, server: Server) -> None:
    """A move chosen before one's turn is played when it is legal, can be taken back, and is forgotten where it is not.

    Moves are heard, unless sounds are off, which the browser remembers.
    """
    with opened(browser, server.url) as ann, opened(browser, server.url) as bob:
        ann.page.add_init_script(TONES)
        ann.open("game=checkers&against=random")
        ann.open_card("together")
        ann.button("invite")
        ann.wait_for("document.getElementById('link').value.includes('token=')")
        bob.page.goto(ann.page.locator("#link").input_value())
        bob.wait_for("document.getElementById('board').dataset.version")
        chosen, heard = "document.querySelector('.premove')", "window.tonesOfTest"
        ann.play_on(11, 15)
        bob.wait_for_moves(1)
        for name in (8, 11):
            ann.click(name)
        ann.wait_for_status("You have chosen a move")
        assert "8" not in "".join(ann.moves()) and "black man, " in ann.look()["places"]["8"]
        ann.page.keyboard.press("Escape")
        ann.wait_for(f"!{chosen}")
        for name in (8, 11):
            ann.click(name)
        ann.wait_for(chosen)
        bob.play_on(24, 20)
        ann.wait_for_moves(3)
        assert ann.moves() == ["11-15", "24-20", "8-11"] and not ann.page.evaluate(f"Boolean({chosen})")
        tones = ann.page.evaluate(heard)
        assert tones >= 2
        ann.page.keyboard.press("?")
        ann.page.get_by_label("Sounds").uncheck()
        ann.page.keyboard.press("Escape")
        ann.wait_for_no_dialog()
        for name in (4, 8):
            ann.click(name)
        ann.wait_for(chosen)
        bob.play_on(22, 18)  # now Black must jump
        ann.wait_for("document.getElementById('notice').textContent.includes('cannot be played now')")
        ann.wait_for_status("Your turn")
        assert len(ann.moves()) == 4 and ann.page.evaluate(heard) == tones
        ann.page.reload()
        ann.wait_for_status("Your turn")
        ann.play_on(15, 22)
        bob.wait_for_moves(5)
        assert ann.page.evaluate(heard) == 0


def test_speeds_of_watched_games(browser: Any, server: Server) -> None:
    """Programs pause as long as is chosen: between two turns a page sees 1 s, then 5 s, then none."""
    with opened(browser, server.url) as table:
        table.open("game=connect_four&against=random")
        table.button("pause")
        table.page.locator("#plate-bottom .who").click()
        table.page.locator("#seat-dialog").get_by_role("combobox").select_option("random")
        table.page.locator("#seat-dialog").get_by_role("button", name="Take the seat").click()
        table.wait_for_status("Paused")
        table.page.evaluate("""() => {
          window.timesOfTest = [];
          const note = () => window.timesOfTest.push(performance.now());
          new MutationObserver(note).observe(document.getElementById("moves"), {childList: true});
        }""")
        table.page.get_by_role("radio", name="1 s").check()
        table.button("pause")
        table.wait_for("window.timesOfTest.length >= 2")
        table.page.get_by_role("radio", name="5 s").check()
        table.wait_for("window.timesOfTest.some((time, turn, all) => turn && time - all[turn - 1] > 4900)")
        times = table.page.evaluate("window.timesOfTest")
        # A turn that a busy machine shows late is nearer to the next one.
        assert min(after - before for before, after in itertools.pairwise(times)) > 700
        table.page.get_by_role("radio", name="0 s").check()
        table.wait_for("/wins|Draw/.test(document.getElementById('status').textContent)")
        last = table.page.evaluate("window.timesOfTest")[len(times) + 1 :]
        assert statistics.median(after - before for before, after in itertools.pairwise(last)) < 900


def test_a_state_sent_before_does_not_take_back_what_was_chosen(browser: Any, server: Server) -> None:
    """Pause, its length and the display stay as chosen: while the server has not answered, and once it has."""
    with opened(browser, server.url) as table:
        ends, held, states = dict[str, Any](), list[str](), list[dict[str, Any]]()

        def to_server(text: str) -> None:
            (held.append if json.loads(text)["type"] in ("speed", "pause", "display") else ends["server"].send)(text)

        def to_page(text: str) -> None:
            message = json.loads(text)
            if message["type"] == "state":
                states.append(message)
            ends["page"].send(text)

        def connect(page: Any) -> None:
            ends.update(page=page, server=page.connect_to_server())
            page.on_message(to_server)
            ends["server"].on_message(to_page)

        def is_as_chosen() -> bool:
            board, slow = table.page.get_by_label("Show the boards"), table.page.get_by_role("radio", name="5 s")
            return slow.is_checked() and not board.is_checked() and "Go on" in table.page.locator("#pause").inner_text()

        table.page.route_web_socket("**/ws", connect)
        table.page.goto(f"{server.url}/#game=connect_four&against=random")
        table.wait_for("document.getElementById('board')?.dataset.version")
        assert not is_as_chosen()
        table.page.get_by_role("radio", name="5 s").check()
        table.page.get_by_label("Show the boards").uncheck()
        table.button("pause")
        ends["page"].send(json.dumps({**states[-1], "version": 1000}))
        table.wait_for("document.getElementById('board').dataset.version === '1000'")
        assert is_as_chosen()
        for text in held:
            ends["server"].send(text)
        table.wait_for("document.getElementById('board').dataset.version !== '1000'")
        table.click(3)
        table.wait_for_moves(1)
        assert is_as_chosen()
        assert (states[-1]["speed"], states[-1]["display"], states[-1]["paused"]) == (5, False, True)


def test_games_outlive_the_server_and_are_listed(browser: Any, server: Server) -> None:
    """The board says that nobody is there, and goes on by itself; a page opened later finds the game in its list."""
    with opened(browser, server.url) as table:
        table.open("game=tic_tac_toe&against=random")
        table.play(4)
        moves = table.moves()
        table.page.get_by_role("switch", name="Evaluate").check()
        table.wait_for("!document.getElementById('variants').hidden")
        server.stop()
        table.wait_for_status("Not connected")
        assert table.look()["mine"] == "false"
        server.start()
        table.wait_for_status("Your turn")
        assert table.moves() == moves
        free = next(place for place, name in table.look()["places"].items() if "legal target" in name)
        table.play(free)
        table.wait_for("!document.getElementById('variants').hidden")  # of this position
        table.errors.clear()  # the browser's own lines about the lost connection

        table.page.goto("about:blank")
        table.open("game=connect_four&against=random")
        table.button("my-games")
        row = table.page.locator("#games-list li")
        row.first.wait_for()  # the server is asked first
        assert row.count() == 1
        assert "Tic-tac-toe" in row.text_content() and "4 turns" in row.text_content()
        row.get_by_role("button", name="Go on with").click()
        table.wait_for_no_dialog()
        table.wait_for_moves(4)
        table.button("my-games")
        for _ in range(2):
            table.page.locator("#games-list").get_by_role("button", name="Delete").click()
        table.wait_for("!document.getElementById('games-none').hidden")
        table.page.locator("#games-close").click()
        table.play(next(place for place, name in table.look()["places"].items() if "legal target" in name))


def test_clocks_are_chosen_shown_and_run_out(browser: Any, server: Server) -> None:
    """By the address and by the dialog; the clock of who is to move runs from the second turn on, until it is lost."""
    with opened(browser, server.url) as table:
        clocks = table.open("game=tic_tac_toe&against=random&clock=300%2B3").page.get_by_role("timer")
        assert clocks.all_text_contents() == ["5:00", "5:00"]
        assert "5 min for each side, 3 s more each turn" in table.page.locator("#game-note").text_content()
        table.page.keyboard.press("n")
        dialog = table.page.locator("#game-dialog")
        kind = dialog.get_by_role("combobox", name="Clock")
        assert kind.input_value() == "increment"
        kind.select_option("Sudden death")
        assert not dialog.get_by_label("Seconds a turn").is_visible()
        dialog.get_by_label("Minutes for each side").fill("0.05")
        dialog.get_by_role("button", name="Start").click()
        table.wait_for("document.querySelector('#plate-bottom .clock').textContent === '3.0'")
        table.play(4)
        table.wait_for("Number(document.querySelector('#plate-bottom .clock.running.low').textContent) < 2.5")
        assert clocks.first.text_content() == "3.0"  # random has hardly thought, and the first turn is free
        table.wait_for_status("O wins: X has lost on time")
