"""What the name of a task or a script says: `npm run deploy` is not `npm run lint`."""

import posixpath
import re
from collections.abc import Sequence
from fnmatch import translate
from functools import cache

from perpetualcc.domain.texts import apart
from perpetualcc.domain.tools import Risk
from perpetualcc.permissions.commands.call import Call
from perpetualcc.permissions.effects import EffectKind, Finding
from perpetualcc.permissions.knowledge import load_table
from perpetualcc.permissions.shell.script import UNKNOWN, Word

_VERBS_LOOKED_AT = 4
"""Words of a call in which its verb is looked for."""
_TOKEN = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")


def judge_task(name: str, call: Call, *, is_script: bool = False) -> Finding:
    """LOW, MEDIUM or HIGH by the words in the name. An unnamed script is MEDIUM, a task LOW."""
    risk = _risk(_last_part(name, call), is_script=is_script)
    if "*" in name and not (is_script or _TOKEN.search(name)):  # all of them, `deploy` too
        risk = Risk.HIGH
    if name == "install" and call.arguments.path in _words()["installs_locally"]:
        risk = Risk.LOW
    if is_script and risk is Risk.MEDIUM and only_asks(name, call):
        risk = Risk.LOW
    why = {
        Risk.LOW: f"Runs the project's own {name!r}",
        Risk.MEDIUM: f"Runs {name!r}, whose name does not say that it is harmless",
        Risk.HIGH: f"Runs {name!r}: by its name it changes what is outside the project",
    }[risk]
    return call.finding(
        risk, "script" if is_script else "task", why.replace(UNKNOWN, "…"), EffectKind.EXECUTE,
        kind=apart(f"{call.arguments.path} {name}"),
    )  # fmt: skip


def _last_part(name: str, call: Call) -> str:
    """Of `:deploy:test` of Gradle, and of `deploy:help` of Maven, where it only builds or tells."""
    words, path = _words(), call.arguments.path
    part = name.rpartition(":")[2]
    if path in words["path_of_parts"]:
        first, last = (next(iter(_TOKEN.findall(one)), "").lower() for one in (name, part))
        is_told = last in words["checks"] or part in words["builders"]
        return part if is_told or first in words["checks"] else name
    return part if part == "help" and path in words["installs_locally"] else name


def only_asks(name: str, call: Call) -> bool:
    """`python tool.py --help`: what prints its usage; a shell script need not look at its words."""
    words = [word.text for word in call.arguments.rest]
    is_parsed = name.endswith((".py", ".js", ".mjs", ".cjs", ".ts", ".rb", ".php"))
    return is_parsed and words[-2:-1] == [name] and words[-1] in {"--help", "--version"}


def harmful_verb(
    words: Sequence[Word], call: Call, *, said: Sequence[Word] | None = None
) -> list[Finding]:
    """
    `deck reset`, `tool index delete`: what an unknown program is told to do, by its words.

    Among the words `said`, by default all of the call, one may ask for a dry run.
    """
    texts = {word.text for word in (call.command.words if said is None else said)}
    if not _dry_options().isdisjoint(texts) and "--no-dry-run" not in texts:
        return []
    for word in words[:_VERBS_LOOKED_AT]:
        tokens = [token.lower() for token in _TOKEN.findall(word.text)]
        if tokens and tokens[0] in _words()["looks"] and word.text.islower():
            break
        if "/" in word.text or "." in word.text or len(tokens) > 3 or not _harms(tokens):
            continue
        why = f"{word.text!r} says that it deletes, publishes or changes what a person answers for"
        return [call.finding(Risk.HIGH, "harmful-verb", why, EffectKind.DELETE)]
    return []


def judge_migration(words: Sequence[Word], call: Call) -> list[Finding]:
    """`swift run App migrate --revert`: what the project's own program does to its database."""
    tokens = [[token.lower() for token in _TOKEN.findall(word.text)] for word in words]
    first = next((one for word, one in zip(words, tokens, strict=True) if word.text[:1] != "-"), [])
    if first[:1] not in (["migrate"], ["migration"], ["migrations"]):
        return []
    texts = [word.text for word in (*words, *call.command.words)]
    said = {token.lower() for text in texts for token in _TOKEN.findall(text)}
    if said & _words()["looks"] or not _dry_options().isdisjoint(texts):
        return []
    is_undone = not said.isdisjoint(_words()["undoes"])
    risk = Risk.HIGH if is_undone else Risk.MEDIUM
    why = "Takes back changes of a database" if is_undone else "Changes a database"
    return [call.finding(risk, "database-migration", why, EffectKind.EXECUTE)]


