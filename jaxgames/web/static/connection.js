// The WebSocket to the server: numbered requests with promised answers, and reconnecting after a lost connection.

const WAITS = [200, 500, 1000, 2000, 4000];
const FINAL_CODES = { 1008: "the server has ended the connection", 4000: "the session has ended", 4001: "unknown session" };
const FULL = 1013;
const ANSWERS = new Set(["ok", "error", "welcome", "hint", "look", "analysis", "invitation", "file", "setup", "pong", "games", "form", "challenges", "curve"]);

/** An answer of the server that says what was wrong. */
export class Refusal extends Error {}

/** A connection that comes back by itself. `onmessage`, `onopen` and `onstatus` are set by the page. */
export class Connection {
  constructor(address) {
    this.address = address;
    this.socket = null;
    this.pending = new Map();
    this.next = 1;
    this.failures = 0;
    this.reason = "";
    this.onmessage = () => {};
    this.onopen = () => {};
    this.onstatus = () => {};
  }

  open() {
    clearTimeout(this.timer);
    this.onstatus("connecting");
    const early = window.earlySocket; // of socket.js
    window.earlySocket = null;
    this.socket = early && early.readyState <= WebSocket.OPEN ? early : new WebSocket(this.address);
    this.socket.onopen = () => {
      this.onstatus("open");
      this.onopen();
    };
    if (this.isOpen) {
      queueMicrotask(this.socket.onopen);
    }
    this.socket.onmessage = (event) => this.receive(JSON.parse(event.data));
    this.socket.onclose = (event) => this.closed(event);
  }

  get isOpen() {
    return this.socket?.readyState === WebSocket.OPEN;
  }

  get isClosed() {
    return this.socket?.readyState === WebSocket.CLOSED;
  }

  receive(message) {
    if (message.type !== "error") { // a server that is full answers with nothing else
      this.failures = 0;
    }
    const waiting = message.id !== undefined && ANSWERS.has(message.type) ? this.pending.get(message.id) : null;
    if (waiting) {
      this.pending.delete(message.id);
      if (message.type === "error") {
        waiting.reject(new Refusal(message.message));
      } else {
        waiting.resolve(message);
      }
    }
    this.onmessage(message);
  }

  closed({ code, reason }) {
    this.reason = (code === FULL && reason) || "the connection was lost";
    for (const waiting of this.pending.values()) {
      waiting.reject(new Refusal(this.reason));
    }
    this.pending.clear();
    if (FINAL_CODES[code]) {
      this.onstatus("closed", code, FINAL_CODES[code]);
      return;
    }
    this.onstatus("lost");
    const wait = WAITS[Math.min(this.failures, WAITS.length - 1)];
    this.failures += 1;
    this.timer = setTimeout(() => this.open(), wait);
  }

  /** Sends a message; the promise is the server's answer. It rejects with a `Refusal`. */
  send(type, fields = {}) {
    if (!this.isOpen) {
      return Promise.reject(new Refusal("there is no connection to the server at the moment"));
    }
    const id = this.next;
    this.next += 1;
    this.socket.send(JSON.stringify({ type, id, ...fields }));
    return new Promise((resolve, reject) => {
      this.pending.set(id, { resolve, reject });
    });
  }
}
