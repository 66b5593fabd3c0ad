// A session's log: one line an event, and no more of them on the page than it can carry.

import { button, clean, clock, counted, duration, el, fromHome, LIMITS, moment, money, oneLine, put } from "./dom.js";

export const MOST = 1000;
const PAGE = 300;
const AT_ONCE = 120; // seconds
const LEVELS = ["info", "warn", "error"];

const tool = (e) => [oneLine(e.tool, 80), oneLine(e.summary)].filter(Boolean).join(" → ");
const isLimit = (words) => Object.values(LIMITS).some((name) => words?.startsWith(name));
const by = { policy: "by the rules", brain: "by the brain", person: "by you", rule: "by your rule" };
// What a rule let through ends with its name.
const rules = (e) => (e.decided_by === "rule" ? (e.reason.split("allowed by a rule of a person: ").pop().match(/\brule-[0-9a-f]+\b/g) ?? []) : []);

// What a line says, and how it looks; a kind that is not here is not for people.
const LINES = {
  RunStarted: (e) => [
    e.resumed ? "Resuming Claude Code…"
      : e.copies ? `Going on with your conversation ${clean(e.copies).slice(0, 8)}, in a copy of it…`
      : "Starting Claude Code…",
    "quiet",
  ],
  TaskAdded: (e) => {
    if (e.when) return [`Begins when it succeeds: ${oneLine(e.when)}`];
    return e.due ? [`Begins ${moment(e.due)}: ${oneLine(e.prompt)}`] : null;
  },
  TaskStarted: (e) => [`Task: ${oneLine(e.prompt)}`, "head"],
  TextSaid: (e) => [clean(e.text).trim(), "said"],
  WordSaid: (e) => [`You said: “${clean(e.text).trim()}”`, "ask"],
  ToolDecided: (e) =>
    e.verdict === "allow"
      ? [`✓ ${tool(e)}`, "tool", [by[e.decided_by] ?? "", rules(e).join(", ")].join(" ").trim()]
      : [`✗ ${tool(e)}`, "bad", `refused: ${oneLine(e.reason)}`],
  ToolFailed: (e) => [`✗ ${tool(e)}`, "bad", `did not work: ${oneLine(clean(e.text).replace(/<\/?tool_use_error>/g, "")) || "it says nothing"}`],
  QuestionAsked: (e) => [e.questions.map((q) => `? ${oneLine(q.question)}`).join("\n"), "ask"],
  QuestionAnswered: (e) => [
    `→ ${oneLine(Object.values(e.answers).join("; "))}`,
    "ask",
    e.decided_by === "person" ? "by you" : `${by[e.decided_by] ?? ""}: ${oneLine(e.reason)}`,
  ],
  EscalationRaised: (e) => (e.type === "review" ? null : [`⚠ Waits for you (#${e.number}): ${oneLine(e.title)}`, "ask"]),
  EscalationReminded: (e) => [`⚠ Still waits for you (#${e.number}): ${oneLine(e.title)}`, "ask"],
  EscalationSettled: (e) => [`#${e.number} is settled: ${oneLine(e.answer)}`, "quiet", oneLine(e.decided_by)],
  LimitReached: (e) => {
    const name = LIMITS[e.window] ?? "a usage limit";
    if (name.startsWith("the server")) return [`◔ Waits: ${name}`, "ask", oneLine(e.text)];
    return [`◔ Stopped: ${name}${e.resets_at ? `; resets ${moment(e.resets_at)}` : ""}`, "ask"];
  },
  LimitApproached: (e) => [`⚠ ${Math.round(e.utilization * 100)}% of the usage limit is used`, "ask"],
  ResumePlanned: (e) => [`Goes on by itself at ${moment(e.resumes_at)}`, "quiet", oneLine(e.reason)],
  BudgetApproached: (e) => [`⚠ Budget nearly used up: ${oneLine(e.name)}`, "ask"],
  BudgetUsedUp: (e) => [`✗ Budget used up: ${oneLine(e.name)}`, "bad"],
  ApiUnanswered: (e) => [`⚠ ${oneLine(e.text)}`, "ask"],
  MemoryOutgrown: (e) => [`✗ ${oneLine(e.text)}`, "bad"],
  BackgroundAwaited: (e) => [`◔ ${oneLine(e.text)}`, "quiet"],
  SnapshotMissed: (e) => [`No snapshot: ${oneLine(e.reason)}; what is done cannot be undone here`, "quiet"],
  UndoBegan: (e) => [`Files are put back as they were before ${e.to}`, "ask", `by ${oneLine(e.by)}; kept for the way back: ${e.kept}`],
  ConditionMet: (e) => [`It succeeds, and the task is due: ${oneLine(e.command)}`],
  PlanProposed: (e) => [`Plan:\n${clean(e.lines.join("\n"))}`],
  ChecksBegan: (e) => [`Claude says it is done; checking: ${oneLine(e.commands.join("; "))}`],
  AskedInPassing: (e) => [`Claude ends its turn with a question, and is told to ask it: ${oneLine(e.question)}`],
  CheckEnded: (e) =>
    e.trouble
      ? [`✗ ${oneLine(e.command)}`, "bad", `${oneLine(e.trouble)}${e.text ? `: ${oneLine(e.text)}` : ""}`]
      : [`✓ ${oneLine(e.command)}`, "tool", duration(e.seconds)],
  HandoverDue: (e) => [`Handover: ${oneLine(e.reason)}`, "ask"],
  HandoverDone: (e) => [`✓ Iteration ${e.iteration} handed over`, "tool", oneLine(e.reason)],
  TaskSettled: (e) => {
    if (e.state === "done") return ["✓ Task completed", "good"];
    if (e.state === "waiting" && !e.due) return ["Waits for a person; nothing runs meanwhile", "quiet"];
    if (e.state === "waiting" && isLimit(e.result)) return null; // the limit's own line says it
    if (e.state === "waiting") return e.result ? [`Goes on at ${moment(e.due)}: ${oneLine(e.result)}`, "quiet"] : null;
    return ["failed", "parked", "missed"].includes(e.state) ? [`✗ Task ${e.state}: ${oneLine(e.result)}`, "bad"] : null;
  },
  ProblemNoticed: (e) => [`✗ ${oneLine(e.text)}`, "bad", oneLine(e.hint)],
  RunEnded: (e) => [`Run ended: ${counted(e.turns, "turn")}, ${money(e.cost_usd)}`, "quiet", oneLine(e.error)],
  SessionStatusChanged: (e) => {
    if (e.after === "IDLE" && e.detail === "taken over after a restart") return ["Cut off, and taken over after a restart of the daemon", "ask"];
    const words = { PAUSED: "‖ Paused", COMPLETED: "✓ Session completed", STOPPED: "■ Session stopped", ERROR: "✗ Session stopped working" };
    return words[e.after] ? [words[e.after], e.after === "ERROR" ? "bad" : "head", clean(e.detail)] : null;
  },
};

