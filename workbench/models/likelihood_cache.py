"""Keeps likelihoods of texts on disk, so that a run goes on where it stopped and costs nothing the second time."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from hashlib import sha256
from importlib.metadata import distributions
from pathlib import Path

from workbench.errors import ModelError
from workbench.models.ledger import Ledger, Stored
from workbench.models.likelihood import BATCH, LocalLikelihood, Places
from workbench.models.weights import Weights, cache_folder


class CachedLikelihood:
    """A likelihood whose results are kept; the model itself is loaded when it is first needed.

    Attributes:
        name, window: the model's.
    """

    def __init__(self, name: str, window: int, load: Callable[[], LocalLikelihood], path: Path, seal: str) -> None:
        self.name, self.window = name, window
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

    def score(self, before: str, text: str, places: Places = ()) -> tuple[float, ...]:
        """See `LocalLikelihood.score`. That two texts do not fit into the window is kept as well."""
        key = self._key(before, text, places)
        if (found := self._disk.stored(key)) is None:
            found = self._scored(before, text, places)
            self._disk.keep(key, found)
        if "overflow" in found:
            raise ModelError(str(found["overflow"]), overflow=True)
        return tuple(found["nats"])

    def _scored(self, before: str, text: str, places: Places) -> Stored:
        try:
            return {"nats": [round(one, 5) for one in self.model.score(before, text, places)]}
        except ModelError as error:
            if not error.overflow:
                raise
            return {"overflow": str(error)}

    def _key(self, before: str, text: str, places: Places) -> str:
        parts = (self._seal, before, text, str(sorted(places)))
        return sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
