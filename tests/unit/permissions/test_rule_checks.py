"""A rule that could never match is refused; none that could is."""

import json
from pathlib import Path

import pytest
from judging import SETTINGS

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.tools import ToolCall
from perpetualcc.permissions.risk_classifier import analyse
from perpetualcc.permissions.rule_checks import is_kind, not_changed, refuse_dead
from perpetualcc.permissions.rules import Rule, RuleEffect, RuleSubject

CORPUS = Path(__file__).parents[2] / "corpus"


def rule(subject: str, pattern: str, *, effect: str = "deny", high: bool = False) -> Rule:
    return Rule(
        id="r", effect=RuleEffect(effect), subject=RuleSubject(subject), pattern=pattern,
        includes_high=high,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("subject", "pattern"),
    [
        ("command", "git commit && rm"),
        ("command", "cat a | sh"),
        ("command", "git commit -m 'fix"),
        ("command", "if x"),
        ("command", "make > log"),
        ("command", "# nothing"),
        ("kind", "nonsense kind"),
        ("kind", "nonsense bin/kind"),
        ("path", "docs/"),
        ("path", "./docs/*.md"),
        ("path", "../other/*"),
        ("path", "/a/../b"),
        ("path", "~/notes/*"),
    ],
)
def test_what_can_never_match_is_refused(subject: str, pattern: str) -> None:
    with pytest.raises(PerpetualError) as refused:
        refuse_dead(rule(subject, pattern), SETTINGS)

    assert refused.value.hint


@pytest.mark.parametrize(
    ("subject", "pattern"),
    [
        ("command", "docker compose"),
        ("command", "mytool --fast"),
        ("command", "git commit -m 'fix bug'"),
        ("command", "FOO=1 make"),
        ("command", "./run.sh"),
        ("command", "cd"),
        ("kind", "git commit"),
        ("kind", "git push --force"),
        ("kind", "mytool"),
        ("kind", "write .md project"),
        ("kind", "tool mcp__github__create_issue"),
        ("kind", "fetch example.org"),
        ("path", "docs/*.md"),
        ("path", "/srv/data/**"),
        ("path", "README.md"),
    ],
)
def test_what_could_match_is_kept(subject: str, pattern: str) -> None:
    kept = rule(subject, pattern)

    refuse_dead(kept, SETTINGS)

    assert kept.pattern == pattern


@pytest.mark.parametrize("name", ["everyday", "medium", "high", "lookalike", "tools"])
def test_every_kind_that_is_ever_found_can_be_ruled_on(name: str) -> None:
    kinds = set()
    for line in (CORPUS / f"{name}.jsonl").read_text().splitlines()[::4]:
        case = json.loads(line)
        given = case.get("input", {"command": case.get("command")})
        call = ToolCall(tool=case.get("tool", "Bash"), input=given, project=Path("/project"))
        kinds |= {finding.kind for finding in analyse(call, SETTINGS).findings if finding.kind}

    assert len(kinds) > 10
    assert {kind for kind in kinds if not is_kind(kind, SETTINGS)} == set()


@pytest.mark.parametrize(
    ("pattern", "high", "said"),
    [
        ("rm -rf /", True, "stays blocked"),
        ("rm build", False, "--high"),
        ("rm build", True, ""),
        ("docker compose", False, ""),
        ("git status", False, ""),
    ],
)
def test_what_an_allowing_rule_leaves_is_said(pattern: str, high: bool, said: str) -> None:
    told = not_changed(rule("command", pattern, effect="allow", high=high), SETTINGS)

    assert (said in told) if said else told == ""
