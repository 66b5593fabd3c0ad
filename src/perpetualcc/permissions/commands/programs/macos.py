"""Programs of macOS: `open`, property lists, and the clock."""

import re

from perpetualcc.domain.tools import Risk
from perpetualcc.permissions.commands.call import Call, Findings, handles
from perpetualcc.permissions.effects import EffectKind
from perpetualcc.permissions.shell.script import UNKNOWN

_STARTS = re.compile(
    r"(?:.*\.(?:app|command|tool|terminal|scpt|scptd|applescript|workflow|action|shortcut|pkg|mpkg|dmg"
    r"|mobileconfig|prefpane|inetloc|fileloc|webloc|url|jar|sh|zsh|bash|kext|plugin|service|wflow)/*"
    r"|(?!https?:|mailto:)[a-z][a-z0-9+.-]+:.*)",
    re.IGNORECASE | re.DOTALL,
)
"""What `open` runs, installs or mounts, or hands to whichever program answers to its address."""
_RUNS_WHAT_IT_OPENS = re.compile(
    r"(?:.*/)?(?:terminal|iterm|iterm2|warp|script editor|automator|ghostty|kitty|alacritty|wezterm"
    r"|com\.apple\.(?:terminal|scripteditor2|automator)|com\.googlecode\.iterm2)(?:\.app)?/*",
    re.IGNORECASE,
)


@handles("open")
def open_(call: Call) -> Findings:
    """What it opens is no child of this session: nothing judges what a program does there."""
    programs = [g.value.text for g in call.arguments.given if g.name in {"-a", "-b"} and g.value]
    opened = [word.text for word in call.arguments.operands]
    findings = [f for f in call.reads(call.arguments.operands) if f.risk is Risk.HIGH]
    starts = any(map(_STARTS.fullmatch, opened))
    starts |= any(map(_RUNS_WHAT_IT_OPENS.fullmatch, programs)) and bool(opened)
    if starts and not call.arguments.has("-R", "--reveal"):
        why = "Starts a program, or what a file holds, out of this session's sight"
        findings.append(call.finding(Risk.HIGH, "opens-program", why, EffectKind.EXECUTE))
    return findings


_CHANGES = frozenset({"-convert", "-create", "-insert", "-remove", "-replace"})
_LOOKS = (["exit"], ["help"], ["print"], ["quit"])


@handles("plist")
def plist(call: Call) -> Findings:
    """`plutil` and `PlistBuddy` write the file that they are given, unless they only print."""
    words = call.arguments.rest
    if call.arguments.path == "PlistBuddy":
        given = [g.value.text.lower() for g in call.arguments.given if g.name == "-c" and g.value]
        is_look = bool(given) and all(text.split()[:1] in _LOOKS for text in given)
        files = [word for word in words[-1:] if not word.text.startswith("-")]
        return call.reads(files) + ([] if is_look else call.writes(files))
    verb = next((n for n, word in enumerate(words) if word.text in _CHANGES), None)
    if verb is None:
        return call.reads(call.arguments.operands)
    # Behind the key or the form: the value, where there is one, and the files.
    files = [word for word in words[verb + 2 :] if not word.text.startswith("-")]
    into = [g.value for g in call.arguments.given if g.name == "-o" and g.value]
    written = [word for word in into if word.text != "-"] if into else files
    return call.reads(files) + call.writes(written)


@handles("date")
def date(call: Call) -> Findings:
    """A time that is no format for the output sets the clock; `-j` of macOS only reads it."""
    times = [word.text for word in call.arguments.operands if not word.text.startswith("+")]
    if not times or call.arguments.has("-j"):
        return []
    risk = Risk.MEDIUM if all(UNKNOWN in text for text in times) else Risk.HIGH
    return [call.finding(risk, "services", "Sets the machine's clock", EffectKind.EXECUTE)]
