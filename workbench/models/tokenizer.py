"""Counts tokens as OpenAI's tokenizers do, from the tables in litellm's package: never from a network.

tiktoken first cuts a text with a pattern, and nothing that the patterns of o200k and cl100k find reaches from a line's
end to a letter, digit or mark behind it. So the lines of a summary may be counted one by one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from importlib.util import find_spec
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.errors import SetupError
from workbench.transcript.message import Message, Summary, counted_text, image_tokens
from workbench.transcript.tokens import PER_MESSAGE

if TYPE_CHECKING:
    from tiktoken import Encoding

DEFAULT_ENCODING = "o200k_base"
PIECE = 100_000
"""Characters a piece where a text is too monotonous for tiktoken; its stack holds about nine times as many blanks."""
SHORT = 400
"""Characters of a short text."""
LONG_TEXTS, SHORT_TEXTS = 300, 200_000
"""Texts whose sizes a process remembers: a stage, its plan and its record count the same text one after another, and
the marks that stages leave and the lines of summaries come again and again."""

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


@dataclass(frozen=True, slots=True)
class TiktokenCounter:
    """A token counter for one of tiktoken's encodings. It loads the encoding once a process, at the first count."""

    encoding: str = DEFAULT_ENCODING

    def __post_init__(self) -> None:
        if self.encoding not in TABLES:
            raise SetupError(f"no offline table for the encoding {self.encoding!r}; choose from {', '.join(TABLES)}")

    def __call__(self, message: Message, /) -> int:
        """Tokens of the message's words, thoughts and calls, of its images, and of its frame."""
        if isinstance(message, Summary):
            return self.count_lines(message.lead + message.text + message.tail) + PER_MESSAGE
        return self.count_text(counted_text(message)) + image_tokens(message) + PER_MESSAGE

    def count_text(self, text: str) -> int:
        """Tokens of a bare text; what looks like a special token is counted as the text that it is."""
        return (_short_size if len(text) <= SHORT else _long_size)(self.encoding, text)

    def count_lines(self, text: str) -> int:
        """The same as `count_text`, each line encoded once a process: most lines of a summary stand in the next one."""
        if not self.encoding.startswith(("o200k", "cl100k")):  # the older encodings look ahead
            return self.count_text(text)
        return sum(map(_short_size, repeat(self.encoding), _cut(text)))

    def sizes(self, messages: Iterable[Message]) -> tuple[int, ...]:
        """Tokens of each message."""
        return tuple(map(self, messages))


_BREAK = re.compile(r"\n(?=[^\s/]|[^\S\r\n]+\S|(?<=[A-Za-z0-9]\n)/)")
"""A line's end over which no token reaches: the next line says something, and does not begin with the `/` that the
pattern of o200k takes to the marks and line ends before it."""


def _cut(text: str) -> list[str]:
    """A text's lines with their ends, as far as no token reaches over them; together they cost what the text costs."""
    *lines, last = _BREAK.split(text)
    return [*[line + "\n" for line in lines], last]


def _encoded_size(encoding: str, text: str) -> int:
    encode = loaded(encoding).encode
    try:
        return len(encode(text, disallowed_special=()))
    except ValueError:  # a run of about a million blanks overflows tiktoken's stack
        pieces = (text[i : i + PIECE] for i in range(0, len(text), PIECE))
        return sum(len(encode(piece, disallowed_special=())) for piece in pieces)


_short_size = lru_cache(maxsize=SHORT_TEXTS)(_encoded_size)
_long_size = lru_cache(maxsize=LONG_TEXTS)(_encoded_size)


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
