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
  made.classList.add(...classes);
  for (const [key, value] of Object.entries(given)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value === true) made.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(key, value);
  }
  put(made, ...children);
  return made;
}

export function put(parent, ...children) {
  for (const child of children.flat()) {
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

export const STATUS = {
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

export function statusMark(status) {
  const [symbol, word] = STATUS[status] ?? ["·", status];
  const mark = el("span.status", { "data-status": status }, el("span", { "aria-hidden": "true" }, symbol), ` ${word}`);
  return mark;
}

export function duration(seconds) {
  const total = Math.max(0, Math.floor(seconds));
  const [days, hours, minutes] = [Math.floor(total / 86400), Math.floor(total / 3600) % 24, Math.floor(total / 60) % 60];
  if (days) return `${days}d ${hours}h`;
  if (hours) return `${hours}h ${minutes}m`;
  return minutes ? `${minutes}m` : `${total}s`;
}

export const ago = (at) => `${duration(Date.now() / 1000 - at)} ago`;

export function moment(at) {
  const when = new Date(at * 1000);
  if (Number.isNaN(when.getTime())) return "never";
  const clock = when.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hour12: false });
  if (when.toDateString() === new Date().toDateString()) return clock;
  return `${when.toLocaleDateString([], { day: "numeric", month: "short" })} ${clock}`;
}

/** When a session that waits for a time goes on; nothing for others. */
export function goesOn(session) {
  if (!session.resumes_at) return "";
  return `${session.status === "IDLE" && !session.detail ? "Begins" : "Resumes"} ${moment(session.resumes_at)}`;
}

export const clock = (at) => new Date(at * 1000).toLocaleTimeString([], { hour12: false });

export function thousands(tokens) {
  if (tokens >= 1e6) return `${Number((tokens / 1e6).toFixed(2))}M`;
  return tokens >= 1000 ? `${Math.floor(tokens / 1000)}K` : String(tokens ?? 0);
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
