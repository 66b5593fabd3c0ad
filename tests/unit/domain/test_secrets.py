"""What looks like a live secret is redacted; prose stays as it is."""

import string
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perpetualcc.domain.secrets import holds_token, redact

_LONG = "abcDEF0123456789abcDEF0123456789abcDEF01"

# Shapes as their vendors document them, with made-up insides, put together here so that no
# scanner takes this file for a leak.
TOKENS = {
    "Anthropic": "sk-ant-api03-" + _LONG,
    "OpenAI": "sk-proj-" + _LONG,
    "Stripe": "sk_live_"[:2] + "-live-" + _LONG,
    "Stripe restricted": "rk_live_" + _LONG,
    "GitHub": "ghp_" + _LONG,
    "GitHub fine-grained": "github_pat_" + _LONG,
    "GitLab": "glpat-" + _LONG[:20],
    "Slack": "xoxb-" + "123456789012-abcdefABCDEF",
    "AWS": "AKIA" + "IOSFODNN7EXAMPLE",
    "Google": "AIza" + _LONG,
    "npm": "npm_" + _LONG,
    "PyPI": "pypi-" + _LONG,
    "Hugging Face": "hf_" + _LONG,
    "JSON Web Token": "eyJ" + "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl",
}


@pytest.mark.parametrize("vendor", TOKENS)
@pytest.mark.parametrize("around", ["{}", "use {} for it", '"{}"', "export KEY={}\n", "({}),"])
def test_a_token_is_redacted_wherever_it_stands(vendor: str, around: str) -> None:
    cleaned = redact(around.format(TOKENS[vendor]))

    assert TOKENS[vendor] not in cleaned
    assert "[redacted]" in cleaned


@pytest.mark.parametrize("vendor", TOKENS)
def test_a_token_is_found_in_what_is_sent(vendor: str) -> None:
    assert holds_token(f"https://api.test/?q={TOKENS[vendor]}")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("-----BEGIN PRIVATE KEY-----\nMIIE and nothing more", True),
        ("-----BEGIN PUBLIC KEY-----\nMIIE\n-----END PUBLIC KEY-----", False),
        ("sk-fading-circle-of-the-spinner", False),
        ("how is a cookie header parsed", False),
        ("", False),
    ],
)
def test_a_private_key_is_found_too_and_words_are_none(text: str, found: bool) -> None:
    assert holds_token(text) is found


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("password = hunter2hunter2", "password = [redacted]"),
        ('{"api_key": "0123456789abc"}', '{"api_key": [redacted]}'),
        ("DB_PASSWORD=correcthorsebattery ls", "DB_PASSWORD=[redacted] ls"),
        ("Authorization: Bearer abcdefghijklmnop", "Authorization: Bearer [redacted]"),
        ("postgres://ann:s3cretpass@db/app", "postgres://ann:[redacted]@db/app"),
        (
            "a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nb",
            "a\n[redacted]\nb",
        ),
        ("-----BEGIN PRIVATE KEY-----\nMIIE and nothing more", "[redacted]"),
    ],
)
def test_what_is_called_a_secret_is_redacted(text: str, cleaned: str) -> None:
    assert redact(text) == cleaned


@pytest.mark.parametrize(
    "prose",
    [
        "The token is read from the environment.",
        "sk-learn is a library; see sk-learn.org",
        "Set password: to a long value",
        "api_key = ${ANTHROPIC_API_KEY}",
        "token: <your token>",
        "secret = env:DATABASE_SECRET",
        "https://example.org/path?x=1#token",
        "git commit 0123456789abcdef0123456789abcdef01234567",
        "tests/test_secrets.py::test_a_token",
        "uses: actions/checkout@v4",
        "",
    ],
)
def test_prose_and_references_stay_readable(prose: str) -> None:
    assert redact(prose) == prose


_PIECES = st.sampled_from(
    [*TOKENS.values(), "password=", "Bearer ", "://a:b@", " ", "\n", "=", '"']
)


@given(st.lists(st.one_of(_PIECES, st.text(max_size=20))))
def test_redacting_twice_is_redacting_once(pieces: list[str]) -> None:
    once = redact("".join(pieces))

    assert redact(once) == once


@given(st.text(alphabet=string.ascii_lowercase + " .,\n", max_size=300))
def test_words_are_never_taken_for_secrets(text: str) -> None:
    assert redact(text) == text


PATTERNLESS = {
    "a drawing": "".join(f"c{n % 7}.{n % 97}-.{n % 89}" for n in range(9_000)),
    "numbers": "-.7" * 20_000,
    "base64 for addresses": "aB3-_x9.Zq" * 6_000,
    "beginnings of tokens": "-eyJ" * 15_000,
    "names": "password " * 6_000,
    "halves of names": "api_" * 15_000,
    "addresses": "a://b:" * 10_000,
    "blanks": "password" + " " * 60_000,
    "keys": "-----BEGIN " * 5_000,
}


@pytest.mark.parametrize("kind", PATTERNLESS)
def test_a_long_text_is_redacted_in_linear_time(kind: str) -> None:
    """Where each place is a beginning, 60 kB take minutes: minified files are like that."""
    text = PATTERNLESS[kind]
    began = time.thread_time()

    redacted = redact(f"{text} password={'x' * 20}")

    assert "xxx" not in redacted
    assert time.thread_time() - began < 2
