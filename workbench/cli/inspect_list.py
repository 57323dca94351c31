"""What `workbench inspect` prints of several sessions: a table with a row for each."""

from collections.abc import Mapping, Sequence
from typing import Any

from workbench.base.formats import NOTHING
from workbench.base.remote import address_of
from workbench.cli.output import say, table, write

COLUMNS = {
    "session": "session", "format": "format", "model": "model", "messages": "messages", "calls": "tool_calls",
    "tokens": "tokens:count", "text\nread": "text_read:percent", "in\nnotes": "text_in_notes:percent",
}  # fmt: skip
RARE_COLUMNS = {
    "compactions": "compactions",
    "branches": "further_branches",
    "skipped": "skipped_lines",
}
"""Columns that stand only where a session has such a thing."""
NOT_COMPARED = (
    "Files at addresses are not compared with each other: a request that several of them hold, as"
    " forks and backups do, is billed in each. Of files on this machine it is billed once."
)


def say_sessions(facts: Sequence[Mapping[str, Any]]) -> None:
    """Print a row for each session, and below it what some copied from others."""
    rows = [_row(session_facts) for session_facts in facts]
    columns = dict(COLUMNS)
    for heading, column in RARE_COLUMNS.items():
        if any(row[column] for row in rows):
            columns[heading] = column
    say(table(rows, columns))
    paths: set[str] = set()
    for session_facts in facts:
        if session_facts["copied"]:
            write(f"{session_facts['session']}: {session_facts['copied']}.")
        paths.add(session_facts["path"])
    if sum(bool(address_of(path)) for path in paths) > 1:
        write(NOT_COMPARED)


def _row(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The facts about a session as a row of a table."""
    return {
        **facts,
        "model": str(facts["model"] or NOTHING).rpartition("/")[2],
        "compactions": len(facts["recorded_compactions"]),
        "further_branches": facts["branches"] - 1,
        "skipped_lines": len(facts["skipped"]),
    }
