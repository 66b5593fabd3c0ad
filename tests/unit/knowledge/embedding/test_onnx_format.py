"""What is written can be read again, and what is no model is said to be none."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perpetualcc.knowledge.embedding.onnx_format import (
    TENSOR_FLOAT,
    model,
    node,
    value,
    weights,
)


def tensor(name: str, data: bytes) -> bytes:
    """Dimensions, type 1, raw data, name: short enough for one byte of length each."""
    return (
        bytes([1 << 3, len(data), 2 << 3, TENSOR_FLOAT, 9 << 3 | 2, len(data)])
        + data
        + bytes([8 << 3 | 2, len(name)])
        + name.encode()
    )


@given(st.dictionaries(st.from_regex(r"[a-z_.]{1,20}", fullmatch=True), st.binary(max_size=90)))
def test_weights_come_back_as_they_were_put_in(tensors):
    encoded = {name: tensor(name, data) for name, data in tensors.items()}
    steps = [node("Identity", ["a"], "b", epsilon=1e-12, num_heads=12)]
    ends = [value("a", TENSOR_FLOAT, [1, "n"])]

    assert weights(model(steps, list(encoded.values()), ends, ends)) == encoded


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data):
    with suppress(ValueError):
        assert all(name.encode() in tensor in data for name, tensor in weights(data).items())


def test_a_tensor_without_a_name_is_refused():
    with pytest.raises(ValueError, match="no name"):
        weights(b"\x3a\x02\x2a\x00")


def test_a_number_that_never_ends_is_refused():
    with pytest.raises(ValueError, match="middle of a number"):
        weights(b"\xff\xff")
