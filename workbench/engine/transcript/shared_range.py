"""The ids that a summary replaces, and the files that it lists, each as a range of a list that the
summaries of one conversation share: each of them names all before it, and the list grows once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from threading import Lock
from typing import TYPE_CHECKING, Any, Self, overload

if TYPE_CHECKING:
    from hashlib import _Hash


class _SharedTexts:
    """A list of ids or paths, each once, that only grows.

    Attributes:
        place: of each text in the list.
        digest: of the first `digested` texts, each with a separator behind it.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self.texts = list(dict.fromkeys(texts))
        places = range(len(self.texts))
        self.place = dict(zip(self.texts, places, strict=True))
        self.digest: _Hash = sha256()
        self.digested = 0
        self.lock = Lock()

    def digest_of(self, stop: int) -> _Hash:
        """The digest of the first texts; a copy that may go on."""
        with self.lock:
            if self.digested > stop:
                self.digest, self.digested = sha256(), 0
            for text in self.texts[self.digested : stop]:
                self.digest.update(f"{text}\0".encode("utf-8", "surrogatepass"))
            self.digested = stop
            return self.digest.copy()


class SharedRange(Sequence[str]):
    """The first texts of a shared list. It is equal to the tuple of them, and is copied as one."""

    __slots__ = ("_shared", "_stop")

    def __init__(self, shared: _SharedTexts, stop: int) -> None:
        self._shared = shared
        self._stop = stop

    @classmethod
    def of(cls, texts: Sequence[str]) -> SharedRange:
        """These texts, each once."""
        if isinstance(texts, SharedRange):
            return texts
        shared = _SharedTexts(texts)
        return cls(shared, len(shared.texts))

    def joined(self, texts: Sequence[str]) -> SharedRange:
        """These texts and further ones, each once, in their order."""
        if not texts:
            return self
        if not self._stop:
            return SharedRange.of(texts)
        new_texts = [text for text in dict.fromkeys(texts) if text not in self]
        if not new_texts:
            return self
        shared = self._shared
        stop = self._stop + len(new_texts)
        with shared.lock:
            if len(shared.texts) == self._stop:
                shared.place.update(zip(new_texts, range(self._stop, stop), strict=True))
                shared.texts += new_texts
            if shared.texts[self._stop : stop] == new_texts:
                return SharedRange(shared, stop)
        # another summary went on from here with other texts
        return SharedRange.of([*self, *new_texts])

    def digest(self, text: str) -> str:
        """The SHA-256 of these texts and another one, with a zero character between each two of them."""
        digest = self._shared.digest_of(self._stop)
        digest.update(text.encode("utf-8", "surrogatepass"))
        return digest.hexdigest()

    def __len__(self) -> int:
        return self._stop

    def __iter__(self) -> Iterator[str]:
        return iter(self._shared.texts[: self._stop])

    def __contains__(self, text: object) -> bool:
        place = self._shared.place.get(text)  # type: ignore[call-overload]  # anything may be asked for
        return place is not None and place < self._stop

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...

    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        if isinstance(index, slice):
            return tuple(self._shared.texts[: self._stop][index])
        return self._shared.texts[range(self._stop)[index]]

    def __eq__(self, value: object) -> bool:
        if not isinstance(value, SharedRange):
            return tuple(self) == value
        if self._stop != value._stop:
            return False
        return self._shared is value._shared or tuple(self) == tuple(value)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return tuple, (list(self),)


def digest_of(ids: Sequence[str], text: str) -> str:
    """The SHA-256 of ids and a text, with a zero character between each two of them."""
    if isinstance(ids, SharedRange):
        return ids.digest(text)
    joined = "\0".join((*ids, text))
    return sha256(joined.encode("utf-8", "surrogatepass")).hexdigest()
