"""
What the name of an MCP tool says: `get_issue` looks, `delete_repository` harms.

A tool looks when the verb it begins with does, and nothing after it changes anything. What comes
after a verb is a thing (`get_workflow_run`), and what stands before it may be one (`pods_list`).
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from perpetualcc.domain.tools import Risk
from perpetualcc.permissions.knowledge import load_table

_WORD = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
_RUN_TOGETHER = re.compile(
    r"(?:delete|remove|destroy|purge|wipe|erase|uninstall|unpublish|terminate|revoke|shutdown)"
    r"(?!d(?!ata|oc|omain|evice|irector|b$|ns|eploy|isk|ash|raft)|ed|(?:e?r|ion|ing|s)s?$)[a-z]"
    r"|send(?:e?mail|message|sms|money)|drop(?:table|database|db|collection)"
)
"""`deleterepo`: a verb and its thing in one word."""
_MOST_THINGS = 4
"""Words before the verb: `pull_request_read`."""
_LAST = frozenset({("search",), ("get",)})
"""Verbs that may also stand at the end, after things that no table knows: `model_search`."""


@dataclass(frozen=True, slots=True)
class Name:
    """The words of a tool's name."""

    server: tuple[str, ...]
    own: tuple[str, ...]
    """Without the server's name in front: `get_users` of `mcp__slack__slack_get_users`."""

    @property
    def words(self) -> frozenset[str]:
        return frozenset((*self.server, *self.own))


def read_name(tool: str) -> Name:
    """`mcp__SERVER__TOOL` by its words."""
    _, _, named = tool.partition("__")
    server, _, tool_name = named.partition("__")
    place, own = words_of(server), words_of(tool_name)
    while len(own) > 1 and own[0] in place and not _is_verb(own[0]):
        own = own[1:]
    return Name(tuple(place), tuple(own))


def words_of(name: str) -> list[str]:
    """`getJiraIssue`, `get-jira-issue`, `get_jira_issue`: get, jira, issue."""
    return [word.lower() for word in _WORD.findall(name)]


def looks(name: Name) -> bool:
    """Whether it says that it only looks. What it is given may say otherwise."""
    own, verb = name.own, _without_things(name.own)
    if _only_looks(name) or asks_metrics(name):
        return True
    if "_".join(verb[:2]) in _named("phrases") or not is_plain(name):
        return False
    ends = _named("shown").intersection(own[-1:])
    is_shown = bool(ends) and all(_is_thing(word) for word in own[:-1])
    return is_shown or own[-1:] in _LAST or not _named("looks").isdisjoint(verb[:1])


def is_plain(name: Name) -> bool:
    """No word of it changes anything, joins something else to it, or hides what it shows."""
    others = _named("alters") | _named("hides")
    return others.isdisjoint(name.own) and not _joins(name.own) and not _harmful(name.own)


def _joins(own: Sequence[str]) -> bool:
    """`get_and_refund` does two things, `get_cost_and_usage` looks at two."""
    return any(one in _named("joins") and not _is_thing(after) for one, after in pairwise(own))


def _only_looks(name: Name) -> bool:
    """One of those that only look although no verb says so."""
    ways = {"_".join(name.own), "_".join(_without_things(name.own))}
    return not ways.isdisjoint(_named("only_looks"))


def fetches(name: Name) -> bool:
    """Whether it goes to whatever address it is given."""
    return not _named("fetches").isdisjoint(name.own) or bool(
        _named("fetches").intersection(name.server)
    )


def asks_metrics(name: Name) -> bool:
    """`execute_query` of Prometheus: its language changes nothing."""
    is_asked = "query" in name.own and name.own[:1] in {("execute",), ("run",), ("query",)}
    return is_asked and not _named("metrics").isdisjoint(name.words)


def asks_statements(name: Name) -> bool:
    """Whether a database is spoken to, so that a `query` is a statement."""
    if asks_metrics(name):
        return False
    return name.own in {("query",), ("run", "query"), ("execute", "query")} or any(
        word.startswith(tuple(_named("databases"))) or word.endswith("sql") for word in name.words
    )


def harm(name: Name) -> list[str]:
    """The words by which a person answers for it."""
    if keys := _beside("shown_keys", name):
        return keys
    if _only_looks(name) or asks_metrics(name):
        return []
    verb = _without_things(name.own)
    is_look = bool(verb) and verb[0] in _named("looks") and not _joins(name.own)
    if is_look:
        return _harmful(name.own)
    own = _without_phrases(name.own)
    found = sorted(_named("destructive").intersection((*name.server, *own)))
    found += _beside("answered", name) + _by_its_place(name, own)
    found += [word for word in own if _RUN_TOGETHER.match(word)]
    if found == ["run"] and not _named("run_and_look").isdisjoint(name.words):
        return []
    return found


