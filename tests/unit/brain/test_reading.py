"""What is read as one thing, and what is not: the same word, the same list, the same refusal."""

import pytest

from perpetualcc.brain.rule_based import RuleBasedBrain
from perpetualcc.brain.rules.choices import read_choices
from perpetualcc.brain.rules.evidence import Clause, read_evidence
from perpetualcc.brain.rules.terms import read_terms, values
from perpetualcc.brain.rules.text import unit_among
from perpetualcc.domain.questions import BrainAnswer, Option, Question, QuestionContext
from perpetualcc.requirements import parse_statements


def read(line: str) -> tuple[Clause, ...]:
    return read_evidence(parse_statements(f"# Constraints\n\n- {line}\n", "x.md"))


def ask(text: str, options: str, lines: str, *, many: bool = False) -> BrainAnswer:
    question = Question(
        text=text,
        header="",
        options=tuple(Option(label=label, description="") for label in options.split(" | ")),
        multi_select=many,
    )
    listed = "\n".join(f"- {line}" for line in lines.split(" | "))
    return RuleBasedBrain(parse_statements).answer(
        question,
        QuestionContext(
            project="",
            requirements_text=f"# Requirements\n\n{listed}\n",
            requirements_path="x.md",
        ),
    )


@pytest.mark.parametrize(
    "word",
    ["CLI11", "pybind11", "R4", "STU3", "float64", "int64", "i18n", "a11y", "p95", "MP3", "h264"],
)
def test_letters_and_digits_written_together_are_one_term(word: str) -> None:
    (only,) = values(read_terms(f"the {word}"))

    assert only == word.lower()


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("python3", {"@python"}),
        ("vue3", {"@vue"}),
        ("postgres16", {"@postgresql", "#16"}),
        ("node20", {"@nodejs", "#20"}),
        ("java21", {"@java", "#21"}),
        ("C99", {"@c", "#99"}),
        ("v2", {"#2"}),
        ("500ms", {"#0.5s"}),
        ("k8s", {"@kubernetes"}),
        ("S3", {"@s3"}),
        ("R 4", {"@r", "#4"}),
        ("第3章", {"第", "#3", "章"}),
    ],
)
def test_a_known_name_keeps_its_version_and_a_number_its_unit(text: str, terms: set[str]) -> None:
    assert values(read_terms(text)) == terms


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("^1.85.0", "1.85"),
        ("~2.4.0", "2.4"),
        (">=3.0", "3"),
        ("v1.0.0", "1"),
        ("OAuth2", "OAuth 2.0"),
        ("UTF-8", "utf8"),
        ("SHA-256", "SHA256"),
        ("ES 2022", "ES2022"),
        ("RFC-9457", "RFC 9457"),
        ("ISO 4217", "ISO4217"),
        ("DD.MM.YYYY", "dd.mm.yyyy"),
        ("TT.MM.JJJJ", "DD.MM.YYYY"),
        ("YYYY-MM-DD", "ISO 8601"),
    ],
)
def test_they_are_written_differently_and_are_one(one: str, other: str) -> None:
    assert values(read_terms(one)) == values(read_terms(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("3.10", "3.1"),
        ("1.85.1", "1.85"),
        ("10.0.0.0", "10"),
        ("R4", "R5"),
        ("R4", "4"),
        ("float64", "float32"),
        ("SHA-256", "SHA-512"),
        ("UTF-8", "UTF-16"),
        ("CLI11", "CLI"),
        ("DD/MM/YYYY", "MM/DD/YYYY"),
        ("DD Month YYYY", "Month DD, YYYY"),
        ("WCAG 2.2 A", "WCAG 2.2"),
    ],
)
def test_they_look_alike_and_are_two(one: str, other: str) -> None:
    assert values(read_terms(one)) != values(read_terms(other))


@pytest.mark.parametrize(
    "text",
    [
        "With which exit code should the tool end when an unknown flag is given?",
        "How many retries should an upload have?",
        "What is the limit of an account?",
        "Which tag should the image have?",
        "How large should the Go pool be?",
        "Which port should an instance use?",
        "What should the depth of an ora spinner be?",
        "What is the number of an unpaid order?",
        "Which status should an empty search return?",
        "How many rows should the page of an index have?",
    ],
)
def test_no_unit_of_another_language_is_read_out_of_english(text: str) -> None:
    assert unit_among(text) == ""


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("timeout_seconds", "seconds"),
        ("How many days should they be kept?", "days"),
        ("TTL in minutes", "minutes"),
        ("Durée de conservation par an", "an"),
        ("Délai en mois", "mois"),
        ("Aufbewahrung in Tagen", "tagen"),
        ("Frist in Wochen", "wochen"),
        ("Plazo en meses", "meses"),
        ("Taille maximale en Mo", "mo"),
        ("Scadenza in ore", "ore"),
    ],
)
def test_a_unit_is_read_in_its_own_language(text: str, unit: str) -> None:
    assert unit_among(text) == unit


