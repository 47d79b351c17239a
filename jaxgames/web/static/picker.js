// A form to choose a player: a person, or a program with its numbers.

import { h } from "./dom.js";

const PERSON = "person";
const TITLES = { N: "Number", RUN: "Guided by", PLAYER: "Player", LEVEL: "Level", P: "Share of random moves" };

/** A fieldset for one seat. `value()` is the SEAT of the protocol. */
export function playerPicker(game, legend, seat) {
  const parsed = seat.kind === PERSON ? { name: PERSON, arguments: [], options: {} } : readSpec(game, seat.spec);
  const specs = game.players.filter(({ name }) => name !== PERSON);
  const choose = h("select", { "aria-label": legend, class: "who" },
    h("option", { value: PERSON }, "Person"),
    h("optgroup", { label: "Programs" }, ...specs.map(({ name, label }) => h("option", { value: name }, label))));
  const help = h("p", { class: "help" });
  const fields = h("div", { class: "fields" });
  const more = h("details", {}, h("summary", {}, "More numbers"), h("div", { class: "fields" }));
  const fieldset = h("fieldset", { class: "picker" }, h("legend", {}, legend), choose, help, fields, more);

  const entry = () => specs.find(({ name }) => name === choose.value);

  function draw(values, options) {
    const player = entry();
    help.textContent = player?.help ?? "Somebody at this page, or somebody who opens a link to it.";
    fields.replaceChildren(...(player?.arguments ?? []).map((argument, index) => argumentField(argument, values[index] ?? argument.default)));
    fields.hidden = !player?.arguments?.length;
    more.lastChild.replaceChildren(...(player?.options ?? []).map((option) => optionField(option, options[option.name])));
    more.hidden = !player?.options?.length;
    more.open = Object.keys(options).length > 0;
  }

  choose.value = parsed.name;
  if (choose.selectedIndex < 0) {
    choose.value = PERSON;
  }
  draw(parsed.arguments, parsed.options);
  choose.addEventListener("change", () => draw([], {}));

  function value() {
    const player = entry();
    if (!player) {
      return { kind: PERSON };
    }
    const given = [...fields.querySelectorAll("[data-argument]")].map(({ value }) => value.trim()).filter(Boolean);
    const options = [...more.querySelectorAll("[data-option]")].filter(({ value }) => value.trim()).map(({ dataset, value }) => `${dataset.option}=${value.trim()}`);
    return { kind: "player", spec: [[player.name, ...given].join(":"), ...options].join(",") };
  }

  if (seat.kind !== PERSON && value().spec !== seat.spec) { // one that the fields cannot say, such as champion@2
    specs.push({ name: seat.spec, help: "" });
    choose.append(h("option", { value: seat.spec }, seat.spec));
    choose.value = seat.spec;
    draw([], {});
  }
  return { fieldset, value };
}

function argumentField({ name, label, choices, default: usual, least, most, most_seconds: seconds }, value) {
  const shown = value ?? usual ?? choices?.[0] ?? "";
  const title = label ?? (seconds ? "Number, or time such as 2s" : TITLES[name]) ?? name.toLowerCase();
  if (choices) {
    const select = h("select", { "data-argument": name }, ...choices.map((choice) => h("option", { value: choice }, String(choice) || "best")));
    select.value = shown;
    return h("label", { class: "stack" }, title, select);
  }
  const number = least !== undefined && least !== null && !seconds;
  return h("label", { class: "stack" }, title, h("input", { "data-argument": name, value: shown, ...(number ? { type: "number", min: least, max: most, step: "any" } : {}) }));
}

function optionField({ name, label, help, choices, least, most }, value = "") {
  if (choices) {
    const select = h("select", { "data-option": name, title: help }, h("option", { value: "" }, "usual"), ...choices.map((choice) => h("option", { value: choice }, String(choice))));
    select.value = value;
    return h("label", { class: "stack", title: help }, label, select);
  }
  const number = least !== undefined && least !== null ? { type: "number", min: least, max: most, step: "any" } : {};
  return h("label", { class: "stack", title: help }, label, h("input", { "data-option": name, value, placeholder: "usual", ...number }));
}

/** The parts of a spec, as far as the page needs them to fill the form. */
export function readSpec(game, spec) {
  const [start, ...options] = spec.split(",");
  const whole = game.players.find(({ name }) => name === start);
  const [name, ...rest] = whole ? [start] : start.split(":");
  const count = game.players.find((player) => player.name === name)?.arguments?.length ?? rest.length;
  // The last argument may contain colons. Arguments that may be left out come first.
  const parts = rest.length > count ? [...rest.slice(0, count - 1), rest.slice(count - 1).join(":")] : rest;
  const values = [...Array(count - parts.length).fill(""), ...parts];
  return { name, arguments: values, options: Object.fromEntries(options.map((option) => option.split("="))) };
}
