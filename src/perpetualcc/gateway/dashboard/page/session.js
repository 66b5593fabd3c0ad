// One session: how it stands, its tasks, its log, and what can be done about it.

import { button, counted, el, fill, fromHome, goesOn, money, moment, oneLine, put, say, seldom, statusMark, TASK, thousands, clean, contextBound } from "./dom.js";
import { Changes } from "./changes.js";
import { Log } from "./log.js";
import { Result } from "./result.js";

const MOST_TASKS = 50;
const IS_OVER = new Set(["COMPLETED", "STOPPED"]);
const CAN_PAUSE = new Set(["IDLE", "PROCESSING", "WAITING_INPUT", "RATE_LIMITED"]);

export class SessionView {
  constructor(link, id, asks) {
    this.link = link;
    this.id = id;
    this.asks = asks;
    this.node = document.getElementById("session");
    this.log = new Log(link, id);
    this.changes = new Changes(link, id);
    this.result = new Result(link, id);
    this.subscription = null;
    this.head = el("div");
    this.tasks = el("ul.tasks");
    this.more = el("p.quiet");
    this.problem = el("p.bad", { role: "alert" });
    this.toAsk = el("a.call", { href: "#/waiting" }, "It waits for you: answer");
    this.ask = el("p", { hidden: true }, this.toAsk);
    this.pause = button("Pause", () => this.act("session.pause"));
    this.resume = button("Resume", () => this.act("session.resume"));
    this.pause.hidden = this.resume.hidden = true; // until it is known that there is such a session
    this.prompt = el("textarea", { id: "prompt", rows: 2, maxlength: 20000, placeholder: "What is to be done next, or otherwise" });
    this.speak = button("Say to Claude", () => this.speaks());
    this.speak.hidden = true;
    this.said = el("p.quiet", { role: "status" });
    const add = el(
      "form.add.work",
      { onsubmit: (event) => { event.preventDefault(); this.add(); } },
      el("label", { for: "prompt" }, "Add a task, or say something to Claude, who goes on working"),
      this.prompt,
      el("div.row", {}, el("button", { type: "submit" }, "Add"), this.speak),
      this.said,
    );
    fill(
      this.node,
      el("a.back", { href: "#/sessions" }, "‹ All sessions"),
      this.head,
      this.ask,
      el("div.row.work", {}, this.pause, this.resume),
      this.problem,
      el("h3", {}, "Tasks"),
      this.tasks,
      this.more,
      this.result.node,
      this.changes.node,
      this.log.node,
      add,
    );
    this.refresh = seldom(() => this.read(), 1000);
    this.looks = () => this.follow();
    document.addEventListener("visibilitychange", this.looks);
  }

  /** After each connection: the engine may be another one. */
  async begin() {
    this.subscription = null;
    this.changes.begin();
    this.result.begin();
    await this.read(); // the log names files from the project that it tells
    try {
      await this.log.begin();
      await this.follow();
    } catch (error) {
      say(this.problem, error.message);
    }
  }

  /** With `attend`, a call that needs a person is held for this one: only while the page is seen. */
  async follow() {
    if (this.isOver) return;
    const before = this.subscription;
    this.subscription = null;
    try {
      if (before) await this.link.call("events.unfollow", { subscription: before });
      const attend = document.visibilityState === "visible" && document.body.dataset.scope !== "look";
      const found = await this.link.call("events.follow", { session: this.id, since: this.log.last, attend });
      if (this.isOver || this.subscription) await this.link.call("events.unfollow", { subscription: found.subscription });
      else this.subscription = found.subscription;
    } catch {
      // The connection is lost, or the session is gone: both are said elsewhere.
    }
  }

  end() {
    this.isOver = true;
    document.removeEventListener("visibilitychange", this.looks);
    if (this.subscription) this.link.call("events.unfollow", { subscription: this.subscription }).catch(() => {});
  }

  /** The log is made of its own feed alone: another one may be ahead of it. */
  event(data, subscription) {
    if (data.session !== this.id) return;
    if (subscription === this.subscription) this.log.add(data);
    this.refresh();
  }

  async read() {
    if (this.isOver) return;
    try {
      this.show(await this.link.call("session.get", { session: this.id }));
    } catch (error) {
      say(this.problem, error.message);
    }
  }

