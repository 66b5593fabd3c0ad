"""The prompt for what waits for a person: what it shows, and what a typed line means."""

import pytest

from perpetualcc.cli.asking import Prompt, option_lines, packet_lines, untold_lines
from perpetualcc.cli.guard import _shown
from perpetualcc.human.answers import AnswerError

NASTY = "Which \x1b]0;title\x07 \x9b31m one\u202e?"


def question(text="Which one?", labels=("PostgreSQL", "SQLite"), *, many=False):
    options = [{"label": label, "description": f"about {label}"} for label in labels]
    return {"question": text, "header": "", "multiSelect": many, "options": options}


def request(kind="question", *questions, **more):
    return {
        "number": 3,
        "session": "abc123",
        "type": kind,
        "severity": "normal",
        "title": "Which one?",
        "context": "",
        "packet": {},
        "options": [],
        "suggestion": "",
        "confidence": 0.0,
        "default": "the session goes on waiting",
        "deadline": None,
        "raised_at": 1_000.0,
        "settled_at": None,
        "raw": {"questions": list(questions or [question()])},
        **more,
    }


def test_the_prompt_of_the_manual():
    prompt = Prompt(request=request(suggestion="PostgreSQL", confidence=0.62))

    assert list(prompt.lines()) == [
        '   Brain suggestion: "PostgreSQL" (62% sure)',
        "     [1] PostgreSQL - about PostgreSQL",
        "     [2] SQLite - about SQLite",
    ]
    assert prompt.invitation == "   [A]ccept brain  [1-2] Select  or type an answer  > "
    assert prompt.take("a\n") == {"answers": {"Which one?": "PostgreSQL"}}


def test_before_a_call_is_approved_all_of_it_is_shown_and_why_it_is_asked():
    short = {"tool": "Bash", "input": {"command": "rm -rf build", "timeout": 5}}
    long = {"tool": "Bash", "input": {"command": f"echo {'a' * 200}\nrm -rf src"}}
    of_short = request(
        "permission", title="Approve: Bash rm -rf build", context="Deletes files.", raw=short
    )
    of_long = request("permission", title=f"Approve: Bash echo {'a' * 200} …", raw=long)

    assert list(untold_lines(of_short)) == ["   Why: Deletes files.", "   timeout: 5"]
    assert list(untold_lines(of_long)) == [f"   command: echo {'a' * 200}", "     rm -rf src"]
    assert list(untold_lines(request())) == []


def test_what_is_agreed_to_is_approved_with_a_letter():
    begin = question("Begin?", ("Go ahead", "Leave it")) | {"yes_or_no": True}
    prompt = Prompt(request=request("question", begin))

    assert prompt.invitation == "   [A]pprove  [D]eny  or type what to do otherwise  > "
    assert prompt.take("a\n") == {"answers": {"Begin?": "Go ahead"}}


@pytest.mark.parametrize("many", [True, False])
def test_a_request_says_whether_several_options_may_be_chosen(many):
    shown = "\n".join(packet_lines(request("question", question(many=many)), 1_010.0))

    assert ('Several may be chosen, like this: "1,2"' in shown) is many


def test_several_questions_are_asked_one_after_the_other():
    prompt = Prompt(request=request("question", question("First?"), question("Second?", many=True)))

    assert "1/2: First?" in next(iter(prompt.lines()))
    assert prompt.take("2") is None
    assert "2/2: Second?" in next(iter(prompt.lines()))
    with pytest.raises(AnswerError):
        prompt.take("9")
    assert prompt.take("1,2") == {"answers": {"First?": "SQLite", "Second?": "PostgreSQL, SQLite"}}


@pytest.mark.parametrize(
    ("kind", "typed", "answer"),
    [
        ("permission", "a", {"approve": True}),
        ("permission", "D", {"approve": False, "text": ""}),
        ("permission", "d use a branch", {"approve": False, "text": "use a branch"}),
        ("permission", "Deny: use a branch", {"approve": False, "text": "use a branch"}),
        ("permission", "do it later", {"approve": False, "text": "do it later"}),
        ("permission", "not on a Friday", {"approve": False, "text": "not on a Friday"}),
        ("review", "done", {"approve": False, "text": ""}),
        ("error", "1", {"text": "1"}),
    ],
)
def test_a_word_is_enough_where_there_is_no_question(kind, typed, answer):
    assert Prompt(request=request(kind)).take(typed) == answer


