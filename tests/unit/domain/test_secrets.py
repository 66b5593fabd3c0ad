"""What looks like a live secret is redacted; prose stays as it is."""

import string
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perpetualcc.domain.secrets import holds_token, redact

_HEX = "0123456789abcdef" * 2
_LONG = "abcDEF0123456789abcDEF0123456789abcDEF01"

# Shapes as their vendors document them, with made-up insides, put together here so that no
# scanner takes this file for a leak.
TOKENS = {
    "Anthropic": "sk-ant-api03-" + _LONG,
    "OpenAI": "sk-proj-" + _LONG,
    "Stripe": "sk_" + "live_" + _LONG,
    "Stripe restricted": "rk_" + "live_" + _LONG,
    "Stripe webhook": "whsec_" + _LONG,
    "GitHub": "ghp_" + _LONG,
    "GitHub fine-grained": "github_pat_" + _LONG,
    "GitLab": "glpat-" + _LONG[:20],
    "GitLab runner": "glrt-" + _LONG[:20],
    "Slack": "xoxb-" + "123456789012-abcdefABCDEF",
    "Slack app": "xapp-" + "1-A0123456789-012345678901-" + _HEX,
    "Slack webhook": "hooks.slack.com/services/" + "T0123ABCD/B0123ABCD/" + _LONG[:24],
    "Discord webhook": "discord.com/api/webhooks/" + "123456789012345678/" + _LONG,
    "Telegram": "1234567890" + ":AA" + _LONG[:33],
    "AWS": "AKIA" + "IOSFODNN7EXAMPLE",
    "Google": "AIza" + _LONG,
    "Google OAuth": "ya29." + _LONG,
    "Google client": "GOCSPX-" + _LONG[:28],
    "npm": "npm_" + _LONG,
    "PyPI": "pypi-" + _LONG,
    "Hugging Face": "hf_" + _LONG,
    "RubyGems": "rubygems_" + _HEX + _HEX,
    "Docker Hub": "dckr_pat_" + _LONG[:27],
    "Groq": "gsk_" + _LONG,
    "xAI": "xai-" + _LONG + _LONG,
    "Replicate": "r8_" + _LONG[:37],
    "SendGrid": "SG." + _LONG[:22] + "." + _LONG,
    "Mailgun": "key-" + _HEX,
    "Mailchimp": _HEX + "-us12",
    "Twilio": "SK" + _HEX,
    "DigitalOcean": "dop_v1_" + _HEX + _HEX,
    "Heroku": "HRKU-" + _LONG,
    "Shopify": "shpat_" + _HEX,
    "Square": "sq0atp-" + _LONG[:22],
    "Linear": "lin_api_" + _LONG,
    "Notion": "ntn_" + _LONG + _LONG[:6],
    "Figma": "figd_" + _LONG,
    "Airtable": "pat" + _LONG[:14] + "." + _HEX + _HEX,
    "Databricks": "dapi" + _HEX,
    "Vault": "hvs." + _LONG,
    "Terraform Cloud": _LONG[:14] + ".atlasv1." + _LONG + _LONG,
    "Pulumi": "pul-" + _HEX + _HEX[:8],
    "Grafana": "glsa_" + _LONG[:32] + "_" + _HEX[:8],
    "New Relic": "NRAK-" + _LONG[:27].upper(),
    "Sentry": "sntrys_" + _LONG + _LONG,
    "Supabase": "sbp_" + _HEX + _HEX[:8],
    "PlanetScale": "pscale_tkn_" + _LONG,
    "Netlify": "nfp_" + _LONG[:36],
    "Atlassian": "ATATT3xFfGF0" + _LONG * 4,
    "Postman": "PMAK-" + _HEX[:24] + "-" + _HEX + "0a",
    "Doppler": "dp.pt." + _LONG,
    "CircleCI": "CCIPAT_" + _LONG[:22] + "_" + _HEX + _HEX[:8],
    "Microsoft Entra": "abc8Q~" + _LONG[:34],
    "age": "AGE-SECRET-KEY-1" + _LONG[:29].upper() * 2,
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
        (
            "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nlQOY\n-----END PGP PRIVATE KEY BLOCK-----",
            "[redacted]",
        ),
        ("password=hunter2", "password=[redacted]"),
        ("DB_PASS=S3cr3tpw99 DB_PWD='S3cr3t,pw'", "DB_PASS=[redacted] DB_PWD=[redacted]"),
        (r'{"x": "{\"password\": \"S3cr3tpw99\"}"}', r'{"x": "{\"password\": [redacted]}"}'),
        ("SECRET_KEY = 'django-insecure-a@b#c1'", "SECRET_KEY = [redacted]"),
        ("AccountName=a;AccountKey=AAAA1111BBBB==;E=x", "AccountName=a;AccountKey=[redacted];E=x"),
        ("DD_APP_KEY=aa7a6d0018f99ddc", "DD_APP_KEY=[redacted]"),
        ("tool --api-key S3cr3tpw99abc now", "tool --api-key [redacted] now"),
        ("curl -u admin:S3cr3tpw99 https://x", "curl -u admin:[redacted] https://x"),
        ("mysql -u root -pS3cr3tpw99 shop", "mysql -u root -p[redacted] shop"),
        ("docker login -u me -p S3cr3tpw99", "docker login -u me -p [redacted]"),
        ("sshpass -p S3cr3tpw99 ssh x", "sshpass -p [redacted] ssh x"),
        ("machine a login me password S3cr3tpw99", "machine a login me password [redacted]"),
        ("redis://:s3cretpass@cache:6379/0", "redis://:[redacted]@cache:6379/0"),
        (f"https://{_HEX}@github.com/a/b", "https://[redacted]@github.com/a/b"),
        (f"Authorization: token {_HEX}", "Authorization: token [redacted]"),
        (f"Cookie: a=b; session={_LONG}; c=d", "Cookie: a=b; session=[redacted]; c=d"),
        (f"https://x.test/a?b=c&key={_LONG}&d=e", "https://x.test/a?b=c&key=[redacted]&d=e"),
        (
            f'{{"auths": {{"x": {{"auth": "{_LONG}=="}}}}}}',
            '{"auths": {"x": {"auth": "[redacted]"}}}',
        ),
        ("<db><password>S3cr3tpw99</password></db>", "<db><password>[redacted]</password></db>"),
        ("me:$apr1$Qyi7W5qQ$AeGNvCr9sxtQTORy8HZRd6", "me:[redacted]"),
        ("İİ ApiTOKEN: S3cr3tPW99 and İ", "İİ ApiTOKEN: [redacted] and İ"),
        ("My.Pa\u017f\u017fword=S3cr3tPW99", "My.Pa\u017f\u017fword=[redacted]"),
        ("AUTHORIZATION: BEARER Abcdefghijklmnop", "AUTHORIZATION: BEARER [redacted]"),
        ("CURL -P 33069 -u me:x9 mysql -P 33069", "CURL -P 33069 -u me:x9 mysql -P 33069"),
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
        "use sk-fading-circle-of-the-spinner",
        "call fw_update_procedure_handlers_now and secret_of_the_long_named_variable",
        "docker run --user 1000:1000 -u www-data:www-data -p 8080:80 app",
        "npm login -p is no option; see --password-stdin and --token-file=x",
        "Pass --password to be asked, or --token with a name",
        "password: 8 or more; PASS: test_of_something",
        "INIT_CWD=/home/ann PWD=/home/ann OLDPWD=/srv",
        "Cookie: how the header is parsed",
        "<token>word</token>",
        "max_tokens=4096 next_token: str",
        "git@github.com:acme/shop.git ssh://git@host/x",
        "s/(a)(b)/$1$prefix/the-other-part-of-the-path/",
        "pat123.py hv.s sl.v 1/2 SG.x.y",
        "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
        "0123abcd-0123-4567-89ab-0123456789ab",
        "",
    ],
)
def test_prose_and_references_stay_readable(prose: str) -> None:
    assert redact(prose) == prose


