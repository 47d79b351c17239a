// What this browser remembers: colours, motion, name, what is shown on the board.

const DEFAULTS = { theme: "system", motion: true, sound: true, name: "", shown: "values", analysis: false };
const THEMES = { system: "light", light: "dark", dark: "system" };

function stored() {
  try {
    return JSON.parse(localStorage.getItem("jaxgames") ?? "{}");
  } catch {
    return {};
  }
}

export const settings = { ...DEFAULTS, ...stored() };

/** The key of this browser's list of games. It is made once, maybe in another tab; whoever has it can play these games. */
export function ownerKey() {
  settings.owner = stored().owner ?? settings.owner;
  if (!/^[0-9a-f]{48}$/.test(settings.owner ?? "")) {
    change({ owner: [...crypto.getRandomValues(new Uint8Array(24))].map((byte) => byte.toString(16).padStart(2, "0")).join("") });
  }
  return settings.owner;
}

/** Changes settings and remembers them; changes by other tabs stay. */
export function change(changes) {
  Object.assign(settings, changes);
  localStorage.setItem("jaxgames", JSON.stringify({ ...stored(), ...changes }));
  apply();
}

/** Puts the settings of colours and motion into force. */
export function apply() {
  document.documentElement.dataset.theme = settings.theme;
  document.documentElement.dataset.motion = settings.motion ? "on" : "off";
}

/** A button that goes through the three ways of colours. */
export function themeButton(button) {
  const name = () => button.setAttribute("aria-label", `Colours: ${settings.theme === "system" ? "as the system" : settings.theme}`);
  button.addEventListener("click", () => {
    change({ theme: THEMES[settings.theme] });
    name();
  });
  name();
}
