// Elements and words. Whatever a session says becomes text, never markup.

// Control characters and those that turn the direction of a line: a command must look as it is.
// Joiners stay: scripts and emoji need them.
const STEERING = /(?![\t\n\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u115f\u1160\u3164\uffa0]/gu;

export const clean = (text) => String(text ?? "").replaceAll("\r\n", "\n").replace(STEERING, "\ufffd");

export const oneLine = (text, most = 300) => {
  const line = clean(text).replace(/\s+/g, " ").trim();
  return line.length > most ? `${line.slice(0, most)}…` : line;
};

/** The text without the project's path before what lies in it; never for a call, which is named as it is made. */
export function fromHome(text, project) {
  if (!project) return text;
  const path = `${project}/`.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return clean(text).replace(new RegExp(`(?<![\\p{L}\\p{N}_./-])${path}`, "gu"), "");
}

/** el("p.quiet", {title: "…"}, "text", child, …); what is null or empty is left out. */
export function el(name, given = {}, ...children) {
  const [tag, ...classes] = name.split(".");
  const made = document.createElement(tag);
  if (classes.length) made.className = classes.join(" ");
  for (const [key, value] of Object.entries(given)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value === true) made.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(key, value);
  }
  put(made, ...children);
  return made;
}

export function put(parent, ...children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === "") continue;
    parent.append(child instanceof Node ? child : document.createTextNode(clean(child)));
  }
}

export function fill(parent, ...children) {
  parent.replaceChildren();
  put(parent, ...children);
}

/** Sets a text only where it changed, so that a selection in it stays. */
export function say(node, text) {
  const words = clean(text);
  if (node.textContent !== words) node.textContent = words;
}

export const button = (words, press, kind = "") =>
  el(kind ? `button.${kind}` : "button", { type: "button", onclick: press }, words);

const STATUS = {
  IDLE: ["○", "Idle"],
  PROCESSING: ["●", "Running"],
  WAITING_INPUT: ["?", "Waiting"],
  RATE_LIMITED: ["◔", "Limited"],
  PAUSED: ["‖", "Paused"],
  COMPLETED: ["✓", "Completed"],
  STOPPED: ["■", "Stopped"],
  ERROR: ["✗", "Error"],
};

export const TASK = { queued: "○", running: "●", waiting: "◔", done: "✓", failed: "✗", parked: "✗", cancelled: "■", missed: "✗" };

/** Whether all it has to do is for later: at a time, or once a condition holds. */
function isScheduled({ status, resumes_at: at, detail, delay = "" }) {
  return status === "IDLE" && ((at && (!detail || detail === delay)) || delay.startsWith("begins "));
}

export function standing(session) {
  return isScheduled(session) ? ["○", "Scheduled"] : STATUS[session.status] ?? ["·", session.status];
}

/** `Completed` alone would hide that calls were refused on the way. */
export function statusWord(session) {
  const [, word] = standing(session);
  return session.status === "COMPLETED" && session.refused ? `${word}, ${session.refused.toLocaleString("en")} refused` : word;
}

export function statusMark(session) {
  const [[symbol], word] = [standing(session), statusWord(session)];
  const mark = el("span.status", { "data-status": session.status }, el("span", { "aria-hidden": "true" }, symbol), ` ${word}`);
  return mark;
}

// Times and lengths of time are written as the terminal's commands write them (domain/times.py).

/** Two units at most: `12s`, `4m 59s`, `1h 20m`, `2h`. */
export function duration(seconds) {
  if (seconds > 0 && seconds < 1) return `${Number(seconds.toFixed(1))}s`;
  const total = Math.max(0, Math.floor(seconds));
  const units = [[Math.floor(total / 86400), "d"], [Math.floor(total / 3600) % 24, "h"], [Math.floor(total / 60) % 60, "m"], [total % 60, "s"]];
  const first = units.findIndex(([number]) => number > 0);
  if (first < 0) return "0s";
  return units.slice(first, first + 2).filter(([number]) => number > 0).map((unit) => unit.join("")).join(" ");
}

export function ago(at) {
  const passed = Math.floor(Date.now() / 1000 - at);
  return `${duration(passed < 60 ? passed : passed - (passed % 60))} ago`;
}

