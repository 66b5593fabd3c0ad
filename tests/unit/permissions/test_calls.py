"""What a person types to have a call explained."""

from pathlib import Path

import pytest

from perpetualcc.permissions.calls import call_from_words


@pytest.mark.parametrize(
    ("tool", "subject", "given"),
    [
        ("bash", "ls", {"command": "ls"}),
        ("bash", '{"command": "ls"}', {"command": "ls"}),
        ("Bash", ' {"command": "ls", "timeout": 5}', {"command": "ls", "timeout": 5}),
        ("bash", "{ ls; }", {"command": "{ ls; }"}),
        ("bash", '{"command": ["ls"]}', {"command": '{"command": ["ls"]}'}),
        ("bash", '{"file_path": "a"}', {"command": '{"file_path": "a"}'}),
        ("bash", "{" * 50_000, {"command": "{" * 50_000}),
        ("read", '{"file_path": "a"}', {"file_path": "a"}),
        ("read", "a", {"file_path": "a"}),
    ],
)
def test_an_input_is_read_as_json_where_it_is_one(tool, subject, given):
    assert call_from_words(tool, subject, Path("/p")).input == given
