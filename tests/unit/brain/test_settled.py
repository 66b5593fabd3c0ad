"""
Designs that name what is a person's, and acts in the same dress, in many languages.

A line is `requirement | question | option | option`; in `settled.designs` a star marks what the
requirement decides, and `settled.risks` names an option for each act nearly word for word.
"""

import pytest

from perpetualcc.brain.rule_based import SUGGESTED
from perpetualcc.brain.rules.guard import risk_of, risk_of_choice
from perpetualcc.brain.rules.settled import may_be_declined
from perpetualcc.domain.questions import Option, Question
from tests.corpus.brain.measuring import HOME, answer_of

DESIGNS = (HOME / "settled.designs").read_text("utf-8").splitlines()
RISKS = (HOME / "settled.risks").read_text("utf-8").splitlines()


@pytest.mark.parametrize("line", DESIGNS)
def test_a_line_decides_a_mechanism_and_whether_to_have_one(line: str) -> None:
    right = next(one for one in line.split(" | ") if one.endswith("*"))

    assert answer_of(line).selected == (right.rstrip("*"),)


@pytest.mark.parametrize("line", RISKS)
def test_an_act_in_the_dress_of_a_mechanism_is_a_persons(line: str) -> None:
    answer = answer_of(line)

    assert answer.selected == () or answer.confidence <= SUGGESTED, answer.quote


@pytest.mark.parametrize(
    ("text", "label", "is_risky"),
    [
        ("Wie weit ist es?", "Nach Entfernung sortieren", False),
        ("Which layer should I add after the embedding?", "Dropout", False),
        ("How should I name the list?", "Borrowed books", False),
        ("Which colour should I take for the page?", "Clearly lighter", False),
        ("Which part should I build?", "Video player", False),
        ("Which field should I show?", "Sender", False),
        ("Where should I keep the settings?", "Environment file", False),
        ("What should I do with the field?", "Wise default", False),
        ("Which colour should I give the marker?", "Invisible", False),
        ("How should I model it?", "Exclusion constraint", False),
        ("How should I go on with the rows?", "Clean them", True),
        ("How should I go on with the rows?", "Drop them", True),
        ("How should I go on with the list?", "Clear it", True),
        ("How should I go on with the letter?", "Send it", True),
        ("Wie weiter mit den Zeilen?", "Entfernen", True),
        ("Wat doen we met de rijen?", "Wissen", True),
        ("¿Qué hago con las filas?", "Borrarlas", True),
        ("Que faire des lignes ?", "Vider la table", True),
        ("O que faço com as linhas?", "Excluir", True),
        ("Che faccio con la lettera?", "Inviarla", True),
    ],
)
def test_a_word_is_risky_and_another_that_contains_it_is_not(
    text: str, label: str, *, is_risky: bool
) -> None:
    question = Question(text=text, options=(Option(label=label), Option(label="Leave it")))

    assert bool(risk_of(question) or risk_of_choice(question, (label,))) is is_risky


@pytest.mark.parametrize(
    ("text", "is_harmless"),
    [
        ("Should I add cloud upload as a backup?", True),
        ("The parser would be faster. Should I use an unsafe block?", True),
        ("Soll ich einen Newsletter einbauen?", True),
        ("Should I add a backup of the documents?", False),
        ("Should I add a confirmation for deleting?", False),
        ("Soll ich eine Anmeldung für die Verwaltung einbauen?", False),
        ("Should I delete the old table?", False),
        ("Should I push the branch?", False),
    ],
)
def test_only_what_keeps_nobody_safe_may_be_declined(text: str, *, is_harmless: bool) -> None:
    assert may_be_declined(text) is is_harmless


def test_what_a_line_wants_is_not_agreed_to_where_only_declining_is_harmless() -> None:
    answer = answer_of("Cloud upload: yes | Should I add cloud upload to Google Drive? | Yes | No")

    assert answer.selected == ()
    assert answer.reasoning.startswith("Only a person may answer")
