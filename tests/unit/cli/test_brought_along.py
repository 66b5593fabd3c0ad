"""What `pcc start` says of what a project brings along."""

import pytest

from perpetualcc.cli.start import _brought_along

POLICY = {"file": ".perpetualcc/policy.toml", "what": "policy", "detail": "safe_directories = []"}
MISTAKE = {"file": ".perpetualcc/policy.toml", "what": "mistake", "detail": "it has a mistake"}
HOOK = {"file": ".claude/settings.json", "what": "hook", "detail": "x.sh"}
WORDS = {"file": "CLAUDE.md", "what": "instructions", "detail": "9 bytes"}
LOOK = "pcc trust '/a b'"
BROUGHT = (
    "What this project brings along for Claude Code (.claude/settings.json) does not count until"
    f" you have looked at it: {LOOK}"
)
STRICTER = f".perpetualcc/policy.toml counts only where it is stricter; to look at it: {LOOK}"


@pytest.mark.parametrize(
    ("surfaces", "trusted", "notes"),
    [
        ([], False, []),
        ([WORDS], False, []),
        ([HOOK, WORDS, POLICY], True, []),
        ([HOOK, WORDS, POLICY], False, [BROUGHT]),
        ([POLICY], False, [STRICTER]),
        ([POLICY, MISTAKE], False, ["it has a mistake"]),
        ([POLICY, MISTAKE], True, ["it has a mistake"]),
    ],
)
def test_what_is_not_trusted_and_what_is_wrong(surfaces, trusted, notes):
    brought = {"project": "/a b", "trusted": trusted, "surfaces": surfaces}

    assert list(_brought_along(brought)) == notes