@pytest.mark.parametrize(
    ("label", "is_universal"),
    [
        ("Every 10 minutes", False),
        ("Every hour", False),
        ("Every 5 seconds", False),
        ("Alle 10 Minuten", False),
        ("Jede Stunde", False),
        ("Cada 15 minutos", False),
        ("Cada hora", False),
        ("Toutes 10 minutes", False),
        ("Chaque semaine", False),
        ("Все 10 минут", False),
        ("Every file", True),
        ("Every request", True),
        ("All users", True),
        ("Always", True),
        ("Alle Dateien", True),
        ("Jede Anfrage", True),
        ("Todos los archivos", True),
        ("Cada pedido", True),
        ("Tous les champs", True),
        ("Chaque utilisateur", True),
    ],
)
def test_a_period_is_no_everything(label: str, is_universal: bool) -> None:
    question = Question(text="When?", options=(Option(label=label), Option(label="Never")))

    assert read_choices(question)[0].is_universal is is_universal


@pytest.mark.parametrize(
    ("line", "chosen"),
    [
        ("Do not use Redis, we run a single Postgres and nothing else", "@postgresql"),
        ("No Redis, Postgres does both", "@postgresql"),
        ("Never use MySQL, our cluster runs PostgreSQL", "@postgresql"),
        ("No Kafka, we have RabbitMQ", "@rabbitmq"),
        ("Avoid Webpack, everything builds with Vite", "@vite"),
        ("Kein Redis, wir nutzen PostgreSQL", "@postgresql"),
        ("Keine MongoDB, alles liegt in PostgreSQL", "@postgresql"),
        ("Pas de Redis, nous utilisons PostgreSQL", "@postgresql"),
        ("No usar Redis, usamos PostgreSQL", "@postgresql"),
        ("Geen Redis, wij gebruiken PostgreSQL", "@postgresql"),
        ("Не использовать Redis, мы храним все в PostgreSQL", "@postgresql"),
        ("No Jest here, use Vitest only", "@vitest"),
    ],
)
def test_who_does_something_else_says_it_positively(line: str, chosen: str) -> None:
    clauses = read(line)

    assert any(chosen in one.chosen for one in clauses)
    assert not any(chosen in one.refused for one in clauses)


@pytest.mark.parametrize(
    ("line", "refused"),
    [
        ("Do not use Redis, MySQL or MongoDB", "@mysql"),
        ("No Redis, no MySQL", "@mysql"),
        ("No Kafka, RabbitMQ", "@rabbitmq"),
        ("Never use Webpack, Rollup and Parcel", "@rollup"),
        ("Kein Redis, MySQL oder MongoDB", "@mongodb"),
        ("Keine MongoDB, wir wollen kein MySQL", "@mysql"),
        ("Pas de Redis, MySQL ou MongoDB", "@mysql"),
        ("No usar Redis, MySQL ni MongoDB", "@mongodb"),
        ("Geen Redis, MySQL of MongoDB", "@mysql"),
        ("Не использовать Redis, MySQL", "@mysql"),
    ],
)
def test_what_stands_on_in_the_list_is_refused_as_well(line: str, refused: str) -> None:
    clauses = read(line)

    assert any(refused in one.refused for one in clauses)
    assert not any(refused in one.chosen for one in clauses)


def test_against_refuses_only_where_somebody_is_against_it() -> None:
    assert "@postgresql" in read("Tests run against PostgreSQL")[0].chosen
    assert "@postgresql" in read("Checked against PostgreSQL 16")[0].chosen
    assert "@postgresql" in read("We decided against PostgreSQL")[0].refused
    assert "@postgresql" in read("The team is against PostgreSQL")[0].refused


@pytest.mark.parametrize(
    ("line", "terms"),
    [
        ("Payment reminders (7, 14 and 30 days overdue)", {"#604800s", "#2.592e+06s"}),
        ("Retry after 5, 10 and 20 seconds", {"#5s", "#10s", "#20s"}),
        ("Fristen: 7, 14 und 30 Tage", {"#604800s", "#2.592e+06s"}),
        ("Rappels après 7, 14 et 30 jours", {"#604800s", "#2.592e+06s"}),
        ("Avisos a los 7, 14 y 30 días", {"#604800s", "#2.592e+06s"}),
        ("Work between 10 and 90 minutes", {"#600s", "#5400s"}),
        ("10-90 minutes", {"#600s", "#5400s"}),
        ("Zwischen 5 und 10 Sekunden", {"#5s", "#10s"}),
        ("From 20 to 60 seconds", {"#20s", "#60s"}),
        ("A rooms list for 3, 4 and 5 people", {"#3", "#4", "#5"}),
    ],
)
def test_a_unit_at_the_end_holds_for_all_numbers(line: str, terms: set[str]) -> None:
    clauses = read(line)

    assert terms <= frozenset[str]().union(*(one.chosen for one in clauses))


