"""Programs that only look, until one more word makes them change something."""

import re

from perpetualcc.domain.tools import Risk
from perpetualcc.permissions.commands.call import Call, Findings, handles
from perpetualcc.permissions.commands.given_words import secrets_of
from perpetualcc.permissions.commands.programs.interpreters import printed_text
from perpetualcc.permissions.commands.programs.shell_options import (
    exports_all,
    reads_otherwise,
    set_reads_otherwise,
)
from perpetualcc.permissions.effects import EffectKind
from perpetualcc.permissions.shell.binding import assigned
from perpetualcc.permissions.shell.script import UNKNOWN, Assignment, Word
from perpetualcc.permissions.shell.variables import holds_secret


@handles("shell-variables")
def shell_variables(call: Call) -> Findings:
    """`export A=1` gives `A` to what is run; `set`, `export -p` print all, tokens included."""
    if any(word.text.startswith(UNKNOWN) for word in call.arguments.operands):
        why = "Which variables it sets for other programs is known only when it runs"
        return [call.finding(Risk.MEDIUM, "computed-variable", why, EffectKind.EXECUTE)]
    if call.arguments.path == "set" and set_reads_otherwise(call):
        return [reads_otherwise(call)]
    findings = _declared(call) + _shown(call)
    if call.arguments.operands or not call.command.words or call.command.assignments:
        return findings
    options = "".join(word.text for word in call.arguments.rest)
    if call.arguments.path == "local" or (call.arguments.path == "set" and options):
        return findings
    why = "Prints all variables, which may hold tokens"
    return [call.finding(Risk.MEDIUM, "print-environment", why, EffectKind.READ)]


def _shown(call: Call) -> Findings:
    """`declare -p GITHUB_TOKEN` prints it."""
    names = [word.text for word in call.arguments.operands]
    is_shown = any(_PRINTS.fullmatch(word.text) for word in call.arguments.rest)
    secrets = secrets_of(call.judge.assigned)
    if not is_shown or not any(holds_secret(f"${name}", secrets) for name in names):
        return []
    why = "Prints a variable that is named like a secret"
    return [call.finding(Risk.MEDIUM, "prints-secret", why, EffectKind.READ)]


_PRINTS = re.compile(r"-\w*p\w*")


def _declared(call: Call) -> Findings:
    """What its words set, and what it exports of all that the line has set."""
    judge, words = call.judge, call.command.words[1:]
    bound = [one for word in words if (one := assigned(word)) is not None]
    set_here = [Assignment(name=name, value=Word(value)) for name, value in bound]
    judge.assigned += set_here
    before = judge.environment(())
    if call.arguments.path == "set":
        judge.exports_all |= exports_all(words)
    elif call.arguments.path == "export" or any(_EXPORTS.fullmatch(word.text) for word in words):
        judge.exported.update(word.text.partition("=")[0].rstrip("+") for word in words)
        judge.exported.update(one.name for one in call.command.assignments)
    given = dict.fromkeys((*set_here, *judge.environment(())))
    new = [one for one in given if one not in before and one not in call.command.assignments]
    return [found for one in new for found in judge.variable(one, call.command)]


_EXPORTS = re.compile(r"-\w*x\w*")
_ENVIRONMENT_FIELD = re.compile(r"\bEnv\b|\benv(?:From)?\b")


@handles("containers-look")
def containers_look(call: Call) -> Findings:
    """`docker inspect -f '{{.Config.Env}}' x` prints the variables that the container was given."""
    formats = [w.text for w in call.command.words[1:] if "{{" in w.text or "=" in w.text]
    if not any(_ENVIRONMENT_FIELD.search(text) for text in formats):
        return []
    why = "Prints the variables of a container, which may hold tokens"
    return [call.finding(Risk.MEDIUM, "print-environment", why, EffectKind.READ)]


@handles("second-written")
def second_written(call: Call) -> Findings:
    """`uniq in out`, `xxd in out`; `-` is the standard output."""
    return call.writes(w for w in call.arguments.operands[1:2] if w.text != "-")


