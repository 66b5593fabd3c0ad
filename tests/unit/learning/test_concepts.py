"""Words of many languages say the same few things, in an order that counts."""

import pytest

from perpetualcc.learning.corrections.concepts import concepts, vocabulary
from perpetualcc.learning.corrections.lexicon import lexicons
from perpetualcc.learning.corrections.text import fold


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("remove the comments", "en"),
        ("entferne die Kommentare", "de"),
        ("enlève les commentaires", "fr"),
        ("quita los comentarios", "es"),
        ("remova os comentários", "pt"),
        ("togli i commenti", "it"),
        ("usuń komentarze", "pl"),
        ("убери комментарии", "ru"),
        ("删除注释", "zh"),
        ("코드에서 제거 주석", "ko"),
    ],
)
def test_one_demand_means_one_thing_in_every_language(text, code):
    found = concepts(fold(text, accents=False), code)

    assert {"says:remove", "says:method", "remove>method"} <= found.keys()


def test_the_order_of_meanings_is_kept_and_a_clause_ends_it():
    assert "not>work" in concepts("does not work", "en")
    assert "work>not" not in concepts("does not work", "en")
    assert "no>work" not in concepts("no, it works", "en")


def test_only_what_stands_in_front_opens_a_message():
    found = concepts("no the third word from the end should still be removed", "en")

    assert "opens:no" in found
    assert "opens:still" not in found
    assert "says:still" in found


@pytest.mark.parametrize("lexicon", lexicons(), ids=lambda one: one.code)
def test_every_language_that_is_read_knows_what_negates_and_what_removes(lexicon):
    known = vocabulary(lexicon.code)
    meanings = {name for row in (*known.words.values(), *known.stems.values()) for name in row}

    assert {"not", "remove", "still", "you"} <= meanings


def test_a_language_without_words_is_read_with_the_english_ones():
    assert vocabulary("xx").meanings("remove") == vocabulary("en").meanings("remove")
