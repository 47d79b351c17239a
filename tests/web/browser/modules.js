// What the modules of the page do wrong, as a list of texts; empty where all is right. `test_changes.py` runs it.
async () => {
  const wrong = [];
  const check = (right, what) => right || wrong.push(what);
  const rest = () => new Promise((resolve) => setTimeout(resolve));

  // Two tabs of one browser: the key that one makes is the other's, and no change takes it away.
  const [one, other] = [await import("/parts/settings.js?1"), await import("/parts/settings.js?2")];
  const key = other.ownerKey();
  one.change({ theme: "dark" });
  other.change({ sound: false });
  check(one.ownerKey() === key, "the key of the other tab");
  const { theme, sound, owner } = JSON.parse(localStorage.getItem("jaxgames"));
  check(theme === "dark" && sound === false && owner === key, "settings of both tabs");

  // A seat keeps its player in a form where nothing is changed.
  const { playerPicker } = await import("/parts/picker.js");
  const { games } = await (await fetch("/api/games")).json();
  for (const spec of ["champion@2", "champion", "champion:easy", "uct:50,c=1.4", "weak:0.2:uct:50,c=1.4", "uct:2s"]) {
    const picker = playerPicker(games[0], "Player", { kind: "player", spec });
    check(picker.value().spec === spec, `${spec} became ${JSON.stringify(picker.value())}`);
    picker.fieldset.querySelector("select").value = "random";
    picker.fieldset.querySelector("select").dispatchEvent(new Event("change"));
    check(picker.value().spec === "random", `${spec} stays where another one is chosen`);
  }

  // A clock of two seconds can be chosen again.
  const { clockPicker } = await import("/parts/clocks.js");
  for (const seconds of [1, 2, 301, 10800]) {
    const { fieldset, value } = clockPicker({ kind: "increment", seconds, bonus: 1 });
    check([...fieldset.querySelectorAll("input")].every((field) => field.checkValidity()), `${seconds} s are refused`);
    check(value().seconds === seconds, `${seconds} s became ${value().seconds}`);
  }

  // What is said of a board.
  const { BOARDS } = await import("/parts/boards/index.js");
  const wide = { rows: 1, cols: 10, cells: [Array(10).fill(0)] };
  check(BOARDS.drop.places(wide, false)[9].label === "column a, empty", "the tenth column");
  check(BOARDS.draughts.empty({ squares: [1], quiet: 7 }).quiet === 0, "moves without capture on an empty board");

  // A premove is that of a side in a game.
  const { keepPremove, takePremove } = await import("/parts/premove.js");
  const turn = (text) => ({ text, dice: null });
  const game = { session: "s", game: "drop", options: {}, start: "", ply: 1, history: [turn("4")], over: null, to_move: 0, moves: [] };
  const played = { ...game, ply: 2, history: [turn("4"), turn("4")], to_move: 1, moves: [{ from: null, to: 3 }] };
  const others = { swapped: [{ ...played, to_move: 0 }, 0], another: [{ ...played, start: "44" }, 1], back: [{ ...played, ply: 0, history: [] }, 1] };
  for (const [name, [state, mySeat]] of Object.entries({ played: [played, 1], ...others })) {
    const table = { state: game, mySeat: 1, refresh() {} };
    keepPremove(table, { from: null, to: 3 });
    Object.assign(table, { state, mySeat });
    check(name === "played" ? takePremove(table).to === 3 : takePremove(table) === null, `premove: ${name}`);
    check(table.premove === null, `premove kept: ${name}`);
  }

  // Steps through a game end where they lead to, though answers take their time; a curve is that of its game.
  const { initMoves, gameSoFar } = await import("/parts/moves.js");
  const asked = [];
  const four = { ...game, ply: 4, history: [..."4455"].map(turn), you: { seats: [] } };
  const moves = { state: four, look: null, refresh() {}, game: { board: "drop" }, sideName: String,
    send: (type, { ply }) => new Promise((resolve) => asked.push(() => resolve({ ply }))) };
  const show = initMoves(moves);
  const answered = async () => {
    while (asked.length) {
      asked.shift()();
      await rest();
    }
    return moves.look?.ply ?? 4;
  };
  const steps = { "0, end": [() => moves.lookAt(0), () => moves.lookAt(Infinity)], "back, on": [-1, 1], "back, back, back": [-1, -1, -1], "on, back": [1, -1] };
  const ends = { "0, end": 4, "back, on": 4, "back, back, back": 1, "on, back": 1 };
  for (const [name, ways] of Object.entries(steps)) {
    ways.forEach((way) => (typeof way === "number" ? moves.stepBy(way) : way()));
    check(asked.length <= 1, `${name}: several questions at once`);
    const end = await answered();
    check(end === ends[name], `${name} ends at ${end}`);
  }
  moves.lookAt(0);
  moves.state = { ...four, history: [..."4456"].map(turn) };
  moves.look = null;
  check((await answered()) === 4, "a position of the game before");
  check(gameSoFar(four, 3) === gameSoFar(moves.state, 3) && gameSoFar(four) !== gameSoFar(moves.state), "the same so far");
  moves.state = { ...four, history: [..."4455"].map((text) => ({ ...turn(text), seat: 0, value: 0.5 })), over: { points: [-1, 1] } };
  show();
  check(document.querySelector("#curve title").textContent.endsWith("Now −1.00"), "the curve of a game that was given up");

  // Rows that stay are the same elements, and not even moved.
  const { arrange, notify } = await import("/parts/dom.js");
  const list = document.createElement("ul");
  const [a, b, c, d] = [..."abcd"].map(() => document.createElement("li"));
  arrange(list, [a, b, c]);
  const moved = new MutationObserver(() => {});
  moved.observe(list, { childList: true });
  arrange(list, [d, b, c]);
  check([...list.children].join() === [d, b, c].join() && list.firstChild === d && list.lastChild === c, "the order of rows");
  const touched = moved.takeRecords().flatMap(({ addedNodes, removedNodes }) => [...addedNodes, ...removedNodes]);
  check(touched.length === 2 && touched.includes(a) && touched.includes(d), "rows that stay are moved");

  // What a dialog would hide is said in it, and afterwards outside.
  const [dialog, notice] = [document.getElementById("help-dialog"), document.getElementById("notice")];
  dialog.showModal();
  notify("wrong", "error");
  check(notice.closest("dialog") === dialog && notice.checkVisibility(), "a message in a dialog");
  dialog.close();
  await new Promise((resolve) => dialog.addEventListener("close", resolve, { once: true }));
  notify("right");
  check(notice.parentNode === document.body && notice.checkVisibility(), "a message without a dialog");

  // A server that is full is asked more and more seldom, and its reason is known; one that answers begins anew.
  const { Connection } = await import("/parts/connection.js");
  const line = new Connection("ws://localhost:1");
  const waits = [];
  window.setTimeout = (act, wait) => waits.push(wait);
  for (let times = 0; times < 3; times += 1) {
    line.receive({ type: "error", id: null, message: "full" });
    line.closed({ code: 1013, reason: "the server is full" });
  }
  check(waits.join() === "200,500,1000" && line.reason === "the server is full", `waits ${waits}, ${line.reason}`);
  line.receive({ type: "welcome" });
  line.closed({ code: 1006, reason: "" });
  check(waits.at(-1) === 200 && line.reason === "the connection was lost", "after a welcome");

  // A second finger on the board takes nothing from the first one.
  const { BoardView } = await import("/parts/board_view.js");
  const view = new BoardView(document.getElementById("board"), { onidle() {} });
  const squares = Array(32).fill(0).with(8, 1).with(10, 1);
  document.getElementById("home").hidden = true;
  document.body.dataset.page = "play";
  view.show({ kind: BOARDS.draughts, name: "draughts", board: { squares, jumper: 0, quiet: 0 }, flipped: false, side: 0, title: "",
    moves: [[9, 13], [11, 15]].map(([from, to]) => ({ from, to, actions: [0], text: "" })) });
  view.svg.setPointerCapture = () => {};
  const middle = (place) => {
    const { x, y, width, height } = view.svg.querySelector(`[data-place="${place}"]`).getBoundingClientRect();
    return { clientX: x + width / 2, clientY: y + height / 2 };
  };
  const touch = (type, pointerId, place) => view.svg.dispatchEvent(new PointerEvent(type, { pointerId, button: 0, bubbles: true, ...middle(place) }));
  touch("pointerdown", 1, 11);
  touch("pointermove", 1, 20);
  touch("pointerdown", 2, 9);
  touch("pointermove", 2, 13);
  touch("pointerup", 2, 13);
  check(view.drag?.place === 11 && view.svg.querySelectorAll(".dragged").length === 1, "the first finger drags on");
  touch("pointerup", 1, 20);
  check(view.drag === null && !view.svg.querySelector(".dragged"), "the first finger lets go");
  return wrong;
}
