"""The brain without AI answers what is written, and nothing else."""

from collections.abc import Sequence

import pytest

from perpetualcc.brain.rule_based import RuleBasedBrain
from perpetualcc.domain.questions import BrainAnswer, Option, Question, QuestionContext
from perpetualcc.requirements import parse_requirements

SHOP = """\
# Project: Shop

## Preferences
- Database: PostgreSQL
- Cache: Redis
- Language: Go
- Test framework: pytest

## Constraints
- Do not use MongoDB
- Access tokens expire after 15 minutes, refresh tokens after 7 days
"""

BRAIN = RuleBasedBrain(parse_requirements)


def ask(
    text: str, *labels: str, requirements: str = SHOP, header: str = "", many: bool = False
) -> BrainAnswer:
    question = Question(
        text=text,
        header=header,
        options=tuple(Option(label=label) for label in labels),
        multi_select=many,
    )
    context = QuestionContext(
        project="", requirements_text=requirements, requirements_path="shop.md"
    )
    return BRAIN.answer(question, context)


def test_an_answer_quotes_the_line_it_rests_on() -> None:
    answer = ask("Which database should we use?", "MySQL", "Postgres")

    assert answer.selected == ("Postgres",)
    assert answer.confidence == pytest.approx(0.9)
    assert answer.quote == "shop.md:4: Database: PostgreSQL"


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("Which message broker should we use?", ("Redis", "RabbitMQ")),
        ("Where should session data be stored?", ("Redis", "PostgreSQL")),
        ("Which search engine?", ("PostgreSQL", "Elasticsearch")),
        ("What looks good to you?", ("Go", "Stay")),
        ("Which database?", ("PostgreSQL 15", "PostgreSQL 16")),
        ("Which database?", ("MySQL", "SQLite")),
    ],
)
def test_a_preference_for_something_else_answers_nothing(text: str, labels: Sequence[str]) -> None:
    answer = ask(text, *labels)

    assert answer.selected == ()
    assert answer.confidence == 0.0


@pytest.mark.parametrize(
    ("text", "chosen"),
    [
        ("How long should access tokens be valid?", "15 min"),
        ("When should refresh tokens expire?", "1 week"),
    ],
)
def test_quantities_are_compared_in_any_unit(text: str, chosen: str) -> None:
    assert ask(text, "15 min", "1 hour", "1 week").selected == (chosen,)


def test_of_two_options_the_one_that_is_not_refused_is_inferred() -> None:
    refusal = "## Constraints\n- Do not use MongoDB\n"

    answer = ask("Which document store?", "MongoDB", "CouchDB", requirements=refusal)

    assert answer.selected == ("CouchDB",)
    assert answer.confidence == pytest.approx(0.7)


@pytest.mark.parametrize(
    "text",
    [
        "Should I delete the old table?",
        "Should I push to origin?",
        "Ready to deploy?",
        "Should I publish the package to npm?",
        "Shall I run the migration against production?",
        "Soll ich die alten Dateien löschen?",
        "¿Debo borrar la base de datos?",
        "古いファイルを削除しますか?",
    ],
)
def test_a_risky_question_is_for_a_person_even_when_it_looks_routine(text: str) -> None:
    answer = ask(text, "Yes", "No")

    assert answer.selected == ()
    assert answer.reasoning.startswith("Only a person may answer")


@pytest.mark.parametrize(
    ("text", "confidence"),
    [("Should I proceed?", 0.85), ("Should I run the tests?", 0.75)],
)
def test_going_on_and_standard_operations_are_routine(text: str, confidence: float) -> None:
    answer = ask(text, "Yes", "No")

    assert answer.selected == ("Yes",)
    assert answer.confidence == pytest.approx(confidence)


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("Which database?", ()),
        ("Which database?", ("PostgreSQL", "PostgreSQL")),
        ("Which database?", tuple(f"Option {number}" for number in range(200))),
        ("", ("PostgreSQL", "MySQL")),
    ],
)
def test_a_malformed_question_is_for_a_person(text: str, labels: Sequence[str]) -> None:
    assert ask(text, *labels).confidence == 0.0


@pytest.mark.parametrize("labels", [("PostgreSQL", "MySQL"), ("PostgreSQL", "SQLite")])
def test_when_the_named_product_is_not_offered_nothing_weaker_answers(
    labels: Sequence[str],
) -> None:
    requirements = "## Preferences\n- Database: MongoDB\n- Reports come from MySQL\n- no SQLite\n"

    answer = ask("Which database should we use?", *labels, requirements=requirements)

    assert answer.selected == ()
    assert "mongodb" in answer.reasoning


