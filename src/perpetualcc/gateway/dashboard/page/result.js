// What a session made in its worktree: whether it would merge, and taking it or throwing it away.

import { button, clean, counted, el, fill, oneLine, put, say } from "./dom.js";

const WORKTREES = "/.claude/worktrees/";
const MOST = 10;

export class Result {
  constructor(link, session) {
    this.link = link;
    this.session = session;
    this.asked = 0;
    this.again = button("Look again", () => this.read(), "small");
    this.word = el("p.quiet", { role: "status" });
    this.problem = el("p.bad", { role: "alert" });
    this.body = el("div");
    this.take = button("Accept…", () => this.plan(this.take, false), "small");
    this.drop = button("Discard…", () => this.plan(this.drop, true), "small");
    this.panel = el("div.undo", { role: "group", "aria-label": "Accept or discard", tabindex: "-1", hidden: true });
    this.ways = el("div.row", { hidden: true }, this.again, el("span.work", {}, this.take), el("span.work", {}, this.drop));
    this.node = el(
      "details.changes",
      { hidden: true },
      el("summary", {}, el("h3", {}, "Its worktree")),
      el("div.body", {}, this.ways, this.word, this.problem, el("div.work", {}, this.panel), this.body),
    );
    this.node.addEventListener("toggle", () => this.node.open && !this.asked && this.read());
  }

  /** Only of a session in a worktree there is more than what has changed. */
  show(session) {
    this.node.hidden = !session.project.includes(WORKTREES);
  }

  /** After each connection: it was opened without one, or one was lost. */
  begin() {
    if (this.node.open && !this.found) this.read();
  }

  async read() {
    const asked = ++this.asked;
    say(this.word, "Git looks…");
    say(this.problem, "");
    this.again.setAttribute("aria-disabled", "true"); // not `disabled`: the keyboard is at it
    try {
      const found = await this.link.call("result.review", { session: this.session });
      if (asked === this.asked) this.tell(found);
    } catch (error) {
      if (asked === this.asked) this.failed(error);
    } finally {
      if (asked === this.asked) this.again.removeAttribute("aria-disabled");
    }
  }

  failed(error) {
    say(this.word, "");
    say(this.problem, inWords(error));
    fill(this.body);
    this.found = null;
    this.asked = 0; // closed and opened, it is asked again
  }

  tell(found) {
    this.found = found;
    this.ways.hidden = false;
    say(this.word, `Branch ${oneLine(found.branch)}, into ${oneLine(found.into) || "nothing: no branch is checked out"} (${oneLine(found.main)})`);
    const isNothing = !(found.commits_total || found.not_committed_total || found.left_out_total);
    fill(
      this.body,
      ...work(found.told),
      isNothing ? el("p", {}, "Nothing is there that the main working tree has not.") : null,
      ...(isNothing ? [] : made(found)),
    );
  }

  /** What it would do, before anything is asked for. */
  async plan(from, discard) {
    this.from = from;
    this.panelSays(el("p.quiet", { role: "status" }, "Git looks…"));
    try {
      const found = await this.link.call("result.plan", { session: this.session, discard });
      this.panelSays(...(discard ? this.loss(found) : this.offer(found)));
    } catch (error) {
      this.panelSays(el("p.bad", { role: "alert" }, inWords(error)), el("div.row", {}, this.leave("Close")));
    }
  }

  offer(found) {
    const head = el("h4", {}, `Merge ${oneLine(found.branch)} into ${oneLine(found.into)}`);
    if (found.is_nothing) return [head, el("p", {}, "There is nothing to merge: it is merged already."), el("div.row", {}, this.leave("Close"))];
    return [
      head,
      el("p", {}, `In ${oneLine(found.main)}. No hook of the repository is run.`),
      commits(found),
      ...this.asks(`Merge ${counted(found.commits_total, "commit")}`, "result.accept", found, (done) => [
        el("p.done", { role: "status" }, `Merged ${oneLine(found.branch)} into ${oneLine(found.into)}: ${counted(done.files, "file")}, now ${done.now.slice(0, 12)}.`),
        done.back ? el("p", {}, "Take that back with: ", el("code", {}, done.back)) : null,
      ]),
    ];
  }

