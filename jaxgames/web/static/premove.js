// Premoves: a person chooses a move while the other side is to move, and it is played as soon as it is legal. They exist
// only in games where a move is a single action. The page knows no rules: it offers what the geometry of the board allows.

import { cell } from "./boards/checkers.js";
import { landing } from "./boards/connect_four.js";
import { gameSoFar } from "./moves.js";

const planned = (from, to) => ({ actions: [], from, to, text: "" });
const owns = (piece, seat) => (seat === 0 ? piece > 0 : piece < 0);

function reaches(from, to, seat, king) {
  const [[row, column], [toRow, toColumn]] = [cell(from), cell(to)];
  const [down, across] = [toRow - row, Math.abs(toColumn - column)];
  return Math.abs(down) === across && across <= 2 && (king || Math.sign(down) === (seat === 0 ? 1 : -1));
}

const PLANS = {
  marks: ({ cells }) => cells.flatMap((mark, place) => (mark ? [] : [planned(null, place)])),
  drop: (board) => board.cells[0].flatMap((_, column) => (landing(board, column) < 0 ? [] : [planned(null, column)])),
  draughts: ({ squares }, seat) => squares.flatMap((piece, index) => (owns(piece, seat)
    ? squares.flatMap((other, place) => (index !== place && !owns(other, seat) && reaches(index + 1, place + 1, seat, Math.abs(piece) === 2) ? [planned(index + 1, place + 1)] : []))
    : [])),
};

/** The moves that may be chosen before one's turn; null where none may. */
export function plans(app) {
  const { state, mySeat } = app;
  const waits = mySeat !== null && state.to_move !== null && state.to_move !== mySeat && !state.paused;
  return waits && PLANS[app.game.board] ? PLANS[app.game.board](state.board, mySeat) : null;
}

/** Keeps a premove; the same one again takes it back. */
export function keepPremove(app, move) {
  const { state, mySeat: seat } = app;
  const same = move !== null && app.premove?.from === move.from && app.premove.to === move.to;
  app.premove = move === null || same ? null : { from: move.from, to: move.to, seat, ply: state.ply, of: gameSoFar(state) };
  app.refresh();
}

/** The premove as a legal move, once it is the seat's turn; it is then kept no longer. Undefined if it is not legal, null if there is none to play. */
export function takePremove(app) {
  const { premove, state, mySeat } = app;
  if (!premove) {
    return null;
  }
  if (state.over || premove.seat !== mySeat || premove.of !== gameSoFar(state, premove.ply)) {
    app.premove = null;
    return null;
  }
  if (state.to_move !== mySeat || app.pending || app.offline || app.look) {
    return null;
  }
  app.premove = null;
  return state.moves.find(({ from, to }) => from === premove.from && to === premove.to);
}
