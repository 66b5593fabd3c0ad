"""Database clients: what their statements would do, as far as keywords tell."""

import re
from functools import cache
from itertools import chain

from perpetualcc.domain.tools import Risk
from perpetualcc.permissions.commands.call import Call, Findings, handles
from perpetualcc.permissions.commands.programs.interpreters import printed_text
from perpetualcc.permissions.commands.stays import stays_here
from perpetualcc.permissions.effects import EffectKind, Finding
from perpetualcc.permissions.knowledge import load_table
from perpetualcc.permissions.paths import Zone
from perpetualcc.permissions.shell.script import UNKNOWN, Word

_QUOTED = re.compile(
    r"'(?:''|\\.|[^'\\])*+(?:'|(?P<open>\\?\Z))|--[^\n]*|/\*(?:.*?\*/|(?P<rest>.*))", re.DOTALL
)
_DOUBLE_QUOTED = re.compile(r'"[^"]*"')
"""A name, or in MySQL a text. Read only where no other quotes can hide a lone one."""
_OTHER_QUOTES = re.compile(r"[`$'\\]|--|/\*")
_REACHES_FILES = re.compile(
    r"\b(?:attach|copy|export|import|load\w*|install|vacuum|\w*file\w*|edit|glob|read_\w+|fsdir)\b",
    re.IGNORECASE,
)
"""Words with which a database in memory leaves it."""
_NAMED_FILE = re.compile(
    r"\b(?:read_\w+|sniff_csv|load\w*|readfile|pg_read_\w+|glob|file|url|s3|from|copy|attach|import|infile)\b[\s(\[]*"
    r"'([^']+)'",
    re.IGNORECASE,
)
"""A file whose contents become rows."""
_READS_VARIABLES = re.compile(r"\bgetenv\s*\(", re.IGNORECASE)
_MONGO_TEXT = re.compile(
    r"(?P<before>\[?)(?:'(?:\\.|[^'\\])*+(?:'|\\?\Z)|\"(?:\\.|[^\"\\])*+(?:\"|\\?\Z))", re.DOTALL
)
"""A text in quotes, with a bracket before it."""
_EXPLAINED = re.compile(
    r"(?:^|;)\s*explain\b(?!\s*(?:\([^();]{0,200})?\banaly[sz]e)[^;]*", re.IGNORECASE
)
"""A statement whose plan is only shown; `EXPLAIN ANALYZE` runs it."""
_KEY_VALUE = ("redis-cli", "valkey-cli", "keydb-cli")


@cache
def _destroys(*, is_mongo: bool) -> re.Pattern[str]:
    table = load_table("statements")
    if is_mongo:
        return re.compile(table["mongo"])
    return re.compile(table["sql"], re.IGNORECASE | re.MULTILINE)


@cache
def _key_value_words() -> frozenset[str]:
    return frozenset(load_table("statements")["key_value"])


@handles("sql")
def sql(call: Call) -> Findings:
    """Statements from `-c`, `-e`, operands, here-documents and pipes."""
    if call.arguments.path.split()[0] in _KEY_VALUE:
        return _key_value(call)
    if any(
        g.rule.risk is Risk.LOW and g.rule.explanation == "Runs nothing"
        for g in call.arguments.given
    ):
        return []
    texts = _texts(call)
    findings = list(chain.from_iterable(_statements(text, call) for text in texts))
    named = [Word(name) for text in texts for name in _NAMED_FILE.findall(text)]
    findings += [found for found in call.reads(named) if found.risk is Risk.HIGH]
    if any(_READS_VARIABLES.search(text) for text in texts):
        why = "Prints variables, which may hold tokens"
        findings.append(call.finding(Risk.MEDIUM, "print-environment", why, EffectKind.READ))
    if (
        any(g.rule.explanation == "The SQL is in a file" for g in call.arguments.given)
        or any(r.operator == "<" for r in call.command.redirections)
        or any(w.text[:1] == "@" and len(w.text) > 1 for w in call.arguments.operands)
    ):
        findings.append(_unseen(call))
    return findings


def _texts(call: Call) -> list[str]:
    """The statements as far as the line has them; `UNKNOWN` for those from a pipe."""
    texts = [g.value.text for g in call.arguments.given if g.rule.explanation == "SQL" and g.value]
    texts += [
        word.text
        for word in call.arguments.operands
        if " " in word.text or word.text.startswith((".", "\\"))
    ]
    texts += [value for o in call.arguments.unknown if " " in (value := o.partition("=")[2])]
    if call.command.stdin is not None:
        texts.append(call.command.stdin)
    elif call.command.upstream:
        texts.append(printed_text(call) or UNKNOWN)
    return texts


_LOOKS = re.compile(
    r"\s*(?:(?:select|explain|with|values|describe|desc|show|summarize|match)\b|pragma\s+[\w.]+(?:\([^()=]*\))?\s*;?\s*$"
    r"|\.(?:tables|schema|indexes|indices|databases|mode|headers?|width|show|help|dbinfo|fullschema"
    r"|version|nullvalue|timer|bail)\b)",
    re.IGNORECASE,
)


