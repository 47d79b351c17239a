// The keys of the page. Those of the board are in board_view.js. No key needs a modifier, and none works while one types.

import { byId, h } from "./dom.js";
import { change } from "./settings.js";

export function initKeys(app) {
  const click = (id) => () => {
    const button = byId(id);
    if (!button.disabled && !button.hidden && !button.closest("[hidden]")) {
      button.click();
    }
  };
  const keys = {
    b: ["go to the board", () => app.view.focusPlace(app.view.focused, true)],
    m: ["type a move", () => byId("entry-text").focus()],
    e: ["end your turn", click("end-turn")],
    z: ["take a checker back", click("undo-step")],
    u: ["undo a turn", click("undo")],
    r: ["redo a turn", click("redo")],
    h: ["show a hint", click("hint")],
    a: ["evaluation on or off", click("analysis")],
    f: ["flip the board", click("flip")],
    s: ["swap the sides", click("swap")],
    d: ["exchange the dice", () => app.view.ondice()],
    n: ["new game", click("new-game")],
    p: ["pause", click("pause")],
    ".": ["play one turn of a watched game", click("play-on")],
    ArrowLeft: ["one turn back", () => app.stepBy(-1)],
    ArrowRight: ["one turn on", () => app.stepBy(1)],
    Home: ["to the start of the game", () => app.lookAt(0)],
    End: ["to the present", () => app.lookAt(Infinity)],
    Escape: ["take back the move you have chosen", () => app.view.onidle()],
    "?": ["show this list", () => openHelp()],
  };
  const names = { ArrowLeft: "←", ArrowRight: "→", Escape: "Esc" };

  function openHelp() {
    byId("keys").replaceChildren(...Object.entries(keys).flatMap(([key, [what]]) => [h("dt", {}, h("kbd", {}, names[key] ?? key)), h("dd", {}, what)]));
    byId("motion").checked = app.settings.motion;
    byId("sound").checked = app.settings.sound;
    byId("help-dialog").showModal();
  }

  byId("help").addEventListener("click", openHelp);
  byId("motion").addEventListener("change", (event) => change({ motion: event.target.checked }));
  byId("sound").addEventListener("change", (event) => change({ sound: event.target.checked }));
  document.addEventListener("keydown", (event) => {
    const closed = event.target.closest("dialog:not([open])"); // it may keep the focus until the next frame is drawn
    const typing = !closed && event.target.closest("input:not([type=checkbox], [type=radio]), select, textarea, dialog");
    const choosing = event.target.matches("[type=radio]") && event.key.startsWith("Arrow");
    if (typing || choosing || event.altKey || event.ctrlKey || event.metaKey || !app.state || event.defaultPrevented) {
      return;
    }
    const found = keys[event.key];
    if (found) {
      event.preventDefault();
      found[1]();
    }
  });
}
