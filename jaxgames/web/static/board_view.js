// A board that people play on: draws what a board module describes, moves the pieces, and turns clicks, drags and keys
// into moves. It knows no rules: which moves are legal comes from the server.

import { circle, definitions, element, group, label, node } from "./boards/draw.js";

const DRAG_FROM = 5; // pixels
const LAYERS = ["ground", "tint", "targets", "pieces", "front", "extras", "notes", "places"];
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

const still = () => document.documentElement.dataset.motion === "off" || matchMedia("(prefers-reduced-motion: reduce)").matches;

/**
 * A board in an element of the page. `onmove(move)` is called for a legal move, `onpaint(place, erase)` in set-up,
 * `onidle()` when somebody takes back what they chose.
 */
export class BoardView {
  constructor(container, { onmove, onpaint, ondice, onidle }) {
    Object.assign(this, { container, onmove, onpaint, ondice, onidle });
    this.svg = element(node("svg", { class: "board", role: "application", "aria-roledescription": "board" }));
    this.svg.append(element(definitions()));
    this.layers = {};
    for (const name of LAYERS) {
      this.layers[name] = element(group(`layer-${name}`));
      this.svg.append(this.layers[name]);
    }
    container.append(this.svg);
    this.pieces = [];
    this.selected = null;
    this.focused = null;
    this.drawn = "";
    this.drag = null;
    this.svg.addEventListener("pointerdown", (event) => this.press(event));
    this.svg.addEventListener("pointermove", (event) => this.pull(event));
    this.svg.addEventListener("pointerup", (event) => this.release(event));
    this.svg.addEventListener("pointercancel", (event) => event.pointerId === this.drag?.pointer && this.drop(null));
    this.svg.addEventListener("pointerleave", () => this.hover(null));
    this.svg.addEventListener("contextmenu", (event) => this.secondary(event));
    this.svg.addEventListener("keydown", (event) => this.key(event));
    this.svg.addEventListener("focusin", (event) => this.focus(event));
  }

  /** Shows a view: {kind, board, flipped, moves, plans (moves are premoves), premove, side, last, hint, values, painting, title}. */
  show(view) {
    const before = this.view;
    this.view = view;
    this.kind = view.kind;
    const canPlay = view.moves.some((move) => move.from === this.selected);
    if (view.painting || !canPlay) {
      this.selected = null;
    }
    const [width, height] = this.kind.size(view.board);
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.svg.setAttribute("aria-label", view.title);
    this.container.closest(".centre").style.setProperty("--ratio", String(width / height));
    this.container.dataset.kind = view.name;
    const ground = JSON.stringify([view.name, width, height, view.flipped, view.board.numbering]);
    const sameBoard = ground === this.drawn;
    if (!sameBoard) {
      this.fill("ground", this.kind.ground(view.board, view.flipped));
      this.fill("front", this.kind.front?.(view.board, view.flipped) ?? []);
      this.drawn = ground;
    }
    if (!before || before.name !== view.name || before.flipped !== view.flipped || before.kind.size(before.board).join() !== `${width},${height}`) {
      this.layers.pieces.replaceChildren();
      this.pieces = [];
    }
    this.placePieces(this.kind.pieces(view.board, view.flipped), view.last);
    this.fill("extras", this.kind.extras(view.board, view.flipped));
    this.showPlaces();
    this.mark();
  }

  fill(name, nodes) {
    this.layers[name].replaceChildren(...nodes.map(element));
  }

  // Pieces keep their element from view to view, so that they can be seen to move.

  placePieces(wanted, last) {
    const left = new Set(this.pieces);
    const take = (fits) => {
      for (const piece of left) {
        if (fits(piece)) {
          left.delete(piece);
          return piece;
        }
      }
      return null;
    };
    const matched = wanted.map((target) => take((piece) => piece.place === target.place && piece.side === target.side
      && (piece.level ?? 0) === (target.level ?? 0) && piece.kind === target.kind));
    const steps = last?.steps ?? [];
    const comesFrom = (target, piece) => steps.some(({ from, to }) => to === target.place && from === piece.place);
    const startsOf = new Set(steps.map((step) => step.from));
    const tries = [
      (target, piece) => piece.side === target.side && piece.place === target.place,
      (target, piece) => piece.side === target.side && comesFrom(target, piece),
      (target, piece) => piece.side === target.side && startsOf.has(piece.place),
      (target, piece) => piece.side === target.side && target.fromY === undefined && target.kind !== "mark",
    ];
    for (const fits of tries) {
      wanted.forEach((target, index) => {
        matched[index] ??= take((piece) => fits(target, piece));
      });
    }
    this.pieces = wanted.map((target, index) => this.settle(matched[index], target));
    for (const piece of left) {
      this.vanish(piece.element);
    }
  }