// What is said about a call, and asked; the call itself is named as it was made, and Claude's words are its own.
const SAID = ["reason", "result", "detail", "question"];
const TEXTS = new Set(["ToolFailed", "ProblemNoticed"]);
const TITLES = new Set(["question", "error"]);

function fromProject(event, project) {
  const names = [...SAID, TEXTS.has(event.kind) ? "text" : "", TITLES.has(event.type) ? "title" : ""].filter((name) => event[name]);
  const told = { ...event, ...Object.fromEntries(names.map((name) => [name, fromHome(event[name], project)])) };
  if (event.kind === "QuestionAsked") told.questions = event.questions.map((one) => ({ ...one, question: fromHome(one.question, project) }));
  return told;
}

function line(event, project) {
  const told = LEVELS.includes(event.level) ? LINES[event.kind]?.(fromProject(event, project)) : null;
  if (!told || !told[0]) return null;
  const [words, look = "", more = ""] = told;
  return el(
    look ? `li.${look}` : "li",
    { "data-seq": event.seq },
    el("time", { datetime: new Date(event.at * 1000).toISOString() }, clock(event.at)),
    el("div.words", {}, words, more ? el("span.more", {}, more) : null),
  );
}

/** A page that is short may have been cut for its size, and says nothing of what is before it. */
const isBeginning = (events) => !events.length || events[0].kind === "SessionCreated";

