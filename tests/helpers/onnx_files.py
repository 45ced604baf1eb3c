"""Tiny ONNX models, written by hand: the format is protocol buffers, and a package for it is not needed for that."""

from __future__ import annotations

from pathlib import Path

FLOAT, UINT8 = 1, 2


def _varint(number: int) -> bytes:
    found = b""
    while number > 127:
        found += bytes([number & 127 | 128])
        number >>= 7
    return found + bytes([number])


def _bytes(field: int, data: bytes | str) -> bytes:
    data = data.encode() if isinstance(data, str) else data
    return _varint(field << 3 | 2) + _varint(len(data)) + data


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _value(name: str, kind: int, shape: tuple[int | str, ...]) -> bytes:
    sizes = b"".join(_bytes(1, _bytes(2, size) if isinstance(size, str) else _number(1, size)) for size in shape)
    return _bytes(1, name) + _bytes(2, _bytes(1, _number(1, kind) + _bytes(2, sizes)))


def write_model(
    path: Path,
    shape: tuple[int | str, ...] = (1, 3, 8, 10),
    operator: str = "GlobalAveragePool",
    out: tuple[int | str, ...] = (1, 3, 1, 1),
    kind: int = FLOAT,
    inputs: int = 1,
) -> Path:
    """Write a model of one operator: by default the mean of each colour."""
    names = [f"picture{number}" for number in range(inputs)]
    node = b"".join(_bytes(1, name) for name in names) + _bytes(2, "embedding") + _bytes(4, operator)
    graph = _bytes(1, node) + _bytes(2, "tiny")
    graph += b"".join(_bytes(11, _value(name, kind, shape)) for name in names)
    graph += _bytes(12, _value("embedding", kind, out))
    path.write_bytes(_number(1, 8) + _bytes(7, graph) + _bytes(8, _bytes(1, "") + _number(2, 13)))
    return path
