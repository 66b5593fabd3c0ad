"""Which last words ask for something."""

import pytest

from perpetualcc.goals.last_words import question_at_the_end


@pytest.mark.parametrize(
    ("said", "asks"),
    [
        ("I looked at both. Which database should I use?", "Which database should I use?"),
        ("Done so far.\n\n**Shall I go on?** 🙂", "**Shall I go on?** 🙂"),
        ("Do you want A or B? I would take A.", "Do you want A or B?"),
        ("Which one?\n\n1. SQLite\n2. PostgreSQL\n", "Which one?"),
        ("Open questions:\n- Is Redis allowed?\n- Who deploys?", "- Who deploys?"),
        ("两个方案都可以。要继续吗？", "要继续吗？"),
        ("どちらにしますか？", "どちらにしますか？"),
        ("أي قاعدة بيانات أستخدم؟", "أي قاعدة بيانات أستخدم؟"),
        ("Soll ich weitermachen (ja/nein)?", "Soll ich weitermachen (ja/nein)?"),
    ],
)  # fmt: skip
def test_a_question_is_one_with_its_choices_and_a_word_behind_it(said, asks):
    assert question_at_the_end(said) == asks


@pytest.mark.parametrize(
    "said",
    [
        "",
        "All tests pass.",
        "Why did it fail? The cache was stale. I cleared it. It works now.",
        "Is it fast? Yes.\n\nThe report is in docs/speed.md.",
        "Added `a ? b : c`.",
        "Done:\n- the parser\n- the tests",
    ],
)
def test_what_was_asked_before_the_last_words_is_none(said):
    assert question_at_the_end(said) == ""
