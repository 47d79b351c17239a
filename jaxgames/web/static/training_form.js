// The form of a training, drawn from what the server says of recipes and settings: its declarations are those of `--help`.

import { h, setText } from "./dom.js";

const TITLES = { recipe: "Recipe", game: "Game", setting: "Setting", minutes: "Minutes", games: "Games", seed: "Seed", measured_games: "Games of a measurement", final_games: "Games at the end" };

/** The fields, what is filled in, and how an answer of the server is shown. */
export function trainingForm() {
  const options = h("div", { class: "fields" });
  const notes = h("p", { class: "soft" });
  const settings = h("div", { class: "fields" });
  const more = h("details", {}, h("summary", {}, "Numbers of the setting"), settings);
  const inputs = { fields: new Map(), set: new Map() };
  let drawn = "";

  const texts = (found) => Object.fromEntries([...found].map(([name, { value }]) => [name, value.trim()]).filter(([, value]) => value));
  const asked = () => {
    const { recipe, setting, game, ...rest } = texts(inputs.fields);
    // Another recipe, game or method has other settings: what is not of it is left out.
    const same = drawn === "" || (recipe === shown.recipe && game === shown.game);
    return { fields: { ...rest, ...(recipe ? { recipe } : {}), ...(same && setting ? { setting } : {}), ...(recipe === shown.recipe && game ? { game } : {}) }, set: same ? texts(inputs.set) : {}, players: [] };
  };
  const shown = {};

  function draw({ fields, settings: found }) {
    const structure = JSON.stringify([fields.map(({ name, choices, value }) => [name, choices, choices ? value : ""]), found.map(({ name, default: usual }) => [name, usual])]);
    const at = document.activeElement?.dataset?.name;
    if (structure !== drawn) {
      drawn = structure;
      inputs.fields = new Map(fields.map((one) => [one.name, control(one, TITLES[one.name])]));
      inputs.set = new Map(found.map((one) => [one.name, control({ ...one, choices: choicesOf(one) }, one.name, usual(one.default))]));
      options.replaceChildren(...[...inputs.fields].map(([name, input]) => labelled(TITLES[name], input)));
      settings.replaceChildren(...[...inputs.set].map(([name, input]) => labelled(words(name), input)));
      more.hidden = !found.length;
      if (at) {
        (inputs.fields.get(at) ?? inputs.set.get(at))?.focus();
      }
    }
    Object.assign(shown, Object.fromEntries(["recipe", "game"].map((name) => [name, inputs.fields.get(name)?.value])));
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
