// The middle of the page: the board, the plates of both players, a line that says what to do, and the buttons below.

import { BoardView } from "./board_view.js";
import { pieceIcon } from "./boards/index.js";
import { isLow, leftTo, timeText } from "./clocks.js";
import { keepPremove, plans, takePremove } from "./premove.js";
import { play as sound } from "./sound.js";
import { announce, byId, h, notify, setText, signed } from "./dom.js";
import { boardValues } from "./values.js";

const OFFERS = {
  draw: "a draw",
  undo: "taking a turn back",
  redo: "playing again what was taken back",
  new: "another game",
  setup: "another position",
  load: "another game, from a file",
  swap: "swapping sides",
  match: "games in a row",
  seat: "another player on a seat",
};

/** Which die an action of backgammon uses: actions are (26 - source) * 6 + die - 1. */
const dieOf = (move) => (move.actions[0] % 6) + 1;

export function initTable(app) {
  let exchanged = false;
  let rolled = "";

  async function play(move) {
    const { version } = app.state;
    app.pending = move;
    const answer = await app.send("step", { actions: move.actions, version });
    if (!answer) {
      app.refresh();
    }
  }

  const mustPass = () => app.state.moves[0]?.text === "pass" && app.state.you.seats.includes(app.state.to_move);

  /** Ends the turn; where nothing can be moved this is the pass. */
  function handOver() {
    return mustPass() ? play(app.state.moves[0]) : app.send("end_turn");
  }

  const view = new BoardView(byId("board"), {
    onmove: (move) => (view.view.plans ? keepPremove(app, move) : play(move)),
    onidle: () => app.premove && keepPremove(app, null),
    onpaint: (place, erase) => app.paint?.(place, erase),
    ondice() {
      if (app.look || app.setup) {
        return;
      }
      if (app.state.can.end_turn || mustPass()) {
        handOver();
      } else {
        exchanged = !exchanged;
        app.refresh();
      }
    },
  });
  app.view = view;

  const actions = {
    async again() {
      byId("again").disabled = true; // a second click would exchange the sides once more
      await app.send("new", { exchange: true });
      byId("again").disabled = false;
    },
    claim: () => app.send("claim"),
    "end-turn": handOver,
    "undo-step": () => app.send("undo_step"),
    undo: () => app.send("undo"),
    redo: () => app.send("redo"),
    async hint() {
      const answer = await app.send("hint");
      if (answer) {
        app.hint = answer;
        const value = answer.value === null || answer.value === undefined ? "" : ` (${signed(answer.value)})`;
        notify(`Hint: ${answer.text}${value}`);
        app.refresh();
      }
    },
    flip() {
      app.flipped = !app.flipped;
      app.refresh();
    },
    swap: () => app.send("swap"),
    async draw() {
      const answer = await app.send("offer", { what: "draw" });
      if (answer && !app.state.over) {
        notify("A draw is offered.");
      }
    },
    resign() {
      const mine = app.state.you.seats;
      const seat = mine.length > 1 ? app.state.to_move : mine[0];
      if (confirmed("resign")) {
        app.send("resign", { seat });
      }
    },
  };
  app.actions = actions;

  // What cannot be taken back asks for a second click within three seconds.
  let asked = null;
  function confirmed(id) {
    if (asked === id) {
      asked = null;
      setLabel(id, id);
      return true;
    }
    asked = id;
    setLabel(id, "Really?");
    setTimeout(() => {
      asked = null;
      setLabel(id, id);
    }, 3000);
    return false;
  }

  function setLabel(id, text) {
    byId(id).lastChild.textContent = text[0].toUpperCase() + text.slice(1);
  }

  for (const [id, act] of Object.entries(actions)) {
    byId(id).addEventListener("click", act);
  }
  byId("entry").addEventListener("submit", async (event) => {
    event.preventDefault();
    const field = byId("entry-text");
    const text = field.value.trim();
    if (text && (await app.send("turn", { text }))) {
      field.value = "";
    }
    field.focus();
  });
  byId("offer-accept").addEventListener("click", () => app.send("answer", { accept: true }));
  byId("offer-decline").addEventListener("click", () => app.send("answer", { accept: false }));

  function numbering() {
    const { to_move: mover, you } = app.state;
    const bottom = app.isFlipped ? 1 - app.kind.bottom : app.kind.bottom;
    return you.seats.includes(mover) && you.seats.length ? mover : app.mySeat ?? bottom;
  }

  function boardShown() {
    const { state } = app;
    const shown = app.setup ?? app.look ?? state;
    const board = { ...shown.board, turn: shown.to_move ?? shown.last?.seat ?? 0, numbering: state.to_move === null ? app.kind.bottom : numbering() };
    if (app.game.board === "backgammon") {
      const roll = JSON.stringify([state.ply, board.dice]);
      exchanged &&= roll === rolled;
      rolled = roll;
      board.exchanged = exchanged;
      board.before = shown.to_move === null ? null : app.turns()[shown.ply - 1]?.dice;
    }
    return [shown, board];
  }

  /** Of several moves of one checker by single dice, the one by the die shown first. */
  function prefer(moves) {
    const order = [...(app.state.board.dice ?? [])];
    if (exchanged) {
      order.reverse();
    }
    return moves.find((move) => dieOf(move) === order[0]) ?? moves[0];
  }

  function showBoard() {
    const [shown, board] = boardShown();
    const { state } = app;
    const live = shown === state && !app.pending && !app.offline;
    const mine = live && state.you.seats.includes(state.to_move);
    const planned = live ? plans(app) : null;
    const premoved = takePremove(app);
    view.show({
      kind: app.kind,
      name: app.game.board,
      board,
      flipped: app.isFlipped,
      moves: mine ? state.moves : planned ?? [],
      plans: planned !== null,
      premove: planned && app.premove,
      side: planned ? app.mySeat : state.to_move,
      last: app.setup ? null : lastShown(shown),
      hint: live ? app.hint?.steps : null,
      values: live ? () => boardValues(app) : null,
      painting: Boolean(app.setup),
      quick: app.game.board === "backgammon",
      prefer,
      title: `${app.game.title} board`,
    });
    Object.assign(byId("board").dataset, { version: state.version, mine: mine && (state.moves.length > 0 || state.can.end_turn), over: state.over !== null });
    if (premoved) {
      view.play(premoved);
    } else if (premoved === undefined) {
      notify("The move that you chose cannot be played now.");
    }
  }

  /** What is marked: the turn under way, or else the last whole turn. */
  function lastShown(shown) {
    const steps = shown.turn?.steps ?? [];
    return steps.length ? { steps } : shown.last;
  }

  function plate(id, seat) {
    const { state } = app;
    const who = state.seats[seat];
    const tone = app.kind.tones[seat];
    const mine = state.you.seats.includes(seat);
    const place = byId(id);
    if (!place.firstChild) {
      place.append(
        h("span", { class: "swatch", "aria-hidden": "true" }),
        h("button", { type: "button", class: "who", onclick: () => app.openSeat(Number(place.dataset.seat)) }, h("span")),
        h("span", { class: "about" }),
        h("span", { class: "clock" }),
      );
    }
    const [swatch, button, about] = place.children;
    place.dataset.seat = seat;
    place.className = `plate${state.to_move === seat ? " on-move" : ""}${who.online ? "" : " away"}`;
    if (swatch.dataset.tone !== tone) {
      swatch.dataset.tone = tone;
      swatch.replaceChildren(pieceIcon(app.kind, seat));
    }
    const named = who.name && who.name !== app.sideName(seat);
    const name = who.kind === "person" && !named ? (mine ? "You" : "Guest") : who.name;
    setText(button.firstChild, mine && named ? `${name} (you)` : name);
    button.setAttribute("aria-label", `${app.sideName(seat)}: ${name}. Change player`);
    const notes = [app.sideName(seat)];
    if (state.board.pips) {
      notes.push(`${state.board.pips[seat]} pips`);
    }
    if (!who.online) {
      notes.push("away");
    }
    if (who.compiling !== null) {
      notes.push(`gets ready, ${compilingFor(app, who)} s`);
    }
    setText(about, notes.join(" · "));
    showClock(place);
  }

  let warned = false;

  /** How much time a side has left, or how long it has thought. */
  function showClock(place) {
    const { clock, seats, you } = app.state;
    const shown = place.querySelector(".clock");
    const seat = Number(place.dataset.seat);
    const left = clock ? leftTo(clock, seat, (performance.now() - app.stateAt) / 1000) : null;
    const low = clock !== null && isLow(left);
    const { seconds } = seats[seat];
    setText(shown, clock ? timeText(left) : seconds >= 1 ? time(seconds) : "");
    shown.className = `clock${clock ? " timed" : ""}${clock?.running === seat ? " running" : ""}${low ? " low" : ""}`;
    for (const [name, value] of [["role", clock ? "timer" : null], ["aria-hidden", clock ? null : "true"]]) {
      value === null ? shown.removeAttribute(name) : shown.setAttribute(name, value);
    }
    if (clock?.running === seat && you.seats.includes(seat)) {
      if (low && !warned && left > 0) {
        announce("Ten seconds are left.");
        sound("low");
      }
      warned = low;
    }
  }

  setInterval(() => {
    if (app.state?.seats.some(({ compiling }) => compiling !== null)) {
      app.refresh();
    }
  }, 1000);

  setInterval(() => {
    if (app.state?.clock && app.state.clock.running !== null && !app.offline) {
      document.querySelectorAll(".plate").forEach(showClock);
    }
  }, 100);

  function showStatus() {
    const { state } = app;
    const words = statusWords(app);
    const place = byId("status");
    setText(place, words);
    const mine = state.you.seats.includes(state.to_move);
    place.className = `status${state.over ? " over" : mine && !app.look ? " turn" : ""}${state.busy ? " busy" : ""}`;
    const { offer } = state;
    const asked = offer && !state.you.seats.includes(offer.by) && state.you.seats.length > 0;
    byId("offer").hidden = !asked;
    if (asked) {
      setText(byId("offer-text"), `${state.seats[offer.by].name || "The other player"} suggests ${OFFERS[offer.what] ?? offer.what}`);
    }
  }

  function showActions() {
    const { can, you } = app.state;
    const enabled = { undo: can.undo, redo: can.redo, hint: can.hint ?? you.seats.includes(app.state.to_move), draw: can.draw, resign: can.resign, swap: can.swap };
    for (const [id, on] of Object.entries(enabled)) {
      byId(id).disabled = !on || Boolean(app.setup);
    }
    byId("again").hidden = app.state.over === null || Boolean(app.look) || rowGoesOn(app.state) || !(you.host || you.seats.length);
    byId("claim").hidden = !can.claim;
    byId("end-turn").hidden = !(can.end_turn || mustPass());
    setText(byId("end-turn").lastChild, mustPass() ? "Pass" : "Done");
    byId("undo-step").hidden = !can.undo_step;
    const spectator = you.seats.length === 0;
    byId("entry").hidden = spectator || Boolean(app.setup);
    byId("actions").hidden = Boolean(app.setup);
    const watched = spectator && !you.host;
    for (const id of ["undo", "redo", "hint", "draw", "resign", "swap"]) {
      byId(id).hidden = watched;
    }
    byId("entry-text").placeholder = { marks: "1 to 9", draughts: "11-15", backgammon: "8/5 6/5" }[app.game.board] ?? `column, 1 to ${app.kind.name(app.state.board.cols - 1)}`;
  }

  return () => {
    showBoard();
    const bottom = bottomSeat(app);
    plate("plate-bottom", bottom);
    plate("plate-top", 1 - bottom);
    showStatus();
    showActions();
  };
}

