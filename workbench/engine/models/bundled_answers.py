"""Summaries that real models wrote once and that ship with the package.

The file has one JSON object a line, sorted by key.
A key names all that was asked (`plain_text.request_key`). So a request whose prompt has changed has
no answer here.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path

from workbench.base.errors import FormatError, ModelError
from workbench.base.package import shipped_folder
from workbench.engine.models.model import Completion, SummaryRequest
from workbench.engine.models.plain_text import request_key

NAME = "bundled"
"""Of the model, as users write it."""
ENCODING = "utf-8"


class NotBundled(ModelError):
    """No answer to a request ships with the package."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BundledAnswer:
    """A summary that a real model wrote.

    Attributes:
        key: of its request.
        text: within the length that the request allows.
        input_tokens: of the prompt, counted here.
        output_tokens: of the text, counted here.
        writer: who wrote it, in a few words for readers.
        cut: whether the text was longer than the request allows.
    """

    key: str
    text: str
    input_tokens: int
    output_tokens: int
    writer: str
    cut: bool = False

    def completion(self, model: str) -> Completion:
        """The answer as it is given in the name of a model; nobody knows what it cost."""
        return Completion(
            text=self.text,
            model=f"{model} ({self.writer})",
            input_tokens=self.input_tokens,
            output_tokens=self.output_tokens,
            usd=None,
            cut=self.cut,
            counted=True,
        )


def shipped_file() -> Path:
    """Where the answers lie that ship with the package."""
    return shipped_folder("summaries") / "answers.jsonl"


def read_answers(file: Path) -> Mapping[str, BundledAnswer]:
    """The answers in a file by key; none where there is no file.

    Raises:
        FormatError: a line is no answer, or its key comes twice.
    """
    if not file.is_file():
        return {}
    return _read_answers(file, file.stat().st_mtime_ns)


@lru_cache(maxsize=4)
def _read_answers(file: Path, changed: int) -> Mapping[str, BundledAnswer]:
    answers: dict[str, BundledAnswer] = {}
    for number, line in enumerate(file.read_text(ENCODING).split("\n"), 1):
        if not line:
            continue
        answer = _read_line(line, file, number)
        if answer.key in answers:
            raise FormatError(
                f"has the key {answer.key} a second time", where=str(file), line=number
            )
        answers[answer.key] = answer
    return answers


def _read_line(line: str, file: Path, number: int) -> BundledAnswer:
    try:
        answer = BundledAnswer(**json.loads(line))
    except (ValueError, TypeError) as error:
        raise FormatError(
            f"is no bundled answer ({error!r:.80})", where=str(file), line=number
        ) from None
    if not answer.text or not answer.writer:
        raise FormatError("is an answer without a text or a writer", where=str(file), line=number)
    return answer


def answers_text(answers: Iterable[BundledAnswer]) -> str:
    """The content of a file of answers."""
    ordered = sorted(answers, key=lambda answer: answer.key)
    return "".join(f"{json.dumps(asdict(answer), ensure_ascii=False)}\n" for answer in ordered)


def content_seal(file: Path) -> str:
    """A hash of a file of answers; empty where there is no file."""
    return _content_seal(file, file.stat().st_mtime_ns) if file.is_file() else ""


@lru_cache(maxsize=4)
def _content_seal(file: Path, changed: int) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


@dataclass(frozen=True, slots=True)
class BundledAnswers:
    """A model that knows the answers in a file and no others."""

    file: Path

    @property
    def name(self) -> str:
        """Name shown in reports."""
        return NAME

    def complete(self, request: SummaryRequest, /) -> Completion:
        """The answer in the file.

        Raises:
            NotBundled: there is none.
            FormatError: the file is damaged.
        """
        answer = read_answers(self.file).get(request_key(request))
        if answer is None:
            raise NotBundled("no answer to this request is bundled")
        return answer.completion(self.name)
