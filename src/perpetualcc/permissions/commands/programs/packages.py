"""Package managers and task runners: where packages come from, and what tasks are called."""

import os
import posixpath
import re

from perpetualcc.domain.tools import Risk
from perpetualcc.permissions.commands.call import Call, Findings, handles
from perpetualcc.permissions.commands.foreign_code import code_path
from perpetualcc.permissions.commands.passed_on import judge_told
from perpetualcc.permissions.commands.programs.git_places import git_places
from perpetualcc.permissions.commands.programs.interpreters import from_stream
from perpetualcc.permissions.commands.tasks import judge_goal, judge_task
from perpetualcc.permissions.effects import EffectKind, Finding
from perpetualcc.permissions.knowledge import load_table
from perpetualcc.permissions.paths import Zone
from perpetualcc.permissions.shell.script import UNKNOWN, Word

_ELSEWHERE = re.compile(
    r"^(?:[\w.\[\],-]+\s*@\s*)?(?:git\+|hg\+|svn\+|bzr\+|https?://|git://|ssh://|git@|ftp://|file://|github:|gitlab:|bitbucket:|gist:)|\.git(?:#|@|$)",
    re.IGNORECASE,
)
_HOST_SHORTHAND = re.compile(r"^[A-Za-z0-9][\w.-]*/[\w.-]+(?:#.*)?$")


@handles("package-install")
def package_install(call: Call) -> Findings:
    """Names come from the registry; addresses come from anywhere."""
    findings: Findings = []
    editable = [
        g.value
        for g in call.arguments.given
        if g.name in {"-e", "--editable", "-r", "--requirement"} and g.value
    ]
    for word in editable:
        if word.text.startswith("/dev/fd/"):
            findings += [f for f in call.judge.script_file(word, call) if f.rule == "remote-code"]
    is_javascript = call.arguments.path.split()[0] in {"npm", "yarn", "pnpm", "bun", "bower", "ni"}
    for word in [*call.arguments.operands, *editable]:
        text = word.text
        if text.startswith("http://"):
            why = f"{text} comes from a place that cannot prove what it is"
            findings.append(call.finding(Risk.HIGH, "remote-code", why, EffectKind.EXECUTE))
        elif _ELSEWHERE.search(text) or (is_javascript and _HOST_SHORTHAND.match(text)):
            findings.append(
                call.finding(
                    Risk.MEDIUM,
                    "package-from-elsewhere",
                    f"{text} does not come from the registry, and installing runs its code",
                    EffectKind.EXECUTE,
                    EffectKind.NETWORK,
                )
            )
        elif text.startswith(("/", "~", "..")):
            location = call.judge.territory.locate(text, call.cwds)
            if location.zone in {Zone.OUTSIDE, Zone.SCRATCH}:
                findings.append(
                    call.finding(
                        Risk.MEDIUM,
                        "code-outside",
                        f"Installs code {location.zone.value}: {text}",
                        EffectKind.EXECUTE,
                    )
                )
        elif UNKNOWN in text and not text.startswith(UNKNOWN):
            continue
    return findings


@handles("package-run")
def package_run(call: Call) -> Findings:
    """`npx tool …`: a tool that is known is judged as itself; others are fetched and run."""
    words = call.arguments.operands
    findings = foreign_packages(call) + unknown_packages(call)
    if not words:
        return findings
    if _ELSEWHERE.search(words[0].text):
        return [_remote_code(words[0].text, call)]
    tool = Word(_tool_of(words[0].text))
    return [*findings, *call.judge.words([tool, *_after(words, call)], call)]


_TOOLS = {
    "@angular/cli": "ng",
    "@biomejs/biome": "biome",
    "@playwright/test": "playwright",
    "typescript": "tsc",
    "@nestjs/cli": "nest",
    "@redocly/cli": "redocly",
    "@vue/cli-service": "vue-cli-service",
    "@changesets/cli": "changeset",
    "@stoplight/spectral-cli": "spectral",
}
"""Packages whose program has another name."""


def _tool_of(package: str) -> str:
    """The program that a package brings: `prettier@3` and `ruff==0.4` are `prettier` and `ruff`."""
    name = re.split(r"(?<=.)@|[=<>~!\[;\s]", package, maxsplit=1)[0]
    return _TOOLS.get(name, name.rpartition("/")[2] if name.startswith("@") else name)


