"""Opening files that nobody vouches for: regular files only, unpacked and turned into UTF-8,
within bounds.
"""

import bz2
import codecs
import gzip
import io
import lzma
import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from io import BufferedReader
from itertools import count
from pathlib import Path
from time import monotonic
from typing import Any, BinaryIO, Protocol, TypeAlias

from workbench.base.errors import FormatError, missing_extra
from workbench.recordings.importers.json_text import decodable

MOST_UNPACKED = 4 << 30
"""Bytes to which a packed file may unpack. Only lines are read of so much, one at a time."""
MOST_AT_ONCE = 256 << 20
"""Bytes of a document that is read as a whole."""
LONGEST_LINE = 64 << 20
"""Bytes of a line. Real ones with images in them have some 10 MB."""
MOST_LINES = 2_000_000
"""Lines of a file, empty ones too."""
MOST_UNPACKING = 256 << 20
"""Bytes of memory that unpacking may take."""
MOST_TIMES, ALWAYS = 50, 32 << 20
"""Times its packed size to which anything may unpack, beyond the first 32 MB. Real recordings
unpack to 15 times.
"""
SECONDS = 600
"""That reading one file may take."""
BOMB = f"unpacks to more than {MOST_TIMES} times its size, as no recording does"
PACKED_ENDINGS = (".gz", ".zst", ".bz2", ".xz")
"""How the name of a packed file ends; what it is, its first bytes say."""
_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_QUOTED_JSON = re.compile(rb'(?:\xef\xbb\xbf)?\s*"(?:\s|\\[nrt])*[\[{]')
"""How a JSON string begins that holds an object or a list."""
_PIECE = 1 << 16


def opened(path: str, note: Callable[[str], None] | None = None) -> BufferedReader:
    """The bytes of a file, unpacked, as UTF-8 with the newlines of Unix or Windows.

    Args:
        path: of a regular file.
        note: is told what was left out of a packed file that is damaged; without it that is an
            error.

    Raises:
        FormatError: it is no regular file, it is damaged, or it unpacks to more than 4 GB.
    """
    file = Path(path)
    if file.exists() and not file.is_file():
        kind = "a pipe, a socket or a device"
        if file.is_dir():
            kind = "a folder without the right to read it"
        raise FormatError(f"is {kind}, where a regular file is needed", where=path)
    return unpacked(file.open("rb"), path, note)


