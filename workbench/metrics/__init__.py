"""From a replay to numbers: retention, size, cost, state."""

HEADLINE = "exam_recall"
"""The metric that strategies are ranked by."""
PANEL = {
    HEADLINE: "questions", "edit_recall": "lines to edit", "value_stale": "stale values",
    "request_recall": "the request", "phrase_recall": "phrases",
}  # fmt: skip
"""The metrics that must not contradict a rank, each with what it looks at in a word or two."""
