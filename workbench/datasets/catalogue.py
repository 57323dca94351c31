"""The catalogue of public recordings: what there is, fetched only when asked for, and checked against its hash."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from http.client import HTTPException, HTTPMessage
from pathlib import Path
from typing import IO
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from workbench.datasets.toml_records import read_toml
from workbench.errors import FormatError, SettingError, SetupError

CATALOGUE = Path(__file__).parent / "catalogue.toml"
HOST = "https://raw.githubusercontent.com"
PIECE = 1 << 16
LIMIT = 500_000_000
"""Bytes that a cache holds by default."""

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*")
_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
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
class _Catalogue:
    recording: tuple[Recording, ...] = ()


def recordings(file: Path = CATALOGUE) -> tuple[Recording, ...]:
    """All recordings of a catalogue, in its order.

    Raises:
        FormatError: the file is no catalogue; names the recording and the field.
    """
    known = read_toml(_Catalogue, file, "catalogue").recording
    for recording in known:
        if not _NAME.fullmatch(recording.name):
            why = f"{recording.name!r} must be a plain file name of small letters, digits, `.`, `_` and `-`"
            raise FormatError(why, where=str(file), field="name")
    return known


def find(name: str, file: Path = CATALOGUE) -> Recording:
    """The recording of that name.

    Raises:
        SettingError: there is none; the message lists the names.
    """
    known = {recording.name: recording for recording in recordings(file)}
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

    def path(self, recording: Recording) -> Path:
        """Where the recording lies, or would lie."""
        return self.folder / (recording.name + Path(recording.path).suffix)

    def holds(self, recording: Recording) -> bool:
        """Whether it is there, whole and unchanged."""
        file = self.path(recording)
        return file.is_file() and file.stat().st_size == recording.bytes and _sha256(file) == recording.sha256

    def make_room(self, recording: Recording) -> None:
        """Remove what was used longest ago until the recording fits.

        Raises:
            SettingError: it is larger than the whole cache may be.
        """
        if recording.bytes > self.limit:
            raise SettingError(f"{recording.name} has {recording.bytes} bytes, and the cache may hold {self.limit}")
        mine = {self.path(recording), _part(self.path(recording))}
        others = sorted((f for f in self._files() if f not in mine), key=lambda f: (f.stat().st_mtime, f.name))
        held = sum(file.stat().st_size for file in others)
        for file in others:
            if held + recording.bytes <= self.limit:
                return
            held -= file.stat().st_size
            file.unlink()

    def problems(self, known: tuple[Recording, ...]) -> tuple[str, ...]:
        """A sentence for each file that is damaged, unfinished, or in no catalogue. Nothing is changed."""
        by_path = {self.path(recording): recording for recording in known}
        found = []
        for file in self._files():
            if file.suffix == ".part":
                found.append(f"{file} is unfinished; fetch it again to go on")
            elif file not in by_path:
                found.append(f"{file} is not in the catalogue")
            elif not self.holds(by_path[file]):
                found.append(f"{file} differs from the file in the catalogue; fetch it again")
        return tuple(found)

    def _files(self) -> list[Path]:
        return sorted(file for file in self.folder.iterdir() if file.is_file()) if self.folder.is_dir() else []


def fetch(recording: Recording, cache: Cache, host: str = HOST, seconds: float = 30.0) -> Path:
    """The recording's file: from the cache, or fetched into it over HTTPS, going on where an earlier try broke off.

    Args:
        recording: what to fetch.
        cache: where to.
        host: scheme and host; plain HTTP only on this machine's own loopback.
        seconds: how long to wait for the network each time.

    Raises:
        SettingError: the host is not HTTPS, or the file is too large for the cache.
        SetupError: the network or the host did not give it; a part of it may be kept for the next try.
        FormatError: the fetched file differs from the one in the catalogue; it is deleted.
    """
    _only_https(host)
    file = cache.path(recording)
    if cache.holds(recording):
        os.utime(file)
        return file
    cache.folder.mkdir(parents=True, exist_ok=True)
    cache.make_room(recording)
    part = _part(file)
    if part.is_file() and part.stat().st_size >= recording.bytes:
        part.unlink()
    _download(recording, part, recording.url(host), seconds)
    if part.stat().st_size < recording.bytes:
        done = f"{part.stat().st_size} of {recording.bytes} bytes"
        raise SetupError(f"{recording.url(host)} broke off after {done}; try again")
    if _sha256(part) != recording.sha256:
        part.unlink()
        why = "the fetched file differs from the one in the catalogue and was deleted; try again"
        raise FormatError(why, where=recording.url(host))
    part.replace(file)
    return file


class _StaysSafe(HTTPRedirectHandler):
    """Follows a redirect only to where a first request may go as well."""

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> Request | None:
        _only_https(newurl)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _download(recording: Recording, part: Path, url: str, seconds: float) -> None:
    have = part.stat().st_size if part.is_file() else 0
    request = Request(url, headers={"Range": f"bytes={have}-"} if have else {})
    try:
        with build_opener(_StaysSafe).open(request, timeout=seconds) as answer:
            goes_on = have and answer.status == 206
            with part.open("ab" if goes_on else "wb") as file:
                for piece in _pieces(answer, recording.bytes - (have if goes_on else 0)):
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