_JQ_FILES = frozenset({"--rawfile", "--slurpfile", "--argfile"})
_JQ_ENVIRONMENT = re.compile(r"(?<![.\w$\"])env\b|\$ENV\b|\.Env\b")


@handles("jq")
def jq(call: Call) -> Findings:
    """`--rawfile NAME FILE` reads, and `env` is every variable there is."""
    words = call.arguments.rest
    files = [
        words[index + 2]
        for index, word in enumerate(words)
        if word.text in _JQ_FILES and index + 2 < len(words)
    ]
    findings = call.reads(files) + _imported(call)
    if any(_JQ_ENVIRONMENT.search(word.text) for word in call.arguments.operands[:1]):
        why = "Prints variables, which may hold tokens"
        findings.append(call.finding(Risk.MEDIUM, "print-environment", why, EffectKind.READ))
    return findings


_JQ_IMPORT = re.compile(r"\bimport\s*\"([^\"]*)\"\s*as\s*\$")
_JQ_SEARCH = re.compile(r"\bsearch\s*\"?\s*:\s*\[?([^\]}]*)")
_JQ_TEXT = re.compile(r"\"([^\"]*)\"")


def _imported(call: Call) -> Findings:
    """`import "config" as $d {search: "~/.docker"}; $d` reads `config.json` there."""
    program = "\n".join(word.text for word in call.arguments.operands[:1])
    names = _JQ_IMPORT.findall(program)
    if not names:
        return []
    searched = [text for part in _JQ_SEARCH.findall(program) for text in _JQ_TEXT.findall(part)]
    searched += [g.value.text for g in call.arguments.given if g.name in _JQ_LIBRARY and g.value]
    places = [f"{folder}/{name}" for folder in searched or ["."] for name in names]
    return call.reads(
        Word(f"{place}{rest}")
        for place in places
        for rest in (".json", f"/{place.rpartition('/')[2]}.json")
    )


_JQ_LIBRARY = frozenset({"-L", "--library-path"})
_YQ_LOADS = re.compile(r"\bload\w*\s*\(\s*(?:[\"']([^\"']*)[\"'])?")
_YQ_ENVIRONMENT = re.compile(rf"{_JQ_ENVIRONMENT.pattern}|\bstrenv\b|\benvsubst\b")


@handles("yq")
def yq(call: Call) -> Findings:
    """Its program can read other files, `load("x.yml")`, and every variable there is."""
    programs = [word.text for word in call.arguments.operands[:2]]
    loaded = [name for program in programs for name in _YQ_LOADS.findall(program)]
    findings = call.reads(Word(name or UNKNOWN) for name in loaded)
    if call.arguments.has("-s", "--split-exp"):
        findings += _split_into(call)
    if any(_YQ_ENVIRONMENT.search(program) for program in programs):
        why = "Prints variables, which may hold tokens"
        findings.append(call.finding(Risk.MEDIUM, "print-environment", why, EffectKind.READ))
    return findings


def _split_into(call: Call) -> Findings:
    """`yq -s '"out/" + .name'`: each document goes to a file, whose path begins like that."""
    words = call.command.words
    at = next((i for i, w in enumerate(words) if w.text in {"-s", "--split-exp"}), len(words))
    begins = re.match(r"\s*\"([^\"]*)\"", words[at + 1].text) if at + 1 < len(words) else None
    return call.writes([Word(f"{begins[1]}{UNKNOWN}" if begins else UNKNOWN)])


_NETWORK_CHANGES = re.compile(
    r"add|del|delete|set(?:-\w+)*|flush(?:-\w+)*|replace|change|append|save|restore|up|down|on|off|connect|disconnect"
    r"|modify|edit|mod|import|clone|reload|rescan|hotspot|exec|attach|dns|domain|revert|destroy|create"
    r"|reset(?:-\w+)*|renew|release|monitor-mode|hw|promisc|-promisc"
)
_SHOWS = frozenset({"show", "list", "ls", "lst", "get", "monitor", "identify", "pids", "status"})
"""`ip link show up` shows those that are up."""
_NETWORK_LOOKS = {
    "iptables": frozenset({"-L", "-S", "--list", "--list-rules"}),
    "ip6tables": frozenset({"-L", "-S", "--list", "--list-rules"}),
    "nft": frozenset({"list"}),
}