const two = (number) => String(number).padStart(2, "0");
const day = (when) => `${when.getFullYear()}-${two(when.getMonth() + 1)}-${two(when.getDate())}`;
const hour = (when) => `${two(when.getHours())}:${two(when.getMinutes())}`;
const isToday = (when) => day(when) === day(new Date());

/** `17:30` today, `Mon 17:30` within the next days, else with the date. */
export function moment(at) {
  const when = new Date(at * 1000);
  if (Number.isNaN(when.getTime())) return "never";
  if (isToday(when)) return hour(when);
  const ahead = when.getTime() - Date.now();
  const isSoon = ahead > 0 && ahead < 6 * 86400e3;
  return `${isSoon ? ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"][when.getDay()] : day(when)} ${hour(when)}`;
}

/** When a session that waits for a time goes on; nothing for others. */
export function goesOn(session) {
  if (!session.resumes_at) return "";
  return `${isScheduled(session) ? "Begins" : "Resumes"} ${moment(session.resumes_at)}`;
}

/** Of something in a log: `14:30:22` today, else `2026-11-22 14:30:22`. */
export function clock(at) {
  const when = new Date(at * 1000);
  return `${isToday(when) ? "" : `${day(when)} `}${hour(when)}:${two(when.getSeconds())}`;
}

export function thousands(tokens) {
  if (tokens >= 999_500) return `${Number((tokens / 1e6).toFixed(2))}M`;
  if (tokens >= 9_950) return `${Math.round(tokens / 1000)}K`;
  return tokens >= 1000 ? `${Number((tokens / 1000).toFixed(1))}K` : String(tokens ?? 0);
}

/** What a context is measured against: where a perpetual session hands over, else the model's window. */
export const contextBound = (session) => session.perpetual?.hard_tokens || session.context_window;

const WINDOWS = { five_hour: "5-hour window", seven_day: "week", overage: "paid credits", overage_included: "week of single models" };

/** A subscription's windows, as Claude Code last told of them: `5-hour window 34% used`. */
export function windowsUsed(windows) {
  return (windows ?? []).map((one) => {
    const kind = one.window.replace(/^seven_day_/, "").replaceAll("_", " ");
    const name = WINDOWS[one.window] ?? `week of ${kind.charAt(0).toUpperCase()}${kind.slice(1)}`;
    return [`${name} ${Math.round(one.used * 100)}% used`, `resets ${moment(one.resets_at)}`];
  });
}

// What the terminal's commands say comes with their escapes: colours, and times for this browser's zone.
const ESCAPE = /\x1b\[(\d+)m([^\x1b]*)\x1b\[0m|\x1b\](moment|clock);([^\x07]+)\x07/g;
const LOOKS = { 1: "b", 2: "span.quiet", 31: "span.bad", 32: "span.good", 33: "span.ask", 36: "span.ask" };

/** A line of theirs, as text and elements. */
export function written(line) {
  const made = [];
  let end = 0;
  for (const found of line.matchAll(ESCAPE)) {
    const [all, colour, words, form, at] = found;
    made.push(line.slice(end, found.index), form ? time(form, at) : el(LOOKS[colour] ?? "span", {}, words));
    end = found.index + all.length;
  }
  return [...made, line.slice(end)];
}

const FORMS = { moment, clock };

/** What is called by its hour alone today has a date tomorrow. */
export function time(form, at) {
  return el("time", { "data-form": form, "data-at": at }, FORMS[form](Number(at)));
}

export function restamp() {
  for (const one of document.querySelectorAll("time")) say(one, FORMS[one.dataset.form](Number(one.dataset.at)));
}

/** Without what all of them are indented by. */
export function dedented(lines) {
  const margin = Math.min(...lines.filter((line) => line.trim()).map((line) => line.search(/\S/)));
  return lines.map((line) => line.slice(margin));
}

export const money = (usd) => `$${(usd ?? 0).toFixed(2)}`;

export const counted = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;

/** At most once in so many milliseconds, and once more when it was asked for meanwhile. */
export function seldom(work, pause) {
  let timer = null;
  let again = false;
  const run = async () => {
    again = false;
    try {
      await work();
    } finally {
      timer = setTimeout(() => {
        timer = null;
        if (again) run();
      }, pause);
    }
  };
  return () => {
    again = true;
    if (timer === null) {
      timer = 0;
      run();
    }
  };
}