def judge_goal(name: str, call: Call) -> list[Finding]:
    """What plugins that everybody knows do, where the name of their task does not say so."""
    for risk, pattern in _goals():
        if pattern.fullmatch(name.lower()):
            why = f"{name!r} sends what was built, or shows or changes what is elsewhere"
            kind = apart(f"{call.arguments.path} {name}")
            return [call.finding(risk, "task", why, EffectKind.NETWORK, kind=kind)]
    return []


@cache
def _goals() -> list[tuple[Risk, re.Pattern[str]]]:
    goals: dict[str, list[str]] = load_table("tasks")["goals"]
    return [
        (Risk(risk), re.compile("|".join(map(translate, names)))) for risk, names in goals.items()
    ]


def _harms(tokens: Sequence[str]) -> bool:
    """One of them is such a verb, or begins with one: `removenode`, `deletetopic`."""
    stems = tuple(_words()["stems"])
    is_past = any(token.endswith("ed") for token in tokens)
    return not _words()["verbs"].isdisjoint(tokens) or (
        not is_past and any(token.startswith(stems) for token in tokens)
    )


def takes_many_tasks(call: Call) -> bool:
    """`grunt build deploy` runs both; `npm run build deploy` gives a word to one."""
    return call.arguments.path in _words()["take_many"]


def sending_tasks(words: Sequence[Word], call: Call) -> list[Word]:
    """`just build deploy`: a word after the first recipe is given to that, or is the next one."""
    if call.arguments.path not in _words()["may_take_many"]:
        return []
    sends = _words()["sends"]
    return [word for word in words if not sends.isdisjoint(word.text.split("-"))]


@cache
def _dry_options() -> frozenset[str]:
    return frozenset(load_table("option_words")["dry"])


@cache
def _words() -> dict[str, frozenset[str]]:
    return {name: frozenset(words) for name, words in load_table("tasks").items()}


def _of_infrastructure(tokens: Sequence[str]) -> Risk | None:
    """`clear-db`, `apply` alone, `tf-apply`, `infra:up`: a verb and the thing it is done to."""
    words = _words()
    if len(tokens) > 1 and tokens[0] in words["undoes"] and tokens[-1] in words["database_tools"]:
        return Risk.HIGH
    is_about_it = not words["infrastructure"].isdisjoint(tokens)
    if "apply" in tokens and (is_about_it or len(tokens) == 1):
        return Risk.HIGH
    return Risk.MEDIUM if is_about_it and not words["moves"].isdisjoint(tokens) else None


def _without_build_type(path: str) -> str:
    """`target/release/app` is a product of a build, and releases nothing."""
    first, *others = path.split("/")
    return f"{first}/{others[-1]}" if others and first in _words()["products"] else path


def _risk(name: str, *, is_script: bool) -> Risk:
    words = _words()
    if UNKNOWN in name:
        return Risk.MEDIUM
    stem = (
        _without_build_type(posixpath.splitext(name.removeprefix("./"))[0]) if is_script else name
    )
    tokens = [token.lower() for token in _TOKEN.findall(stem)]
    if tokens and tokens[0] in words["checks"]:
        return Risk.LOW
    own = [token.lower() for token in _TOKEN.findall(posixpath.basename(stem))]
    if is_script and own and own[0] in words["only_looks"]:
        return Risk.LOW
    if (
        tokens
        and tokens[0] in words["database_tools"]
        and not words["undoes"].isdisjoint((*tokens[1:], "".join(tokens[1:])))
    ):
        return Risk.HIGH
    if (infrastructure := _of_infrastructure(tokens)) is not None:
        return infrastructure
    stays_here = not words["stays_here"].isdisjoint(tokens)
    if harm := words["always"].intersection(tokens):
        is_inside = ":" in name and tokens[0] in words["builders"] and harm <= words["inside"]
        is_kept = stays_here and harm <= words["sends"]
        return Risk.MEDIUM if is_inside or is_kept else Risk.HIGH
    is_build = bool(tokens) and not words["ordinary"].isdisjoint(tokens)
    if words["unless_built"].intersection(tokens) and tokens[0] not in words["builders"]:
        return Risk.MEDIUM if stays_here or tokens[0] in words["starts"] else Risk.HIGH
    if words["installers"].intersection(tokens) and (is_script or name == "install"):
        return Risk.MEDIUM
    if words["medium"].intersection(tokens):
        return Risk.MEDIUM
    return Risk.MEDIUM if is_script and not is_build else Risk.LOW