LISTED = [
    ("Which channels should reminders use?", "Email | SMS | Push", "Notifications: e-mail and SMS"),
    (
        "At which points should a reminder be sent?",
        "7 days | 14 days | 30 days | 60 days",
        "Payment reminders (7, 14 and 30 days overdue)",
    ),
    (
        "Which appointment lengths should be offered?",
        "20 minutes | 40 minutes | 60 minutes | 30 minutes",
        "Appointments last 20, 40 or 60 minutes",
    ),
    (
        "Which themes should be included?",
        "Light | Dark | Sepia",
        "Light and dark theme are both required",
    ),
    (
        "Which themes should the dialog have?",
        "Light | Dark | Sepia",
        "Every component needs a dark and a light theme",
    ),
    (
        "Pour quels systèmes compiler l'outil ?",
        "Linux | Windows | macOS",
        "Compatible avec Linux et Windows",
    ),
    (
        "Which operating systems should it support?",
        "Linux | Windows | macOS",
        "Must be compatible with Linux and Windows",
    ),
    ("Which report formats should I implement?", "Text | JSON | HTML", "Reporters (text, JSON)"),
    ("Which shells should have completions?", "bash | zsh | fish", "Completions for bash and zsh"),
    (
        "Which validation cases should I implement?",
        "Thacker bowl | Dam break | Lid-driven cavity",
        "Validation against the Thacker bowl and the dam-break case",
    ),
]


@pytest.mark.parametrize(("text", "options", "line"), LISTED)
def test_a_list_answers_with_all_that_it_names(text: str, options: str, line: str) -> None:
    labels = options.split(" | ")

    answer = ask(text, options, line, many=True)

    assert list(answer.selected) == labels[:-1]


NOT_LISTED = [
    (
        "Which channels should marketing campaigns use?",
        "Email | SMS | Push",
        "Notifications: e-mail and SMS",
    ),
    (
        "Which channels should reminders use?",
        "Email | SMS | Push",
        "Notifications: e-mail, maybe SMS",
    ),
    (
        "Which channels should reminders use?",
        "Email | SMS | Push",
        "Notifications: e-mail and SMS | No SMS",
    ),
    ("Which export formats should it have?", "CSV | JSON | XML", "Formats: CSV or JSON, undecided"),
    (
        "Which themes should be included?",
        "Light | Dark | Sepia",
        "Light or dark theme: to be decided",
    ),
    (
        "Which operating systems should it support?",
        "Linux | Windows | macOS",
        "Maybe compatible with Linux and Windows",
    ),
    (
        "Which databases should it support?",
        "MySQL | PostgreSQL | SQLite",
        "Similar to tools for MySQL and PostgreSQL",
    ),
    (
        "Which report formats should I implement?",
        "Text | JSON | HTML",
        "Reporters (text, JSON), perhaps HTML",
    ),
    (
        "Which lengths should be offered?",
        "20 minutes | 40 minutes | 30 minutes",
        "Appointments last 20 or 40 minutes",
    ),
    (
        "Which shells should have completions?",
        "bash | zsh | fish",
        "Completions later for bash and zsh",
    ),
]


@pytest.mark.parametrize(("text", "options", "lines"), NOT_LISTED)
def test_a_list_that_may_be_read_otherwise_goes_to_a_person(
    text: str, options: str, lines: str
) -> None:
    answer = ask(text, options, lines, many=True)

    assert not answer.selected or answer.confidence < 0.7


@pytest.mark.parametrize(
    ("options", "line", "right"),
    [
        (
            "2025-03-14 | 14 March 2025 | March 14, 2025",
            "Date format: DD Month YYYY",
            "14 March 2025",
        ),
        ("2025-03-14 | 14.03.2025", "Date format: YYYY-MM-DD", "2025-03-14"),
        ("2025-03-14 | 14.03.2025", "Date format: DD.MM.YYYY", "14.03.2025"),
        ("14/03/2025 | 03/14/2025", "Date format: MM/DD/YYYY", "03/14/2025"),
        ("YYYY-MM-DD | DD.MM.YYYY", "Date format: ISO 8601", "YYYY-MM-DD"),
    ],
)
def test_a_date_stands_for_its_format(options: str, line: str, right: str) -> None:
    answer = ask("Which date format should I use?", options, line)

    assert answer.selected == (right,)


def test_dates_in_one_format_are_days() -> None:
    answer = ask(
        "Which date is the deadline?", "2025-03-14 | 2025-04-01", "Date format: YYYY-MM-DD"
    )

    assert not answer.selected


def test_what_only_is_wanted_is_chosen() -> None:
    answer = ask(
        "How should beans receive their dependencies?",
        "Constructor injection | Field injection | Setter injection",
        "No field injection, constructor injection only",
    )

    assert answer.selected == ("Constructor injection",)