_LOOKS_AT_ONCE = re.compile(rf"{_LOOKS.pattern}|\s*from\b", re.IGNORECASE)
"""`from 'x.parquet' limit 5` is a whole query there."""
_ADDRESS = re.compile(r"'(?:https?|s3|gs|gcs|az|abfss?|hf|r2)://", re.IGNORECASE)


@handles("sql-file")
def sql_file(call: Call) -> Findings:
    """A look into a file is LOW, as reading it is; all else is what `sql` says, and MEDIUM."""
    texts = _texts(call)
    statements = [part for text in texts for part in text.split(";") if part.strip()]
    is_in_memory = [word.text for word in call.arguments.operands[:1]] == [":memory:"]
    is_plain = is_in_memory and not any(
        part.lstrip().startswith(".") or _REACHES_FILES.search(part) for part in statements
    )
    findings = [] if is_plain else sql(call) + call.reads(call.arguments.operands[:1])
    findings += _made(call)
    if any(_ADDRESS.search(text) for text in texts):
        why = "Reads or writes what is on another machine"
        findings.append(call.finding(Risk.MEDIUM, "sql", why, EffectKind.NETWORK))
    looks = _LOOKS_AT_ONCE if call.arguments.path == "duckdb" else _LOOKS
    if statements and all(looks.match(statement) for statement in statements):
        return findings
    return [*findings, call.finding(Risk.MEDIUM, "sql", "Speaks to a database", EffectKind.EXECUTE)]


def _made(call: Call) -> Findings:
    """A file that is not there is made: of the words that may be its name, the worst counts."""
    words = call.arguments.operands
    files = [*words[:1], *(w for w in words[1:] if " " not in w.text)]
    named = [Word(w.text.removeprefix("file:").partition("?")[0]) for w in files]
    is_far = any(found.risk is Risk.HIGH for found in call.writes(named))
    if not is_far or call.arguments.has("-readonly"):
        return []
    why = "Opens a file that is not the project's, and makes it where there is none"
    return [call.finding(Risk.MEDIUM, "sql", why, EffectKind.WRITE)]


def destroying(text: str) -> str | None:
    """The first words of SQL in `text` that change or delete data; None when there are none."""
    match = _destroys(is_mongo=False).search(_bare(text))
    return match[0].strip() if match else None


def only_asks(text: str) -> bool:
    """Every statement in it asks a database for something, and changes nothing there."""
    if destroying(text) is not None or _MAKES.search(_bare(text)):
        return False
    statements = [one for one in text.split(";") if one.strip()]
    return bool(statements) and all(_LOOKS.match(_REMARK.sub("", one)) for one in statements)


_REMARK = re.compile(r"^(?:\s*--[^\n]*\n)+")
_MAKES = re.compile(r"\b(?:into|create|merge|set|load|foreach)\b", re.IGNORECASE)
"""`SELECT … INTO`, and what makes or changes nodes of a graph."""


def _bare(text: str) -> str:
    """The statements without their quoted texts, comments, and what is only explained."""
    if _OTHER_QUOTES.search(text) is None:
        text = _DOUBLE_QUOTED.sub("''", text)
    return _EXPLAINED.sub("", _QUOTED.sub(_quoted, text))


def _quoted(match: re.Match[str]) -> str:
    """Nothing; but what is opened and never closed is no text, and is kept."""
    is_open = match["open"] is not None or match["rest"] is not None
    return match[0] if is_open else "''"


def _bare_mongo(text: str) -> str:
    """The same in JavaScript, where a quote in `/'/` or in a template begins no text."""
    return text if "/" in text or "`" in text else _MONGO_TEXT.sub(_mongo_text, text)


def _mongo_text(match: re.Match[str]) -> str:
    """Nothing; but `db["drop"]` names a function, and `"$out"` is an operator."""
    is_closed = len(match[0]) > 1 and match[0][-1] in "'\""
    is_name = match["before"] or match[0][1:2] == "$"
    return match[0] if is_name or not is_closed else "''"


def _statements(text: str, call: Call) -> Findings:
    is_mongo = call.arguments.path.startswith("mongo")
    if text == UNKNOWN:
        return [_unseen(call)]
    bare = _bare_mongo(text) if is_mongo else _without_products(text, call)
    match = _destroys(is_mongo=is_mongo).search(bare)
    if match is None or (not is_mongo and _only_adds(bare) and _is_for_trials(call)):
        return []
    return [
        call.finding(
            Risk.HIGH,
            "database-change",
            f"{match[0].strip()!r} changes or deletes data, or the server",
            EffectKind.DELETE,
            kind=f"{call.arguments.path} {match[0].strip().lower()[:20]}",
        )
    ]


_ADDS = frozenset({"insert", "update", "replace"})
_FOR_TRIALS = frozenset(
    {"dev", "devel", "development", "test", "tests", "testing", "local", "demo", "sandbox",
     "scratch", "playground", "tmp", "temp", "fixture", "fixtures", "e2e", "ci"}
)  # fmt: skip
_FOR_OTHERS = frozenset({"prod", "production", "live", "stage", "staging", "backup", "backups"})
_COPIED_TO = re.compile(r"\bcopy(?=\s*(?:\([^;]*\)|[\w.]+)\s*to\s*'([\w./-]+)')", re.IGNORECASE)
"""A file that a database of files makes, whose path is plain."""


