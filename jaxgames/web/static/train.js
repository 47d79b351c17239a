// The page of the trainings: each run's curves and measures, read anew while it is under way.

import { counted } from "./boards/draw.js";
import { chart, compact } from "./chart.js";
import { commandForm } from "./command_form.js";
import { asker, commandCard, read, startCard, watching } from "./commands.js";
import { byId, h, notify, setText } from "./dom.js";
import { drawIcons } from "./icons.js";
import { apply, themeButton } from "./settings.js";

const AGAIN = 3000; // milliseconds between two readings of a run that is under way
const SELDOM = 15000;
const CLOCKS = new Set(["step", "seconds", "time", "progress"]);
const FORM = {
  titles: { recipe: "Recipe", game: "Game", setting: "Setting", minutes: "Minutes", games: "Games", seed: "Seed", measured_games: "Games of a measurement", final_games: "Games at the end" },
  deciding: ["recipe", "game"],
  dependent: ["setting"],
  settingsTitle: "Numbers of the setting",
};
const MOST = 3; // measures that are shown at once
const page = { may: false, ask: null, cards: new Map() };

/** A measure as a short text. */
function number(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) {
    return "–";
  }
  return Math.abs(value) >= 1000 || Number.isInteger(value) ? compact(value) : value.toPrecision(3);
}

function ago(seconds) {
  const units = [[86400, "day"], [3600, "hour"], [60, "minute"], [1, "second"]];
  const [length, name] = units.find(([least]) => seconds >= least) ?? [1, "second"];
  const count = Math.max(Math.round(seconds / length), 0);
  return `${count} ${name}${count === 1 ? "" : "s"} ago`;
}

/** The card of a run. `show(run)` fills it. */
function runCard(name) {
  const state = h("span", { class: "pill" });
  const about = h("p", { class: "soft" });
  const play = h("a", { class: "button", hidden: true }, "Play the newest checkpoint");
  const best = h("a", { class: "quiet-link", hidden: true }, "Play the best");
  const on = h("button", { type: "button", hidden: true, onclick: () => page.ask("resume", { what: "training", name }).then((answer) => answer && look()) }, "Go on");
  const done = h("progress", { max: 1, hidden: true, "aria-label": `Progress of ${name}` });
  const measures = h("div", { class: "measures" });
  const rest = h("div", { class: "measures" });
  const more = h("details", { hidden: true }, h("summary", { class: "soft" }, "More measures"), rest);
  const facts = h("p", { class: "soft" });
  const card = h("article", { class: "card", "aria-labelledby": `run-${name}` },
    h("div", { class: "run-head" }, h("div", { class: "grow" }, h("h2", { id: `run-${name}` }, name, " ", state), about), on, best, play), done, facts, measures, more);

  function show(run) {
    setText(state, run.error ? "not readable" : run.under_way ? "under way" : "not running");
    state.className = `pill${run.under_way ? " live" : ""}`;
    const written = run.updated === null || run.updated === undefined ? "" : ` · written ${ago(run.updated)}`;
    const part = run.progress === null ? "" : ` · ${Math.floor(100 * run.progress)} % done`;
    setText(about, run.error ?? `${run.recipe ?? ""} · ${run.title ?? run.game}${part}${written}`);
    on.hidden = !(page.may && run.goes_on);
    done.hidden = run.progress === null || run.progress >= 1;
    done.value = run.progress ?? 0;
    const rows = run.metrics ?? [];
    const across = run.x ?? "step";
    const named = (measure) => run.titles[measure] ?? measure;
    const shown = (run.measures ?? []).filter((measure) => measure !== across && !CLOCKS.has(measure) && rows.some((row) => Number.isFinite(row[measure])));
    const listed = (entries, keys) => keys.filter((key) => entries[key] !== undefined)
      .map((key) => `${named(key)} ${typeof entries[key] === "number" ? number(entries[key]) : entries[key]}`).join(", ");
    const parts = [run.last && `Now: ${listed(run.last, [across, ...shown.slice(0, MOST)])}`, run.best && `Best: ${listed(run.best, Object.keys(run.best).filter((key) => key !== "progress" && !/_(low|high)$/.test(key)))}`, run.checkpoints?.length && counted(run.checkpoints.length, "checkpoint")];
    setText(facts, parts.filter(Boolean).join(" · "));
    for (const [link, spec] of [[play, run.newest], [best, run.best && run.player]]) {
      link.hidden = !spec;
      link.href = `/#${new URLSearchParams({ game: run.game ?? "", against: spec ?? "" })}`;
    }
    const drawn = shown.map((measure) => curve(rows, measure, across, named));
    measures.replaceChildren(...drawn.slice(0, MOST));
    rest.replaceChildren(...drawn.slice(MOST));
    more.hidden = drawn.length <= MOST;
  }
  return { card, show };
}

/** The curve of a measure, with the band of its interval where that was measured. */
function curve(rows, measure, across, named) {
  const points = rows.map((row) => ({ x: row[across] ?? row.step, y: row[measure] ?? null, low: row[`${measure}_low`], high: row[`${measure}_high`] }));
  const { y, low, high } = points.findLast((point) => point.y !== null);
  const between = Number.isFinite(low) && Number.isFinite(high) ? `, between ${number(low)} and ${number(high)}` : "";
  return h("section", { class: "measure" }, h("h3", {}, h("span", {}, named(measure)), h("span", {}, number(y))),
    chart(points, { width: 340, height: 130, area: false, title: `${named(measure)} by ${named(across)}, now ${number(y)}${between}`, format: number }));
}

async function follow(name, show) {
  try {
    const run = await read(`/api/runs/${encodeURIComponent(name)}`);
    show(run);
    setTimeout(() => follow(name, show), run.under_way ? AGAIN : SELDOM);
  } catch (error) {
    notify(error.message, "error");
    setTimeout(() => follow(name, show), SELDOM);
  }
}

/** Shows what is under way, and the trainings that are new. */
async function update() {
  const [{ may, last }, { runs }] = await Promise.all([read("/api/commands"), read("/api/runs")]);
  page.may = may;
  page.command.show(last?.kind === "training" ? last : null);
  byId("none").hidden = runs.length > 0;
  byId("none-here").hidden = runs.length > 0 || !may;
  for (const { name } of runs) {
    if (!page.cards.has(name)) {
      const { card, show } = runCard(name);
      page.cards.set(name, show);
      byId("runs").append(card);
      follow(name, show);
    }
  }
  const busy = ["running", "stopping"].includes(last?.status);
  if (page.status !== last?.status && page.status !== undefined) {
    for (const [name, show] of page.cards) {
      read(`/api/runs/${encodeURIComponent(name)}`).then(show);
    }
  }
  page.status = last?.status;
  return busy;
}

const look = watching(update);

async function boot() {
  apply();
  drawIcons(document);
  themeButton(byId("theme"));
  page.command = commandCard({ ask: (...words) => page.ask(...words), onchange: look });
  const { may } = await read("/api/commands");
  if (may) {
    page.ask = asker();
    const { fields, asked, draw } = commandForm(FORM);
    const { card } = startCard({ kind: "training", title: "New training", ask: page.ask, fields, asked: () => ({ ...asked(), players: [] }), draw, onstart: look });
    byId("start").append(card);
  }
  byId("start").append(page.command.card);
  await look();
}

boot().catch((error) => notify(error.message, "error"));
