"""The files of a folder whose requests somebody answers.

A request is written once, under the next free number. Its file appears whole and never changes, so
that any number of processes and people may work in one folder. Its `key` is a hash of all that is
asked.
"""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from uuid import uuid4

from workbench.base.errors import SettingError
from workbench.engine.models.model import SummaryRequest
from workbench.engine.models.plain_text import plain_text

REQUEST, ANSWER = ".request.txt", ".answer.txt"
"""What the names of the files end with, behind their number."""
DIGITS = 5
ABOUT = "model.toml"
"""The file that may say who answers, and how much they read."""
GUIDE = "README.txt"
END = "---"
"""The line between the header of a request and its text."""

_NUMBER = re.compile(rf"(\d+)(?:{re.escape(REQUEST)}|{re.escape(ANSWER)})")
_GUIDE_TEXT = f"""Requests of compaction-workbench wait here for answers.

NUMBER{REQUEST} is a request: a header, a line {END}, and the text to answer.
NUMBER{ANSWER} is its answer: plain text (UTF-8), nothing else. Anybody may write it.
A program that needs time writes to another name first and then renames the file: half an answer
would be taken.
An answer without a word counts as not there. Do not rename, change or remove a request.
{ABOUT} may say who answers: who = "...", and how many tokens they read: window = 200000.
The command that wrote the requests goes on when it is run again.
"""


@dataclass(slots=True)
class Requests:
    """The requests in a folder, read once each: they never change.

    Attributes:
        numbers: of the requests, by key.
        looked_at: the numbers of the files that were read.
        largest: the largest number in use, of a request or an answer; 0 for none.
        is_listed: whether the whole folder was listed; after that a new request is the next number.
    """

    folder: Path
    numbers: dict[str, int] = field(default_factory=dict)
    looked_at: set[int] = field(default_factory=set)
    largest: int = 0
    is_listed: bool = False

    def number(self, key: str) -> int | None:
        """The number of the request with this key; None where it is not written."""
        if key in self.numbers and not self.file(self.numbers[key]).is_file():
            self._forget()
        if key not in self.numbers:
            self.look()
        return self.numbers.get(key)

    def file(self, number: int, ending: str = REQUEST) -> Path:
        """Where the request of this number is, or its answer."""
        return self.folder / f"{number:0{DIGITS}}{ending}"

    def look(self) -> None:
        """Read the requests that are new."""
        if not self.is_listed:
            self._list()
        while True:
            number = self.largest + 1
            if self.file(number).is_file():
                self._read(number)
            elif self.file(number, ANSWER).is_file():  # its request was removed
                self._list()
            else:
                return

    def _list(self) -> None:
        for name in sorted(_names(self.folder)):
            matched = _NUMBER.fullmatch(name)
            if matched is None:
                continue
            number = int(matched[1])
            self.largest = max(self.largest, number)
            if name.endswith(REQUEST) and number not in self.looked_at:
                self._read(number)
        self.is_listed = True

    def _read(self, number: int) -> None:
        key = _header(self.file(number)).get("key")
        if key:
            self.numbers.setdefault(key, number)
        self.looked_at.add(number)
        self.largest = max(self.largest, number)

    def _forget(self) -> None:
        """Begin anew, since somebody removed requests."""
        self.numbers = {}
        self.looked_at = set()
        self.largest = 0
        self.is_listed = False

    def write(self, key: str, request: SummaryRequest, replicate: int) -> None:
        """Write a request under the next number, unless another process has just written it.

        Raises:
            SettingError: the folder cannot be written.
        """
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._write_guide()
            while self.number(key) is None:
                number = self.largest + 1
                create_whole(self.file(number), request_text(number, key, request, replicate))
        except OSError as error:
            raise SettingError(
                f"{self.folder} cannot take a request: {error.strerror or error}"
            ) from error

    def _write_guide(self) -> None:
        if not (self.folder / GUIDE).exists():
            create_whole(self.folder / GUIDE, _GUIDE_TEXT)


@lru_cache(maxsize=64)
def requests_in(folder: Path) -> Requests:
    """What this process knows of a folder's requests."""
    return Requests(folder)


def waiting(folder: Path) -> int:
    """How many requests in a folder have no answer."""
    requests = Requests(folder)
    requests.look()
    return sum(not answer_in(folder, number) for number in requests.numbers.values())


def request_text(number: int, key: str, request: SummaryRequest, replicate: int = 0) -> str:
    """The file of a request: its header and its text."""
    limit = "none" if request.max_tokens is None else f"{request.max_tokens} tokens"
    header = {
        "request": f"{number:0{DIGITS}}",
        "kind": "turn" if request.tools else request.purpose,
        "limit": limit,
        "answer": f"{number:0{DIGITS}}{ANSWER}",
        "key": key,
    }
    if replicate:  # the same text is asked again
        header["replicate"] = str(replicate)
    lines = [f"{name}: {value}" for name, value in header.items()]
    return "\n".join([*lines, END, plain_text(request)])


def _header(file: Path) -> Mapping[str, str]:
    """The header of a request; empty where the file is none."""
    with file.open(encoding="utf-8", errors="replace") as opened:
        return dict(_fields(opened))


def _fields(lines: Iterator[str]) -> Iterator[tuple[str, str]]:
    for line in lines:
        name, colon, value = line.partition(": ")
        if not colon:
            return
        yield name, value.strip()


def _names(folder: Path) -> set[str]:
    try:
        return {entry.name for entry in os.scandir(folder)}
    except FileNotFoundError:
        return set()
    except OSError as error:
        raise SettingError(
            f"{folder} is no folder that can be read: {error.strerror or error}"
        ) from error


def answer_in(folder: Path, number: int) -> str:
    """What was answered to a request; empty where there is no word.

    Raises:
        SettingError: the answer is no text.
    """
    file = folder / f"{number:0{DIGITS}}{ANSWER}"
    try:
        return file.read_bytes().decode("utf-8-sig").strip()
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        reason = (
            "it must be UTF-8 text" if isinstance(error, UnicodeDecodeError) else error.strerror
        )
        raise SettingError(f"{file} cannot be read: {reason}") from error


def create_whole(file: Path, text: str) -> None:
    """Make a file that appears whole, unless there is one of that name."""
    draft = file.with_name(f".{file.name}.{uuid4().hex}")
    try:
        draft.write_bytes(text.encode())
        os.link(draft, file)
    except FileExistsError:
        pass
    finally:
        draft.unlink(missing_ok=True)
