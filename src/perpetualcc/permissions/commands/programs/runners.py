"""Programs that run other programs in ways a table cannot say."""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import dropwhile

from perpetualcc.domain.tools import Risk
from perpetualcc.permissions.commands.call import Call, Findings, handles
from perpetualcc.permissions.commands.environment import judge_variable
from perpetualcc.permissions.commands.foreign_code import code_path
from perpetualcc.permissions.commands.given_words import secrets_of
from perpetualcc.permissions.commands.passed_on import judge_told
from perpetualcc.permissions.commands.piped_names import (
    piped_words,
)
from perpetualcc.permissions.commands.programs.interpreters import (
    STANDARD_INPUT,
    computed,
    prints_its_program,
)
from perpetualcc.permissions.commands.programs.packages import foreign_packages
from perpetualcc.permissions.commands.tasks import judge_task
from perpetualcc.permissions.effects import Effect, EffectKind, Finding
from perpetualcc.permissions.knowledge import load_table
from perpetualcc.permissions.protected import fold
from perpetualcc.permissions.shell.script import UNKNOWN, Assignment, Word


@handles("env")
def env(call: Call) -> Findings:
    """`env A=b -u C program …`; alone it prints everything, tokens included."""
    findings: Findings = []
    words, told = list(call.arguments.operands), list(call.command.assignments)
    while words and "=" in words[0].text:
        name, _, value = words.pop(0).text.partition("=")
        told.append(Assignment(name=name, value=Word(value)))
        found = judge_variable(
            name, value, words=words, knowledge=call.judge.knowledge,
            territory=call.judge.territory, cwds=call.cwds, part=call.part,
            run=lambda text: call.judge.shell(text, call),
        )  # fmt: skip
        findings += [found] if found is not None else []
    if words:
        inner = replace(call, command=replace(call.command, assignments=tuple(told)))
        return findings + call.judge.words(words, inner)
    return [
        *findings,
        call.finding(
            Risk.MEDIUM,
            "print-environment",
            "Prints the environment, which may hold tokens",
            EffectKind.READ,
        ),
    ]


@handles("xargs")
def xargs(call: Call) -> Findings:
    """The words it appends come from a pipe: what a search found here, or anything."""
    words = call.arguments.operands or [Word("echo")]
    given = [g for g in call.arguments.given if g.name in {"-I", "-J", "-i", "--replace"}]
    names = piped_words(call, words)
    if given:
        placeholder = given[0].value.text if given[0].value else "{}"
        lines = [placed(words, placeholder, name) for name in names]
        return [found for line in lines for found in call.judge.words(line, call)]
    return call.judge.words([*words, *names], call)


@handles("zargs")
def zargs(call: Call) -> Findings:
    """`zargs -- *.log -- rm`: what follows the last dashes is the program."""
    words = list(call.command.words[1:])
    last = max((at for at, word in enumerate(words) if word.text == "--"), default=0)
    return call.judge.words([*words[last + 1 :], *words[:last]], call)


def placed(words: Sequence[Word], placeholder: str, value: Word) -> list[Word]:
    return [
        Word(w.text.replace(placeholder, value.text), value.splits, w.globs, w.code)
        if placeholder in w.text
        else w
        for w in words
    ]


@handles("script")
def record(call: Call) -> Findings:
    """`script log -c code` on Linux, `script log program …` on a Mac; alone it is a shell."""
    log, program = call.arguments.operands[:1], call.arguments.operands[1:]
    return call.writes(log) + (call.judge.words(program, call) if program else [])


@handles("eval")
def evaluate(call: Call) -> Findings:
    """`eval` joins its words and runs them as shell text."""
    words = call.arguments.rest
    text = " ".join(word.text for word in words)
    setup = [code for word in words for code in word.code]
    if setup and text == UNKNOWN and all(is_shell_setup(code) for code in setup):
        return [
            call.finding(
                Risk.MEDIUM,
                "shell-setup",
                "Runs the set-up lines that a tool prints",
                EffectKind.EXECUTE,
            )
        ]
    found = call.judge.shell(text, call)
    return [*found, computed(call)] if words and prints_its_program(words[0]) else found


def is_shell_setup(code: str) -> bool:
    """One call of a known tool, and nothing around it."""
    words = code.split()
    name = words[0].rpartition("/")[2] if words else ""
    is_plain = len(words) <= 5 and not any(c in code for c in "|;&><`$")
    return is_plain and (name in load_table("tasks")["shell_setup"] or "completion" in words)


