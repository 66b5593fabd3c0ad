// What happened while nobody looked.

import { counted, el, fill, goesOn, put, say, statusMark, time, windowsUsed, written } from "./dom.js";

const SPANS = [["12 hours", 12], ["24 hours", 24], ["3 days", 72], ["7 days", 168]];

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

  show({ since, sums, outages, sessions, hidden }) {
    fill(
      this.body,
      el(sessions.length ? "p.sum" : "p.empty", {}, "Since ", time("moment", since), `: ${sums}`),
      outages.length ? el("ul.outages", {}, outages.map((line) => el("li", {}, written(line)))) : null,
      el("ul.cards", {}, sessions.map(card)),
      hidden ? el("p.quiet", {}, `${counted(hidden, "session")} before: pcc report`) : null,
    );
  }
}

function card({ session, lines, snapshots }) {
  const address = `#/session/${encodeURIComponent(session.id)}`;
  const when = session.status === "RATE_LIMITED" ? "" : goesOn(session); // a line says it
  return el(
    "li.card.plain",
    {},
    el("a.title", { href: address }, session.name || session.id, " ", statusMark(session)),
    el("p.path", {}, session.project),
    when ? el("p", {}, when) : null,
    el("ul.came-to", {}, items(lines)),
    snapshots ? el("a", { href: `${address}/changes` }, "What has changed") : null,
  );
}

/** What is indented further says more of the line above it. */
function items(lines) {
  const made = [];
  for (const line of lines) {
    if (line.startsWith("      ") && made.length) put(made.at(-1), el("span.more", {}, written(line.trim())));
    else made.push(el("li", {}, written(line.trim())));
  }
  return made;
}
