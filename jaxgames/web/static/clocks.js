// Clocks: the form to choose one, and the time that a seat has left. The server keeps the time; the page counts on from what it last said.

import { h } from "./dom.js";

const LOW = 10; // seconds
const KINDS = { none: "No clock", "sudden death": "Sudden death", increment: "Increment", delay: "Delay" };
const HELP = {
  none: "",
  "sudden death": "Whoever uses up the minutes loses.",
  increment: "After each turn its player gets these seconds.",
  delay: "The first seconds of each turn are free.",
};

/** A fieldset in which a clock is chosen; `value()` is the clock of the protocol. */
export function clockPicker(clock) {
  const kind = h("select", { "aria-label": "Clock", class: "kind" }, ...Object.entries(KINDS).map(([name, text]) => h("option", { value: name }, text)));
  const minutes = h("input", { type: "number", min: 0.01, max: 180, step: "any", value: clock ? Number((clock.seconds / 60).toFixed(3)) : 5, required: true });
  const bonus = h("input", { type: "number", min: 1, max: 300, step: "any", value: clock?.bonus || 5, required: true });
  const minutesField = h("label", { class: "stack" }, "Minutes for each side", minutes);
  const bonusField = h("label", { class: "stack" }, "Seconds a turn", bonus);
  const help = h("p", { class: "help" });
  const fieldset = h("fieldset", { class: "picker" }, h("legend", {}, "Clock"), kind, help, h("div", { class: "fields" }, minutesField, bonusField));
  function show() {
    help.textContent = HELP[kind.value];
    minutesField.hidden = minutes.disabled = kind.value === "none";
    bonusField.hidden = bonus.disabled = !["increment", "delay"].includes(kind.value);
  }
  kind.value = clock?.kind ?? "none";
  kind.addEventListener("change", show);
  show();
  return {
    fieldset,
    value: () => ({
      kind: kind.value,
      seconds: minutes.disabled ? null : Math.round(60 * Number(minutes.value)),
      bonus: bonus.disabled ? 0 : Number(bonus.value),
    }),
  };
}

/** The clock of an address, `300`, `300+3`, `300d3`; null where it says none. */
export function readClock(text) {
  const found = /^([0-9]{1,5})(?:([+d ])([0-9]{1,3}))?$/.exec(text ?? "");
  if (!found) {
    return null;
  }
  const kind = found[2] === "d" ? "delay" : found[2] ? "increment" : "sudden death";
  return { kind, seconds: Number(found[1]), bonus: Number(found[3] ?? 0) };
}

/** A clock in words. */
export function clockWords({ kind, seconds, bonus }) {
  const words = `${seconds % 60 ? `${seconds} s` : `${seconds / 60} min`} for each side`;
  return bonus ? `${words}, ${bonus} s ${kind === "delay" ? "of each turn free" : "more each turn"}` : words;
}

/** The seconds that a seat has left, `passed` seconds after the server's last word. */
export function leftTo({ left, free, running }, seat, passed) {
  return Math.max(0, left[seat] - (running === seat ? Math.max(0, passed - free) : 0));
}

/** `4:05`, and tenths of the last seconds. */
export function timeText(seconds) {
  const tenths = Math.ceil(10 * seconds - 1e-6);
  if (tenths < 10 * LOW) {
    return (tenths / 10).toFixed(1);
  }
  const whole = Math.ceil(seconds - 1e-6);
  const minutes = Math.floor(whole / 60);
  const two = (number) => String(number).padStart(2, "0");
  return minutes < 60 ? `${minutes}:${two(whole % 60)}` : `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${two(whole % 60)}`;
}

export const isLow = (seconds) => seconds < LOW;
