"""Shells and interpreters: code on the command line, in a file, or through a pipe."""

import posixpath
import re
from collections.abc import Callable, Iterable
from functools import cache

from perpetualcc.domain.tools import Risk
from perpetualcc.permissions.blocked import names_shell
from perpetualcc.permissions.commands.call import Call, Findings, handles
from perpetualcc.permissions.commands.foreign_code import code_path
from perpetualcc.permissions.commands.passed_on import judge_told
from perpetualcc.permissions.commands.places import sets_up_a_tool
from perpetualcc.permissions.commands.programs.shell_options import exports_all
from perpetualcc.permissions.effects import EffectKind, Finding
from perpetualcc.permissions.knowledge import load_table
from perpetualcc.permissions.paths import Zone
from perpetualcc.permissions.shell.outputs import printed_by
from perpetualcc.permissions.shell.script import UNKNOWN, Word

STANDARD_INPUT = frozenset({"-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"})
"""Names of the stream that a pipe or a here-document fills."""


@handles("shell")
def shell(call: Call) -> Findings:
    """`bash -c code`, `bash file`, `bash < code`, `… | bash`."""
    operands = call.arguments.operands
    if operands and operands[0].text == "-":  # as good as `--`
        operands = operands[1:]
    if any(UNKNOWN in word.text for word in _options(call)):
        return [computed(call)]
    call.judge.exports_all |= exports_all(_options(call))
    if operands and operands[0].text == UNKNOWN and operands[0].splits:
        return [computed(call)]
    if any(given.rule.risk is Risk.LOW for given in call.arguments.given):
        return []
    if call.arguments.has("-c"):
        if not operands:
            return [_bare(call)]
        found = [*_other_language(call), *call.judge.shell(operands[0].text, call)]
        return [*found, computed(call)] if prints_its_program(operands[0]) else found
    if operands and not call.arguments.has("-s") and operands[0].text not in STANDARD_INPUT:
        return call.judge.script_file(operands[0], call)
    return _from_stdin(call, call.judge.shell)


def _options(call: Call) -> list[Word]:
    """The words before the code or the file, with the names that `-o` and `-O` take."""
    before = Word("")
    found = []
    for word in call.command.words[1:]:
        if word.text[:1] not in {"-", "+"} and before.text.lower() not in {"-o", "+o"}:
            break
        found.append(word)
        before = word
    return found


def computed(call: Call) -> Finding:
    """The finding for code that another command prints."""
    why = "The code it runs is known only when it runs"
    return call.finding(Risk.HIGH, "computed-code", why, EffectKind.EXECUTE)


_PRINTED_NAME = re.compile(rf"\s*{UNKNOWN}(?:[\s;&|]|$)")


def prints_its_program(code: Word) -> bool:
    """`sh -c "$(printf 'rm %s' -rf) x"`."""
    return bool(code.code) and _PRINTED_NAME.match(code.text) is not None


_OTHER_LANGUAGES = frozenset({"fish", "nu", "elvish", "xonsh", "csh", "tcsh"})
"""Shells whose code only looks like that of the others."""


def _other_language(call: Call) -> Findings:
    if call.arguments.path not in _OTHER_LANGUAGES:
        return []
    why = f"The code is for {call.arguments.path}, which is not read here"
    return [call.finding(Risk.MEDIUM, "other-shell", why, EffectKind.EXECUTE)]


@handles("source")
def source(call: Call) -> Findings:
    """`. file`: runs it in this very shell."""
    files = call.arguments.operands[:1]
    if files and files[0].text in STANDARD_INPUT:
        return _from_stdin(call, call.judge.shell)
    territory = call.judge.territory
    place = territory.locate(files[0].text, call.cwds) if files else None
    if place and files[0].is_constant and sets_up_a_tool(place.path, territory.home):
        why = "Sets up a tool for this shell, as the tool's own manual says"
        return [call.finding(Risk.LOW, "shell-setup", why, EffectKind.EXECUTE)]
    return call.reads(files) + [f for word in files for f in call.judge.script_file(word, call)]


