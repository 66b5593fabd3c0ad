// What waits for a person: everything that is known about it, and the ways to answer.

import { ago, button, clean, el, fill, fromHome, moment, oneLine, say } from "./dom.js";

const TITLE = 400;
const TYPES = { permission: "Permission", question: "Question", error: "Stopped task", review: "Refused, for review" };
const PACKET = { state: "State", attempts: "Attempts", analysis: "Analysis", progress: "Progress", hint: "Hint", last: "Last" };

export class Waiting {
  constructor(link, nameOf) {
    this.link = link;
    this.nameOf = nameOf;
    this.node = document.getElementById("waiting");
    this.list = el("ul.cards");
    this.empty = el("p.empty", { hidden: true }, "Nothing waits for you.");
    this.word = el("p.done", { role: "status" });
    fill(this.node, el("h2", {}, "Waits for you"), this.word, this.empty, this.list);
    this.cards = new Map();
    this.wanted = "";
    this.isKnown = false;
  }

  /** The requests that wait; a card that somebody types in stays as it is. */
  show(requests, total) {
    this.empty.hidden = requests.length > 0;
    const waiting = new Set(requests.map((one) => one.number));
    for (const [number, card] of this.cards) {
      if (!waiting.has(number)) this.settledElsewhere(number, card);
    }
    for (const request of requests) {
      if (!this.cards.has(request.number)) this.cards.set(request.number, this.card(request));
      const card = this.cards.get(request.number);
      card.request = request;
      if (card.details.open) this.read(card, request.number); // it was opened without a connection
    }
    this.rename();
    this.isKnown = true;
    if (this.wanted) this.open(this.wanted);
    const sorted = requests.map((one) => this.cards.get(one.number).node);
    // What is settled stays where it was read.
    let at = this.list.firstChild;
    for (const node of sorted) {
      while (at && !sorted.includes(at)) at = at.nextSibling;
      if (at === node) at = at.nextSibling;
      else this.list.insertBefore(node, at);
    }
    this.more?.remove();
    if (total > requests.length) {
      this.more = el("p.quiet", {}, `${total - requests.length} more wait; they follow when these are answered.`);
      this.node.append(this.more);
    }
  }

  /** The number of what a session waits for; empty where it is not in the list. */
  firstOf(session) {
    const found = [...this.cards.values()].find(({ request }) => request.session === session && request.type !== "review");
    return found?.request.number ?? "";
  }

  /** The request that a link names, as soon as it is here; else a word about it. */
  async open(name) {
    this.wanted = name;
    const card = this.cards.get(Number(name));
    if (card) {
      this.wanted = "";
      card.details.open = true;
      card.node.scrollIntoView({ block: "start" });
    }
    const words = name && !card && this.isKnown ? await this.missed(name) : "";
    if (this.wanted === name || card) say(this.word, words);
  }

  /** Why the list does not hold it. */
  async missed(name) {
    const number = Number(name);
    if (!Number.isSafeInteger(number)) return `There is no request #${name}.`;
    try {
      const found = await this.link.call("escalation.get", { number });
      if (found.settled_at === null) return `#${number} waits too; it follows when others are answered.`;
      const by = found.settled_by === "withdrawn" ? "withdrawn" : `settled by ${found.settled_by}`;
      return `#${number} does not wait any more, ${by} (${moment(found.settled_at)}): ${found.answer}`;
    } catch (error) {
      return `${error.message}.`;
    }
  }

  rename() {
    for (const { name, age, request } of this.cards.values()) {
      say(name, this.nameOf(request.session));
      say(age, ago(request.raised_at));
    }
  }

  /** Somebody else was first, or it is moot: whoever is reading it is told by whom and what. */
  async settledElsewhere(number, card) {
    this.cards.delete(number);
    if (card.isMine) return;
    if (!card.details.open) {
      card.node.remove();
      return;
    }
    let words = "It does not wait any more.";
    try {
      const found = await this.link.call("escalation.get", { number });
      words =
        found.settled_by === "withdrawn"
          ? `It was withdrawn: ${clean(found.answer)}`
          : `${clean(found.settled_by)} was first and answered: ${clean(found.answer)}`;
    } catch {
      // The words above say enough.
    }
    this.close(card, words);
  }

