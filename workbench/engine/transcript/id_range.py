"""The ids that a summary replaces, as a range of a list that the summaries of one conversation share:
each of them names all ids before it, and the list grows once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from threading import Lock
from typing import TYPE_CHECKING, Any, Self, overload

if TYPE_CHECKING:
    from hashlib import _Hash


class _SharedIds:
    """A list of ids, each once, that only grows.

    Attributes:
        place: of each id in the list.
        digest: of the first `digested` ids, each with a separator behind it.
    """

    def __init__(self, ids: Iterable[str]) -> None:
        self.ids = list(dict.fromkeys(ids))
        self.place = {id: place for place, id in enumerate(self.ids)}
        self.digest: _Hash = sha256()
        self.digested = 0
        self.lock = Lock()

    def digest_of(self, stop: int) -> _Hash:
        """The digest of the first ids; a copy that may go on."""
        with self.lock:
            if self.digested > stop:
                self.digest, self.digested = sha256(), 0
            for id in self.ids[self.digested : stop]:
                self.digest.update(f"{id}\0".encode("utf-8", "surrogatepass"))
            self.digested = stop
            return self.digest.copy()


class IdRange(Sequence[str]):
    """The first ids of a shared list. It is equal to the tuple of them, and is copied as one."""

    __slots__ = ("_shared", "_stop")

    def __init__(self, shared: _SharedIds, stop: int) -> None:
        self._shared = shared
        self._stop = stop

    @classmethod
    def of(cls, ids: Sequence[str]) -> IdRange:
        """These ids, each once."""
        if isinstance(ids, IdRange):
            return ids
        shared = _SharedIds(ids)
        return cls(shared, len(shared.ids))

    def joined(self, ids: Sequence[str]) -> IdRange:
        """These ids and further ones, each once, in their order."""
        if not self._stop:
            return IdRange.of(ids)
        new_ids = [id for id in dict.fromkeys(ids) if id not in self]
        if not new_ids:
            return self
        shared = self._shared
        stop = self._stop + len(new_ids)
        with shared.lock:
            if len(shared.ids) == self._stop:
                shared.place.update(zip(new_ids, range(self._stop, stop), strict=True))
                shared.ids += new_ids
            if shared.ids[self._stop : stop] == new_ids:
                return IdRange(shared, stop)
        # another summary went on from here with other messages
        return IdRange.of([*self, *new_ids])

    def digest(self, text: str) -> str:
        """The SHA-256 of the ids and a text, with a zero character between each two of them."""
        digest = self._shared.digest_of(self._stop)
        digest.update(text.encode("utf-8", "surrogatepass"))
        return digest.hexdigest()

    def __len__(self) -> int:
        return self._stop

    def __iter__(self) -> Iterator[str]:
        return iter(self._shared.ids[: self._stop])

    def __contains__(self, id: object) -> bool:
        place = self._shared.place.get(id)  # type: ignore[call-overload]  # anything may be asked for
        return place is not None and place < self._stop

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...

    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        return tuple(self)[index]

    def __eq__(self, value: object) -> bool:
        if not isinstance(value, IdRange):
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
    if isinstance(ids, IdRange):
        return ids.digest(text)
    joined = "\0".join((*ids, text))
    return sha256(joined.encode("utf-8", "surrogatepass")).hexdigest()
