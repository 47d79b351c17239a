// The page of the tournaments: one is set and started, and its cross-table grows while it is played.

import { asker, commandCard, read, startCard, watching } from "./commands.js";
import { byId, h, notify, setText, signed } from "./dom.js";
import { drawIcons } from "./icons.js";
import { playerPicker } from "./picker.js";
import { apply, themeButton } from "./settings.js";

const FIRST = ["champion:easy", "champion:normal", "random"];
const page = { may: false, ask: null, drawn: new Map() };

/** The fields of a tournament, and what is filled in. `changed` is called where no field says that it has changed. */
function tournamentForm(catalog, changed) {
  const game = h("select", {}, ...catalog.games.map(({ id, title }) => h("option", { value: id }, title)));
  const games = h("input", { type: "number", min: 2, placeholder: "200" });
  const seed = h("input", { type: "number", min: 0, placeholder: "0" });
  const players = h("div", { class: "entrants" });
  let pickers = [];
  const more = h("button", { type: "button", onclick: () => add("random") }, "One more player");
  const chosen = () => catalog.games.find(({ id }) => id === game.value);

  function add(spec) {
    const picker = playerPicker(chosen(), "Player", { kind: "player", spec });
    picker.fieldset.querySelector("option[value=person]").remove();
    const remove = h("button", { type: "button", class: "link", onclick: () => {
      pickers = pickers.filter((other) => other !== picker);
      picker.fieldset.remove();
      number();
      changed();
    } }, "Leave out");
    picker.fieldset.append(remove);
    pickers.push(picker);
    players.append(picker.fieldset);
    number();
    changed();
  }

  function number() {
    pickers.forEach(({ fieldset }, place) => {
      setText(fieldset.querySelector("legend"), `Player ${place + 1}`);
      fieldset.querySelector("select").setAttribute("aria-label", `Player ${place + 1}`);
      fieldset.lastChild.setAttribute("aria-label", `Leave out player ${place + 1}`);
    });
    more.disabled = pickers.length >= catalog.limits.entrants;
  }

  function begin() {
    pickers = [];
    players.replaceChildren();
    const known = new Set(chosen().players.map(({ name }) => name));
    FIRST.filter((spec) => known.has(spec.split(":")[0])).forEach(add);
  }

  game.addEventListener("change", begin);
  const texts = () => Object.fromEntries(Object.entries({ game: game.value, games: games.value, seed: seed.value }).filter(([, value]) => value));
  const fields = [
    h("div", { class: "fields" }, ...[["Game", game], ["Games of each pair", games], ["Seed", seed]].map(([title, field]) => h("label", { class: "stack" }, title, field))),
    players,
    h("div", { class: "row" }, more),
  ];
  return { fields, begin, asked: () => ({ fields: texts(), set: {}, players: pickers.map((picker) => picker.value().spec) }) };
}

function cell(value, margin, points) {
  if (value === null) {
    return h("td", { class: "soft" }, "–");
  }
  return h("td", {}, points > 1 ? `${signed(value)} ± ${margin.toFixed(2)}` : `${(50 * (1 + value)).toFixed(1)} ± ${(50 * margin).toFixed(1)}`);
}

/** The cross-table, the strongest first, with ratings. */
function crossTable({ players, table, margins, ratings, most_points: points }) {
  const order = players.map((_, place) => place).sort((a, b) => (ratings ? ratings[b].elo - ratings[a].elo : a - b));
  const rating = (place) => {
    const { elo, low, high } = ratings[place];
    return `${signed(elo, 0)} (${signed(low, 0)} to ${signed(high, 0)})`;
  };
  return h("table", { class: "figures" },
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, points > 1 ? "Points a game" : "Score, %"), ...order.map((place) => h("th", { scope: "col" }, players[place])), h("th", { scope: "col" }, "Rating"))),
    h("tbody", {}, ...order.map((row) => h("tr", {}, h("th", { scope: "row" }, players[row]),
      ...order.map((column) => cell(table[row][column], margins[row][column], points)), h("td", {}, ratings ? rating(row) : "–")))));
}

function card(found) {
  const { name, title, error, games, played, pairs, under_way: runs, goes_on: on } = found;
  const state = runs ? "under way" : on ? "stopped" : error ? "not readable" : "done";
  const resume = h("button", { type: "button", hidden: !(on && page.may), "aria-label": `Go on with ${name}`, onclick: async () => {
    if (await page.ask("resume", { what: "tournament", name })) {
      await look();
    }
  } }, "Go on");
  const about = error ?? `${title} · ${games.toLocaleString("en")} games of each pair · ${played} of ${pairs} matches`;
  return h("article", { class: "card", "aria-labelledby": `tournament-${name}` },
    h("div", { class: "run-head" }, h("div", { class: "grow" }, h("h2", { id: `tournament-${name}` }, name, " ", h("span", { class: `pill${runs ? " live" : ""}` }, state)), h("p", { class: "soft" }, about)), resume),
    error ? null : h("progress", { max: pairs, value: played, hidden: played === pairs, "aria-label": `Matches of ${name}` }),
    error ? null : h("div", { class: "wide-table", tabindex: "0", role: "region", "aria-label": `Cross-table of ${name}` }, crossTable(found)));
}

/** Shows what is under way, and the tournaments that have changed; whether one is under way. */
async function update() {
  const [{ may, last }, { tournaments }] = await Promise.all([read("/api/commands"), read("/api/tournaments")]);
  page.may = may;
  page.command.show(last?.kind === "tournament" ? last : null);
  byId("none").hidden = tournaments.length > 0;
  const cards = tournaments.map((found) => {
    const [text, shown] = [JSON.stringify([may, found]), page.drawn.get(found.name)];
    const drawn = shown?.text === text ? shown : { text, card: card(found) };
    page.drawn.set(found.name, drawn);
    return drawn.card;
  });
  const place = byId("tournaments");
  if (cards.some((one, at) => place.children[at] !== one)) {
    place.replaceChildren(...cards);
  }
  return ["running", "stopping"].includes(last?.status);
}

const look = watching(update);

async function boot() {
  apply();
  drawIcons(document);
  themeButton(byId("theme"));
  page.command = commandCard({ ask: (...words) => page.ask(...words), onchange: look });
  const [{ may }, catalog] = await Promise.all([read("/api/commands"), read("/api/games")]);
  if (may) {
    page.ask = asker();
    let check = () => {};
    const form = tournamentForm(catalog, () => check());
    form.begin();
    const start = startCard({ kind: "tournament", title: "New tournament", ask: page.ask, fields: form.fields, asked: form.asked, draw: () => {}, onstart: look });
    check = () => start.card.open && start.check();
    byId("start").append(start.card);
  }
  byId("start").append(page.command.card);
  await look();
}

boot().catch((error) => notify(error.message, "error"));
