"""Where things belong, from what the project holds."""

from pathlib import Path

from perpetualcc.brain.rule_based import RuleBasedBrain
from perpetualcc.domain.questions import Option, Question, QuestionContext
from perpetualcc.requirements import parse_requirements


def ask(project: Path, text: str, *labels: str):
    question = Question(text=text, options=tuple(Option(label=label) for label in labels))
    return RuleBasedBrain(parse_requirements).answer(
        question, QuestionContext(project=str(project))
    )


def test_the_only_place_that_exists_is_inferred(tmp_path: Path) -> None:
    (tmp_path / "src/models").mkdir(parents=True)

    answer = ask(tmp_path, "Where should I put the new model?", "src/models/", "app/models/")

    assert answer.selected == ("src/models/",)
    assert answer.confidence == 0.7


def test_two_places_that_exist_are_a_person_s_choice(tmp_path: Path) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "c/d").mkdir(parents=True)

    assert ask(tmp_path, "Where should I put the file?", "a/b/", "c/d/").confidence == 0.0


def test_nothing_outside_the_project_is_looked_at(tmp_path: Path) -> None:
    project = tmp_path / "p"
    project.mkdir()

    assert ask(project, "Where should I put the file?", "../", "src/x/").confidence == 0.0
