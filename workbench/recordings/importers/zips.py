"""The members of a zip that nobody vouches for, within bounds."""

import contextlib
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import BinaryIO

from workbench.base.errors import FormatError
from workbench.recordings.importers.opening import (
    BOMB,
    MOST_AT_ONCE,
    MOST_UNPACKED,
    is_bomb,
    whole,
)

ZSTANDARD_IN_ZIP = 93
"""The number of this packing in a zip."""
_LOCAL_HEADER = b"PK\x03\x04"
_LOCAL_HEADER_BYTES = 30


def zip_members(
    stream: BinaryIO, where: str, note: Callable[[str], None] | None = None
) -> dict[str, Callable[[], bytes]]:
    """Each member of a zip by its name, unpacked when it is called, which raises a FormatError
    where it is damaged.

    Args:
        stream: of the zip, at its start.
        where: its path, as errors name it.
        note: is told that the zip's end is missing; its whole members are then found by their
            headers.

    Raises:
        FormatError: it is no zip, or its end is missing and there is no `note`.
    """
    try:
        archive = zipfile.ZipFile(stream)
    except (zipfile.BadZipFile, ValueError) as error:
        if note is None:
            raise FormatError(f"the zip cannot be read ({error})", where=where) from None
        note("the end of the zip is missing: what is not whole is left out")
        stream.seek(0)
        return {name: partial(bytes, data) for name, data in _whole_members(whole(stream, where))}
    if sum(member.file_size for member in archive.infolist()) > MOST_UNPACKED:
        raise FormatError(f"unpacks to more than {MOST_UNPACKED >> 30} GB", where=where)
    return {name: partial(_member, archive, name) for name in archive.namelist()}


def _member(archive: zipfile.ZipFile, name: str) -> bytes:
    member = archive.getinfo(name)
    if member.file_size > MOST_AT_ONCE:
        raise FormatError(f"unpacks to more than {MOST_AT_ONCE >> 20} MB")
    if is_bomb(member.file_size, member.compress_size):
        raise FormatError(BOMB)
    try:
        if member.compress_type == ZSTANDARD_IN_ZIP:
            return _zstandard_member(archive, member)
        return archive.read(name)
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError) as error:
        raise FormatError(f"cannot be unpacked ({error})") from None


def _zstandard_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """The member of a zip that is packed by Zstandard, which Python's own module refuses."""
    import pyarrow

    stream = archive.fp
    if stream is None:
        raise zipfile.BadZipFile("the zip is closed")
    stream.seek(member.header_offset + 26)
    lengths = stream.read(4)
    name_length, extra_length = struct.unpack("<HH", lengths)
    stream.seek(name_length, 1)
    stream.seek(extra_length, 1)
    packed_bytes = stream.read(member.compress_size)
    packed = pyarrow.BufferReader(packed_bytes)
    try:
        data: bytes = pyarrow.CompressedInputStream(packed, "zstd").read(member.file_size)
    except OSError as error:
        raise zipfile.BadZipFile(str(error)) from None
    if zlib.crc32(data) != member.CRC:
        raise zipfile.BadZipFile(f"Bad CRC-32 for file {member.filename!r}")
    return data


def _whole_members(raw: bytes) -> Iterator[tuple[str, bytes]]:
    """Each deflated member that is whole, by its local header (section 4.3.7 of PKWARE's
    APPNOTE).
    """
    offset = raw.find(_LOCAL_HEADER)
    while offset >= 0 and len(raw) >= offset + _LOCAL_HEADER_BYTES:
        method, name_bytes, extra_bytes = struct.unpack_from("<8xH16xHH", raw, offset)
        name_start = offset + _LOCAL_HEADER_BYTES
        name_end = name_start + name_bytes
        if method == zipfile.ZIP_DEFLATED:
            unpacking = zlib.decompressobj(-zlib.MAX_WBITS)
            with contextlib.suppress(zlib.error):
                data = unpacking.decompress(raw[name_end + extra_bytes :], MOST_AT_ONCE)
                if unpacking.eof:
                    yield raw[name_start:name_end].decode(errors="replace"), data
        offset = raw.find(_LOCAL_HEADER, offset + 1)
