// The form of a command, drawn from what the server says of its fields and settings: its declarations are those of `--help`.

import { h, setText } from "./dom.js";

/**
 * The fields, what is filled in, and how an answer of the server is shown.
 * `titles` are those of the fields, `deciding` the fields on which the later ones, `dependent` and the settings depend.
 */
export function commandForm({ titles, deciding, dependent, settingsTitle }) {
  const options = h("div", { class: "fields" });
  const notes = h("p", { class: "soft" });
  const settings = h("fieldset", { class: "fields plain" });
  const more = h("details", { hidden: true }, h("summary", {}, settingsTitle), settings);
  const inputs = { fields: new Map(), set: new Map() };
  const shown = {};
  let drawn = "";

  // Until the server has said which settings there are now, nothing is typed into those of before.
  options.addEventListener("input", ({ target }) => {
    settings.disabled = deciding.includes(target.dataset.name);
  });

  const texts = (found) => Object.fromEntries([...found].map(([name, { value }]) => [name, value.trim()]).filter(([, value]) => value));
  const asked = () => {
    const fields = texts(inputs.fields);
    const changed = deciding.findIndex((name) => fields[name] !== shown[name]);
    if (changed < 0) {
      return { fields, set: texts(inputs.set) };
    }
    // Another recipe, game or method has other settings: what is not of it is left out.
    for (const name of [...deciding.slice(changed + 1), ...dependent]) {
      delete fields[name];
    }
    return { fields, set: {} };
  };

  function draw({ fields, settings: found }) {
    settings.disabled = false;
    const structure = JSON.stringify([fields.map(({ name, choices, value }) => [name, choices, choices ? value : ""]), found.map(({ name, default: usual }) => [name, usual])]);
    const at = document.activeElement?.dataset?.name;
    if (structure !== drawn) {
      drawn = structure;
      inputs.fields = new Map(fields.map((one) => [one.name, control(one, titles[one.name])]));
      inputs.set = new Map(found.map((one) => [one.name, control({ ...one, choices: choicesOf(one) }, one.name, usual(one.default))]));
      options.replaceChildren(...[...inputs.fields].map(([name, input]) => labelled(titles[name], input)));
      settings.replaceChildren(...[...inputs.set].map(([name, input]) => labelled(words(name), input)));
      more.hidden = !found.length;
      if (at) {
        (inputs.fields.get(at) ?? inputs.set.get(at))?.focus();
      }
    }
    Object.assign(shown, Object.fromEntries(deciding.map((name) => [name, inputs.fields.get(name)?.value])));
    for (const { name, idle } of found) {
      const input = inputs.set.get(name);
      input.parentElement.hidden = idle && !input.value;
    }
    setText(notes, fields.map(({ note }) => note).filter(Boolean).join(" · "));
  }
  return { fields: [options, notes, more], asked, draw };
}

const choicesOf = ({ type, choices }) => choices ?? (type === "bool" ? ["true", "false"] : null);
const usual = (value) => (Array.isArray(value) ? value.join(",") : value === null ? "none" : String(value));

function control({ name, choices, value, help, expected }, title, placeholder = "usual") {
  const about = { "data-name": name, title: words(expected ? `${help}; ${expected}` : help) };
  if (!choices) {
    return h("input", { ...about, value: value ?? "", placeholder: words(placeholder), autocomplete: "off", spellcheck: "false" });
  }
  const first = expected === undefined ? [] : [h("option", { value: "" }, `${words(placeholder)} (usual)`)];
  const select = h("select", about, ...first, ...choices.map((choice) => h("option", { value: choice }, words(choice))));
  select.value = value ?? "";
  return select;
}

/** A name of the code as people write it. */
const words = (name) => String(name).replace(/_+$/, "").replaceAll("_", " ");
const labelled = (title, input) => h("label", { class: "stack", title: input.title }, title, input);