/** The seat whose plate is below the board. */
export function bottomSeat(app) {
  if (app.kind.bottom === undefined) {
    return (app.mySeat ?? 0) ^ Boolean(app.flipped);
  }
  return app.kind.bottom ^ app.isFlipped;
}

function statusWords(app) {
  const { state } = app;
  if (app.setup) {
    return "Click on the board to set up a position";
  }
  if (app.offline) {
    return "Not connected: the board is as it was";
  }
  if (app.look) {
    return `After turn ${app.look.ply} of ${state.ply}`;
  }
  if (!state.display && rowGoesOn(state) && state.seats.every(({ kind }) => kind === "player")) {
    return "For speed you see only the score, not the boards";
  }
  if (state.over) {
    return state.over.text;
  }
  if (app.premove) {
    return "You have chosen a move; Escape takes it back";
  }
  if (state.busy) {
    const { player, seat, what } = state.busy;
    const ready = `${player} gets ready: ${compilingFor(app, state.seats[seat])} s so far, up to a minute the first time on this machine …`;
    return what === "compiles" ? ready : `${player} is thinking …`;
  }
  if (state.to_move === null) {
    return "";
  }
  if (!state.you.seats.includes(state.to_move)) {
    return state.paused ? "Paused" : `${app.sideName(state.to_move)} to move`;
  }
  const whose = state.you.seats.length > 1 ? `${app.sideName(state.to_move)} to move` : "Your turn";
  if (state.can.end_turn) {
    return `${whose}: press Done to end the turn, or Take back`;
  }
  if (state.moves[0]?.text === "pass") {
    return `${whose}: there is no legal move`;
  }
  const { dice } = state.board;
  return dice?.length && !state.turn?.steps?.length ? `${whose}: ${dice.join("-")}` : whose;
}

/** For how many whole seconds a player's program has been compiling. */
const compilingFor = (app, { compiling }) => Math.floor((compiling ?? 0) + (performance.now() - app.stateAt) / 1000);

const rowGoesOn = ({ match }) => Boolean(match && match.played < match.games);

function time(seconds) {
  const whole = Math.floor(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}
