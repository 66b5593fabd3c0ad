"""
Which questions only a person answers.

The left column is risky whatever the requirements say; the right one talks of the same things
without doing them.
"""

import pytest

from perpetualcc.brain.rules.guard import risk_of, risk_of_choice
from perpetualcc.domain.questions import Option, Question

RISKY = [
    "Should I delete the old table?",
    "Can I remove the unused records?",
    "Shall I drop the users table?",
    "Reset the database?",
    "Should I force push to fix the history?",
    "May I run git reset --hard?",
    "Push the branch now?",
    "Should I open a pull request?",
    "Merge into main?",
    "Publish version 2 to npm?",
    "Ready to go live?",
    "Deploy to staging?",
    "Should I restart the servers?",
    "Run the migration on the production database?",
    "Which production credentials should I use?",
    "Should I backfill the existing rows?",
    "Buy the domain name?",
    "It costs $30 a month. Continue?",
    "Upgrade to the paid plan?",
    "Which API key should I use?",
    "Should I commit the .env file?",
    "Disable certificate verification?",
    "Skip the failing tests?",
    "Should I send the invitations to all users?",
    "E-mail the customers?",
    "Which license should the project have?",
    "Is this GDPR compliant?",
    "This will break the public API. Continue?",
    "Soll ich die Datenbank zurücksetzen?",
    "Soll ich jetzt veröffentlichen?",
    "¿Elimino los archivos?",
    "Dois-je supprimer les fichiers ?",
    "Devo apagar os registros?",
    "Devo cancellare i dati?",
    "Moet ik de bestanden verwijderen?",
    "Czy usunąć stare pliki?",
    "Удалить старые данные?",
    "本番環境にデプロイしますか?",
    "要删除旧数据吗?",
    "오래된 데이터를 삭제할까요?",
    "Eski dosyaları sileyim mi?",
    "\u0394\u03b9\u03b1\u03b3\u03c1\u03b1\u03c6\u03ae;",  # Greek: to delete
    "هل أحذف الملفات؟",
    "Should I de\u00adlete\u200b the table?",
    "\uff24\uff45lete the table?",
]
HARMLESS = [
    "Which database should I use?",
    "How should soft deletes be implemented?",
    "Which HTTP status should the DELETE endpoint return?",
    "Which payment provider should be integrated?",
    "Which password hashing algorithm?",
    "How long should the password reset link be valid?",
    "Which service for push notifications?",
    "Which deployment target?",
    "Which pub/sub system?",
    "Should the menu be a drop-down?",
    "Should I proceed with the next task?",
    "Should I run the tests?",
    "Welche Datenbank soll ich verwenden?",
    "¿Qué base de datos debo usar?",
    "どのデータベースを使いますか?",
]


def question(text: str, *options: Option) -> Question:
    return Question(text=text, options=options or (Option(label="Yes"), Option(label="No")))


@pytest.mark.parametrize("text", RISKY)
def test_a_person_answers(text: str) -> None:
    assert risk_of(question(text))


@pytest.mark.parametrize("text", HARMLESS)
def test_rules_may_answer(text: str) -> None:
    assert risk_of(question(text)) == ""


@pytest.mark.parametrize(
    "option",
    [
        Option(label="Force push"),
        Option(label="Drop the table and recreate it"),
        Option(label="Production"),
        Option(label="Option A", description="Deletes all existing rows"),
        Option(label="Fast", description="Cannot be undone"),
        Option(label="Option A", preview="-- migration 12\nDROP TABLE users;\n"),
    ],
)
def test_a_risky_option_makes_the_question_risky(option: Option) -> None:
    assert risk_of(question("How should I go on?", option, Option(label="Wait")))


def test_a_description_may_praise() -> None:
    option = Option(label="PostgreSQL", description="Battle-tested in production, never loses data")

    assert risk_of(question("Which database?", option, Option(label="SQLite"))) == ""


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("What should happen when the event log is full?", "Overwrite the oldest entry"),
        ("A customer sends 300 KB. What should happen?", "Discard it"),
        ("Some records have impossible temperatures. What should the load do?", "Drop them"),
        ("Two tablets edited a table while offline. Which change should win?", "Merge both"),
        ("How should a failed upload be handled?", "Send it again"),
    ],
)
def test_what_is_being_built_may_drop_and_overwrite(text: str, label: str) -> None:
    assert risk_of(question(text, Option(label=label), Option(label="Keep it"))) == ""


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("What should happen to the old backups?", "Delete them"),
        ("What should happen with the 400 stale branches?", "Delete them"),
        ("How should the duplicates in the customers table be handled?", "Drop the newer ones"),
        ("The branch diverged. What should I do?", "Overwrite the remote"),
        ("A migration is pending. What should I do?", "Drop the table"),
        ("What should happen when the log is full?", "Drop the table in production"),
        ("What should the script do now?", "Wipe the disk"),
        ("What should happen when a build is green?", "Deploy to production"),
    ],
)
def test_what_is_there_is_a_persons_to_give_up(text: str, label: str) -> None:
    assert risk_of(question(text, Option(label=label), Option(label="Keep it")))


CHOSEN = [
    (
        "Three tests fail. How do I get to green?",
        "Comment out",
        "Comment out the three tests",
        True,
    ),
    ("Drei Tests schlagen fehl. Wie weiter?", "Weglassen", "Die Tests auskommentieren", True),
    ("Três testes falham. Como chego ao verde?", "Comentar", "Comentar os três testes", True),
    ("Three tests fail. How do I get to green?", "Mend them", "Mend the parser", False),
    ("Which base should I take?", "Copy it", "Vendored, GPL-3.0", True),
    ("Which base should I take?", "Use the crate", "MIT, a dependency", False),
    ("How do the reviewers get the values?", "In git", "git add -f .env", True),
    ("How do the reviewers get the values?", "Example", ".env.example, names only", False),
    ("The plan replaces the database. What now?", "Apply", "terraform apply", True),
    ("The plan replaces the database. What now?", "Plan again", "terraform plan", False),
    ("The volume is full. Which should I free?", "All", "docker volume prune -a", True),
    ("Coverage is 71 %. How do I get past the gate?", "Lower it", "Lower the gate to 60 %", True),
    ("Five deposits are open. ¿Qué hacemos?", "Devolver", "Lanzar las 5 devoluciones", True),
]


@pytest.mark.parametrize(("text", "label", "description", "is_risky"), CHOSEN)
def test_an_option_that_would_be_chosen_is_read_for_what_it_does(
    text: str, label: str, description: str, *, is_risky: bool
) -> None:
    asked = question(text, Option(label=label, description=description), Option(label="Leave it"))

    assert bool(risk_of(asked) or risk_of_choice(asked, (label,))) is is_risky