@handles("trap")
def trap(call: Call) -> Findings:
    """`trap 'code' EXIT`."""
    words = call.arguments.operands
    return call.judge.shell(words[0].text, call) if len(words) > 1 else []


@handles("coproc")
def coproc(call: Call) -> Findings:
    """`coproc NAME { … }` comes as words; what follows the brace is the first command inside."""
    words = call.arguments.operands
    opening = next((i for i, word in enumerate(words[:2]) if word.text in {"{", "("}), None)
    return call.judge.words(words if opening is None else words[opening + 1 :], call)


def _adds_options(text: str) -> bool:
    """`rm='rm -i'`: the same program, with options and nothing to work on."""
    name, _, code = text.partition("=")
    first, *others = code.split() or [""]
    return first == name and all(_PLAIN_OPTION.fullmatch(word) for word in others)


_PLAIN_OPTION = re.compile(r"--?[\w-]+(?:=\w+)?")


@handles("alias")
def alias(call: Call) -> Findings:
    """An alias is code for later in the line; alone it lists."""
    given = [word for word in call.arguments.operands if "=" in word.text]
    codes = [w.text.partition("=")[2] for w in given if not _adds_options(w.text)]
    findings = [f for code in codes for f in call.judge.shell(code, call)]
    if given:
        findings.append(
            call.finding(Risk.MEDIUM, "alias", "Gives a command another name", EffectKind.EXECUTE)
        )
    return findings


@handles("printenv")
def printenv(call: Call) -> Findings:
    """Alone it prints every variable, tokens included."""
    operands = [word.text for word in call.arguments.operands]
    names = [name.upper() for name in operands]
    is_secret = not secrets_of(call.judge.assigned).isdisjoint(operands)
    is_secret |= any(hint in name for name in names for hint in _SECRET_HINTS)
    if names and not is_secret:
        return []
    return [
        call.finding(
            Risk.MEDIUM,
            "print-environment",
            "Prints variables, which may hold tokens",
            EffectKind.READ,
        )
    ]


_SECRET_HINTS = ("SECRET", "TOKEN", "PASS", "KEY", "CREDENTIAL", "AUTH")


@handles("tool-run")
def tool_run(call: Call) -> Findings:
    """`pdm run NAME`: a program that is known, or a script of the project; `hatch run ENV:NAME`."""
    words = call.arguments.operands
    if words and call.arguments.path == "hatch run" and ":" in words[0].text:
        words = [Word(words[0].text.partition(":")[2]), *words[1:]]
    findings = foreign_packages(call)
    if not words:
        return findings
    is_python = call.arguments.path in _RUN_PYTHON and words[0].text.endswith((".py", ".pyw"))
    if words[0].text in STANDARD_INPUT or is_python:  # Python runs it, as with `python -`
        return [*findings, *call.judge.words([Word("python"), *words], call)]
    if call.judge.knowledge.program(words[0].text) is None and "/" not in words[0].text:
        own = judge_told(words[0].text, words[1:], call)
        return [*findings, judge_task(words[0].text, call), *own]
    found = call.judge.words(words, call)
    if call.arguments.has("--env-file") and any(one.rule == "print-environment" for one in found):
        why = "Prints the secrets that the program is given"
        found.append(call.finding(Risk.HIGH, "shows-secret", why, EffectKind.READ))
    return [*findings, *found]


_RUN_PYTHON = frozenset({"uv run", "pdm run", "rye run"})


@handles("may-run")
def may_run(call: Call) -> Findings:
    """Two programs have this name; only one of them is given the name of a third."""
    words = list(dropwhile(lambda word: word.text[:1] == "-", call.arguments.rest))
    is_known = bool(words) and call.judge.knowledge.program(words[0].text) is not None
    return call.judge.words(words, call) if is_known else []


@handles("behind")
def behind(call: Call) -> Findings:
    """`mise exec node@22 -- program …`, `nix shell x -c program …`."""
    words = call.arguments.rest
    signs = {"-c", "--command", "--"} if call.arguments.path.startswith("nix") else {"--"}
    at = next((i for i, word in enumerate(words) if word.text in signs), len(words))
    return call.judge.words(words[at + 1 :], call)