@handles("network-look")
def network_look(call: Call) -> Findings:
    """`ip addr` looks, `ip addr add` changes; `ifconfig eth0 10.0.0.1` changes, too."""
    name, *words = [word.text for word in call.command.words]
    looks = _NETWORK_LOOKS.get(name)
    if looks is not None:
        is_look = any(_is_flag(word, looks) for word in words)
    else:
        operands = [word for word in words if not word.startswith("-")]
        first = next((w for w in operands if w in _SHOWS or _NETWORK_CHANGES.fullmatch(w)), "show")
        is_look = first in _SHOWS
        is_look = is_look and not (name in {"ifconfig", "iwconfig"} and len(operands) > 1)
    if is_look:
        return []
    why = "Changes the machine's network or its guard"
    return [call.finding(Risk.HIGH, "network-settings", why, EffectKind.NETWORK)]


def _is_flag(word: str, looks: frozenset[str]) -> bool:
    """`-nvL` lists as `-L` does; `-A`, `-F` and their like never hide in such a bundle."""
    return word in looks or re.fullmatch(r"-[nvx]*[LS][nvx]*", word) is not None


@handles("mount")
def mount(call: Call) -> Findings:
    """Alone, or with a type, it lists."""
    words = [word.text for word in call.arguments.rest]
    if not words or words[0] in {"-l", "-V", "-h"} or (words[0] == "-t" and len(words) == 2):
        return []
    return [call.finding(Risk.HIGH, "disks", "Changes what is mounted", EffectKind.EXECUTE)]


_PARTED_LOOKS = frozenset(
    {"print", "unit", "help", "version", "align-check", "free", "all", "list"}
)


@handles("disk-look")
def disk_look(call: Call) -> Findings:
    """`parted /dev/sda print` shows; `parted /dev/sda mklabel gpt` makes."""
    commands = [word.text for word in call.arguments.operands[1:]]
    if call.arguments.path != "parted" or call.arguments.has("-l", "--list"):
        return []
    if commands and commands[0] in _PARTED_LOOKS:
        return []
    why = "Changes the partitions of a disk"
    return [call.finding(Risk.HIGH, "disks", why, EffectKind.DELETE)]


@handles("alone-it-lists")
def alone_it_lists(call: Call) -> Findings:
    """With an operand it changes what it lists without one."""
    if not call.arguments.operands and not call.arguments.has("-a"):
        return []
    why = f"`{call.arguments.path}` with a name changes the machine"
    return [call.finding(Risk.HIGH, call.arguments.path, why, EffectKind.EXECUTE)]


@handles("git-reference")
def git_reference(call: Call) -> Findings:
    """`git tag` lists and `git tag v1` makes one; `symbolic-ref HEAD x` moves `HEAD`."""
    operands = call.arguments.operands
    is_tag = call.arguments.path == "git tag"
    if is_tag and call.arguments.has(*_TAG_LOOKS):
        return []
    if len(operands) <= (0 if is_tag else 1):
        return []
    return [call.finding(Risk.MEDIUM, "git-names", "Makes or moves a reference", EffectKind.WRITE)]


_TAG_LOOKS = (
    "-l", "--list", "-n", "--contains", "--no-contains", "--points-at", "--merged", "--no-merged",
    "--sort", "--format", "-v", "--verify",
)  # fmt: skip


@handles("package-settings")
def package_settings(call: Call) -> Findings:
    """Where packages come from, with which program scripts run, and whose token is used."""
    if len(call.arguments.operands) < 1:
        return []
    text = " ".join(word.text for word in call.arguments.operands).lower()
    if not _TRUSTED_SETTING.search(text):
        return []
    why = "Changes where packages come from, what runs them, or whose account is used"
    return [call.finding(Risk.HIGH, "package-settings", why, EffectKind.EXECUTE)]


