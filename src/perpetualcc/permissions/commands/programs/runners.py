"""Programs that run other programs in ways a table cannot say."""

from perpetualcc.domain.tools import Risk
from perpetualcc.permissions.commands.call import Call, Findings, handles
from perpetualcc.permissions.effects import Effect, EffectKind, Finding
from perpetualcc.permissions.shell.script import UNKNOWN, Word


@handles("env")
def env(call: Call) -> Findings:
    """`env A=b -u C program …`; alone it prints everything, tokens included."""
    findings: Findings = []
    words = list(call.arguments.operands)
    while words and "=" in words[0].text:
        name = words.pop(0).text.partition("=")[0]
        meaning = call.judge.knowledge.variable(name)
        if meaning is not None:
            findings.append(
                call.finding(
                    meaning.risk,
                    "environment-variable",
                    f"{name}: {meaning.explanation}",
                    EffectKind.EXECUTE,
                )
            )
    if words:
        return findings + call.judge.words(words, call)
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
    """The words it appends come from a pipe, so they may be anything."""
    words = call.arguments.operands or [Word("echo")]
    placeholders = {
        given.value.text
        for given in call.arguments.given
        if given.name in {"-I", "-J", "--replace"} and given.value
    } or {"{}"}
    if any(given.name in {"-I", "-i", "--replace"} for given in call.arguments.given):
        placed = [Word(_replaced(word.text, placeholders), True) for word in words]
    else:
        placed = [*words, Word(UNKNOWN, True)]
    return call.judge.words(placed, call)


def _replaced(text: str, placeholders: set[str]) -> str:
    for placeholder in placeholders:
        text = text.replace(placeholder, UNKNOWN)
    return text


_FIND_RUNS = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_FIND_WRITES = frozenset({"-fprint", "-fprint0", "-fls", "-fprintf"})


@handles("find")
def find(call: Call) -> Findings:
    """Roots are listed; `-exec` runs, `-delete` deletes, `-fprint` writes."""
    words = call.arguments.rest
    findings: Findings = []
    position = 0
    while position < len(words):
        text = words[position].text
        position += 1
        if text == "-delete":
            findings.append(
                call.finding(
                    Risk.HIGH,
                    "delete",
                    "Deletes every file it finds",
                    EffectKind.DELETE,
                    kind="find -delete",
                )
            )
        elif text in _FIND_RUNS:
            end = next(
                (i for i in range(position, len(words)) if words[i].text in {";", "+"}), len(words)
            )
            inner = [
                Word(UNKNOWN, True)
                if w.text == "{}"
                else Word(w.text.replace("{}", UNKNOWN), w.splits)
                for w in words[position:end]
            ]
            findings += call.judge.words(inner, call)
            position = end + 1
        elif text in _FIND_WRITES and position < len(words):
            findings += call.writes([words[position]])
            position += 1
        elif UNKNOWN in text and words[position - 1].splits:
            findings.append(
                call.finding(
                    Risk.MEDIUM,
                    "computed-words",
                    "Some of its words, perhaps `-delete`, are known only when it runs",
                )
            )
        elif not text.startswith("-") and position == 1:
            findings += call.reads([words[0]], lists=True)
    return findings


@handles("fd")
def fd(call: Call) -> Findings:
    """`fd -x cmd …`."""
    words = call.arguments.rest
    for index, word in enumerate(words):
        if word.text in {"-x", "-X", "--exec", "--exec-batch"}:
            inner = [w if w.text != "{}" else Word(UNKNOWN, True) for w in words[index + 1 :]]
            return call.judge.words(inner, call)
    return []


@handles("eval")
def evaluate(call: Call) -> Findings:
    """`eval` joins its words and runs them as shell text."""
    words = call.arguments.rest
    text = " ".join(word.text for word in words)
    setup = [code for word in words for code in word.code]
    if setup and text == UNKNOWN and all(_is_shell_setup(code) for code in setup):
        return [
            call.finding(
                Risk.MEDIUM,
                "shell-setup",
                "Runs the set-up lines that a tool prints",
                EffectKind.EXECUTE,
            )
        ]
    return call.judge.shell(text, call)


def _is_shell_setup(code: str) -> bool:
    words = code.split()
    return len(words) <= 5 and words[0].rpartition("/")[2] in {
        "ssh-agent", "pyenv", "rbenv", "nodenv", "goenv", "jenv", "direnv", "brew", "conda", "mamba", "starship",
        "fnm", "opam", "mise", "asdf", "zoxide", "dircolors", "dbus-launch", "luarocks", "minikube", "docker-machine", "perl",
    } and not any(c in code for c in "|;&><`$")  # fmt: skip


@handles("trap")
def trap(call: Call) -> Findings:
    """`trap 'code' EXIT`."""
    words = call.arguments.operands
    return call.judge.shell(words[0].text, call) if len(words) > 1 else []


@handles("alias")
def alias(call: Call) -> Findings:
    """An alias is code for later in the line."""
    return [
        finding
        for word in call.arguments.operands
        if "=" in word.text
        for finding in call.judge.shell(word.text.partition("=")[2], call)
    ]


@handles("remote")
def remote(call: Call) -> Findings:
    """`ssh host command …`: judged as if here, and never LOW."""
    words = call.arguments.operands[1:]
    findings: Findings = []
    if words:
        findings = [
            f
            for f in call.judge.shell(" ".join(w.text for w in words), call)
            if f.risk is not Risk.LOW
        ]
    elif call.command.stdin is not None:
        findings = [f for f in call.judge.shell(call.command.stdin, call) if f.risk is not Risk.LOW]
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


@handles("container-run")
def container_run(call: Call) -> Findings:
    """`docker run image cmd …`: the container is a wall, unless its options open it."""
    findings: Findings = []
    for given in call.arguments.given:
        if given.name in {"-v", "--volume", "--mount"} and given.value is not None:
            findings += _mount(given.value, call)
    inner = call.arguments.operands[1:]
    if inner:
        findings += [
            f
            for f in call.judge.words(inner, call)
            if f.risk is Risk.HIGH and f.rule in {"remote-code", "raw-socket", "privilege"}
        ]
    return findings


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
        wide = source in {"/", "/etc", "/root", "/home", "/var", "/proc"} or "docker.sock" in source
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