@handles("somewhere")
def somewhere(call: Call) -> Findings:
    """`bwrap --bind / / program …`: its options are many, so the first known program counts."""
    words, known = call.arguments.rest, call.judge.knowledge.program
    for index, word in enumerate(words):
        is_name = word.text[:1].isalpha() or word.text.startswith("/")
        if is_name and known(word.text.rpartition("/")[2]) is not None:
            return call.judge.words(words[index:], call)
    return []


@handles("terminal-commands")
def terminal_commands(call: Call) -> Findings:
    """`tmux if-shell code`, `tmux set-hook NAME 'run-shell code'`: a shell's, or tmux's own."""
    lines = [
        line for w in call.arguments.rest for line in (w.text, f"tmux {w.text}") if " " in w.text
    ]
    found = [finding for line in lines for finding in call.judge.shell(line, call)]
    return [finding for finding in found if finding.risk is Risk.HIGH]


@handles("in-directory")
def in_directory(call: Call) -> Findings:
    """`direnv exec DIRECTORY program`: what lies in the directory runs first."""
    return [f for word in call.arguments.operands[:1] for f in code_path(word.text, call)]


@handles("remote")
def remote(call: Call) -> Findings:
    """`ssh host command …`: judged as if here, and never LOW."""
    words = call.arguments.operands[1:]
    if _only_greets(call):
        return []
    why = "Runs commands on another machine"
    findings = [call.finding(Risk.HIGH, "remote-shell", why, EffectKind.NETWORK)]
    if words:
        findings += [
            f
            for f in call.judge.shell(" ".join(w.text for w in words), call)
            if f.risk is not Risk.LOW
        ]
    elif call.command.stdin is not None:
        findings += [
            f for f in call.judge.shell(call.command.stdin, call) if f.risk is not Risk.LOW
        ]
    if call.command.upstream:
        findings.append(
            call.finding(
                Risk.HIGH,
                "data-leaves",
                "Sends what another command prints to another machine",
                EffectKind.NETWORK,
            )
        )
    return findings


_CODE_HOST_USER = re.compile(r"(?:git|hg|aur|forgejo|gitea)@[\w.-]+")


def _only_greets(call: Call) -> bool:
    """`ssh -T git@host` asks a code host who one is; `ssh -O check` asks the own connection."""
    operands = call.arguments.operands
    asks = [g.value.text for g in call.arguments.given if g.name == "-O" and g.value]
    if asks:
        return asks == ["check"]
    runs = call.arguments.has("-o", "-F", "-L", "-R", "-D", "-w") or call.command.upstream
    is_host = len(operands) == 1 and _CODE_HOST_USER.fullmatch(operands[0].text) is not None
    return is_host and call.arguments.path == "ssh" and not runs and call.command.stdin is None


@handles("cluster-look")
def cluster_look(call: Call) -> Findings:
    """`kubectl get pods,secrets` shows secrets as well."""
    names = [name for w in call.arguments.operands for name in w.text.lower().split(",")]
    raw = [g.value.text for g in call.arguments.given if g.name == "--raw" and g.value]
    if any(name.startswith("secret") for name in names) or any("/secrets" in r for r in raw):
        return [call.finding(Risk.HIGH, "cloud-secrets", "Shows secrets", EffectKind.READ)]
    if any(_ENVIRONMENT_FIELD.search(word.text) for word in call.command.words):
        why = "Prints the variables of containers, which may hold tokens"
        return [call.finding(Risk.MEDIUM, "print-environment", why, EffectKind.READ)]
    return []


_ENVIRONMENT_FIELD = re.compile(r"[.\]]env(?:From)?\b")


@handles("container-run")
def container_run(call: Call) -> Findings:
    """`docker run image cmd …`: the container is a wall, unless its options open it."""
    findings: Findings = []
    mounts = [
        given.value
        for given in call.arguments.given
        if given.name in {"-v", "--volume", "--mount"} and given.value is not None
    ]
    findings = [f for mount in mounts for f in _mount(mount, call)]
    inner = call.arguments.operands[1:]
    text = " ".join(word.text for word in inner)
    opens_disk = any(place in text for m in mounts for place in _opened(m))
    if inner:
        is_running = call.arguments.path.endswith("exec")
        found = [*call.judge.words(inner, call), *_of_its_own(inner, call)]
        if _is_of_the_project(call) and all(f.risk is Risk.LOW for f in found):
            findings.append(call.finding(Risk.LOW, IN_ITS_CONTAINER, _HARMLESS, EffectKind.EXECUTE))
        findings += [
            f
            for f in found
            if f.risk is Risk.HIGH
            and (
                f.rule in _ESCAPES
                or (opens_disk and f.rule in _DAMAGES)
                or (is_running and not f.rule.startswith(("write-", "read-", "bare-shell")))
            )
        ]
    return findings


