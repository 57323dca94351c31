"""MessagePack as LangGraph writes it, for made-up checkpoints."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Extension:
    """An object of a class: the number of its kind, and its packed bytes."""

    kind: int
    data: bytes


def packed(value: Any) -> bytes:
    """A value in the shortest form for its size."""
    if value is None:
        return b"\xc0"
    if isinstance(value, bool):
        return b"\xc3" if value else b"\xc2"
    if isinstance(value, int):
        return _packed_integer(value)
    if isinstance(value, float):
        return b"\xcb" + struct.pack(">d", value)
    if isinstance(value, str):
        data = value.encode()
        return _head(len(data), fixed=(0xA0, 32), sized=(0xD9, 0xDA, 0xDB)) + data
    if isinstance(value, Extension):
        head = _head(len(value.data), fixed=(0, 0), sized=(0xC7, 0xC8, 0xC9))
        return head + bytes([value.kind]) + value.data
    if isinstance(value, list):
        head = _head(len(value), fixed=(0x90, 16), sized=(0, 0xDC, 0xDD))
        return head + b"".join(packed(inner) for inner in value)
    head = _head(len(value), fixed=(0x80, 16), sized=(0, 0xDE, 0xDF))
    return head + b"".join(packed(name) + packed(inner) for name, inner in value.items())


def _packed_integer(value: int) -> bytes:
    if -32 <= value < 128:
        return struct.pack("b", value)
    forms = (">b", ">h", ">i", ">q") if value < 0 else (">B", ">H", ">I", ">Q")
    for index, form in enumerate(forms):
        try:
            data = struct.pack(form, value)
        except struct.error:
            continue
        return bytes([(0xD0 if value < 0 else 0xCC) + index]) + data
    raise ValueError(value)


def _head(length: int, *, fixed: tuple[int, int], sized: tuple[int, int, int]) -> bytes:
    """The first bytes of something of this length."""
    base, most = fixed
    if length < most:
        return bytes([base + length])
    for mark, form, limit in zip(
        sized, (">B", ">H", ">I"), (1 << 8, 1 << 16, 1 << 32), strict=True
    ):
        if mark and length < limit:
            return bytes([mark]) + struct.pack(form, length)
    raise ValueError(length)
