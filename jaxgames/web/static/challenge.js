// The page of the challenges: ten games in a row against a player that is chosen, and what one has scored so far.

import { keepToken } from "./address.js";
import { asker, read } from "./commands.js";
import { byId, h, notify, setText, signed } from "./dom.js";
import { drawIcons } from "./icons.js";
import { playerPicker } from "./picker.js";
import { apply, ownerKey, settings, themeButton } from "./settings.js";

const page = { picker: null };

/** Goes to a session that the server has welcomed this browser in. */
function enter({ session, token }) {
  keepToken(session, token);
  location.assign(`/#${new URLSearchParams({ session })}`);
}

/** An interval around a number, as one text. */
const between = (value, low, high, text) => (low === null ? text(value) : `${text(value)} (${text(low)} to ${text(high)})`);
const elo = (value) => signed(value, 0);

function row(ask, { goes_on: session, title, spec, games, open, won, drawn, lost, points, mean, low, high, rating }) {
  const name = h("th", { scope: "row" }, `${title}: ${spec}`);
  const played = open ? `${games} and ${open} not ended` : String(games);
  const cells = games
    ? [`${won} / ${drawn} / ${lost}`, signed(points, 0), between(mean, low, high, (value) => signed(value)), between(rating.elo, rating.low, rating.high, elo)]
    : ["", "", "", ""];
  const on = session && h("button", { type: "button", "aria-label": `Go on with ${title} against ${spec}`, onclick: async () => {
    const answer = await ask("open", { owner: ownerKey(), name: settings.name, session });
    if (answer) {
      enter(answer);
    }
  } }, "Go on");
  return h("tr", {}, name, h("td", {}, played), ...cells.map((cell) => h("td", {}, cell)), h("td", {}, on));
}

async function boot() {
  apply();
  drawIcons(document);
  themeButton(byId("theme"));
  const catalog = await read("/api/games");
  const ask = asker();
  const form = byId("challenge-form");
  const game = h("select", { id: "challenge-game" }, ...catalog.games.map(({ id, title }) => h("option", { value: id }, title)));
  const place = h("div");
  const wrong = h("p", { class: "verdict wrong", role: "status" });
  const start = h("button", { type: "submit", class: "primary" }, "Begin ten games");

  function draw() {
    const chosen = catalog.games.find(({ id }) => id === game.value);
    const spec = chosen.champion ? "champion:easy" : chosen.default_player;
    page.picker = playerPicker(chosen, "Against", { kind: "player", spec });
    page.picker.fieldset.querySelector("option[value=person]").remove();
    place.replaceChildren(page.picker.fieldset);
  }

  game.addEventListener("change", draw);
  form.append(h("label", { class: "stack" }, "Game", game), place, h("div", { class: "row" }, start), wrong);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    start.disabled = true;
    const fields = { game: game.value, seats: [{ kind: "person" }, page.picker.value()], challenge: true, name: settings.name, owner: ownerKey() };
    const answer = await ask("create", fields);
    start.disabled = false;
    if (answer) {
      enter(answer);
    }
  });
  draw();
  form.hidden = !catalog.keeps;
  byId("keeps-none").hidden = catalog.keeps;
  if (catalog.keeps) {
    const answer = await ask("challenges", { owner: ownerKey() });
    const players = answer?.players ?? [];
    byId("standings").hidden = players.length === 0;
    byId("standings-rows").replaceChildren(...players.map((player) => row(ask, player)));
    setText(byId("standings-none"), players.length ? "" : "Nothing has been played yet.");
  }
}

boot().catch((error) => notify(error.message, "error"));
