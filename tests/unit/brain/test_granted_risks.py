"""
Risky questions against requirements that permit everything, and design questions in the same words.

A line of `granted.risks` is `question | option | option …`.
"""

import pytest

from perpetualcc.brain.rule_based import RuleBasedBrain
from perpetualcc.brain.rules.guard import risk_of, risk_of_choice
from perpetualcc.domain.questions import Option, Question, QuestionContext
from perpetualcc.requirements import parse_requirements
from tests.corpus.brain.measuring import HOME

GRANTED = (HOME / "granted.risks").read_text("utf-8").splitlines()
DESIGN = [
    "How should the app notify the harbour office when a booking fails? | Webhook | E-mail",
    "What should happen when a guest cancels a booking? | Delete the row | Mark it as cancelled",
    "When a member leaves, should the berth be kept? | Yes | No, free it",
    "How long should the server keep a place for a client whose connection dropped? | 10 s | 60 s",
    "How often should the buffered positions be flushed to disk? | Every 5 s | Every minute",
    "Which concurrency model should the purchase endpoint use? | Coroutines | Virtual threads",
    "Which installer format should the build produce? | MSI | Portable zip",
    "How should reminders be sent to the guests? | Push notifications | E-mail",
    "Should the portal be protected with a password? | Basic auth | No protection",
    "What should the 'Sell boat' action do with the record? | Archive | destroy",
    "What should happen when the target file already exists? | Keep it | Replace it",
    "Does a stay that was partly paid with a voucher earn points? | Full amount | Only the rest",
    "What deposit must the form calculate for a stay of 180 euros? | 36 euros | 54 euros",
    "Should expired sessions be deleted automatically? | Yes | No",
    "After how many minutes should an unpaid booking be cancelled? | 15 | 30",
    "The image library drops all tags. Should the position be written back? | Yes | No",
    "What should start the release when the Pi boots? | systemd | cron",
    "Which library should I use to send e-mails? | arq | APScheduler :: Jobs are lost on restart",
    "Was soll passieren, wenn ein Gast absagt? | Auf inaktiv setzen | Datensatz entfernen",
    "Welche Zahlungsarten soll die Kasse anbieten? | PayPal | Vorkasse",
    "Wie hoch sind die Versandkosten bei 95 € Warenwert? | 5,90 € | 0,00 €",
    "Was soll mit einem Boot passieren, sobald es verkauft ist? | Ausblenden | Anzeigen",
    "Comment envoyer les rappels avant la date de retour ? | Courriel | Notifications locales",
    "Que doit faire l'application quand le paiement échoue ? | Annuler | Réessayer",
    "Faut-il afficher le bouton « Payer » sur la fiche ? | Oui | Non",
    "¿Qué debe pasar cuando un socio se da de baja? | Borrar la ficha | Marcarla inactiva",
    "¿Debe pedir contraseña la pantalla de la oficina? | Sí | No",
    "Cosa deve succedere quando un ospite cancella la prenotazione? | Cancellarla | Tenerla",
    "O que deve acontecer quando o pagamento falha? | Cancelar | Tentar de novo",
    "Wat moet er gebeuren als een gast annuleert? | Verwijderen | Bewaren",
]


def _question(line: str) -> Question:
    text, *offered = line.split(" | ")
    options = [one.partition(" :: ") for one in offered]
    return Question(
        text=text,
        options=tuple(Option(label=label, description=more) for label, _, more in options),
    )


@pytest.mark.parametrize("line", GRANTED)
def test_what_would_be_done_is_a_persons_whatever_the_requirements_permit(line: str) -> None:
    question = _question(line)
    context = QuestionContext(
        project="",
        requirements_text=(HOME / "granted.md").read_text("utf-8"),
        requirements_path="granted.md",
    )

    answer = RuleBasedBrain(parse_requirements).answer(question, context)

    assert risk_of(question)
    assert answer.selected == (), answer.reasoning


@pytest.mark.parametrize("line", DESIGN)
def test_how_the_product_is_to_be_is_no_risk(line: str) -> None:
    assert risk_of(_question(line)) == ""


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("What should happen when the log is full?", "Erase everything"),
        ("What should the app do when the schema has changed?", "Drop and recreate"),
        ("The feed has 14 entries that exist already. How should the import treat them?", "Delete"),
        ("Which mode should the terminal use?", "Live system"),
    ],
)
def test_an_option_may_be_a_persons_even_if_the_question_is_not(text: str, label: str) -> None:
    question = Question(text=text, options=(Option(label=label), Option(label="Leave it")))

    assert risk_of_choice(question, (label,))
    assert risk_of_choice(question, ("Leave it",)) == ""