  show(session) {
    const bound = contextBound(session);
    const share = bound ? Math.min(100, (100 * session.tokens) / bound) : 0;
    const use = `${thousands(session.tokens)}${bound ? ` of ${thousands(bound)}` : ""}`;
    const isPerpetual = Boolean(session.perpetual?.hard_tokens);
    const detail = [goesOn(session), clean(fromHome(session.detail, session.project))].filter(Boolean).join(": ");
    fill(
      this.head,
      el("h2", {}, session.name || session.id, " ", statusMark(session)),
      el("p.path", {}, session.project),
      detail ? el("p.detail", {}, detail) : null,
      session.todo ? el("p.detail", {}, `Claude's list: ${oneLine(session.todo)}`) : null,
      ...(session.words ?? []).map((one) => el("p.detail", {}, `You said: "${oneLine(one.text)}" `, el("span.quiet", {}, one.state === "waiting" ? "(not heard yet)" : "(on its way)"))),
      session.status === "COMPLETED" && session.refused ? el("p.quiet", {}, `What was refused, and why: pcc decisions --session ${session.id} --verdict deny`) : null,
      el(
        "dl.numbers",
        {},
        el("div", {}, el("dt", {}, "Context"), el("dd", {}, use, isPerpetual ? el("span.more", {}, "until it hands over") : null, bound ? meter(share) : null)),
        el("div", {}, el("dt", {}, "Cost"), el("dd", {}, money(session.spent.usd), el("span.more", {}, `${thousands(session.spent.tokens)} fresh tokens`))),
        el("div", {}, el("dt", {}, "Runs"), el("dd", {}, String(session.runs))),
        el("div", {}, el("dt", {}, "Brain"), el("dd", {}, session.brain === "none" ? "rule-based" : session.brain)),
      ),
    );
    this.ask.hidden = session.status !== "WAITING_INPUT";
    this.point();
    this.result.show(session);
    this.speak.hidden = IS_OVER.has(session.status);
    const buttons = [this.pause, this.resume];
    const pressed = buttons.find((one) => one === document.activeElement);
    this.pause.hidden = !CAN_PAUSE.has(session.status);
    this.resume.hidden = !["PAUSED", "ERROR"].includes(session.status);
    // Whoever works by keyboard goes on with what has come in its place.
    if (pressed?.hidden) (buttons.find((one) => !one.hidden) ?? this.node).focus();
    // The newest matter: of a queue that ran for weeks the rest is counted.
    const tasks = session.tasks.slice(-MOST_TASKS);
    fill(this.tasks, tasks.map((one) => task(one, session.project)));
    say(this.more, session.tasks.length > tasks.length ? `${counted(session.tasks.length - tasks.length, "task")} before` : "");
  }

  /** To what it asks, as soon as that is known. */
  point() {
    this.toAsk.setAttribute("href", `#/waiting/${this.asks(this.id)}`);
  }

  async act(method) {
    say(this.problem, "");
    try {
      await this.link.call(method, { session: this.id });
    } catch (error) {
      say(this.problem, [error.message, error.hint].filter(Boolean).join(". "));
    }
    this.refresh();
  }

  add() {
    return this.send("task.add", "prompt");
  }

  /** Once: what was sent and has no answer is sent with the same key. */
  async speaks() {
    const text = this.prompt.value.trim();
    if (this.unsaid?.text !== text) this.unsaid = { text, key: Array.from(crypto.getRandomValues(new Uint32Array(4))).join("-") };
    const found = await this.send("session.say", "text", { key: this.unsaid.key });
    if (!found) return;
    this.unsaid = null;
    say(this.said, found.is_at_work ? "It reaches Claude at its next step." : "It waits until the session goes on.");
  }

  /** What is written, as this parameter; nothing comes back when it failed. */
  async send(method, name, more = {}) {
    const words = this.prompt.value.trim();
    if (!words) return null;
    say(this.problem, "");
    say(this.said, "");
    let found = null;
    try {
      found = await this.link.call(method, { session: this.id, [name]: words, ...more });
      this.prompt.value = "";
    } catch (error) {
      say(this.problem, [error.message, error.hint].filter(Boolean).join(". "));
    }
    this.refresh();
    return found;
  }
}

export function meter(share) {
  const level = share >= 90 ? "high" : share >= 70 ? "some" : "low";
  return el("meter", { class: level, min: 0, max: 100, value: share.toFixed(0), title: `${share.toFixed(0)}%`, "aria-label": "Context" });
}

function task(one, project) {
  const isLater = one.state === "queued" && one.due * 1000 > Date.now();
  const when = [
    isLater ? `begins ${moment(one.due)}` : "",
    one.state === "queued" && one.when ? `begins when it succeeds: ${oneLine(one.when)}` : "",
    one.every ? `every ${oneLine(one.every)}` : "",
  ].filter(Boolean).join(" · ");
  // Left out with what was given up before it: nothing failed in it.
  const { reason, state: before } = one.packet ?? {};
  const isLeftOut = one.state === "parked" && reason === "after" && ["cancelled", "missed"].includes(before);
  const state = isLeftOut ? "cancelled" : one.state;
  // A task of a plan begins with its title, apart from the rest.
  const [title, rest] = one.prompt.trim().split(/\n\s*\n([^]*)/, 2);
  const item = el(
    "li",
    { "data-state": state },
    el("span.sign", { title: state }, TASK[state] ?? "·"),
    el(
      "div.words",
      {},
      el("span", {}, oneLine(title, 500), el("span.hidden", {}, ` (${state})`)),
      rest ? el("span.more", {}, oneLine(rest, 500)) : null,
      when ? el("span.more", {}, when) : null,
    ),
  );
  if (one.result) put(item.lastChild, el("span.more", {}, oneLine(fromHome(one.result, project), 300)));
  return item;
}
