"""Counts tokens as OpenAI's tokenizers do, from the tables that stand in litellm's package: never from a network."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, cast

from workbench.errors import SetupError
from workbench.models.token_batches import Encoded, Many, cut
from workbench.transcript.message import Message, Summary, counted_text, image_tokens
from workbench.transcript.tokens import ITEM, PER_MESSAGE

if TYPE_CHECKING:
    from tiktoken import Encoding

DEFAULT_ENCODING = "o200k_base"
PIECE = 100_000
"""Characters a piece where a text is too monotonous for tiktoken; its stack holds about nine times as many blanks."""

_CACHE_DIR = "TIKTOKEN_CACHE_DIR"


@dataclass(frozen=True, slots=True)
class _Table:
    """A file of ranks: the name that tiktoken gives it in a cache folder, and its SHA-256."""

    name: str
    sha256: str


_O200K = _Table(
    "fb374d419588a4632f3f557e76b4b70aebbca790", "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
)
_CL100K = _Table(
    "9b5ad71b2ce5302211f9c61530b329a4922fc6a4", "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"
)
_P50K = _Table(
    "ec7223a39ce59f226a68acc30dc1af2788490e15", "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069"
)
TABLES = {
    "o200k_base": _O200K,
    "o200k_harmony": _O200K,
    "cl100k_base": _CL100K,
    "p50k_base": _P50K,
    "p50k_edit": _P50K,
}  # Source: tiktoken 0.14, `tiktoken_ext/openai_public.py` and `load.py`.


@dataclass(slots=True)
class Tally:
    """How often a counter was asked, for tests and benchmarks."""

    messages: int = 0
    texts: int = 0


@dataclass(frozen=True, slots=True)
class TiktokenCounter:
    """A token counter for one of tiktoken's encodings; the encoding is loaded once a process, at the first count."""

    encoding: str = DEFAULT_ENCODING
    tally: Tally = field(default_factory=Tally, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.encoding not in TABLES:
            raise SetupError(f"no offline table for the encoding {self.encoding!r}; there are {', '.join(TABLES)}")

    def __call__(self, message: Message, /) -> int:
        """Tokens of the message's words, thoughts and calls, of its images, and of its frame."""
        self.tally.messages += 1
        if isinstance(message, Summary):
            return self._count_summary(message.lead, message.text, message.tail) + PER_MESSAGE
        text = counted_text(message)
        size = self._count_again(text) if len(text) <= LONGEST else self.count_text(text)
        return size + image_tokens(message) + PER_MESSAGE

    def of_items(self, items: Sequence[str]) -> int:
        """The same for a summary whose text is these items with `ITEM` between them; it is not cut apart again."""
        self.tally.messages += 1
        return self._count_summary("", ITEM.join(items), "", items) + PER_MESSAGE

    def _count_summary(self, lead: str, text: str, tail: str, items: Sequence[str] = ()) -> int:
        """Once for all who ask for the size of the same summary: plan, guard, record and what follows."""
        known = _lines(f"{self.encoding} summaries")
        size = known.get((lead, text, tail))
        if size is None:
            bare = known.get(("", text, ""))
            if not self._by_lines:
                size = self.count_text(lead + text + tail)
            elif bare is not None and ITEM in text:
                size = bare + self._around(lead, text, tail)
            else:
                size = self._count_items(items or (lead + text + tail).split(ITEM))
            if len(known) >= SUMMARIES:
                oldest, *_ = known
                known.pop(oldest, None)
            known[lead, text, tail] = size
        return size

    def _around(self, lead: str, text: str, tail: str) -> int:
        """What it costs more to have something before and behind a list: only its ends have to be counted again."""
        head, last = text[: text.index(ITEM) + 1], text[text.rindex(ITEM) + 1 :]
        count = self.count_lines
        return count(lead + head) - count(head) + count(last + tail) - count(last)

    def _count_again(self, text: str) -> int:
        """Once for all who ask soon: what a stage puts in is counted by the stage, by its plan and by the record."""
        if len(text) <= SHORT:
            known = _lines(self.encoding)
        elif len(text) <= LONG:
            known = _lines(f"{self.encoding} texts", TEXTS)
        else:
            known = _lines(f"{self.encoding} long texts", LONG_TEXTS)
        size = known.get(text)
        if size is None:
            size = known[text] = self.count_text(text)
        return size

    def count_text(self, text: str) -> int:
        """Tokens of a bare text; what looks like a special token is counted as the text that it is."""
        self.tally.texts += 1
        if not text:
            return 0
        return self._encoded(text)

    def _encoded(self, text: str) -> int:
        encoding = loaded(self.encoding)
        try:
            return len(encoding.encode(text, disallowed_special=()))
        except ValueError:  # a run of about a million blanks overflows tiktoken's stack
            pieces = (text[i : i + PIECE] for i in range(0, len(text), PIECE))
            return sum(len(encoding.encode(piece, disallowed_special=())) for piece in pieces)

    def count_lines(self, text: str) -> int:
        """The same as `count_text`, each line counted once a process: for texts whose lines come again."""
        return self._count_items(text.split(ITEM)) if self._by_lines else self.count_text(text)

    def _count_items(self, items: Sequence[str]) -> int:
        """The same for the items of a text; most lines of a summary are items, and those of one stand in the next."""
        if len(items) <= FEW:
            return self._sum(cut(ITEM.join(items)), _lines(self.encoding), "", "")
        ends = self._sum((*cut(items[0] + "\n"), *cut("- " + items[-1])), _lines(self.encoding), "", "")
        return ends + self._sum(items[1:-1], _lines(f"{self.encoding} items"), "- ", "\n")

    def _sum(self, pieces: Sequence[str], known: dict[Hashable, int], before: str, behind: str) -> int:
        """Tokens of all pieces, each between the same two marks."""
        sizes = list(map(known.get, pieces))
        if None in sizes:
            new = [piece for piece in dict.fromkeys(pieces) if piece not in known]
            self.tally.texts += len(new)
            known.update(zip(new, self._each([f"{before}{piece}{behind}" for piece in new]), strict=True))
            sizes = list(map(known.get, pieces))
        return sum(cast("list[int]", sizes))

    def sizes(self, messages: Iterable[Message]) -> tuple[int, ...]:
        """Tokens of each message, many counted in one go.

        tiktoken leaves other threads the interpreter, and what is to be done with its tokens is put off for a while:
        beside a thread that has much to do, each return to the interpreter may have to wait.
        """
        found: list[int] = []
        begun: list[tuple[list[Message], Encoded | None]] = []
        for some in _batches(messages):
            texts = [text for _, text in some]
            several = _many_by(self.encoding).encoded(texts) if len(texts) >= MANY and self._by_lines else None
            begun.append(([message for message, _ in some], several))
            if len(begun) >= PUT_OFF:
                found += self._finished(begun)
                begun.clear()
        return (*found, *self._finished(begun))

    def _finished(self, begun: Iterable[tuple[Sequence[Message], Encoded | None]]) -> Iterator[int]:
        """Tokens of the messages that were encoded, or must be counted one by one."""
        for messages, several in begun:
            sizes = [None] * len(messages) if several is None else several.sizes()
            for message, size in zip(messages, sizes, strict=True):
                if size is None:
                    size = self._encoded(counted_text(message))
                yield size + image_tokens(message) + PER_MESSAGE
            self.tally.messages += len(messages)
            self.tally.texts += len(messages)

    def _each(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text."""
        if len(texts) < MANY or not self._by_lines:
            return list(map(self._encoded, texts))
        sizes = _many_by(self.encoding).sizes(texts)
        return [self._encoded(text) if size is None else size for text, size in zip(texts, sizes, strict=True)]

    @property
    def _by_lines(self) -> bool:
        """Whether lines may be counted apart: the older encodings look ahead."""
        return self.encoding.startswith(("o200k", "cl100k"))


FEW = 4
"""Items of a list under which a text is cut at every line's end."""
SHORT = 160
"""Characters up to which a text's size is remembered: the marks that stages leave are counted again and again."""
LONG = 20_000
"""Characters up to which a text's size is remembered for a while."""
TEXTS = 200
"""Texts longer than the short ones whose sizes a process remembers."""
LONGEST = 500_000
"""Characters up to which a text's size is remembered for the next moment."""
LONG_TEXTS = 8
"""Texts of that length whose sizes a process remembers."""
SUMMARIES = 100
"""Whole summaries whose sizes a process remembers."""
MANY = 8
"""Texts from which on counting them in one go is quicker than one by one."""
TOGETHER = 1 << 19
"""Characters of messages that are counted in one go, at most by a message more; bounds what that takes of memory."""
PUT_OFF = 16
"""So many times these characters are encoded before they are parted; their tokens take a byte each."""
LINES = 200_000
"""Lines whose sizes a process remembers."""


_KNOWN: dict[str, dict[Hashable, int]] = {}


def _lines(name: str, most: int = LINES) -> dict[Hashable, int]:
    """The sizes of the lines, texts and summaries that were met, by encoding; begun anew when there are too many."""
    known = _KNOWN.get(name)
    if known is None or len(known) > most:
        known = _KNOWN[name] = {}
    return known


def _batches(messages: Iterable[Message]) -> Iterator[list[tuple[Message, str]]]:
    """The messages with what is counted of each, many at a time."""
    some: list[tuple[Message, str]] = []
    size = 0
    for message in messages:
        text = counted_text(message)
        some.append((message, text))
        size += len(text)
        if size >= TOGETHER:
            yield some
            some, size = [], 0
    yield some


@lru_cache(maxsize=len(TABLES))
def _many_by(name: str) -> Many:
    return Many(loaded(name))


def encoding_of(model: str) -> str | None:
    """The encoding of one of OpenAI's models; None where it is not known, or has no table here."""
    from tiktoken.model import encoding_name_for_model

    try:
        found = encoding_name_for_model(model.rpartition("/")[2])
    except KeyError:
        return None
    return found if found in TABLES else None


@lru_cache(maxsize=len(TABLES))
def loaded(name: str) -> Encoding:
    """The encoding, read from a table on this disk.

    Raises:
        SetupError: no whole table is here. Nothing is ever fetched.
    """
    folder = _folder(TABLES[name])
    if folder is None:
        raise SetupError(
            f"the table of the encoding {name!r} is missing or damaged; it comes with the package litellm: "
            f"pip install --force-reinstall litellm"
        )
    import tiktoken

    before = os.environ.get(_CACHE_DIR)
    os.environ[_CACHE_DIR] = str(folder)
    try:
        return tiktoken.get_encoding(name)
    finally:
        if before is None:
            del os.environ[_CACHE_DIR]
        else:
            os.environ[_CACHE_DIR] = before


def _folder(table: _Table) -> Path | None:
    """The first folder with that very table; tiktoken would download where the file is missing or differs."""
    folders = [Path(named)] if (named := os.environ.get(_CACHE_DIR)) else []
    spec = find_spec("litellm")  # finds the package without importing it, which takes seconds
    folders += [
        Path(root) / "litellm_core_utils" / "tokenizers" for root in (spec and spec.submodule_search_locations) or ()
    ]
    for folder in folders:
        file = folder / table.name
        if file.is_file() and sha256(file.read_bytes()).hexdigest() == table.sha256:
            return folder
    return None
