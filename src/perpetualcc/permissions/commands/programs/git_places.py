"""Git commands that put files where the line says: a guarded place is one for them as well."""

from perpetualcc.permissions.commands.call import Call, Findings, handles

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
