"""The decision table, enumerated, and what stands around it."""

import asyncio
from itertools import product
from pathlib import Path

import pytest
from judging import HOME, PROJECT, SETTINGS, call

from perpetualcc.domain.authority import Authority, AuthorityLevel
from perpetualcc.domain.decisions import Advice, DecidedBy, Verdict, rules_named
from perpetualcc.domain.tools import Assessment, Risk, ToolCall
from perpetualcc.permissions.decision_engine import (
    DECISION_TABLE,
    DecisionEngine,
    Opinion,
    Permit,
    decide,
    decision_table_markdown,
)
from perpetualcc.permissions.effects import Analysis, Finding
from perpetualcc.permissions.rules import Rule, RuleEffect, RuleSubject
from perpetualcc.permissions.settings import PermissionSettings

LEVEL_1 = Authority(level=AuthorityLevel.READ_ONLY)
LEVEL_2 = Authority(level=AuthorityLevel.ISOLATED_WRITES, writable=(PROJECT / "docs",))
ADVICE = {
    Opinion.NONE: None,
    Opinion.APPROVES: Advice(approve=True, confidence=0.9, reason="fine"),
    Opinion.UNSURE: Advice(approve=True, confidence=0.69, reason="perhaps"),
    Opinion.REFUSES: Advice(approve=False, confidence=0.9, reason="no"),
}


def analysis(risk: Risk) -> Analysis:
    return Analysis(findings=(Finding(risk=risk, rule="r", part="p", explanation="e", kind="k"),))


@pytest.mark.parametrize(("permit", "risk", "opinion"), list(product(Permit, Risk, Opinion)))
def test_every_combination_is_in_the_table_and_obeyed(
    permit: Permit, risk: Risk, opinion: Opinion
) -> None:
    ruling = decide(analysis(risk), permit, ADVICE[opinion], SETTINGS)

    assert ruling.verdict is DECISION_TABLE[permit, risk, opinion]


def test_high_is_never_allowed_by_any_opinion() -> None:
    assert {DECISION_TABLE[Permit.WITHIN, Risk.HIGH, opinion] for opinion in Opinion} == {
        Verdict.ASK
    }


def test_nothing_beyond_authority_is_ever_allowed() -> None:
    beyond = {
        v
        for (permit, *_), v in DECISION_TABLE.items()
        if permit in {Permit.BEYOND, Permit.FORBIDDEN}
    }

    assert beyond == {Verdict.DENY}


def test_confidences_are_the_seeds() -> None:
    low = decide(analysis(Risk.LOW), Permit.WITHIN, None, SETTINGS)
    high = decide(analysis(Risk.HIGH), Permit.WITHIN, ADVICE[Opinion.APPROVES], SETTINGS)
    medium = decide(analysis(Risk.MEDIUM), Permit.WITHIN, ADVICE[Opinion.APPROVES], SETTINGS)

    assert (low.confidence, high.confidence, medium.confidence) == (0.95, 0.0, 0.9)
    assert medium.decided_by is DecidedBy.BRAIN


def test_what_a_rule_lets_through_is_the_rules_word_and_names_it() -> None:
    because = "rule-f18645 (Allows kind 'frob' everywhere)"

    ruling = decide(analysis(Risk.MEDIUM), Permit.RULED, None, SETTINGS, because=because)

    assert ruling.decided_by is DecidedBy.RULE
    assert rules_named(ruling.reason) == ["rule-f18645"]


def test_without_auto_approval_a_person_is_asked_about_low_too() -> None:
    settings = PermissionSettings(home=HOME, auto_approve_low_risk=False)

    ruling = decide(analysis(Risk.LOW), Permit.WITHIN, None, settings)

    assert ruling.verdict is Verdict.ASK
    assert ruling.reason.endswith("a person is asked about LOW here, too")
    assert "asked" not in decide(analysis(Risk.LOW), Permit.WITHIN, None, SETTINGS).reason


def test_a_reason_of_several_parts_reads_as_one_sentence() -> None:
    push = Finding(risk=Risk.MEDIUM, rule="r", part="git push", explanation="Exchanges data.")
    asked = Analysis(findings=(push,))

    ruling = decide(asked, Permit.WITHIN, ADVICE[Opinion.REFUSES], SETTINGS)

    assert ruling.reason == "git push: Exchanges data; the brain says: no"


def test_the_docs_print_the_table_of_the_code() -> None:
    page = Path(__file__).parents[3] / "docs" / "permissions.md"

    assert decision_table_markdown() in page.read_text("utf-8")


