// Our own icons, 24 x 24, drawn as lines.

import { element, node } from "./boards/draw.js";

const ICONS = {
  back: "M9 7L5 11L9 15M5 11H15a4 4 0 0 1 0 8H12",
  check: "M5 13L10 18L19 7",
  draw: "M7 9H17M7 15H17",
  edit: "M5 19L6 15L16 5L19 8L9 18Z",
  eye: "M3 12C6 7 9 5.5 12 5.5S18 7 21 12C18 17 15 18.5 12 18.5S6 17 3 12ZM12 9.2a2.8 2.8 0 1 0 0.01 0Z",
  first: "M7 6V18M18 6L10 12L18 18",
  flag: "M6 21V4M6 5H18L15.5 9L18 13H6",
  flip: "M8 4V20M8 4L4.5 7.5M8 4L11.5 7.5M16 20V4M16 20L12.5 16.5M16 20L19.5 16.5",
  help: "M9 9a3 3 0 1 1 4.5 2.6C12.4 12.3 12 12.9 12 14M12 17.6V17.7",
  hint: "M9 17.5H15M10 20.5H14M12 3.5a6 6 0 0 0 -3.5 10.9C9.3 15.1 9.4 15.6 9.4 16.2H14.6C14.6 15.6 14.7 15.1 15.5 14.4A6 6 0 0 0 12 3.5Z",
  last: "M17 6V18M6 6L14 12L6 18",
  link: "M10 14a4 4 0 0 0 5.7 0L19 10.7A4 4 0 0 0 13.3 5L11.8 6.5M14 10a4 4 0 0 0 -5.7 0L5 13.3A4 4 0 0 0 10.7 19L12.2 17.5",
  next: "M9 6L16 12L9 18",
  pause: "M8.5 6V18M15.5 6V18",
  play: "M8 5.5L18 12L8 18.5Z",
  plus: "M12 5V19M5 12H19",
  previous: "M15 6L8 12L15 18",
  redo: "M15 5L19 9L15 13M19 9H9.5a5 5 0 0 0 0 10H13",
  save: "M12 4V15M7.5 11L12 15.5L16.5 11M5 19.5H19",
  step: "M7 5.5L15 12L7 18.5ZM18 6V18",
  swap: "M4 8H19M15.5 4.5L19 8L15.5 11.5M20 16H5M8.5 12.5L5 16L8.5 19.5",
  theme: "M12 3.5a8.5 8.5 0 1 0 0.01 0ZM12 3.5V20.5M12 7.5H18.5M12 12H20.4M12 16.5H18.5",
  undo: "M9 5L5 9L9 13M5 9H14.5a5 5 0 0 1 0 10H11",
};

/** An icon; it is decoration, so the button beside it needs a text or a label of its own. */
export function icon(name) {
  return element(node("svg", { viewBox: "0 0 24 24", class: "icon", "aria-hidden": "true" }, node("path", { d: ICONS[name] })));
}

/** Puts an icon into every element with `data-icon`, before its text. */
export function drawIcons(root) {
  for (const place of root.querySelectorAll("[data-icon]")) {
    setIcon(place, place.dataset.icon);
  }
}

/** Exchanges the icon of a button. */
export function setIcon(place, name) {
  place.querySelector(".icon")?.remove();
  place.prepend(icon(name));
  place.dataset.icon = name;
}
