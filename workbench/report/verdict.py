"""The answer in words: which strategy keeps most, what it saves, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.analysis.bootstrap import FEWEST, Estimate
from workbench.report.digits import listed, percent, points, some
from workbench.report.tables import (
    Tables,
    contenders,
    equal_size,
    lead,
    own_trigger,
    replayed,
    shares,
    skipped,
    uncalibrated,
    unreadable,
    widened,
)  # fmt: skip

CLOSE = 0.02
"""Difference of two shares below which nobody would choose by it."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Four sentences, each of which may be empty.

    Attributes:
        answer: which strategy keeps most.
        price: what it saves, left to its own trigger.
        sure: how sure the answer is.
        caveats: what a reader must know before quoting it, one sentence each.
    """

    answer: str
    price: str = ""
    sure: str = ""
    caveats: tuple[str, ...] = ()

    def __str__(self) -> str:
        return " ".join(part for part in (self.answer, self.price, self.sure, *self.caveats) if part)


def verdict(run: Tables) -> Verdict:
    """What this run says, in words and with no more certainty than it has."""
    names = [name for name in contenders(run) if equal_size(run, name) or own_trigger(run, name)]
    if not names:
        return Verdict(_nothing(run), caveats=_caveats(run))
    kept = {name: found for name in names if (found := equal_size(run, name) or own_trigger(run, name))}
    return Verdict(_answer(run, kept), _price(run, names[0]), _sure(run, names), _caveats(run))


def _nothing(run: Tables) -> str:
    if run.cells.empty or replayed(run).empty:
        return "Nothing was compared: no session could be read."
    why = run.scores.loc[(run.scores["metric"] == "frr") & run.scores["value"].isna(), "why"] if len(run.scores) else ()
    reason = next((str(text) for text in why if text), "")
    return "No strategy could be scored" + (f": {reason}." if reason else ".")


def _answer(run: Tables, kept: dict[str, Estimate]) -> str:
    (best, first), *rest = kept.items()
    where = f"Cut to the same size ({_sizes(run)})" if shares(run) else "Left to its own trigger"
    level = [best, *(name for name, found in rest if first.mean - found.mean < CLOSE)]
    others = listed([f"{name} {percent(found.mean)}" for name, found in rest])
    what = f"it still holds {percent(first.mean)} of what the agent went on to use" + (f"; {others}" if others else "")
    if not rest:
        return f"{best} was the only strategy. {where}, {what}."
    if len(level) > 1:
        return f"{listed(level)} keep most, about as much. {where}, {what.replace('it', best, 1)}."
    return f"{best} keeps most. {where}, {what}."


def _sizes(run: Tables) -> str:
    return listed([percent(share) for share in shares(run)]) + " of the history"


def _price(run: Tables, best: str) -> str:
    saved, kept = own_trigger(run, best, "tokens_saved"), own_trigger(run, best)
    if saved is None:
        return ""
    way = "saves" if saved.mean >= 0 else "costs an extra"
    text = f"Left to its own trigger, {best} {way} {percent(abs(saved.mean))} of the tokens"
    return f"{text} that an uncompacted agent would send" + (f", and holds {percent(kept.mean)}." if kept else ".")


def _sure(run: Tables, names: list[str]) -> str:
    if len(names) < 2:
        return ""
    found = lead(run, names[0], names[1])
    if found is None:
        return f"No session has a figure for both {names[0]} and {names[1]}, so the order is not settled."
    gap, wins = found
    if gap.low is None or gap.high is None:
        return (
            f"{some(gap.n, 'session is', 'sessions are')} too few to say how sure this is (it takes {FEWEST}): "
            f"{names[0]} was ahead of {names[1]} in {wins} of {gap.n}. Read it as an example."
        )
    span = f"{points(gap.mean)} points, 95 % interval {points(gap.low)} to {points(gap.high)}, {gap.n} sessions"
    if gap.low > 0:
        return f"The lead over {names[1]} is clear of chance: {span}."
    return f"The lead over {names[1]} is within what chance alone would give: {span}."


def _caveats(run: Tables) -> tuple[str, ...]:
    told: list[str] = []
    if run.manifest.get("shared"):
        told.append(
            "This is a shared copy: its figures are the run's own, and every text of a recording is a keyed hash."
        )
    all_sessions = len(replayed(run))
    if failed := int((run.cells["status"] == "failed").sum()) if len(run.cells) else 0:
        told.append(f"{some(failed, 'replay')} failed and {'is' if failed == 1 else 'are'} missing from every figure.")
    if bad := len(unreadable(run)):
        told.append(f"{some(bad, 'file')} could not be read.")
    if lines := skipped(run):
        told.append(f"{some(lines, 'damaged line was', 'damaged lines were')} left out.")
    if raw := len(uncalibrated(run)):
        whose = "No session reports its" if raw == all_sessions else f"{raw} of {all_sessions} sessions report no"
        told.append(f"{whose} usage; there, sizes are a tokenizer's and hold no system prompt or tool list.")
    if wide := len(widened(run)):
        told.append(
            f"In {some(wide, 'session')} the window was widened, because the agent's own overhead would have filled it."
        )
    return tuple(told)


def interval_note(run: Tables) -> str:
    """What stands in brackets in the tables, or why nothing does."""
    most = max(
        (found.n for name in contenders(run) if (found := equal_size(run, name) or own_trigger(run, name))), default=0
    )
    if most >= FEWEST:
        return f"Small figures: 95 % intervals, from drawing the {most} sessions again and again."
    return f"No intervals: {some(most, 'session is', 'sessions are')} too few ({FEWEST} are needed)."
