// Watched games: speed, pause, one turn at a time, many games in a row with their score.

import { byId, h, setText } from "./dom.js";
import { setIcon } from "./icons.js";

export function initWatch(app) {
  // What was chosen here and is not answered yet: a state that was sent before does not take it back.
  const chosen = {};
  const now = () => ({ ...app.state, ...chosen });

  async function choose(part, value, type, fields) {
    chosen[part] = value;
    const answer = await app.send(type, fields);
    if (answer && app.state) {
      app.state[part] = value;
    }
    if (chosen[part] === value) {
      delete chosen[part];
    }
    app.refresh();
    return answer;
  }

  const choosePause = (on) => choose("paused", on, "pause", { on });
  for (const radio of document.querySelectorAll("input[name=speed]")) {
    const seconds = Number(radio.value);
    radio.addEventListener("change", () => choose("speed", seconds, "speed", { seconds }));
  }
  byId("pause").addEventListener("click", () => choosePause(!now().paused));
  byId("play-on").addEventListener("click", async () => {
    if (!now().paused) {
      await choosePause(true);
    }
    await app.send("play_on");
  });
  byId("match-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const runs = underWay(app.state.match);
    app.send("match", { games: runs ? 0 : Number(byId("match-games").value) });
  });
  byId("display").addEventListener("change", ({ target: { checked: on } }) => choose("display", on, "display", { on }));

  function score() {
    const { match, seats } = app.state;
    const box = byId("score");
    box.hidden = !match;
    if (!match) {
      return;
    }
    const at = (player) => (match.swapped ? 1 - player : player);
    const row = (player) => h(
      "tr",
      {},
      h("th", { scope: "row" }, seats[at(player)].name || "Person"),
      h("td", {}, String(match.wins[player])),
      h("td", {}, plain(match.points[player])),
    );
    box.replaceChildren(
      h("table", {},
        h("thead", {}, h("tr", {}, h("th", { scope: "col" }, `${match.played} of ${match.games} games`), h("th", { scope: "col" }, "won"), h("th", { scope: "col" }, "points"))),
        h("tbody", {}, row(0), row(1))),
      h("progress", { max: match.games, value: match.played, "aria-label": "Games played" }),
      match.draws ? h("p", { class: "soft" }, `${match.draws} drawn`) : "",
    );
  }

  return () => {
    const state = now();
    const mayChange = state.you.host || state.you.seats.length > 0;
    for (const radio of document.querySelectorAll("input[name=speed]")) {
      radio.checked = Number(radio.value) === state.speed;
      radio.disabled = !mayChange;
    }
    const pause = byId("pause");
    if (pause.lastChild.textContent !== (state.paused ? "Go on" : "Pause")) {
      pause.lastChild.textContent = state.paused ? "Go on" : "Pause";
      setIcon(pause, state.paused ? "play" : "pause");
    }
    pause.setAttribute("aria-pressed", String(state.paused));
    const programs = state.seats.some(({ kind }) => kind === "player");
    pause.disabled = !mayChange || !programs;
    byId("play-on").disabled = !mayChange || !programs || state.over !== null;
    const runs = underWay(state.match);
    setText(byId("match-start"), runs ? "Stop" : "Start");
    byId("match-start").disabled = !mayChange;
    byId("display").checked = state.display;
    byId("display").disabled = !mayChange;
    score();
  };
}

const underWay = (match) => Boolean(match && match.played < match.games);
const plain = (value) => (Number.isInteger(value) ? String(value) : value.toFixed(1));
