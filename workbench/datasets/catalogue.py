"""The catalogue of public recordings. Each is fetched only when asked for, and checked against its hash."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from hashlib import sha256
from http.client import HTTPException
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import urlopen

from workbench.errors import FormatError, SettingError, SetupError

CATALOGUE = Path(__file__).parent / "catalogue.toml"
HOST = "https://raw.githubusercontent.com"


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicRecording:
    """One public recording: where it is kept, under which licence, and what it is.

    Attributes:
        name: unique in the catalogue; also the name of the fetched file.
        commit: fixes the file's content for good.
        sha256: of the file; `bytes` is its size.
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


def recordings() -> tuple[PublicRecording, ...]:
    """All recordings of the catalogue, in its order."""
    return tuple(PublicRecording(**one) for one in tomllib.loads(CATALOGUE.read_text("utf-8"))["recording"])


def find(name: str) -> PublicRecording:
    """The recording of that name.

    Raises:
        SettingError: the catalogue has no such name; the message lists the names.
    """
    known = {recording.name: recording for recording in recordings()}
    if name not in known:
        raise SettingError(f"no recording is named {name!r}; the catalogue has {', '.join(known)}")
    return known[name]


def fetch(recording: PublicRecording, folder: Path, host: str = HOST, seconds: float = 30.0) -> Path:
    """The recording's file in this folder; it is downloaded unless the folder holds it unchanged.

    The folder is made if it does not exist; `seconds` is how long to wait for the network each time.

    Raises:
        SetupError: the network or the host did not deliver the file.
        FormatError: the downloaded file differs from the one in the catalogue; nothing is kept.
    """
    file = folder / (recording.name + Path(recording.path).suffix)
    if file.is_file() and sha256(file.read_bytes()).hexdigest() == recording.sha256:
        return file
    url = recording.url(host)
    try:
        with urlopen(url, timeout=seconds) as answer:
            data: bytes = answer.read()
    except HTTPError as problem:
        raise SetupError(f"{url} answered {problem.code} {problem.reason}") from None
    except (OSError, HTTPException) as problem:
        raise SetupError(f"{url} could not be read: {getattr(problem, 'reason', None) or problem}") from None
    if sha256(data).hexdigest() != recording.sha256:
        raise FormatError("the downloaded file differs from the one in the catalogue; try again", where=url)
    folder.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    return file
