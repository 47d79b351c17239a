// My games: the games of this browser that the server keeps. They can be continued, looked at, saved and deleted.

import { byId, download, h, setText } from "./dom.js";
import { ownerKey } from "./settings.js";

const WHEN = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

export function initGames(app) {
  const dialog = byId("games-dialog");
  const list = byId("games-list");
  const button = byId("my-games");
  const owner = ownerKey();
  button.hidden = !app.catalog.keeps;
  button.addEventListener("click", async () => {
    if (await fill()) {
      dialog.showModal();
    }
  });

  async function fill() {
    const answer = await app.send("games", { owner });
    if (answer) {
      list.replaceChildren(...answer.games.map(row));
      byId("games-none").hidden = answer.games.length > 0;
    }
    return answer;
  }

  function row(game) {
    const { session, number, title, players, seats, turns, over, changed, under_way } = game;
    const key = { owner, session, number };
    const names = players.map((name, seat) => (seats.includes(seat) && seats.length === 1 ? `${name} (you)` : name));
    const what = `${title}: ${names.join(" – ")}`;
    const state = over ?? (under_way ? "under way" : "not ended");
    const open = h("button", { type: "button", class: "primary", "aria-label": `${over ? "Look at" : "Go on with"} ${what}`, onclick: async () => {
      if (await app.leave("open", { ...key, name: app.settings.name })) {
        dialog.close();
      }
    } }, over ? "Look at it" : "Go on");
    const format = h("select", { "aria-label": `Format to save ${what} in` }, ...app.gameNamed(game.game).formats.map((name) => h("option", { value: name }, name.toUpperCase())));
    const save = h("button", { type: "button", "aria-label": `Save ${what}`, onclick: async () => {
      const file = await app.send("export", { ...key, format: format.value });
      if (file) {
        download(file.name, file.media, file.text);
      }
    } }, "Save");
    let sure = false;
    const remove = h("button", { type: "button", "aria-label": `Delete ${what}`, onclick: async () => {
      if (!sure) {
        sure = true;
        setText(remove, "Really?");
      } else if (await app.send("forget", key)) {
        await fill();
        byId("games-close").focus();
      }
    } }, "Delete");
    return h("li", {},
      h("div", {}, h("b", {}, what)),
      h("div", { class: "soft" }, `${turns} turn${turns === 1 ? "" : "s"} · ${state} · ${WHEN.format(new Date(changed * 1000))}`),
      h("div", { class: "row" }, open, format, save, remove));
  }

  return () => {};
}
