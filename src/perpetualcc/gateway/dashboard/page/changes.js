// What a session or one of its tasks has changed, and the way back. Git is asked when a person asks.

import { button, clean, clock, counted, el, fill, moment, oneLine, put, say } from "./dom.js";

const BECOMES = { added: "bring back", changed: "put back", deleted: "remove" };
const STEPS = 30;

export class Changes {
  constructor(link, session) {
    this.link = link;
    this.session = session;
    this.asked = 0;
    this.since = el("select", { id: "since", onchange: () => this.read() });
    this.again = button("Look again", () => this.read(), "small");
    this.word = el("p.quiet", { role: "status" });
    this.problem = el("p.bad", { role: "alert" });
    this.body = el("div");
    this.undo = button("Undo…", () => this.plan(this.since.value || this.found.since.name), "small");
    this.panel = el("div.undo", { role: "group", "aria-label": "Undo", tabindex: "-1", hidden: true });
    this.chooser = el("div.row", { hidden: true }, el("label.hidden", { for: "since" }, "Changed since"), this.since, this.again, el("span.work", {}, this.undo));
    this.node = el(
      "details.changes",
      {},
      el("summary", {}, el("h3", {}, "What has changed")),
      el("div.body", {}, this.chooser, this.word, this.problem, el("div.work", {}, this.panel), this.body),
    );
    this.node.addEventListener("toggle", () => this.node.open && !this.asked && this.read());
  }

  /** After each connection: it was opened without one, or one was lost. */
  begin() {
    if (this.node.open && !this.found) this.read();
  }

  /** By a link to it: what is above may still be on its way. */
  open() {
    this.node.open = this.isWanted = true;
    this.come();
  }

  come() {
    if (this.isWanted) this.node.scrollIntoView({ block: "start" });
  }

  /** What the newest question is about; older answers come to nothing. */
  async read() {
    const asked = ++this.asked;
    const task = this.since.value;
    say(this.word, "Git looks…");
    say(this.problem, "");
    this.again.setAttribute("aria-disabled", "true"); // not `disabled`: the keyboard is at it
    try {
      const found = await this.link.call("snapshot.changes", this.named(task));
      if (asked === this.asked) this.show(found, task);
    } catch (error) {
      if (asked === this.asked) this.failed(error);
    } finally {
      if (asked === this.asked) this.again.removeAttribute("aria-disabled");
    }
  }

  named(task) {
    return task ? { session: this.session, task } : { session: this.session };
  }

  /** As it is typed in a terminal. */
  command(task) {
    return `pcc diff ${this.session}${task ? ` ${task}` : ""}`;
  }

  failed(error) {
    say(this.word, "");
    say(this.problem, inWords(error));
    if (!this.found) this.asked = 0; // closed and opened, it is asked again
  }

  show(found, task) {
    this.found = found;
    const first = el("option", { value: "" }, "Since the session began");
    fill(this.since, first, found.snapshots.map((one) => el("option", { value: one.name }, choice(one))));
    this.since.value = task;
    this.chooser.hidden = false;
    const sum = found.total ? [counted(found.total, "file"), `+${found.added.toLocaleString("en")}`, `−${found.removed.toLocaleString("en")}`].join(" ") : "Nothing has changed";
    say(this.word, `${sum} ${until(found)}`);
    fill(
      this.body,
      oneStop(el("ul.files", { "aria-label": "Files; the arrow keys go from one to the next" }, found.files.map((one) => this.file(one, task)))),
      found.total > found.files.length ? el("p.quiet", {}, `${counted(found.total - found.files.length, "file")} more: ${this.command(task)} --stat`) : null,
      commits(found),
      found.left_out_total ? el("p.quiet", {}, `Not compared: ${some(found.left_out, found.left_out_total)}`) : null,
    );
    this.come();
    this.isWanted = false;
  }

  file(one, task) {
    const counts = one.added === null ? [el("span", {}, "no text")] : [one.added ? el("ins", {}, `+${one.added.toLocaleString("en")}`) : null, one.removed ? el("del", {}, `−${one.removed.toLocaleString("en")}`) : null];
    const word = one.change === "changed" ? null : el("span.tag", {}, one.change);
    const patch = el("div.patch");
    const node = el("details", {}, el("summary", {}, el("span.line", {}, el("bdi", {}, oneLine(one.name)), el("span.counts", {}, word, counts))), patch);
    let isRead = false;
    node.addEventListener("toggle", async () => {
      if (!node.open || isRead) return;
      isRead = true;
      fill(patch, el("p.quiet", { role: "status" }, "Reading…"));
      try {
        const found = await this.link.call("snapshot.patch", { ...this.named(task), file: one.id });
        fill(patch, patchOf(found.text), found.is_cut ? el("p.quiet", {}, `Cut: it goes on. All of it: ${this.command(task)}`) : null);
      } catch (error) {
        isRead = false;
        fill(patch, el("p.bad", {}, inWords(error)));
      }
    });
    return el("li", {}, node);
  }

  /** What undoing would change, before anything is asked for. */
  async plan(snapshot) {
    say(this.problem, "");
    this.tell(el("p.quiet", { role: "status" }, "Git looks…"));
    try {
      const found = await this.link.call("snapshot.plan", { session: this.session, snapshot });
      this.tell(...this.offer(found));
    } catch (error) {
      this.tell(el("p.bad", { role: "alert" }, inWords(error)), el("div.row", {}, this.leave("Close")));
    }
  }

