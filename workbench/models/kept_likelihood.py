"""Remembers on disk how likely texts were, so that a run goes on where it stopped and costs nothing the second time."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from workbench.errors import ModelError
from workbench.models.likelihood import BATCH, Likelihood, LocalLikelihood, Places, Scored
from workbench.models.weights import Weights, cache_folder, weights


class KeptLikelihood:
    """A likelihood whose answers are kept; the model itself is loaded when something is asked for the first time.

    Attributes:
        name, window: the model's.
        asked, kept: how many texts were scored by the model, and how many were found on disk.
    """

    def __init__(self, name: str, window: int, load: Callable[[], Likelihood], path: Path | None, seal: str) -> None:
        self.name, self.window = name, window
        self.asked = self.kept = 0
        self._load, self._seal = load, seal
        self._model: Likelihood | None = None
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
        self._disk = sqlite3.connect(path or ":memory:", timeout=60, isolation_level=None)
        self._disk.execute("PRAGMA journal_mode=WAL")
        self._disk.execute("CREATE TABLE IF NOT EXISTS scored (key TEXT PRIMARY KEY, value TEXT NOT NULL)")

    @classmethod
    def of(cls, model: str | Weights = "gemma", path: Path | None = None) -> KeptLikelihood:
        """The local model of that name, kept in the cache folder unless another file is named."""
        known = weights(model) if isinstance(model, str) else model
        seal = f"{known.label} {known.path.stat().st_size} {_version()} {BATCH}"
        file = path or cache_folder() / "likelihoods.sqlite"
        return cls(known.label, known.window, lambda: LocalLikelihood(known), file, seal)

    @property
    def model(self) -> Likelihood:
        """The model itself, loaded now if it was not."""
        if self._model is None:
            self._model = self._load()
        return self._model

    def tokens(self, text: str) -> int:
        """How many tokens a text has."""
        return self.model.tokens(text)

    def has(self, before: str, text: str, places: Places = ()) -> bool:
        """Whether this is on disk."""
        return self._found(self._key(before, text, places)) is not None

    def score(self, before: str, text: str, places: Places = ()) -> Scored:
        """The surprise of tokens of `text` after `before`: of all, or of those that hold a byte of the places.

        Raises:
            ModelError: the two do not fit into the window (`overflow`); that is kept as well.
        """
        key = self._key(before, text, places)
        value = self._found(key)
        if value is None:
            value = self._asked(before, text, places)
            self._disk.execute("INSERT OR REPLACE INTO scored VALUES (?, ?)", (key, json.dumps(value)))
            self.asked += 1
        else:
            self.kept += 1
        if "overflow" in value:
            raise ModelError(str(value["overflow"]), overflow=True)
        return Scored(*(tuple(value[name]) for name in ("nats", "starts", "ends")))

    def _asked(self, before: str, text: str, places: Places) -> dict[str, Any]:
        try:
            scored = self.model.score(before, text, places)
        except ModelError as error:
            if not error.overflow:
                raise
            return {"overflow": str(error)}
        return {"nats": [round(nats, 5) for nats in scored.nats], "starts": scored.starts, "ends": scored.ends}

    def _key(self, before: str, text: str, places: Places) -> str:
        parts = (self._seal, before, text, str(sorted(places)))
        return sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()

    def _found(self, key: str) -> dict[str, Any] | None:
        row = self._disk.execute("SELECT value FROM scored WHERE key = ?", (key,)).fetchone()
        return None if row is None else json.loads(row[0])


def _version() -> str:
    try:
        return version("xllamacpp")
    except PackageNotFoundError:
        return ""
