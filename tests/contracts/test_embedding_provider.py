"""What every `EmbeddingProvider` promises, the fake and the real ones."""

import json
import socket
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from perpetualcc.knowledge.embedding.gemini import GeminiEmbeddings
from perpetualcc.knowledge.embedding.minilm import MiniLMEmbeddings
from perpetualcc.knowledge.embedding.ollama import OllamaEmbeddings
from perpetualcc.knowledge.embeddings import EmbeddingsUnavailable
from tests.fakes.embeddings import LetterEmbeddings


class _Server(BaseHTTPRequestHandler):
    """Ollama's and Gemini's endpoints over the letters of a text."""

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.requests.append((self.path, dict(self.headers), body))
        status, answer = self.server.answer(body)
        data = json.dumps(answer).encode() if not isinstance(answer, bytes) else answer
        self.send_response(status)
        self.send_header("content-length", str(len(data)))
        if status == 302:
            self.send_header("location", data.decode())
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        self.server.requests.append((self.path, dict(self.headers), None))
        self.send_error(404)

    def log_message(self, *_):
        pass


def _letters(texts):
    return [[3 * number for number in LetterEmbeddings().embed(text)] for text in texts]


def _answer(body):
    if "input" in body:
        return 200, {"embeddings": _letters(body["input"])}
    texts = [entry["content"]["parts"][0]["text"] for entry in body["requests"]]
    return 200, {"embeddings": [{"values": vector} for vector in _letters(texts)]}


@pytest.fixture
def server():
    opened = HTTPServer(("127.0.0.1", 0), _Server)
    opened.requests = []
    opened.answer = _answer
    thread = threading.Thread(target=opened.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield opened
    opened.shutdown()
    thread.join()
    opened.server_close()


@pytest.fixture
def address(server):
    return f"http://127.0.0.1:{server.server_port}"


@pytest.fixture(params=["fake", "minilm", "ollama", "gemini"])
def provider(request, address):
    match request.param:
        case "fake":
            return LetterEmbeddings()
        case "minilm":
            return MiniLMEmbeddings(threads=1)
        case "ollama":
            return OllamaEmbeddings(address=address)
        case "gemini":
            return GeminiEmbeddings("key-of-mine", address=address)


def _cosine(one, other):
    return float(sum(a * b for a, b in zip(one, other, strict=True)))


def test_vectors_have_unit_length_and_come_in_the_order_of_the_texts(provider):
    texts = ["def open(): pass", "a much longer text about bananas " * 20, "zebra"]

    found = provider.embed_batch(texts)

    assert [_cosine(vector, vector) for vector in found] == pytest.approx([1.0] * 3, abs=1e-3)
    for text, vector in zip(texts, found, strict=True):
        assert _cosine(vector, provider.embed_batch([text])[0]) == pytest.approx(1.0, abs=0.02)


def test_the_same_text_gives_the_same_vector(provider):
    assert list(provider.embed("cashier")) == list(provider.embed("cashier"))


def test_a_batch_of_none_is_none(provider):
    assert provider.embed_batch([]) == []


def test_the_model_has_a_name(provider):
    assert provider.model


def test_minilm_knows_that_log_in_is_nearer_to_authentication_than_to_drawing():
    model = MiniLMEmbeddings(threads=1)

    query = model.embed("how do I log in?")
    near, far = model.embed_batch(["user authentication", "draw a progress bar"])

    assert _cosine(query, near) > _cosine(query, far) + 0.2


BAD_ANSWERS = [
    (500, {}),
    (404, {"error": "model not found"}),
    (200, b"not json"),
    (200, []),
    (200, {}),
    (200, {"embeddings": [[1.0]]}),
    (200, {"embeddings": [["a"], [1.0]]}),
    (200, {"embeddings": [None, {"values": []}]}),
]


@pytest.mark.parametrize("answer", BAD_ANSWERS)
@pytest.mark.parametrize(
    "make", [OllamaEmbeddings, lambda **k: GeminiEmbeddings("key-of-mine", **k)]
)
def test_any_bad_answer_means_unavailable_and_tells_no_key(server, address, make, answer):
    server.answer = lambda _body: answer

    with pytest.raises(EmbeddingsUnavailable) as caught:
        make(address=address).embed_batch(["a", "b"])

    assert "key-of-mine" not in str(caught.value)


def test_a_key_is_not_taken_along_to_where_a_redirect_leads(server, address):
    server.answer = lambda _body: (302, f"{address}/elsewhere".encode())

    with pytest.raises(EmbeddingsUnavailable, match="302"):
        GeminiEmbeddings("key-of-mine", address=address).embed("x")

    assert len(server.requests) == 1


def test_nobody_listening_means_unavailable():
    with pytest.raises(EmbeddingsUnavailable):
        OllamaEmbeddings(address="http://127.0.0.1:9", timeout=2).embed("x")


@pytest.mark.parametrize("make", [OllamaEmbeddings, lambda **k: GeminiEmbeddings("key", **k)])
def test_a_query_does_not_wait_as_long_as_a_batch_may(make):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        provider = make(address=address, timeout=30, query_timeout=0.05)

        with pytest.raises(EmbeddingsUnavailable, match="TimeoutError"):
            provider.embed("x")


def test_ollama_is_told_what_a_text_is_for(server, address):
    model = OllamaEmbeddings(address=address)

    model.embed("q")
    model.embed_batch(["d"])

    assert [body["input"] for _, _, body in server.requests] == [
        ["search_query: q"],
        ["search_document: d"],
    ]


def test_geminis_key_travels_in_a_header_only(server, address):
    GeminiEmbeddings("key-of-mine", address=address).embed("q")

    ((path, headers, body),) = server.requests
    assert {name.lower(): value for name, value in headers.items()}[
        "x-goog-api-key"
    ] == "key-of-mine"
    assert "key-of-mine" not in path + json.dumps(body)
