// What the drawings of all games share. A drawing is made of plain nodes {tag, attributes, children}, so that the boards
// are pure functions; `element` makes SVG of a node. Colours are classes: style.css has light and dark.

const NAMESPACE = "http://www.w3.org/2000/svg";

/** A node of a drawing. */
export function node(tag, attributes = {}, ...children) {
  return { tag, attributes, children: children.flat() };
}

/** The SVG element of a node. */
export function element({ tag, attributes, children }) {
  const made = document.createElementNS(NAMESPACE, tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== null && value !== false) {
      made.setAttribute(name, typeof value === "number" ? String(Math.round(value * 100) / 100) : value);
    }
  }
  for (const child of children) {
    made.append(typeof child === "string" ? child : element(child));
  }
  return made;
}

/** A rectangle. */
export function rect(x, y, width, height, name, more = {}) {
  return node("rect", { x, y, width, height, class: name, ...more });
}

/** A circle. */
export function circle(cx, cy, r, name, more = {}) {
  return node("circle", { cx, cy, r, class: name, ...more });
}

/** A text whose middle is at (x, y). */
export function label(x, y, text, size, name, more = {}) {
  return node("text", { x, y: y + 0.36 * size, "font-size": size, class: name, "text-anchor": "middle", ...more }, text);
}

/** A group with a class. */
export function group(name, ...children) {
  return node("g", { class: name }, ...children);
}

/** Long thin lines like the grain of wood, inside a box. They always lie in the same places. */
export function grain(x, y, width, height, count, name = "grain") {
  const lines = [];
  for (let line = 0; line < count; line += 1) {
    const at = y + ((line + 0.5) * height) / count;
    const swing = Math.min(0.4 * (height / count), 7) * (((line * 7) % 5) / 2 - 1);
    const [a, b, c] = [0.3, 0.6, 1].map((part) => x + part * width);
    lines.push(`M${x} ${at} C${a} ${at + swing} ${b} ${at - swing} ${c} ${at + swing / 2}`);
  }
  return node("path", { d: lines.join(""), class: name });
}

/** A round piece seen from above, around (0, 0): a shadow, a body with a bevel, rings turned into the wood. */
export function checker(tone, radius, ...marks) {
  return group(
    `disc ${tone}`,
    node("ellipse", { cx: 0, cy: 0.1 * radius, rx: radius, ry: radius, class: "shadow" }),
    circle(0, 0, radius - 0.75, "body"),
    circle(0, 0, radius * 0.8, "bevel"),
    circle(0, 0, radius * 0.55, "groove"),
    ...marks,
  );
}

/** The definitions that fills refer to: gradients whose colours style.css gives. */
export function definitions() {
  const stops = (name) => [
    node("stop", { offset: "0", class: `${name}-a` }),
    node("stop", { offset: "1", class: `${name}-b` }),
  ];
  const radial = (id) => node("radialGradient", { id, cx: 0.36, cy: 0.3, r: 0.85 }, stops(id));
  const linear = (id) => node("linearGradient", { id, x1: 0, y1: 0, x2: 0.25, y2: 1 }, stops(id));
  return node(
    "defs",
    {},
    ["tone-light", "tone-dark", "tone-yellow", "tone-red"].map(radial),
    ["wood", "panel", "field", "paper"].map(linear),
  );
}

/** `count` with its noun: "1 checker", "3 checkers". */
export function counted(count, noun) {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
