"""The catalogue of public recordings. Each is fetched only when asked for, and checked against
its hash.
"""

import json
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from http.client import HTTPException
from itertools import groupby
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import urlopen

from workbench.base.errors import FormatError, SettingError, SetupError, WorkbenchError

CATALOGUE = Path(__file__).parent / "catalogue.toml"
HOST = "https://raw.githubusercontent.com"


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicRecording:
    """One public file: where it is kept, under which licence, and what it is.

    Attributes:
        set: what it was collected for: `corpora` and `more-projects` are recordings, `graded` are
            answers.
        source: the project it is from.
        commit: fixes the file's content for good.
        what: formats of the recordings, or what else it holds.
        sha256: of the recording; `size` is its bytes.
        lines: the first and the last line of the file at the source, where the recording is a part
            of it.
        items: which items of the JSON list at the source the recording has, in this order.
    """

    set: str
    source: str
    file: str
    repository: str
    commit: str
    path: str
    licence: str
    what: str
    sha256: str
    size: int
    lines: tuple[int, int] | None = None
    items: tuple[int, ...] | None = None

    @property
    def name(self) -> str:
        """Set, source and file: unique in the catalogue, and where the fetched file lies."""
        return f"{self.set}/{self.source}/{self.file}"

    def url(self, host: str = HOST) -> str:
        """Its address."""
        return f"{host}/{self.repository}/{self.commit}/{quote(self.path)}"

    def lies_in(self, folder: Path) -> bool:
        """Whether the folder holds it unchanged."""
        file = folder / self.name
        if not file.is_file():
            return False
        return sha256(file.read_bytes()).hexdigest() == self.sha256

    def cut(self, content: bytes, url: str) -> bytes:
        """The recording, of the file at the source, which was read from this address.

        Raises:
            FormatError: it is not what the catalogue says.
        """
        part = content
        if self.lines:
            part = _lines(content, self.lines)
        if self.items:
            part = _items(content, self.items)
        if sha256(part).hexdigest() != self.sha256:
            raise FormatError(
                "the downloaded file differs from the one in the catalogue; try again", where=url
            )
        return part


def _lines(content: bytes, ends: tuple[int, int]) -> bytes:
    """The lines from the first to the last, whose numbers these are."""
    first, last = ends
    lines = content.split(b"\n")[first - 1 : last]
    return b"".join(line + b"\n" for line in lines)


def _items(content: bytes, indices: Sequence[int]) -> bytes:
    """A JSON list of these items of a JSON list; nothing where it is none, or lacks one."""
    try:
        items = json.loads(content)
        chosen_items = [items[index] for index in indices]
    except (ValueError, LookupError, TypeError):
        return b""
    return json.dumps(chosen_items, indent=1, ensure_ascii=False).encode()


def recordings() -> tuple[PublicRecording, ...]:
    """All recordings of the catalogue, in its order."""
    entries: list[PublicRecording] = []
    for source in tomllib.loads(CATALOGUE.read_text("utf-8"))["source"]:
        files = source.pop("files")
        source["source"] = source.pop("name")
        for file in files:
            entries.append(PublicRecording(**(source | file)))
    return tuple(entries)


def find(name: str) -> tuple[PublicRecording, ...]:
    """The recordings of a set or a source, or the one of that name.

    Raises:
        SettingError: the catalogue has no such name; the message lists the sources.
    """
    matches: list[PublicRecording] = []
    names: list[str] = []
    for recording in recordings():
        names += [recording.set, recording.source]
        if name in (recording.set, recording.source, recording.name):
            matches.append(recording)
    if not matches:
        listed = ", ".join(dict.fromkeys(names))
        raise SettingError(f"the catalogue has nothing named {name!r}; it has {listed}")
    return tuple(matches)


def fetch(
    recordings_to_fetch: Sequence[PublicRecording],
    folder: Path,
    host: str = HOST,
    seconds: float = 30.0,
) -> Iterator[tuple[PublicRecording, Path | WorkbenchError]]:
    """Each recording with its file in this folder, or why there is none; one that lies there
    unchanged stays.

    Folders are made as needed; `seconds` is how long to wait for the network each time. A file that
    the host does not have, has otherwise, or breaks off does not stop the others, and nothing of it
    is kept.

    Raises:
        SetupError: the network or the host does not answer.
    """
    for url, group in groupby(recordings_to_fetch, lambda recording: recording.url(host)):
        same_url = list(group)
        data: bytes | WorkbenchError | None = None
        if not all(recording.lies_in(folder) for recording in same_url):
            data = _download(url, seconds)
        for recording in same_url:
            yield recording, _written(recording, folder / recording.name, data, url)


def _download(url: str, seconds: float) -> bytes | WorkbenchError:
    try:
        with urlopen(url, timeout=seconds) as answer:
            data: bytes = answer.read()
            return data
    except HTTPError as problem:
        return SetupError(f"{url} answered {problem.code} {problem.reason}")
    except (HTTPException, ConnectionError) as problem:
        return SetupError(
            f"{url} could not be read, since the connection broke off ({problem}); try again"
        )
    except (OSError, ValueError) as problem:
        raise SetupError(
            f"{url} could not be read: {getattr(problem, 'reason', None) or problem}"
        ) from None


def _written(
    recording: PublicRecording, file: Path, data: bytes | WorkbenchError | None, url: str
) -> Path | WorkbenchError:
    if isinstance(data, WorkbenchError):
        return data
    if data is not None:
        try:
            part = recording.cut(data, url)
        except FormatError as problem:
            return problem
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(part)
    return file
