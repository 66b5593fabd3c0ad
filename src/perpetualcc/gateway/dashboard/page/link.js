// The connection: frames to the engine and back, again by itself when something was away.

const KEY = "perpetualcc.key";
const STRANGER = 4401;
const TOO_MUCH = 4429;
const LONGEST = 5000;

export class Refused extends Error {
  constructor(error) {
    super(error.data?.message ?? error.message ?? "It did not work");
    this.hint = error.data?.hint ?? "";
  }
}

export class Link {
  /** `on.open()`, `on.event(frame)` and `on.state(name, message, hint)` are called. */
  constructor(on) {
    this.on = on;
    this.waiting = new Map();
    this.id = 0;
    this.pause = 250;
    this.away = null;
    this.code = takeCode();
    this.connect();
  }

  connect() {
    const socket = new WebSocket(`ws://${location.host}/engine`);
    this.socket = socket;
    let isIn = false;
    socket.onopen = () => {
      const key = sessionStorage.getItem(KEY);
      socket.send(JSON.stringify(this.code ? { code: this.code } : { key }));
    };
    socket.onmessage = (message) => {
      const frame = JSON.parse(message.data);
      if (frame.type === "welcome") {
        sessionStorage.setItem(KEY, frame.key);
        this.code = "";
        isIn = true;
        this.away = null;
        // The engine may still be on its way: the first answer says that it is there.
        this.call("budget.show").then(() => {
          this.pause = 250;
          this.on.state("open");
          this.on.open();
        }, () => {});
      } else if (frame.type === "away") {
        this.away = frame;
      } else if (frame.type === "res") {
        this.settle(frame);
      } else if (frame.type === "event") {
        this.on.event(frame);
      }
    };
    socket.onclose = (closed) => this.lost(closed, isIn);
  }

  lost(closed, wasIn) {
    for (const [, reject] of this.waiting.values()) {
      reject(new Refused({ message: "The connection was lost; look whether it happened, then try again" }));
    }
    this.waiting.clear();
    if (closed.code === STRANGER) {
      if (this.code && sessionStorage.getItem(KEY)) {
        // A used link in a tab that is in already.
        this.code = "";
        this.connect();
        return;
      }
      this.on.state("locked", "This link was used, or belongs to an earlier start.", "Open the newest link that the terminal shows, or type: pcc dashboard");
      return;
    }
    if (this.away) this.on.state("away", this.away.message, this.away.hint ?? "");
    else if (closed.code === TOO_MUCH) this.on.state("away", `Not connected: ${closed.reason}`, "");
    else if (wasIn || closed.code === 4503) this.on.state("connecting", "The engine restarts or the connection was lost; trying again…", "");
    else this.on.state("gone", "The dashboard has ended.", "Start it again in a terminal: pcc dashboard");
    setTimeout(() => this.connect(), this.pause);
    this.pause = Math.min(LONGEST, this.pause * 2);
  }

  settle(frame) {
    const found = this.waiting.get(frame.id);
    if (!found) return;
    this.waiting.delete(frame.id);
    if (frame.error) found[1](new Refused(frame.error));
    else found[0](frame.result);
  }

  call(method, params = {}) {
    if (this.socket.readyState !== WebSocket.OPEN) {
      return Promise.reject(new Refused({ message: "Not connected; nothing was sent" }));
    }
    const id = ++this.id;
    this.socket.send(JSON.stringify({ type: "req", id, method, params }));
    return new Promise((resolve, reject) => this.waiting.set(id, [resolve, reject]));
  }
}

/** The code leaves the address at once; it is used up before anybody could read it there. */
function takeCode() {
  const found = /^#([\w-]{40,})$/.exec(location.hash);
  if (!found) return "";
  history.replaceState(null, "", "/#/sessions");
  return found[1];
}
