"""Build tools whose words can hold commands of their own."""

import posixpath
import re
from collections.abc import Sequence

from perpetualcc.domain.tools import Risk
from perpetualcc.permissions.commands.call import Call, Findings, handles
from perpetualcc.permissions.commands.emptying import may_go
from perpetualcc.permissions.commands.environment import is_usual, judge_variable
from perpetualcc.permissions.commands.foreign_code import is_stream
from perpetualcc.permissions.commands.line_files import recipes, task_lines
from perpetualcc.permissions.commands.programs.interpreters import inline_code
from perpetualcc.permissions.commands.programs.packages import tasks
from perpetualcc.permissions.commands.tasks import judge_task
from perpetualcc.permissions.effects import EffectKind, Finding
from perpetualcc.permissions.knowledge import load_table
from perpetualcc.permissions.paths import MAY_LEAVE, Zone
from perpetualcc.permissions.shell.script import UNKNOWN, Word

_MAKE_RUNS = re.compile(r"\.?SHELL(?:FLAGS)?|MAKEFLAGS|MFLAGS|MAKEFILES|MAKE")
_FLAGS = frozenset({"MAKEFLAGS", "MFLAGS"})
"""Setting them is judged by itself: `export MAKEFLAGS=-j4` is everyday."""
_MAKE_FUNCTION = re.compile(r"\$[({](?:shell|eval|call|file|guile)\b")
_CLEANS = re.compile(r"(?:clean|clobber|mrproper|purge|wipe|uninstall)\b", re.IGNORECASE)
_DIRECTORY = re.compile(
    r"(?:DIR(?:ECTORY)?|ROOT|OUT(?:PUT)?|DEST|PREFIX|BUILD|TARGET|OBJ|DIST|BIN|CACHE|TE?MP)S?$"
    r"|^O$",
    re.IGNORECASE,
)
"""Variables of makefiles with these names hold a directory."""
_SHELL_TEXT = re.compile(r"[;&|`\n]|\$\(")


@handles("make")
def make(call: Call) -> Findings:
    """Its tasks, and what it runs before them."""
    return [
        *tasks(call),
        *_written_here(_makefiles(call), call),
        *run_by_reading(call),
        *_cleaned(call),
        *(judge_task(goal, call) for goal in _told_goals(call)),
    ]


def _told_goals(call: Call) -> list[str]:
    """`make .DEFAULT_GOAL=deploy`."""
    given = [word.text.partition("=") for word in call.arguments.operands]
    values = [value for name, _, value in given if name.rstrip(":+?") == ".DEFAULT_GOAL"]
    return [goal for value in values for goal in value.split()]


@handles("build-settings")
def build_settings(call: Call) -> Findings:
    """`xcodebuild CC=rm build`: settings of the build, some of which name what it runs."""
    given = [word.text.partition("=") for word in call.arguments.operands]
    return [f for name, equals, value in given if equals for f in _setting(name, value, call)]


@handles("pasted-settings")
def pasted_settings(call: Call) -> Findings:
    """`just x='$(rm y)' test`: a setting is pasted into the shell lines of what it runs."""
    given = [word.text.partition("=") for word in call.arguments.operands]
    return [f for name, equals, value in given if equals for f in _pasted(name, value, call)]


def run_by_reading(call: Call) -> Findings:
    """`SHELL=…`, `X!=rm`, `CC='sh -c …'` and a makefile from a pipe are code, with `-n` as well."""
    findings: Findings = []
    if any(file is not None and is_stream(file.text) for file in _makefiles(call)):
        why = "The makefile comes from a pipe or from the line itself"
        findings.append(call.finding(Risk.HIGH, "piped-code", why, EffectKind.EXECUTE))
    for word in call.arguments.operands:
        name, equals, value = word.text.partition("=")
        if equals:
            findings += _setting(name.rstrip(":+?!"), value, call)
        if name.endswith("!"):
            findings += call.judge.shell(value, call)
    return findings + _environment(call)


def _makefiles(call: Call) -> list[Word | None]:
    return [g.value for g in call.arguments.given if g.name in {"-f", "--file", "--makefile"}]


def _environment(call: Call) -> Findings:
    """
    `export FOO='; rm x'; make`: each is one of the makefile, but SHELL; most are no code.

    What a makefile usually takes from outside may be exported already: `CC=x; make` changes it.
    """
    own = call.command.assignments
    usual = (one for one in call.judge.assigned if is_usual(one.name, call.judge.knowledge))
    findings = [
        found
        for one in dict.fromkeys((*call.judge.environment(own), *usual))
        if one.name != "SHELL" and (one.name not in _FLAGS or one in own)
        for found in _setting(one.name, one.value.text, call)
    ]
    return [f for f in findings if f.risk is Risk.HIGH and f.rule != "computed-command"]