  close(card, words) {
    card.details.open = true;
    const away = button("Put away", () => this.putAway(card.node), "small");
    const typed = [...card.body.querySelectorAll("textarea")].map((one) => one.value.trim()).filter(Boolean).join("\n");
    const lost = typed && !card.isMine ? el("p.more", {}, `You had typed: ${typed}`) : null;
    fill(card.body, el("p.done", { role: "status" }, words), lost, away);
    // The button that was pressed is gone: whoever works by keyboard goes on from here.
    if (card.isMine) away.focus();
  }

  putAway(node) {
    const next = node.nextElementSibling ?? node.previousElementSibling;
    node.remove();
    (next?.querySelector("summary") ?? document.getElementById("main")).focus();
  }

  card(request) {
    const card = { name: el("bdi"), age: el("span"), isMine: false, isRead: false };
    const about = el("span.quiet", {}, `#${request.number} · `, card.name, " · ", card.age);
    card.body = el("div.body", {}, "Reading…");
    card.details = el(
      "details",
      { "data-number": request.number },
      el(
        "summary",
        {},
        el("span.line", {}, el("span.tag", { "data-severity": request.severity }, TYPES[request.type] ?? request.type), about),
        el("span.title", {}, oneLine(titleOf(request), TITLE)),
      ),
      card.body,
    );
    card.details.addEventListener("toggle", () => card.details.open && this.read(card, request.number));
    card.node = el("li.card", {}, card.details);
    return card;
  }

  /** Whole: of many that wait, a list cuts the texts. */
  async read(card, number) {
    if (card.isRead) return;
    card.isRead = true;
    try {
      const request = await this.link.call("escalation.get", { number });
      fill(card.body, facts(request), this.form(card, request));
    } catch (error) {
      card.isRead = false;
      fill(card.body, el("p.bad", {}, error.message));
    }
  }

  form(card, request) {
    const problem = el("p.bad", { role: "alert" });
    const form = el("form.answers", { onsubmit: (event) => event.preventDefault() });
    const send = async (answer) => {
      problem.textContent = "";
      for (const one of form.querySelectorAll("button")) one.disabled = true;
      card.isMine = true;
      try {
        const settled = await this.link.call("escalation.respond", { number: request.number, ...answer });
        this.close(card, `Answered: ${clean(settled.answer)}`);
      } catch (error) {
        card.isMine = false;
        // Somebody was first, or it does not fit: what was typed stays.
        problem.textContent = clean([error.message, error.hint].filter(Boolean).join(". "));
        for (const one of form.querySelectorAll("button")) one.disabled = false;
        if (!this.cards.has(request.number)) this.settledElsewhere(request.number, card);
      }
    };
    const words = () => form.querySelector("textarea")?.value.trim() ?? "";
    const spoken = (answer) => (words() ? { ...answer, text: words() } : answer);
    const own = (label) => el("label", {}, label, el("textarea", { rows: 2, maxlength: 20000 }));
    if (request.type === "question") {
      const questions = questionsOf(request);
      form.append(...questions.map((one, place) => fieldset(one, place, questions.length, request.project)));
      const answer = () => {
        const answers = questions.map((one, place) => [one.question, chosen(form, one, place)]);
        if (answers.every(([, one]) => one)) send({ answers: Object.fromEntries(answers) });
        else problem.textContent = "Choose an option, or write an answer of your own.";
      };
      form.append(el("div.row", {}, button("Answer", answer, "primary")));
    } else if (request.type === "error") {
      form.append(el("div.row", {}, button("Try again", () => send({ text: "retry" }), "primary"), button("Give up", () => send({ text: "give up" }))));
    } else if (request.type === "review") {
      const seen = button("Seen", () => send(spoken({ approve: false })));
      const approve = button("Approve for the next time", () => send({ approve: true }));
      form.append(own("Words, if you like"), el("div.row", {}, seen, request.task_is_over ? "" : approve));
    } else {
      form.append(
        own("Why not, or what instead (goes along with a refusal)"),
        el("div.row", {}, button("Approve", () => send({ approve: true }), "primary"), button("Deny", () => send(spoken({ approve: false })), "danger")),
      );
    }
    form.append(problem);
    return form;
  }
}

