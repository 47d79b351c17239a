// The page to play: `app` keeps what the server says, the panels show it, and what people do goes to the server.

import { addressOf, changedOptions, keepToken, readAddress, tokenOf } from "./address.js";
import { BOARDS } from "./boards/index.js";
import { readClock } from "./clocks.js";
import { Connection, Refusal } from "./connection.js";
import { announce, byId, h, notify } from "./dom.js";
import { drawIcons } from "./icons.js";
import { initAnalysis } from "./analysis.js";
import { initDialogs } from "./dialogs.js";
import { home } from "./home.js";
import { initGames } from "./games.js";
import { initKeys } from "./keys.js";
import { gameSoFar, initMoves } from "./moves.js";
import { initPosition } from "./position.js";
import { initTable } from "./table.js";
import { initTogether } from "./together.js";
import { initWatch } from "./watch.js";
import { apply, ownerKey, settings, themeButton } from "./settings.js";
import { play, soundOf } from "./sound.js";

const CLOSED = { 4000: "This session has ended.", 4001: "That session is not there any more.", 1008: "The server has ended the connection." };

const app = {
  catalog: null,
  state: null,
  session: null,
  look: null, // the position that is stepped to, or null for the present
  analysis: null,
  analyses: false, // whether the server evaluates for this page
  hint: null,
  curve: null,
  setup: null, // the board being set up
  flipped: null, // what a person has chosen; null: what suits the seat
  pending: null, // a move that was sent and not answered yet
  premove: null, // a move that is played as soon as it is legal
  offline: false, // whether the connection is lost, and the board stays as it was
  asked: null, // what a link to a position proposes, until it has been asked
  before: null, // the game of a session that is gone
  settings,

  get game() {
    return this.catalog.games.find((game) => game.id === this.state?.game);
  },

  /** The analysis, if it belongs to the position before the turn under way. */
  get currentAnalysis() {
    return this.analyses && this.analysis?.of === gameSoFar(this.state) ? this.analysis : null;
  },

  get kind() {
    return BOARDS[this.game.board];
  },

  /** This person's only seat; null for spectators, and for one person on both seats. */
  get mySeat() {
    const seats = this.state?.you.seats ?? [];
    return seats.length === 1 ? seats[0] : null;
  },

  get isFlipped() {
    const { bottom } = this.kind;
    const turned = bottom !== undefined && this.mySeat !== null && this.mySeat !== bottom;
    return turned !== Boolean(this.flipped);
  },

  sideName(seat) {
    return this.game.sides[seat];
  },

  /** Sends a message. What the server refuses is shown, and the answer is null. */
  async send(type, fields = {}) {
    try {
      return await this.connection.send(type, fields);
    } catch (error) {
      if (!(error instanceof Refusal)) {
        throw error;
      }
      notify(error.message, "error");
      this.pending = null;
      this.refresh();
      return null;
    }
  },

  /** Draws everything anew, once, before the browser's next frame. */
  refresh() {
    if (!this.waits && this.state) {
      this.waits = true;
      queueMicrotask(() => {
        this.waits = false;
        this.panels.forEach((show) => show());
        this.writeAddress();
      });
    }
  },

  writeAddress() {
    if (this.state && this.session) {
      const fields = { session: this.session, ...this.positionFields() };
      history.replaceState({ session: this.session }, "", addressOf(fields));
    }
  },

  /** The fields of an address that lead to the position shown. */
  positionFields() {
    const shown = this.look ?? this.state;
    return { game: this.state.game, ...changedOptions(this.game, this.state.options), position: shown.position };
  },

  /** A session of its own for a game; the browser's back button leads to the one before. */
  async create(fields) {
    const seats = fields.seats ?? [{ kind: "person" }, { kind: "player", spec: this.gameNamed(fields.game).default_player }];
    return this.leave("create", { options: {}, position: null, to_move: null, name: settings.name, owner: ownerKey(), ...fields, seats });
  },

  /** Goes to another session by a message. */
  async leave(type, fields) {
    this.leaves = true;
    const answer = await this.send(type, fields);
    this.leaves = false;
    return answer;
  },

  gameNamed(id) {
    return this.catalog.games.find((game) => game.id === id);
  },

  /** Goes on in another session: nothing of the one before is shown there. */
  enter(session) {
    if (this.session !== session) {
      Object.assign(this, { session, state: null, look: null, analysis: null, analyses: false, hint: null, curve: null, setup: null, flipped: null, pending: null, premove: null });
    }
  },
};