_TRUSTED_SETTING = re.compile(
    r"ssl_verify|mirror|^[\w.-]+\.(?:com|org|net|io|dev)\s|registry|index-url|index_url|trusted-host|find-links|repositor|token|password|_auth|http-basic"
    r"|script-shell|shell|ignore-scripts|proxy|cafile|strict-ssl|userconfig|globalconfig|prefix"
    r"|git\b|node-options|editor|npmregistryserver|plugins|yarnpath|source"
)


@handles("remote-context")
def remote_context(call: Call) -> Findings:
    """`docker build https://…` builds what is there; `-o type=registry` publishes what is here."""
    outputs = [g.value.text for g in call.arguments.given if g.name in _SAYS_WHERE and g.value]
    if any(_PUSHES.search(output) for output in outputs):
        return [call.finding(Risk.HIGH, "publish-image", "Publishes the image", EffectKind.NETWORK)]
    remote = [w for w in call.arguments.operands if re.match(_REMOTE_CONTEXT, w.text)]
    if not remote:
        return []
    why = f"Builds what is at {remote[0].text[:80]}"
    return [call.finding(Risk.MEDIUM, "remote-context", why, EffectKind.NETWORK)]


_SAYS_WHERE = frozenset({"-o", "--output", "--set"})
_PUSHES = re.compile(r"type=registry|push=true")
_REMOTE_CONTEXT = r"(?:https?|git|ssh)://|git@|github\.com/"


_EDITOR_COMMANDS = frozenset({"-c", "--cmd", "-S"})
_NO_HARM = re.compile(
    r"\d*|/.*|:?(?:qa?!?|qall!?|quit(?:all)?!?|cq|wqa?|Plenary\w+(?: .*)?|(?:Vader!?|Themis) .*"
    r"|set(?:local)? \w+(?:[-+^]?=\w*)?|filetype [\w ]+|syntax \w+|checkhealth(?: [\w. ]+)?"
    r"|helptags [\w./-]+|packloadall|lua require\(?['\"][\w.]+['\"]\)?(?:\.\w+\(\))?)",
)
"""Editor commands that test, set or leave; behind `|` or in a text of Lua another could stand."""
_READS_CODE = re.compile(r":?(?:so|source|luafile) ([\w./-]+)")


@handles("editor")
def editor(call: Call) -> Findings:
    """`vim '+!sh'` runs an editor command, which can run a program."""
    given = [g.value.text for g in call.arguments.given if g.name in _EDITOR_COMMANDS and g.value]
    typed = [w.text[1:] for w in call.arguments.operands if w.text.startswith("+")]
    findings: Findings = []
    is_loose = bool(call.command.upstream or call.command.stdin)
    for text in (*given, *typed):
        if read := _READS_CODE.fullmatch(text):
            findings += call.judge.script_file(Word(read[1]), call)
        elif "|" in text or not _NO_HARM.fullmatch(text.strip()):
            is_loose = True
    if not is_loose:
        return findings
    why = "Runs editor commands, which can run programs"
    return [call.finding(Risk.HIGH, "editor-command", why, EffectKind.EXECUTE)]


_LISP_TESTS = frozenset(
    {"ert-run-tests-batch", "ert-run-tests-batch-and-exit", "ert-summarize-tests-batch-and-exit",
     "batch-byte-compile", "batch-byte-recompile-directory", "batch-native-compile",
     "buttercup-run", "buttercup-run-discover", "buttercup-run-markdown", "checkdoc-batch",
     "package-lint-batch-and-exit", "elisp-lint-files-batch", "relint-batch", "kill-emacs"}
)  # fmt: skip


@handles("lisp-batch")
def lisp_batch(call: Call) -> Findings:
    """`emacs --batch -l test.el -f ert-run-tests-batch`: of the functions, those that test."""
    called = [g.value.text for g in call.arguments.given if g.name in _CALLS_LISP and g.value]
    if _LISP_TESTS.issuperset(called):
        return []
    why = "Calls functions of Lisp, which can run programs"
    return [call.finding(Risk.HIGH, "editor-command", why, EffectKind.EXECUTE)]


_CALLS_LISP = frozenset({"-f", "-e", "--funcall", "-funcall"})