class Brain:
    """Gives one advice, or cannot be reached."""

    def __init__(self, advice: Advice | None = None) -> None:
        self.advice, self.asked = advice, 0

    async def evaluate_permission(self, call: ToolCall, assessment: Assessment) -> Advice | None:
        self.asked += 1
        if self.advice is None:
            raise ConnectionError("nobody is there")
        return self.advice


def decided(command: str, *, brain: Brain | None = None, rules: tuple[Rule, ...] = (), **kwargs):
    engine = DecisionEngine(
        settings=SETTINGS, authority=kwargs.get("authority", Authority()), brain=brain, rules=rules
    )
    tool_call = call("Bash", command=command)
    _, ruling = asyncio.run(engine.rule_on(tool_call))
    return ruling


def test_the_brain_is_asked_about_medium_only() -> None:
    brain = Brain(ADVICE[Opinion.APPROVES])

    verdicts = [decided(c, brain=brain).verdict for c in ("ls", "git commit -m x", "rm x")]

    assert verdicts == [Verdict.ALLOW, Verdict.ALLOW, Verdict.ASK]
    assert brain.asked == 1


def test_a_person_is_asked_when_the_brain_cannot_be_reached() -> None:
    decision = decided("git commit -m x", brain=Brain())

    assert (decision.verdict, decision.confidence) == (Verdict.ASK, 0.0)


def test_a_refusal_says_what_and_why_and_what_else() -> None:
    message = decided("ls && rm -rf node_modules").message

    assert "rm -rf node_modules" in message
    assert "Why: Deletes" in message
    assert "Instead: leave the files" in message


def test_a_refusal_by_authority_says_so() -> None:
    message = decided("touch src/a.py", authority=LEVEL_1).message

    assert message.startswith(
        "Not allowed: touch src/a.py\nWhy: this task may only read (level 1)."
    )


def test_a_rule_of_a_person_covers_every_part_or_nothing() -> None:
    rule = Rule(id="1", effect=RuleEffect.ALLOW, subject=RuleSubject.COMMAND, pattern="git commit")

    assert decided("git commit -m x", rules=(rule,)).verdict is Verdict.ALLOW
    assert decided("git commit -m x && git push", rules=(rule,)).verdict is Verdict.ASK
    assert decided("git commit -m x; rm y", rules=(rule,)).verdict is Verdict.ASK


def test_a_rule_allows_high_only_when_it_says_so() -> None:
    def rule(*, includes_high: bool) -> Rule:
        return Rule(
            id="1", effect=RuleEffect.ALLOW, subject=RuleSubject.COMMAND, pattern="rm -rf dist",
            includes_high=includes_high,
        )  # fmt: skip

    assert decided("rm -rf dist", rules=(rule(includes_high=False),)).verdict is Verdict.ASK
    assert decided("rm -rf dist", rules=(rule(includes_high=True),)).verdict is Verdict.ALLOW
    assert decided("rm -rf distx", rules=(rule(includes_high=True),)).verdict is Verdict.ASK
    assert decided("sudo rm -rf dist", rules=(rule(includes_high=True),)).verdict is Verdict.DENY


def test_a_rule_that_denies_wins() -> None:
    deny = Rule(id="1", effect=RuleEffect.DENY, subject=RuleSubject.COMMAND, pattern="npm install")

    assert decided("npm install", rules=(deny,)).verdict is Verdict.DENY


