"""Package managers and task runners: where packages come from, and what tasks are called."""

import posixpath
import re

from perpetualcc.domain.tools import Risk
from perpetualcc.permissions.commands.call import Call, Findings, handles
from perpetualcc.permissions.commands.foreign_code import code_path, foreign_path
from perpetualcc.permissions.commands.passed_on import judge_told
from perpetualcc.permissions.commands.programs.interpreters import from_stream
from perpetualcc.permissions.commands.programs.looks import package_settings
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


@handles("bundle-settings")
def bundle_settings(call: Call) -> Findings:
    """`bundle config set gemfile ../x/Gemfile`: a list of packages is code, and `path` a place."""
    texts = [word.text for word in call.arguments.operands]
    is_code = any(text in {"gemfile", "plugins"} for text in texts)
    places = (foreign_path(text, call.judge.territory, call.cwds) for text in texts)
    findings = package_settings(call)
    if is_code or any(place is not None for place in places):
        why = "Says which code each command of Bundler runs, or where it is kept"
        findings.append(call.finding(Risk.MEDIUM, "package-settings", why, EffectKind.EXECUTE))
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
    "@aws-amplify/backend-cli": "ampx",
    "@azure/static-web-apps-cli": "swa",
    "@capacitor/cli": "cap",
    "@expo/cli": "expo",
    "@ionic/cli": "ionic",
    "@railway/cli": "railway",
    "@sentry/cli": "sentry-cli",
    "@shopify/cli": "shopify",
    "@tauri-apps/cli": "tauri",
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
    texts = {word.text for word in call.command.words}
    why = "Writes over what is there"
    forced = call.finding(Risk.MEDIUM, "option", why, EffectKind.WRITE)
    findings = [] if texts.isdisjoint({"--force", "--overwrite"}) else [forced]
    scope, slash, rest = name.rpartition("/")
    starter = f"{scope}{slash}{rest if rest.startswith('create-') else f'create-{rest}'}"
    return findings + call.judge.words([Word(starter), *_after(words, call)], call)


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
    if call.arguments.path == "bun" and _BUN_FILE.search(words[0].text):
        return call.judge.script_file(words[0], call)
    findings = [judge_task(words[0].text, call)]
    if inner is not None and inner.rule is not None:
        return findings + call.judge.words(_from(words[0], call), call)
    return findings + judge_told(words[0].text, words[1:], call)


_BUN_FILE = re.compile(r"^\.{0,2}/|\.[cm]?[jt]sx?$")


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
        if name not in {"setup.py", "idf.py"} and ":" not in word.text:
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
    given += [
        a.value.text
        for a in call.judge.environment(call.command.assignments)
        if a.name.endswith("_ENV")
    ]
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
    if operands and operands[0].text.endswith(_JVM_SCRIPTS) and "://" not in operands[0].text:
        found = call.judge.script_file(operands[0], call)
        return [one for one in found if one.risk is Risk.HIGH or one.rule == "script-outside"]
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


_JVM_SCRIPTS = (".scala", ".sc", ".kts", ".groovy", ".jsh")
_JVM_SHELLS = frozenset({"jshell", "groovy", "scala", "kotlin"})


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