IN_ITS_CONTAINER = "in-its-container"
_HARMLESS = "Goes on outside of the container, too"
_OF_COMPOSE = frozenset({"docker compose exec", "docker compose run"})
_AS_IT_IS = frozenset(
    {"-T", "-i", "-t", "-u", "-w", "--rm", "--no-TTY", "--no-tty", "--interactive", "--tty",
     "--user", "--workdir", "--no-deps", "--quiet-pull"}
)  # fmt: skip


def _is_of_the_project(call: Call) -> bool:
    """Whether the container is one that the project describes, as it describes it."""
    is_described = call.arguments.path.replace("-", " ") in _OF_COMPOSE
    return is_described and all(given.name in _AS_IT_IS for given in call.arguments.given)


_ESCAPES = frozenset(
    {"remote-code", "raw-socket", "privilege", "data-leaves",
     "publish-package", "deploys", "other-machines", "cloud", "cloud-secrets", "cluster-change",
     "infrastructure-change", "moves-money"}
)  # fmt: skip
"""Rules about what no container holds back: it reaches other machines and accounts."""
_DAMAGES = frozenset({"delete", "permissions-of-files"})
"""Rules about programs that harm files, wherever the container sees them."""


def _of_its_own(words: Sequence[Word], call: Call) -> Findings:
    """`docker run hashicorp/terraform:1.9 apply`: the image is called as its program is."""
    image = _IMAGE.fullmatch(call.arguments.operands[0].text)
    program = call.judge.knowledge.program(image[1]) if image else None
    if program is None or image is None or words[0].text not in program.children:
        return []
    return call.judge.words([Word(image[1]), *words], call)


_IMAGE = re.compile(r"(?:.*/)?([\w.-]+?)(?::[\w.-]+)?(?:@sha256:\w+)?")


def _opened(mount: Word) -> list[str]:
    """Where the container sees a directory of this machine that it may write to."""
    source, _, rest = mount.text.partition(":")
    target, _, options = rest.partition(":")
    is_directory = source.startswith(("/", ".", "~", "$", UNKNOWN))
    is_open = is_directory and len(target) > 1 and "ro" not in options.split(",")
    return [target] if is_open else []


_WIDE = frozenset(
    {"/", "/etc", "/root", "/home", "/users", "/var", "/proc", "/private", "/volumes"}
)


def _mount(value: Word, call: Call) -> Findings:
    text = value.text
    if "source=" in text or "src=" in text:
        fields = dict(f.partition("=")[::2] for f in text.split(","))
        source = fields.get("source") or fields.get("src", "")
    else:
        source = text.split(":")[0]
    if not source.startswith(("/", ".", "~", UNKNOWN)):
        return []
    if text.endswith(":ro") or ",readonly" in text:
        found = call.judge.territory.read(source, call.cwds, call.part)
        wide = fold(source.rstrip("/") or "/") in _WIDE or "docker.sock" in source
    else:
        found = call.judge.territory.write(source, call.cwds, call.part)
        wide = found.risk is Risk.HIGH
        if found.risk is not Risk.HIGH:
            return []
    if wide:
        return [
            Finding(
                risk=Risk.HIGH,
                rule="mount",
                part=call.part,
                kind="container mount",
                explanation=f"Gives the container {source}, outside the project",
                effects=(Effect(kind=EffectKind.WRITE, target=source),),
            )
        ]
    return [found]


@handles("many-tasks")
def many_tasks(call: Call) -> Findings:
    """`mix do deps.get, compile`: each part is a call of the same program."""
    program = call.command.words[0]
    parts: list[list[Word]] = [[]]
    for word in call.arguments.operands:
        text = word.text.removesuffix(",")
        if text and text != "+":
            parts[-1].append(Word(text, word.splits, word.globs, word.code))
        if text != word.text or text == "+":
            parts.append([])
    return [f for part in parts if part for f in call.judge.words([program, *part], call)]
