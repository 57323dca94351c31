"""Sentences of an advice that are printed, and stand in its JSON."""

from __future__ import annotations

from workbench.base.formats import missing, some
from workbench.evaluation.metrics import HALVES
from workbench.lab.advice.advice import Advice

IN_ASKED_WINDOW = (
    "This was measured in the window that you asked for, {window:,} tokens. In another window the"
    " same value means another place: paste it for a model with this window alone."
)
LEAST_REGRET = 0.05
"""Points that print as more than 0.0."""
CONTEXT_CAN_CHANGE = "What fills its context you can change: `workbench inspect SESSION` shows it."
NOT_MEASURED = (
    "Its prompt, its hooks and a plug-in can be set besides; what these gain was not measured."
    " --model tries models."
)


def runner_up_words(advice: Advice, margin: float) -> str:
    """How far the next best candidate is behind; empty if that is not known."""
    if advice.runner_up is None:
        return ""
    name, lead = advice.runner_up
    if lead is None:
        return ""
    points = f"{abs(lead.mean):.1f} points"
    standing = f"Runner-up: {name}, {points} behind"
    if lead.mean < 0:
        standing = f"Ahead by points alone: {name}, by {points}"
    unnoticed = ""
    if abs(lead.mean) < margin:
        unnoticed = ", which you would not notice"
    return f"{standing}{unnoticed}."


def regret_words(advice: Advice) -> str:
    """What the best candidate in hindsight would have gained more; empty for nothing."""
    if advice.regret is None or advice.regret < LEAST_REGRET:
        return ""
    return (
        f"Regret: on {advice.unit}s that the choice had not seen, the best candidate, known"
        f" beforehand, would have gained {advice.regret:.1f} points more."
    )


def session_words(advice: Advice) -> str:
    """Which sessions the figures of the table are of, where these are two sets."""
    if advice.table.empty:
        return ""
    row = advice.table.iloc[0]
    if missing(row["priced"]) or row["priced"] == row["sessions"]:
        return ""
    with_figure = some(int(row["sessions"]), "session")
    return (
        f"Saved and cost are of all {some(int(row['priced']), 'session')} with a price; the rest, and"
        f" what points count of the bill, of the {with_figure} with a figure."
    )


def rule_words(advice: Advice) -> str:
    """How points are counted."""
    return (
        f"Points: 100 times {HALVES[advice.half]}, and {advice.worth:g} for each tenth of"
        f" {advice.bill.name} that is saved. Cost: of a session."
    )


def notes(advice: Advice, margin: float) -> list[str]:
    """All that is said of a search beside its answer, a sentence or two each."""
    words = [
        runner_up_words(advice, margin),
        regret_words(advice),
        session_words(advice),
    ]
    if len(advice.table):
        words.append(rule_words(advice))
    return [text for text in words if text]
