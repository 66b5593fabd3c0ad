"""Token ids are those of BERT's own tokenizer."""

import hashlib
from importlib import resources

from hypothesis import given
from hypothesis import strategies as st

from perpetualcc.knowledge.embedding.wordpiece import WordPiece

TOKENS = WordPiece()

# As `tokenizers` 0.23 gives them with the model's tokenizer.json.
KNOWN = {
    "": [101, 102],
    "def getUserName(self): return x_1": [
        101,
        13366,
        2131,
        20330,
        18442,
        1006,
        2969,
        1007,
        1024,
        2709,
        1060,
        1035,
        1015,
        102,
    ],
    "Ünïcödé 漢字 café — “quotes”": [101, 27260, 1904, 100, 7668, 1517, 1523, 16614, 1524, 102],
    "pneumonoultramicroscopic\t\x07 zzzzqq": [
        101,
        1052,
        2638,
        2819,
        17175,
        11314,
        6444,
        2594,
        7352,
        26461,
        1062,
        13213,
        2480,
        4160,
        4160,
        102,
    ],
}


def test_known_texts_have_their_known_ids():
    assert {text: TOKENS.ids(text, 256) for text in KNOWN} == KNOWN


def test_the_vocabulary_is_the_published_one():
    data = (
        resources.files("perpetualcc.knowledge.embedding").joinpath("vocabulary.txt").read_bytes()
    )

    assert hashlib.sha256(data).hexdigest() == (
        "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
    )


@given(st.text(max_size=300), st.integers(2, 64))
def test_any_text_has_ids_within_the_limit(text, limit):
    ids = TOKENS.ids(text, limit)

    assert len(ids) <= limit
    assert (ids[0], ids[-1]) == (101, 102)
