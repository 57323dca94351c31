"""Asks whoever reads a folder: requests are numbered files, and answers are files beside them."""

import hashlib
import json
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Self, TypeAlias

from workbench.base.errors import AnswerAwaited, SettingError
from workbench.engine.models.folder_requests import (
    ABOUT,
    DIGITS,
    answer_in,
    create_whole,
    requests_in,
)
from workbench.engine.models.language_model import LanguageModel
from workbench.engine.models.model import Completion, SummaryRequest
from workbench.engine.models.plain_text import plain_text, request_key, within_limit
from workbench.engine.models.tokenizer import TiktokenCounter

PATIENCE = 60.0
"""Seconds within which an answer is read."""
RESULTS = ".results.json"
"""What the names of files of results end with, behind their number."""
Calls: TypeAlias = Sequence[tuple[str, str]]
"""The names of tools that were called, each with its arguments as JSON."""


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
        answer = ""
        if number is not None:
            answer = answer_in(self.path, number)
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
        answer = ""
        if number is not None:
            answer = answer_in(self.path, number)
        if not answer:
            if number is None and self.writes:
                requests.write(key, request, self.replicate)
            raise AnswerAwaited(f"answers are awaited in {self.path}")
        text, is_cut = within_limit(answer, request)
        if self.ledger is not None:
            self.ledger.close(self.ledger.open(self.name, None, PATIENCE), None)
        count = TiktokenCounter().count_text
        model = self.name
        who = about(self.path).who
        if who:
            model = f"{self.name} ({who})"
        return Completion(
            text=text,
            model=model,
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
                create_whole(file, _results_text(calls, results))
        except OSError as error:
            raise SettingError(f"{file} cannot be written: {error.strerror or error}") from error
        return _stored_results(file, calls) or results

    def _key(self, request: SummaryRequest) -> str:
        """A name for all that is asked."""
        return request_key(request, self.replicate)


def are_changed(folder: Path, taken_hashes: Mapping[str, str]) -> bool:
    """Whether a folder now has other answers than were taken; one that it lost does not count."""
    for number, taken_hash in taken_hashes.items():
        answer = answer_in(folder, int(number))
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
