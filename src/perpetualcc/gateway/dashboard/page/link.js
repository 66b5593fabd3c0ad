// The connection: frames to the engine and back, again by itself when something was away.

import { keep, prove } from "./device.js";

const IS_HERE = ["127.0.0.1", "localhost"].includes(location.hostname);
const KEY = "perpetualcc.key";
const STRANGER = 4401;
const TOO_MUCH = 4429;
const LONGEST = 5000;
const DEAD = 60000;
const AWAKE = 10000;

/** What holds only until the page is connected again. */
export const UNSENT = "Not connected; nothing was sent";

export class Refused extends Error {
  constructor(error) {
    super(error.data?.message ?? error.message ?? "It did not work");
    this.hint = error.data?.hint ?? "";
  }
}

export class Link {
  /** `on.open()`, `on.event(frame)`, `on.scope(name)` and `on.state(name, message, hint)` are called. */
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
    const socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/engine`);
    this.socket = socket;
    this.isIn = false;
    socket.onmessage = (message) => {
      const frame = JSON.parse(message.data);
      if (frame.type === "challenge") {
        this.greet(socket, frame.challenge).catch((error) => this.lock(error.message, ""));
      } else if (frame.type === "welcome") {
        if (IS_HERE) sessionStorage.setItem(KEY, frame.key);
        else if (this.code) keep(this.pair).catch((error) => this.lock(`This browser keeps nothing: ${error.message}`, ""));
        this.code = "";
        this.isIn = this.wasIn = true;
        this.away = null;
        this.on.scope(frame.scope ?? "work");
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
    socket.onclose = (closed) => this.lost(closed, this.isIn);
  }

  /** Say who this is. */
  async greet(socket, challenge) {
    if (IS_HERE) {
      const key = sessionStorage.getItem(KEY);
      socket.send(JSON.stringify(this.code ? { code: this.code } : { key }));
      return;
    }
    const proof = await prove(challenge, this.code, this.pair);
    // The same with each try: it may be let in, and the connection lost before it heard of it.
    this.pair = proof?.pair;
    socket.send(JSON.stringify(proof?.greeting ?? {}));
  }

  lock(message, hint) {
    this.isLocked = true;
    this.socket.close();
    this.on.state("locked", message, hint);
  }

  lost(closed, wasIn) {
    if (this.isLocked) return;
    for (const [, reject] of this.waiting.values()) {
      reject(new Refused({ message: "The connection was lost; look whether it happened, then try again" }));
    }
    this.waiting.clear();
    if (closed.code === STRANGER && !IS_HERE) {
      if (this.code) {
        // A used link in a browser that may be paired already.
        this.code = "";
        this.connect();
        return;
      }
      if (this.wasIn) {
        location.reload(); // what it was shown goes
        return;
      }
      this.lock("This browser is not paired, or not any more.", "On the machine where PerpetualCC runs, type: pcc devices pair \"my phone\"");
      return;
    }
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
    this.retry = setTimeout(() => this.again(), this.pause);
    this.pause = Math.min(LONGEST, this.pause * 2);
  }

  /** A phone that slept or changed its network is told of no end, and a goodbye is not answered. */
  forsake(socket) {
    socket.onclose = socket.onmessage = null;
    socket.close();
    this.lost({ code: 1006 }, true);
  }

  /** Whoever comes back to the page need not wait for what a sleep has cut off. */
  wake() {
    if (this.isLocked) return;
    if (this.isIn && this.socket.readyState === WebSocket.OPEN) this.call("escalation.count", {}, AWAKE).catch(() => {});
    else if (this.retry) this.again();
  }

  again() {
    clearTimeout(this.retry);
    this.retry = null;
    this.connect();
  }

  settle(frame) {
    const found = this.waiting.get(frame.id);
    if (!found) return;
    this.waiting.delete(frame.id);
    if (frame.error) found[1](new Refused(frame.error));
    else found[0](frame.result);
  }

  call(method, params = {}, patience = DEAD) {
    if (this.socket.readyState !== WebSocket.OPEN) {
      return Promise.reject(new Refused({ message: UNSENT }));
    }
    const id = ++this.id;
    const socket = this.socket;
    socket.send(JSON.stringify({ type: "req", id, method, params }));
    setTimeout(() => this.waiting.has(id) && this.forsake(socket), patience);
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