def _bare(call: Call) -> Finding:
    return call.finding(
        Risk.HIGH,
        "bare-shell",
        "Starts a shell that takes its commands from elsewhere",
        EffectKind.EXECUTE,
    )


def _from_stdin(call: Call, judge: Callable[[str, Call], Findings]) -> Findings:
    if call.command.stdin is not None:
        return judge(call.command.stdin, call)
    if not call.command.upstream:
        redirected = [r.target for r in call.command.redirections if r.operator == "<"]
        return call.judge.script_file(redirected[0], call) if redirected else [_bare(call)]
    if any(
        e.kind is EffectKind.NETWORK
        for f in call.judge.found(call.command.upstream)
        for e in f.effects
    ):
        return [
            call.finding(
                Risk.HIGH,
                "remote-code",
                "Runs code that comes from the network",
                EffectKind.EXECUTE,
                EffectKind.NETWORK,
            )
        ]
    text = printed_text(call)
    if text is not None:
        return judge(text, call)
    return [
        call.finding(
            Risk.HIGH, "piped-code", "Runs what another command prints as code", EffectKind.EXECUTE
        )
    ]


def printed_text(call: Call) -> str | None:
    """What `echo`, `printf` or a here-document put into the pipe, when that is known."""
    sources = call.command.upstream
    return printed_by(sources[0]) if len(sources) == 1 else None


_LOADS_CODE = re.compile(
    r"data:|https?:|(?:auto_prepend_file|auto_append_file|extension|zend_extension|allow_url_include"
    r"|disable_functions|open_basedir)=",
)


@handles("interpreter")
def interpreter(call: Call) -> Findings:
    """Python, Node, Ruby, Perl, PHP, …: inline code is never LOW, files are the project's."""
    for given in call.arguments.given:
        if given.value is not None and _LOADS_CODE.match(given.value.text):
            why = f"{given.value.text[:60]} loads code of its own"
            return [call.finding(Risk.HIGH, "inline-code", why, EffectKind.EXECUTE)]
    named = [g.value for g in call.arguments.given if g.name in _LOADERS_OF_CODE and g.value]
    return _harmful(named, call) + _interpreted(call)


def _interpreted(call: Call) -> Findings:
    codes = [
        g.value.text
        for g in call.arguments.given
        if g.rule.explanation == "inline code" and g.value is not None
    ]
    if codes or any(g.name in {"-i", "-pi", "-pie"} for g in call.arguments.given):
        return _inline(codes, call)
    module = next((g.value for g in call.arguments.given if g.name == "-m" and g.value), None)
    if module is not None and call.arguments.path == "python":
        return _module(module, call)
    return _file(call)


@handles("python-code")
def python_code(call: Call) -> Findings:
    """
    `coverage run x.py`, `python -m cProfile -m x`: Python runs it, and this one measures.

    What is measured is the project's own, so a name that says nothing is no reason to ask.
    """
    words = call.arguments.operands
    if not words:
        return []
    if not call.arguments.has("-m", "--module"):
        found = call.judge.words([Word("python"), *words], call)
        return [f for f in found if f.rule != "script" or f.risk is Risk.HIGH]
    name = words[0].text
    if call.judge.knowledge.program(name) is not None:
        return call.judge.words(words, call)
    path = f"{name.replace('.', '/')}.py"
    return _harmful([Word(path)], call) + judge_told(posixpath.basename(path), words[1:], call)


@handles("named-code")
def named_code(call: Call) -> Findings:
    """`streamlit run x.py`, `python -m doctest x.py`: what they load harms by its name."""
    if call.arguments.path.endswith("nbconvert") and not call.arguments.has("--execute"):
        return []
    return _harmful(call.arguments.operands, call)


def _harmful(words: Iterable[Word], call: Call) -> Findings:
    files = [word for word in words if _CODE_FILE.search(word.text)]
    found = [finding for word in files for finding in call.judge.script_file(word, call)]
    return [finding for finding in found if finding.risk is Risk.HIGH]


_CODE_FILE = re.compile(r"^\.{0,2}/|\.(?:py|ipynb|[cm]?[jt]sx?)$")
_LOADERS_OF_CODE = frozenset({"-r", "--require", "--import", "--loader", "--experimental-loader"})


