"""The answer in words: which strategy keeps most, what it saves, and how sure that is."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from workbench.analysis.estimate import FEWEST, Estimate
from workbench.report.differences import lead, unseen
from workbench.report.digits import gap, listed, percent, points, some
from workbench.report.ranked import unranked
from workbench.report.tables import (
    Tables,
    contenders,
    equal_size,
    own_trigger,
    replayed,
    shares,
    skipped,
    uncalibrated,
    unreadable,
    widened,
)  # fmt: skip

CLOSE = 0.02
"""Difference of two shares below which nobody would choose by it, where sessions are too few to test it."""


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
    out = unranked(run)
    names = [name for name in contenders(run) if name not in out]
    names = [name for name in names if equal_size(run, name) or own_trigger(run, name)]
    if not names:
        return Verdict(_nothing(run), caveats=_caveats(run))
    kept = {name: found for name in names if (found := equal_size(run, name) or own_trigger(run, name))}
    rivals = lead(run, names[0])
    rivals = rivals[~rivals["strategy"].isin(out)]
    return Verdict(_answer(run, kept, rivals), _price(run, names[0]), _sure(names[0], rivals), _caveats(run))


def _nothing(run: Tables) -> str:
    if run.replays.empty or replayed(run).empty:
        return "Nothing was compared: no session could be read."
    why = (
        run.scores.loc[(run.scores["metric"] == "recall") & run.scores["value"].isna(), "why"]
        if len(run.scores)
        else ()
    )
    reason = next((str(text) for text in why if text), "")
    return "No strategy could be scored" + (f": {reason}." if reason else ".")


def _answer(run: Tables, kept: dict[str, Estimate], rivals: pd.DataFrame) -> str:
    (best, first), *rest = kept.items()
    where = f"Cut to the same size ({_sizes(run)})" if shares(run) else "Left to its own trigger"
    others = listed([f"{name} {percent(found.mean)}" for name, found in rest])
    what = f"{best} still holds {percent(first.mean)} of what the agent went on to use"
    what += f"; {others}" if others else ""
    return f"{_who(best, first, dict(rest), rivals)} {where}, {what}."


def _who(best: str, first: Estimate, rest: dict[str, Estimate], rivals: pd.DataFrame) -> str:
    """Who keeps most, with no more certainty than the tests give."""
    if not rest:
        return f"{best} was the only strategy."
    few = set(rivals.loc[rivals["verdict"] == "too few sessions", "strategy"])
    tied = [best, *rivals.loc[rivals["verdict"] == "undecided", "strategy"]]
    if few:
        close = [best, *(name for name, found in rest.items() if first.mean - found.mean < CLOSE)]
        there = "In this session" if first.n == 1 else f"In these {first.n} sessions"
        return f"{there}, {listed(close)} {'keep most, about as much' if len(close) > 1 else 'keeps most'}."
    if len(tied) == 1:
        return f"{best} keeps most."
    both = "the two" if len(tied) == 2 else "them"
    if len(tied) > len(rest):
        return f"No strategy is clearly ahead: these sessions do not tell {listed(tied)} apart."
    return f"{listed(tied)} keep most; these sessions do not tell {both} apart."


def _sizes(run: Tables) -> str:
    return listed([percent(share) for share in shares(run)]) + " of the history"


def _price(run: Tables, best: str) -> str:
    saved, kept = own_trigger(run, best, "tokens_saved"), own_trigger(run, best)
    if saved is None:
        return ""
    way = "saves" if saved.mean >= 0 else "costs an extra"
    text = f"Left to its own trigger, {best} {way} {percent(abs(saved.mean))} of the tokens"
    text += " that an uncompacted agent would send"
    if kept is None:
        return f"{text}."
    scored = f" in the {kept.n} of {some(saved.n, 'session')} that can be scored" if kept.n < saved.n else ""
    return f"{text}, and holds {percent(kept.mean)}{scored}."


def _sure(first: str, rivals: pd.DataFrame) -> str:
    """How sure the order is: what the tests over all pairs of strategies say, the closest rival first."""
    rows = rivals.to_dict("records")
    few = [one for one in rows if one["verdict"] == "too few sessions"]
    if few:
        one = few[0]
        if not one["sessions"]:
            return f"No session has a figure for both {first} and {one['strategy']}, so the order is not settled."
        floor = str(one["why"]).rpartition("at least ")[2].partition(" ")[0]
        more = f"at least {floor}" if floor.isdigit() else "more"
        return (
            f"{some(one['sessions'], 'session is', 'sessions are')} too few to say how sure this is; {more} would do. "
            f"{first} was ahead of {one['strategy']} in {one['ahead']} of {one['sessions']}. Read it as an example."
        )
    clear = [_span(one) for one in rows if one["verdict"] == "better"]
    open_ = [one for one in rows if one["verdict"] != "better"]
    told = [
        f"The difference from {one['strategy']} could be chance: {_span(one, named=False)}, ahead in {one['ahead']} "
        f"of {one['sessions']} sessions{unseen(one)}."
        for one in open_[:2]
    ]
    if clear:
        n = min(one["sessions"] for one in rows)
        tested = "sign-flip test" + (f", corrected for all {_pairs(len(rows) + 1)} pairs" if len(rows) > 1 else "")
        told.insert(0, f"Clear of chance over {n} sessions ({tested}) is the lead over {listed(clear)}.")
    return " ".join(told)


def _span(one: Mapping[Hashable, Any], *, named: bool = True) -> str:
    reach = "" if pd.isna(one["low"]) else f" (95 % interval {gap(one['low'])} to {gap(one['high'])})"
    whose = f"{one['strategy']}, " if named else ""
    apart = points(one["difference"])
    return f"{whose}{apart} point{'s' * (apart.lstrip('+-−') != '1')}{reach}"


def _pairs(strategies: int) -> int:
    return strategies * (strategies - 1) // 2


def _caveats(run: Tables) -> tuple[str, ...]:
    told: list[str] = []
    if run.manifest.get("shared"):
        told.append(
            "This is a shared copy: its figures are the run's own, and every text of a recording is a keyed hash."
        )
    for name, (large, every) in unranked(run).items():
        where = f"in {large} of {some(every, 'session')}" if large < every else "in any session"
        cannot = "could not be cut" if large < every else "cannot be cut"
        told.append(f"{name} {cannot} to {_sizes(run)} {where}, so it is not ranked.")
    all_sessions = len(replayed(run))
    if failed := int((run.replays["status"] == "failed").sum()) if len(run.replays) else 0:
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
        return f"Small figures: 95 % intervals over {most} sessions."
    return f"No intervals: {some(most, 'session is', 'sessions are')} too few ({FEWEST} are needed)."
