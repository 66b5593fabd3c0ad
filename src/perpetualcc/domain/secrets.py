"""Redaction: applied before anything is written to a log, memory, checkpoint or notification."""

import re
from collections.abc import Sequence
from functools import lru_cache

_MARK = "[redacted]"
_SHORT = 300
"""Characters. What is longer seldom comes twice; the reason of a decision is written twice."""

# Vendors' tokens as their documentation publishes them, or scanners (gitleaks, detect-secrets) know
# them; each needs a long random tail, so prose that mentions a prefix stays readable.
_TOKENS = re.compile(
    r"""
    \b(?:
        sk-[A-Za-z0-9_-]{16,}  # Anthropic, OpenAI, OpenRouter
      | [srp]k_(?:live|test)_[A-Za-z0-9]{16,} | whsec_[A-Za-z0-9+/=]{24,}  # Stripe
      | gh[pousr]_[A-Za-z0-9]{30,} | github_pat_[A-Za-z0-9_]{30,}
      | gl(?:pat|dt|rt|cbt|ptt|ft|soat|imt|agent|oas)-[A-Za-z0-9_-]{16,}  # GitLab
      | xox[abeoprs]-[A-Za-z0-9.-]{10,} | xapp-\d-[A-Za-z0-9-]{20,}  # Slack
      | (?:AKIA|ASIA)[A-Z0-9]{16}  # AWS
      | AIza[A-Za-z0-9_-]{30,} | ya29\.[A-Za-z0-9_-]{20,} | GOCSPX-[A-Za-z0-9_-]{20,}  # Google
      | 1//0[A-Za-z0-9_-]{30,}
      | npm_[A-Za-z0-9]{30,} | pypi-[A-Za-z0-9_-]{30,} | rubygems_[0-9a-f]{40,}
      | cio[A-Za-z0-9]{32}\b | oy2[a-z0-9]{43}\b | dckr_[po]at_[A-Za-z0-9_-]{20,}  # crates, NuGet
      | hf_[A-Za-z0-9]{30,} | gsk_[A-Za-z0-9]{30,} | xai-[A-Za-z0-9]{40,} | pplx-[A-Za-z0-9]{30,}
      | r8_[A-Za-z0-9]{30,} | fw_[A-Za-z0-9]{20,} | lsv2_(?:pt|sk)_[a-z0-9_]{30,}  # models
      | SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,} | key-[0-9a-f]{32}\b | [0-9a-f]{32}-us\d\d?\b
      | (?:SK|AC)[0-9a-f]{32}\b | \d{8,10}:AA[A-Za-z0-9_-]{32,}  # Twilio, Telegram
      | do[opr]_v1_[0-9a-f]{40,} | HRKU-[A-Za-z0-9_-]{30,} | fm[12][ar]?_[A-Za-z0-9+/=,_-]{40,}
      | nf[pcobu]_[A-Za-z0-9]{30,} | vercel_blob_rw_[A-Za-z0-9_]{20,} | pul-[0-9a-f]{40}\b
      | shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32} | sq0(?:atp|csp)-[A-Za-z0-9_-]{20,}  # shops
      | EAA[A-Za-z0-9_-]{50,} | sl\.(?:u\.)?[A-Za-z0-9_-]{100,}  # Meta, Dropbox
      | lin_(?:api|oauth)_[A-Za-z0-9]{30,} | ntn_[A-Za-z0-9]{40,} | secret_[A-Za-z0-9]{43}\b
      | fig[dour]_[A-Za-z0-9_-]{30,} | pat[A-Za-z0-9]{14}\.[0-9a-f]{64} | 1/\d{16}:[0-9a-f]{32}
      | AT(?:ATT|CTT)3[A-Za-z0-9_=-]{50,} | ATBB[A-Za-z0-9]{28,} | PMAK-[0-9a-f]{24}-[0-9a-f]{34}
      | dapi[0-9a-f]{32} | hv[sbr]\.[A-Za-z0-9_-]{24,}
      | [A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{60,}
      | gl(?:sa|c)_[A-Za-z0-9_=+/]{30,} | NRAK-[A-Z0-9]{27} | sntr(?:ys|yu)_[A-Za-z0-9+/=_]{40,}
      | sbp_[0-9a-f]{40} | sb_secret_[A-Za-z0-9_-]{20,}
      | pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.-]{30,}
      | CCIPAT_[A-Za-z0-9_]{40,} | bkua_[0-9a-f]{40}
      | dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9_.-]{30,}
      | ops_eyJ[A-Za-z0-9_=-]{50,} | AGE-SECRET-KEY-1[0-9A-Z]{50,}  # 1Password, age
      | AKCp[A-Za-z0-9]{50,} | cmVmdGtu[A-Za-z0-9]{50,}
      | \w{3}\dQ~[A-Za-z0-9_~.-]{31,}  # JFrog, Entra
      | hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9/_-]{20,}
      | discord(?:app)?\.com/api/webhooks/\d+/[A-Za-z0-9_-]{30,}
      | webhook\.office\.com/webhookb2/[A-Za-z0-9@/_-]{30,}
      # JSON Web Token; of beginnings in a row the last one, or each is looked through to its end
      | eyJ(?:(?!-eyJ)[A-Za-z0-9_-]){10,2000}\.[A-Za-z0-9_-]{10,8000}\.[A-Za-z0-9_-]{5,}
    )
    | \$(?:apr1|2[abxy]|[156y]|argon2id?|scrypt)\$[A-Za-z0-9./=,+]{1,40}\$[A-Za-z0-9./$=,+]{20,}
    # hashes of passwords
    """,
    re.VERBOSE,
)
_PRIVATE_KEY = re.compile(
    r"-----BEGIN ([A-Z ]*PRIVATE KEY(?: BLOCK)?)-----.*?(?:-----END \1-----|\Z)"
    r"|(?<=Private-Lines: )\d+\s[A-Za-z0-9+/=\s]+",  # PuTTY's
    re.DOTALL,
)
_NAMES = (
    r"(?:passw(?:or)?d|passphrase|secret|token|_pass|_pwd"
    r"|(?:api|app|access|account|auth|encryption|master|private|secret|service|signing)[_-]?key)"
)
_REFERENCE = r"(?!env:|keyring:|\$|\{|<|\[redacted\])"
"""What begins so says where a secret is."""
# From here on they are for text in small letters: to ignore the case takes several times as long.
# A name is looked at from where it says that it is one: with what is before, minified text takes
# minutes.
_ASSIGNMENT = re.compile(
    rf"""(?x)
    ({_NAMES}\b(?:\\*["'])?\s*[:=]\s*)
    (?: "{_REFERENCE}[^\s"\\]{{8,}}" | '{_REFERENCE}[^\s'\\]{{8,}}'
      | (?P<quote>\\*["']|){_REFERENCE}[^\s"',;\\]{{8,}}(?P=quote)
    )
    """
)
_SHORT_PASSWORD = re.compile(
    rf"""(?x)
    ((?:passw(?:or)?d|passphrase|_pass|_pwd)\b["']?\s*[:=]\s*["']?)
    {_REFERENCE}(?=[^\s"',;\d]{{0,6}}\d)[^\s"',;]{{6,7}}(?![^\s"',;])
    """
)
_OPTION = re.compile(
    rf"""(?x) (--(?<!\S--)[\w-]{{0,40}}?{_NAMES}[ ]+["']?)
    {_REFERENCE}(?![-/])(?=[^\s"'\d]{{0,60}}\d)[^\s"'|;&]{{6,}}
    """
)
"""Only with a digit: what follows may be prose about the option."""
_COMMAND = re.compile(
    rf"""(?x)
    ( sshpass[ ]+-p[ ]*["']?
    | (?:mysql|mysqldump|mysqladmin|mariadb)\b[^\n|;&]{{0,200}}?[ ]-p["']?
    | login\b[^\n|;&]{{0,200}}?[ ]-p[ =]?["']?
    | (?:curl|wget)\b[^\n|;&]{{0,300}}?[ ](?:-u|--user|--proxy-user)[ =]?["']?[^\s:"'/]{{1,80}}:
    | login[ \t]+\S{{1,80}}[ \t\n]+password[ \t]+  # netrc
    )
    {_REFERENCE}(?![-/])(?=[^\s"'\d]{{0,60}}\d)[^\s"'|;&]{{6,}}
    """
)
_HEADER = re.compile(
    r"""(?x)
    ( \bauthorization["']?\s{0,9}[:=]\s{0,9}["']?(?:[\w-]{1,20}[ ])?
    | \b(?:set-)?cookie["']?:[^\n"']{0,300}?=
    | [?&](?:key|sig|signature|x-(?:amz|goog)-signature)=
    | ["']auth["']\s{0,9}:\s{0,9}["']  # of Docker's config.json
    )
    (?=[a-z._~+/=%-]{0,40}\d)[a-z0-9._~+/=%-]{16,}
    """
)
_BEARER = re.compile(r"(\b(?:bearer|basic)\s+)[a-z0-9._~+/=-]{12,}")
_ELEMENT = re.compile(
    r"(<[\w.:-]{0,40}(?:passw(?:or)?d|secret|passphrase|apikey)>)[^<\s]{6,}(?=</)"
)
_URL_USER = re.compile(
    r"((?<![a-z0-9+.-])[a-z0-9+.-]+://(?:[^\s:/@]*:(?=[^\s@/]+@)|(?=[a-z0-9_-]{20,}@)))[^\s@/]+(?=@)"
)
_FIELD = re.compile(rf"(?i)[\w.-]*{_NAMES}")
_LIVE = re.compile(rf"{_REFERENCE}(?:\S{{8,}}|(?=\S*\d)\S{{6,7}})")
_DIGIT = re.compile(r"\d")
_WORDS = re.compile(r"[a-z]+(?:[-_][a-z]{1,15})+")
"""`sk-fading-circle-of-the-spinner`: as if it were a token."""


