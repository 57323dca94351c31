"""Writes a copy of a run that others may see: its numbers, and no text of its recordings.

Texts become keyed hashes, written in digits so that no word can come about by chance. The key is drawn anew for each
copy and kept nowhere: a hash cannot be reversed by trying texts, and two copies have no hash in common.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from secrets import token_bytes
from typing import Any

from workbench.errors import SettingError
from workbench.experiment.store import Results, RunFolder
from workbench.experiment.tables import COLUMNS
from workbench.models.settings import model_names

SHARED = "shared"
"""The manifest's field that says that a run is a shared copy, and how."""
DIGITS = 18
"""Of a hash: among a million texts no two are likely to have the same."""
MANIFEST = frozenset(
    {"schema", "settings", "presets", "code", "python", "packages", "jobs", "seconds", "created",
     "projects"}
)  # fmt: skip
"""The fields of a manifest that are copied: what was asked for, with what, and never where the recordings are."""


def share(run: str | Path | Results, out: str | Path) -> Results:
    """Write a copy of a run without any text of its recordings; a report can be rendered from it as from any run.

    Args:
        run: the run, or its folder.
        out: a folder that does not exist yet, or is empty.

    Raises:
        SettingError: there is no finished run, it was written by another version, or the folder holds something.
    """
    results = run if isinstance(run, Results) else Results.open(run)
    folder = Path(out)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise SettingError(f"{folder} holds something already; name a new folder for the shared copy")
    key = token_bytes(32)
    # numbered in the order of their ids, so that tables keep their order
    sessions = {session: place for place, session in enumerate(sorted(set(results.sessions["session"].dropna())), 1)}
    wide = len(str(len(sessions)))

    def hidden(text: str, column: str, kind: str) -> str:
        if kind == "session":
            return f"session {sessions.get(text, 0):0{wide}} {_hash(key, text)}"
        if kind == "lines":
            return "\n".join(f"line {_hash(key, line)}" for line in text.split("\n"))
        return f"{column} {_hash(key, text)}, {len(text)} characters"

    tables = {}
    for name, columns in COLUMNS.items():
        table = results.table(name)[list(columns)]
        for column, kind in columns.items():
            if kind in ("session", "text", "lines"):
                texts = table[column].fillna("")
                table[column] = [hidden(text, column, kind) if text else text for text in texts]
        tables[name] = table
    RunFolder(folder).write(tables, _manifest(results.manifest, key))
    return Results.open(folder)


def _hash(key: bytes, text: str) -> str:
    digest = hmac.new(key, text.encode("utf-8", "surrogatepass"), sha256).digest()
    return str(int.from_bytes(digest, "big"))[-DIGITS:]


def _manifest(made: Mapping[str, Any], key: bytes) -> dict[str, Any]:
    """What may be known of how the run was made."""
    code, settings = made.get("code", ""), made.get("settings", {})
    models = map(_model, model_names(settings.get("model", "extractive")))
    return {name: value for name, value in made.items() if name in MANIFEST} | {
        "sources": [f"source {_hash(key, path)}" for path in made.get("sources", [])],
        "command": [],
        "settings": {**settings, "model": ",".join(models)},
        "code": "-".join(code[i : i + 3] for i in range(0, len(code), 3)),  # so that its letters form no word
        SHARED: "texts of the recordings are keyed hashes; the key was not kept",
    }


def _model(name: str) -> str:
    """A model's name without what may be taken from a recording, or from a path on this machine."""
    kind, _, rest = name.partition(":")
    return kind if kind == "scripted" else f"{kind}:{Path(rest).name}" if kind == "local" and rest else name
