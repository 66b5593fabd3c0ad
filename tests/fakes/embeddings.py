"""Embedding models without a model."""

from collections import Counter

from perpetualcc.knowledge.embeddings import EmbeddingsUnavailable


class LetterEmbeddings:
    """Texts with the same letters are near each other. May stop answering after some batches."""

    def __init__(self, model="letters", *, stop_after=None):
        self.model = model
        self.models = (model,)
        self.stop_after = stop_after
        self.texts = 0
        self._batches = 0

    def embed(self, text):
        return self.embed_batch([text])[0]

    def embed_batch(self, texts):
        if self.stop_after is not None and self._batches >= self.stop_after:
            raise EmbeddingsUnavailable("The model is gone")
        self._batches += 1
        self.texts += len(texts)
        return [self._vector(text) for text in texts]

    def _vector(self, text):
        counts = Counter(text.lower())
        numbers = [float(counts[letter]) for letter in "abcdefghijklmnopqrstuvwxyz"]
        numbers.append(1e-6)
        length = sum(number * number for number in numbers) ** 0.5
        return [number / length for number in numbers]


class Absent:
    """A model that never answers."""

    model = "absent"
    models = ("absent",)

    def embed(self, text):
        raise EmbeddingsUnavailable("nobody home")

    def embed_batch(self, texts):
        raise EmbeddingsUnavailable("nobody home")