@handles("task-or-stream")
def task_or_stream(call: Call) -> Findings:
    """`bun run -` runs what it is fed; with the name of a script it does not."""
    operands = call.arguments.operands
    if operands and _CODE_FILE.search(operands[0].text):
        return call.judge.script_file(operands[0], call)
    return from_stream(call) if operands and operands[0].text in STANDARD_INPUT else []


@handles("code-from-stdin")
def code_from_stdin(call: Call) -> Findings:
    """`gnuplot <<< '!rm x'`: what builds the project's files runs what it is fed as well."""
    files = [r.target.text for r in call.command.redirections if r.operator == "<"]
    if call.command.upstream or call.command.stdin is not None:
        return _from_stdin(call, inline_code)
    return [found for file in files for found in code_path(file, call)]


def _inline(codes: list[str], call: Call) -> Findings:
    """`-e code file`; with `-i` the files are written. `perl -pi -e` hides its `-e`."""
    files = call.arguments.operands
    is_in_place = any(g.name in {"-i", "-pi", "-pie"} for g in call.arguments.given)
    if is_in_place and not codes:
        return call.writes(files[1:])
    loaded = [g.value.text for g in call.arguments.given if g.name in {"-M", "-r"} and g.value]
    findings = [f for code in codes for f in inline_code(" ".join([*loaded, code]), call)]
    if is_in_place:
        return findings + call.writes(files)
    return findings + call.reads(w for w in files if "/" in w.text)


def _module(module: Word, call: Call) -> Findings:
    """`python -m module …` is the program of that name."""
    is_known = call.judge.knowledge.program(module.text) is not None
    if not is_known and _is_own(module, call):
        path = module.text.replace(".", "/") + ".py"
        told = judge_told(posixpath.basename(path), call.arguments.operands, call)
        return call.judge.script_file(Word(path), call) + told
    name = module.text if is_known else module.text.replace("_", "-")
    return call.judge.words([Word(name, module.splits), *call.arguments.operands], call)


def _is_own(module: Word, call: Call) -> bool:
    """`python -m src.report`: a module below one of the project's directories of code."""
    first, dot, _ = module.text.partition(".")
    place = call.judge.territory.locate(first, call.cwds)
    return bool(dot) and module.is_constant and place.zone is Zone.SAFE


def _file(call: Call) -> Findings:
    """`python file`, `python < file`, `… | python`, or a prompt."""
    operands = call.arguments.operands
    if any(given.rule.risk is Risk.LOW for given in call.arguments.given):
        return []
    if operands and operands[0].text not in STANDARD_INPUT:
        found = call.judge.script_file(operands[0], call)
        is_compiled = call.arguments.path == "perl" and call.arguments.has("-c")
        return [f for f in found if not is_compiled or f.rule != "script"]  # but for `BEGIN`
    if call.arguments.has("--version", "-V", "-v", "--help", "-h"):
        return []
    return from_stream(call)


def from_stream(call: Call) -> Findings:
    """The same for interpreters whose other words a handler of their own knows."""
    command = call.command
    if command.stdin is None and not command.upstream and not command.redirections:
        why = "Starts an interpreter that waits for code"
        return [call.finding(Risk.MEDIUM, "bare-interpreter", why, EffectKind.EXECUTE)]
    return _from_stdin(call, inline_code)


@cache
def _patterns() -> tuple[tuple[re.Pattern[str], str], ...]:
    """What inline code must not do, with the reason."""
    return tuple(
        (re.compile("|".join(entry["patterns"])), entry["explanation"])
        for entry in load_table("inline_code")["code"]
    )