def _by_its_place(name: Name, own: Sequence[str]) -> list[str]:
    """Of certain servers, what speaks to people, moves money or changes what is live."""
    place = places(name)
    for servers, words in (("speaking", "speech"), ("paying", "money"), ("live", "live_changes")):
        if not _named(servers).isdisjoint(place):
            return [word for word in own if word in _named(words)]
    return []


def places(name: Name) -> frozenset[str]:
    """The server, and the one that a tool of a server of many names first: `gmail_find_email`."""
    return frozenset((*name.server, *name.own[:1]))


def moves_things(name: Name) -> bool:
    """Whether a person answers for all that is no look."""
    is_house = {"home", "assistant"} <= set(name.server)
    return is_house or not _named("moving").isdisjoint(places(name))


def _beside(key: str, name: Name) -> list[str]:
    """Which of the words that stand beside each other are in its name."""
    text = f"_{'_'.join(name.own)}_"
    return [words for words in sorted(_named(key)) if f"_{words}_" in text]


_NO_VERBS = {("merge", "request"), ("merge", "requests")}


def _without_phrases(own: tuple[str, ...]) -> tuple[str, ...]:
    """Without what is a thing (`create_merge_request`), a way to ask (`API-post-page`), a draft."""
    if own[:2] == ("api", "post"):
        own = own[2:]
    if own[:1] == ("draft",):
        return ("draft",)
    if own[:1] not in {("create",), ("update",)}:  # `accept_merge_request` merges
        return own
    pairs = pairwise((*own, ""))
    return tuple(one for one, after in pairs if (one, after) not in _NO_VERBS)


def _harmful(own: Iterable[str]) -> list[str]:
    """Of a tool that looks, only what it looks at can harm: `get_secret`, not `get_run`."""
    return [word for word in own if word in _named("destructive") - _named("things")]


def chosen_harm(word: str) -> list[str]:
    """The same of a word in the input that says what a tool of many uses does."""
    words = words_of(word)
    if words and words[0] in _named("looks") and not _joins(words):
        return _harmful(words)
    return [one for one in words if one in _named("destructive")]


def chosen_look(word: str) -> bool:
    """Whether what it chooses only looks."""
    return looks(Name((), tuple(words_of(word))))


def risk_of_flag(key: str) -> Risk:
    """What `{"purge": true}` says, by the words of options."""
    words, table = set(key.split("_")), load_table("option_words")
    if key in _named("answered_flags"):
        return Risk.HIGH
    if not words.isdisjoint(table["negations"]):
        return Risk.LOW
    if not words.isdisjoint((*table["destroys"], *table["warns"])):
        return Risk.HIGH
    changes = (*table["leaves"], *table["loosens"], *_named("alters"), "apply")
    return Risk.LOW if words.isdisjoint(changes) else Risk.MEDIUM


def runs(key: str) -> bool:
    """Whether what it names is run: `pre_command`, `shell`."""
    last = key.rpartition("_")[2]
    return last in load_table("option_words")["runs"] or last in {"run", "bash", "sh"}


def keeps_secrets(name: Name) -> bool:
    """Of a keeper of secrets all but the names of what it keeps is one."""
    return not _named("keeping").isdisjoint(name.server)


def holds_letters(name: Name) -> bool:
    """What it shows is somebody's mail, and words of whoever wrote."""
    return not _named("letters").isdisjoint(places(name))


def risk_of_look(name: Name) -> Risk:
    """LOW; but what is private or secret is not for looking at."""
    if keeps_secrets(name):
        return Risk.MEDIUM if {"list", "search"} & {*name.own[:2]} else Risk.HIGH
    return Risk.MEDIUM if holds_letters(name) else Risk.LOW


def _without_things(own: tuple[str, ...]) -> tuple[str, ...]:
    """From the first word on that is no thing: `pods_list` → `list`."""
    for index, word in enumerate(own[:_MOST_THINGS]):
        if not _is_thing(word):
            return own[index:]
    return own[_MOST_THINGS:]


def _is_thing(word: str) -> bool:
    if word in _named("before"):
        return True
    is_plural = word.endswith("s") and not word.endswith("ss")
    return is_plural and not _is_verb(word) and not _is_verb(word[:-1])


def _is_verb(word: str) -> bool:
    return any(word in _named(kind) for kind in ("looks", "destructive", "alters", "only_looks"))


@cache
def _named(key: str) -> frozenset[str]:
    return frozenset(load_table("tools")["mcp"][key])
