// What is shown when: the list, one session, what waits, the report; and the word at the top.

import { clean, contextBound, counted, el, fill, goesOn, money, oneLine, restamp, say, seldom, standing, statusWord, thousands, windowsUsed } from "./dom.js";
import { Link, UNSENT } from "./link.js";
import { Report } from "./report.js";
import { meter, SessionView } from "./session.js";
import { Waiting } from "./waiting.js";

const VIEWS = ["sessions", "session", "waiting", "report"];
const MOST_SESSIONS = 500;
const WORDS = { open: "Live", connecting: "Connecting…", away: "Engine away", gone: "Ended", locked: "Locked" };

const byId = (id) => document.getElementById(id);
const rows = new Map();
const names = new Map();
let session = null;
let isOpen = false;
let isChosen = false; // by a link: whoever goes back is where they were

const link = new Link({
  open: begin,
  event: arrived,
  scope(name) {
    document.body.dataset.scope = name;
  },
  state(name, message = "", hint = "") {
    isOpen = name === "open";
    const mark = byId("state");
    mark.dataset.state = name;
    say(mark, WORDS[name]);
    const notice = byId("notice");
    notice.hidden = !message;
    if (message) fill(notice, el("strong", {}, message), hint ? ` ${clean(hint)}` : "");
  },
});
const waiting = new Waiting(link, (id) => names.get(id) ?? id);
const report = new Report(link);

const list = seldom(readSessions, 1000);
const asks = seldom(readWaiting, 500);
const spent = seldom(readBudget, 5000);

async function begin() {
  for (const problem of document.querySelectorAll("p.bad")) {
    if (problem.textContent === UNSENT) say(problem, "");
  }
  list();
  asks();
  spent();
  const newest = await link.call("events.tail", { count: 1 });
  await link.call("events.follow", { since: newest.at(-1)?.seq ?? 0 });
  if (session) await session.begin();
  if (view()[0] === "report") report.read();
}

// What changes what is shown outside of a log; everything else is the log's.
const LISTED = new Set(["SessionCreated", "SessionStatusChanged", "TaskAdded", "TaskStarted", "TaskSettled", "UsageReported", "RunEnded", "ResumePlanned", "EscalationRaised", "EscalationSettled"]);

function arrived({ event: kind, data, subscription }) {
  if (kind === "subscription.failed") {
    link.socket.close();
    return;
  }
  if (LISTED.has(kind)) list();
  if (kind.startsWith("Escalation")) asks();
  if (kind === "RunEnded" || kind === "UsageReported") spent();
  session?.event(data, subscription);
}

async function readSessions() {
  if (!isOpen) return;
  const found = await link.call("session.list", { limit: MOST_SESSIONS }).catch(() => null);
  if (found) showSessions(found);
}

function showSessions(found) {
  const here = byId("session-list");
  const known = new Set(found.map((one) => one.id));
  for (const [id, row] of rows) {
    if (!known.has(id)) {
      row.node.remove();
      rows.delete(id);
    }
  }
  found.forEach((one, place) => {
    names.set(one.id, one.name || one.id);
    if (!rows.has(one.id)) rows.set(one.id, sessionRow(one.id));
    const row = rows.get(one.id);
    updateRow(row, one);
    if (here.children[place] !== row.node) here.insertBefore(row.node, here.children[place] ?? null);
  });
  const note = byId("sessions-note");
  note.hidden = found.length > 0 && found.length < MOST_SESSIONS;
  say(note, found.length ? `${found.length} of them, what is alive first; all: pcc list --limit N` : "No session yet. Begin one in a terminal: pcc start ./my-project --task \"…\"");
  filter();
  waiting.rename();
}

function sessionRow(id) {
  const row = { symbol: el("span", { "aria-hidden": "true" }), word: el("span"), name: el("strong"), task: el("span.title"), about: el("span.quiet"), bar: el("span.bar"), share: -1 };
  row.status = el("span.status", {}, row.symbol, " ", row.word);
  row.link = el("a", { href: `#/session/${encodeURIComponent(id)}` }, el("span.line", {}, row.name, row.status), row.task, el("span.line", {}, row.about, row.bar));
  row.node = el("li.card", {}, row.link);
  return row;
}

