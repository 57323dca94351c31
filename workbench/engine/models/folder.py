"""Asks whoever reads a folder: requests are numbered files, and answers are files beside them.

A request is written once, under the next free number. Its file appears whole and never changes, so
that any number of processes and people may work in one folder. Its `key` is a hash of all that is
asked.
"""

import hashlib
import json
import os
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Self, TypeAlias
from uuid import uuid4

from workbench.base.errors import AnswerAwaited, SettingError
from workbench.engine.models.language_model import LanguageModel
from workbench.engine.models.model import Completion, SummaryRequest
from workbench.engine.models.plain_text import plain_text, request_key, within_limit
from workbench.engine.models.tokenizer import TiktokenCounter

REQUEST, ANSWER, RESULTS = ".request.txt", ".answer.txt", ".results.json"
"""What the names of the files end with, behind their number."""
Calls: TypeAlias = Sequence[tuple[str, str]]
"""The names of tools that were called, each with its arguments as JSON."""
DIGITS = 5
ABOUT = "model.toml"
"""The file that may say who answers, and how much they read."""
GUIDE = "README.txt"
END = "---"
"""The line between the header of a request and its text."""
PATIENCE = 60.0
"""Seconds within which an answer is read."""

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


@dataclass(frozen=True)
class Folder(LanguageModel):
    """Somebody who answers in a folder.

    Attributes:
        model: the path of the folder, which is made with its first request.
        replicate: another number makes another request of the same text.
        writes: whether requests are written; else only answers that are there are taken.
        taken: the hash of each answer that was taken, by its number.
    """

    replicate: int = 0
    writes: bool = True
    taken: dict[str, str] = field(default_factory=dict, compare=False, repr=False)

    @property
    def path(self) -> Path:
        """The folder."""
        return Path(self.model)

    @property
    def name(self) -> str:
        """Name shown in reports."""
        return f"folder:{self.path.name}"

    @property
    def patience(self) -> float:
        """Seconds after which an answer was read or is awaited."""
        return PATIENCE

    def window(self, request: SummaryRequest, /) -> int | None:
        """The tokens that the folder says are read; None where it does not say."""
        return about(self.path).window

    def for_replicate(self, replicate: int) -> Self:
        """The same folder, with requests of their own."""
        return replace(self, replicate=replicate)

    def seal(self, request: SummaryRequest, /) -> Mapping[str, object]:
        """The answer itself, so that a cache never tells another one."""
        number = requests_in(self.path).number(self._key(request))
        answer = "" if number is None else _answer(self.path, number)
        if answer:
            self.taken[str(number)] = _hash(answer)
        return {"folder": self.model, "answer": _hash(answer)}

    def complete(self, request: SummaryRequest, /) -> Completion:
        """The answer in the folder.

        Raises:
            AnswerAwaited: there is none yet; the request is written.
            Unanswered: a spending limit is set, and nobody knows what the answer costs.
            SettingError: the folder cannot be read or written.
        """
        key = self._key(request)
        requests = requests_in(self.path)
        number = requests.number(key)
        answer = "" if number is None else _answer(self.path, number)
        if not answer:
            if number is None and self.writes:
                requests.write(key, request, self.replicate)
            raise AnswerAwaited(f"answers are awaited in {self.path}")
        text, is_cut = within_limit(answer, request)
        if self.ledger is not None:
            self.ledger.close(self.ledger.open(self.name, None, PATIENCE), None)
        count = TiktokenCounter().count_text
        who = about(self.path).who
        return Completion(
            text=text,
            model=f"{self.name} ({who})" if who else self.name,
            input_tokens=count(plain_text(request)),
            output_tokens=count(text),
            usd=None,
            cut=is_cut,
            counted=True,
        )

    def first_results(
        self,
        request: SummaryRequest,
        calls: Calls,
        make: Callable[[], Sequence[str]],
    ) -> Sequence[str]:
        """What the calls of an answer gave the first time; they are made only if this is the first
        time.

        Results are kept beside the answer. A call that gives another result each time, such as the
        time of day, would make each request behind it a new one.

        Raises:
            SettingError: the folder cannot be written.
        """
        number = requests_in(self.path).number(self._key(request))
        if number is None:
            return make()
        file = self.path / f"{number:0{DIGITS}}{RESULTS}"
        stored = _stored_results(file, calls)
        if stored is not None:
            return stored
        results = make()
        try:
            if file.exists():  # the answer was changed
                file.write_text(_results_text(calls, results), encoding="utf-8")
            else:
                _create(file, _results_text(calls, results))
        except OSError as error:
            raise SettingError(f"{file} cannot be written: {error.strerror or error}") from error
        return _stored_results(file, calls) or results

    def _key(self, request: SummaryRequest) -> str:
        """A name for all that is asked."""
        return request_key(request, self.replicate)


