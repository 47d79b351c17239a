// The evaluation bar, the values of moves, the principal line.

import { arrange, byId, h, setText, signed } from "./dom.js";
import { bottomSeat } from "./table.js";
import { change } from "./settings.js";

const LISTED = 8;
const FILLS = { light: "#fffbf2", dark: "#2a2522", red: "#b93535", yellow: "#f4c03f", cross: "var(--cross)", ring: "var(--ring)" };

export function initAnalysis(app) {
  const box = byId("analysis");
  const analyst = byId("analyst");
  const shown = byId("shown");
  let listed = "";
  let rows = new Map(); // of the moves, by what they are: a search goes on while one clicks on them
  box.checked = app.settings.analysis;
  shown.value = app.settings.shown;

  async function ask() {
    const wanted = box.checked;
    const answer = await app.send("analysis", { on: wanted, spec: (wanted && analyst.value) || null });
    app.analyses = Boolean(answer) && wanted;
    app.refresh();
  }

  /** If the switch is on, asks a new session for its evaluation too. A session in which two people play refuses. */
  app.resumeAnalysis = () => {
    listAnalysts();
    if (box.checked) {
      app.connection.send("analysis", { on: true, spec: analyst.value || null }).then(() => {
        app.analyses = true;
        app.refresh();
      }, () => {
        app.analyses = false;
        app.refresh();
      });
    }
  };
  box.addEventListener("change", () => {
    change({ analysis: box.checked });
    app.analysis = null;
    ask();
  });
  analyst.addEventListener("change", () => {
    app.analysis = null;
    change({ analyst: { ...app.settings.analyst, [app.state.game]: analyst.value } });
    ask();
  });
  shown.addEventListener("change", () => {
    change({ shown: shown.value });
    app.refresh();
  });
  byId("draw-curve").addEventListener("click", () => app.send("curve"));

  function listAnalysts() {
    if (listed !== app.game.id) {
      listed = app.game.id;
      const specs = new Set([app.game.analyst, ...app.game.players.filter(({ values }) => values).map(({ example }) => example)]);
      analyst.replaceChildren(...[...specs].filter(Boolean).map((spec) => h("option", { value: spec }, spec)));
      analyst.value = app.settings.analyst?.[app.game.id] ?? app.game.analyst;
      if (analyst.selectedIndex < 0) {
        analyst.value = app.game.analyst;
      }
    }
  }

  function showBar(value, most) {
    const bar = byId("evaluation");
    bar.hidden = !app.analyses;
    if (bar.hidden) {
      return;
    }
    const bottom = bottomSeat(app);
    const own = (value ?? 0) * (bottom ? -1 : 1);
    const part = Math.min(Math.max((own / most + 1) / 2, 0.02), 0.98);
    bar.style.setProperty("--bar-bottom", FILLS[app.kind.tones[bottom]]);
    bar.style.setProperty("--bar-top", FILLS[app.kind.tones[1 - bottom]]);
    bar.style.setProperty("--part", `${100 * part}%`);
    const text = byId("evaluation-text");
    setText(text, value === null ? "" : Math.abs(value).toFixed(1));
    text.classList.toggle("above", own < 0);
    bar.setAttribute("aria-valuemin", -most);
    bar.setAttribute("aria-valuemax", most);
    bar.setAttribute("aria-valuenow", value ?? 0);
    bar.setAttribute("aria-valuetext", value === null ? "unknown" : `${signed(value)} for ${app.sideName(0)}`);
  }

  function showVariants(analysis) {
    const table = byId("variants");
    const moves = analysis?.moves.filter(({ value, visits }) => (value ?? visits ?? null) !== null).slice(0, LISTED) ?? [];
    table.hidden = moves.length === 0;
    const mine = app.state.you.seats.includes(app.state.to_move) && !app.look;
    const play = (move) => app.send("turn", { text: move.text });
    const visited = moves.some(({ visits }) => (visits ?? null) !== null);
    table.querySelector("th:last-child").hidden = !visited;
    const before = rows;
    rows = new Map(moves.map((move) => {
      const key = JSON.stringify([analysis.of, move.actions, mine]);
      const row = before.get(key) ?? h("tr", {},
        h("td", {}, mine ? h("button", { type: "button", class: "link", title: "Play it", onclick: () => play(move) }, move.text) : move.text), h("td"), h("td"));
      row.className = move.best ? "best" : "";
      setText(row.cells[1], (move.value ?? null) === null ? "" : signed(move.value, 3));
      setText(row.cells[2], String(move.visits ?? ""));
      row.cells[2].hidden = !visited;
      return [key, row];
    }));
    arrange(table.tBodies[0], [...rows.values()]);
  }

  return () => {
    listAnalysts();
    const { state, look } = app;
    const analysis = app.currentAnalysis;
    const value = look ? look.value ?? null : analysis?.value ?? null;
    showBar(value, analysis?.most ?? app.game.most_points ?? 1);
    const current = look ? null : analysis;
    showVariants(current);
    const how = current ? [current.spec, current.depth, current.simulations ? `${current.simulations.toLocaleString("en")} simulations` : null].filter(Boolean).join(", ") : "";
    const words = !app.analyses ? "" : current ? `${value === null ? "" : `${signed(value)} for ${app.sideName(0)} · `}${how}${current.final ? "" : " …"}` : look ? "" : state.over ? "" : "Evaluating …";
    setText(byId("analysis-note"), words);
    setText(byId("line"), current?.line?.length ? `Line: ${current.line.join(" · ")}` : "");
  };
}
