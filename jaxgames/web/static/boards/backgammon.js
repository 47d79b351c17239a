// Backgammon: {points: [[n0, n1]] * 24, bar: [n0, n1], off: [n0, n1], dice: the roll or null, left: dice still to play}, and
// turn, the side to act, before, what the other side rolled last, and numbering, the side by which points are numbered.
// Places are the points 1 to 24 in the numbering of side 0, which is white and sits at the bottom, then "bar" and "off",
// which are those of the player to act. Home boards and trays lie on the right.

import { checker, circle, counted, grain, group, label, node, rect } from "./draw.js";

const SHOWN = 5; // checkers drawn on a point; of more the last one bears their number
const POINT = 44;
const RADIUS = 20;
const PITCH = 40;
const BAR = 44;
const TRAY = 38;
const MARGIN = 8;
const STRIP = 24; // the strips with the numbers of the points
const MIDDLE = 64; // between the points: room for the dice
const HALF = 6 * POINT;
const WIDTH = MARGIN + HALF + BAR + HALF + MARGIN + TRAY + MARGIN;
const TOP = STRIP;
const BOTTOM = TOP + 2 * SHOWN * PITCH + MIDDLE;
const HEIGHT = BOTTOM + STRIP;
const CENTRE = (TOP + BOTTOM) / 2;
const BAR_X = MARGIN + HALF + BAR / 2;
const TRAY_X = WIDTH - MARGIN - TRAY;
const DIE = 36;
const SIDES = ["white", "black"];
const TONES = ["light", "dark"];

const PIPS = {
  1: [[0, 0]],
  2: [[-1, -1], [1, 1]],
  3: [[-1, -1], [0, 0], [1, 1]],
  4: [[-1, -1], [-1, 1], [1, -1], [1, 1]],
  5: [[-1, -1], [-1, 1], [0, 0], [1, -1], [1, 1]],
  6: [[-1, -1], [-1, 0], [-1, 1], [1, -1], [1, 0], [1, 1]],
};

/** Where a point lies: the middle of its base, and the direction in which its checkers are stacked. */
function point(number, flipped) {
  const upper = number > 12 !== flipped;
  const column = number > 12 ? number - 13 : 12 - number;
  const x = MARGIN + (column + 0.5) * POINT + (column >= 6 ? BAR : 0);
  return { x, base: upper ? TOP : BOTTOM, inward: upper ? 1 : -1 };
}

/** The outline of a point. */
function wedge(number, flipped) {
  const { x, base, inward } = point(number, flipped);
  return `M${x - POINT / 2 + 1.5} ${base}H${x + POINT / 2 - 1.5}L${x} ${base + inward * (SHOWN * PITCH - 6)}Z`;
}

const atTop = (side, flipped) => (side === 1) !== flipped;

/** Where checker number `level` of a place lies. */
function spot(place, side, level, flipped) {
  const shown = Math.min(level, SHOWN - 1);
  if (place === "bar") {
    const inward = atTop(side, flipped) ? -1 : 1;
    return [BAR_X, CENTRE + inward * (MIDDLE / 2 + RADIUS - 6 + Math.min(level, 4) * PITCH)];
  }
  if (place === "off") {
    const upper = atTop(side, flipped);
    const slab = (SHOWN * PITCH - 8) / 15;
    const edge = upper ? TOP + 4 : BOTTOM - 4;
    return [TRAY_X + TRAY / 2, edge + (upper ? 1 : -1) * (level + 0.5) * slab];
  }
  const { x, base, inward } = point(place, flipped);
  return [x, base + inward * (RADIUS + 1 + shown * PITCH)];
}

/** The number of a point as the player to act counts: side 1 counts from the other end. */
const numbered = (number, side) => (side === 1 ? 25 - number : number);

function die(value, x, y, name) {
  const pips = PIPS[value].map(([across, down]) => circle(x + 9 * across, y + 9 * down, 3.4, "pip"));
  return group(name, rect(x - DIE / 2, y - DIE / 2 + 2, DIE, DIE, "shadow", { rx: 8 }), rect(x - DIE / 2, y - DIE / 2, DIE, DIE, "face", { rx: 8 }), ...pips);
}

/** The middle of the half in which the dice of a side lie. */
const middleOf = (side, flipped) => MARGIN + HALF / 2 + (atTop(side, flipped) ? 0 : HALF + BAR);