/** Joins or creates what the address asks for. */
async function enter(session = app.session) {
  const address = readAddress();
  session ??= address.session;
  if (session) {
    for (const token of new Set([address.token ?? tokenOf(session), tokenOf(session), null])) { // an old link lets one watch
      try {
        await app.connection.send("join", { session, token, name: settings.name, owner: ownerKey() });
        return;
      } catch (error) {
        if (!app.connection.isOpen) {
          return;
        }
        notify(error.message, "error");
      }
    }
    forgetAddress(address);
  }
  await createFrom(address);
}

/** Who sat where, and the record of the game, so that another session can continue it; null if nothing was played. */
function played() {
  if (!app.state?.history.length) {
    return null;
  }
  const { game: id, options, start, history, seats, clock, you } = app.state;
  const rules = app.game.options.filter(({ name, default: usual }) => name !== "points" && options[name] !== usual);
  const turns = history.map(({ text, dice }) => (dice ? [dice.join(""), text] : text));
  return {
    fields: { game: id, options, position: null, clock: clock && { kind: clock.kind, seconds: clock.seconds, bonus: clock.bonus }, seats: seats.map(({ kind, spec }) => (kind === "player" ? { kind, spec } : { kind })) },
    record: JSON.stringify({ game: id, options: Object.fromEntries(rules.map(({ name }) => [name, options[name]])), start, turns, tags: { First: app.sideName(history[0].seat) } }),
    alone: you.seats.length > 0,
  };
}

function forgetAddress(address) {
  app.before = address.session === app.state?.session ? played() : null; // else it goes on elsewhere
  app.session = null;
  Object.assign(address, { session: null, token: null });
  history.replaceState({}, "", addressOf({ game: address.game, position: address.position, ...address.options }));
}

async function createFrom(address) {
  const { before } = app;
  app.before = null;
  if (before?.alone && (await app.send("create", { ...before.fields, to_move: null, name: settings.name, owner: ownerKey() }))) {
    await app.send("load", { format: "json", text: before.record, game_number: 1 });
    return;
  }
  const game = app.gameNamed(address.game) ?? app.catalog.games[0];
  if (address.game && game.id !== address.game) {
    notify(`There is no game ${address.game}; this is ${game.title}.`, "error");
  }
  const known = new Set(game.options.map(({ name }) => name));
  const options = Object.fromEntries(Object.entries(address.options).filter(([name]) => known.has(name)));
  const seats = [{ kind: "person" }, { kind: "player", spec: address.against ?? game.default_player }];
  if (address.seat) {
    seats.reverse();
  }
  const asks = address.position !== null && address.against === null; // a link to a position plays nothing by itself
  const fields = { game: game.id, options, position: address.position, to_move: null, name: settings.name, owner: ownerKey() };
  const attempts = [
    { ...fields, clock: readClock(address.clock), seats: asks ? [{ kind: "person" }, { kind: "person" }] : seats },
    { ...fields, options: {}, position: null, seats: [{ kind: "person" }, { kind: "player", spec: game.default_player }] },
  ];
  app.asked = asks ? { position: address.position, seats } : null;
  for (const attempt of attempts) {
    if (await app.send("create", attempt)) {
      return;
    }
  }
}