def _only_adds(bare: str) -> bool:
    """Its statements insert or update rows, and neither delete any nor change a table."""
    found = {match[0].strip().lower() for match in _destroys(is_mongo=False).finditer(bare)}
    return found <= _ADDS


def _is_for_trials(call: Call) -> bool:
    """`sqlite3 dev.db`, `wrangler d1 execute x --local`: by the words of the command itself."""
    if stays_here(call):
        return True
    if call.arguments.rule is None or call.arguments.rule.rule != "sql-file":
        return _is_named_for_trials(_local_database(call))
    file = next(iter(call.arguments.operands), None)
    if file is None or not file.is_constant:
        return False
    location = call.judge.territory.locate(file.text, call.cwds)
    is_inside = location.zone in {Zone.SAFE, Zone.PROJECT} and location.place is None
    return is_inside and _is_named_for_trials(file.text)


def _is_named_for_trials(name: str) -> bool:
    words = set(re.split(r"[^a-z0-9]+", name.lower()))
    return bool(words & _FOR_TRIALS) and not words & _FOR_OTHERS


def _local_database(call: Call) -> str:
    """The name of the database, of a server that is named and is of this machine; or nothing."""
    if "PGHOSTADDR" in call.part or "PGSERVICE" in call.part:
        return ""
    given = [(g.name, g.value.text) for g in call.arguments.given if g.value]
    texts = [*(word.text for word in call.arguments.operands), *(text for _, text in given)]
    urls = [text for text in texts if "://" in text]
    hosts = [text for name, text in given if name in {"-h", "--host"}]
    names = [text for name, text in given if name in {"-d", "--dbname", "-D", "--database"}]
    if len(urls) == 1 and not hosts and (match := _LOCAL_URL.fullmatch(urls[0])):
        return match[1]
    is_local = bool(hosts) and _LOCAL_HOSTS.issuperset(hosts) and not urls
    is_plain = len(names) == 1 and re.fullmatch(r"[\w-]+", names[0]) is not None
    return names[0] if is_local and is_plain else ""


_LOCAL_HOSTS = frozenset({"localhost", "127.0.0.1", "::1"})
_LOCAL_URL = re.compile(
    r"(?:postgres(?:ql)?|mysql|mariadb)://(?:[\w.%-]+(?::[\w.%-]*)?@)?"
    r"(?:localhost|127\.0\.0\.1)(?::\d+)?/([\w-]+)(?:\?(?!\S*(?:host|service))[\w=&.-]*)?"
)
"""Not with `?host=`, which is the server that counts."""


def _without_products(text: str, call: Call) -> str:
    """The bare statements; `COPY (…) TO 'build/x.parquet'` only makes a file of the project."""
    if call.arguments.path not in {"duckdb", "clickhouse-local"}:
        return _bare(text)
    outputs = [match[1] for match in _COPIED_TO.finditer(text)]
    written = call.writes(Word(path) for path in outputs)
    is_harmless = all(found.risk is not Risk.HIGH for found in written)
    return _bare(_COPIED_TO.sub("", text) if is_harmless else text)


def _unseen(call: Call) -> Finding:
    return call.finding(
        Risk.HIGH,
        "unseen-statements",
        "The statements it runs are not seen here",
        EffectKind.EXECUTE,
    )


def _key_value(call: Call) -> Findings:
    if call.arguments.has("--eval", "--pipe"):
        return [_unseen(call)]
    words = [word.text.lower() for word in call.arguments.operands]
    lines = (call.command.stdin or "").split() if call.command.stdin else []
    if call.command.upstream and not words:
        return [_unseen(call)]
    if " ".join(words[:2]) in load_table("statements")["key_value_looks"] and not lines:
        if any(_SECRET_KEY.search(word) for word in words[2:]):
            why = "Shows settings with passwords among them"
            return [call.finding(Risk.HIGH, "shows-secret", why, EffectKind.READ)]
        return []
    if _key_value_words().intersection([*words[:1], *(line.lower() for line in lines)]):
        return [
            call.finding(
                Risk.HIGH,
                "database-change",
                f"{(words or ['it'])[0]!r} changes data or the server",
                EffectKind.DELETE,
            )
        ]
    return []


_SECRET_KEY = re.compile(r"[*?\[]|pass|auth|user")
"""Settings that hold passwords, and patterns that may stand for them."""


@handles("maps")
def maps(call: Call) -> Findings:
    """`ogr2ogr -f PostgreSQL PG:dbname=x a.shp`: what is before the colon is a kind of database."""
    if not any(_DRIVER.match(word.text) for word in call.arguments.operands):
        return []
    why = "Reads or fills a database"
    return [call.finding(Risk.MEDIUM, "sql", why, EffectKind.NETWORK)]


_DRIVER = re.compile(
    r"(?:PG|MySQL|MSSQL|OCI|ODBC|MongoDB|MongoDBv3|HANA|CARTO|ES|WFS):", re.IGNORECASE
)
