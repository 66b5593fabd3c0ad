"""`sed` and `awk`: their programs are read as far as it takes to see what is only text."""

import re

from perpetualcc.domain.tools import Risk
from perpetualcc.permissions.commands.call import Call, Findings, handles
from perpetualcc.permissions.effects import EffectKind, Finding
from perpetualcc.permissions.shell.script import UNKNOWN, Word

_SED_ADDRESS = re.compile(
    r"\s*(?:(?:\d+|\$|[\\]?/(?:\\.|[^/\\])*/[IM]*|\\(.)(?:\\.|(?!\1).)*\1)(?:[~,+]\s*[~+]?(?:\d+|\$|/(?:\\.|[^/\\])*/[IM]*))?)?\s*!?\s*"
)
_SED_SIMPLE = frozenset("dDpPgGhHnNxqQ=lzF{}")


@handles("sed")
def sed(call: Call) -> Findings:
    """Its script may run (`e`), write (`w`) and read (`r`); `-i` writes the files it reads."""
    arguments = call.arguments
    scripts = [g.value for g in arguments.given if g.name in {"-e", "--expression"} and g.value]
    files = arguments.operands
    if not scripts and not arguments.has("-f", "--file"):
        scripts, files = files[:1], files[1:]
    in_place = next((g for g in arguments.given if g.name in {"-i", "--in-place"}), None)
    if in_place is not None and in_place.value is None:  # `sed -i '' script file`, as on macOS
        if scripts and scripts[0].text == "" and files:
            scripts, files = files[:1], files[1:]
        elif files and files[0].text == "":
            files = files[1:]
    findings = call.writes(files) if in_place is not None else []
    findings += call.reads(files)
    for script in scripts:
        findings += _sed_script(script.text, call)
    return findings


def _sed_script(script: str, call: Call) -> Findings:
    findings: Findings = []
    position = 0
    while position < len(script):
        if script[position] in " \t\n;":
            position += 1
            continue
        address = _SED_ADDRESS.match(script, position)
        position = address.end() if address else position
        if position >= len(script):
            break
        found, position = _sed_command(script, position, call)
        findings += found
        if position < 0:
            return [*findings, _unread(call)]
    return findings


def _sed_command(script: str, position: int, call: Call) -> tuple[Findings, int]:
    """One command: what it does, and where the next begins; -1 when it cannot be read."""
    command = script[position]
    position += 1
    if command in "sy":
        return _sed_replaces(script, position, call)
    if command in _SED_SIMPLE or command.isdigit():
        return [], position
    line, position = _rest_of_line(script, position, ends_at_semicolon=command in "btT")
    if command in "wW":
        return call.writes([Word(line)]), position
    if command in "rR":
        return call.reads([Word(line)]), position
    if command == "e":
        return [_runs(call)], position
    return [], (position if command in "aic#btT:" else -1)


def _sed_replaces(script: str, position: int, call: Call) -> tuple[Findings, int]:
    end, flags = _sed_substitution(script, position)
    if end < 0 or UNKNOWN in flags:
        return [], -1
    findings = [_runs(call)] if "e" in flags.split("w")[0] else []
    if "w" in flags:
        findings += call.writes([Word(flags.partition("w")[2].strip())])
    return findings, end


def _sed_substitution(script: str, position: int) -> tuple[int, str]:
    """After `s` or `y`: where the command ends, and its flags. -1 when it is not finished."""
    if position >= len(script):
        return -1, ""
    delimiter = script[position]
    position += 1
    for _ in range(2):
        in_class = False
        while position < len(script):
            c = script[position]
            if c == "\\":
                position += 1
            elif c == delimiter and not in_class:
                break
            position += 1
        if position >= len(script):
            return -1, ""
        position += 1
    match = re.compile(r"[gpiImMe0-9]*(?:w[^\n]*)?").match(script, position)
    flags = match[0] if match else ""
    return position + len(flags), flags


def _rest_of_line(
    script: str, position: int, *, ends_at_semicolon: bool = False
) -> tuple[str, int]:
    end = position
    while (
        end < len(script)
        and script[end] != "\n"
        and not (ends_at_semicolon and script[end] in ";}")
    ):
        end += 2 if script[end] == "\\" else 1
    return script[position:end].strip(), min(end, len(script))


def _runs(call: Call) -> Finding:
    return call.finding(
        Risk.HIGH, "runs-code", "The script runs shell commands", EffectKind.EXECUTE
    )


def _unread(call: Call) -> Finding:
    return call.finding(
        Risk.MEDIUM, "unread-script", "The script cannot be read with certainty", EffectKind.EXECUTE
    )


