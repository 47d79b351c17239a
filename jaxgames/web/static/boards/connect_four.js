// Connect Four of any size: {rows, cols, connect, cells: rows from the top, each a list of 0 free, 1 red, 2 yellow,
// line: [[row, column] of the stones that won]}.
// Places are columns, from 0 on the left.

import { circle, group, label, node, rect } from "./draw.js";

const CELL = 64;
const RADIUS = 26;
const FRAME = 14;
const HEAD = 20;
const FOOT = 24;
const SIDES = ["red", "yellow"];

/** What a column is called in moves, as it is below the board: 1 to 9, then a. */
const name = (column) => (column + 1).toString(36);

const columnX = (board, column, flipped) => FRAME + ((flipped ? board.cols - 1 - column : column) + 0.5) * CELL;
const rowY = (row) => HEAD + FRAME + (row + 0.5) * CELL;

/** The row where a stone comes to rest; -1 in a full column. */
export function landing(board, column) {
  let row = board.rows - 1;
  while (row >= 0 && board.cells[row][column]) {
    row -= 1;
  }
  return row;
}

function fill(board, row, column, value) {
  return row < 0 || row >= board.rows ? board : { ...board, cells: board.cells.with(row, board.cells[row].with(column, value)) };
}

export const connectFour = {
  sides: SIDES,
  radius: RADIUS + 2,
  name,
  tones: SIDES,

  size: (board) => [board.cols * CELL + 2 * FRAME, board.rows * CELL + 2 * FRAME + HEAD + FOOT],

  ground(board, flipped) {
    const [width, height] = [board.cols * CELL + 2 * FRAME, board.rows * CELL + 2 * FRAME];
    const numbers = Array.from({ length: board.cols }, (_, column) =>
      label(columnX(board, column, flipped), HEAD + height + FOOT / 2 + 2, name(column), 15, "board-note"));
    return [rect(FRAME, HEAD + FRAME, width - 2 * FRAME, height - 2 * FRAME, "hollow", { rx: 10 }), ...numbers];
  },

  // The panel is in front of the stones: one path with a hole for each square.
  front(board) {
    const [width, height] = [board.cols * CELL + 2 * FRAME, board.rows * CELL + 2 * FRAME];
    const radius = 18;
    let outline = `M${radius} ${HEAD}H${width - radius}a${radius} ${radius} 0 0 1 ${radius} ${radius}`;
    outline += `V${HEAD + height - radius}a${radius} ${radius} 0 0 1 ${-radius} ${radius}H${radius}`;
    outline += `a${radius} ${radius} 0 0 1 ${-radius} ${-radius}V${HEAD + radius}a${radius} ${radius} 0 0 1 ${radius} ${-radius}Z`;
    const rims = [];
    for (let cell = 0; cell < board.rows * board.cols; cell += 1) {
      const [x, y] = [columnX(board, cell % board.cols, false), rowY(Math.floor(cell / board.cols))];
      outline += `M${x - RADIUS} ${y}a${RADIUS} ${RADIUS} 0 1 0 ${2 * RADIUS} 0a${RADIUS} ${RADIUS} 0 1 0 ${-2 * RADIUS} 0Z`;
      rims.push(circle(x, y, RADIUS + 1, "rim"));
    }
    return [node("path", { d: outline, class: "panel", "fill-rule": "evenodd" }), ...rims];
  },

  places(board, flipped) {
    return Array.from({ length: board.cols }, (_, column) => {
      const stones = [];
      for (let row = board.rows - 1; row >= 0; row -= 1) {
        const stone = board.cells[row][column];
        if (stone) {
          stones.push(SIDES[stone - 1]);
        }
      }
      return {
        id: column,
        x: columnX(board, column, flipped) - CELL / 2,
        y: 0,
        width: CELL,
        height: HEAD + 2 * FRAME + board.rows * CELL + FOOT,
        label: `column ${name(column)}, ${stones.length ? `from below ${stones.join(", ")}` : "empty"}${landing(board, column) < 0 ? ", full" : ""}`,
      };
    });
  },

  pieces(board, flipped) {
    return board.cells.flatMap((cells, row) => cells.flatMap((stone, place) => {
      const [x, y] = [columnX(board, place, flipped), rowY(row)];
      return stone ? [{ place, level: row, side: stone - 1, kind: "stone", x, y, fromY: HEAD - CELL }] : [];
    }));
  },

  piece(side) {
    // Colour is not all that tells them apart: red stones have a star, yellow ones a ring.
    const star = "M0 -13L3.6 -4.9L12.4 -4L5.8 1.9L7.6 10.5L0 6L-7.6 10.5L-5.8 1.9L-12.4 -4L-3.6 -4.9Z";
    const mark = side === 0 ? node("path", { d: star, class: "stone-mark" }) : circle(0, 0, 12, "stone-mark hollow-mark");
    return group(`disc ${SIDES[side]}`, circle(0, 0, RADIUS + 2, "body"), circle(0, 0, RADIUS * 0.82, "bevel"), mark);
  },

  extras(board, flipped) {
    return (board.line ?? []).map(([row, column]) => circle(columnX(board, column, flipped), rowY(row), RADIUS - 1, "winning-ring"));
  },

  anchor: (board, place, flipped) => [columnX(board, place, flipped), rowY(Math.max(landing(board, place), 0))],

  // Of a column only the highest stone is marked.
  tint(board, place, flipped, name) {
    const row = landing(board, place) + 1;
    return row < board.rows ? [circle(columnX(board, place, flipped), rowY(row), RADIUS - 1, `${name} halo`)] : [];
  },

  moved: (board, { to }, side) => fill(board, landing(board, to), to, side + 1),

  brushes: SIDES.map((name, side) => ({ name: `${name} stone`, value: side + 1 })),

  // With stones the lowest free square is filled; the eraser (0) takes the highest stone.
  paint(board, column, value) {
    const row = landing(board, column);
    return fill({ ...board, line: [] }, value ? row : row + 1, column, value);
  },

  empty: (board) => ({ ...board, line: [], cells: board.cells.map((row) => row.map(() => 0)) }),

  dot(board, place, flipped) {
    return circle(columnX(board, place, flipped), rowY(Math.max(landing(board, place), 0)), RADIUS - 3, "landing");
  },
};
