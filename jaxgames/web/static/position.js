// Positions as text, in the address, or set up by hand; and games that the browser saves and loads.

import { addressOf } from "./address.js";
import { pieceIcon } from "./boards/index.js";
import { byId, download, h, notify, setText } from "./dom.js";

const ASKS_AFTER = 150; // milliseconds after the last change of a position

export function initPosition(app) {
  let brush = 0;
  let checking = 0;
  let drawn = "";
  let formats = "";
  const field = byId("position");
  const panel = byId("setup");

  byId("position-form").addEventListener("submit", async (event) => {
    event.preventDefault();
    if (await app.send("new", { position: field.value.trim() })) {
      app.setup = null;
      field.blur();
      app.refresh();
    }
  });
  byId("copy-position").addEventListener("click", () => copy(addressOf(app.positionFields()), "The link to this position is copied."));
  byId("set-up").addEventListener("click", () => (app.setup ? leave() : begin()));
  byId("save").addEventListener("click", async () => {
    const file = await app.send("save", { format: byId("format").value });
    if (file) {
      download(file.name, file.media, file.text);
    }
  });
  byId("load").addEventListener("change", async (event) => {
    const [file] = event.target.files;
    event.target.value = "";
    if (!file) {
      return;
    }
    const most = app.catalog.limits.file;
    const text = file.size > 4 * most ? null : await file.text(); // a character has at most 4 bytes
    if (text === null || text.length > most) {
      notify(`${file.name} is too long: at most ${most} characters can be read`, "error");
      return;
    }
    const game_number = Number(byId("game-number").value) || 1;
    if (await app.send("load", { format: null, text, game_number })) {
      notify(`${file.name} is loaded`);
    }
  });

  function begin() {
    const shown = app.look ?? app.state;
    const { board } = shown;
    app.setup = { game: app.state.game, to_move: shown.to_move ?? 0, board: { ...board, line: [] } };
    brush = app.kind.brushes[0].value;
    byId("board-area").scrollIntoView({ block: "nearest" });
    drawn = "";
    changed(app.setup.board);
  }

  function leave() {
    app.setup = null;
    app.refresh();
  }

  app.paint = (place, erase) => changed(app.kind.paint(app.setup.board, place, erase ? 0 : brush));

  /** Shows the board as it is now and asks the server whether it can be played from. */
  function changed(board) {
    app.setup = { ...app.setup, board };
    app.refresh();
    clearTimeout(checking);
    checking = setTimeout(check, ASKS_AFTER);
  }

  /** Only what the server reads of a board. */
  function fields() {
    const { board, to_move } = app.setup;
    const { cells, squares, quiet, points, bar } = board;
    const read = { marks: { cells }, drop: { cells }, draughts: { squares, quiet: quiet ?? 0 }, backgammon: { points, bar } };
    const made = { board: read[app.game.board], to_move };
    return app.game.board === "backgammon" ? { ...made, dice: board.dice ?? null } : made;
  }

  async function check() {
    if (!app.setup) {
      return;
    }
    const verdict = panel.querySelector(".verdict");
    const start = panel.querySelector(".start");
    try {
      const { position } = await app.connection.send("check_setup", fields());
      setText(verdict, position || "The empty board");
      verdict.classList.remove("wrong");
      start.disabled = false;
    } catch (error) {
      setText(verdict, error.message);
      verdict.classList.add("wrong");
      start.disabled = true;
    }
  }

  function clear() {
    changed(app.kind.empty(app.setup.board));
    for (const select of panel.querySelectorAll(".dice-choice select")) {
      select.value = "0";
    }
  }

  async function start() {
    if (await app.send("setup", fields())) {
      leave();
    }
  }

  function brushChoice({ name, value }, checked) {
    const side = app.kind.brushes.findIndex((one) => one.value === value);
    const { kind, side: of } = shapeOf(app, side);
    const picture = value ? pieceIcon(app.kind, of, kind) : null;
    return h("label", {}, h("input", { type: "radio", name: "brush", value, checked, onchange: () => (brush = value) }), h("span", {}, picture, name));
  }

  function dieChoice(index) {
    const select = h("select", { "aria-label": `Die ${index + 1}`, onchange: () => {
      const dice = [...panel.querySelectorAll(".dice-choice select")].map(({ value }) => Number(value));
      const whole = dice.every(Boolean);
      changed({ ...app.setup.board, dice: whole ? dice : null, left: undefined });
    } }, h("option", { value: 0 }, "rolled"), ...[1, 2, 3, 4, 5, 6].map((value) => h("option", { value }, String(value))));
    select.value = String(app.setup.board.dice?.[index] ?? 0);
    return select;
  }

  function drawPanel() {
    const sides = [0, 1].map((side) => h("option", { value: side }, app.sideName(side)));
    const mover = h("select", { onchange: () => {
      app.setup.to_move = Number(mover.value);
      changed(app.setup.board);
    } }, ...sides);
    mover.value = String(app.setup.to_move);
    const asksMover = app.game.board === "draughts" || app.game.board === "backgammon";
    panel.replaceChildren(...[
      h("h2", {}, "Set up a position"),
      h("div", { class: "brushes", role: "radiogroup", "aria-label": "What a click puts on the board" },
        ...app.kind.brushes.map((choice, index) => brushChoice(choice, index === 0)), brushChoice({ name: "Eraser", value: 0 }, false)),
      h("div", { class: "row" },
        asksMover ? h("label", { class: "inline" }, "To move ", mover) : null,
        app.game.board === "backgammon" ? h("span", { class: "inline dice-choice" }, "Dice ", dieChoice(0), dieChoice(1)) : null,
        h("button", { type: "button", onclick: clear }, "Clear the board")),
      h("p", { class: "verdict", role: "status" }),
      h("div", { class: "row end" },
        h("button", { type: "button", onclick: leave }, "Cancel"),
        h("button", { type: "button", class: "primary start", disabled: true, onclick: start }, "Play from here")),
    ]);
  }

  function copy(text, said) {
    navigator.clipboard?.writeText(text).then(() => notify(said), () => notify(text));
    if (!navigator.clipboard) {
      notify(text);
    }
  }
  app.copy = copy;

  return () => {
    panel.hidden = !app.setup;
    if (app.setup && drawn !== app.state.game) {
      drawn = app.state.game;
      drawPanel();
    }
    const position = (app.look ?? app.state).position;
    if (document.activeElement !== field && field.value !== position) {
      field.value = position;
    }
    field.placeholder = app.game.notation;
    const wanted = app.game.formats.join();
    if (wanted !== formats) {
      formats = wanted;
      byId("format").replaceChildren(...app.game.formats.map((format) => h("option", { value: format }, format === "moves" ? "moves" : format.toUpperCase())));
    }
    byId("set-up").setAttribute("aria-pressed", String(Boolean(app.setup)));
  };
}

function shapeOf(app, index) {
  const pieces = { draughts: [["man", 0], ["king", 0], ["man", 1], ["king", 1]] }[app.game.board];
  const [kind, side] = pieces?.[index] ?? [undefined, index];
  return { kind, side };
}
