"""
all-MiniLM-L6-v2 as a graph that multiplies in int8.

The published file keeps its matrices in int8 and turns them into floats before it multiplies:
small on disk, and as slow as the model was. The same matrices, multiplied as they are by inputs
that are rounded to int8 on the way, take two fifths of the time. One text at a time, so nothing is
padded, and a text's vector does not depend on which others were embedded beside it.
"""

from collections.abc import Iterable, Iterator

from perpetualcc.knowledge.embedding.onnx_format import (
    TENSOR_FLOAT,
    TENSOR_INT64,
    model,
    node,
    value,
    weights,
)

_MICROSOFT = "com.microsoft"
_HEADS = 12
_EPSILON = 1e-12
"""Of BERT's layer norms."""
_MATRICES = ("query", "key", "value", "attended", "intermediate", "output")
"""Of each layer, in the order in which the published file holds them; it numbers them only."""


def quick_graph(published: bytes) -> bytes:
    """
    The published model's weights in the other graph.

    Inputs `input_ids` (1, n), `positions` (n) and `kind` (1), all int64, the last being 0; output
    `states` (1, n, 384).
    """
    graph = _Graph(weights(published))
    graph.build()
    return model(
        graph.nodes,
        [graph.published[name] for name in sorted(graph.used)],
        [
            value("input_ids", TENSOR_INT64, [1, "n"]),
            value("positions", TENSOR_INT64, ["n"]),
            value("kind", TENSOR_INT64, [1]),
        ],
        [value("states", TENSOR_FLOAT, [1, "n", 384])],
    )


class _Graph:
    """The steps of the network, as they are put down; each gives back the name of its result."""

    def __init__(self, published: dict[str, bytes]) -> None:
        self.published = published
        self.nodes: list[bytes] = []
        self.used: set[str] = set()

    def build(self) -> None:
        state = self._embedded()
        for number, names in enumerate(_layers(self.published)):
            state = self._layer(number, names, state)
        self.nodes.append(node("Identity", [state], "states"))

    def _embedded(self) -> str:
        words = self._rows("word", "input_ids")
        places = self._rows("position", "positions")
        kind = self._step(
            "Gather", self._weight("inner.embeddings.token_type_embeddings.weight"), "kind"
        )
        placed = self._step("Add", words, self._step("Add", places, kind))
        norm = "inner.embeddings.LayerNorm."
        return self._step(
            "LayerNormalization",
            placed,
            self._weight(norm + "weight"),
            self._weight(norm + "bias"),
            epsilon=_EPSILON,
        )

    def _rows(self, table: str, numbers: str) -> str:
        """Rows of a table that is kept in int8, with a scale for each row."""
        name = f"inner.embeddings.{table}_embeddings.weight"
        rows = self._step("Gather", self._weight(name + "_q"), numbers)
        scales = self._step("Gather", self._weight(name + "_scale"), numbers)
        return self._step("Mul", self._step("Cast", rows, to=TENSOR_FLOAT), scales)

    def _layer(self, number: int, matrices: dict[str, str], state: str) -> str:
        prefix = f"inner.encoder.layer.{number}."
        asked = [
            self._linear(state, matrices[part], f"{prefix}attention.self.{part}.bias")
            for part in ("query", "key", "value")
        ]
        attended = self._step("MultiHeadAttention", *asked, domain=_MICROSOFT, num_heads=_HEADS)
        bias = f"{prefix}attention.output.dense.bias"
        attended = self._linear(attended, matrices["attended"], bias)
        state = self._normal(state, attended, f"{prefix}attention.output.LayerNorm.")
        wide = self._step(
            "BiasGelu",
            self._linear(state, matrices["intermediate"]),
            self._weight(f"{prefix}intermediate.dense.bias"),
            domain=_MICROSOFT,
        )
        narrow = self._linear(wide, matrices["output"], f"{prefix}output.dense.bias")
        return self._normal(state, narrow, f"{prefix}output.LayerNorm.")

    def _linear(self, state: str, matrix: str, bias: str = "") -> str:
        inputs = [state, self._weight(matrix + "_q"), self._weight(matrix + "_scale"), ""]
        if bias:
            inputs.append(self._weight(bias))
        return self._step("DynamicQuantizeMatMul", *inputs, domain=_MICROSOFT)

    def _normal(self, state: str, added: str, norm: str) -> str:
        return self._step(
            "SkipLayerNormalization",
            state,
            added,
            self._weight(norm + "weight"),
            self._weight(norm + "bias"),
            domain=_MICROSOFT,
            epsilon=_EPSILON,
        )

    def _weight(self, name: str) -> str:
        self.used.add(name)
        return name

    def _step(
        self,
        operator: str,
        *inputs: str,
        domain: str = "",
        **attributes: float,
    ) -> str:
        output = f"step_{len(self.nodes)}"
        self.nodes.append(node(operator, inputs, output, domain, **attributes))
        return output


def _layers(published: Iterable[str]) -> Iterator[dict[str, str]]:
    """The matrices of each layer by what they are for."""
    numbered = [
        name.removesuffix("_q")
        for name in published
        if name.startswith("val_") and name.endswith("_q")
    ]
    for at in range(0, len(numbered), len(_MATRICES)):
        yield dict(zip(_MATRICES, numbered[at : at + len(_MATRICES)], strict=True))
