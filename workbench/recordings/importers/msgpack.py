"""MessagePack, decoded to JSON values as far as these go (its specification of 2013).

An object of a class, which LangGraph writes as an extension, becomes what LangChain's `dumpd` makes
of it: its class and its arguments.
"""

import struct
from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from workbench.base.errors import FormatError
from workbench.engine.transcript.message import Json
from workbench.recordings.importers.values import JsonObject

_NUMBERS = {
    0xCA: ">f",
    0xCB: ">d",
    0xCC: ">B",
    0xCD: ">H",
    0xCE: ">I",
    0xCF: ">Q",
    0xD0: ">b",
    0xD1: ">h",
    0xD2: ">i",
    0xD3: ">q",
}
_LENGTHS = {
    0xC4: ">B",
    0xC5: ">H",
    0xC6: ">I",
    0xC7: ">B",
    0xC8: ">H",
    0xC9: ">I",
    0xD9: ">B",
    0xDA: ">H",
    0xDB: ">I",
    0xDC: ">H",
    0xDD: ">I",
    0xDE: ">H",
    0xDF: ">I",
}
"""How the length is written of what begins with such a byte."""
_FIXED_EXTENSIONS = {0xD4: 1, 0xD5: 2, 0xD6: 4, 0xD7: 8, 0xD8: 16}
_CONSTANTS: Mapping[int, Json] = {0xC0: None, 0xC2: False, 0xC3: True}
_TIMESTAMP = 255
_WITH_ARGUMENTS = frozenset({0, 1, 2, 3, 4, 5})
"""Extensions that are the module and the name of a class, and its arguments."""
_SNAPSHOT = 7
_DEEPEST = 100


def unpacked_value(data: bytes) -> Json:
    """The value that these bytes are.

    Raises:
        FormatError: they end too early, or are no MessagePack.
    """
    return _Reader(data, 0).value()


class _Reader:
    """Reads one value after another."""

    def __init__(self, data: bytes, depth: int) -> None:
        self.data = data
        self.offset = 0
        self.depth = depth

    def value(self) -> Json:
        """The next value."""
        mark = self._bytes(1)[0]
        if mark <= 0x7F:
            return mark
        if mark >= 0xE0:
            return mark - 0x100
        if mark in _CONSTANTS:
            return _CONSTANTS[mark]
        if mark in _NUMBERS:
            number: int | float = self._number(_NUMBERS[mark])
            return number
        if mark in _FIXED_EXTENSIONS:
            return self._extension(_FIXED_EXTENSIONS[mark])
        if mark <= 0xBF:
            return self._short(mark)
        if mark not in _LENGTHS:
            raise FormatError(f"is no MessagePack (byte {mark:#x} at {self.offset - 1})")
        length = int(self._number(_LENGTHS[mark]))
        return self._long(mark, length)

    def _short(self, mark: int) -> Json:
        """What has its length in its first byte."""
        if mark <= 0x8F:
            return self._object(mark & 0x0F)
        if mark <= 0x9F:
            return self._list(mark & 0x0F)
        return self._text(mark & 0x1F)

    def _long(self, mark: int, length: int) -> Json:
        """What has its length behind its first byte."""
        read: Callable[[int], Json] = self._text
        if mark >= 0xDE:
            read = self._object
        elif mark >= 0xDC:
            read = self._list
        elif 0xC7 <= mark <= 0xC9:
            read = self._extension
        return read(length)

    def _bytes(self, count: int) -> bytes:
        end = self.offset + count
        if end > len(self.data):
            raise FormatError("the MessagePack ends too early")
        piece = self.data[self.offset : end]
        self.offset = end
        return piece

    def _number(self, form: str) -> int | float:
        number: int | float = struct.unpack(form, self._bytes(struct.calcsize(form)))[0]
        return number

    def _text(self, length: int) -> str:
        return self._bytes(length).decode(errors="replace")

    def _list(self, length: int) -> list[Json]:
        self._deeper()
        values = [self.value() for _ in range(length)]
        self.depth -= 1
        return values

    def _object(self, length: int) -> JsonObject:
        self._deeper()
        values: JsonObject = {}
        for _ in range(length):
            name = self.value()
            values[str(name)] = self.value()
        self.depth -= 1
        return values

    def _deeper(self) -> None:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise FormatError(f"the MessagePack is nested more than {_DEEPEST} deep")

    def _extension(self, length: int) -> Json:
        kind = self._bytes(1)[0]
        data = self._bytes(length)
        if kind == _TIMESTAMP and length == 4:
            seconds = struct.unpack(">I", data)[0]
            return datetime.fromtimestamp(seconds, UTC).isoformat()
        if kind not in _WITH_ARGUMENTS and kind != _SNAPSHOT:
            return None
        self._deeper()
        inner = _Reader(data, self.depth).value()
        self.depth -= 1
        if kind == _SNAPSHOT or not isinstance(inner, list) or len(inner) < 3:
            return inner
        module, name, arguments = inner[:3]
        if isinstance(arguments, dict):
            return {"type": "constructor", "id": [module, name], "kwargs": arguments}
        return arguments
