"""What a typed answer means, for each type of request, and how wrong ones are refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perpetualcc.domain.escalations import EscalationRequest, EscalationType
from perpetualcc.domain.ids import RequestId, RunId, SessionId, TaskId
from perpetualcc.human.answers import AnswerError, checked, choose, questions_of


def question(*labels: str, many: bool = False, text: str = "Which one?"):
    options = [{"label": label, "description": ""} for label in labels]
    return {"question": text, "header": "", "multiSelect": many, "options": options}


def request(kind: EscalationType, *questions):
    return EscalationRequest(
        session=SessionId("s"),
        run=RunId("r"),
        task=TaskId("t"),
        request=RequestId("q"),
        type=kind,
        title="Which one?",
        raw={"questions": list(questions)},
    )


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("2", "SQLite"),
        ("PostgreSQL", "PostgreSQL"),
        ("postgresql", "PostgreSQL"),
        (" SQLite ", "SQLite"),
        ("Neither, use files", "Neither, use files"),
        ("1, 2", AnswerError),
        ("3", AnswerError),
        ("0", AnswerError),
        ("", AnswerError),
        ("   ", AnswerError),
        ("99999999999999999999", AnswerError),
    ],
)
def test_an_answer_is_a_label_a_number_or_ones_own_words(typed, answer):
    asked = question("PostgreSQL", "SQLite")

    if answer is AnswerError:
        with pytest.raises(AnswerError):
            choose(asked, typed)
    else:
        assert choose(asked, typed) == answer


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("1,3", "a, c"),
        ("c, a", "c, a"),
        ("A, 2", "a, b"),
        ("1,1", "a"),
        ("2", "b"),
        ("a, and something else", "a, and something else"),
        ("1,4", AnswerError),
    ],
)
def test_several_may_be_chosen_where_that_is_offered(typed, answer):
    asked = question("a", "b", "c", many=True)

    if answer is AnswerError:
        with pytest.raises(AnswerError):
            choose(asked, typed)
    else:
        assert choose(asked, typed) == answer


def test_a_label_that_is_a_number_comes_before_the_place():
    assert choose(question("3", "2", "1"), "1") == "1"


@pytest.mark.parametrize(
    ("options", "own", "answer"),
    [
        ({}, "2", "2"),
        ({}, "8", "8"),
        ({"multiSelect": True}, "8, 2", "8, 2"),
        ({"amount": {"above": 1}}, "2", "2"),
        ({"amount": {"above": 1}}, "1", AnswerError),
        ({"options_only": True}, "2", AnswerError),
        ({}, "…", AnswerError),
        ({}, " ", AnswerError),
    ],
)
def test_own_words_are_never_an_options_number(options, own, answer):
    workers = {**question("4", "8"), **options}
    asked = request(EscalationType.QUESTION, workers)
    given = {"answers": {workers["question"]: {"own": own}}}

    if answer is AnswerError:
        with pytest.raises(AnswerError):
            checked(asked, given, number=3)
    else:
        assert checked(asked, given, number=3)["text"] == answer


def test_two_options_with_one_label_are_told_apart_by_their_place():
    assert choose(question("Yes", "Yes"), "2") == "Yes (option 2)"


def test_two_hundred_options_and_a_question_without_any_can_be_answered():
    assert choose(question(*(f"option {n}" for n in range(200))), "200") == "option 199"
    assert choose(question(), "42") == "42"


def test_each_of_several_questions_needs_its_answer():
    both = [question("a", "b", text="First?"), question("c", text="Second?")]
    asked = request(EscalationType.QUESTION, *both)

    given = checked(asked, {"answers": {"First?": "2", "Second?": "my own"}}, number=7)
    assert given == {"answers": {"First?": "b", "Second?": "my own"}, "text": "b; my own"}
    with pytest.raises(AnswerError, match="asks 2 questions"):
        checked(asked, {"text": "a"}, number=7)
    with pytest.raises(AnswerError, match="empty"):
        checked(asked, {"answers": {"First?": "a"}}, number=7)


@pytest.mark.parametrize(
    ("kind", "given", "expected"),
    [
        ("permission", {"approve": True}, {"approve": True}),
        ("permission", {"approve": False, "text": "no"}, {"approve": False, "text": "no"}),
        ("permission", {"approve": True, "always": True}, {"approve": True, "always": True}),
        ("permission", {"text": "yes, go on"}, AnswerError),
        ("permission", {"approve": False, "always": True}, AnswerError),
        ("review", {"text": "seen", "always": True}, AnswerError),
        ("question", {"approve": True}, AnswerError),
        ("review", {"text": "seen"}, {"text": "seen"}),
        ("review", {"approve": False}, {}),
        ("review", {"approve": True}, {"approve": True}),
        ("error", {"text": "Retry"}, {"approve": True, "text": "retry"}),
        ("error", {"text": "2"}, {"approve": False, "text": "give up"}),
        ("error", {"approve": False}, {"approve": False, "text": "give up"}),
        ("error", {"text": "please mend it"}, AnswerError),
    ],
)
def test_each_type_of_request_takes_its_own_kind_of_answer(kind, given, expected):
    asked = request(EscalationType(kind), question("a"))

    if expected is AnswerError:
        with pytest.raises(AnswerError) as refused:
            checked(asked, given, number=3)
        assert "3" in refused.value.message
        assert refused.value.hint
    else:
        assert checked(asked, given, number=3) == expected


@given(st.text(), st.lists(st.text(), max_size=5), st.booleans())
def test_whatever_is_typed_is_an_answer_or_a_clear_error(typed, labels, many):
    try:
        answer = choose(question(*labels, many=many), typed)
    except AnswerError:
        return
    assert answer.strip()


def test_a_request_of_any_shape_has_a_question():
    for raw in ({}, {"questions": None}, {"questions": ["x"]}, {"questions": []}):
        assert questions_of(raw, "The title")[0]["question"] == "The title"


@pytest.mark.parametrize("typed", ["1,x", "red,2", "2, 9"])
def test_a_number_beside_what_is_no_option_is_a_slip_and_no_answer(typed):
    several = {"multiSelect": True, "options": [{"label": "One"}, {"label": "Two"}]}

    with pytest.raises(AnswerError, match="There is no option"):
        choose(several, typed)


@pytest.mark.parametrize("label", ["", "  "])
def test_an_option_without_a_label_is_answered_by_its_number(label):
    nameless = {"options": [{"label": label}, {"label": "Two"}]}

    assert choose(nameless, "1") == "(option 1)"


ABOVE, BELOW = {"above": 126_000.0}, {"below": 0.2}


@pytest.mark.parametrize(
    ("bounds", "typed", "answer"),
    [
        (ABOVE, "200k", "200k"),
        (ABOVE, "1.5M", "1.5M"),
        (ABOVE, "1,000,000", "1,000,000"),
        (ABOVE, "0", "0"),
        (ABOVE, "2", "Wait"),
        (ABOVE, "wait", "Wait"),
        (ABOVE, "abc", AnswerError),
        (ABOVE, "100k", AnswerError),
        (ABOVE, "126000", AnswerError),
        (ABOVE, "-5", AnswerError),
        (ABOVE, "nan", AnswerError),
        (ABOVE, "9" * 20, AnswerError),
        (BELOW, "0.1", "0.1"),
        (BELOW, "0.3", AnswerError),
        (BELOW, "30%", AnswerError),
        (True, "17", "17"),
        (True, "abc", AnswerError),
    ],
)
def test_where_an_amount_is_asked_for_only_one_that_helps_is_an_answer(bounds, typed, answer):
    asked = {**question("Raise", "Wait"), "amount": bounds}

    if answer is AnswerError:
        with pytest.raises(AnswerError) as refused:
            choose(asked, typed)
        assert "Options: 1 to 2, or an amount" in refused.value.hint
    else:
        assert choose(asked, typed) == answer


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"approve": True}, "Go ahead"),
        ({"approve": False}, "Leave it"),
        ({"approve": False, "text": "Only the walls"}, "Only the walls"),
        ({"text": "1"}, "Go ahead"),
        ({"text": "Yes"}, "Go ahead"),
        ({"text": "a"}, "Go ahead"),
        ({"text": "no"}, "Leave it"),
        ({"text": "no tests"}, "no tests"),
    ],
)
def test_what_can_be_agreed_to_takes_an_approval_too(given, said):
    asked = request(EscalationType.QUESTION, question("Go ahead", "Leave it") | {"yes_or_no": True})

    assert checked(asked, given, number=3)["text"] == said


def test_what_a_printed_command_has_in_the_place_of_an_answer_is_none():
    with pytest.raises(AnswerError, match="stands for an answer"):
        checked(request(EscalationType.QUESTION, question("a", "b")), {"text": "…"}, number=3)


def test_an_approval_with_words_is_neither():
    asked = request(EscalationType.QUESTION, question("Go ahead", "Leave it") | {"yes_or_no": True})

    with pytest.raises(AnswerError, match="no words here"):
        checked(asked, {"approve": True, "text": "but mind the roof"}, number=3)
    with pytest.raises(AnswerError, match="cannot be approved"):
        checked(request(EscalationType.QUESTION, question("a")), {"approve": True}, number=3)