def holds_token(text: str) -> bool:
    """Whether it holds a vendor's token or a private key. Words like `sk-fading-circle` do not."""
    if _PRIVATE_KEY.search(text):
        return True
    return any(_DIGIT.search(match[0]) for match in _TOKENS.finditer(text))


def redact(text: str) -> str:
    """Replace what looks like a live secret with `[redacted]`. Idempotent."""
    return _redacted_word(text) if len(text) <= _SHORT else _redacted(text)


def redact_named(name: str, value: str) -> str:
    """The same of what a field, a variable or an option of this name holds."""
    is_secret = _FIELD.fullmatch(name) and _LIVE.fullmatch(value)
    return _MARK if is_secret else redact(value)


@lru_cache(maxsize=4096)
def _redacted_word(text: str) -> str:
    """Most of what is written down is names, keys and reasons that come again and again."""
    return _redacted(text)


def _redacted(text: str) -> str:
    # Again as long as something was found: a secret may end where the next one begins.
    while (cleaned := _redacted_once(text)) != text:
        text = cleaned
    return text


def _redacted_once(text: str) -> str:
    if "-----BEGIN" in text or "Private-Lines" in text:
        text = _PRIVATE_KEY.sub(_MARK, text)
    text = _TOKENS.sub(lambda found: found[0] if _WORDS.fullmatch(found[0]) else _MARK, text)
    lowered = _lowered(text)
    for words, named, is_lowered in _NAMED:
        if any(word in lowered for word in words):
            read = lowered if is_lowered else text
            spans = [(found.end(1), found.end()) for found in named.finditer(read)]
            text, lowered = _marked(text, spans), _marked(lowered, spans)
    return text


