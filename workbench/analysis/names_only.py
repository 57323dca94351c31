"""An alarm on contexts that name what is needed and do not say what belongs to it, as a list or a soup of names does.

The statistic is the score of the exam as a share of presence. The bounds were chosen on one half of the projects, and
tried on the other (docs/validity.md).
"""

from __future__ import annotations

METRICS = ("recall_presence", "exam_recall")
"""The metrics whose means at equal size it takes."""
ANSWERED = 0.55
"""The share of what is named that honest contexts answer the exam's questions about, at least."""
NAMED = 0.25
"""Presence below which a context names too little to be taken for a list of names."""

TRIED = 0.1, 0.2
"""The smallest and the largest share of the history for which the bounds were tried."""


def share_answered(presence: float, exam: float) -> float | None:
    """The exam's score as a share of presence; None where too little is named to say."""
    return exam / presence if presence >= NAMED else None


def names_only(presence: float, exam: float) -> bool:
    """Whether contexts of these means read like a list of names."""
    found = share_answered(presence, exam)
    return found is not None and found < ANSWERED