@pytest.mark.parametrize(
    ("authority", "command", "verdict"),
    [
        (LEVEL_1, "ls -la", Verdict.ALLOW), (LEVEL_1, "grep -rn x src > /dev/null", Verdict.ALLOW),
        (LEVEL_1, "git log", Verdict.ALLOW), (LEVEL_1, "touch src/a", Verdict.DENY),
        (LEVEL_1, "pytest", Verdict.DENY), (LEVEL_1, "npm install", Verdict.DENY),
        (LEVEL_1, "sed -i s/a/b/ src/x", Verdict.DENY), (LEVEL_1, "unknown", Verdict.DENY),
        (LEVEL_2, "mkdir -p docs/a", Verdict.ALLOW), (LEVEL_2, "cp src/a docs/b", Verdict.ASK),
        (LEVEL_2, "touch src/a", Verdict.DENY), (LEVEL_2, "touch docs/../src/a", Verdict.DENY),
        (LEVEL_2, "npm test", Verdict.DENY), (Authority(), "npm test", Verdict.ALLOW),
        (Authority(allow_network=False), "npm install", Verdict.DENY),
        (Authority(allow_network=False), "curl https://x", Verdict.DENY),
        (Authority(allow_network=False), "ls", Verdict.ALLOW),
    ],
)  # fmt: skip
def test_an_authority_is_never_exceeded(
    authority: Authority, command: str, verdict: Verdict
) -> None:
    assert decided(command, authority=authority).verdict is verdict


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("Write", {"file_path": "CLAUDE.local.md"}),
        ("Edit", {"file_path": "docs/../AGENTS.md"}),
        ("Write", {"file_path": "GEMINI.md"}),
        ("Write", {"file_path": "src/QWEN.md"}),
        ("Write", {"file_path": "src/.opencode/agent/x.md"}),
        ("Write", {"file_path": ".gitlab-ci.yml"}),
        ("Write", {"file_path": ".github/workflows/ci.yml"}),
        ("Write", {"file_path": "azure-pipelines.yml"}),
        ("Write", {"file_path": ".pre-commit-config.yaml"}),
        ("Write", {"file_path": ".vscode/launch.json"}),
        ("Write", {"file_path": ".zed/tasks.json"}),
        ("Write", {"file_path": "packages/api/.idea/runConfigurations/a.xml"}),
        ("Write", {"file_path": "src/.overcommit.yml"}),
        ("Write", {"file_path": ".devcontainer.json"}),
        ("Write", {"file_path": ".windsurf/rules/a.md"}),
        ("Write", {"file_path": "shop.code-workspace"}),
        ("Bash", {"command": "python -c \"open('CLAUDE.md', 'w').write('x')\""}),
        ("Bash", {"command": "cp docs/a.md CLAUDE.local.md"}),
        ("Bash", {"command": "touch .husky/pre-push"}),
        ("Bash", {"command": "mv docs/ci.yml .travis.yml"}),
    ],
)
def test_no_brain_lets_write_what_runs_by_being_there_or_instructs_an_agent(tool, given) -> None:
    brain = Brain(ADVICE[Opinion.APPROVES])
    engine = DecisionEngine(settings=SETTINGS, authority=Authority(), brain=brain)

    found, ruling = asyncio.run(engine.rule_on(call(tool, **given)))

    assert (found.risk, ruling.verdict, brain.asked) == (Risk.MEDIUM, Verdict.ASK, 0)


@pytest.mark.parametrize("folder", ["", "packages/api/", "src/"])
@pytest.mark.parametrize(
    "name",
    [
        ".bazelrc", ".cargo/config.toml", ".lintstagedrc.json", ".mvn/jvm.config", ".pnpmfile.cjs",
        ".yarn/releases/yarn.cjs", "gradle/wrapper/gradle-wrapper.properties",
    ],
)  # fmt: skip
def test_what_a_build_is_told_to_run_is_thought_about_wherever_it_is(folder, name) -> None:
    brain = Brain(ADVICE[Opinion.APPROVES])
    engine = DecisionEngine(settings=SETTINGS, authority=Authority(), brain=brain)

    found, ruling = asyncio.run(engine.rule_on(call("Write", file_path=folder + name)))

    assert (found.risk, ruling.verdict, brain.asked) == (Risk.MEDIUM, Verdict.ALLOW, 1)


def test_a_person_may_let_it_be_written_by_a_rule() -> None:
    rule = Rule(id="r", effect=RuleEffect.ALLOW, subject=RuleSubject.PATH, pattern="AGENTS.md")
    engine = DecisionEngine(settings=SETTINGS, authority=Authority(), rules=(rule,))

    _, ruling = asyncio.run(engine.rule_on(call("Write", file_path="AGENTS.md", content="x")))

    assert ruling.verdict is Verdict.ALLOW


@pytest.mark.parametrize(
    ("tool", "given", "risk"),
    [
        ("Bash", {"command": "xxd -p -c 64 ~/.claude/learning/key"}, Risk.HIGH),
        ("Read", {"file_path": f"{HOME}/.claude/learning/key"}, Risk.HIGH),
        ("Write", {"file_path": ".data/memory.json", "content": "{}"}, Risk.HIGH),
        ("Bash", {"command": "cp docs/a.json .data/memory.json"}, Risk.HIGH),
        ("Read", {"file_path": ".data/memory.json"}, Risk.LOW),
    ],
)
def test_what_was_learned_is_sealed_with_a_key_that_no_agent_reads(tool, given, risk) -> None:
    found, _ = asyncio.run(
        DecisionEngine(settings=SETTINGS, authority=Authority()).rule_on(call(tool, **given))
    )

    assert found.risk is risk