def unknown_packages(call: Call) -> Findings:
    """`npx -p NAME tsc`: the program comes from that package, whatever it is called."""
    brings = _PYTHON_BRINGS if call.arguments.path in _PYTHON_RUNNERS else _BRINGS
    given = [g.value.text for g in call.arguments.given if g.name in brings and g.value]
    joined = (option.partition("=") for option in call.arguments.unknown)
    given += [value for name, _, value in joined if name in brings and value]
    unknown = [name for name in given if call.judge.knowledge.program(_tool_of(name)) is None]
    why = f"Fetches {unknown[0][:60]} and runs it" if unknown else ""
    return [call.finding(Risk.MEDIUM, "fetched-tool", why, EffectKind.EXECUTE)] if unknown else []


_BRINGS = frozenset({"-p", "--package"})
_PYTHON_BRINGS = frozenset({"--from", "--spec"})
_PYTHON_RUNNERS = frozenset({"pipx run", "uv tool run", "uvx"})


@handles("package-starter")
def package_starter(call: Call) -> Findings:
    """`npm init NAME` fetches `create-NAME` and runs it, as `npx` would."""
    words = call.arguments.operands
    if not words:
        return []
    name = re.sub(r"(?<=.)@[^/]*$", "", words[0].text)
    if _ELSEWHERE.search(words[0].text):
        return [_remote_code(words[0].text, call)]
    scope, slash, rest = name.rpartition("/")
    starter = f"{scope}{slash}{rest if rest.startswith('create-') else f'create-{rest}'}"
    return call.judge.words([Word(starter), *_after(words, call)], call)


_PACKAGE_OPTIONS = frozenset(
    {"--with", "--with-editable", "--with-requirements", "--from", "--spec", "--package", "-p"}
)


def foreign_packages(call: Call) -> Findings:
    """`uv run --with ADDRESS`, `pipx run --spec git+…`: fetched from there, and run at once."""
    given = [g.value.text for g in call.arguments.given if g.name in _PACKAGE_OPTIONS and g.value]
    return [_remote_code(text, call) for text in given if _ELSEWHERE.search(text)]


def _remote_code(source: str, call: Call) -> Finding:
    why = f"Runs code from {source}"
    return call.finding(Risk.HIGH, "remote-code", why, EffectKind.EXECUTE, EffectKind.NETWORK)


def _after(words: list[Word], call: Call) -> list[Word]:
    """The words after the tool's name, its options included."""
    rest = call.arguments.rest
    for index, word in enumerate(rest):
        if word is words[0]:
            return rest[index + 1 :]
    return words[1:]


@handles("yarn")
def yarn(call: Call) -> Findings:
    """`yarn NAME` runs the script NAME, or the tool of that name."""
    words = call.arguments.operands
    if not words:
        return []
    if call.arguments.path == "yarn workspace":
        rest = words[1:]
        return call.judge.words([Word("yarn"), *rest], call) if rest else []
    inner = call.judge.knowledge.program(words[0].text)
    findings = [judge_task(words[0].text, call)]
    if inner is not None and inner.rule is not None:
        return findings + call.judge.words(_from(words[0], call), call)
    return findings + judge_told(words[0].text, words[1:], call)


def _from(first: Word, call: Call) -> list[Word]:
    rest = call.arguments.rest
    index = next((i for i, word in enumerate(rest) if word is first), 0)
    return rest[index:] or [first]


@handles("tasks")
def tasks(call: Call) -> Findings:
    """Every task counts: `make clean deploy`, `gradle build publish`."""
    operands = call.arguments.operands
    findings = [_foreign_goal(w.text, call) for w in operands if ":" in w.text]
    findings += [goal for word in operands for goal in judge_goal(word.text, call)]
    given = [g.value.text for g in call.arguments.given if g.name == "-D" and g.value]
    if any(text.startswith("exec.executable") for text in given):
        why = "Runs a program that the line names"
        return [call.finding(Risk.HIGH, "runs-code", why, EffectKind.EXECUTE)]
    return [f for f in findings if f is not None] + [
        judge_task(w.text.rpartition(":")[2] or w.text, call)
        for w in operands[1:]
        if "=" not in w.text
    ]


_COORDINATES = re.compile(r"([A-Za-z][\w-]*(?:\.[\w-]+)+):[\w.-]+(?::[\w.-]+)?:[\w@-]+")


def _foreign_goal(goal: str, call: Call) -> Finding | None:
    """`mvn group:plugin:version:goal` fetches that plugin and runs it."""
    match = _COORDINATES.fullmatch(goal)
    known = tuple(load_table("tasks")["known_plugins"])
    if match is None or f"{match[1]}.".startswith(known):
        return None
    why = f"Fetches the plugin {goal} and runs it"
    return call.finding(Risk.MEDIUM, "remote-code", why, EffectKind.EXECUTE, EffectKind.NETWORK)