/** The dice in the order in which they are shown, and which of them are played. A double has four. */
function diceShown(board) {
  const roll = board.dice ?? [];
  const all = roll.length === 2 && roll[0] === roll[1] ? [...roll, ...roll] : [...roll];
  if (board.exchanged) {
    all.reverse();
  }
  const left = [...(board.left ?? all)];
  return all.map((value) => {
    const at = left.indexOf(value);
    if (at >= 0) {
      left.splice(at, 1);
    }
    return { value, played: at < 0 };
  });
}

export const backgammon = {
  sides: SIDES,
  radius: RADIUS,
  tones: TONES,
  bottom: 0,

  size: () => [WIDTH, HEIGHT],

  ground(board, flipped) {
    const drawn = [
      rect(0, 0, WIDTH, HEIGHT, "frame", { rx: 12 }),
      grain(6, 4, WIDTH - 12, HEIGHT - 8, 24),
    ];
    for (const x of [MARGIN, MARGIN + HALF + BAR]) {
      drawn.push(rect(x - 2, TOP - 2, HALF + 4, BOTTOM - TOP + 4, "inlay", { rx: 3 }));
      drawn.push(rect(x, TOP, HALF, BOTTOM - TOP, "felt"));
    }
    drawn.push(rect(TRAY_X, TOP, TRAY, SHOWN * PITCH, "tray", { rx: 4 }));
    drawn.push(rect(TRAY_X, BOTTOM - SHOWN * PITCH, TRAY, SHOWN * PITCH, "tray", { rx: 4 }));
    drawn.push(node("path", { d: `M${BAR_X} ${TOP}V${BOTTOM}`, class: "hinge" }));
    for (let number = 1; number <= 24; number += 1) {
      const { x, base, inward } = point(number, flipped);
      drawn.push(node("path", { d: wedge(number, flipped), class: number % 2 ? "point-a" : "point-b" }));
      drawn.push(label(x, base - inward * (STRIP / 2 - 1), String(numbered(number, board.numbering)), 12.5, "frame-note"));
    }
    return drawn;
  },

  places(board, flipped) {
    const made = [];
    for (let number = 1; number <= 24; number += 1) {
      const { x, base, inward } = point(number, flipped);
      const [n0, n1] = board.points[number - 1];
      const what = n0 ? counted(n0, "white checker") : n1 ? counted(n1, "black checker") : "empty";
      const height = SHOWN * PITCH + 12;
      made.push({
        id: number,
        x: x - POINT / 2,
        y: inward > 0 ? base : base - height,
        width: POINT,
        height,
        label: `point ${numbered(number, board.numbering)}, ${what}`,
      });
    }
    const side = board.turn ?? 0;
    made.push({
      id: "bar", x: BAR_X - BAR / 2, y: TOP, width: BAR, height: BOTTOM - TOP,
      label: `bar, ${counted(board.bar[0], "white checker")}, ${counted(board.bar[1], "black checker")}`,
    });
    made.push({
      id: "off", x: TRAY_X - MARGIN, y: atTop(side, flipped) ? TOP : BOTTOM - SHOWN * PITCH, width: TRAY + 2 * MARGIN, height: SHOWN * PITCH,
      label: `borne off, ${board.off[0]} white, ${board.off[1]} black`,
    });
    return made;
  },

  pieces(board, flipped) {
    const made = [];
    const stack = (place, side, count) => {
      for (let level = 0; level < count; level += 1) {
        const [x, y] = spot(place, side, level, flipped);
        made.push({ place, side, level, kind: place === "off" ? "slab" : "checker", x, y });
      }
    };
    board.points.forEach(([n0, n1], index) => {
      stack(index + 1, 0, n0);
      stack(index + 1, 1, n1);
    });
    for (const side of [0, 1]) {
      stack("bar", side, board.bar[side]);
      stack("off", side, board.off[side]);
    }
    return made;
  },

  piece(side, kind) {
    if (kind === "slab") {
      const slab = (SHOWN * PITCH - 8) / 15;
      return group(`disc ${TONES[side]}`, rect(-TRAY / 2 + 5, -slab / 2 + 0.75, TRAY - 10, slab - 1.5, "body", { rx: 3 }));
    }
    return checker(TONES[side], RADIUS);
  },

  extras(board, flipped) {
    const drawn = [];
    const many = (place, side, count) => {
      if (count > SHOWN) {
        const [x, y] = spot(place, side, SHOWN - 1, flipped);
        drawn.push(label(x, y, String(count), 17, `count on-${TONES[side]}`));
      }
    };
    board.points.forEach(([n0, n1], index) => {
      many(index + 1, n1 ? 1 : 0, n0 || n1);
    });
    for (const side of [0, 1]) {
      many("bar", side, board.bar[side]);
      const y = atTop(side, flipped) ? TOP + SHOWN * PITCH + 14 : BOTTOM - SHOWN * PITCH - 14;
      if (board.off[side]) {
        drawn.push(label(TRAY_X + TRAY / 2, y, String(board.off[side]), 14, "frame-note strong"));
      }
    }
    const roll = (side, dice, sign) => dice.forEach(({ value, played }, index) => {
      const x = middleOf(side, flipped) + (index - (dice.length - 1) / 2) * (DIE + 12);
      drawn.push(die(value, x, CENTRE, `die ${TONES[side]}${sign}${played ? " played" : ""}`));
    });
    const side = board.turn ?? 0;
    roll(side, diceShown(board), "");
    roll(1 - side, diceShown({ dice: board.before }), " before");
    return drawn;
  },

  anchor(board, place, flipped) {
    const side = board.turn ?? 0;
    const count = typeof place === "number" ? board.points[place - 1][side] : board[place][side];
    return spot(place, side, Math.max(count - 1, 0), flipped);
  },

  // A bar at the outer end of a point.
  tint(board, place, flipped, name) {
    if (typeof place !== "number") {
      return [];
    }
    const { x, base, inward } = point(place, flipped);
    const drawn = rect(x - POINT / 2 + 2, inward > 0 ? base - 5 : base + 1, POINT - 4, 4, `${name} bar-mark`, { rx: 2 });
    return name === "tint-last" ? [drawn] : [drawn, node("path", { d: wedge(place, flipped), class: name })];
  },

  moved(board, { from, to }, side) {
    const after = { ...board, points: board.points.map((counts) => [...counts]), bar: [...board.bar], off: [...board.off] };
    const counts = (place) => (typeof place === "number" ? after.points[place - 1] : after[place]);
    counts(from)[side] -= 1;
    counts(to)[side] += 1;
    if (typeof to === "number" && counts(to)[1 - side]) {
      counts(to)[1 - side] = 0;
      after.bar[1 - side] += 1;
    }
    return after;
  },

  brushes: SIDES.map((name, side) => ({ name: `${name} checker`, value: side + 1 })),

  // Checkers are added up to 15; the eraser (0) takes one away. Those that are not on the board are borne off.
  paint(board, place, value) {
    if (place === "off") {
      return board;
    }
    const after = { ...board, points: board.points.map((counts) => [...counts]), bar: [...board.bar], off: [...board.off] };
    const counts = typeof place === "number" ? after.points[place - 1] : after.bar;
    const side = value ? value - 1 : counts[0] ? 0 : 1;
    if (value && after.off[side] && !(typeof place === "number" && counts[1 - side])) {
      counts[side] += 1;
      after.off[side] -= 1;
    } else if (!value && counts[side]) {
      counts[side] -= 1;
      after.off[side] += 1;
    }
    return after;
  },

  empty: (board) => ({ ...board, points: board.points.map(() => [0, 0]), bar: [0, 0], off: [15, 15], dice: null, left: [] }),

  /** The sign of a target: a light at the tip of its point. */
  dot(board, place, flipped) {
    const side = board.turn ?? 0;
    if (place === "off") {
      const y = atTop(side, flipped) ? TOP : BOTTOM - SHOWN * PITCH;
      return rect(TRAY_X + 1, y + 1, TRAY - 2, SHOWN * PITCH - 2, "goal", { rx: 4 });
    }
    const { x, base, inward } = point(place, flipped);
    const tip = base + inward * (SHOWN * PITCH - 6);
    return group(
      "target",
      node("path", { d: wedge(place, flipped), class: "goal" }),
      circle(x, tip + inward * 7, 6, "dot"),
    );
  },

  /** Whether (x, y) is on the dice, which a click exchanges. */
  onDice(board, flipped, x, y) {
    const middle = middleOf(board.turn ?? 0, flipped);
    return Math.abs(y - CENTRE) < DIE / 2 + 4 && Math.abs(x - middle) < 2 * DIE + 24;
  },
};
