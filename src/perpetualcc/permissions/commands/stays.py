"""
Whether what a call changes stays on this machine, by the words of the call itself.

What only a file of settings says counts for nothing, and what deletes is as bad here as elsewhere.
"""

import re
from collections.abc import Sequence
from functools import cache

from perpetualcc.permissions.commands.asking import own_words
from perpetualcc.permissions.commands.call import Call
from perpetualcc.permissions.knowledge import load_table

STAYS_HERE = "Stays on this machine"
"""The reason of options such as `--local`, with which nothing elsewhere is changed."""
_ELSEWHERE = ("--remote", "--linked", "--db-url", "--prod", "--production")
_LOCAL_DATABASE = re.compile(
    r"(?:[A-Z_]+=[\w./:-]+ )*(?:\w+_)?DATABASE_URL=(?P<quote>[\"']?)"
    r"(?:(?:file:|sqlite:/{2,3})(?:\./)?(?!\S*\.\.)\w[\w./-]*"
    r"|(?:postgres(?:ql)?|mysql|mariadb)(?:\+\w+)?://(?:[\w.%-]+(?::[\w.%-]*)?@)?(?:localhost|127\.0\.0\.1)"
    r"(?::\d+)?/[\w-]+(?:\?(?!\S*host)[\w=&.-]*)?)(?P=quote) "
)
"""The variable in front of the command, with a database of this machine as its value."""
_TEST_STAGE = re.compile(r"(?:[A-Z_]+=[\w./:-]+ )*(?:RAILS|RACK|MIX|APP)_ENV=test ")
"""The line itself says that it is the database of the tests."""
_ADDRESSES = ("_URL", "_URI", "_HOST", "_DSN")
_FOR_OTHERS = re.compile(r"prod|live|staging", re.IGNORECASE)


def stays_here(call: Call) -> bool:
    """`wrangler d1 execute x --local`, `aws --endpoint-url http://localhost:4566 s3 mb s3://x`."""
    given = call.arguments.given
    here = {g.name for g in given if g.rule.explanation == STAYS_HERE}
    is_said_otherwise = any(g.name in here and g.rule.explanation != STAYS_HERE for g in given)
    is_off = any(g.name in here and g.value and g.value.text == "false" for g in given)
    elsewhere = [name for name in _ELSEWHERE if name not in here]
    if is_said_otherwise or is_off or call.arguments.has(*elsewhere):
        return False
    if not here and not _migrates_here(call):
        return False
    options = [w.text.partition("=")[0] for w in call.command.words if w.text.startswith("--")]
    return _tokens(own_words(call)).isdisjoint(_removes()) and _tokens(options).isdisjoint(_verbs())


def _migrates_here(call: Call) -> bool:
    """`DATABASE_URL=postgres://localhost/dev npx prisma migrate deploy`."""
    is_migration = call.arguments.path in load_table("statements")["migrations"]
    if not is_migration or _FOR_OTHERS.search(call.part) is not None:
        return False
    return _LOCAL_DATABASE.match(call.part) is not None or (
        _TEST_STAGE.match(call.part) is not None
        and not any(
            one.name.endswith(_ADDRESSES)
            for one in call.judge.environment(call.command.assignments)
        )
    )


def _tokens(words: Sequence[str]) -> set[str]:
    return {token for word in words for token in re.split(r"[-_:]", word)}


@cache
def _verbs() -> frozenset[str]:
    """Verbs of deleting and their like; deploying a migration is none."""
    return frozenset(load_table("tasks")["verbs"]) - {"deploy"}


@cache
def _removes() -> frozenset[str]:
    return _verbs() | frozenset(load_table("tasks")["removes"])
