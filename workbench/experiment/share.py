"""Writes a copy of a run that others may see: its numbers, and not a word of its recordings.

Texts become keyed hashes, written in digits so that no word can come about by chance. The key is drawn anew for each
copy and kept nowhere: nobody can try out what a hash might stand for, and two copies have nothing in common.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from secrets import token_bytes
from typing import TYPE_CHECKING

from workbench.errors import SettingError
from workbench.experiment.store import Results, RunFolder
from workbench.experiment.tables import COLUMNS
from workbench.models.settings import model_names

if TYPE_CHECKING:
    import pandas as pd

SHARED = "shared"
"""The manifest's field that says that a run is a shared copy, and how."""

MANIFEST = frozenset(
    {"schema", "settings", "presets", "background_entities", "code", "python", "packages", "jobs", "seconds", "created",
     "projects"}
)  # fmt: skip
"""The fields of a manifest that are copied: what was asked for, with what, and never where the recordings are."""


@dataclass(frozen=True, slots=True)
class Hashes:
    """Names for texts: equal ones for equal texts, and different ones for different texts.

    Attributes:
        key: what the hashes depend on; whoever has it can try out guesses.
        digits: of a hash; more where two texts would get the same ones.
    """

    key: bytes
    digits: int = 12
    _taken: dict[str, str] = field(default_factory=dict)

    def of(self, text: str) -> str:
        """The text's hash: digits alone."""
        seal = int.from_bytes(hmac.new(self.key, text.encode("utf-8", "surrogatepass"), sha256).digest(), "big")
        length = self.digits
        while self._taken.setdefault(found := str(seal)[-length:], text) != text:
            length += 1
        return found


def share(run: str | Path | Results, out: str | Path) -> Results:
    """Write a copy of a run without a word of its recordings; a report can be rendered from it as from any run.

    Args:
        run: the run, or its folder.
        out: a folder that does not exist yet, or is empty.

    Raises:
        SettingError: there is no finished run, it was written by another version, or the folder holds something.
    """
    results = run if isinstance(run, Results) else Results.open(run)
    folder = Path(out)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise SettingError(f"{folder} holds something already; a shared copy needs a folder of its own")
    hashes = Hashes(token_bytes(32))
    places = _places(results.sessions["session"].dropna())
    tables = {name: _rows(name, results.table(name), hashes, places) for name in COLUMNS}
    RunFolder(folder).write(tables, _manifest(results.manifest, hashes))
    return Results.open(folder)


def _places(sessions: Iterable[str]) -> dict[str, int]:
    """Where each session stands in the order of their ids, so that whatever is ordered by them stays so."""
    return {session: place for place, session in enumerate(sorted(set(sessions)), 1)}


def _rows(name: str, table: pd.DataFrame, hashes: Hashes, places: Mapping[str, int]) -> list[dict[str, object]]:
    kinds = COLUMNS[name]
    known = table[[column for column in table.columns if column in kinds]]
    rows: list[dict[str, object]] = known.astype(object).where(known.notna(), None).to_dict("records")
    for row in rows:
        for column, kind in kinds.items():
            text = row.get(column)
            if isinstance(text, str) and text and kind != "str":
                row[column] = _hidden(text, column, kind, hashes, places)
    return rows


def _hidden(text: str, column: str, kind: str, hashes: Hashes, places: Mapping[str, int]) -> str:
    if kind == "session":
        return f"session {places.get(text, 0):0{len(str(len(places)))}} {hashes.of(text)}"
    if kind == "lines":
        return "\n".join(f"line {hashes.of(line)}" for line in text.split("\n"))
    return f"{column} {hashes.of(text)}, {len(text)} characters"


def _model(name: str) -> str:
    """A model's name without what may be taken from a recording, or from a path on this machine."""
    kind, _, rest = name.partition(":")
    return kind if kind == "scripted" else f"{kind}:{Path(rest).name}" if kind == "local" and rest else name


def _manifest(made: Mapping[str, object], hashes: Hashes) -> dict[str, object]:
    """What may be known of how the run was made."""
    found: dict[str, object] = {name: value for name, value in made.items() if name in MANIFEST}
    sources = made.get("sources")
    found["sources"] = [f"source {hashes.of(str(path))}" for path in sources] if isinstance(sources, list) else []
    found["command"] = []
    code = str(found.get("code", ""))
    found["code"] = "-".join(code[i : i + 3] for i in range(0, len(code), 3))  # so that its letters form no word
    found[SHARED] = "texts of the recordings are keyed hashes; the key was not kept"
    settings = found.get("settings")
    if isinstance(settings, Mapping):
        models = (_model(name) for name in model_names(str(settings.get("model", "extractive"))))
        found["settings"] = {**settings, "model": ",".join(models)}
    return json.loads(json.dumps(found))  # type: ignore[no-any-return]  # a dict, as it went in
