"""The last look: rare words, parts of a line, and what is doubted."""

import pytest

from perpetualcc.brain.rule_based import RuleBasedBrain
from perpetualcc.brain.rules.nearness import is_alike
from perpetualcc.domain.questions import Option, Question, QuestionContext
from perpetualcc.requirements import parse_requirements


@pytest.mark.parametrize(
    ("asked", "said", "alike"),
    [
        ("termin", "termine", True),
        ("nummer", "rechnungsnummer", True),
        ("impftermin", "termin", False),
        ("associator", "associ", True),
        ("password", "passwordless", False),
        ("contract", "contrast", False),
        ("@redis", "redis", False),
        ("go", "goes", False),
    ],
)
def test_forms_of_a_word_are_told_from_other_words(asked, said, alike):
    assert is_alike(asked, said) is alike


# A line, a question, its options, and the answer: none where a person must decide.
CASES = [
    ("Association is done with PyOcto.", "Which associator should I use?", "GaMMA PyOcto",
     "PyOcto"),
    ("Staging models are views, marts are tables.", "How should staging models be materialized?",
     "view table", "view"),
    ("Tickets are red, badges are blue.", "Which colour should badges have?", "red blue", "blue"),
    ("Drawings live in Foobase. Invoices go to Barbase.", "Where should invoices live?",
     "Foobase Barbase", "Barbase"),
    ("When a sensor fails, the heater stops and the pump starts.",
     "What should the heater do when a sensor fails?", "start,keep its state", None),
    ("Breaks are 30 minutes from 6 hours on and 45 minutes from 9 hours on.",
     "How long is a break for a shift of 9 hours?", "30 minutes,45 minutes", "45 minutes"),
    ("Builds run the modified models.", "What should the build run?", "All models,Nothing", None),
    ("style: no unsafe, no async", "Should the main loop be async?", "Yes No", "No"),
    ("style: no unsafe, no async", "Should it work without async?", "Yes No", None),
    ("One thread for a simulation.", "Should a simulation have several threads?", "Yes No", None),
]  # fmt: skip


@pytest.mark.parametrize(("line", "question", "options", "right"), CASES)
def test_a_line_answers_only_for_what_it_is_about(line, question, options, right):
    labels = options.split(",") if "," in options else options.split()
    brain = RuleBasedBrain(parse_requirements, weighs=False)

    answer = brain.answer(
        Question(text=question, header="", options=tuple(Option(label=label) for label in labels)),
        QuestionContext(
            project="", requirements_text=f"# Notes\n\n{line}\n", requirements_path="notes.md"
        ),
    )

    assert answer.selected == (() if right is None else (right,)), answer.reasoning


def test_a_table_with_a_column_of_numbers_has_its_keys_beside_it():
    text = "| # | Topic | Decision |\n|---|---|---|\n| 1 | BI tool | Metabase |\n"

    [found] = [one for one in parse_requirements(text, "x.md").statements if one.key]

    assert (found.key, found.text) == ("BI tool", "Metabase")
