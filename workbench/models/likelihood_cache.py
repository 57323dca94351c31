"""Keeps likelihoods of texts on disk, so that a run goes on where it stopped and costs nothing the second time."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from hashlib import sha256
from importlib.metadata import distributions
from pathlib import Path

from workbench.errors import ModelError
from workbench.models.ledger import Ledger, Stored
from workbench.models.likelihood import BATCH, LocalLikelihood, Places, Scored
from workbench.models.weights import Weights, cache_folder


class CachedLikelihood:
    """A likelihood whose results are kept; the model itself is loaded when it is first needed.

    Attributes:
        name, window: the model's.
        asked, kept: how many texts the model scored, and how many were found on disk.
    """

    def __init__(self, name: str, window: int, load: Callable[[], LocalLikelihood], path: Path, seal: str) -> None:
        self.name, self.window = name, window
        self.asked = self.kept = 0
        self._load, self._seal, self._disk = load, seal, Ledger(path)

    @classmethod
    def of(cls, known: Weights) -> CachedLikelihood:
        """The local model of these weights; its results are kept in the cache folder."""
        version = next((found.version for found in distributions(name="xllamacpp")), "")
        seal = f"{known.label} {known.path.stat().st_size} {version} {BATCH}"
        file = cache_folder() / "likelihoods.sqlite"
        return cls(known.label, known.window, lambda: LocalLikelihood(known), file, seal)

    @cached_property
    def model(self) -> LocalLikelihood:
        """The model itself, loaded now."""
        return self._load()

    def tokens(self, text: str) -> int:
        """How many tokens a text has."""
        return self.model.tokens(text)

    def has(self, before: str, text: str, places: Places = ()) -> bool:
        """Whether this is on disk."""
        return self._disk.stored(self._key(before, text, places)) is not None

    def score(self, before: str, text: str, places: Places = ()) -> Scored:
        """See `LocalLikelihood.score`. That two texts do not fit into the window is kept as well."""
        key = self._key(before, text, places)
        if (found := self._disk.stored(key)) is None:
            found = self._scored(before, text, places)
            self._disk.keep(key, found)
            self.asked += 1
        else:
            self.kept += 1
        if "overflow" in found:
            raise ModelError(str(found["overflow"]), overflow=True)
        return Scored(*(tuple(found[name]) for name in ("nats", "starts", "ends")))

    def _scored(self, before: str, text: str, places: Places) -> Stored:
        try:
            nats, starts, ends = self.model.score(before, text, places)
        except ModelError as error:
            if not error.overflow:
                raise
            return {"overflow": str(error)}
        return {"nats": [round(one, 5) for one in nats], "starts": starts, "ends": ends}

    def _key(self, before: str, text: str, places: Places) -> str:
        parts = (self._seal, before, text, str(sorted(places)))
        return sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
