// English draughts: {squares: [0 free, 1 black man, 2 black king, -1 white man, -2 white king] * 32, jumper: the square of
// a piece that must jump on, or 0, quiet: moves since the last capture}.
// Places are the squares of PDN, 1 to 32, from the side of Black, who begins and is side 0. White sits at the bottom.

import { checker, circle, grain, label, node, rect } from "./draw.js";

const CELL = 60;
const RADIUS = 24;
const FRAME = 26;
const SIDE = 8 * CELL + 2 * FRAME;
const SIDES = ["black", "white"];
const CROWN = "M-12 8.5L-14.5 -6.5L-6.5 -0.5L0 -11L6.5 -0.5L14.5 -6.5L12 8.5Z";

const sideOf = (piece) => (piece < 0 ? 1 : 0);
const kindOf = (piece) => (Math.abs(piece) === 2 ? "king" : "man");

/** Row from the top and column from the left of a square, 1 to 32. */
export function cell(square, flipped) {
  const row = Math.floor((square - 1) / 4);
  const column = 2 * ((square - 1) % 4) + ((row + 1) % 2);
  return flipped ? [7 - row, 7 - column] : [row, column];
}

function centre(square, flipped) {
  const [row, column] = cell(square, flipped);
  return [FRAME + (column + 0.5) * CELL, FRAME + (row + 0.5) * CELL];
}

export const checkers = {
  sides: SIDES,
  radius: RADIUS,
  tones: ["dark", "light"],
  bottom: 1,

  size: () => [SIDE, SIDE],

  ground(board, flipped) {
    const squares = [];
    const numbers = [];
    for (let square = 1; square <= 32; square += 1) {
      const [x, y] = centre(square, flipped);
      squares.push(rect(x - CELL / 2, y - CELL / 2, CELL, CELL, "square"));
      numbers.push(label(x - CELL / 2 + 9, y - CELL / 2 + 9, String(square), 10.5, "square-number"));
    }
    return [
      rect(0, 0, SIDE, SIDE, "frame", { rx: 12 }),
      grain(6, 4, SIDE - 12, SIDE - 8, 26),
      rect(FRAME - 3, FRAME - 3, 8 * CELL + 6, 8 * CELL + 6, "inlay", { rx: 3 }),
      rect(FRAME, FRAME, 8 * CELL, 8 * CELL, "field-light"),
      ...squares,
      grain(FRAME, FRAME, 8 * CELL, 8 * CELL, 34, "square-grain"),
      ...numbers,
    ];
  },

  places(board, flipped) {
    return board.squares.map((piece, index) => {
      const [x, y] = centre(index + 1, flipped);
      const what = piece ? `${SIDES[sideOf(piece)]} ${kindOf(piece)}` : "empty";
      return {
        id: index + 1,
        x: x - CELL / 2,
        y: y - CELL / 2,
        width: CELL,
        height: CELL,
        label: `square ${index + 1}, ${what}${board.jumper === index + 1 ? ", must jump on" : ""}`,
      };
    });
  },

  pieces(board, flipped) {
    return board.squares.flatMap((piece, index) => {
      const [x, y] = centre(index + 1, flipped);
      return piece ? [{ place: index + 1, side: sideOf(piece), kind: kindOf(piece), x, y }] : [];
    });
  },

  piece(side, kind) {
    const crown = node("path", { d: CROWN, class: "crown" });
    return checker(["dark", "light"][side], RADIUS, ...(kind === "king" ? [crown] : []));
  },

  extras(board, flipped) {
    return board.jumper ? [circle(...centre(board.jumper, flipped), RADIUS + 3, "must")] : [];
  },

  anchor: (board, place, flipped) => centre(place, flipped),

  moved(board, { from, to }) {
    const squares = board.squares.with(to - 1, board.squares[from - 1]).with(from - 1, 0);
    const [[row, column], [toRow, toColumn]] = [cell(from), cell(to)];
    const middle = squares.findIndex((_, index) => {
      const [r, c] = cell(index + 1);
      return 2 * r === row + toRow && 2 * c === column + toColumn;
    });
    return { ...board, jumper: 0, squares: middle < 0 ? squares : squares.with(middle, 0) };
  },

  brushes: [1, 2, -1, -2].map((value) => ({ name: `${SIDES[sideOf(value)]} ${kindOf(value)}`, value })),

  paint(board, square, value) {
    return { ...board, jumper: 0, squares: board.squares.with(square - 1, board.squares[square - 1] === value ? 0 : value) };
  },

  empty: (board) => ({ ...board, jumper: 0, quiet: 0, squares: board.squares.map(() => 0) }),

  dot: (board, place, flipped) => circle(...centre(place, flipped), 9, "dot"),
};
