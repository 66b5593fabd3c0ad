// What happened while nobody looked.

import { counted, duration, el, fill, fromHome, goesOn, LIMITS, money, moment, oneLine, say, statusMark, TASK, thousands, windowsUsed } from "./dom.js";

const SPANS = [["12 hours", 12], ["24 hours", 24], ["3 days", 72], ["7 days", 168]];
const MOST_SESSIONS = 100;
const MOST = 20;
const WHY = {
  slept: "the machine slept",
  "stood still": "the machine or the daemon was halted from outside, or the clock was set",
  off: "the machine was off",
  stopped: "you had stopped the daemon",
  ended: "the daemon was ended from outside, and not started",
  died: "the daemon had ended without a word, and nobody started it",
  "gave up": "the daemon had given up",
  limit: "all that was left to do waited for",
};
const HEARD = { heard: "heard", given: "on its way: Claude Code has it", waiting: "not heard yet", never: "never heard: its task was over" };
const BY = { policy: "the rules", brain: "the brain", person: "you" };

export class Report {
  constructor(link) {
    this.link = link;
    this.node = document.getElementById("report");
    this.span = el(
      "select",
      { id: "span", onchange: () => this.read() },
      SPANS.map(([words, hours]) => el("option", { value: hours }, words)),
    );
    this.body = el("div");
    this.windows = el("p.quiet");
    fill(this.node, el("div.row", {}, el("h2", {}, "Report"), el("label", { for: "span" }, "The last"), this.span), this.body, this.windows);
  }

  async read() {
    try {
      this.show(await this.link.call("report.show", { seconds: Number(this.span.value) * 3600 }));
      const windows = windowsUsed((await this.link.call("budget.show")).windows);
      say(this.windows, windows.length ? `Subscription: ${windows.map((one) => one.join(", ")).join("; ")}` : "");
    } catch (error) {
      fill(this.body, el("p.bad", {}, error.message));
    }
  }

  show(told) {
    const all = told.sessions;
    const sum = (of) => all.reduce((total, one) => total + of(one), 0);
    const still = told.outages?.length ? el("ul.outages", {}, told.outages.map((one) => el("li", {}, outage(one, told)))) : null;
    if (!all.length) {
      fill(this.body, el("p.empty", {}, `Nothing happened since ${moment(told.since)}.`), still);
      return;
    }
    const ended = (...states) => sum((one) => one.tasks.filter((task) => states.includes(task.state)).length);
    const done = ended("done");
    const stopped = ended("cancelled");
    const not = sum((one) => one.tasks.length) - done - stopped;
    const words = [`${counted(done, "task")} done`, not ? `${not} not` : "", stopped ? `${stopped} stopped by you` : "", `${thousands(sum((one) => one.tokens))} fresh tokens`, money(sum((one) => one.usd))];
    const shown = all.slice(-MOST_SESSIONS).reverse();
    fill(
      this.body,
      el("p.sum", {}, words.filter(Boolean).join(" · "), el("span.more", {}, `since ${moment(told.since)}`)),
      still,
      el("ul.cards", {}, shown.map(card)),
      all.length > shown.length ? el("p.quiet", {}, `${counted(all.length - shown.length, "session")} before: pcc report`) : null,
    );
  }
}

function outage(one, told) {
  const when = one.ended >= told.until ? `since ${moment(one.began)}` : `from ${moment(one.began)} to ${moment(one.ended)}`;
  const why = WHY[one.cause] ?? oneLine(one.cause);
  const detail = one.detail ? `${one.cause === "limit" ? " " : ": "}${oneLine(one.detail)}` : "";
  return `Nothing ran ${when} (${duration(one.ended - one.began)}): ${why}${detail}`;
}

function card(one) {
  const session = one.session;
  const said = (words) => oneLine(fromHome(words, session.project));
  const lines = [
    ...newest(one.tasks, (task) => [TASK[task.state] ?? "✗", oneLine(task.prompt), said(task.result), { done: "good", cancelled: "" }[task.state] ?? "bad"]),
    ...newest(one.answers, (given) => ["?", `${said(given.question)} → ${oneLine(given.answer)}`, `by ${BY[given.by] ?? oneLine(given.by)}${given.because && given.by !== "person" ? `: ${said(given.because)}` : ""}`]),
    ...newest(one.words ?? [], (word) => ["“", `You said: ${oneLine(word.text)}`, HEARD[word.heard] ?? ""]),
    ...newest(one.refused, (call) => ["✗", `Refused${call.times > 1 ? ` ${call.times} times` : ""}: ${oneLine(call.tool)} → ${oneLine(call.summary)}`, said(call.reason), "bad"]),
    ...newest(one.problems, (text) => ["✗", said(text), "", "bad"]),
  ];
  const files = one.files.length ? `${counted(one.files.length, "file")} written: ${one.files.slice(0, 8).map((name) => oneLine(name)).join(", ")}${one.files.length > 8 ? ", …" : ""}` : "";
  const limits = Object.entries(LIMITS).map(([window, name]) => often(`Stopped: ${name}`, one.limits.filter((found) => found === window).length));
  const budgets = one.budgets.length ? `Used up: ${one.budgets.map((name) => oneLine(name)).join(", ")}` : "";
  const rest = [files, one.checks ? `${counted(one.checks, "check")} failed` : "", ...limits, budgets, often("Cut off, and taken over after a restart of the daemon", one.restarts), often("Handed over to a fresh conversation", one.handovers)];
  return el(
    "li.card.plain",
    {},
    el("a.title", { href: `#/session/${encodeURIComponent(session.id)}` }, session.name || session.id, " ", statusMark(session)),
    el("p.path", {}, session.project),
    session.resumes_at ? el("p", {}, goesOn(session)) : null,
    lines.length ? el("ul.tasks", {}, lines.map(([sign, words, more, look]) => el(look ? `li.${look}` : "li", {}, el("span.sign", { "aria-hidden": "true" }, sign), el("div.words", {}, words, more ? el("span.more", {}, more) : null)))) : null,
    rest.filter(Boolean).map((words) => el("p", {}, words)),
    one.snapshots ? el("a", { href: `#/session/${encodeURIComponent(session.id)}/changes` }, "What has changed") : null,
    el("p.quiet", {}, `${counted(one.runs, "run")} · ${counted(one.allowed, "tool call")} · ${thousands(one.tokens)} fresh tokens · ${money(one.usd)}`),
  );
}

const often = (words, times) => (times ? `${words}${times > 1 ? ` (${times} times)` : ""}` : "");

function newest(found, line) {
  const shown = found.slice(-MOST).map(line);
  return found.length > MOST ? [["…", `${found.length - MOST} before: pcc report --json`], ...shown] : shown;
}
