"""Counts many texts in one go, which is quicker than one by one, and leaves other threads the interpreter meanwhile.

tiktoken takes texts apart with a pattern before it looks anything up, and nothing that the pattern finds reaches from a
line's end to a letter, digit or mark behind it. So lines may be counted apart, and texts
be joined and parted again.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from tiktoken import Encoding

_BREAK = re.compile(r"\n(?=[^\s/]|[^\S\r\n]+\S|(?<=[A-Za-z0-9]\n)/)")
"""A line's end after which nothing goes on: the next line says something, and does not begin with the `/` that the
pattern takes to the marks and line ends before it."""
_BETWEEN = " a\n"
"""Stands between texts; no token reaches over its ends. It costs two."""


def cut(text: str) -> list[str]:
    """A text's lines with their ends, as far as no token reaches over them; together they cost what the text costs."""
    *lines, last = _BREAK.split(text)
    return [*[line + "\n" for line in lines], last]


class Many:
    """Counts texts by an encoding whose patterns are those of `cut`: o200k or cl100k.

    Args:
        encoding: as tiktoken loads it.
    """

    def __init__(self, encoding: Encoding) -> None:
        import numpy as np

        self._encoding = encoding
        ranks = encoding._mergeable_ranks
        self._bytes = np.zeros(encoding.max_token_value + 1, dtype=np.uint8)  # of each token
        self._bytes[np.fromiter(ranks.values(), dtype=np.int64, count=len(ranks))] = [*map(len, ranks)]

    def sizes(self, texts: Sequence[str]) -> list[int | None]:
        """The tokens of each text; None for one that must be counted by itself."""
        return self.encoded(texts).sizes()

    def encoded(self, texts: Sequence[str]) -> Encoded:
        """The tokens of all texts together: most of the work of counting them, which leaves others the interpreter."""
        places = [at for at, text in enumerate(texts) if _stands_alone(text)]
        pieces = [part for at in places for part in (texts[at], _BETWEEN)]
        text = "".join(pieces)
        try:
            tokens = self._encoding.encode_to_numpy(text, disallowed_special=())
        except ValueError:  # half of a pair of surrogates, or more blanks than tiktoken's stack holds
            return Encoded(len(texts), (), (), None)
        sizes = [*map(len, pieces)] if text.isascii() else [len(piece.encode()) for piece in pieces]
        return Encoded(len(texts), places, sizes, self._bytes[tokens])


@dataclass(frozen=True, slots=True, eq=False)
class Encoded:
    """Texts that were joined and encoded, and are still to be parted again.

    Attributes:
        texts: how many there are.
        places: those of them that were joined.
        pieces: the bytes of each of those and, behind each, of what stands between.
        tokens: the bytes of each token; None where they could not be encoded so.
    """

    texts: int
    places: Sequence[int]
    pieces: Sequence[int]
    tokens: NDArray[np.uint8] | None

    def sizes(self) -> list[int | None]:
        """The tokens of each text; None for one that must be counted by itself."""
        found: list[int | None] = [None] * self.texts
        for at, size in zip(self.places, self._parted()[::2], strict=False):
            found[at] = size
        return found

    def _parted(self) -> list[int]:
        """The tokens of each piece; none where a token reaches over one's end."""
        import numpy as np

        if self.tokens is None:
            return []
        ends, wanted = np.cumsum(self.tokens, dtype=np.int64), np.cumsum(self.pieces, dtype=np.int64)
        last = np.searchsorted(ends, wanted)
        if not np.array_equal(ends[last], wanted):  # a pattern that is not known here
            return []
        counts: list[int] = np.diff(last, prepend=-1).tolist()
        return counts


def _stands_alone(text: str) -> bool:
    """Whether no token reaches over its ends to what is put between texts."""
    start, end = text.lstrip(" \t")[:1], text[-1:]
    return start != "" and not start.isspace() and (end == "\n" or not end.isspace())
