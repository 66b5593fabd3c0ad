"""What a field calls a secret is redacted in records: JSON splits a name from its value."""

from typing import Any

import pytest

from perpetualcc.store.text import redacted


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        ({"password": "hunter2hunter2"}, {"password": "[redacted]"}),
        ({"env": {"DB_PASS": "s3cret"}}, {"env": {"DB_PASS": "[redacted]"}}),
        ({"clientSecret": ["abcdefgh", "ijklmnop"]}, {"clientSecret": ["[redacted]"] * 2}),
        ({"token": "env:MY_TOKEN"}, {"token": "env:MY_TOKEN"}),
        ({"password": "The one that you were given"}, {"password": "The one that you were given"}),
        ({"max_tokens": 4096, "token": None}, {"max_tokens": 4096, "token": None}),
        ({"tokenizer": "cl100k_base"}, {"tokenizer": "cl100k_base"}),
    ],
)
def test_what_a_field_calls_a_secret_is_redacted(value: Any, kept: Any) -> None:
    assert redacted(value) == kept