def _cleaned(call: Call) -> Findings:
    """`make clean BUILD=/`, `BUILD= make clean`: where a makefile deletes is told on the line."""
    goals = [word.text for word in call.arguments.operands if "=" not in word.text]
    if not any(_CLEANS.search(goal) for goal in goals):
        return []
    given = [word.text.partition("=") for word in call.arguments.operands]
    environment = call.judge.environment(call.command.assignments)
    told = [(one.name, one.value.text) for one in environment]
    told += [(name.rstrip(":+?!"), value) for name, equals, value in given if equals]
    judged = (_cleaned_there(*one, call) for one in told if _DIRECTORY.search(one[0]))
    return [finding for finding in judged if finding is not None]


def _cleaned_there(name: str, value: str, call: Call) -> Finding | None:
    territory = call.judge.territory
    place = territory.locate(value or "/", call.cwds)
    is_all = territory.is_all(place.path)
    is_known = UNKNOWN not in value
    is_inside = place.zone is Zone.SCRATCH or territory.contains(place.path)
    is_code = place.zone is Zone.SAFE and not may_go(value, {}, call)
    if is_inside and is_known and not is_all and not is_code:
        return None
    why = f"{name} says where it deletes: {place.path.replace(UNKNOWN, '…')}"
    risk = Risk.HIGH if is_all or is_code else Risk.MEDIUM
    return call.finding(risk, "cleans-elsewhere", why, EffectKind.DELETE)


def written_tasks(call: Call) -> Findings:
    """`printf … > justfile && just`: tasks that this same line has written."""
    program = call.arguments.path.partition(" ")[0]
    names = [*load_table("tasks")["defined"].get(program, ())]
    if not names:
        return []
    names += [g.value.text for g in call.arguments.given if g.name in _NAMES_TASKS and g.value]
    places = [call.judge.territory.locate(name, call.cwds).path for name in names]
    written = next((one for one in places if one in call.judge.files), None)
    if written is None and program == "rake":  # which loads all that lies there
        written = next((one for one in call.judge.files.paths() if one.endswith(".rake")), None)
    if written is None:
        return []
    text, name = call.judge.files.text(written), posixpath.basename(written)
    why = f"Runs tasks of a {name} that this same line writes"
    found = call.finding(Risk.MEDIUM, "script-written", why, EffectKind.EXECUTE)
    if text is None:
        return [found]
    if name.endswith(_IS_CODE):
        return [found, *inline_code(text, call)]
    found_in = call.judge.shell(task_lines(name, text), call)
    return [f for f in found_in if f.risk is Risk.HIGH]


_NAMES_TASKS = frozenset(
    {"-f", "--justfile", "--taskfile", "-t", "--rakefile", "--gulpfile", "--gruntfile",
     "--makefile", "-c", "--config", "--noxfile", "--conf", "--search-root"}
)  # fmt: skip
_IS_CODE = ("Rakefile", "rakefile", ".rb", ".rake", ".js", ".mjs", ".cjs", ".ts", ".py", ".gradle",
            ".kts", ".sbt", ".exs", ".go", ".groovy", ".Jakefile", "build.zig")  # fmt: skip


_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")


def _written_here(files: Sequence[Word | None], call: Call) -> Findings:
    """The recipes of a makefile that this same line has written."""
    goals = [word.text for word in call.arguments.operands if "=" not in word.text]
    names = [file.text for file in files if file is not None] or _MAKEFILES
    for name in names:
        path = call.judge.territory.locate(name, call.cwds).path
        if path not in call.judge.files:
            continue
        text = call.judge.files.text(path)
        if text is None:
            why = "Runs a makefile that this same line writes"
            return [call.finding(Risk.MEDIUM, "script-written", why, EffectKind.EXECUTE)]
        return call.judge.shell(recipes(text, goals), call)
    return []


def _setting(name: str, value: str, call: Call) -> Findings:
    if _MAKE_RUNS.fullmatch(name) or _MAKE_FUNCTION.search(value):
        why = f"{name} decides which program runs the build"
        return [call.finding(Risk.HIGH, "make-setting", why, EffectKind.EXECUTE)]
    named = judge_variable(
        name, value, words=call.command.words, knowledge=call.judge.knowledge,
        territory=call.judge.territory, cwds=call.cwds, part=call.part,
        run=lambda text: call.judge.shell(text, call),
    )  # fmt: skip
    if named is not None and named.risk is Risk.HIGH:
        return [named]
    return _pasted(name, value, call)