  loss(found) {
    return [
      el("h4", {}, `Throw away ${oneLine(found.place)} and the branch ${oneLine(found.branch)}`),
      found.commits_total ? el("p", {}, `${counted(found.commits_total, "commit")} not merged:`) : el("p", {}, "All that is committed is merged."),
      commits(found),
      found.not_committed_total ? el("p", {}, `Not committed: ${some(found.not_committed, found.not_committed_total)}`) : null,
      el("p", {}, "All of it is kept first, so that it can be brought back. What git ignores there (.env, node_modules) goes. Sessions there that are not over are stopped."),
      ...this.asks("Throw it away", "result.discard", found, (done) => [
        el("p.done", { role: "status" }, "The worktree is removed.", done.stays ? ` ${oneLine(done.stays)}.` : ""),
        el("p", {}, "Bring it back with: ", el("code", {}, `pcc undo ${this.session} ${done.kept}`)),
      ]),
    ];
  }

  /** The button that does it, and what is said when it is done. */
  asks(words, method, planned, told) {
    const problem = el("p.bad", { role: "alert" });
    const go = button(words, async () => {
      go.disabled = true;
      say(problem, "");
      try {
        const done = await this.link.call(method, { session: this.session, present: planned.present });
        this.panelSays(...told(done), el("div.row", {}, this.leave("Close")));
        this.read();
      } catch (error) {
        go.disabled = false;
        say(problem, inWords(error));
      }
    }, method === "result.discard" ? "danger" : "primary");
    return [el("div.row", {}, go, this.leave("Leave it")), problem];
  }

  /** The keyboard goes on in it. */
  panelSays(...words) {
    this.panel.hidden = false;
    fill(this.panel, words);
    this.panel.focus();
  }

  leave(words) {
    return button(words, () => {
      this.panel.hidden = true;
      this.from.focus();
    });
  }
}

const inWords = (error) => [error.message, error.hint].filter(Boolean).map(clean).join(". ");

const some = (names, total) => `${names.map((one) => oneLine(one, 120)).join(", ")}${total > names.length ? ", …" : ""}`;

/** Tasks are listed above; what proved them, and what was refused. */
function work(told) {
  if (!told) return [];
  const proofs = Object.entries(told.proofs ?? {}).map(([command, trouble]) => (trouble ? el("li.bad", {}, `✗ Check ${oneLine(command)}: ${oneLine(trouble)}`) : el("li.good", {}, `✓ Check ${oneLine(command)}`)));
  const refused = told.refused.slice(-MOST).map((call) => el("li", {}, `✗ Refused${call.times > 1 ? ` ${call.times} times` : ""}: ${oneLine(call.tool)} → ${oneLine(call.summary)}`, el("span.more", {}, oneLine(call.reason))));
  return proofs.length || refused.length ? [el("ul.result", {}, proofs, refused)] : [];
}

function made(found) {
  const sum = `${counted(found.total, "file")}, +${found.added.toLocaleString("en")} −${found.removed.toLocaleString("en")}`;
  return [
    el("p", {}, merges(found)),
    found.commits_total ? el("p", {}, `${counted(found.commits_total, "commit")}:`) : null,
    commits(found),
    found.not_committed_total ? el("p", {}, `Not committed: ${some(found.not_committed, found.not_committed_total)}`) : null,
    found.left_out_total ? el("p", {}, `Not looked at: ${some(found.left_out, found.left_out_total)}`) : null,
    found.total ? el("p", {}, sum) : null,
    el("ul.steps", {}, found.files.map(file)),
    found.total > found.files.length ? el("p.quiet", {}, `… and ${counted(found.total - found.files.length, "file")} more`) : null,
  ];
}

function merges(found) {
  if (found.blocked_total) return `In the way, as changed in the main working tree: ${some(found.blocked, found.blocked_total)}`;
  if (found.conflicts_total) return `Conflicts in ${counted(found.conflicts_total, "file")}: ${some(found.conflicts, found.conflicts_total)}`;
  const words = { nothing: "All that is committed is merged.", forward: "Merges cleanly: the branch just moves along.", clean: "Merges cleanly." };
  return words[found.merge] ?? "Whether it merges is not known: that needs git 2.38.";
}

const file = (one) => el("li", {}, el("span.quiet", {}, one.added === null ? "no text" : `+${one.added} −${one.removed}`), el("bdi", {}, oneLine(one.name)));

function commits(found) {
  const list = el("ul", {}, found.commits.map((one) => el("li", {}, el("code", {}, one.id), ` ${oneLine(one.subject)}`)));
  const rest = found.commits_total - found.commits.length;
  if (rest) put(list, el("li", {}, `… and ${rest.toLocaleString("en")} before`));
  return found.commits_total ? el("div.commits", {}, list) : null;
}
