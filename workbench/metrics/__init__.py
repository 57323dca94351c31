"""From a replay to numbers: retention, size, cost, state."""

HEADLINE = "exam_recall"
"""The metric that strategies are compared and ranked by."""
