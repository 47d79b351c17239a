// The page of the tournaments: people fill one in and start it, and its cross-table grows while it is played.

import { commandForm } from "./command_form.js";
import { asker, commandCard, read, startCard, watching } from "./commands.js";
import { arrange, byId, h, notify, setText, signed } from "./dom.js";
import { drawIcons } from "./icons.js";
import { playerPicker } from "./picker.js";
import { apply, themeButton } from "./settings.js";

const FIRST = ["champion:easy", "champion:normal", "random"];
const FORM = {
  titles: { game: "Game", kind: "Who meets whom", run: "Training", games: "Games of each pair", behind: "Points behind to drop out", most_games: "Most games of a pair", seed: "Seed" },
  deciding: ["game", "kind"],
  dependent: ["run", "games", "behind", "most_games"],
  settingsTitle: "Rules",
};
const page = { may: false, ask: null, drawn: new Map() };

/** The fields of a tournament and its players, and what is filled in. `changed` is called after a change that no field reports. */
function tournamentForm(catalog, changed) {
  const form = commandForm(FORM);
  const players = h("div", { class: "entrants" });
  const more = h("button", { type: "button", onclick: () => add("random") }, "One more player");
  const entrants = h("div", { class: "stack", hidden: true }, players, h("div", { class: "row" }, more));
  let [pickers, game, isKnockout] = [[], null, false];

  function add(spec) {
    const picker = playerPicker(game, "Player", { kind: "player", spec });
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

  /** Shows the form; another game has other players, and in a knock-out there are none to choose. */
  function draw(answer) {
    form.draw(answer);
    const { game: id, run } = form.asked().fields; // only a knock-out is of a run
    if (game?.id === id && isKnockout === Boolean(run)) {
      return;
    }
    [game, isKnockout, pickers] = [catalog.games.find((one) => one.id === id), Boolean(run), []];
    players.replaceChildren();
    entrants.hidden = isKnockout;
    const known = new Set(game.players.map(({ name }) => name));
    FIRST.filter((spec) => !entrants.hidden && known.has(spec.split(":")[0])).forEach(add);
    changed();
  }

  const asked = () => ({ ...form.asked(), players: pickers.map((picker) => picker.value().spec) });
  return { fields: [...form.fields, entrants], asked, draw };
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

/** The rounds of a knock-out, and who is left. */
function roundTable({ rounds, best }) {
  return h("div", {}, h("table", { class: "figures" },
    h("thead", {}, h("tr", {}, ...["Round", "Pairs that met", "Games"].map((title) => h("th", { scope: "col" }, title)))),
    h("tbody", {}, ...rounds.map(([met, games], at) => h("tr", {}, h("th", { scope: "row" }, String(at + 1)), h("td", {}, String(met)), h("td", {}, games.toLocaleString("en")))))),
  best ? h("p", {}, `Best: ${best}`) : null);
}

/** What is said of a tournament, a line of text and a table. */
function content({ name, title, rules, games, played, pairs, knockout, ...found }) {
  const chosen = rules.length ? ` (${rules.join(", ")})` : "";
  if (knockout) {
    const met = found.rounds.reduce((sum, [count]) => sum + count, 0);
    return [`${title}${chosen} · knock-out of ${knockout} · ${met} pairs met`, null, `Rounds of ${name}`, roundTable(found)];
  }
  const done = h("progress", { max: pairs, value: played, hidden: played === pairs, "aria-label": `Matches of ${name}` });
  return [`${title}${chosen} · ${games.toLocaleString("en")} games of each pair · ${played} of ${pairs} matches`, done, `Cross-table of ${name}`, crossTable(found)];
}

function card(found) {
  const { name, error, under_way: runs, goes_on: on } = found;
  const state = runs ? "under way" : on ? "stopped" : error ? "not readable" : "done";
  const resume = h("button", { type: "button", hidden: !(on && page.may), "aria-label": `Go on with ${name}`, onclick: async () => {
    if (await page.ask("resume", { what: "tournament", name })) {
      await look();
    }
  } }, "Go on");
  const [about, progress, label, table] = error ? [error, null] : content(found);
  return h("article", { class: "card", "aria-labelledby": `tournament-${name}` },
    h("div", { class: "run-head" }, h("div", { class: "grow" }, h("h2", { id: `tournament-${name}` }, name, " ", h("span", { class: `pill${runs ? " live" : ""}` }, state)), h("p", { class: "soft" }, about)), resume),
    progress,
    error ? null : h("div", { class: "wide-table", tabindex: "0", role: "region", "aria-label": label }, table));
}

/** Shows what is under way, and the tournaments that have changed. Returns whether one is under way. */
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
  arrange(byId("tournaments"), cards);
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
    const start = startCard({ kind: "tournament", title: "New tournament", ask: page.ask, ...form, onstart: look });
    check = () => start.card.open && start.check();
    byId("start").append(start.card);
  }
  byId("start").append(page.command.card);
  await look();
}

boot().catch((error) => notify(error.message, "error"));