def _pasted(name: str, value: str, call: Call) -> Findings:
    if not _SHELL_TEXT.search(value):
        return []
    why = f"{name} holds shell code, which the build may run"
    worse = [f for f in call.judge.shell(value, call) if f.risk is Risk.HIGH]
    return [call.finding(Risk.MEDIUM, "make-setting", why, EffectKind.EXECUTE), *worse]


_WRITTEN_BY_RUSTC = frozenset({"incremental", "profile-generate"})


@handles("rustc")
def rustc(call: Call) -> Findings:
    """`-C linker=rm` runs it, `-C link-arg=…` is for the C compiler; `--emit link=/x` writes."""
    findings: Findings = []
    for given in (g for g in call.arguments.given if g.value is not None):
        text = given.value.text if given.value is not None else ""
        name, _, value = text.partition("=")
        if given.name == "--emit":
            places = [one.partition("=")[2] for one in text.split(",")]
            findings += call.writes(Word(place) for place in places if MAY_LEAVE.match(place))
        elif given.name not in {"-C", "--codegen"} or not value:
            continue
        elif name == "linker":
            findings += call.judge.words([Word(value)], call)
        elif name in {"link-arg", "link-args"}:
            linked = [Word("gcc"), *map(Word, value.split())]
            findings += [f for f in call.judge.words(linked, call) if f.risk is Risk.HIGH]
        elif name in _WRITTEN_BY_RUSTC and MAY_LEAVE.match(value):
            findings += call.writes([Word(value)])
    return [found for found in findings if found.risk is not Risk.LOW]


_CMAKE_HARMLESS = frozenset(
    {"echo", "echo_append", "make_directory", "cat", "capabilities", "compare_files", "environment",
     "md5sum", "sha1sum", "sha256sum", "sha512sum", "sleep", "true", "false", "touch",
     "touch_nocreate"}
)  # fmt: skip
_CMAKE_DELETES = frozenset({"rm", "remove", "remove_directory"})
_CMAKE_RUNS = frozenset({"env", "time", "chdir"})


@handles("cmake")
def cmake(call: Call) -> Findings:
    """`cmake -E` is a small set of commands for every system; `-P` runs a file."""
    words = list(call.command.words[1:])
    if not words or words[0].text != "-E":
        scripts = [one.value for one in call.arguments.given if one.name == "-P" and one.value]
        found = [f for script in scripts for f in call.judge.script_file(script, call)]
        return [f for f in found if f.risk is Risk.HIGH]
    name, rest = (words[1].text, words[2:]) if len(words) > 1 else ("", [])
    if name in _CMAKE_DELETES:
        why = "Deletes files; nothing brings them back"
        return [call.finding(Risk.HIGH, "delete", why, EffectKind.DELETE)]
    if name in {"make_directory", "touch"}:
        return [f for f in call.writes(rest) if f.risk is Risk.HIGH]
    if name in _CMAKE_HARMLESS:
        return call.reads(rest) if name == "cat" else []
    if name in _CMAKE_RUNS:
        while rest and ("=" in rest[0].text or rest[0].text.startswith("-")):
            rest = rest[1:]
        return call.judge.words(rest[1:] if name == "chdir" else rest, call)
    why = "Runs a command of CMake itself"
    return [call.finding(Risk.MEDIUM, "option", why, EffectKind.WRITE), *_copied(name, rest, call)]


def _copied(name: str, rest: list[Word], call: Call) -> Findings:
    is_copy = name.startswith(("copy", "rename", "create_symlink", "create_hardlink"))
    return call.reads(rest[:-1]) + call.writes(rest[-1:]) if is_copy else []


@handles("each-line")
def each_line(call: Call) -> Findings:
    """Every operand is a command line of its own."""
    return [f for word in call.arguments.operands for f in call.judge.shell(word.text, call)]


@handles("operand-code")
def operand_code(call: Call) -> Findings:
    """`python -m timeit 'code'`: every operand is code."""
    return [f for word in call.arguments.operands for f in inline_code(word.text, call)]


_SBT_CODE = re.compile(r"\s*(?:set|eval|all|session|alias|consoleProject)\b(.*)", re.DOTALL)
_SBT_COMMANDS = re.compile(r";|\s*&&\s*")


@handles("sbt")
def sbt(call: Call) -> Findings:
    """Each word is one or more commands: `set …` and `eval …` are Scala, which it runs."""
    findings = tasks(call)
    for word in call.arguments.operands:
        for command in _SBT_COMMANDS.split(word.text):
            code = _SBT_CODE.match(command)
            if code is not None:
                findings += inline_code(code[1], call)
            elif command and command != word.text:
                findings.append(judge_task(command.strip(), call))
    return findings