export class Log {
  constructor(link, session) {
    this.link = link;
    this.session = session;
    this.project = "";
    this.last = 0;
    this.first = 0;
    this.pending = [];
    this.frame = 0;
    this.follows = true;
    this.limit = null; // the newest one, until it is known when the session goes on
    this.lines = el("ol.log", { tabindex: "0", role: "log", "aria-live": "off", "aria-label": "Log, newest last" });
    this.earlier = button("Earlier", () => this.back(), "small");
    this.newest = button("Newest", () => this.restart(), "small");
    this.newest.hidden = true;
    this.earlier.hidden = true;
    this.node = el("div.log-box", {}, el("div.row", {}, el("h3", {}, "Log"), this.earlier, this.newest), this.lines);
    this.lines.addEventListener("scroll", () => {
      this.follows = this.lines.scrollHeight - this.lines.scrollTop - this.lines.clientHeight < 40;
    });
  }

  /** The newest page of the past; the caller then follows from `last` on. */
  async begin() {
    const events = await this.tail();
    this.lines.replaceChildren(...this.told(events));
    this.first = events[0]?.seq ?? 0;
    this.last = Math.max(this.last, events.at(-1)?.seq ?? 0);
    this.isBack = false;
    this.earlier.hidden = isBeginning(events);
    this.newest.hidden = true;
    this.follows = true;
    this.lines.scrollTop = this.lines.scrollHeight;
  }

  tail(before) {
    const params = { session: this.session, count: PAGE, levels: LEVELS };
    return this.link.call("events.tail", before ? { ...params, before } : params);
  }

  restart() {
    this.begin().catch(() => {});
  }

  async back() {
    let events;
    try {
      events = await this.tail(this.first);
    } catch {
      return;
    }
    this.earlier.hidden = isBeginning(events);
    if (!events.length) return;
    this.first = events[0].seq;
    const top = this.lines.firstChild;
    const height = this.lines.scrollHeight;
    const limit = this.limit;
    this.lines.prepend(...this.told(events));
    this.limit = limit;
    if (top) this.lines.scrollTop += this.lines.scrollHeight - height;
    while (this.lines.childElementCount > MOST) {
      this.isBack = true; // the newest are not here any more: nothing is added below them
      this.lines.lastChild.remove();
    }
    this.newest.hidden = !this.isBack;
  }

  /** A limit and when the session goes on are one entry. */
  told(events) {
    const made = [];
    for (const event of events) {
      const limit = this.limit && event.at - this.limit.at < AT_ONCE ? this.limit : null;
      if (limit && event.kind === "ResumePlanned" && !event.model) {
        put(limit.words, el("span.more", {}, `Goes on by itself at ${moment(event.resumes_at)}`));
        this.limit = null;
        continue;
      }
      const node = line(event, this.project);
      if (!node) continue;
      if (event.kind === "LimitReached") this.limit = { at: event.at, words: node.lastChild };
      made.push(node);
    }
    return made;
  }

  add(event) {
    if (event.seq <= this.last) return;
    this.last = event.seq;
    if (this.isBack) return;
    this.pending.push(event);
    if (this.pending.length > 2 * MOST) this.pending.splice(0, MOST);
    // No eye sees more than five a second, and a burst of thousands is drawn once.
    if (!this.frame) this.frame = setTimeout(() => this.draw(), 200);
  }

  draw() {
    this.frame = 0;
    const fresh = this.pending.slice(-MOST);
    if (fresh.length < this.pending.length) {
      // Lines with a hole between them would tell a wrong story.
      this.lines.replaceChildren();
      this.first = fresh[0].seq;
      this.earlier.hidden = false;
    }
    this.pending = [];
    this.lines.append(...this.told(fresh));
    while (this.lines.childElementCount > MOST) {
      this.first = Number(this.lines.children[1].dataset.seq);
      this.lines.firstChild.remove();
      this.earlier.hidden = false;
    }
    if (this.follows) this.lines.scrollTop = this.lines.scrollHeight;
  }
}
