"""
What each feature of a sentence is worth, and why. A message is judged by the sentence with the
largest sum, and the sum is one of the signals of `model.py`.

The numbers were set by hand on the building half of tests/corpus/corrections and checked on the
half that was held out; they are sums of evidence in half points, so a person can redo them.
"""

from perpetualcc.learning.corrections.features import Sentence

WEIGHTS: dict[str, float] = {
    # The user turns something down.
    "reject": 1.0,
    "objection": 0.5,  # a rejection that goes on, and answers no question
    "demand": 2.0,  # "can you please not …": a question in form only
    "wrong": 2.0,
    "told": 2.0,  # refers to an instruction that was not followed
    "blame": 1.5,  # says what the assistant did or failed to do
    "undo": 1.5,
    # The user says how to work.
    "prohibit": 2.0,
    "contrast": 1.0,
    "norm": 1.5,
    "convention": 1.0,  # names a way of writing: snake_case, tabs
    "project_rule": 1.5,  # "in this project tests go in …"
    "henceforth": 1.5,
    "excess": 1.5,
    "direct": 0.5,
    "must": 0.5,
    "repair": 0.5,
    "always": 0.5,
    "standing": 1.0,  # "comments always in English": nothing else it could be
    # The assistant's last message has it.
    "substitution": 1.5,
    "grounded": 0.5,
    "tools": 0.5,
    # Somebody else's words, another kind of message.
    "question_asked": -8.0,
    "reported": -4.5,
    "self": -2.0,
    "symptom": -1.5,
    "request_first": -1.5,
    "product": -1.5,
    "praise": -1.5,
    "accept": -1.0,
    "hedge": -0.5,
}

PAIRS: dict[tuple[str, str], float] = {
    # Together they say more than their sum.
    ("reject", "contrast"): 1.0,
    ("reject", "repair"): 0.5,
    ("direct", "everywhere"): 1.0,
    ("reject", "direct"): 0.5,
    ("direct", "always"): 1.5,
    ("contrast", "direct"): 0.5,
    ("contrast", "grounded"): 1.0,
    ("instead", "grounded"): -1.0,  # requests say "instead of", denials say ", not"
    ("instead", "product"): -0.5,
    ("contrast", "tools"): 0.5,
    ("contrast", "must"): 0.5,
    ("direct", "norm"): 0.5,
    ("convention", "please"): 0.5,
    ("direct", "topic"): 0.5,
    ("direct", "substitution"): 0.5,
    ("blame", "grounded"): 0.5,
    # Together they say less.
    ("request_first", "contrast"): -0.5,
    ("request_first", "direct"): -0.5,
    ("product", "always"): -2.5,
    ("product", "contrast"): -0.5,
    ("request_first", "prohibit"): -1.5,
    ("product", "prohibit"): -1.5,
    ("product", "prohibit_first"): 1.0,
    ("product", "direct"): -0.5,
    ("product", "must"): -0.5,
    ("symptom", "prohibit"): -1.0,
    ("symptom", "blame"): -0.5,
    ("praise", "blame"): -1.0,
    ("self", "contrast"): -0.5,
    ("excess", "symptom"): -1.0,
}


def weigh(sentence: Sentence) -> tuple[float, tuple[str, ...]]:
    """The sum for one sentence, and its terms in words."""
    features = _effective(sentence)
    terms = [(name, WEIGHTS[name]) for name in sorted(features) if name in WEIGHTS]
    terms += [
        (f"{one}+{other}", worth)
        for (one, other), worth in PAIRS.items()
        if one in features and other in features
    ]
    return sum(worth for _, worth in terms), tuple(f"{name} {worth:+.1f}" for name, worth in terms)


_ANOTHER_KIND = frozenset(
    {"question_asked", "product", "self", "symptom", "reported", "praise", "request_first", "hedge"}
)
_ABOUT_THE_WORK = frozenset(
    {"reject", "told", "repair", "blame", "wrong", "norm", "project_rule", "undo"}
)
"""Who says one of these speaks to the assistant, even when a button or a page is mentioned."""


def _effective(sentence: Sentence) -> set[str]:
    features = set(sentence.features)
    asks = "question_mark" in features or "question_first" in features
    # "Why did you use npm again?", "Didn't I say pnpm?": pointed, though a question in form.
    if asks and "demand" not in features:
        if not features & {"told", "blame"}:
            features.add("question_asked")
        elif "told" not in features:
            features.add("hedge")
            features -= {"contrast", "grounded"}
    if asks and "reported" in features:
        features.add("question_asked")
    if features & {"told", "wrong", "henceforth", "project_rule"}:
        features.discard("request_first")
    if features & {"blame", "told"}:
        features.discard("self")
    if (
        not features & _ANOTHER_KIND
        and features >= {"always", "topic"}
        and "direct" not in features
    ):
        features.add("standing")
    denies = features >= {"contrast", "grounded"} and not features & {
        "always",
        "request_first",
        "instead",
    }
    if features & _ABOUT_THE_WORK or (denies and "symptom" not in features):
        features.discard("product")
    if "undo" in features:
        features.discard("symptom")
    return features
