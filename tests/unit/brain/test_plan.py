"""Which task may be begun, and which comes next, as the requirements order them."""

import pytest

from perpetualcc.brain.rule_based import RuleBasedBrain
from perpetualcc.domain.questions import Option, Question, QuestionContext
from perpetualcc.requirements import parse_statements

PLAN = """\
# Project: Ferry

## Tasks
- [x] Skeleton and CI (priority: high)
- [ ] Timetable model (priority: high, depends_on: Skeleton and CI)
- [ ] Search for connections (priority: high, depends_on: timetable model)
- [ ] Seat map without a canvas (priority: medium, depends_on: timetable model)
- [ ] Ticket printing (priority: low, depends_on: search for connections)

## Constraints
- No search engine besides PostgreSQL, no printing through the browser
"""
ORDERED = """\
What to do, in this order
1. importers for the CSV files (done)
2. duplicate detection
3. monthly report
4. receipts

Rules
No network.
"""
BRAIN = RuleBasedBrain(parse_statements)


def ask(text: str, *labels: str, plan: str = PLAN, name: str = "r.md") -> tuple[str, ...]:
    question = Question(text=text, options=tuple(Option(label=label) for label in labels))
    context = QuestionContext(project="", requirements_text=plan, requirements_path=name)
    return BRAIN.answer(question, context).selected


@pytest.mark.parametrize(
    "text",
    [
        "The timetable model is finished and its tests pass. Shall I go on with the search?",
        "The timetable model and its migration are merged. Ready to proceed with the seat map?",
        "Search for connections is done, all tests green. Continue with ticket printing?",
        "Should I continue with the timetable model?",
    ],
)
def test_the_next_task_may_be_begun_whatever_else_is_refused(text: str) -> None:
    assert ask(text, "Yes, continue", "No, wait") == ("Yes, continue",)


@pytest.mark.parametrize(
    "text",
    [
        "Should I continue with ticket printing?",
        "The timetable model is finished. Shall I go on with the printing?",
        "The timetable model is finished, but two tests fail. Shall I go on with the search?",
        "The timetable model is finished. Shall I go on with the chat?",
    ],
)
def test_a_task_that_waits_or_is_none_or_stands_in_doubt_is_not_begun(text: str) -> None:
    assert ask(text, "Yes, continue", "No, wait") != ("Yes, continue",)


def test_whoever_wants_to_be_asked_is_asked() -> None:
    plan = PLAN + "- Stop after each task and wait for my review\n"
    text = "The timetable model is finished and its tests pass. Shall I go on with the search?"

    assert ask(text, "Yes, go on", "No, wait", plan=plan) == ()


def test_no_need_to_ask_is_no_wish_to_be_asked() -> None:
    plan = PLAN + "- No need to ask before the next task\n"
    text = "The timetable model is finished and its tests pass. Shall I go on with the search?"

    assert ask(text, "Yes, go on", "No, wait", plan=plan) == ("Yes, go on",)


def test_the_task_that_is_next_is_the_most_urgent_that_waits_for_nothing() -> None:
    text = "The timetable model is done. Which task should come next?"

    assert ask(text, "Ticket printing", "Seat map", "Connection search") == ("Connection search",)


def test_what_is_not_in_the_plan_leaves_the_next_task_open() -> None:
    text = "The timetable model is done. What should I work on next?"

    assert ask(text, "Connection search", "A chat") == ()
    assert ask(text, "Ticket printing", "Skeleton") == ()


def test_tasks_as_urgent_as_each_other_are_a_persons_choice() -> None:
    plan = "## Tasks\n- Login page\n- Settings page\n"

    assert ask("Which page should come first?", "Login page", "Settings page", plan=plan) == ()


def test_a_numbered_list_in_this_order_is_a_plan_in_plain_text() -> None:
    text = "Duplicate detection works and is tested. What comes next?"

    assert ask(text, "Receipts", "Monthly report", plan=ORDERED, name="r.txt") == (
        "Monthly report",
    )


def test_a_long_label_that_only_repeats_the_question_agrees() -> None:
    text = "The timetable model is done. Shall I continue with the search for connections now?"
    repeating = "Yes, please continue with the search for the connections now"
    adding = "Yes, continue with the search and rewrite the model to fit it"

    assert ask(text, repeating, "No, wait") == (repeating,)
    assert ask(text, adding, "No, wait") == ()


NAMED = """\
project: logs
tasks:
  - id: cli-skeleton
    description: Set up the argument parser with three subcommands
  - id: parsers
    description: Parse JSON lines and logfmt into one record type
    depends_on: [cli-skeleton]
  - id: filter
    description: Implement filter expressions on fields
    depends_on: [parsers]
  - id: T7
    description: Weekly report
    depends_on: [filter]
  - id: T8
    description: Vacation mode
    depends_on: [T7]
"""


@pytest.mark.parametrize(
    "text",
    [
        "The parsers are finished, all tests pass. Should I proceed with the filter expressions?",
        "The filter is finished. Shall I go on with the weekly report?",
        "T7 is done and committed. Shall I go on with T8, the vacation mode?",
        "Task T7 is complete. Shall I continue with the vacation mode?",
    ],
)
def test_a_task_is_told_to_be_done_by_its_id(text: str) -> None:
    assert ask(text, "Yes", "No", plan=NAMED, name="r.yaml") == ("Yes",)


@pytest.mark.parametrize(
    "text",
    [
        "The skeleton is finished. Should I proceed with the filter expressions?",
        "The parsers are finished. Shall I go on with the vacation mode?",
        "The tests for T7 are written. Shall I go on with T8, the vacation mode?",
        "The design of T7 is finished. Shall I go on with T8, the vacation mode?",
        "T7 is almost ready. Shall I go on with T8, the vacation mode?",
        "T7 is done, but two tests fail. Shall I go on with T8, the vacation mode?",
        "T7 ist nahezu fertig. Soll ich mit T8, dem vacation mode, fortfahren?",
    ],
)
def test_a_part_of_a_task_or_one_nearly_done_finishes_none(text: str) -> None:
    assert ask(text, "Yes", "No", plan=NAMED, name="r.yaml") == ()
