"""What `pcc start` says of what a project brings along."""

import pytest

from perpetualcc.cli.start import _brought_along

POLICY = {"file": ".perpetualcc/policy.toml", "what": "policy", "detail": "safe_directories = []"}
MISTAKE = {"file": ".perpetualcc/policy.toml", "what": "mistake", "detail": "it has a mistake"}
HOOK = {"file": ".claude/settings.json", "what": "hook", "detail": "x.sh"}
WORDS = {"file": "CLAUDE.md", "what": "instructions", "detail": "9 bytes"}
LOOK = "to look at it: pcc trust '/a b'"


@pytest.mark.parametrize(
    ("surfaces", "trusted", "notes"),
    [
        ([], False, []),
        ([WORDS], False, []),
        ([HOOK, WORDS, POLICY], True, []),
        ([HOOK, WORDS, POLICY], False, [f".claude/settings.json will not count; {LOOK}"]),
        ([POLICY], False, [f".perpetualcc/policy.toml counts only where it is stricter; {LOOK}"]),
        ([POLICY, MISTAKE], False, ["it has a mistake"]),
        ([POLICY, MISTAKE], True, ["it has a mistake"]),
    ],
)
def test_what_is_not_trusted_and_what_is_wrong(surfaces, trusted, notes):
    brought = {"project": "/a b", "trusted": trusted, "surfaces": surfaces}

    assert list(_brought_along(brought)) == notes
