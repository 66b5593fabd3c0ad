"""
The ONNX file format, as far as it takes to put known weights into another graph.

An ONNX file is a protobuf message: numbered fields, of which these few are needed. The `onnx`
package does all of it, in 17 MB and with a dependency on protobuf. Field numbers: `onnx.proto`.
"""

import struct
from collections.abc import Iterator, Sequence

_VARINT, _BYTES, _FOUR_BYTES = 0, 2, 5
_FLOAT, _INT = 1, 2
_IR_VERSION = 8
_OPERATORS = (("", 17), ("com.microsoft", 1))

TENSOR_FLOAT, TENSOR_INT64 = 1, 7
"""`TensorProto.DataType`."""


def weights(model: bytes) -> dict[str, bytes]:
    """
    Every tensor that a model brings, by name, in its encoded form.

    Raises:
        ValueError: these bytes are no such model.
    """
    found = {}
    for number, graph in _fields(model):
        if number == 7 and isinstance(graph, bytes):
            for part, tensor in _fields(graph):
                if part == 5 and isinstance(tensor, bytes):
                    found[_name(tensor)] = tensor
    return found


def _name(tensor: bytes) -> str:
    for part, value in _fields(tensor):
        if part == 8 and isinstance(value, bytes):
            return value.decode()
    raise ValueError("a tensor has no name")


def _fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    at = 0
    while at < len(message):
        key, at = _read_varint(message, at)
        match key & 7:
            case 0:
                value, at = _read_varint(message, at)
                yield key >> 3, value
            case 2:
                size, at = _read_varint(message, at)
                yield key >> 3, message[at : at + size]
                at += size
            case 1:
                at += 8
            case 5:
                at += 4
            case _:
                raise ValueError("not a protobuf message")


def _read_varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(message):
        byte = message[at]
        value |= (byte & 0x7F) << shift
        at += 1
        if byte < 0x80:
            return value, at
        shift += 7
    raise ValueError("a protobuf message ends in the middle of a number")


def _varint(value: int) -> bytes:
    found = bytearray()
    while value >= 0x80:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    found.append(value)
    return bytes(found)


def _field(number: int, value: float | str | bytes) -> bytes:
    """A field of any kind; an int and a float are written differently."""
    match value:
        case int():
            return _varint(number << 3 | _VARINT) + _varint(value)
        case float():
            return _varint(number << 3 | _FOUR_BYTES) + struct.pack("<f", value)
        case str():
            return _field(number, value.encode())
        case bytes():
            return _varint(number << 3 | _BYTES) + _varint(len(value)) + value


def node(
    operator: str, inputs: Sequence[str], output: str, domain: str = "", **attributes: float
) -> bytes:
    """One step of a graph; an empty name among the inputs stands for one that is left out."""
    return b"".join(
        [
            *(_field(1, name) for name in inputs),
            _field(2, output),
            _field(4, operator),
            *(_field(5, _attribute(name, value)) for name, value in attributes.items()),
            _field(7, domain),
        ]
    )


def _attribute(name: str, value: float) -> bytes:
    place, kind = (2, _FLOAT) if isinstance(value, float) else (3, _INT)
    return _field(1, name) + _field(place, value) + _field(20, kind)


def value(name: str, element: int, shape: Sequence[str | int]) -> bytes:
    """What goes into a graph or comes out; a dimension is a number, or a name for any number."""
    dimensions = b"".join(
        _field(1, _field(1 if isinstance(size, int) else 2, size)) for size in shape
    )
    return _field(1, name) + _field(2, _field(1, _field(1, element) + _field(2, dimensions)))


def model(
    nodes: Sequence[bytes],
    tensors: Sequence[bytes],
    inputs: Sequence[bytes],
    outputs: Sequence[bytes],
) -> bytes:
    """A whole file."""
    graph = b"".join(
        [
            *(_field(1, entry) for entry in nodes),
            _field(2, "graph"),
            *(_field(5, entry) for entry in tensors),
            *(_field(11, entry) for entry in inputs),
            *(_field(12, entry) for entry in outputs),
        ]
    )
    versions = (_field(8, _field(1, domain) + _field(2, number)) for domain, number in _OPERATORS)
    return b"".join([_field(1, _IR_VERSION), _field(7, graph), *versions])
