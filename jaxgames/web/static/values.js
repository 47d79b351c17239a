// Values or visits of moves, as short texts on the board. A value is that of the best turn that contains a step.

import { signed } from "./dom.js";

const MOST = 12; // texts on a board at once

function short(move, shown) {
  const number = move[shown === "visits" ? "visits" : "value"];
  if (number === null || number === undefined) {
    return null;
  }
  return shown === "visits" ? compact(number) : signed(number, 2).replace(/^([+−]?)0\./, "$1.");
}

/** The steps of a turn that are left to play; none if another turn is under way. */
function remaining(move, played) {
  const steps = [...(move.steps?.length ? move.steps : [move])];
  for (const { from, to } of played) {
    const at = steps.findIndex((step) => step.from === from && step.to === to);
    if (at < 0) {
      return [];
    }
    steps.splice(at, 1);
  }
  return steps;
}

function compact(number) {
  return number >= 10000 ? `${Math.round(number / 1000)}k` : String(number);
}

/** The texts: {from, to, text, best}, `from` null where a piece comes from the hand. */
export function boardValues(app) {
  const { currentAnalysis: analysis, state, settings } = app;
  if (!analysis || settings.shown === "nothing") {
    return null;
  }
  const selected = app.view.selected;
  const found = new Map();
  for (const move of analysis.moves) {
    const steps = remaining(move, state.turn?.steps ?? []);
    const text = short(move, settings.shown);
    const several = app.game.board === "backgammon";
    const step = several && selected !== null ? steps.find(({ from }) => from === selected) : steps[0];
    if (text === null || !step) { // another line of play, or another checker
      continue;
    }
    const { from, to } = several && selected === null ? { from: step.from, to: null } : step;
    const key = `${from}>${to}`;
    if (!found.has(key) && found.size < MOST && (from !== null || to !== null)) {
      found.set(key, { from, to, text, best: found.size === 0 });
    }
  }
  return [...found.values()];
}