_PIECES = st.sampled_from(
    [
        *TOKENS.values(),
        *("password=", "Bearer ", "://a:b@", " ", "\n", "=", '"', "'", "\\", "hunter2"),
        *("--token ", "curl -u a:", "Cookie:", "Authorization: ", "?key=", "<password>", "</"),
    ]
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
    "options": "--token-" * 8_000,
    "commands": "curl login mysql " * 4_000,
    "cookies": "Cookie: a=" * 6_000,
    "crumbs": "Cookie: " + "a=b; " * 12_000,
    "elements": "<a.password>" * 5_000,
    "authorizations": "Authorization: " * 4_000,
    "signatures": "?key=" * 12_000,
    "backslashes": "password" + "\\" * 50_000,
    "quotes": 'password="' * 6_000,
    "words": "aaaaaaaaaaaaaa.atlas " * 3_000,
    "lines of a key": "Private-Lines: 1 " * 4_000,
}


@pytest.mark.parametrize("kind", PATTERNLESS)
def test_a_long_text_is_redacted_in_linear_time(kind: str) -> None:
    """Where each place is a beginning, 60 kB take minutes: minified files are like that."""
    text = PATTERNLESS[kind]
    began = time.thread_time()

    redacted = redact(f"{text} password={'x' * 20}")

    assert "xxx" not in redacted
    assert time.thread_time() - began < 2
