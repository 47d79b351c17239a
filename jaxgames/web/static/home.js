// The start page: a picture of each game to choose from, with its champions, and links to the other pages.

import { BOARDS } from "./boards/index.js";
import { definitions, element, node } from "./boards/draw.js";
import { byId, h, signed } from "./dom.js";

const CHECKERS = [...Array(12).fill([1]), ...Array(8).fill([0]), ...Array(12).fill([-1])].flat().with(8, 0).with(10, 0).with(14, 1).with(15, 1).with(17, -1).with(21, 0).with(18, -1).with(22, 0);
const start = { 1: [0, 2], 6: [5, 0], 8: [3, 0], 12: [0, 5], 13: [5, 0], 17: [0, 3], 19: [0, 5], 24: [2, 0] };
const PICTURES = {
  marks: { cells: [1, 0, 2, 0, 1, 0, 0, 0, 2], line: [] },
  drop: { rows: 6, cols: 7, connect: 4, line: [], cells: ["0000000", "0000000", "0000000", "0002200", "0012100", "0111220"].map((row) => [...row].map(Number)) },
  draughts: { squares: CHECKERS, jumper: 0, quiet: 0 },
  backgammon: { points: Array.from({ length: 24 }, (_, index) => start[index + 1] ?? [0, 0]), bar: [0, 0], off: [0, 0], dice: [3, 1], left: [3, 1], pips: [167, 167], turn: 0 },
};

function picture(name) {
  const [kind, board] = [BOARDS[name], PICTURES[name]];
  const [width, height] = kind.size(board);
  const pieces = kind.pieces(board, false).map(({ x, y, side, kind: one }) => node("g", { transform: `translate(${x} ${y})` }, kind.piece(side, one)));
  return element(node("svg", { viewBox: `0 0 ${width} ${height}`, class: "board", "aria-hidden": "true" },
    definitions(), ...kind.ground(board, false), ...pieces, ...(kind.front?.(board, false) ?? []), ...kind.extras(board, false)));
}

/** How strong a level is, in words: its score against the strongest player that it has met. */
function strength({ level, opponent, ppg, low, high }, points) {
  const margin = (high - low) / 2;
  const score = points > 1 ? `${signed(ppg)} ± ${margin.toFixed(2)} points a game` : `scores ${(50 * (1 + ppg)).toFixed(0)} ± ${(50 * margin).toFixed(1)} %`;
  return h("li", {}, h("b", {}, level), ` ${score} against ${opponent}`);
}

function gameCard({ id, title, board, most_points: points, strengths }) {
  return h("li", {}, h("a", { class: "game-card card", href: `/#game=${id}`, "data-game": id },
    h("span", { class: "game-picture" }, picture(board)),
    h("span", { class: "game-about" }, h("h2", {}, title),
      strengths.length ? h("ul", { class: "levels" }, ...strengths.map((one) => strength(one, points))) : null)));
}

/** Shows the start page, unless the address leads to a game; returns once it does. */
export async function home(catalog) {
  const place = byId("home");
  if (location.hash.length < 2) {
    byId("home-games").replaceChildren(...catalog.games.map(gameCard));
    place.hidden = false;
    document.body.dataset.page = "home";
    await new Promise((resolve) => {
      addEventListener("hashchange", () => location.hash.length > 1 && resolve());
    });
    byId("home-games").replaceChildren();
  }
  place.hidden = true;
  document.body.dataset.page = "play";
}
