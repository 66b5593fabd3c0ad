"""One JSON request to an embedding server. Every failure means the same: it is not available."""

import http.client
import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any

from perpetualcc.knowledge.embeddings import EmbeddingsUnavailable

QUERY_TIMEOUT = 5.0
"""Seconds for the vector of a query: somebody waits, and the words can answer without it."""


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """The key in the headers would go along, wherever one leads: it is an error status."""

    def redirect_request(self, *_: Any) -> None:
        return None


def post_json(
    url: str, body: Mapping[str, Any], *, headers: Mapping[str, str], timeout: float, hint: str
) -> dict[str, Any]:
    """
    The JSON object that the server answers.

    Raises:
        EmbeddingsUnavailable: no connection, no answer in time, an error status, or no JSON.
    """
    try:
        request = urllib.request.Request(  # noqa: S310  # the address is the user's own setting
            url,
            data=json.dumps(body).encode(),
            headers={"Content-Type": "application/json", **headers},
        )
        opener = urllib.request.build_opener(_NoRedirects)
        with opener.open(request, timeout=timeout) as response:
            answer = json.load(response)
    except urllib.error.HTTPError as error:
        with error:
            reason = f"status {error.code}"
    except (OSError, http.client.HTTPException, ValueError) as error:
        # The text of some of these repeats the request, and a key travels in its headers.
        reason = type(error).__name__
    else:
        if isinstance(answer, dict):
            return answer
        reason = "nonsense"
    raise EmbeddingsUnavailable(
        f"The embedding server at {url} does not answer ({reason})", hint=hint
    )


def unit_vectors(found: object, count: int, server: str) -> list[list[float]]:
    """
    The vectors of an answer at unit length.

    Raises:
        EmbeddingsUnavailable: they are not `count` lists of numbers.
    """
    if not isinstance(found, list) or len(found) != count:
        raise EmbeddingsUnavailable(f"{server} did not answer with {count} vectors")
    return [_unit(vector, server) for vector in found]


def _unit(vector: object, server: str) -> list[float]:
    if not isinstance(vector, list) or not vector:
        raise EmbeddingsUnavailable(f"{server} answers with something that is no vector")
    try:
        numbers = [float(number) for number in vector]
    except (TypeError, ValueError):
        raise EmbeddingsUnavailable(f"{server} answers with something that is no vector") from None
    length = sum(number * number for number in numbers) ** 0.5 or 1.0
    return [number / length for number in numbers]
