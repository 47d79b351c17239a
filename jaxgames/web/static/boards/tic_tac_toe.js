// Tic-tac-toe: {cells: [0 free, 1 X, 2 O] * 9, line: [cells of the line that won]}. Places are cells 0 to 8.

import { circle, grain, group, node, rect } from "./draw.js";

const CELL = 140;
const MARGIN = 30;
const SIDE = 3 * CELL + 2 * MARGIN;
const MARKS = ["X", "O"];

const shown = (cell, flipped) => (flipped ? 8 - cell : cell);

function centre(cell, flipped) {
  const at = shown(cell, flipped);
  return [MARGIN + ((at % 3) + 0.5) * CELL, MARGIN + (Math.floor(at / 3) + 0.5) * CELL];
}

export const ticTacToe = {
  sides: MARKS,
  radius: 50,
  tones: ["cross", "ring"],

  size: () => [SIDE, SIDE],

  ground() {
    const lines = [1, 2].flatMap((index) => {
      const at = MARGIN + index * CELL;
      const [from, to] = [MARGIN + 10, SIDE - MARGIN - 10];
      return [`M${at} ${from} C${at - 2} ${SIDE / 3} ${at + 3} ${SIDE / 1.6} ${at} ${to}`,
        `M${from} ${at} C${SIDE / 3} ${at + 3} ${SIDE / 1.6} ${at - 2} ${to} ${at}`];
    });
    return [
      rect(0, 0, SIDE, SIDE, "paper-sheet", { rx: 14 }),
      grain(14, 14, SIDE - 28, SIDE - 28, 14, "paper-grain"),
      node("path", { d: lines.join(""), class: "pencil" }),
    ];
  },

  places(board, flipped) {
    return board.cells.map((mark, cell) => {
      const [x, y] = centre(cell, flipped);
      return {
        id: cell,
        x: x - CELL / 2,
        y: y - CELL / 2,
        width: CELL,
        height: CELL,
        label: `row ${Math.floor(cell / 3) + 1}, column ${(cell % 3) + 1}, ${mark ? MARKS[mark - 1] : "empty"}`,
      };
    });
  },

  pieces(board, flipped) {
    return board.cells.flatMap((mark, cell) => {
      const [x, y] = centre(cell, flipped);
      return mark ? [{ place: cell, side: mark - 1, kind: "mark", x, y }] : [];
    });
  },

  piece(side) {
    return side === 0
      ? group("mark cross", node("path", { d: "M-38 -40 C-12 -14 14 12 38 40" }), node("path", { d: "M37 -38 C14 -16 -14 14 -39 38" }))
      : group("mark ring", node("path", { d: "M4 -42 C-30 -44 -44 -18 -42 4 C-40 30 -18 43 4 41 C30 39 43 18 41 -4 C39 -26 24 -40 4 -42Z" }));
  },

  extras(board, flipped) {
    if (!board.line?.length) {
      return [];
    }
    const [[x1, y1], [x2, y2]] = [board.line[0], board.line.at(-1)].map((cell) => centre(cell, flipped));
    const [dx, dy] = [Math.sign(x2 - x1) * 46, Math.sign(y2 - y1) * 46];
    return [node("path", { d: `M${x1 - dx} ${y1 - dy}L${x2 + dx} ${y2 + dy}`, class: "winning-line" })];
  },

  anchor: (board, place, flipped) => centre(place, flipped),

  tint(board, place, flipped, name) {
    const [x, y] = centre(place, flipped);
    return [rect(x - CELL / 2 + 12, y - CELL / 2 + 12, CELL - 24, CELL - 24, name, { rx: 18 })];
  },

  moved: (board, { to }, side) => ({ ...board, cells: board.cells.with(to, side + 1) }),

  brushes: MARKS.map((name, side) => ({ name, value: side + 1 })),

  paint: (board, cell, value) => ({ ...board, line: [], cells: board.cells.with(cell, board.cells[cell] === value ? 0 : value) }),

  empty: (board) => ({ ...board, line: [], cells: board.cells.map(() => 0) }),

  dot: (board, place, flipped) => circle(...centre(place, flipped), 12, "dot"),
};
