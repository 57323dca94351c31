"""The catalogue of public recordings: what there is, fetched only when asked for, and checked against its hash."""

from __future__ import annotations

import hashlib
import os
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, fields
from http.client import HTTPException, HTTPMessage
from pathlib import Path
from typing import IO
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from workbench.errors import FormatError, SettingError, SetupError

CATALOGUE = Path(__file__).parent / "catalogue.toml"
HOST = "https://raw.githubusercontent.com"
PIECE = 1 << 16
LIMIT = 500_000_000
"""Bytes that a cache holds unless told otherwise."""

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*")
_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One public recording: where it is kept, under which licence, and what it is.

    Attributes:
        name: ours, unique; also the name of its file in a cache.
        commit: fixes the file's content for good.
        sha256: of the file; a fetched file that differs is thrown away.
        bytes: its size.
    """

    name: str
    repository: str
    commit: str
    path: str
    licence: str
    format: str
    sha256: str
    bytes: int

    def url(self, host: str = HOST) -> str:
        """Its address."""
        return f"{host}/{self.repository}/{self.commit}/{quote(self.path)}"


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong with a file of a cache."""

    path: str
    why: str


def entries(file: Path = CATALOGUE) -> tuple[Entry, ...]:
    """All recordings of a catalogue, in its order.

    Raises:
        FormatError: the file is no catalogue; names entry and field.
    """
    try:
        listed = tomllib.loads(file.read_text("utf-8")).get("recording", [])
    except tomllib.TOMLDecodeError as problem:
        raise FormatError(f"the catalogue is no TOML: {problem}", where=str(file)) from None
    types = {field.name: field.type for field in fields(Entry)}
    for i, known in enumerate(listed, 1):
        for name in types:
            if type(known.get(name)).__name__ != types[name]:
                raise FormatError(f"recording {i} needs this as {types[name]}", where=str(file), field=name)
        if not _NAME.fullmatch(known["name"]):
            raise FormatError(f"recording {i}: {known['name']!r} is no plain file name", where=str(file), field="name")
    return tuple(Entry(**{name: known[name] for name in types}) for known in listed)


def find(name: str, file: Path = CATALOGUE) -> Entry:
    """The recording of that name.

    Raises:
        SettingError: there is none; the message lists the names.
    """
    known = {entry.name: entry for entry in entries(file)}
    if name not in known:
        raise SettingError(f"no recording is named {name!r}; there are {', '.join(known)}")
    return known[name]


class Cache:
    """A folder of fetched recordings that never holds more bytes than its limit; what was used longest ago goes first.

    Args:
        folder: made when something is fetched.
        limit: bytes, > 0.
    """

    def __init__(self, folder: Path, limit: int = LIMIT) -> None:
        if limit <= 0:
            raise SettingError(f"a cache holds at least 1 byte, not {limit}")
        self.folder, self.limit = folder, limit

    def path(self, entry: Entry) -> Path:
        """Where the recording lies, or would lie."""
        return self.folder / (entry.name + Path(entry.path).suffix)

    def holds(self, entry: Entry) -> bool:
        """Whether it is there, whole and unchanged."""
        file = self.path(entry)
        return file.is_file() and file.stat().st_size == entry.bytes and _sha256(file) == entry.sha256

    def make_room(self, entry: Entry) -> None:
        """Remove what was used longest ago until the recording fits.

        Raises:
            SettingError: it is larger than the whole cache may be.
        """
        if entry.bytes > self.limit:
            raise SettingError(f"{entry.name} has {entry.bytes} bytes, and the cache may hold {self.limit}")
        mine = {self.path(entry), _part(self.path(entry))}
        others = sorted((f for f in self._files() if f not in mine), key=lambda f: (f.stat().st_mtime, f.name))
        held = sum(file.stat().st_size for file in others)
        for file in others:
            if held + entry.bytes <= self.limit:
                return
            held -= file.stat().st_size
            file.unlink()

    def findings(self, known: tuple[Entry, ...]) -> tuple[Finding, ...]:
        """Each file that is damaged, unfinished, or in no catalogue. Nothing is changed."""
        by_path = {self.path(entry): entry for entry in known}
        found = []
        for file in self._files():
            if file.suffix == ".part":
                found.append(Finding(str(file), "is unfinished; fetch it again to go on"))
            elif file not in by_path:
                found.append(Finding(str(file), "is not in the catalogue"))
            elif not self.holds(by_path[file]):
                found.append(Finding(str(file), "is not the file that the catalogue means; fetch it again"))
        return tuple(found)

    def _files(self) -> list[Path]:
        return sorted(file for file in self.folder.iterdir() if file.is_file()) if self.folder.is_dir() else []


def fetch(entry: Entry, cache: Cache, host: str = HOST, seconds: float = 30.0) -> Path:
    """The recording's file: from the cache, or fetched into it over HTTPS, going on where an earlier try broke off.

    Args:
        entry: what to fetch.
        cache: where to.
        host: scheme and host; plain HTTP only on this machine's own loopback.
        seconds: how long to wait for the network each time.

    Raises:
        SettingError: the host is not HTTPS, or the file is too large for the cache.
        SetupError: the network or the host did not give it; a part of it may be kept for the next try.
        FormatError: what came is another file than the catalogue means; it is thrown away.
    """
    _only_https(host)
    file = cache.path(entry)
    if cache.holds(entry):
        os.utime(file)
        return file
    cache.folder.mkdir(parents=True, exist_ok=True)
    cache.make_room(entry)
    part = _part(file)
    if part.is_file() and part.stat().st_size >= entry.bytes:
        part.unlink()
    _download(entry, part, entry.url(host), seconds)
    if part.stat().st_size < entry.bytes:
        raise SetupError(f"{entry.url(host)} broke off after {part.stat().st_size} of {entry.bytes} bytes; try again")
    if _sha256(part) != entry.sha256:
        part.unlink()
        raise FormatError(
            "what came is not the file that the catalogue means; it was thrown away", where=entry.url(host)
        )
    part.replace(file)
    return file


class _StaysSafe(HTTPRedirectHandler):
    """Follows a redirect only to where a first request may go as well."""

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> Request | None:
        _only_https(newurl)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _download(entry: Entry, part: Path, url: str, seconds: float) -> None:
    have = part.stat().st_size if part.is_file() else 0
    request = Request(url, headers={"Range": f"bytes={have}-"} if have else {})
    try:
        with build_opener(_StaysSafe).open(request, timeout=seconds) as answer:
            goes_on = have and answer.status == 206
            with part.open("ab" if goes_on else "wb") as file:
                for piece in _pieces(answer, entry.bytes - (have if goes_on else 0)):
                    file.write(piece)
    except HTTPError as problem:
        raise SetupError(f"{url} answered {problem.code} {problem.reason}") from None
    except (URLError, OSError, HTTPException) as problem:
        raise SetupError(f"{url} could not be read: {getattr(problem, 'reason', None) or problem}") from None


def _pieces(answer: IO[bytes], most: int) -> Iterator[bytes]:
    """What comes, and one byte too many at the most: enough to see that it is another file."""
    left = most + 1
    while left > 0 and (piece := answer.read(min(PIECE, left))):
        left -= len(piece)
        yield piece


def _only_https(url: str) -> None:
    place = urlsplit(url)
    if place.scheme != "https" and not (place.scheme == "http" and place.hostname in _LOOPBACK):
        raise SettingError(f"recordings are fetched over https, not from {url!r}")


def _part(file: Path) -> Path:
    return file.with_name(file.name + ".part")


def _sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
