"""Who fills a context, for readers: the colour of each kind of source, and its name in words."""

from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from workbench.evaluation.analysis.composition import HIDDEN, LEAST, MEASURED, SURPLUS, UNEXPLAINED
from workbench.evaluation.analysis.measured_parts import OF_AGENT, PUT_BACK

COLOURS = {
    MEASURED: "#8a8f98",
    OF_AGENT: "#a9adb5",
    "rules": "#5b6b8c",
    "user": "#0072b2",
    "client": "#56b4e9",
    "assistant": "#009e73",
    "thinking": "#b5a400",
    HIDDEN: "#d9cd5c",
    "call": "#e69f00",
    "result": "#d55e00",
    "MCP call": "#cc79a7",
    "MCP result": "#c23b6b",
    "picture": "#7b61c4",
    "summary": "#17a3b8",
    PUT_BACK: "#7fcfdb",
    UNEXPLAINED: "#c9ccd1",
}
"""The kinds of sources from the bottom of a chart to its top."""
OTHER = "#8a8f98"
"""The colour of any other kind."""
WORDS = {
    MEASURED: f"{MEASURED} (measured)",
    OF_AGENT: f"{OF_AGENT} {{name}} (measured)",
    HIDDEN: f"{HIDDEN} (measured)",
    PUT_BACK: f"{PUT_BACK} (measured)",
    "client": "the client, in the user’s name",
    "call": "calls of {name}",
    "result": "results of {name}",
    "MCP call": "calls of the MCP server {name}",
    "MCP result": "results of the MCP server {name}",
    "summary": "summary of a compaction",
}
"""Sources in words, where their own name says too little."""
MEASURED_NOTE = (
    "What is measured stands in no message: it follows from the reported prompts. Hidden in answers:"
    " mostly thinking that the file does not show. Not in the recording: what a report holds beyond"
    " all that; where our counts exceed a report, they are less by the last row."
)
"""What a reader has to know of a table of sources."""


@dataclass(frozen=True, slots=True)
class SourceRow:
    """What one source put into the context of a request, for a table.

    Attributes:
        who: in words.
        colour: of its kind.
        tokens: below 0 where our counts exceed the report.
        share: of the request.
    """

    who: str
    colour: str
    tokens: int
    share: float


def source_rows(rows: pd.DataFrame) -> Iterator[SourceRow]:
    """Who put how much into the context of one request, the largest first.

    Args:
        rows: of one request, as `wb.composition` has them.
    """
    for row in rows.to_dict("records"):
        tokens = row["tokens"]
        if abs(tokens) < LEAST:
            continue
        who = source_words(row["source"], row["name"])
        if row["source"] == UNEXPLAINED and tokens < 0:
            who = SURPLUS
        colour = COLOURS.get(row["source"], OTHER)
        yield SourceRow(who, colour, round(tokens), row["share"])


def source_words(source: str, name: str) -> str:
    """Who put something into a context, in words.

    Args:
        source: the kind.
        name: of a tool or of an MCP server.
    """
    words = WORDS.get(source, source)
    return words.replace("{name}", name or "an unnamed tool")
