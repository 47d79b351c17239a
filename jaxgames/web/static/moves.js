// The moves of the game, stepping through it, and the curve of its evaluation.

import { chart } from "./chart.js";
import { byId, h, notify, setText, signed } from "./dom.js";

/** A text that differs for any two positions of a session: the rules, the start, and all whole turns, or the first ones. */
export const gameSoFar = ({ session, game, options, start, history }, ply = history.length) =>
  JSON.stringify([session, game, options, start, history.slice(0, ply).map(({ text, dice }) => [text, dice])]);

export function initMoves(app) {
  let drawn = "";
  let drawnCurve = "";
  let wanted = null; // the turn to look at, until it is shown

  async function lookAt(ply) {
    const asks = wanted === null; // else the one before goes on to this turn when it is answered
    wanted = Math.min(Math.max(ply, 0), app.state.ply);
    while (asks && wanted !== null) {
      const { state } = app;
      const asked = wanted;
      const answer = asked < state.ply ? await app.send("look", { ply: asked }) : null;
      const fits = app.state && gameSoFar(app.state) === gameSoFar(state);
      if (fits && (answer || asked >= state.ply)) {
        app.look = answer;
        app.refresh();
      }
      if (!fits || !answer || asked === wanted) {
        wanted = null;
      }
    }
  }

  const ply = () => app.look?.ply ?? app.state.ply;
  app.lookAt = lookAt;
  app.turns = turns;
  app.stepBy = (turns) => lookAt((wanted ?? ply()) + turns);
  for (const [id, go] of Object.entries({ first: () => lookAt(0), previous: () => app.stepBy(-1), next: () => app.stepBy(1), last: () => lookAt(Infinity) })) {
    byId(id).addEventListener("click", go);
  }
  byId("from-here").addEventListener("click", async () => {
    if (await app.send("new", { from_ply: app.look.ply })) {
      notify("A new game from this position");
    }
  });

  function entry(turn, number) {
    const value = turn.value === null || turn.value === undefined ? null : `, ${signed(turn.value)} for ${app.sideName(0)}`;
    const dice = turn.dice ? h("span", { class: "dice" }, turn.dice.join("-")) : null;
    return h(
      "button",
      { type: "button", "data-ply": number, "aria-label": `${app.sideName(turn.seat)} ${turn.dice ? `${turn.dice.join("-")} ` : ""}${turn.text}${value ?? ""}`, onclick: () => lookAt(number) },
      dice,
      dice && " ",
      turn.text,
    );
  }

  /** All turns, with the roll of the first one: it stands in the position that the game began with. */
  function turns() {
    const { history, start } = app.state;
    const roll = app.game.board === "backgammon" ? /:([1-6]{2})/.exec(start)?.[1] : null;
    return history.map((turn, index) => (index || turn.dice || !roll ? turn : { ...turn, dice: [...roll].map(Number) }));
  }

  function showList() {
    const history = turns();
    const content = JSON.stringify(history.map(({ seat, text, dice }) => [seat, text, dice]));
    const list = byId("moves");
    if (content !== drawn) {
      drawn = content;
      const rows = [];
      history.forEach((turn, index) => {
        const row = rows.at(-1);
        const column = turn.seat;
        if (!row || row[1] || (column === 0) || row[column]) {
          rows.push(column ? [null, entry(turn, index + 1)] : [entry(turn, index + 1), null]);
        } else {
          row[1] = entry(turn, index + 1);
        }
      });
      list.replaceChildren(...rows.map(([first, second], index) =>
        h("li", {}, h("span", { class: "number" }, String(index + 1)), first ?? h("span"), second ?? h("span"))));
    }
    for (const button of list.querySelectorAll("button")) {
      const here = Number(button.dataset.ply) === ply();
      button.setAttribute("aria-current", String(here));
      if (here) {
        list.scrollTop = Math.max(0, button.offsetTop - list.offsetTop - list.clientHeight / 2);
      }
    }
    if (ply() === 0) {
      list.scrollTop = 0;
    }
  }

  function showCurve() {
    const { state, curve } = app;
    const values = [curve?.values[0] ?? null, ...state.history.map(({ value }, turn) => curve?.values[turn + 1] ?? value ?? null)];
    if (state.over && values.at(-1) !== null) { // a game that was given up ends elsewhere than its position
      values[values.length - 1] = state.over.points[0];
    }
    const box = byId("curve");
    const enough = values.filter((value) => value !== null).length > 1;
    box.hidden = !enough;
    const content = JSON.stringify([values, ply(), state.game]);
    if (enough && content !== drawnCurve) {
      drawnCurve = content;
      const most = Math.max(1, ...values.map((value) => Math.abs(value ?? 0)));
      const points = values.map((y, x) => ({ x, y }));
      const title = `Evaluation by turn, up is good for ${app.sideName(0)}. Now ${values[ply()] === null || values[ply()] === undefined ? "unknown" : signed(values[ply()])}`;
      box.replaceChildren(chart(points, { least: -most, most, now: ply(), onpick: lookAt, title, format: (value) => signed(value, 0) }));
    }
  }

  return () => {
    showList();
    showCurve();
    const { state } = app;
    byId("first").disabled = ply() === 0;
    byId("previous").disabled = ply() === 0;
    byId("next").disabled = ply() === state.ply;
    byId("last").disabled = ply() === state.ply;
    byId("from-here").hidden = !app.look || !(state.you.host || state.you.seats.length);
    setText(byId("moves-card").querySelector("summary"), `Moves${state.ply ? ` · ${app.look ? `${app.look.ply} of ` : ""}${state.ply}` : ""}`);
  };
}
