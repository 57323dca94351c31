"""Several runs over the same sessions as one: each strategy under the name of its variant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import time
from typing import TYPE_CHECKING

from workbench.experiment.store import Results, RunFolder
from workbench.experiment.tables import COLUMNS

if TYPE_CHECKING:
    import pandas as pd


def combined(
    parts: Sequence[tuple[Results, Mapping[str, str]]],
    folder: RunFolder,
    own: Mapping[str, pd.DataFrame],
    about: Mapping[str, object],
) -> Results:
    """Write one run of several.

    Tables without a strategy are those of the first part, since the sessions are the same; where the windows in use
    differ, `window_used` is missing.

    Args:
        parts: finished runs, each with the new names of its strategies; strategies that are not named are left out.
        folder: of the combined run.
        own: tables that are not those of the parts, by name.
        about: fields of the manifest that differ from those of the first part.
    """
    import pandas as pd

    first = parts[0][0]
    tables: dict[str, pd.DataFrame] = {}
    for name in COLUMNS.keys() - own.keys():
        several = [_renamed(results.table(name), names) for results, names in parts]
        tables[name] = pd.concat(several, ignore_index=True) if "strategy" in COLUMNS[name] else first.table(name)
    windows = pd.concat([results.sessions[["session", "window_used"]] for results, _ in parts])
    differs = windows.groupby("session")["window_used"].nunique() > 1
    sessions = tables["sessions"]
    sessions.loc[sessions["session"].map(differs).fillna(False).astype(bool), "window_used"] = None
    folder.write({**tables, **own}, {**first.manifest, **about, "created": round(time())})
    return Results.open(folder.path)


def _renamed(table: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
    if "strategy" not in table:
        return table
    kept = table[table["strategy"].isin(list(names))]
    return kept.assign(strategy=kept["strategy"].map(names).astype("string"))
