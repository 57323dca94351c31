"""Several runs over the same sessions as one: each strategy under the name of its variant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import time
from typing import TYPE_CHECKING

from workbench.experiment.store import Results, RunFolder
from workbench.experiment.tables import COLUMNS

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Part:
    """A finished run, and what its strategies are called in the combined one; those not named are left out."""

    results: Results
    names: Mapping[str, str]


def combined(
    parts: Sequence[Part], folder: RunFolder, given: Mapping[str, pd.DataFrame], about: Mapping[str, object]
) -> Results:
    """Write one run of several.

    Tables without a strategy are those of the first part, since the sessions are the same; where the windows in use
    differ, `window_used` is missing.

    Args:
        parts: one at least.
        folder: of the combined run.
        given: tables that are not those of the parts, by name.
        about: fields of the manifest that differ from those of the first part.
    """
    import pandas as pd

    tables: dict[str, pd.DataFrame] = dict(given)
    for name, columns in COLUMNS.items():
        if name in given:
            continue
        if "strategy" not in columns:
            tables[name] = parts[0].results.table(name)
            continue
        renamed = [_renamed(part.results.table(name), part.names) for part in parts]
        tables[name] = pd.concat(renamed, ignore_index=True)
    windows = pd.concat([part.results.sessions[["session", "window_used"]] for part in parts])
    several = windows.groupby("session")["window_used"].nunique()
    sessions = tables["sessions"].copy()
    sessions.loc[sessions["session"].map(several).fillna(0) > 1, "window_used"] = None
    tables["sessions"] = sessions
    folder.write(tables, {**parts[0].results.manifest, **about, "created": round(time())})
    return Results.open(folder.path)


def _renamed(table: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
    kept = table[table["strategy"].isin(list(names))]
    return kept.assign(strategy=kept["strategy"].map(names).astype("string"))
