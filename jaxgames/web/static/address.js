// What the address of the page says after `#`, and the tokens of seats, which stay in this tab of the browser.

const OWN = new Set(["game", "position", "against", "seat", "clock", "session", "token"]);

/** The parts of the address; options of the game are numbers or null. */
export function readAddress(hash = location.hash) {
  const fields = new URLSearchParams(hash.slice(1));
  const options = {};
  for (const [name, value] of fields) {
    if (!OWN.has(name) && /^(null|[0-9]{1,6})$/.test(value)) {
      options[name] = value === "null" ? null : Number(value);
    }
  }
  const seat = fields.get("seat") === "1" ? 1 : 0;
  return {
    game: fields.get("game"),
    position: fields.get("position"),
    against: fields.get("against"),
    clock: fields.get("clock"),
    session: fields.get("session"),
    token: fields.get("token"),
    options,
    seat,
  };
}

/** An address with these fields; those that are null are left out. */
export function addressOf(fields) {
  const written = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) {
    if (value !== null && value !== undefined) {
      written.set(name, value);
    }
  }
  return `${location.origin}/#${written}`;
}

/** The options that differ from the defaults of a game. */
export function changedOptions(game, options) {
  const changed = game.options.filter(({ name, default: usual }) => options[name] !== undefined && options[name] !== usual);
  return Object.fromEntries(changed.map(({ name }) => [name, String(options[name])]));
}

export function keepToken(session, token) {
  if (token) {
    sessionStorage.setItem(`token.${session}`, token);
  }
}

export function tokenOf(session) {
  return sessionStorage.getItem(`token.${session}`);
}
