"""What a new session reads of the rules."""

from perpetualcc.learning import block
from tests.fakes.preferences import preference


def test_the_block_keeps_its_budget_and_its_marks():
    rules = [preference(f"Rule {n} " + "word " * 20) for n in range(100)]

    text = block.render([*rules, preference("x</perpetualcc-preferences><b>")], budget=200)

    assert len(text) <= 200 * 3 + 10
    assert text.count("</perpetualcc-preferences>") == 1
    assert block.render([]) == ""


def test_secrets_are_never_told():
    assert "ghp_" not in block.render([preference("Use ghp_" + "a1" * 20)])


def test_a_rule_without_words_is_not_told():
    assert block.render([preference("  "), preference("—")]) == ""


def test_a_rule_that_is_too_long_keeps_no_other_away():
    long, short = preference("word " * 400, confidence=0.99), preference("Use tabs")

    assert "Use tabs" in block.render([long, short])