  offer(found) {
    const place = this.found.snapshots.findIndex((one) => one.name === found.to.name);
    const isMiddle = this.found.snapshots.slice(place + 1).some((one) => one.task);
    const problem = el("p.bad", { role: "alert" });
    const head = el("h4", {}, `To the files as they were ${called(found.to)}`);
    if (!found.total) return [head, el("p", {}, "There is nothing to put back: they are as they were."), el("div.row", {}, this.leave("Close"))];
    const steps = found.files.slice(0, STEPS);
    const isFree = !found.at_work.length;
    const go = button(`Put ${counted(found.total, "file")} back`, () => this.restore(found, go, problem), "danger");
    return [
      head,
      el("ul.steps", {}, steps.map((one) => el("li", {}, el("span.quiet", {}, BECOMES[one.change] ?? oneLine(one.change)), el("bdi", {}, oneLine(one.name))))),
      found.total > steps.length ? el("p.quiet", {}, `… and ${counted(found.total - steps.length, "file")} more`) : null,
      found.to.task && isMiddle ? el("p", {}, "What the tasks after it changed goes back, too.") : null,
      found.spared_total ? el("p.quiet", {}, `Left alone, as it was not in the snapshot: ${some(found.spared, found.spared_total)}`) : null,
      ...history(found),
      ...found.at_work.map((one) => el("p.bad", {}, `Session ${oneLine(one.name)} (${one.id}) works on these files: wait for it, or pause it.`)),
      isFree ? el("p", {}, "What they are now is kept first, so that this can be taken back.") : null,
      el("div.row", {}, isFree ? go : null, this.leave(isFree ? "Leave it" : "Close")),
      problem,
    ];
  }

  async restore(planned, go, problem) {
    go.disabled = true;
    say(problem, "");
    try {
      const { kept, total } = await this.link.call("snapshot.restore", { session: this.session, snapshot: planned.to.name, present: planned.present });
      const back = button(`Return to ${kept}…`, () => this.plan(kept));
      this.tell(
        el("p.done", { role: "status" }, `${counted(total, "file")} put back: all is as it was ${called(planned.to)}.`),
        el("p", {}, `What was there before is kept as ${kept}.`),
        el("div.row", {}, back, this.leave("Close")),
      );
      this.read();
    } catch (error) {
      go.disabled = false;
      say(problem, inWords(error));
    }
  }

  /** The keyboard goes on in it. */
  tell(...words) {
    this.panel.hidden = false;
    fill(this.panel, words);
    this.panel.focus();
  }

  leave(words) {
    return button(words, () => {
      this.panel.hidden = true;
      this.undo.focus();
    });
  }
}

/** For the Tab key a long list is one place; in it the arrow keys lead from row to row. */
function oneStop(list) {
  const rows = [...list.querySelectorAll("summary")];
  const stopAt = (row) => rows.forEach((one) => { one.tabIndex = one === row ? 0 : -1; });
  stopAt(rows[0]);
  list.addEventListener("focusin", ({ target }) => rows.includes(target) && stopAt(target));
  list.addEventListener("keydown", (event) => {
    const at = rows.indexOf(event.target);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1 }[event.key];
    if (at < 0 || to === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    rows[to]?.focus();
  });
  return list;
}

const inWords = (error) => [error.message, error.hint].filter(Boolean).map(clean).join(". ");

const some = (names, total) => `${names.map((one) => oneLine(one, 120)).join(", ")}${total > names.length ? ", …" : ""}`;

const called = (one) => `${moment(one.at)}, before ${one.task ? `“${oneLine(one.prompt || one.task, 100)}”` : one.name}`;

function choice(one) {
  return one.task ? `Task of ${moment(one.at)}: ${oneLine(one.prompt || one.task, 60)}` : `Since before ${one.name} (${moment(one.at)})`;
}

function until({ since, until: next }) {
  const from = `since ${moment(since.at)}`;
  return next ? `${from}, until the next task began` : `${from}, as of ${clock(Date.now() / 1000)}`;
}

function commits(found) {
  if (!found.commits_total) return null;
  const rest = found.commits_total - found.commits.length;
  return el(
    "div.commits",
    {},
    el("p", {}, `${counted(found.commits_total, "commit")} since:`),
    el("ul", {}, found.commits.map((one) => el("li", {}, el("code", {}, one.id), ` ${oneLine(one.subject)}`)), rest ? el("li", {}, `… and ${rest.toLocaleString("en")} before`) : null),
  );
}

/** Files come back; what was committed does not move. */
function history({ commits_total: total, to }) {
  if (!total) return [];
  const stay = `${counted(total, "commit")} since ${total === 1 ? "stays in its" : "stay in their"} branch: this is about files.`;
  const reset = to.head ? [" To take the branch back, files as they are: ", el("code", {}, `git reset ${to.head.slice(0, 12)}`)] : [];
  return [el("p.quiet", {}, stay, reset)];
}

const KINDS = { "+": "ins", "-": "del", "@": "span.hunk" };

/** Lines of a kind are one element: a long patch is few of them. */
function patchOf(text) {
  const pre = el("pre", { tabindex: "0" });
  let kind = null;
  let lines = [];
  const end = () => lines.length && put(pre, el(kind, {}, lines.join("\n")));
  for (const line of text.split("\n")) {
    const is = KINDS[line[0]] ?? "span";
    if (is !== kind) {
      end();
      [kind, lines] = [is, []];
    }
    lines.push(line);
  }
  end();
  return pre;
}