@handles("many-commands")
def many_commands(call: Call) -> Findings:
    """`setup.py sdist upload`, `rails db:create db:drop`: the later words are commands, too."""
    name = call.arguments.path.split()[0]
    program = call.judge.knowledge.program(name)
    findings: Findings = []
    for word in call.arguments.operands:
        if name != "setup.py" and ":" not in word.text:
            continue
        entry = program.child(word.text) if program is not None else None
        if entry is not None and entry.rule is not None and entry.rule.risk is not Risk.LOW:
            rule = entry.rule
            findings.append(call.finding(rule.risk, rule.rule, rule.explanation, *rule.effects))
    return findings


@handles("prepares-database")
def prepares_database(call: Call) -> Findings:
    """Such commands, too; and where it is done, which a variable or an option may say."""
    findings = many_commands(call)
    given = [
        g.value.text for g in call.arguments.given if g.name in {"-e", "--environment"} and g.value
    ]
    given += [a.value.text for a in call.command.assignments if a.name.endswith("_ENV")]
    if not any(text.lower().startswith(("prod", "live", "stag")) for text in given):
        return findings
    why = "Changes a database that others work with"
    return [*findings, call.finding(Risk.HIGH, "framework-data", why, EffectKind.NETWORK)]


@handles("cargo-watch")
def cargo_watch(call: Call) -> Findings:
    """`cargo watch -x 'run -- x'` runs `cargo run -- x`."""
    given = [g.value.text for g in call.arguments.given if g.name in {"-x", "--exec"} and g.value]
    return [f for text in given for f in call.judge.shell(f"cargo {text}", call)]


@handles("each-shell")
def each_shell(call: Call) -> Findings:
    """`concurrently 'npm run a' 'npm run b'`: every operand is a command line."""
    findings: Findings = []
    for word in call.arguments.operands:
        text = word.text.strip("\"'")
        if " " in text:
            findings += call.judge.shell(text, call)
        else:
            findings += call.judge.shell(f"npm run {text.removeprefix('npm:')}", call)
    return findings


@handles("nodemon")
def nodemon(call: Call) -> Findings:
    """`nodemon --exec ts-node x.ts` runs `ts-node x.ts`; alone it runs Node."""
    run = next(
        (g.value.text for g in call.arguments.given if g.name in {"-x", "--exec"} and g.value),
        "node",
    )
    if not call.arguments.operands and run == "node":
        return []
    return call.judge.shell(" ".join([run, *(w.text for w in call.arguments.operands)]), call)


@handles("go-packages")
def go_packages(call: Call) -> Findings:
    """`go run ./cmd` is the project's; `go run host/module@version` is fetched."""
    findings: Findings = []
    for word in (
        call.arguments.operands[:1] if call.arguments.path == "go run" else call.arguments.operands
    ):
        if call.arguments.path == "go run" and word.text.startswith(("./", "cmd/", "internal/")):
            findings.append(judge_task(_command_name(word.text), call))
        if call.arguments.path == "go run" and "@" in word.text:
            findings.append(
                call.finding(
                    Risk.MEDIUM,
                    "remote-code",
                    f"Fetches and runs {word.text}",
                    EffectKind.EXECUTE,
                    EffectKind.NETWORK,
                )
            )
        elif _BRANCH.search(word.text):
            why = f"{word.text} is whatever that branch holds today"
            findings.append(call.finding(Risk.MEDIUM, "option", why, EffectKind.EXECUTE))
    return findings


def _command_name(path: str) -> str:
    """`./cmd/deploy/main.go` is called after its directory."""
    name = posixpath.basename(path.rstrip("/")).removesuffix(".go")
    return posixpath.basename(posixpath.dirname(path)) if name in {"main", "*", "."} else name


_BRANCH = re.compile(r"@(?!latest$|upgrade$|patch$|none$|v\d)")
"""`@latest` and `@v1.2.3` were released by somebody; `@master` was not."""