def unpacked(
    stream: BufferedReader, where: str, note: Callable[[str], None] | None = None
) -> BufferedReader:
    """What is in a stream that can be rewound, likewise."""
    unpacker = _unpacker(stream.peek(_LONGEST_MARK))
    if unpacker is not None:
        read = _unpacking(unpacker, stream, where, note)
        stream = BufferedReader(_Pieces(read, stream), _PIECE)
    encoding = _encoding(stream.peek(_PIECE))
    if not encoding:
        return _without_quotes(stream, where)
    errors = "surrogateescape" if encoding == "utf-8" else "replace"
    text = io.TextIOWrapper(stream, encoding, errors=errors)

    def read_utf8(size: int) -> bytes:
        return text.read(size // 4).encode(errors="surrogateescape")

    stream = BufferedReader(_Pieces(read_utf8, text), _PIECE)
    return _without_quotes(stream, where)


def _without_quotes(stream: BufferedReader, where: str) -> BufferedReader:
    """What a stream holds; where it is one JSON string that holds JSON, as a program writes that
    encodes twice, what the string holds.
    """
    if not _QUOTED_JSON.match(stream.peek(_PIECE)):
        return stream
    with stream:
        raw = whole(stream, where)
    text = raw.removeprefix(codecs.BOM_UTF8).decode(errors="surrogateescape")
    inner = decodable(text)
    if isinstance(inner, str):
        raw = inner.encode(errors="surrogateescape")
    return BufferedReader(io.BytesIO(raw))


def in_time(began: float, where: str, line: int | None = None) -> None:
    """Nothing where a file's time is not up.

    Args:
        began: when reading it did, as `time.monotonic` says.
        where: its path.
        line: that is read now.

    Raises:
        FormatError: it is.
    """
    if monotonic() - began > SECONDS:
        raise FormatError(
            f"takes longer than {SECONDS // 60} minutes, the most for one file",
            where=where,
            line=line,
        )


def lines(
    stream: BinaryIO, where: str, began: float, note: Callable[[str], None] | None = None
) -> Iterator[tuple[int, bytes]]:
    """Its lines with their numbers from 1, and with their ends.

    Args:
        stream: of a file.
        where: its path.
        began: when reading the file did, as `time.monotonic` says.
        note: is told of a line that is longer than any that is read, and left out; without it that
            is an error.

    Raises:
        FormatError: a line is too long, there are too many, or the file's time is up.
    """
    for number in count(1):
        in_time(began, where, number)
        if number > MOST_LINES:
            raise FormatError(
                f"has more than {MOST_LINES:,} lines, the most that is read", where=where
            )
        line = stream.readline(LONGEST_LINE + 1)
        if not line:
            return
        if len(line) <= LONGEST_LINE:
            yield number, line
            continue
        fault = f"is longer than {LONGEST_LINE >> 20} MB"
        if note is None:
            raise FormatError(fault, where=where, line=number)
        note(f"line {number}: {fault}, left out")
        while line and not line.endswith(b"\n"):
            in_time(began, where, number)
            line = stream.readline(_PIECE)


def whole(stream: BinaryIO, where: str) -> bytes:
    """Everything in a stream.

    Raises:
        FormatError: it is more than is read at once.
    """
    raw = stream.read(MOST_AT_ONCE + 1)
    if len(raw) > MOST_AT_ONCE:
        raise FormatError(
            f"is one document of more than {MOST_AT_ONCE >> 20} MB, the most that is read",
            where=where,
        )
    return raw


class _Pieces(io.RawIOBase):
    """A stream of what a function gives, which is asked for at most so many bytes; it closes the
    one that it reads.
    """

    def __init__(self, read: Callable[[int], bytes], under: io.IOBase) -> None:
        self._read = read
        self._under = under

    def readable(self) -> bool:
        return True

    def readinto(self, into: Any, /) -> int:  # noqa: ANN401 - a buffer, which Python 3.11 has no name for
        room = memoryview(into).cast("B")
        piece = self._read(len(room))
        room[: len(piece)] = piece
        return len(piece)

    def close(self) -> None:
        self._under.close()
        super().close()


ReadPiece: TypeAlias = Callable[[int], bytes]
"""Gives the next bytes of a stream, at most so many; none at its end."""


class _Decompressor(Protocol):
    """Of `bz2` and `lzma`."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int) -> bytes: ...


def _streams(make: Callable[[], _Decompressor], packed: BufferedReader) -> ReadPiece:
    """What is in a file of packed streams, one after another."""
    current = make()

    def read(size: int) -> bytes:
        nonlocal current
        while True:
            data = b""
            if current.eof:
                data = current.unused_data or packed.read1(_PIECE)
                if not data:
                    return b""
                current = make()
            elif current.needs_input:
                data = packed.read1(_PIECE)
                if not data:
                    raise EOFError("the file ends in the middle")
            piece = current.decompress(data, size)
            if piece:
                return piece

    return read


def _gzip(packed: BufferedReader) -> ReadPiece:
    return gzip.GzipFile(fileobj=packed).read1


def _bzip2(packed: BufferedReader) -> ReadPiece:
    return _streams(bz2.BZ2Decompressor, packed)


def _xz(packed: BufferedReader) -> ReadPiece:
    return _streams(lambda: lzma.LZMADecompressor(memlimit=MOST_UNPACKING), packed)


def _zstandard(packed: BufferedReader) -> ReadPiece:
    import pyarrow

    read: ReadPiece = pyarrow.CompressedInputStream(
        pyarrow.PythonFile(packed, mode="r"), "zstd"
    ).read
    return read


_UNPACKERS: Mapping[bytes, Callable[[BufferedReader], ReadPiece]] = {
    b"\x1f\x8b": _gzip,
    b"\x28\xb5\x2f\xfd": _zstandard,
    b"BZh": _bzip2,
    b"\xfd7zXZ\0": _xz,
}
"""How each packing begins, and what unpacks it."""
_LONGEST_MARK = max(map(len, _UNPACKERS))


def _unpacker(start: bytes) -> Callable[[BufferedReader], ReadPiece] | None:
    """What unpacks a file that begins so; None where it is not packed."""
    for mark, unpacker in _UNPACKERS.items():
        if start.startswith(mark):
            return unpacker
    return None


def _unpacking(
    unpacker: Callable[[BufferedReader], ReadPiece],
    stream: BufferedReader,
    where: str,
    note: Callable[[str], None] | None,
) -> ReadPiece:
    try:
        read_packed = unpacker(stream)
    except ModuleNotFoundError as error:
        raise FormatError(str(missing_extra("unpacking it", error)), where=where) from None
    total = 0

    def read(size: int) -> bytes:
        nonlocal total
        try:
            piece = read_packed(size)
        except (EOFError, OSError, zlib.error, lzma.LZMAError) as error:
            if note is None:
                raise FormatError(
                    f"cannot be read after {total:,} unpacked bytes ({error})", where=where
                ) from None
            note(f"what follows {total:,} unpacked bytes cannot be read, left out")
            return b""
        total += len(piece)
        if total > MOST_UNPACKED:
            raise FormatError(f"unpacks to more than {MOST_UNPACKED >> 30} GB", where=where)
        if is_bomb(total, stream.tell()):
            raise FormatError(BOMB, where=where)
        return piece

    return read


def is_bomb(unpacked: int, packed: int) -> bool:
    """Whether so many bytes unpack to more than any recording's would."""
    return unpacked > ALWAYS + MOST_TIMES * packed


def _encoding(start: bytes) -> str:
    """In which a file is that must be recoded; empty where it is UTF-8 with newlines."""
    for mark, encoding in _MARKS.items():
        if start.startswith(mark):
            return encoding
    if len(start) < 2:
        return ""
    if 0 in start[:2] and any(start[:2]):
        return "utf-16-be" if start[0] == 0 else "utf-16-le"
    has_old_newlines = b"\r" in start and b"\n" not in start and b"\0" not in start
    return "utf-8" if has_old_newlines else ""
