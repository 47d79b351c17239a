// The dialogs: a new game, and another player on a seat.

import { clockPicker, clockWords } from "./clocks.js";
import { byId, h, setText } from "./dom.js";
import { playerPicker } from "./picker.js";

export function initDialogs(app) {
  const gameDialog = byId("game-dialog");
  const seatDialog = byId("seat-dialog");

  function buttons(dialog, text) {
    return h("div", { class: "row end" },
      h("button", { type: "button", onclick: () => dialog.close() }, "Cancel"),
      h("button", { type: "submit", class: "primary" }, text));
  }

  function optionField({ name, help, default: usual, least, most, optional }, value) {
    const field = h("input", { name, type: "number", min: least, max: most, value: value ?? "", required: !optional, placeholder: optional ? "none" : usual });
    return h("label", { class: "stack" }, help, field);
  }

  function seatsNow() {
    return app.state.seats.map(({ kind, spec }) => (kind === "person" ? { kind } : { kind, spec }));
  }

  /** Asks for a new game; `asked` is what a link to a position proposes: {position, seats}. */
  app.openNewGame = (asked = {}) => {
    const { game, state } = app;
    const options = game.options.map((option) => optionField(option, state.options[option.name]));
    const pickers = (asked.seats ?? seatsNow()).map((seat, index) => playerPicker(game, `${game.sides[index]}${game.chance ? "" : index ? "" : ", begins"}`, seat));
    const clock = clockPicker(state.clock);
    const position = h("input", { name: "position", value: asked.position, placeholder: "the usual start", spellcheck: "false", autocomplete: "off" });
    const shown = h("button", { type: "button", class: "link", onclick: () => {
      position.value = (app.look ?? app.state).position;
    } }, "the position shown");
    const form = h("form", {},
      h("h2", { id: "game-dialog-title" }, asked.position ? "Who plays?" : `New game of ${game.title}`),
      options.length ? h("div", { class: "fields" }, ...options) : null,
      ...pickers.map(({ fieldset }) => fieldset),
      clock.fieldset,
      h("div", { class: "stack" }, h("label", { class: "stack" }, "Position to start from", position), h("span", {}, "Or ", shown)),
      buttons(gameDialog, "Start"));
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const chosen = Object.fromEntries(game.options.map(({ name }) => [name, form.elements[name].value === "" ? null : Number(form.elements[name].value)]));
      const seats = pickers.map((picker) => picker.value());
      const same = JSON.stringify(seats) === JSON.stringify(seatsNow());
      const fields = { options: chosen, clock: clock.value(), position: position.value.trim() || null, ...(same ? {} : { seats }) };
      if (await app.send("new", fields)) {
        gameDialog.close();
      }
    });
    gameDialog.replaceChildren(form);
    gameDialog.showModal();
  };

  app.openSeat = (seat) => {
    const { game, state } = app;
    const picker = playerPicker(game, game.sides[seat], seatsNow()[seat]);
    const form = h("form", {},
      h("h2", { id: "seat-dialog-title" }, `Who plays ${game.sides[seat]}?`),
      picker.fieldset,
      h("p", { class: "soft" }, state.over ? "" : "The game goes on with the new player."),
      buttons(seatDialog, "Take the seat"));
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      if (await app.send("seat", { seat, to: picker.value() })) {
        seatDialog.close();
      }
    });
    seatDialog.replaceChildren(form);
    seatDialog.showModal();
  };

  byId("new-game").addEventListener("click", () => app.openNewGame());

  return () => {
    const { game, state } = app;
    setText(byId("game-title"), game.title);
    const set = game.options.filter(({ name, default: usual }) => state.options[name] !== null && (game.board === "drop" || state.options[name] !== usual));
    const notes = set.map(({ name, help }) => `${help}: ${state.options[name]}`);
    setText(byId("game-note"), [...notes, ...(state.clock ? [clockWords(state.clock)] : [])].join(" · "));
    byId("new-game").disabled = !(state.you.host || state.you.seats.length);
  };
}
