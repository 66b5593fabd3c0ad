"""Programs that copy, link, pack and unpack files."""

import os
import posixpath
import re
from dataclasses import replace

from perpetualcc.domain.tools import Risk
from perpetualcc.permissions.commands.call import Call, Findings, handles
from perpetualcc.permissions.commands.findings import emptied
from perpetualcc.permissions.effects import EffectKind
from perpetualcc.permissions.paths import Zone
from perpetualcc.permissions.protected import fold
from perpetualcc.permissions.shell.directories import join
from perpetualcc.permissions.shell.script import Word


@handles("copy")
def copy(call: Call) -> Findings:
    """With `-t directory` every operand is a source; `cp -s` links; `cp /dev/null f` empties f."""
    sources = call.arguments.operands[:-1]
    if [word.text for word in sources] == ["/dev/null"]:
        return emptied(call.arguments.operands[-1].text, call.part)
    found = link(call) if call.arguments.has("-s", "--symbolic-link", "-l", "--link") else []
    if call.arguments.has("-t", "--target-directory"):
        found += call.reads(call.arguments.operands)
    return found + guarded_in_folder(call)


def guarded_in_folder(call: Call) -> Findings:
    """`cp src/CLAUDE.md .`: a guarded name that a folder gets by it."""
    named = [g.value for g in call.arguments.given if g.name in _FOLDERS and g.value]
    *sources, last = [*call.arguments.operands, *named] or [Word(".")]
    if not (named or _is_folder(last, len(sources), call)):
        return []
    is_whole = call.arguments.has("--parents")
    names = [word.text if is_whole else posixpath.basename(word.text) for word in sources]
    found = call.writes(Word(f"{last.text}/{name}") for name in names if name not in _ITSELF)
    return [finding for finding in found if finding.is_guarded]


_FOLDERS = frozenset({"-t", "--target-directory"})
_ITSELF = frozenset({"", ".", ".."})


def _is_folder(word: Word, sources: int, call: Call) -> bool:
    """By what is written, or as it is on disk."""
    if sources > 1 or posixpath.basename(word.text) in _ITSELF:
        return True
    path = call.judge.territory.locate(word.text, call.cwds).path
    return path.startswith("/") and os.path.isdir(path)  # noqa: PTH112  # plain text


@handles("move")
def move(call: Call) -> Findings:
    """What is moved away is gone from where it was."""
    sources = call.arguments.operands
    if len(sources) > 1 and sources[-1].text == "/dev/null":
        why = "Deletes files; nothing brings them back"
        return [call.finding(Risk.HIGH, "delete", why, EffectKind.DELETE)]
    if not call.arguments.has("-t", "--target-directory"):
        sources = sources[:-1]
    gone = call.writes(sources)
    found = [f for f in gone if f.risk is Risk.HIGH or f.is_guarded]
    found += guarded_in_folder(call)
    effects = [replace(e, kind=EffectKind.DELETE) for f in gone for e in f.effects]
    if effects:
        away = call.finding(Risk.LOW, "moved-away", "Takes it from where it is")
        found.append(replace(away, effects=tuple(effects)))
    territory = call.judge.territory
    places = [territory.locate(word.text, call.cwds).path for word in sources]
    if any(territory.is_all(place) for place in places if place[:1] == "/"):
        why = "Takes the whole project from where it is"
        found.append(call.finding(Risk.HIGH, "delete", why, EffectKind.DELETE))
    return found


@handles("patch")
def patch(call: Call) -> Findings:
    """`patch FILE PATCH`; without words it writes below where it is, what a patch names."""
    words = call.arguments.operands
    named = words[:1]
    text = call.command.stdin or ""
    named += [Word(name) for name in _PATCHED.findall(text)]
    named += [Word(name.partition("/")[2]) for name in _PATCHED.findall(text) if "/" in name]
    if call.arguments.has("-d", "--directory"):
        named.append(Word("file"))
    return [f for f in call.writes(named) if f.risk is Risk.HIGH]


_PATCHED = re.compile(r"(?m)^\+\+\+ ([^\t\n]+)")
"""In a patch the name of a file that is written, behind `b/` mostly."""


@handles("rewrites")
def rewrites(call: Call) -> Findings:
    """`strip file` writes what it is given, `objcopy in out` the second; a product is no matter."""
    words = call.arguments.operands
    if call.arguments.path.endswith("objcopy"):
        words = words[1:] or words
    elif call.arguments.path == "install_name_tool":  # before it come names in the file
        words = words[-1:]
    return [f for f in call.writes(words) if f.is_guarded or f.risk is Risk.HIGH]


@handles("link")
def link(call: Call) -> Findings:
    """A link into a guarded or foreign place opens that place."""
    operands = call.arguments.operands
    if not operands:
        return []
    findings = call.writes(operands[-1:]) if len(operands) > 1 else []
    into = operands[-1].text if len(operands) > 1 else "."
    for target in operands[:-1] or operands:
        findings += [f for f in call.reads([target]) if f.risk is Risk.HIGH]
        location = call.judge.territory.locate(target.text, call.cwds)
        if location.zone is Zone.OUTSIDE and target.text.startswith(("/", "~", "..")):
            why = f"Links to {location.path}, outside the project"
            findings.append(call.finding(Risk.HIGH, "link-outside", why, EffectKind.WRITE))
        _remember_link(target.text, into, call)
    return findings


