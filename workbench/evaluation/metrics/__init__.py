"""From a replay to numbers: retention, size, cost, state."""

WORK = "work"
"""How the work stands: the first number of the headline. Sessions without a written exam of the
work have none.
"""
STATEMENTS = "statements"
"""What stands in for the work where nobody wrote an exam; it is in no rank."""
NAMES = "exam_recall"
"""Exact names: with code, the second half of the headline."""
CODE = "code"
"""Lines of code: beside names; sessions in which the agent edits and quotes nothing have none."""
HALVES = {WORK: "the work", NAMES: "names", CODE: "code"}
"""The numbers of the headline, as reports call them. Strategies are ranked by the work, else by
names.
"""
PANEL = {
    **HALVES,
    "value_stale": "stale values",
    "request_recall": "what was asked",
    "phrase_recall": "phrases",
}
"""The metrics that must not contradict a rank, each with what it looks at in a word or two."""
AT_SIZE = (WORK, NAMES, "tokens_kept")
"""What is told of a run that goes on: the numbers of the headline that most runs have, and the size
at which they were read.
"""
