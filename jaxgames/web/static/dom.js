// Small helpers to build and find elements. No element gets a style attribute or a script: the page's policy forbids both.

/** An element with properties (`on...` are listeners, `class` and `aria-...` attributes) and children. */
export function h(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) {
      made.addEventListener(name.slice(2), value);
    } else if (value === true) {
      made.setAttribute(name, "");
    } else if (value !== false && value !== null && value !== undefined) {
      made.setAttribute(name, value);
    }
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
}

/** The element with an id; an id that is missing is a mistake in the page. */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) {
    throw new Error(`the page has no element #${id}`);
  }
  return found;
}

/** Sets the text of an element only where it changes, so that screen readers hear nothing twice. */
export function setText(element, text) {
  if (element.textContent !== text) {
    element.textContent = text;
  }
}

let box = null; // of the messages; an open dialog hides all that is not in it
let fading = 0;

/** Shows a short message for some seconds; it is also read aloud. */
export function notify(text, kind = "info") {
  box ??= byId("notice");
  const place = document.querySelector("dialog[open]") ?? document.body;
  if (box.parentNode !== place) {
    place.append(box);
    place.addEventListener("close", () => document.body.append(box), { once: true });
  }
  box.className = `notice ${kind}`;
  box.textContent = text;
  box.hidden = false;
  clearTimeout(fading);
  fading = setTimeout(() => {
    box.hidden = true;
  }, kind === "error" ? 7000 : 4000);
}

/** Shows these children of an element and no others. Those that stay are not moved, so they keep the focus, and a click can end. */
export function arrange(place, children) {
  const kept = new Set(children);
  [...place.children].filter((child) => !kept.has(child)).forEach((child) => child.remove());
  children.forEach((child, at) => {
    if (place.children[at] !== child) {
      place.insertBefore(child, place.children[at] ?? null);
    }
  });
}

/** Tells screen readers what has happened on the board. */
export function announce(text) {
  setText(byId("announcer"), text);
}

/** Gives the browser a text as a file. */
export function download(name, media, text) {
  const address = URL.createObjectURL(new Blob([text], { type: media }));
  h("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

/** A number as people write values: a true minus, a plus before gains. */
export function signed(value, digits = 2) {
  const text = Math.abs(value).toFixed(digits);
  return Number(text) === 0 ? text : `${value > 0 ? "+" : "−"}${text}`;
}