const RECEIVERS = {
  welcome(message) {
    if (app.leaves) {
      history.pushState({}, "", "/#");
    }
    app.enter(message.session);
    keepToken(message.session, message.token);
  },

  state(message) {
    const before = app.state?.session === message.session ? app.state : null;
    const asks = app.offline || before?.game !== message.game || (message.over && !before.over && !message.analysis);
    const same = before && gameSoFar(before) === gameSoFar(message);
    app.state = message;
    app.analyses = message.analysis;
    app.stateAt = performance.now();
    app.offline = false;
    app.pending = null;
    if (before?.version !== message.version) {
      app.hint = null;
    }
    if (app.curve && app.curve.of !== gameSoFar(message, app.curve.values.length - 1)) {
      app.curve = null;
    }
    if (!same) {
      app.look = null;
    }
    if (before && before.game !== message.game) {
      app.flipped = null;
      app.setup = null;
    }
    tell(before, message);
    if (asks) {
      app.resumeAnalysis();
    }
    if (app.asked) {
      app.openNewGame(app.asked);
      app.asked = null;
    }
    app.refresh();
  },

  analysis(message) {
    if (message.id === undefined && message.ply === app.state?.ply) {
      app.analysis = { ...message, of: gameSoFar(app.state) };
      app.refresh();
    }
  },

  curve(message) {
    if (app.state) {
      app.curve = { ...message, of: gameSoFar(app.state, message.values.length - 1) };
      app.refresh();
    }
  },

  chats: (message) => app.together.chats(message.lines),
  chat: (message) => app.together.chat(message),
  notice: (message) => notify(message.text, message.kind),

  score(message) {
    if (app.state) {
      app.state = { ...app.state, match: message.match, over: message.over };
      app.refresh();
    }
  },

  error(message) {
    if (message.id === null) {
      notify(message.message, "error");
    }
  },
};

/** Tells screen readers what another one has played, and how the game has ended. */
function tell(before, state) {
  if (!before || before.version === state.version) {
    return;
  }
  const words = [];
  const heard = soundOf(before, state);
  if (heard) {
    play(heard);
  }
  if (state.ply > before.ply && state.last) {
    words.push(`${app.sideName(state.last.seat)}: ${state.last.text}.`);
  }
  if (state.over && !before.over) {
    words.push(`${state.over.text}.`);
  } else if (state.you.seats.includes(state.to_move) && state.to_move !== before.to_move) {
    const { dice } = state.board;
    words.push(dice ? `Your turn, dice ${dice.join(" and ")}.` : "Your turn.");
  }
  if (words.length) {
    announce(words.join(" "));
  }
}

function showGames() {
  const buttons = app.catalog.games.map(({ id, title }) =>
    h("button", { type: "button", "data-game": id, onclick: () => app.create({ game: id }) }, title));
  byId("games").replaceChildren(...buttons);
  return () => {
    for (const button of buttons) {
      button.setAttribute("aria-current", String(button.dataset.game === app.state.game));
    }
    document.title = `${app.game.title} · jaxgames`;
  };
}

/** Says so when there is no connection. If the session has ended, it offers a new one. */
function showStatus(status, code) {
  document.querySelector(".banner")?.remove();
  if (status !== "open") { // then the first state says that the board is live again
    app.offline = true;
    app.refresh();
  }
  if (status === "lost" || (status === "connecting" && app.connection.failures > 1)) {
    const { reason } = app.connection;
    document.body.prepend(h("div", { class: "banner", role: "alert" }, `${reason[0].toUpperCase()}${reason.slice(1)}. Trying again …`));
  } else if (status === "closed" && CLOSED[code]) {
    const again = h("button", { type: "button", onclick: () => {
      const address = readAddress();
      forgetAddress(address);
      document.querySelector(".banner")?.remove();
      app.connection.open();
    } }, "Start a new one");
    document.body.prepend(h("div", { class: "banner", role: "alert" }, `${CLOSED[code]} `, again));
  }
}

async function boot() {
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault(); // what stands behind the # is the game
    byId("board-area").focus();
  });
  apply();
  drawIcons(document);
  themeButton(byId("theme"));
  app.catalog = await (await fetch("/api/games")).json();
  await home(app.catalog);
  app.connection = new Connection(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/ws`);
  app.panels = [showGames(), ...[initTable, initMoves, initAnalysis, initPosition, initWatch, initTogether, initDialogs, initGames].map((init) => init(app))];
  initKeys(app);
  app.connection.onmessage = (message) => RECEIVERS[message.type]?.(message);
  app.connection.onopen = () => enter();
  app.connection.onstatus = showStatus;
  app.connection.open();
  addEventListener("popstate", () => {
    const address = readAddress();
    if (location.hash.length < 2) { // back to the start page
      location.reload();
      return;
    }
    const { game, session, token } = address;
    const other = session !== app.session || (token !== null && token !== tokenOf(session));
    if ((session || game) && other) {
      app.session = null;
      if (app.connection.isOpen) {
        enter(session);
      } else if (app.connection.isClosed) { // it enters what the address says
        app.connection.open();
      }
    }
  });
}

boot().catch((error) => notify(`The page could not start: ${error.message}`, "error"));
