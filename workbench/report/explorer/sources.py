"""Who fills a context, for readers: the colour of each kind of source, and its name in words."""

from workbench.evaluation.analysis.composition import HIDDEN, MEASURED, UNEXPLAINED
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


def source_words(source: str, name: str) -> str:
    """Who put something into a context, in words.

    Args:
        source: the kind.
        name: of a tool or of an MCP server.
    """
    words = WORDS.get(source, source)
    return words.replace("{name}", name or "an unnamed tool")
