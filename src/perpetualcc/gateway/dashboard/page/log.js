// A session's log: one entry for each thing that happened, and no more of them on the page than it can carry.

import { button, dedented, el, put, time, written } from "./dom.js";

export const MOST = 1000;
const PAGE = 300;
const LEVELS = ["info", "warn", "error"];
const LOOKS = { TaskStarted: "li.head", ToolDecided: "li.tool", ToolFailed: "li.tool", CheckEnded: "li.tool" };

const more = (lines) => lines.map((line) => el("span.more", {}, written(line)));

function entry({ seq, at, kind, lines: [first, ...rest], number }) {
  const words = kind === "TextSaid" ? spoken([first, ...dedented(rest)].join("\n")) : [written(first.trim()), more(dedented(rest))];
  return el(
    LOOKS[kind] ?? "li",
    { "data-seq": seq },
    time("clock", at),
    el("div.words", {}, words, answerTo(kind, number)),
  );
}

/** One text, whose direction is its own. */
function spoken(text) {
  const [, who, words] = /^(\w+: )?([^]*)$/.exec(text);
  return [who, el("bdi", {}, words)];
}

const answerTo = (kind, number) => (/^Escalation(Raised|Reminded)$/.test(kind) ? el("a.more", { href: `#/waiting/${number}` }, "Answer it") : null);

/** A page that is short may have been cut for its size, and says nothing of what is before it. */
const isBeginning = (events) => !events.length || events[0].kind === "SessionCreated";

export class Log {
  constructor(link, session) {
    this.link = link;
    this.session = session;
    this.last = 0;
    this.first = 0;
    this.pending = [];
    this.frame = 0;
    this.follows = true;
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
    this.lines.replaceChildren();
    this.lines.append(...this.told(events));
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
    this.lines.prepend(...this.told(events));
    if (top) this.lines.scrollTop += this.lines.scrollHeight - height;
    while (this.lines.childElementCount > MOST) {
      this.isBack = true; // the newest are not here any more: nothing is added below them
      this.lines.lastChild.remove();
    }
    this.newest.hidden = !this.isBack;
  }

  /** What tells more of the newest entry stands in it. */
  told(events) {
    const made = [];
    for (const event of events) {
      if (!event.lines) continue;
      if (event.kind === "EscalationSettled") {
        for (const one of [this.lines, ...made]) one.querySelector(`a[href="#/waiting/${event.number}"]`)?.remove();
      }
      const above = (made.at(-1) ?? this.lines.lastChild)?.lastChild;
      if (event.below && above) {
        put(above, more(dedented(event.lines)), answerTo(event.kind, event.number));
      } else {
        made.push(entry(event));
      }
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
