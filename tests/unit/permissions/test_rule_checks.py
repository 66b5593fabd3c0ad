"""A rule that could never match is refused; none that could is."""

import json
from pathlib import Path

import pytest
from judging import SETTINGS

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.tools import ToolCall
from perpetualcc.permissions.kinds import is_kind
from perpetualcc.permissions.risk_classifier import analyse
from perpetualcc.permissions.rule_checks import lets_through, not_changed, refuse_dead
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
        ("kind", "rm -rf"),
        ("kind", "rm build"),
        ("kind", "rm *"),
        ("kind", "git commit -m"),
        ("kind", "git push origin"),
        ("kind", "psql drop table"),
        ("kind", "write"),
        ("kind", "write src"),
        ("kind", "read ssh"),
        ("kind", "network"),
        ("kind", "WebFetch"),
        ("kind", "Write"),
        ("kind", "mcp__github__create_issue"),
        ("kind", "fetch https://example.org/x"),
        ("kind", "x\ny"),
        ("kind", " rm"),
        ("path", "docs/"),
        ("path", "./docs/*.md"),
        ("path", "../other/*"),
        ("path", "/a/../b"),
        ("path", "~/notes/*"),
        ("path", "data/*.{csv,tsv}"),
        ("path", "!docs/*"),
        ("command", "npm run deploy*"),
        ("command", "rm *"),
        ("command", "^git push"),
        ("line", "git push 'x"),
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
        ("kind", "rm"),
        ("kind", "npm run deploy"),
        ("kind", "psql drop"),
        ("kind", "mongosh dropdatabase"),
        ("kind", "sqlite3 delete"),
        ("kind", "python inline"),
        ("kind", "git commit -c"),
        ("kind", "read"),
        ("kind", "read ssh-keys"),
        ("kind", "write git-internals"),
        ("kind", "set LD_PRELOAD"),
        ("kind", "blocked curl | sh"),
        ("kind", "syntax error"),
        ("path", "docs/*.md"),
        ("path", "/srv/data/**"),
        ("path", "README.md"),
    ],
)
def test_what_could_match_is_kept(subject: str, pattern: str) -> None:
    kept = rule(subject, pattern)

    refuse_dead(kept, SETTINGS)

    assert kept.pattern == pattern


@pytest.mark.parametrize(
    ("pattern", "hint"),
    [
        ("rm -rf", "of the kind 'rm'; or pcc rules add deny command 'rm -rf'"),
        ("git commit -m", "of the kind 'git commit'"),
        ("write", "'write project'"),
        ("WebFetch", "pcc explain WebFetch"),
        ("TodoWrite", "'tool TodoWrite'"),
        ("nonsense kind", "of the kind 'nonsense'"),
        (" rm", "pcc explain"),
    ],
)
def test_what_would_match_is_said(pattern: str, hint: str) -> None:
    with pytest.raises(PerpetualError) as refused:
        refuse_dead(rule("kind", pattern), SETTINGS)

    assert hint in str(refused.value.hint)


@pytest.mark.parametrize("name", ["everyday", "medium", "high", "lookalike", "tools"])
def test_every_kind_that_is_ever_found_can_be_ruled_on(name: str) -> None:
    kinds = set()
    for line in (CORPUS / f"{name}.jsonl").read_text().splitlines()[::4]:
        case = json.loads(line)
        given = case.get("input", {"command": case.get("command")})
        call = ToolCall(tool=case.get("tool", "Bash"), input=given, project=Path("/project"))
        kinds |= {finding.kind for finding in analyse(call, SETTINGS).findings if finding.kind}

    # What nobody types: the arguments of `osascript`, and names that were cut off.
    typed = {kind for kind in kinds if kind == kind.strip() and '"' not in kind}
    assert len(typed) > 10
    assert {kind for kind in typed if not is_kind(kind, SETTINGS)} == set()


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


@pytest.mark.parametrize(
    ("subject", "pattern", "effect", "high", "is_said"),
    [
        ("kind", "rm", "allow", True, True),
        ("kind", "read ssh-keys", "allow", True, True),
        ("kind", "rm", "allow", False, False),
        ("kind", "rm", "deny", True, False),
        ("kind", "git commit", "allow", True, False),
        ("command", "docker", "allow", True, True),
        ("command", "docker compose up", "allow", True, True),
        ("path", "/*", "allow", True, True),
        ("command", "rm -rf build", "allow", True, True),
        ("line", "rm -rf build", "allow", True, False),
        ("path", "docs/*", "allow", True, False),
    ],
)
def test_a_rule_that_lets_all_of_a_dangerous_kind_through_is_told(
    subject: str, pattern: str, effect: str, high: bool, is_said: bool
) -> None:
    told = lets_through(rule(subject, pattern, effect=effect, high=high), SETTINGS)

    assert ("is let through in every project" in told) == is_said


@pytest.mark.parametrize("subject", ["kind", "command"])
def test_a_program_that_nobody_knows_is_pointed_out(subject: str) -> None:
    """A deny rule with a typo would stop nothing."""
    assert "'terrafrom'" in not_changed(rule(subject, "terrafrom"), SETTINGS)
    for known in ("terraform", "read ssh-keys", "fetch example.org", "deploy ./bin/deploy"):
        assert not_changed(rule(subject, known), SETTINGS) == ""


@pytest.mark.parametrize(
    ("pattern", "effect", "high", "is_said"),
    [
        ("rm", "allow", False, True),
        ("rm", "allow", True, False),
        ("rm", "deny", False, False),
        ("git push --force", "allow", False, True),
        ("read ssh-keys", "allow", False, True),
        ("write git-internals", "allow", False, True),
        ("git commit", "allow", False, False),
        ("history", "allow", False, False),
        ("write .md project", "allow", False, False),
    ],
)
def test_a_kind_that_is_high_stays_so_unless_the_rule_says_it(
    pattern: str, effect: str, high: bool, is_said: bool
) -> None:
    told = not_changed(rule("kind", pattern, effect=effect, high=high), SETTINGS)

    assert ("--high" in told) is is_said