@handles("windows-shell")
def windows_shell(call: Call) -> Findings:
    """`cmd /c …`: the words after it are a command of Windows."""
    words = [
        w for w in call.command.words[1:] if not re.fullmatch(r"/[a-z]", w.text, re.IGNORECASE)
    ]
    if not words:
        return []
    line = " ".join(word.text for word in words).lower().replace("\\", "/")
    findings = call.judge.shell(line, call)
    if re.search(r"\b(?:rd|rmdir|del|erase)\b.*\s/[sqf]\b", line):
        why = "Deletes files; nothing brings them back"
        findings.append(call.finding(Risk.HIGH, "delete", why, EffectKind.DELETE))
    return findings


@handles("package-field")
def package_field(call: Call) -> Findings:
    """`npm pkg set scripts.x='code'`: a script is code for later."""
    findings: Findings = []
    if call.arguments.path == "npm set-script":
        code = " ".join(word.text for word in call.arguments.operands[1:])
        found = [f for f in call.judge.shell(code, call) if f.risk is Risk.HIGH]
        why = "Writes a script that runs later"
        return [call.finding(Risk.MEDIUM, "script-for-later", why, EffectKind.WRITE), *found]
    for word in call.arguments.operands:
        name, equals, value = word.text.partition("=")
        if equals and name.startswith("scripts"):
            worse = [f for f in call.judge.shell(value, call) if f.risk is Risk.HIGH]
            why = "Writes a script that runs later"
            findings += [
                call.finding(Risk.MEDIUM, "script-for-later", why, EffectKind.WRITE),
                *worse,
            ]
    return findings


@handles("line-editor")
def line_editor(call: Call) -> Findings:
    """`ed file <<< '!code'`: a line that begins with `!` runs."""
    text = call.command.stdin or printed_text(call) or ""
    if not any(line.lstrip().startswith("!") for line in text.splitlines()):
        return []
    why = "Tells the editor to run a command"
    return [call.finding(Risk.HIGH, "editor-command", why, EffectKind.EXECUTE)]


@handles("pager")
def pager(call: Call) -> Findings:
    """`less +'!code' file` runs the code first; `less +/word file` only searches."""
    commands = [w.text for w in call.arguments.operands if w.text.startswith("+")]
    if any(re.match(r"\++[!|#vs]", text) for text in commands):
        why = "Tells the pager to run a command"
        return [call.finding(Risk.HIGH, "editor-command", why, EffectKind.EXECUTE)]
    return []


@handles("ps")
def ps(call: Call) -> Findings:
    """`ps auxe`: in the letters without a dash, `e` shows the environment of every program."""
    letters = [word.text for word in call.arguments.operands if word.text.isalpha()]
    if not any("e" in word and len(word) <= _MOST_LETTERS for word in letters):
        return []
    why = "Shows the environment of other programs, which may hold tokens"
    return [call.finding(Risk.MEDIUM, "print-environment", why, EffectKind.READ)]


_MOST_LETTERS = 8


_STREAMS = frozenset({"-", "/dev/stdout", "/dev/stderr", "/dev/fd/1", "/dev/tty"})


@handles("leak-finder")
def leak_finder(call: Call) -> Findings:
    """`gitleaks detect -v` prints each secret that it finds; `--redact` leaves it out."""
    given = {g.name: g.value.text if g.value else "" for g in call.arguments.given}
    if given.get("--redact", "0") != "0" and "--redact=0" not in call.part:
        return []
    reports = [given[name] for name in ("-r", "--report-path") if name in given]
    if not _STREAMS.isdisjoint(reports) or not {"-v", "--verbose"}.isdisjoint(given):
        why = "Prints the secrets that it finds"
        return [call.finding(Risk.MEDIUM, "shows-secret", why, EffectKind.READ)]
    return []


@handles("format-files")
def format_files(call: Call) -> Findings:
    """`scc --format-multi "tabular:stdout,csv:counts.csv"`: behind each format, where it goes."""
    given = [g.value.text for g in call.arguments.given if g.name == "--format-multi" and g.value]
    places = [one.partition(":")[2] for text in given for one in text.split(",")]
    return call.writes(Word(place) for place in places if place not in {"", "stdout"})