function updateRow(row, one) {
  const [[symbol], word] = [standing(one), statusWord(one)];
  row.status.dataset.status = one.status;
  say(row.symbol, symbol);
  say(row.word, word);
  say(row.name, one.name || one.id);
  const when = goesOn(one);
  say(row.task, oneLine(one.delay || [when, one.task || one.detail].filter(Boolean).join(": "), 200));
  const bound = contextBound(one);
  const share = bound ? Math.min(100, (100 * one.tokens) / bound) : 0;
  const context = `context ${thousands(one.tokens)}${bound ? ` of ${thousands(bound)}` : ""}`;
  // An engine of the version before does not say what a session cost.
  say(row.about, [one.id, one.spent ? money(one.spent.usd) : "", context].filter(Boolean).join(" · "));
  if (Math.round(share) !== row.share) {
    row.share = Math.round(share);
    fill(row.bar, bound ? meter(share) : null);
  }
  row.words = `${one.id} ${one.name} ${one.project} ${one.task} ${word}`.toLowerCase();
}

function filter() {
  const wanted = byId("filter").value.trim().toLowerCase();
  for (const row of rows.values()) row.node.hidden = wanted !== "" && !row.words.includes(wanted);
}

async function readWaiting() {
  if (!isOpen) return;
  const found = await Promise.all([link.call("escalation.list", { limit: 50 }), link.call("escalation.count")]).catch(() => null);
  if (!found) return;
  const [requests, total] = found;
  waiting.show(requests, total);
  session?.point();
  const badge = byId("count");
  badge.hidden = total === 0;
  say(badge, String(total));
  badge.setAttribute("aria-label", counted(total, "request"));
  document.title = total ? `(${total}) PerpetualCC` : "PerpetualCC";
}

async function readBudget() {
  if (!isOpen) return;
  const found = await link.call("budget.show").catch(() => null);
  if (!found) return;
  const windows = windowsUsed(found.windows);
  say(byId("today"), [`Today ${money(found.today.usd)}`, `${thousands(found.today.tokens)} fresh tokens`, ...windows.map(([used]) => used)].join(" · "));
  byId("today").title = windows.map((told) => told.join(", ")).join("\n");
}

const view = () => {
  const [, name = "sessions", rest = ""] = /^#\/(\w+)\/?(.*)$/.exec(location.hash) ?? [];
  return VIEWS.includes(name) ? [name, ...rest.split("/").map(decoded)] : ["sessions", ""];
};

/** An address that was typed or cut off names nothing that is here, and stops nothing. */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function route() {
  const [name, id, part] = view();
  document.body.dataset.view = name;
  if (isChosen) window.scrollTo(0, 0);
  isChosen = false;
  for (const one of VIEWS) byId(one).hidden = one !== name && !(one === "sessions" && name === "session");
  for (const one of document.querySelectorAll("nav a")) {
    if (one.dataset.view === name || (name === "session" && one.dataset.view === "sessions")) one.setAttribute("aria-current", "page");
    else one.removeAttribute("aria-current");
  }
  for (const [key, row] of rows) {
    if (name === "session" && key === id) row.link.setAttribute("aria-current", "true");
    else row.link.removeAttribute("aria-current");
  }
  // Whoever goes from a session to what waits still looks after it: its next call is held for them.
  if (session && name !== "waiting" && (name !== "session" || session.id !== id)) {
    session.end();
    if (name === "sessions") rows.get(session.id)?.link.focus({ preventScroll: true });
    session = null;
  }
  if (name === "session" && id && !session) {
    session = new SessionView(link, id, (of) => waiting.firstOf(of));
    if (isOpen) session.begin();
    // Its log and its form come after a list that may be long, or that a phone does not show.
    byId("session").focus({ preventScroll: true });
  }
  if (name === "session" && part === "changes") session?.changes.open();
  if (name === "waiting") waiting.open(id);
  if (name === "report" && isOpen) report.read();
}

// Past the list, too; and the address goes on saying what is shown.
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  byId(view()[0] === "session" ? "session" : "main").focus();
});
document.addEventListener("click", ({ target, defaultPrevented }) => {
  const hash = target.closest("a")?.hash;
  isChosen = Boolean(hash) && hash !== location.hash && !defaultPrevented;
});
byId("filter").addEventListener("input", filter);
window.addEventListener("hashchange", route);
const lookAgain = () => isOpen && document.visibilityState === "visible" && (asks(), list(), restamp());
let seen = Date.now();
setInterval(() => {
  // A machine that slept, or a clock that was set.
  if (Math.abs(Date.now() - seen - 30000) > 10000) link.wake();
  seen = Date.now();
  lookAgain();
}, 30000);
window.addEventListener("online", () => link.wake());
document.addEventListener("visibilitychange", () => {
  if (document.visibilityState !== "visible") return;
  link.wake();
  lookAgain();
  if (isOpen && view()[0] === "report") report.read();
});
route();