@handles("java")
def java(call: Call) -> Findings:
    """`java -jar x.jar`, `java -cp … Main`."""
    inline = [g for g in call.arguments.given if g.name == "-e"]
    if inline:
        return []
    operands = call.arguments.operands
    if call.arguments.has("-jar") and operands:
        return call.judge.script_file(operands[0], call)
    if operands and "/" in operands[0].text:
        is_remote = "://" in operands[0].text
        return (
            call.judge.script_file(operands[0], call)
            if is_remote
            else code_path(operands[0].text, call)
        )
    if call.arguments.path in _JVM_SHELLS and (not operands or operands[0].text == "-"):
        return from_stream(call)
    return []


_JVM_SHELLS = frozenset({"jshell", "groovy", "scala", "kotlin"})


def _other_remote(word: Word, call: Call) -> Finding:
    why = f"Asks {word.text[:80]}, which need not be this project's remote"
    return call.finding(Risk.MEDIUM, "git-network", why, EffectKind.NETWORK)


@handles("code-host-api")
def code_host_api(call: Call) -> Findings:
    """`gh api` looks with GET; other methods and fields change something."""
    given = call.arguments.given
    methods = {g.value.text.upper() for g in given if g.name in {"-X", "--method"} and g.value}
    fields = [g.value.text for g in given if g.name in _FIELDS and g.value]
    operands = call.arguments.operands
    is_graph = bool(operands) and operands[0].text.strip("/") == "graphql"
    is_change = any(re.search(r"\bmutation\b", field) for field in fields)
    if is_graph and methods <= {"POST"} and fields and not is_change:
        is_seen = all(not f.partition("=")[2].startswith("@") for f in fields)
        if is_seen:
            return []
    if methods <= {"GET", "HEAD"} and (methods or not fields):
        return []
    why = "Changes something at the code host"
    return [call.finding(Risk.HIGH, "code-host-changes", why, EffectKind.NETWORK)]


_FIELDS = frozenset({"-f", "-F", "--field", "--raw-field", "--input"})
_FORCED_BRANCH = re.compile(r"\+[^:]*:(?!refs/remotes/)")


@handles("git-url")
def git_url(call: Call) -> Findings:
    """`ext::` runs a command, `+branch` forces, `:branch` deletes."""
    findings = git_places(call)
    for word in call.arguments.operands:
        if word.text.startswith(("ext::", "fd::")):
            findings.append(
                call.finding(
                    Risk.HIGH,
                    "runs-code",
                    "This kind of address runs a command",
                    EffectKind.EXECUTE,
                )
            )
    if call.arguments.path in _PUSHES:
        findings += _new_address(call)
    if call.arguments.path == "git push":
        findings += _pushed(call)
    if call.arguments.path == "git ls-remote":
        return findings + [_other_remote(w, call) for w in call.arguments.operands if ":" in w.text]
    if call.arguments.path in {"git fetch", "git pull"}:
        forced = [w for w in call.arguments.operands[1:] if _FORCED_BRANCH.match(w.text)]
        why = "`+` moves branches of this repository away from their work"
        findings += [
            call.finding(Risk.HIGH, "git-destroys", why, EffectKind.DELETE) for _ in forced[:1]
        ]
    if call.arguments.path == "git clone" and len(call.arguments.operands) > 1:
        findings += call.writes(call.arguments.operands[1:2])
    return findings


_PUSHES = frozenset({"git push", "git lfs push", "git subtree push"})


def _pushed(call: Call) -> Findings:
    findings: Findings = []
    for word in call.arguments.operands[1:]:
        if word.text.startswith("+"):
            why = "`+` rewrites what others have already fetched"
            findings.append(
                call.finding(
                    Risk.HIGH, "force-push", why, EffectKind.NETWORK, kind="git push --force"
                )
            )
        elif word.text.startswith(":"):
            why = "`:name` deletes a branch for everyone"
            findings.append(
                call.finding(
                    Risk.HIGH, "delete-remote", why, EffectKind.NETWORK, kind="git push --delete"
                )
            )
    return findings


def _new_address(call: Call) -> Findings:
    """Where the code goes is a person's choice: their remote, and no address of this line."""
    to = call.arguments.operands[:1]
    is_address = bool(to) and _REMOTE_ADDRESS.match(to[0].text) is not None
    is_set_here = any(
        [word.text for word in earlier.words[:2]] == ["git", "remote"]
        and len(earlier.words) > 2
        and earlier.words[2].text in {"add", "set-url"}
        for earlier in call.judge.earlier()
    )
    if not is_address and not is_set_here:
        return []
    why = "Sends the repository to an address that was not a remote before this line"
    return [call.finding(Risk.HIGH, "data-leaves", why, EffectKind.NETWORK)]