_LONGEST_PROGRAM = 4_000
"""Characters; what people write on a command line is far shorter."""
_AWK_STRING = re.compile(r'"(?:\\.|[^"\\])*"')
_AWK_REGEX = re.compile(r"(?<=[~(,!&|{;\s])/(?:\\.|\[[^\]]*\]|[^/\\\n])+/|^/(?:\\.|[^/\\\n])+/")
_AWK_RUNS = re.compile(
    r"\bsystem\s*\(|\|\s*getline|\|&|print[^;}\n]*\|\s*|@load|@include|\bgetline(?:\s+[\w$\[\]]+)?\s*<\s*[^\"\s]|/inet/"
    r"|@\s*[A-Za-z_]\w*\s*\("
)
_AWK_READS = re.compile(r"\bgetline(?:\s+[\w$\[\]]+)?\s*<")
_AWK_NAMES = re.compile(
    r"\bARGV\s*\[[^\]]*\]\s*[-+*/%^]?=(?!=)|\bARGC\s*(?:[-+*/%^]?=(?!=)|\+\+|--)|(?:\+\+|--)\s*ARGC\b"
    r"|\b(?:g?sub|(?:pat)?split|match)\s*\([^)]*\bARGV\b|(?<!in )\bARGV\s*[,)]"
    r"|\bgetline\s+ARG[VC]\b"
)
"""Where the program itself says which files it is given; not `FILENAME == ARGV[1]`."""
_AWK_WRITES = re.compile(r"print[^;}\n]*?>>?\s*(\S+)")


@handles("awk")
def awk(call: Call) -> Findings:
    """Its program may run (`system`, pipes) and write (`print > file`)."""
    arguments = call.arguments
    if arguments.has("-f", "--file", "-E", "--exec"):
        return call.reads(arguments.operands)
    if not arguments.operands and not arguments.has(*_AWK_SOURCES):
        return []
    sources = [g.value.text for g in arguments.given if g.name in _AWK_SOURCES and g.value]
    program, *files = [Word("\n".join(sources))] * bool(sources) + arguments.operands
    files = [word for word in files if "=" not in word.text]
    included = {
        g.value.text: g.value for g in arguments.given if g.name in _AWK_INCLUDES and g.value
    }
    is_in_place = included.pop("inplace", None) is not None
    findings = call.writes(files) if is_in_place else call.reads(files)
    if included:
        why = "Includes a file of code"
        findings += call.reads(included.values())
        findings.append(call.finding(Risk.MEDIUM, "option", why, EffectKind.EXECUTE))
    if _AWK_ENVIRONMENT.search(program.text):
        why = "Prints variables, which may hold tokens"
        findings.append(call.finding(Risk.MEDIUM, "print-environment", why, EffectKind.READ))
    return findings + _awk_named(program.text, call) + _awk_program(program.text, call)


def _awk_named(program: str, call: Call) -> Findings:
    """`ARGV[1] = ".env"`: whichever of its texts that may be."""
    if not _AWK_NAMES.search(_AWK_REGEX.sub("R", _AWK_STRING.sub('""', program))):
        return []
    texts = [text[1:-1] for text in _AWK_STRING.findall(program)]
    texts += [word.text.partition("=")[2] for word in call.command.words[1:] if "=" in word.text]
    why = "The program says itself which files it reads"
    found = call.reads(Word(text) for text in texts if text)
    named = [finding for finding in found if finding.risk is Risk.HIGH]
    return [call.finding(Risk.MEDIUM, "read-unknown", why, EffectKind.READ), *named]


_AWK_INCLUDES = frozenset({"-i", "--include"})
_AWK_SOURCES = frozenset({"-e", "--source"})
_AWK_ENVIRONMENT = re.compile(
    r"\bin\s+ENVIRON\b|ENVIRON\s*\[\s*\"[^\"]*(?:SECRET|TOKEN|PASS|KEY|CREDENTIAL|AUTH)",
    re.IGNORECASE,
)


def _awk_program(program: str, call: Call) -> Findings:
    if UNKNOWN in program or len(program) > _LONGEST_PROGRAM:
        return [_unread(call)]
    bare = _AWK_REGEX.sub("R", _AWK_STRING.sub('""', program))
    if _AWK_RUNS.search(bare) or '"/inet/' in program:
        return [_runs(call)]
    findings: Findings = []
    blocks = re.sub(r"\([^()]*\)", "()", bare)
    if _AWK_WRITES.search(blocks):
        names = re.findall(r'>>?\s*"((?:\\.|[^"\\])*)"', program) or [UNKNOWN]
        findings += call.writes([Word(name) for name in names])
    if _AWK_READS.search(bare):
        names = re.findall(r'getline[^;<]*<\s*"((?:\\.|[^"\\])*)"', program) or [UNKNOWN]
        findings += call.reads([Word(name) for name in names])
    return findings
