"""
Every key a scenario file may have, once: the reader checks files against these tables and
docs/rehearsal.md shows them.
"""

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """What a key's value may be, in the words of the documentation."""

    TEXT = "text"
    PATTERN = "text or /regex/"
    PATTERNS = "text, /regex/ or a list of them"
    INTEGER = "whole number"
    NUMBER = "number"
    FLAG = "true or false"
    DURATION = "duration"
    TEXT_TABLE = "table of texts"
    TOOLS = "list of `Tool: {input}`"
    SECTION = "section"
    SECTIONS = "list of sections"


@dataclass(frozen=True, slots=True)
class Key:
    """One key: its kind, what it does, and for a section the table that describes it."""

    name: str
    kind: Kind
    meaning: str
    default: str = ""
    section: str = ""


def _section(name: str, meaning: str, default: str = "") -> Key:
    return Key(name, Kind.SECTION, meaning, default, name)


def _sections(name: str, of: str, meaning: str) -> Key:
    return Key(name, Kind.SECTIONS, meaning, section=of)


SECTIONS: dict[str, tuple[Key, ...]] = {
    "scenario": (
        Key("name", Kind.TEXT, "Shown by `--check` and in records.", "the file's name"),
        Key("description", Kind.TEXT, "What the story is about."),
        Key("prompt", Kind.TEXT, "What to ask Claude Code for, so that the story makes sense."),
        Key("files", Kind.TEXT_TABLE, "Files the project starts with: relative path and content."),
        _sections("steps", "step", "The story, when there is only one scene."),
        _sections("scenes", "scene", "Several stories, one for each conversation."),
        Key("delay", Kind.DURATION, "Wait before each reply, where a step says nothing else.", "0"),
        _section("usage", "Tokens of each reply, where a step says nothing else."),
        Key(
            "count_tokens",
            Kind.INTEGER,
            "Answer to `/v1/messages/count_tokens`.",
            "a quarter of the request's characters",
        ),
    ),
    "scene": (
        Key("name", Kind.TEXT, "Shown in records; `[rehearsal: name]` in a prompt chooses it."),
        Key(
            "when",
            Kind.PATTERN,
            "A conversation whose first prompt contains this plays this scene.",
            "scenes without it are given out in order; the last one to all that follow",
        ),
        Key("delay", Kind.DURATION, "Wait before each reply of this scene.", "the scenario's"),
        _section("usage", "Tokens of each reply of this scene.", "the scenario's"),
        _sections("steps", "step", "The replies, in order."),
    ),
    "step": (
        Key("say", Kind.TEXT, "Text of the reply. A step may be just a text."),
        Key("tools", Kind.TOOLS, "Tools to use; several in one step run in parallel."),
        _sections("ask", "question", "Questions for the person, through `AskUserQuestion`."),
        _section("usage", "Tokens this reply claims.", "the scene's"),
        Key("delay", Kind.DURATION, "Wait before the first byte.", "the scene's"),
        Key("takes", Kind.DURATION, "Stream the text slowly, over this long.", "0"),
        Key("stop", Kind.TEXT, "Stop reason.", "`tool_use` with tools, else `end_turn`"),
        Key(
            "expect",
            Kind.PATTERNS,
            "What Claude Code must have sent since the last reply (tool results, prompts). "
            "A mismatch is recorded; the story goes on.",
        ),
        Key(
            "on_prompt",
            Kind.PATTERN,
            "The story waits here for a prompt that contains this, and jumps here when it comes.",
        ),
        Key("once", Kind.FLAG, "Do not play it again when a kill cut its tools off.", "false"),
        _section("quota", "Subscription headers on a good reply."),
        Key("headers", Kind.TEXT_TABLE, "More reply headers."),
        _section("fail", "What goes wrong before the next reply; alone in its step."),
        Key("repeat", Kind.INTEGER, "Play this step (or its `steps`) so often; `{n}` counts."),
        _sections("steps", "step", "The steps to repeat."),
    ),
    "question": (
        Key("question", Kind.TEXT, "The question, with its question mark."),
        Key("header", Kind.TEXT, "A word or two above it.", "the question's first word"),
        _sections("options", "option", "Two to four answers: a text, or `label` and text."),
        Key("multi_select", Kind.FLAG, "Several answers may be chosen.", "false"),
    ),
    "option": (
        Key("label", Kind.TEXT, "The answer."),
        Key("description", Kind.TEXT, "What it means.", "the label"),
        Key("preview", Kind.TEXT, "What it would look like, in several lines."),
    ),
    "usage": (
        Key("input", Kind.INTEGER, "Uncached input tokens.", "100"),
        Key("output", Kind.INTEGER, "Output tokens.", "20"),
        Key("cache_read", Kind.INTEGER, "Input tokens read from the cache.", "0"),
        Key("cache_write", Kind.INTEGER, "Input tokens written to the cache.", "0"),
    ),
    "quota": (
        Key(
            "status",
            Kind.TEXT,
            "`allowed`, `allowed_warning` or `rejected`.",
            "allowed_warning",
        ),
        Key("window", Kind.TEXT, "`five_hour`, `seven_day`, `seven_day_opus`, …", "five_hour"),
        Key("used", Kind.NUMBER, "Share of the window that is used, 0 to 1.", "0.9"),
        Key("in", Kind.DURATION, "The window resets this long after the reply.", "1h"),
        _sections("also", "window", "What is told of further windows, all of them allowed."),
    ),
    "window": (
        Key("window", Kind.TEXT, "As above.", "seven_day"),
        Key("used", Kind.NUMBER, "Share of it that is used.", "0.5"),
        Key("in", Kind.DURATION, "It resets this long after the reply.", "3d"),
    ),
    "fail": (
        Key(
            "kind",
            Kind.TEXT,
            "`usage_limit`, `rate_limit`, `overloaded`, `server_error`, `http`, "
            "`broken_stream` or `connection_reset`. `fail: overloaded` is short for this.",
        ),
        Key("times", Kind.INTEGER, "So many requests meet it, one after the other.", "1"),
        Key("in", Kind.DURATION, "A usage limit holds this long, from its first refusal.", "5s"),
        Key("window", Kind.TEXT, "Which window is used up.", "five_hour"),
        Key("everyone", Kind.FLAG, "A usage limit for every conversation, not this one.", "false"),
        Key("retry_after", Kind.DURATION, "`retry-after` of a rate limit.", "1s"),
        Key("status", Kind.INTEGER, "HTTP status of kind `http`.", "400"),
        Key("type", Kind.TEXT, "Error type of kind `http`.", "invalid_request_error"),
        Key("message", Kind.TEXT, "Error message.", "what the API says"),
        Key("headers", Kind.TEXT_TABLE, "More reply headers."),
        Key("say", Kind.TEXT, "What a broken stream still says.", "I will start with"),
    ),
}


def key_tables() -> str:
    """Every section's keys as Markdown tables, as docs/rehearsal.md shows them."""
    return "\n\n".join(_table(name, keys) for name, keys in SECTIONS.items())


def _table(name: str, keys: tuple[Key, ...]) -> str:
    rows = [f"#### `{name}`", "", "| key | value | meaning | default |", "|---|---|---|---|"]
    for key in keys:
        value = f"{key.kind} `{key.section}`" if key.section else str(key.kind)
        rows.append(f"| `{key.name}` | {value} | {key.meaning} | {key.default} |")
    return "\n".join(rows)
