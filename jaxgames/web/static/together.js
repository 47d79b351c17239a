// Two people: the link to the other seat, the link to watch, who is there, chat.

import { addressOf } from "./address.js";
import { byId, h, setText } from "./dom.js";
import { change } from "./settings.js";

export function initTogether(app) {
  const name = byId("my-name");
  const box = byId("chat");
  let showsLinkOf = null;
  name.value = app.settings.name;
  name.addEventListener("change", () => {
    change({ name: name.value.trim() });
    app.send("name", { name: name.value.trim() });
  });
  byId("invite").addEventListener("click", async () => {
    const { seats, you } = app.state;
    const seat = you.seats.length > 1 ? 1 : you.seats.length ? 1 - you.seats[0] : 1;
    if (seats[seat].kind !== "person" && !(await app.send("seat", { seat, to: { kind: "person" } }))) {
      return;
    }
    const invitation = await app.send("invite", { seat });
    if (invitation) {
      showLink(addressOf({ session: invitation.session, token: invitation.token }), `Whoever opens this link plays ${app.sideName(seat)}:`);
    }
  });
  byId("watch-link").addEventListener("click", () => showLink(addressOf({ session: app.session }), "Whoever opens this link watches:"));
  byId("link").addEventListener("focus", (event) => event.target.select());
  byId("chat-form").addEventListener("submit", async (event) => {
    event.preventDefault();
    const field = byId("chat-text");
    const text = field.value.trim();
    if (text && (await app.send("chat", { text }))) {
      field.value = "";
    }
  });

  function showLink(link, what) {
    showsLinkOf = app.session;
    byId("link-box").hidden = false;
    setText(byId("link-what"), what);
    byId("link").value = link;
    app.copy(link, "The link is copied.");
  }

  function line({ name: who, seat, text }) {
    const side = seat === null || seat === undefined ? "watching" : app.state ? app.sideName(seat) : "";
    return h("div", {}, h("b", {}, who || side || "Guest"), `: ${text}`);
  }

  app.together = {
    chats(lines) {
      box.replaceChildren(...lines.map(line));
      box.scrollTop = box.scrollHeight;
    },
    chat(message) {
      byId("together-card").open = true;
      box.append(line(message));
      box.scrollTop = box.scrollHeight;
    },
  };

  return () => {
    const { state } = app;
    if (showsLinkOf !== app.session) {
      byId("link-box").hidden = true;
    }
    byId("invite").hidden = state.you.seats.length === 0;
    const watching = state.spectators ? `${state.spectators} watching. ` : "";
    const role = state.you.seats.length ? "" : "You are watching.";
    setText(byId("present"), `${watching}${role}`);
  };
}
