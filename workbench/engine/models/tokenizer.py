"""Counts tokens as OpenAI's newer models do, from the table in litellm's package: never from a
network.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b, sha256
from importlib.util import find_spec
from itertools import chain, islice
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from workbench.base.errors import SetupError
from workbench.engine.transcript.message import PER_MESSAGE, Message, counted_text, image_tokens

if TYPE_CHECKING:
    from tiktoken import Encoding

ENCODING = "o200k_base"
# characters at once where a text is too monotonous for tiktoken, whose stack holds 900,000 blanks
PIECE = 100_000

TABLE = "fb374d419588a4632f3f557e76b4b70aebbca790"
SHA256 = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
"""The encoding's file in a cache folder of tiktoken, and its hash.

Source:
    tiktoken 0.14, `tiktoken_ext/openai_public.py` and `load.py`.
"""

REMEMBERED = 200_000
"""Texts of which a process remembers how many tokens they have, by a digest: some 25 MB."""
_COUNTS: dict[bytes, int] = {}
_CACHE_DIR = "TIKTOKEN_CACHE_DIR"
_LOADING = Lock()


@dataclass(frozen=True, slots=True)
class TiktokenCounter:
    """A token counter for the encoding o200k, which is loaded at the first count."""

    def __call__(self, message: Message, /) -> int:
        """Tokens of the message's words, thoughts and calls, of its images, and of its frame."""
        return self.count_text(counted_text(message)) + image_tokens(message) + PER_MESSAGE

    def count_text(self, text: str) -> int:
        """Tokens of a bare text; what looks like a special token is counted as text. A process
        counts a text once.
        """
        name = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        tokens = _COUNTS.get(name)
        if tokens is None:
            if len(_COUNTS) >= REMEMBERED:
                _COUNTS.clear()
            tokens = _COUNTS[name] = self._counted(text)
        return tokens

    def _counted(self, text: str) -> int:
        encode = loaded().encode
        try:
            return len(encode(text, disallowed_special=()))
        except ValueError:  # a run of about a million blanks overflows tiktoken's stack
            return sum(len(self._encoded(piece)) for piece in _pieces(text))

    def beginning(self, text: str, tokens: int) -> str:
        """The first tokens of a text; the whole text where it has no more."""
        if self.count_text(text) <= tokens:
            return text
        all_tokens = chain.from_iterable(map(self._encoded, _pieces(text)))
        return loaded().decode(list(islice(all_tokens, tokens)), errors="ignore")

    def _encoded(self, piece: str) -> list[int]:
        return loaded().encode(piece, disallowed_special=())

    def sizes(self, messages: Iterable[Message]) -> tuple[int, ...]:
        """Tokens of each message."""
        return tuple(map(self, messages))


def _pieces(text: str) -> Iterator[str]:
    for start in range(0, len(text), PIECE):
        yield text[start : start + PIECE]


@lru_cache(maxsize=1)
def loaded() -> Encoding:
    """The encoding, read from a table on this disk.

    Raises:
        SetupError: no whole table is here. Nothing is ever fetched.
    """
    import tiktoken

    with _LOADING:
        user_folder = os.environ.get(_CACHE_DIR)
        os.environ[_CACHE_DIR] = str(_folder())
        try:
            encoding = tiktoken.get_encoding(ENCODING)
        finally:
            del os.environ[_CACHE_DIR]
            if user_folder is not None:
                os.environ[_CACHE_DIR] = user_folder
    # the table as it was read, some 30 MB: encoding and decoding use their own copy
    encoding._mergeable_ranks = {}
    return encoding


def _folder() -> Path:
    """The first folder with that very table; tiktoken would download where the file is missing
    or differs.
    """
    folders = [Path(os.environ.get(_CACHE_DIR, ""))]
    spec = find_spec("litellm")  # finds the package without importing it, which takes seconds
    if spec and spec.submodule_search_locations:
        for place in spec.submodule_search_locations:
            folders.append(Path(place, "litellm_core_utils", "tokenizers"))
    for folder in folders:
        file = folder / TABLE
        if file.is_file() and sha256(file.read_bytes()).hexdigest() == SHA256:
            return folder
    raise SetupError(
        f"the table of the encoding {ENCODING!r} is missing or damaged; it comes with the package"
        " litellm: pip install --force-reinstall litellm"
    )