def _remember_link(target: str, into: str, call: Call) -> None:
    """What comes later in the line may go through it: as a link, or in a folder of that name."""
    territory = call.judge.territory
    name = posixpath.basename(target.rstrip("/"))
    from_here = call.arguments.path == "cp" or call.arguments.has("-r", "--relative")
    for cwd in call.cwds:
        for link in (into, f"{into}/{name}"):
            place = join(cwd, link, home=territory.home)
            base = cwd if from_here else posixpath.dirname(place or "")
            leads_to = join(base, target, home=territory.home)
            if place is not None and leads_to is not None and place != territory.project:
                territory.links[fold(place)] = leads_to


@handles("archive")
def archive(call: Call) -> Findings:
    """`tar`: what it packs is read, what it unpacks is written, with `C` in that directory."""
    letters = call.arguments.rest[0].text if call.arguments.rest else ""
    values = [letter for letter in letters if letter in _TAR_VALUES]
    if letters.startswith("-") or "C" not in values:
        return _packed(call)
    directory = call.arguments.rest[1 + values.index("C") :][:1]
    return _packed(call) + call.writes(directory)


_TAR_VALUES = "fbCTXgHI"
"""Letters of the old form, `tar xfC file directory`, whose values follow in the same order."""


def _packed(call: Call) -> Findings:
    arguments = call.arguments
    words = list(arguments.rest)
    letters = words[0].text if words and not words[0].text.startswith("-") else ""
    bundled = "".join(o for o in arguments.unknown if not o.startswith("--"))
    given = {g.name for g in arguments.given} | set(arguments.unknown)
    given |= {f"-{c}" for c in letters + bundled}
    mode = "".join(c for c in ("c", "x", "t", "r", "u", "A", "d") if f"-{c}" in given)
    names = {
        "--create": "c",
        "--extract": "x",
        "--get": "x",
        "--list": "t",
        "--append": "r",
        "--update": "u",
        "--delete": "r",
    }
    mode = mode or "".join(letter for name, letter in names.items() if name in given)
    file = next((g.value for g in arguments.given if g.name in {"-f", "--file"} and g.value), None)
    operands = arguments.operands
    if letters and "f" in letters and len(words) > 1:
        file, operands = words[1], words[2:]
    if file is not None and (":" in file.text and not file.text.startswith(("/", "."))):
        return [
            call.finding(
                Risk.HIGH, "remote-archive", "Packs to or from another machine", EffectKind.NETWORK
            )
        ]
    piped = file is None or file.text == "-"
    if mode[:1] in {"c", "r", "u", "A"}:
        findings = call.reads(operands)
        if not piped and file is not None:
            findings += call.writes([file])
        return findings
    if mode[:1] == "x":
        target = call.writes([Word("./extracted")])
        return [
            *([] if piped or file is None else call.reads([file])),
            *target,
            call.finding(
                Risk.MEDIUM, "unpack", "Unpacks files, which may overwrite others", EffectKind.WRITE
            ),
        ]
    return [] if piped or file is None else call.reads([file])


@handles("zip")
def zip_files(call: Call) -> Findings:
    """`zip archive files…`, `7z a archive files…`."""
    operands = call.arguments.operands
    if call.arguments.path in {"7z", "7za", "7zz", "rar"}:
        mode, operands = (operands[0].text if operands else ""), operands[1:]
        if mode in {"l", "t", "i"}:
            return call.reads(operands)
        if mode == "d":
            why = "Deletes from an archive"
            return [call.finding(Risk.HIGH, "delete", why, EffectKind.DELETE)]
        if mode in {"x", "e"}:
            return [
                *call.reads(operands[:1]),
                call.finding(
                    Risk.MEDIUM,
                    "unpack",
                    "Unpacks files, which may overwrite others",
                    EffectKind.WRITE,
                ),
            ]
    return call.writes(operands[:1]) + call.reads(operands[1:])


@handles("unzip")
def unzip(call: Call) -> Findings:
    return call.reads(call.arguments.operands[:1])


@handles("exiftool")
def exiftool(call: Call) -> Findings:
    """`exiftool -artist=x a.jpg` writes it into the file itself."""
    is_told = any(_TAG_GIVEN.match(word.text) for word in call.command.words[1:])
    return call.writes(call.arguments.operands) if is_told else []


_TAG_GIVEN = re.compile(r"-[\w:*]+#?[-+^]?<?=")
_DISK = re.compile(r"/dev/(?:r?disk|sd|hd|vd|xvd|nvme|mmcblk|mapper/|md|mem\b|kmem\b)")


@handles("dd")
def dd(call: Call) -> Findings:
    """`dd if=… of=…`; a device as its target loses a disk."""
    findings: Findings = []
    for word in call.arguments.rest:
        name, _, value = word.text.partition("=")
        if name == "if":
            findings += call.reads([Word(value)])
            if _DISK.match(value):
                why = f"Reads all of {value}, whoever the files on it belong to"
                findings.append(call.finding(Risk.HIGH, "disks", why, EffectKind.READ))
        elif name == "of":
            findings += call.writes([Word(value)])
    return findings