  /** Draws a piece at its place; `old` is the element that becomes it, or null for a new piece. */
  settle(old, target) {
    const made = old ?? { element: element(node("g", { class: "piece" })) };
    if (!old || old.kind !== target.kind || old.side !== target.side) {
      made.element.replaceChildren(element(this.kind.piece(target.side, target.kind)));
    }
    const [fromX, fromY] = old ? [old.x, old.y] : [target.x, target.fromY ?? target.y];
    const moves = fromX !== target.x || fromY !== target.y;
    if (moves || !old) {
      made.element.setAttribute("transform", `translate(${target.x} ${target.y})`);
      this.layers.pieces.append(made.element);
    }
    const first = !this.hasShown;
    if (!still() && !first && moves) {
      const falls = !old;
      const way = Math.hypot(target.x - fromX, target.y - fromY);
      made.element.animate(
        [{ transform: `translate(${fromX}px, ${fromY}px)` }, { transform: `translate(${target.x}px, ${target.y}px)` }],
        falls ? { duration: 90 + 18 * Math.sqrt(way), easing: "cubic-bezier(.5,0,.9,.6)" } : { duration: 190, easing: "cubic-bezier(.25,.6,.3,1)" },
      );
    } else if (!still() && !first && !old) {
      made.element.animate([{ opacity: 0 }, { opacity: 1 }], { duration: 160 });
    }
    return Object.assign(made, { fromY: undefined, level: undefined }, target);
  }

  vanish(gone) {
    if (still()) {
      gone.remove();
      return;
    }
    gone.animate([{ opacity: 1 }, { opacity: 0 }], { duration: 180 }).finished.then(() => gone.remove(), () => gone.remove());
  }

  // Places: what can be focused, clicked and read aloud.

  showPlaces() {
    this.hasShown = true;
    const { board, flipped } = this.view;
    const places = this.kind.places(board, flipped);
    const layer = this.layers.places;
    if (layer.childElementCount !== places.length) {
      layer.replaceChildren(...places.map(() => element(node("rect", { class: "place", role: "button", tabindex: -1 }))));
    }
    this.places = places;
    if (!places.some((place) => place.id === this.focused)) {
      this.focused = places[0].id;
    }
    places.forEach((place, index) => {
      const drawn = layer.children[index];
      for (const name of ["x", "y", "width", "height"]) {
        drawn.setAttribute(name, place[name]);
      }
      drawn.setAttribute("data-place", place.id);
      drawn.setAttribute("tabindex", place.id === this.focused ? 0 : -1);
    });
  }

  /** Where a piece can go from a place, or from the hand (null). */
  movesFrom(place) {
    return this.view.moves.filter((move) => move.from === place && move.to !== null);
  }

  isSource(place) {
    return this.view.moves.some((move) => move.from === place && move.to !== null);
  }

  targets() {
    return this.movesFrom(this.selected);
  }

  /** Marks the selection, targets, the last move, the hint and the values, and names the places anew. */
  mark() {
    const { board, flipped, last, hint, values } = this.view;
    const targets = this.targets();
    const placed = new Map(this.places.map((place) => [place.id, place]));
    const tint = (id, name) => {
      const place = placed.get(id);
      if (place && this.kind.tint) {
        return this.kind.tint(board, id, flipped, name);
      }
      return place ? [node("rect", { x: place.x, y: place.y, width: place.width, height: place.height, class: name })] : [];
    };
    const anchor = (place) => this.kind.anchor(board, place, flipped);
    const lastPlaces = new Set((last?.steps ?? []).flatMap((step) => [step.from, step.to]).filter((id) => id !== null));
    const tints = [...[...lastPlaces].flatMap((id) => tint(id, "tint-last")), ...(this.selected === null ? [] : tint(this.selected, "tint-selected"))];
    this.fill("tint", this.kind.front ? [] : tints);
    const dots = new Map(targets.map((move) => [move.to, move]));
    const shown = this.selected !== null ? [...dots.keys()].map((to) => this.kind.dot(board, to, flipped)) : [];
    if (this.selected === null && this.hovered !== undefined && this.view.moves.some((move) => move.from === null && move.to === this.hovered)) {
      shown.push(this.kind.dot(board, this.hovered, flipped));
    }
    this.fill("targets", shown);
    const sources = new Set(this.selected === null && !this.view.plans ? this.view.moves.map((move) => move.from).filter((from) => from !== null) : []);
    const notes = this.kind.front ? tints : []; // in front of what hides the rest
    notes.push(...[...sources].map((id) => circle(...anchor(id), 5, "movable")));
    const arrowOf = ({ from, to }) => arrow(from === null ? null : anchor(from), anchor(to));
    if (this.view.premove) {
      notes.push(group("premove", ...arrowOf(this.view.premove)));
    }
    for (const { from, to } of hint ?? []) {
      notes.push(...arrowOf({ from, to }));
    }
    for (const { from, to, text, best } of values?.() ?? []) {
      const [x, y] = from === null || to === null ? anchor(to ?? from) : middle(anchor(from), anchor(to), this.view.name);
      notes.push(group(`value${best ? " best" : ""}`, node("rect", { x: x - 5 - 4.4 * text.length, y: y - 11, width: 10 + 8.8 * text.length, height: 22, rx: 11 }), label(x, y, text, 13.5, "value-text")));
    }
    this.fill("notes", notes);
    [...this.layers.places.children].forEach((drawn, index) => {
      const place = this.places[index];
      const words = [place.label];
      const target = this.view.moves.some((move) => move.to === place.id && move.from === this.selected);
      if (place.id === this.selected) {
        words.push("picked up");
      } else if (this.isSource(place.id) && this.selected === null) {
        words.push(this.view.plans ? "ready for a premove" : "can move");
      }
      if (target && (this.selected !== null || this.view.moves[0].from === null)) {
        words.push(this.view.plans ? "premove target" : "legal target");
      }
      drawn.setAttribute("aria-label", words.join(", "));
      drawn.classList.toggle("live", target || this.isSource(place.id) || Boolean(this.view.painting));
    });
  }

