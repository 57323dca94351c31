"""The lines that the extractive model chooses from, numbered as by its extractor: entities, words and lengths."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias

from workbench.extraction.entities import LEXICAL
from workbench.extraction.extractor import END, Extractor
from workbench.extraction.words import words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ints: TypeAlias = NDArray[np.integer[Any]]

_KIND = {kind: number for number, kind in enumerate(LEXICAL)}
_MOST_TEXTS = 200_000


class _Texts(dict[int, str]):
    """The text of each line, made when it is first asked for; begun anew when there are too many."""

    def __init__(self, make: Callable[[int], str]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, line: int) -> str:
        if len(self) >= _MOST_TEXTS:
            self.clear()
        found = self[line] = self._make(line)
        return found


class Lines:
    """What an extractor's features say of each line: its entities, and how many other content words it has.

    A line is known by the number that the extractor gives its text. Arrays that a method returns are copies.

    Attributes:
        text: gives what a line says, by its number.
        harmless: gives the same as it may stand in a summary, the same object each time.
    """

    __slots__ = ("_entities", "_extractor", "_flat", "_kinds", "_more", "_words", "harmless", "text")

    def __init__(self, extractor: Extractor) -> None:
        import numpy as np

        from workbench.ragged import Column, Table

        self._extractor = extractor
        self._flat = self._more = 0
        self._entities, self._words = Table(np.int32), Column(np.int32)
        text = _Texts(extractor.spans.__getitem__).__getitem__
        self.text: Callable[[int], str] = text
        self.harmless: Callable[[int], str] = _Texts(lambda line: harmless(text(line))).__getitem__
        self._kinds = bytearray()

    def catch_up(self) -> None:
        """Take in the lines that the extractor has met since the last time; many at once cost least."""
        import numpy as np

        extractor, first = self._extractor, len(self._words)
        if first == len(extractor.spans):
            return
        flat = np.frombuffer(extractor.flat, dtype=np.int32)[self._flat :].astype(
            np.int64
        )  # a view would forbid growth
        self._flat += len(flat)
        ends = np.flatnonzero(flat == END)
        features = np.diff(np.concatenate(([-1], ends))) - 1
        is_entity = (flat < 0) & (flat != END)
        held = np.diff(np.concatenate(([0], np.cumsum(is_entity)[ends])))
        # A path's folders tie it to its place, its own last part does not: one word less for each entity.
        count = np.maximum(features - 2 * held, 0)
        owner, entities = [np.repeat(np.arange(len(ends)), held)], [~flat[is_entity]]
        more, kinds = len(extractor.more) - self._more, len(extractor.entities) - len(self._kinds)
        self._more += more
        for line, found in [*islice(reversed(extractor.more.items()), more)][::-1]:
            known = [~feature for feature in found if feature < 0]
            owner.append(np.full(len(known), line - first))
            entities.append(np.array(known, dtype=np.int64))
            text = extractor.spans[line]
            count[line - first] = count[line - first] + len(found) - len(known) if text.isascii() else len(words(text))
        every, named = np.concatenate(owner), np.concatenate(entities)
        order = np.argsort(every, kind="stable")  # what tokens show stands before what it takes more to see
        every, named = every[order], named[order]
        _, once = np.unique(every * (len(extractor.entities) + 1) + named, return_index=True)
        once.sort()
        self._entities.add(every[once], named[once], len(ends))
        self._words.extend(count)
        self._kinds += bytes([_KIND[kind] for kind, _ in islice(reversed(extractor.entities), kinds)])[::-1]

    @property
    def length(self) -> Callable[[int], int]:
        """Gives the characters of one line."""
        return self._extractor.spans.sizes.__getitem__

    @property
    def size(self) -> int:
        """How many lines there are."""
        return len(self._words)

    @property
    def kinds(self) -> Ints:
        """The kind of every entity, by number, as its place in `LEXICAL`."""
        import numpy as np

        return np.frombuffer(bytes(self._kinds), dtype=np.uint8)

    def entities_of(self, lines: Ints) -> tuple[Ints, Ints]:
        """The entities of some lines, each once a line: for each the line's position in `lines`, and the entity."""
        owner, _, entities = self._entities.rows(lines)
        return owner, entities.astype("int64")

    def named(self, lines: Ints) -> Ints:
        """How many entities each line has."""
        starts = self._entities.starts
        counts: Ints = starts[lines + 1] - starts[lines]
        return counts

    def words_of(self, lines: Ints) -> Ints:
        """How many content words each line has beside its entities."""
        found: Ints = self._words.values[lines]
        return found

    def lengths(self, lines: Ints) -> Ints:
        """The characters of each line."""
        import numpy as np

        sizes = self._extractor.spans.sizes
        return np.frombuffer(sizes, dtype=np.uint16)[lines] if sizes else np.zeros(0, dtype=np.uint16)


def harmless(text: str) -> str:
    """A line of a session in which no tag can be closed."""
    return text.replace("</", "< /")
