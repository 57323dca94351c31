"""From a replay to numbers: retention, size, cost, state."""

WORK = "work"
"""How the work stands: the first number of the headline. Sessions without a written exam of the work have none."""
STATEMENTS = "statements"
"""What stands in for the work where nobody wrote an exam; it is in no rank."""
NAMES = "exam_recall"
"""Exact names: the second number of the headline."""
HALVES = {WORK: "the work", NAMES: "names"}
"""Both numbers of the headline, as reports call them. Strategies are ranked by the first that the sessions have."""
PANEL = {
    **HALVES, "edit_recall": "lines to edit", "value_stale": "stale values",
    "request_recall": "the request", "phrase_recall": "phrases",
}  # fmt: skip
"""The metrics that must not contradict a rank, each with what it looks at in a word or two."""