def test_nothing_from_outside_steers_the_terminal():
    asked = request(
        "question",
        question(NASTY, (NASTY, "b")),
        title=NASTY,
        context=NASTY,
        suggestion=NASTY,
        packet={"state": NASTY, "history": [NASTY]},
    )

    shown = [*packet_lines(asked, 2_000.0), *Prompt(request=asked).lines()]

    assert len(shown) > 5
    for line in shown:
        assert line.isprintable(), line


def test_a_preview_is_shown_line_by_line_as_it_stands():
    asked = question()
    asked["options"][0]["preview"] = "  +--+\n\t| \x1b[2Ja |\n  +--+\n"

    for shown in (packet_lines(request("question", asked), 0.0), option_lines(asked)):
        assert [line for line in shown if "│" in line] == [
            "         │   +--+",
            "         │     | �[2Ja |",
            "         │   +--+",
        ]


def test_two_hundred_options_do_not_flood_the_prompt():
    many = question(labels=[f"option {n}" for n in range(200)])

    assert len(list(option_lines(many, at_most=30))) == 31
    assert len(list(option_lines(many))) == 200
    assert Prompt(request=request("question", many)).take("200") == {
        "answers": {"Which one?": "option 199"}
    }


def shown(**tool_input):
    raw = {"tool": "Bash", "risk": "HIGH", "input": tool_input}
    return "\n".join(packet_lines(request("permission", raw=raw), 1_010.0))


def test_what_a_call_ends_with_is_seen_however_much_comes_before():
    many_lines = "\n".join([*(f"echo {n}" for n in range(45)), "rm -rf ~/projects"])
    one_line = f'git commit -m "{"x" * 2_000}" && git push --force'

    assert "rm -rf ~/projects" in shown(command=many_lines)
    assert "git push --force" in shown(command=one_line)


def test_what_is_not_shown_of_a_call_is_counted():
    assert "more" not in shown(content="\n".join("line" for _ in range(400)))
    assert "… 100 more lines; all of it: pcc pending NUMBER --json …" in shown(
        content="\n".join("line" for _ in range(500))
    )
    assert " … 7 more characters … " in shown(content="y" * 4_007)


def test_no_file_name_of_a_project_steers_the_terminal_in_which_it_is_trusted():
    surface = {"file": ".claude/skills/a\x1b[2K\x1b[1A\nb", "what": "hook", "detail": "curl \x9b"}

    assert _shown(surface).isprintable()


def test_what_would_run_is_shown_line_by_line():
    surface = {"file": "a.md", "what": "hook", "detail": "hooks:\n  Stop: curl evil"}

    assert _shown(surface).splitlines()[1].strip() == "Stop: curl evil"


def test_a_packet_names_what_lies_in_the_project_from_there_and_a_call_as_it_is():
    packet = {
        "last": "I wrote /shop/a.py",
        "hint": "pcc trust /shop/api",
        "options": ["see /shop/b"],
    }
    call = {"tool": "Bash", "input": {"command": "cd / && rm /shop/x"}, "risk": "HIGH"}
    stopped = request(
        "permission",
        title="Approve: Bash cd / && rm /shop/x",
        context="/shop/x: Deletes it; /etc/x stays",
        project="/shop",
        packet=packet,
        raw=call,
    )
    which = "Which of /shop/a and /shop/b?"
    asked = request(question(which), title=which, project="/shop")

    assert list(packet_lines(stopped, 1_001.0))[1:8] == [
        "  Approve: Bash cd / && rm /shop/x",
        "Context: x: Deletes it; /etc/x stays",
        "Hint: pcc trust /shop/api",
        "Last: I wrote a.py",
        "You can: see /shop/b",
        "Call: Bash (HIGH)",
        "  command: cd / && rm /shop/x",
    ]
    assert list(untold_lines(stopped)) == ["   Why: x: Deletes it; /etc/x stays"]
    assert list(packet_lines(asked, 1_001.0))[1] == "  Which of a and b?"
