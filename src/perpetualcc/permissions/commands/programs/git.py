"""git: where it puts files, what it talks to, which settings it takes, what it throws away."""

import os
import re

from perpetualcc.domain.tools import Risk
from perpetualcc.permissions.commands.call import Call, Findings, handles
from perpetualcc.permissions.effects import EffectKind, Finding
from perpetualcc.permissions.shell.script import UNKNOWN, Word

_OPERANDS = {
    "git bundle create": slice(0, 1),
    "git init": slice(0, 1),
    "git mv": slice(None),
    "git submodule add": slice(1, 2),
    "git worktree add": slice(0, 1),
    "git worktree move": slice(1, 2),
}
"""Which operands are places; the others name branches, commits and addresses."""
_OPTIONS = frozenset({"--prefix", "-P", "--directory"})


@handles("git-places")
def git_places(call: Call) -> Findings:
    """`git mv a .claude/settings.json`, `git apply --directory=.claude x.patch`."""
    words = list(call.arguments.operands[_OPERANDS.get(call.arguments.path, slice(0))])
    words += [g.value for g in call.arguments.given if g.name in _OPTIONS and g.value]
    return [found for found in call.writes(words) if found.is_guarded]


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
    if call.arguments.path == "glab api" and any("/variables" in w.text for w in operands):
        why = "Shows the variables of pipelines, which hold tokens"
        return [call.finding(Risk.HIGH, "cloud-secrets", why, EffectKind.READ)]
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
    if any(given.rule.risk is Risk.LOW for given in call.arguments.given):
        return findings  # `--dry-run`
    for word in call.arguments.operands[1:]:
        if word.text.startswith("+"):
            why = "`+` rewrites what others have already fetched"
            findings.append(
                call.finding(
                    Risk.HIGH, "force-push", why, EffectKind.NETWORK, kind="git push --force"
                )
            )
        elif word.text.startswith(":") and not call.arguments.has("-n", "--dry-run"):
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
    files = [g.value for g in call.arguments.given if g.name in {"-f", "--file"} and g.value]
    findings += [found for found in call.writes(files) if found.risk is Risk.HIGH]
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
