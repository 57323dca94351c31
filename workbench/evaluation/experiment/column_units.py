"""The units of the columns of a run's tables."""

from collections.abc import Iterable, Mapping

TOKENS = frozenset(
    {
        "overhead",
        "window",
        "window_wanted",
        "window_used",
        "window_least",
        "window_most",
        "target",
        "prefix_reused",
        "cache_read",
        "history",
        "must_stay",
    }
)
MESSAGES = frozenset({"messages", "dropped", "rewritten", "kept"})
SHARES: Mapping[str, frozenset[str]] = {
    "paging": frozenset({"visible", "recoverable", "lost"}),
    "reconciliation": frozenset({"prompt_error", "read_error", "usd_error", "bill_error"}),
    "sessions": frozenset({"calibration_error"}),
}
"""Columns that are shares, by table; a column `share` is one in each."""


def unit_of(column: str, table: str) -> str:
    """The unit of a column; empty for words, counts, numbers of messages and values whose unit
    another column tells.
    """
    if column == "share" or column in SHARES.get(table, ()):
        return "share"
    if "usd" in column.split("_") or column == "net_saving":
        return "USD"
    is_size = column.startswith("tokens") or column.endswith("_tokens") or column in TOKENS
    if is_size or (table, column) == ("boundaries", "asked"):
        return "tokens"
    if column in MESSAGES:
        return "messages"
    return "s" if column == "seconds" else ""


def units_of(columns: Iterable[str], table: str) -> dict[str, str]:
    """The columns of a table that have a unit, with it."""
    units = {}
    for column in columns:
        unit = unit_of(column, table)
        if unit:
            units[column] = unit
    return units