  // Clicks, drags and keys.

  point(event) {
    const matrix = this.svg.getScreenCTM();
    const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.inverse());
    return [x, y];
  }

  placeAt([x, y]) {
    const inside = (place) => x >= place.x && x <= place.x + place.width && y >= place.y && y <= place.y + place.height;
    return this.places.find(inside)?.id ?? null;
  }

  press(event) {
    if (event.button !== 0 || !this.view || this.drag?.piece) { // a second finger drags nothing
      return;
    }
    const at = this.point(event);
    const place = this.placeAt(at);
    const dragged = !this.view.painting && place !== null && this.isSource(place) ? this.topPiece(place) : null;
    this.drag = { pointer: event.pointerId, place, start: [event.clientX, event.clientY], at, piece: dragged, moving: false, wasSelected: this.selected };
    if (dragged) {
      event.preventDefault();
      this.svg.setPointerCapture(event.pointerId);
      if (this.targets().every((move) => move.to !== place)) {
        this.select(place);
      }
    }
  }

  topPiece(place) {
    const here = this.pieces.filter((piece) => piece.place === place && piece.side === this.view.side);
    return here.at(-1) ?? null;
  }

  pull(event) {
    const at = this.point(event);
    this.hover(event.pointerType === "mouse" ? this.placeAt(at) : null);
    const drag = this.drag;
    if (!drag?.piece || event.pointerId !== drag.pointer) {
      return;
    }
    drag.moving ||= Math.hypot(event.clientX - drag.start[0], event.clientY - drag.start[1]) > DRAG_FROM;
    if (drag.moving) {
      this.select(drag.place);
      drag.at = at;
      drag.piece.element.classList.add("dragged");
      this.layers.pieces.append(drag.piece.element);
      drag.piece.element.setAttribute("transform", `translate(${at[0]} ${at[1]}) scale(1.08)`);
    }
  }

  release(event) {
    const drag = this.drag;
    if (drag?.pointer !== event.pointerId) {
      return;
    }
    if (drag.moving) {
      this.drop(this.placeAt(this.point(event)));
      return;
    }
    this.drag = null;
    if (this.view.painting) {
      if (drag.place !== null) {
        this.onpaint(drag.place, false);
      }
    } else if (this.kind.onDice?.(this.view.board, this.view.flipped, ...drag.at)) {
      this.ondice();
    } else {
      this.click(drag.place, drag.wasSelected);
    }
    if (drag.place !== null) {
      this.focusPlace(drag.place, false);
    }
  }

  /** Ends a drag over a place: plays the move there, or puts the piece back. */
  drop(place) {
    const drag = this.drag;
    this.drag = null;
    if (!drag?.piece) {
      return;
    }
    drag.piece.element.classList.remove("dragged");
    const move = place === null ? null : best(this.targets().filter((target) => target.to === place));
    const [x, y] = drag.at;
    drag.piece.element.setAttribute("transform", `translate(${drag.piece.x} ${drag.piece.y})`);
    if (move) {
      Object.assign(drag.piece, { x, y });
      this.play(move);
    } else if (drag.moving && !still()) {
      drag.piece.element.animate([{ transform: `translate(${x}px, ${y}px)` }, { transform: `translate(${drag.piece.x}px, ${drag.piece.y}px)` }], 150);
    }
  }

  hover(place) {
    if (this.hovered !== (place ?? undefined)) {
      this.hovered = place ?? undefined;
      if (this.view) {
        this.mark();
      }
    }
  }

  secondary(event) {
    if (this.view?.premove) {
      event.preventDefault();
      this.onidle();
    } else if (this.view?.painting) {
      event.preventDefault();
      const place = this.placeAt(this.point(event));
      if (place !== null) {
        this.onpaint(place, true);
      }
    }
  }

  /** Acts on a click on a place, or on Enter there. A second click on a piece moves it by the first die that it can use. */
  click(place, before = this.selected) {
    if (place === null) {
      this.select(null);
      this.onidle();
      return;
    }
    const move = best(this.view.moves.filter((option) => option.from === before && option.to === place));
    if (move && (before !== null || move.from === null)) {
      this.play(move);
      return;
    }
    if (!this.isSource(place)) {
      this.select(null);
      this.onidle();
      return;
    }
    const options = this.movesFrom(place);
    const single = options.filter((option) => option.actions.length === 1);
    if (this.view.quick && (options.length === 1 || (place === before && single.length))) {
      this.play(this.view.prefer(single.length ? single : options));
    } else {
      this.select(place === before ? null : place);
    }
  }

  select(place) {
    if (place !== this.selected) {
      this.selected = place;
      this.mark();
    }
  }

  /** Shows a move at once, before the server has answered, and hands it on. */
  play(move) {
    this.selected = null;
    const { view } = this;
    if (view.plans) { // the board stays as it is
      this.onmove(move);
      return;
    }
    const steps = [{ from: move.from, to: move.to }];
    this.show({ ...view, board: this.kind.moved(view.board, move, view.side), moves: [], last: { steps }, hint: null, values: null });
    this.onmove(move);
  }

  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) {
      return;
    }
    if (ARROWS[event.key]) {
      event.preventDefault();
      event.stopPropagation();
      this.focusPlace(neighbour(this.places, this.focused, ARROWS[event.key]), true);
    } else if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      event.stopPropagation();
      if (this.view.painting) {
        this.onpaint(this.focused, false);
      } else {
        this.click(this.focused);
      }
    } else if ((event.key === "Delete" || event.key === "Backspace") && this.view.painting) {
      event.preventDefault();
      this.onpaint(this.focused, true);
    } else if (event.key === "Escape" && this.selected !== null) {
      event.stopPropagation();
      this.select(null);
    }
  }

  focus(event) {
    const index = [...this.layers.places.children].indexOf(event.target);
    if (index >= 0) {
      this.focusPlace(this.places[index].id, false);
    }
  }

  focusPlace(place, really) {
    this.focused = place;
    [...this.layers.places.children].forEach((drawn, index) => {
      const here = this.places[index].id === place;
      drawn.setAttribute("tabindex", here ? 0 : -1);
      if (here && really) {
        drawn.focus();
      }
    });
  }
}