def are_changed(folder: Path, taken_hashes: Mapping[str, str]) -> bool:
    """Whether a folder now has other answers than were taken; one that it lost does not count."""
    for number, taken_hash in taken_hashes.items():
        answer = _answer(folder, int(number))
        if answer and _hash(answer) != taken_hash:
            return True
    return False


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class About:
    """What a folder says of those who answer in it.

    Attributes:
        who: in a few words.
        window: tokens that they read, the answer included; None for any number.
    """

    who: str = ""
    window: int | None = None


def about(folder: Path) -> About:
    """What a folder says of those who answer in it.

    Raises:
        SettingError: its file cannot be read.
    """
    file = folder / ABOUT
    if not file.is_file():
        return About()
    return _about(file, file.stat().st_mtime_ns)


@lru_cache(maxsize=64)
def _about(file: Path, changed: int) -> About:
    try:
        fields = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SettingError(f"{file} cannot be read: {error}") from error
    who, window = fields.get("who", ""), fields.get("window")
    is_number = isinstance(window, int) and not isinstance(window, bool) and window > 0
    is_understood = isinstance(who, str) and (window is None or is_number)
    if not is_understood or set(fields) - set(asdict(About())):
        what = 'who = "...", a text, and window = ..., a number of tokens; nothing else'
        raise SettingError(f"{file} may hold {what}")
    return About(" ".join(who.split()), window)


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
                _create(self.file(number), request_text(number, key, request, replicate))
        except OSError as error:
            raise SettingError(
                f"{self.folder} cannot take a request: {error.strerror or error}"
            ) from error

    def _write_guide(self) -> None:
        if not (self.folder / GUIDE).exists():
            _create(self.folder / GUIDE, _GUIDE_TEXT)


@lru_cache(maxsize=64)
def requests_in(folder: Path) -> Requests:
    """What this process knows of a folder's requests."""
    return Requests(folder)


def waiting(folder: Path) -> int:
    """How many requests in a folder have no answer."""
    requests = Requests(folder)
    requests.look()
    return sum(not _answer(folder, number) for number in requests.numbers.values())


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


def _answer(folder: Path, number: int) -> str:
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


def _stored_results(file: Path, calls: Calls) -> Sequence[str] | None:
    """The results that a file has for these calls; None where it has none."""
    try:
        stored = json.loads(file.read_text(encoding="utf-8"))
        if stored["calls"] != [list(call) for call in calls]:
            return None
        return list(map(str, stored["results"]))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise SettingError(
            f"{file} cannot be used: {error}; without it the calls are made anew"
        ) from error


def _results_text(calls: Calls, results: Sequence[str]) -> str:
    return json.dumps({"calls": calls, "results": results}, ensure_ascii=False, indent=1)


def _create(file: Path, text: str) -> None:
    """Make a file that appears whole, unless there is one of that name."""
    draft = file.with_name(f".{file.name}.{uuid4().hex}")
    try:
        draft.write_bytes(text.encode())
        os.link(draft, file)
    except FileExistsError:
        pass
    finally:
        draft.unlink(missing_ok=True)
