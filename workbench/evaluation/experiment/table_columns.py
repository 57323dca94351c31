"""The tables of a run: their columns, what each holds, and rows as such a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

SCHEMA = 1
"""Version of the tables (docs/reference/tables.md): grows when a column or a table changes its
meaning or goes away.

New columns and tables do not change it: they are empty in runs that were written before.
"""

_REPLAY = {"session": "session", "strategy": "str"}
_PLACE = {**_REPLAY, "mode": "str", "share": "float"}

COLUMNS: dict[str, dict[str, str]] = {
    "sessions": {
        "session": "session",
        "title": "text",
        "project": "text",
        "path": "text",
        "format": "str",
        "model": "text",
        "messages": "int",
        "requests": "int",
        "reported_requests": "int",
        "tokens": "int",
        "overhead": "int",
        "scale": "float",
        "calibration_error": "float",
        "window": "int",
        "window_wanted": "int",
        "window_source": "str",
        "window_used": "int",
        "begun": "float",
        "ended": "float",
        "branches": "int",
        "recorded_compactions": "int",
        "skipped": "lines",
        "reports_left_out": "lines",
        "copied": "lines",
        "content": "text",
        "status": "str",
        "reason": "text",
    },
    "steps": {
        **_REPLAY,
        "request": "int",
        "index": "int",
        "tokens_recorded": "int",
        "tokens_sent": "int",
        "prefix_reused": "int",
        "compaction": "int",
        "cache_read": "int",
        "usd": "float",
    },
    "compactions": {
        **_PLACE,
        "number": "int",
        "at": "int",
        "reason": "str",
        "target": "int",
        "tokens_before": "int",
        "tokens_after": "int",
        "tokens_sent": "int",
        "dropped": "int",
        "rewritten": "int",
        "kept": "int",
        "stages": "str",
        "requests": "int",
        "input_tokens": "int",
        "output_tokens": "int",
        "usd": "float",
        "seconds": "float",
        "fallbacks": "int",
        "by_rule": "int",
        "writer": "str",
        "method": "str",
        "left_out": "int",
        "findings": "lines",
        "misreports": "lines",
        "outcome": "str",
        "why": "str",
        "violations": "int",
    },
    "retention": {
        **_PLACE,
        "at": "int",
        "tokens": "int",
        "kind": "str",
        "recoverable": "str",
        "demanded": "int",
        "presence": "float",
        "bound": "float",
        "coverage": "float",
    },
    "survival": {**_REPLAY, "kind": "str", "round": "int", "at_risk": "int", "lost": "int"},
    "scores": {
        **_PLACE,
        "metric": "str",
        "value": "float",
        "scaled": "float",
        "unit": "str",
        "better": "str",
        "n": "int",
        "why": "str",
    },
    "baseline_at_sizes": {
        **_PLACE,
        "baseline": "str",
        "metric": "str",
        "value": "float",
        "n": "int",
        "why": "str",
    },
    "costs": {
        **_REPLAY,
        "model": "text",
        "row": "text",
        "cache": "str",
        "why": "text",
        "requests": "int",
        "tokens_input": "int",
        "tokens_read": "int",
        "tokens_written": "int",
        "tokens_output": "int",
        "usd": "float",
        "usd_input": "float",
        "usd_read": "float",
        "usd_write": "float",
        "usd_output": "float",
        "usd_summaries": "float",
        "usd_uncompacted": "float",
        "usd_fetching": "float",
        "net_saving": "float",
        "breaks": "int",
        "parted_at": "int",
        "even_at": "int",
        "assumed_summaries": "int",
    },
    "paging": {
        **_PLACE,
        "boundaries": "int",
        "visible": "float",
        "recoverable": "float",
        "lost": "float",
        "items": "int",
        "asked": "int",
        "answered": "int",
        "tokens": "int",
        "requests": "int",
        "calls": "int",
        "usd_recall": "float",
        "usd_fetching": "float",
        "net_saving": "float",
    },
    "reconciliation": {
        "session": "session",
        "model": "text",
        "row": "text",
        "cache": "str",
        "why": "text",
        "requests": "int",
        "left_out": "int",
        "prompt_error": "float",
        "read_error": "float",
        "usd_error": "float",
        "usd": "float",
        "usd_reported": "float",
        "bill_error": "float",
        "usd_missed": "float",
        "usd_found": "float",
        "missed": "int",
        "reasons": "str",
        "compactions": "int",
        "clearings": "int",
        "shrunk": "int",
        "grown": "int",
        "unseen_start": "int",
    },
    "losses": {
        **_PLACE,
        "at": "int",
        "kind": "str",
        "entity": "text",
        "recoverable": "str",
        "way_back": "str",
        "tokens_back": "int",
        "level": "str",
        "said_by": "str",
        "said_at": "int",
        "evidence": "text",
        "evidence_at": "int",
        "needed_at": "int",
        "use": "text",
        "stage": "str",
        "weight": "float",
    },
    "rules": {
        **_PLACE,
        "number": "int",
        "at": "int",
        "rule": "text",
        "said_at": "int",
        "outcome": "str",
        "evidence": "text",
        "reason": "text",
    },
    "boundaries": {
        "session": "session",
        "mode": "str",
        "share": "float",
        "at": "int",
        "history": "int",
        "must_stay": "int",
        "asked": "int",
        "target": "int",
        "left_out": "int",
    },
    "replays": {
        **_REPLAY,
        "model": "str",
        "status": "str",
        "reason": "text",
        "summaries": "int",
        "written": "int",
        "useless": "int",
        "usd": "float",
    },
    "replicates": {**_PLACE, "metric": "str", "replicate": "int", "value": "float"},
    "variants": {
        "strategy": "str",
        "base": "str",
        "window": "int",
        "window_least": "int",
        "window_most": "int",
        "model": "str",
        "settings": "str",
    },
}
"""The columns of each table with what they hold.

`int` and `float` columns may have missing values. Of texts, `str` are the workbench's own words and
names of strategies; `session` is a session's id, `text` and `lines` may quote a recording.
"""

_PANDAS = {
    "str": "string",
    "session": "string",
    "text": "string",
    "lines": "string",
    "int": "Int64",
    "float": "Float64",
}


def frame(name: str, rows: Iterable[Mapping[str, object]]) -> pd.DataFrame:
    """Rows as a table with the documented columns and types, also when there are none."""
    types: dict[str, str] = {}
    for column, kind in COLUMNS[name].items():
        types[column] = _PANDAS[kind]
    return typed(rows, types)


def typed(rows: Iterable[Mapping[str, Any]], columns: Mapping[str, str]) -> pd.DataFrame:
    """Rows as a table with these columns, each of its pandas type, also when there are none."""
    import pandas as pd  # workers, which write no table, start without it

    all_rows = list(rows)
    arrays = {}
    for name, kind in columns.items():
        values = [_clean(row.get(name)) for row in all_rows]
        arrays[name] = pd.array(values, dtype=kind)
    return pd.DataFrame(arrays)


def _clean(value: object) -> object:
    """Text without lone surrogates, which no table can hold."""
    if not isinstance(value, str):
        return value
    encoded = value.encode("utf-8", "replace")
    return encoded.decode("utf-8")