def _lowered(text: str) -> str:
    """In small letters, and as long as before: `İ` would become two characters."""
    lowered = text.lower()
    if len(lowered) != len(text):
        lowered = text.replace("\u0130", "i").lower()
    return lowered.replace("\u017f", "s").replace("\u0131", "i")


def _marked(text: str, spans: Sequence[tuple[int, int]]) -> str:
    if not spans:
        return text
    begins = [0, *(end for _, end in spans)]
    ends = [*(begin for begin, _ in spans), len(text)]
    return _MARK.join(text[begin:end] for begin, end in zip(begins, ends, strict=True))


_PASSWORDS = ("passw", "passphrase", "_pass", "_pwd")
_NAMED = (
    (("://",), _URL_USER, True),
    (("bearer", "basic"), _BEARER, True),
    ((*_PASSWORDS, "secret", "token", "key"), _ASSIGNMENT, True),
    (_PASSWORDS, _SHORT_PASSWORD, True),
    (("--",), _OPTION, True),
    (("sshpass", "mysql", "mariadb", "login", "curl", "wget"), _COMMAND, False),
    (("authorization", "cookie", "key=", "sig=", "signature=", 'auth"', "auth'"), _HEADER, True),
    (("</",), _ELEMENT, True),
)
"""
By the words without which an expression finds nothing: most texts hold none of them. The last says
whether it is for text in small letters; to a program `-p` and `-P` are two.
"""
