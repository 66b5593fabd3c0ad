"""`find` and `fd`: what they list, and what they run and delete for each file."""

from collections.abc import Sequence

from perpetualcc.domain.tools import Risk
from perpetualcc.permissions.commands.call import Call, Findings, handles
from perpetualcc.permissions.commands.piped_names import (
    HIDDEN_FILES,
    finds_everything,
    hidden_among,
    hidden_name,
    names_left_out,
    prints_all,
    prints_contents,
    searches_contents,
    without_modes,
)
from perpetualcc.permissions.commands.programs.runners import placed
from perpetualcc.permissions.effects import EffectKind
from perpetualcc.permissions.protected import is_source
from perpetualcc.permissions.shell.script import UNKNOWN, Word

_FIND_RUNS = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_FIND_WRITES = frozenset({"-fprint", "-fprint0", "-fls", "-fprintf"})
_FIND_NAMES = frozenset({"-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename"})


@handles("find")
def find(call: Call) -> Findings:
    """Roots are listed; `-exec` runs, `-delete` deletes, `-fprint` writes."""
    words = without_modes(call.arguments.rest)
    roots = _find_roots(words)
    findings = call.reads(roots, lists=True)
    if any(root.text.startswith(UNKNOWN) and root.splits for root in roots):
        why = "Some of its words, perhaps `-delete`, are known only when it runs"
        findings.append(call.finding(Risk.MEDIUM, "computed-words", why))
    names, left_out = [Word("*")], names_left_out(words)
    position = len(roots)
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
        elif text in _FIND_NAMES and position < len(words):
            names = names if words[position] in left_out else [words[position]]
            findings += call.reads(names, lists=True)
            position += 1
        elif text in _FIND_RUNS:
            end = next(
                (i for i in range(position, len(words)) if words[i].text in {";", "+"}), len(words)
            )
            program = words[position:end]
            results = _given_names(program, roots, names, words, call)
            for found in results:
                findings += call.judge.words(placed(program, "{}", found), call)
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
    return findings


def _find_roots(words: Sequence[Word]) -> list[Word]:
    roots = []
    for word in words:
        if word.text.startswith(("-", "(", "!")):
            break
        roots.append(word)
    return roots


def _given_names(
    program: Sequence[Word],
    roots: Sequence[Word],
    names: Sequence[Word],
    words: Sequence[Word],
    call: Call,
) -> list[Word]:
    """What `{}` stands for when `program` runs."""
    hidden = _hidden_results(roots, names, words) if prints_all(program, call) else []
    # What lies below a home directory is read with it.
    is_whole = searches_contents(program, call) and not is_source(names[0].text)
    whole = roots if is_whole else []
    return [*_find_results(roots, names), *hidden, *whole]


def _find_results(roots: Sequence[Word], names: Sequence[Word]) -> list[Word]:
    """What `{}` may stand for, as a pattern."""
    name = names[0].text.rpartition("/")[2] or "*"
    return [Word(f"{root.text.rstrip('/')}/{name}", globs=True) for root in roots] or [
        Word(f"./{name}")
    ]


def _hidden_results(
    roots: Sequence[Word], names: Sequence[Word], words: Sequence[Word]
) -> list[Word]:
    """What the patterns of a shell leave out, and `find` does not."""
    if finds_everything(words):
        return [HIDDEN_FILES]
    name = names[0].text.rpartition("/")[2]
    if "." in name:
        hidden = hidden_name(name)
        return [Word(f"{root.text}/{hidden}", globs=True) for root in roots] if hidden else []
    if not name.startswith("*"):
        return []
    return [*roots] if name == "*" else [Word(f"{root.text}/.{name}", globs=True) for root in roots]


@handles("fd")
def fd(call: Call) -> Findings:
    """`fd -x cmd …`."""
    words = call.arguments.rest
    for index, word in enumerate(words):
        option, _, joined = word.text.partition("=")
        if option in {"-x", "-X", "--exec", "--exec-batch"}:
            program = [*([Word(joined)] if joined else []), *words[index + 1 :]]
            inner = [w if w.text != "{}" else Word(UNKNOWN, True) for w in program]
            shown = hidden_among(words[:index]) if prints_contents(program, call) else []
            plain = [w for w in program if w.text != "{}"]
            found = [f for word in shown for f in call.judge.words([*plain, word], call)]
            return call.judge.words(inner, call) + found
    return []
