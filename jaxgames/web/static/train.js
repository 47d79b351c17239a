// The page of the trainings: each run's curves and measures, read anew while it is under way.

import { counted } from "./boards/draw.js";
import { chart, compact } from "./chart.js";
import { byId, h, notify, setText } from "./dom.js";
import { drawIcons } from "./icons.js";
import { apply, themeButton } from "./settings.js";

const AGAIN = 3000; // milliseconds between two readings of a run that is under way
const SELDOM = 15000;
const CLOCKS = new Set(["step", "seconds", "time"]);

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

async function read(path) {
  const answer = await fetch(path);
  const content = await answer.json();
  if (!answer.ok) {
    throw new Error(content.error);
  }
  return content;
}

/** The card of a run. `show(run)` fills it. */
function runCard(name) {
  const state = h("span", { class: "pill" });
  const about = h("p", { class: "soft" });
  const play = h("a", { class: "button", hidden: true }, "Play the newest checkpoint");
  const best = h("a", { class: "quiet-link", hidden: true }, "Play the best");
  const measures = h("div", { class: "measures" });
  const facts = h("p", { class: "soft" });
  const card = h("article", { class: "card", "aria-labelledby": `run-${name}` },
    h("div", { class: "run-head" }, h("div", { class: "grow" }, h("h2", { id: `run-${name}` }, name, " ", state), about), best, play), facts, measures);

  function show(run) {
    setText(state, run.error ? "not readable" : run.under_way ? "under way" : "at rest");
    state.className = `pill${run.under_way ? " live" : ""}`;
    const written = run.updated === null || run.updated === undefined ? "" : ` · written ${ago(run.updated)}`;
    setText(about, run.error ?? `${run.recipe ?? ""} · ${run.game}${written}`);
    const listed = (entries) => Object.entries(entries ?? {}).map(([key, value]) => `${key} ${typeof value === "number" ? number(value) : value}`).join(", ");
    const parts = [run.last && `Now: ${listed(run.last)}`, run.best && `Best: ${listed(run.best)}`, run.checkpoints?.length && counted(run.checkpoints.length, "checkpoint")];
    setText(facts, parts.filter(Boolean).join(" · "));
    for (const [link, spec] of [[play, run.newest], [best, run.best && run.player]]) {
      link.hidden = !spec;
      link.href = `/#${new URLSearchParams({ game: run.game ?? "", against: spec ?? "" })}`;
    }
    const rows = run.metrics ?? [];
    const across = run.x ?? "step";
    const shown = (run.measures ?? []).filter((measure) => measure !== across && !CLOCKS.has(measure) && rows.some((row) => Number.isFinite(row[measure])));
    measures.replaceChildren(...shown.map((measure) => {
      const points = rows.map((row) => ({ x: row[across] ?? row.step, y: row[measure] ?? null }));
      const newest = points.findLast(({ y }) => y !== null).y;
      return h("section", { class: "measure" }, h("h3", {}, h("span", {}, measure), h("span", {}, number(newest))),
        chart(points, { width: 340, height: 130, area: false, title: `${measure} by ${across}, now ${number(newest)}`, format: number }));
    }));
  }
  return { card, show };
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

async function boot() {
  apply();
  drawIcons(document);
  themeButton(byId("theme"));
  const { runs } = await read("/api/runs");
  byId("none").hidden = runs.length > 0;
  for (const { name } of runs) {
    const { card, show } = runCard(name);
    byId("runs").append(card);
    follow(name, show);
  }
}

boot().catch((error) => notify(error.message, "error"));