_LITERAL = re.compile(
    r"'(?:\\.|[^'\\\n])*+(?:'|(?P<open>.?))|\"(?:\\.|[^\"\\$`@#[\n])*+(?:\"|(?P<loose>.?))"
)
"""A text in quotes into which nothing is put."""
_ASSIGNED = re.compile(r"(?:^|[;\s])\$?([A-Za-z_]\w*)\s*=(?![=>~])")
_CALLED = re.compile(r"([A-Za-z_]\w*)\s*\(")
_CALLS_A_VALUE = re.compile(r"[\0\])}>]\s*\(|&\s*[{$]")
"""`'system'('id')`, `a['constructor']('code')()`: a text or a result is called by its name."""
_ODD_QUOTE = re.compile(r"[/$?%#\\]\s*\0|\[\[|\{\s*\0\s*\}")
"""`/"/`, `$"`, `?"`, `[["]]`, `{"}`: a quote that begins no text, so code may stand between two."""
_LOADERS = frozenset(
    {"eval", "exec", "require", "load", "open", "send", "spawn", "fork", "syscall", "system", "do"}
)
"""Names that run or open what they are given, in one language or another."""
_IMPORTS_TEXT = re.compile(r"\bimport\s*[('\"]")
_NAME = re.compile(r"[A-Za-z_]\w*")


@cache
def _harmless() -> frozenset[str]:
    return frozenset(load_table("inline_code")["harmless"])


def without_texts(code: str) -> str | None:
    """`code` with its texts in quotes blanked; None where more than names and calls is in it."""
    if UNKNOWN in code or len(code) > 20_000:
        return None
    if any(m["open"] is not None or m["loose"] is not None for m in _LITERAL.finditer(code)):
        return None
    bare = _LITERAL.sub("\0", code)
    if "`" in bare or _IMPORTS_TEXT.search(code) or _CALLS_A_VALUE.search(bare):
        return None
    if _ODD_QUOTE.search(bare) or any(pattern.search(bare) for pattern, _ in _patterns()):
        return None
    return bare


def _only_prints(text: str) -> bool:
    """Whether it does nothing with its texts but print, measure, split or encode them."""
    bare = without_texts(text)
    if bare is None:
        return False
    own = set(_ASSIGNED.findall(bare)) - _LOADERS - set(_CALLED.findall(bare))
    return (_harmless() | own).issuperset(_NAME.findall(bare))


_WRITES = re.compile(
    r"[\"'][wax]b?\+?[\"']|\bwrite_(?:text|bytes)\b|\b(?:write|append)File|\bfile_put_contents\b"
    r"|(?<!stdout)(?<!stderr)\.write\(|\bFile\.write\b|\bdump\("
)
"""How code of one language or another writes files."""


def inline_code(text: str, call: Call) -> Findings:
    """Code in a language that is not read here: MEDIUM, and HIGH when it does what is listed."""
    if _only_prints(text):
        why = "Runs code given on the command line, which only prints"
        kind = f"{call.arguments.path} inline"
        return [call.finding(Risk.MEDIUM, "inline-code", why, EffectKind.EXECUTE, kind=kind)]
    if names_shell(text):
        why = "The code names a shell, to run it"
        return [call.finding(Risk.HIGH, "given-shell", why, EffectKind.EXECUTE)]
    for pattern, why in _patterns():
        if pattern.search(text[:20_000]):
            return [
                call.finding(
                    Risk.HIGH,
                    "inline-code",
                    why,
                    EffectKind.EXECUTE,
                    kind=f"{call.arguments.path} inline",
                )
            ]
    findings = [
        call.finding(
            Risk.MEDIUM,
            "inline-code",
            "Runs code given on the command line",
            EffectKind.EXECUTE,
            kind=f"{call.arguments.path} inline",
        )
    ]
    writes = _WRITES.search(text) is not None
    for quoted in re.findall(r"[\"']([~/.\w][^\"'\n]{2,200})[\"']", text[:20_000])[:50]:
        found = call.judge.territory.read(quoted, call.cwds, call.part)
        findings += [found] if found.risk is Risk.HIGH else []
        if writes:
            written = call.judge.territory.write(quoted, call.cwds, call.part)
            findings += [written] if written.is_guarded else []
    if UNKNOWN in text and text.strip() == UNKNOWN:
        findings.append(
            call.finding(
                Risk.HIGH,
                "computed-code",
                "The code it runs is known only when it runs",
                EffectKind.EXECUTE,
            )
        )
    return findings