_REMOTE_ADDRESS = re.compile(r"[a-z+]+://|[\w.-]+@[\w.-]+:|[\w-]+(?:\.[\w-]+)+:")


@handles("git-config")
def git_config(call: Call) -> Findings:
    """One operand is a look; two are a change, and some keys name programs."""
    operands = call.arguments.operands
    is_told = bool(operands) and operands[0].text in _CONFIG_VERBS
    if is_told:
        operands = operands[1:]
    elif len(operands) < 2 and not call.arguments.has(
        "--unset", "--unset-all", "--add", "--replace-all", "-e", "--edit"
    ):
        return []
    findings = [
        call.finding(
            Risk.MEDIUM, "git-names", "Changes the repository's settings", EffectKind.WRITE
        )
    ]
    if operands and (_RUNNING_KEY.match(operands[0].text) or UNKNOWN in operands[0].text):
        findings.append(
            call.finding(
                Risk.HIGH,
                "git-runs",
                f"{operands[0].text} names a program, a place or a guard of git",
                EffectKind.EXECUTE,
            )
        )
    return findings


_CONFIG_VERBS = frozenset({"set", "unset", "edit", "rename-section", "remove-section"})
_RUNNING_KEY = re.compile(
    r"(?:core\.(?:hookspath|pager|editor|sshcommand|fsmonitor|askpass|gitproxy|attributesfile|excludesfile|worktree|alternaterefscommand)|alias\.|pager\.|credential\.|filter\.|diff\..*(?:command|textconv)|diff\.external|merge\..*driver|mergetool\.|difftool\.|sequence\.editor|url\.|include|http\.|gpg\.|protocol\.|remote\..*\.(?:url|pushurl|proxy|uploadpack|receivepack|vcs)|init\.templatedir|safe\.|interactive\.difffilter|browser\.|man\.|web\.|instaweb\.|sendemail\.|submodule\..*update|uploadpack\.|receive\.|trailer\..*cmd|guitool\.|commit\.gpgsign|tag\.gpgsign|user\.signingkey|push\.)",
    re.IGNORECASE,
)


def _is_directory(word: Word, call: Call) -> bool:
    """Of those that hold code, or as it is on disk; where no `--` is, `src` may be a branch too."""
    path = call.judge.territory.locate(word.text, call.cwds).path
    is_named = path in call.judge.territory.safe and call.arguments.after_dashes is not None
    return is_named or (path.startswith("/") and os.path.isdir(path))  # noqa: PTH112  # plain text


@handles("git-discard")
def git_discard(call: Call) -> Findings:
    """`git checkout -- .`: everything that was not committed is gone."""
    arguments = call.arguments
    is_restore = arguments.path == "git restore" and not (
        arguments.has("--staged", "-S") and not arguments.has("-W", "--worktree")
    )
    names = {word.text for word in arguments.operands}
    is_checkout = arguments.path == "git checkout"
    is_wide = bool(names & {".", "./", "*", ":/", ":"}) or any(
        word.globs or word.text.endswith("/") or _is_directory(word, call)
        for word in arguments.operands[arguments.after_dashes or 0 :]
    )
    if (is_restore or is_checkout) and is_wide:
        return [
            call.finding(
                Risk.HIGH,
                "git-destroys",
                "Throws away all work below a directory that was not committed",
                EffectKind.DELETE,
                kind="git discard",
            )
        ]
    if not (is_restore or is_checkout):
        return []
    behind = arguments.operands[arguments.after_dashes or 0 :]
    is_path = is_restore or arguments.after_dashes is not None
    paths = [word for word in behind if is_path or word.text.startswith(".")]
    return [found for found in call.writes(paths) if found.is_guarded]


@handles("parallel")
def parallel(call: Call) -> Findings:
    """`parallel cmd {} ::: a b`; without a command, its input lines are commands."""
    words = call.arguments.operands
    if any(given.rule.risk is Risk.LOW for given in call.arguments.given):
        return []
    end = next((i for i, w in enumerate(words) if w.text.startswith(":::")), len(words))
    if end == 0:
        return [f for w in words[1:] for f in call.judge.shell(w.text, call)] or [
            call.finding(
                Risk.HIGH,
                "piped-code",
                "Runs the lines of its input as commands",
                EffectKind.EXECUTE,
            )
        ]
    text = " ".join(w.text for w in words[:end])
    marked = re.sub(r"\{[^{}\s]*\}", UNKNOWN, text)
    return call.judge.shell(marked if marked != text else f"{text} {UNKNOWN}", call)