@pytest.mark.parametrize(
    "line",
    [
        "- Database: PostgreSQL or MySQL",
        "- Database: PostgreSQL/MySQL",
        "- Database: maybe PostgreSQL",
        "- Database: not PostgreSQL",
        "- Database (legacy): PostgreSQL",
        "- Database: to be decided, PostgreSQL?",
        "- We may use PostgreSQL as the database",
        "- The old database was PostgreSQL",
        "- Test database: PostgreSQL",
        "- Cache: PostgreSQL",
    ],
)
def test_what_is_only_mentioned_chooses_nothing(line: str) -> None:
    answer = ask(
        "Which database should we use?",
        "PostgreSQL",
        "MySQL",
        "SQLite",
        requirements=f"## Preferences\n{line}\n",
    )

    assert answer.selected == ()


def test_a_choice_that_another_line_refuses_is_for_a_person() -> None:
    requirements = "## Preferences\n- Cache: Redis\n## Constraints\n- Do not use Redis\n"

    assert ask("Which cache?", "Redis", "Memcached", requirements=requirements).selected == ()


@pytest.mark.parametrize(
    ("line", "label"),
    [
        ("- Language: JavaScript", "Java"),
        ("- Mobile: React Native", "React"),
        ("- It should look good", "Go"),
        ("- Database: MySQL", "SQL"),
        ("- Emergency stops react within 100 ms", "React"),
    ],
)
def test_a_part_of_a_word_or_name_is_not_the_word(line: str, label: str) -> None:
    text = "Which language, framework or database should I use?"

    answer = ask(text, label, "Something Different", requirements=f"## Preferences\n{line}\n")

    assert answer.selected == ()


def test_a_recommendation_in_a_label_is_no_evidence() -> None:
    answer = ask("Which linter?", "ESLint (Recommended)", "Biome")

    assert answer.selected == ()


NOTES = """\
# Clipper

- MV3, TypeScript strict, no framework, esbuild
- images stay links, we don't download them
- errors: toast, 4 s, never alert()
- Logs must never contain the guests' names
- Safari comes later
- Loyalty points and stock keeping are postponed.
- The event log is a ring buffer of 256 entries, the oldest one is overwritten
- Clips are exported as a zip file
- The toolbar lives in a shadow root
"""


@pytest.mark.parametrize(
    ("text", "labels", "right"),
    [
        ("Where should the toolbar be put?", ("In an iframe", "In a shadow root"), 1),
        ("How should a clip be exported?", ("As a PDF", "As a zip file"), 1),
        ("What should happen when the event log is full?",
         ("Stop logging", "Overwrite the oldest entry"), 1),
    ],
)  # fmt: skip
def test_what_no_rule_finds_is_weighed(text: str, labels: tuple[str, ...], right: int) -> None:
    answer = ask(text, *labels, requirements=NOTES)

    assert answer.selected == (labels[right],)
    assert answer.quote


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("Which icon colour should the toolbar have?", ("Blue", "Orange")),
        ("How many clips should be kept at most?", ("256", "500", "1000")),
        ("Should I rename all clips now?", ("Rename them", "Leave them")),
        ("Should a clip have a title?", ("Yes", "No")),
    ],
)
def test_shared_words_alone_decide_nothing(text: str, labels: tuple[str, ...]) -> None:
    assert ask(text, *labels, requirements=NOTES).selected == ()


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("Should I add the Safari target in this change?", ("Yes", "No, later")),
        ("Should I add loyalty points now?", ("Yes, add them", "No, leave them out")),
        ("Shall we build stock keeping into this version?", ("Build it", "Not now")),
    ],
)
def test_what_is_for_later_is_not_built_now(text: str, labels: tuple[str, ...]) -> None:
    assert ask(text, *labels, requirements=NOTES).selected == (labels[1],)


def test_two_labels_that_repeat_the_question_and_decline_are_yes_and_no() -> None:
    answer = ask(
        "May I include the guest's name in the log line?",
        "Include it", "Leave it out", requirements=NOTES,
    )  # fmt: skip

    assert answer.selected == ("Leave it out",)


def test_the_same_question_is_weighed_alike_every_time() -> None:
    text, labels = "How should a clip be exported?", ("As a PDF", "As a zip file")

    assert len({ask(text, *labels, requirements=NOTES) for _ in range(3)}) == 1