/** A call is named as it would be made. */
const titleOf = (request) => (request.raw?.tool ? request.title : fromHome(request.title, request.project));

function facts(request) {
  const packet = request.packet ?? {};
  const said = (words) => (typeof words === "string" ? fromHome(words, request.project) : words);
  const raw = request.raw ?? {};
  const rows = [
    ["What", oneLine(titleOf(request), TITLE) === clean(titleOf(request)) ? "" : titleOf(request)],
    ["Context", said(packet.context || request.context)],
    // What is to be typed stays as it is typed.
    ...Object.entries(PACKET).map(([name, label]) => [label, name === "hint" ? packet[name] : said(packet[name])]),
    ["Earlier", said((packet.history ?? []).join("\n"))],
    ["You can", (packet.options ?? []).join("\n")],
    ["Its tasks", (raw.plan ?? []).map((one, place) => `${place + 1}. ${one.title}\n${one.prompt}`).join("\n\n")],
    ["Call", raw.tool ? `${raw.tool} (${raw.risk ?? ""})` : ""],
    ...Object.entries(raw.tool ? (raw.input ?? {}) : {}).map(([name, value]) => [name, text(value), true]),
    ["The brain suggests", request.suggestion ? [el("bdi", {}, request.suggestion), ` (${Math.round(request.confidence * 100)}% sure)`] : ""],
    ["If nobody answers", `${request.default}${request.deadline ? ` (${moment(request.deadline)})` : ""}`],
  ];
  const shown = rows.filter(([, value]) => value);
  return el(
    "dl.facts",
    {},
    shown.flatMap(([label, value, isCode]) => [el("dt", {}, label), el("dd", {}, isCode ? el("pre", { tabindex: "0" }, value) : Array.isArray(value) ? value : text(value))]),
  );
}

const text = (value) => (typeof value === "string" ? value : JSON.stringify(value, null, 2));

function questionsOf(request) {
  const found = (request.raw?.questions ?? []).filter((one) => one && typeof one === "object");
  return found.length ? found : [{ question: request.title, options: [] }];
}

function fieldset(question, place, many, project) {
  const kind = question.multiSelect ? "checkbox" : "radio";
  const options = (question.options ?? []).map((option, at) => {
    // Nothing is chosen beforehand: whoever answers has chosen.
    const input = el("input", { type: kind, name: `q${place}`, value: at + 1 });
    const about = option.description && option.description !== option.label ? el("span.more", {}, option.description) : null;
    const preview = option.preview ? el("pre", { tabindex: "0" }, option.preview) : null;
    return el("label.option", {}, input, el("span", {}, option.label || `Option ${at + 1}`, about, preview));
  });
  const words = clean(fromHome(question.question, project));
  const legend = many > 1 ? `${place + 1}/${many}: ${words}` : words;
  const own = question.options_only ? null : el("label", {}, options.length ? "Or an answer of your own" : "Your answer", el("textarea", { rows: 2, maxlength: 20000, name: `own${place}` }));
  return el("fieldset", {}, el("legend", {}, legend), options, own);
}

/** What was typed, which is no number of an option; else that number: labels may be alike, or hold a comma. */
function chosen(form, question, place) {
  const own = form.querySelector(`[name=own${place}]`)?.value.trim() ?? "";
  const marked = [...form.querySelectorAll(`[name=q${place}]:checked`)].map((one) => Number(one.value));
  if (!own) return marked.join(",");
  const labels = question.multiSelect ? marked.map((one) => question.options[one - 1].label) : [];
  return { own: [...labels, own].join(", ") };
}