/** Of moves to the same place the one that uses fewest actions. */
function best(moves) {
  return moves.reduce((found, move) => (!found || move.actions.length < found.actions.length ? move : found), null);
}

/** The next place in a direction: the nearest of those that lie more that way than across. */
function neighbour(places, from, [dx, dy]) {
  const centre = (place) => [place.x + place.width / 2, place.y + place.height / 2];
  const here = places.find((place) => place.id === from);
  const [x, y] = centre(here);
  let found = from;
  let least = Infinity;
  for (const place of places) {
    const [px, py] = centre(place);
    const along = (px - x) * dx + (py - y) * dy;
    const across = Math.abs((px - x) * dy) + Math.abs((py - y) * dx);
    if (place !== here && along > 4 && along + 2.2 * across < least && across <= along * 2.2) {
      least = along + 2.2 * across;
      found = place.id;
    }
  }
  return found;
}

function middle([x1, y1], [x2, y2], name) {
  const part = name === "draughts" ? 0.62 : 1;
  return [x1 + part * (x2 - x1), y1 + part * (y2 - y1)];
}

/** An arrow from one point to another; a ring around a point where something comes from the hand. */
function arrow(from, [x2, y2]) {
  if (!from) {
    return [circle(x2, y2, 22, "hint-ring")];
  }
  const [x1, y1] = from;
  const length = Math.hypot(x2 - x1, y2 - y1) || 1;
  const [ux, uy] = [(x2 - x1) / length, (y2 - y1) / length];
  const [ex, ey] = [x2 - 13 * ux, y2 - 13 * uy];
  const head = `M${x2} ${y2}L${x2 - 20 * ux + 10 * uy} ${y2 - 20 * uy - 10 * ux}L${x2 - 20 * ux - 10 * uy} ${y2 - 20 * uy + 10 * ux}Z`;
  return [node("path", { d: `M${x1} ${y1}L${ex} ${ey}`, class: "hint-line" }), node("path", { d: head, class: "hint-head" })];
}
