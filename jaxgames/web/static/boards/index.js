// The boards by kind. Each is an object of pure functions of a board, as docs/play/web-protocol.md describes it:
//   size, ground, front, extras   the drawing, as nodes of draw.js
//   places                        what can be focused and clicked: {id, x, y, width, height, label}
//   pieces, piece                 where the pieces are, and what one looks like around (0, 0)
//   anchor, dot                   where a piece on a place lies, and the sign of a legal target
//   moved                         the board after a move, shown until the server has answered
//   brushes, paint, empty         setting up by hand
//   radius                        of a piece
//   sides, tones, bottom          names and colours of both sides; the side that sits at the bottom, if any

import { backgammon } from "./backgammon.js";
import { checkers } from "./checkers.js";
import { connectFour } from "./connect_four.js";
import { element, node } from "./draw.js";
import { ticTacToe } from "./tic_tac_toe.js";

export const BOARDS = { marks: ticTacToe, drop: connectFour, draughts: checkers, backgammon };

/** A small picture of a side's piece. */
export function pieceIcon(board, side, kind) {
  const half = board.radius + 2;
  return element(node("svg", { viewBox: `${-half} ${-half} ${2 * half} ${2 * half}`, "aria-hidden": "true" }, board.piece(side, kind)));
}
