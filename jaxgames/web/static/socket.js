// Opens the line to the server before the page's own script has come: on a slow network that saves a way there and back.

if (location.hash.length > 1) { // the start page plays nothing
  window.earlySocket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/ws`);
}
