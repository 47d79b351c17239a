// Commands of the command line that the page starts, watches and stops: trainings and tournaments.

import { Connection, Refusal } from "./connection.js";
import { h, notify, setText } from "./dom.js";

const WAIT = 300; // milliseconds after the last key until the server is asked whether a form is right
const OFTEN = 1500;
const SELDOM = 15000;
const WORDS = { running: "under way", stopping: "stopping", stopped: "stopped", done: "done", failed: "failed" };

/** What an address of the server says. */
export async function read(path) {
  const answer = await fetch(path);
  const content = await answer.json();
  if (!answer.ok) {
    throw new Error(content.error);
  }
  return content;
}

/** A connection for messages; `ask` gives the answer, or null where the server refuses. */
export function asker() {
  const connection = new Connection(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/ws`);
  const ready = new Promise((resolve) => {
    connection.onopen = resolve;
  });
  connection.open();
  return async (type, fields = {}) => {
    await ready;
    try {
      return await connection.send(type, fields);
    } catch (error) {
      if (!(error instanceof Refusal)) {
        throw error;
      }
      notify(error.message, "error");
      return null;
    }
  };
}

/** A function that calls `update` at once, and then again and again: often while `update` says that something is under way. */
export function watching(update) {
  let timer = 0;
  return async function look() {
    const busy = await update().catch((error) => notify(error.message, "error"));
    clearTimeout(timer);
    timer = setTimeout(look, busy ? OFTEN : SELDOM);
  };
}

/** The card in which a command is filled in and started. `asked()` is what is filled in, `draw(form)` shows the form. */
export function startCard({ kind, title, ask, asked, fields, draw, onstart }) {
  const name = h("input", { maxlength: 40, spellcheck: "false", autocomplete: "off", required: true });
  const wrong = h("p", { class: "verdict wrong", role: "status" });
  const start = h("button", { type: "submit", class: "primary" }, "Start");
  const form = h("form", { class: "stack" }, ...fields, h("div", { class: "row" }, h("label", { class: "inline" }, "Name ", name), start), wrong);
  const card = h("details", { class: "card", id: "start-card" }, h("summary", {}, title), form);
  let [timer, asks, named] = [0, 0, ""];

  async function check() {
    asks += 1;
    const mine = asks;
    const answer = await ask("form", { what: kind, asked: asked() });
    if (answer && mine === asks) {
      draw(answer);
      setText(wrong, answer.error ?? "");
      start.disabled = Boolean(answer.error);
      if (name.value === named) {
        name.value = named = answer.name;
      }
    }
  }
  form.addEventListener("input", (event) => {
    if (event.target !== name) {
      clearTimeout(timer);
      timer = setTimeout(check, event.target.tagName === "SELECT" ? 0 : WAIT);
    }
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (await ask("start", { what: kind, name: name.value.trim(), asked: asked() })) {
      card.open = false;
      await onstart();
      await check();
    }
  });
  card.addEventListener("toggle", () => card.open && check(), { once: true });
  return { card, check };
}

/** The card of what runs, or ran last: what it says, and a button that stops it. */
export function commandCard({ ask, onchange }) {
  const state = h("span", { class: "pill" });
  const heading = h("h2", { id: "command-title" });
  const stop = h("button", { type: "button", onclick: async () => {
    if (await ask("stop", { what: shown.kind, name: shown.name })) {
      await onchange();
    }
  } }, "Stop");
  const says = h("pre", { class: "says", tabindex: "0", "aria-label": "What it says" });
  const card = h("section", { class: "card", "aria-labelledby": "command-title", hidden: true },
    h("div", { class: "run-head" }, h("div", { class: "grow" }, h("div", { class: "row" }, heading, state)), stop), says);
  let shown = null;

  function show(last) {
    shown = last;
    card.hidden = !last;
    if (last) {
      setText(heading, `The ${last.kind} ${last.name}`);
      setText(state, WORDS[last.status]);
      state.className = `pill${last.status === "running" ? " live" : ""}`;
      stop.hidden = !["running", "stopping"].includes(last.status);
      stop.disabled = last.status === "stopping";
      setText(says, last.says.join("\n"));
      says.hidden = !last.says.length;
    }
  }
  return { card, show };
}
