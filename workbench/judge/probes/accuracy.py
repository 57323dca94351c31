"""What the answers to probes say: shares by strategy, with the judge's part corrected or left out."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.analysis.over_target import evenly, over_target
from workbench.judge.calibration import UNCALIBRATED, Interval, Labels, corrected
from workbench.judge.probes.answers import ProbeResults
from workbench.judge.variance.components import RESIDUAL, Component, advice, components

if TYPE_CHECKING:
    import pandas as pd

LABELS = "labels.jsonl"
SPOKEN = {RESIDUAL: "repetition"}
"""Sources of variance whose name says little to a reader."""
EACH = 25
"""Items of each verdict that a person is asked to label."""


@dataclass(frozen=True, slots=True)
class Item:
    """One answer that a judge ruled on, for a person to label; nothing says whose context it comes from."""

    key: str
    question: str
    expected: str
    reply: str
    judged: bool


@dataclass(frozen=True, slots=True)
class Accuracy:
    """The answers from one strategy's contexts, each session counted once.

    Attributes:
        sessions, asked: how many. `unusable`: answers that say nothing of the context (too large, cut, failed).
        right: share that a rule calls right; the least that is right.
        abstained, stale, open: shares of the other verdicts; the rest is wrong.
        present: share of the questions whose answer stands in the context in so many words.
        share: what is right with the judge's corrected part; None where `why` says why not.
        over_target: sessions in which the strategy cannot reach the size that was set; see `evenly`.
    """

    strategy: str
    sessions: int
    asked: int
    unusable: int
    right: float | None
    abstained: float | None = None
    stale: float | None = None
    open: float | None = None
    present: float | None = None
    share: Interval | None = None
    why: str = ""
    over_target: int = 0


def accuracies(table: pd.DataFrame, labels: Labels | None = None) -> list[Accuracy]:
    """A row a strategy.

    Args:
        table: of `workbench judge probes`.
        labels: a person's labels of the judge's verdicts; without them no judged number is given.
    """
    names, large = dict.fromkeys(map(str, table["strategy"])), over_target(table)
    even = evenly(table)
    rows = [_accuracy(name, even[even["strategy"] == name], labels) for name in names]
    return [replace(one, over_target=len(large[one.strategy].inside)) if one.strategy in large else one for one in rows]


def _accuracy(name: str, rows: pd.DataFrame, labels: Labels | None) -> Accuracy:
    good = rows[rows["outcome"] == "answered"]
    found = Accuracy(name, int(good["session"].nunique()), len(good), len(rows) - len(good), None)
    if good.empty:
        return found

    def share(of: pd.Series[bool]) -> float:
        return float(of.fillna(False).astype(float).groupby(good["session"]).mean().mean())

    verdict = good["verdict"]
    present = good[good["present"].notna()]
    held = present["present"].astype(float).groupby(present["session"]).mean().mean() if len(present) else None
    interval, why = _with_judge(good, labels)
    return Accuracy(
        name, found.sessions, found.asked, found.unusable, share(verdict == "right"), share(verdict == "abstained"),
        share(verdict == "stale"), share(verdict == "open"), None if held is None else float(held), interval, why,
    )  # fmt: skip


def _with_judge(good: pd.DataFrame, labels: Labels | None) -> tuple[Interval | None, str]:
    """The share that is right: by rule, and of what was open the judge's corrected share."""
    open_, right = good[good["verdict"] == "open"], float((good["verdict"] == "right").mean())
    if open_.empty:
        return Interval(right, right, right), ""
    ruled = open_[open_["judged"].notna()]
    if ruled.empty:
        return None, "no judge ruled on the open answers"
    by = ruled["judged"].astype(int).groupby(ruled["session"])
    found = corrected(by.sum().tolist(), by.count().tolist(), labels)
    if found.share is None:
        return None, found.why
    part = len(open_) / len(good)
    return Interval(*(right + part * one for one in (found.share.value, found.share.low, found.share.high))), ""


def items(table: pd.DataFrame, each: int = EACH, seed: int = 20) -> tuple[Item, ...]:
    """What a person should label: `each` answers that the judge called right and `each` that it called wrong, mixed.

    Equal answers to equal questions are shown once, whatever contexts they came from.
    """
    found: dict[str, Item] = {}
    for row in table[table["judged"].notna()].itertuples():
        one = Item(_key(row), str(row.question), str(row.expected), str(row.reply), bool(row.judged))
        found.setdefault(one.key, one)
    order = random.Random(seed)
    chosen = []
    for verdict in (True, False):
        same = sorted((item for item in found.values() if item.judged == verdict), key=lambda item: item.key)
        order.shuffle(same)
        chosen += same[:each]
    order.shuffle(chosen)
    return tuple(chosen)


def _key(row: object) -> str:
    text = json.dumps([str(getattr(row, name)) for name in ("question", "expected", "reply")])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def labelled(file: Path, table: pd.DataFrame) -> Labels | None:
    """The labels in a file, held against the judge's verdicts in a table; None where there are none."""
    known = read_labels(file)
    judged: list[bool] = []
    right: list[bool] = []
    pool = {True: 0, False: 0}
    seen: set[str] = set()
    for row in table[table["judged"].notna()].itertuples():
        key, verdict = _key(row), bool(row.judged)
        if key in seen:
            continue
        seen.add(key)
        pool[verdict] += 1
        if key in known:
            judged.append(verdict)
            right.append(known[key])
    return Labels.of(judged, right, (pool[True], pool[False])) if judged else None


def read_labels(file: Path) -> Mapping[str, bool]:
    """The labels by the items' keys; the last one counts where somebody changed a mind."""
    if not file.is_file():
        return {}
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    return {str(row["key"]): bool(row["right"]) for row in rows}


def noise(runs: Sequence[ProbeResults], strategy: str) -> tuple[Component, ...]:
    """The variance of one strategy's answers: of summariser, reader, judge, session and question; the rest comes last.

    An answer counts 1 if a rule, or for open ones the judge, calls it right, else 0; what is neither graded nor judged
    is left out. The judge is not corrected here: its own noise is what is asked for. A question is one about one
    context: it can be told from the rest where it was put several times. The rest is what the same reader says
    otherwise to the same question, and what factors do together.

    Args:
        runs: the same questions with other summarisers, readers or judges, or asked several times.
        strategy: whose contexts.

    Raises:
        ValueError: fewer than three answers count.
    """
    values: list[float] = []
    factors: dict[str, list[object]] = {"summariser": [], "reader": [], "judge": [], "session": [], "question": []}
    for run in runs:
        table = run.table[(run.table["strategy"] == strategy) & (run.table["outcome"] == "answered")]
        for row in table.itertuples():
            if row.verdict == "open" and row.judged is not True and row.judged is not False:
                continue
            values.append(float(row.verdict == "right" or row.judged is True))
            asked = (row.session, row.share, row.at, row.probe, row.question)
            known = (run.notes["summaries_by"], row.reader, run.notes["judge"] or "none", row.session, asked)
            for name, level in zip(factors, known, strict=True):
                factors[name].append(level)
    return components(values, factors, nested="question", inside="session")


def splits(runs: Sequence[ProbeResults]) -> list[dict[str, object]]:
    """The split of every strategy, a row a source; a strategy with too few answers has one row, with why."""
    found: list[dict[str, object]] = []
    names = dict.fromkeys(str(name) for run in runs for name in run.table["strategy"])
    for name in names:
        try:
            parts = noise(runs, name)
        except ValueError as error:
            found.append({"strategy": name, "source": "", "why": str(error)})
            continue
        found += [_source(name, one) for one in parts]
        found[-1]["advice"] = advice(parts)
    return found


def _source(strategy: str, one: Component) -> dict[str, object]:
    known = one.variance
    return {
        "strategy": strategy, "source": SPOKEN.get(one.factor, one.factor), "levels": one.levels,
        "variance": None if known is None else known.value, "low": None if known is None else known.low,
        "high": None if known is None else known.high, "share": one.share, "of_mean": one.of_mean, "why": one.why,
    }  # fmt: skip


def steadiness(table: pd.DataFrame) -> float | None:
    """The share of rulings that did not change with the order of the two answers; None without rulings."""
    ruled = table["steady"].dropna()
    return float(ruled.astype(float).mean()) if len(ruled) else None


def rubric_means(table: pd.DataFrame, names: Iterable[str]) -> list[dict[str, float | str | None]]:
    """Mean scores of the published rubric by strategy; uncalibrated."""
    found: list[dict[str, float | str | None]] = []
    even = evenly(table)
    for strategy in dict.fromkeys(table["strategy"]):
        own = even[even["strategy"] == strategy]
        row: dict[str, float | str | None] = {"strategy": str(strategy)}
        for name in names:
            values = own[f"rubric_{name}"].dropna()
            row[name] = float(values.mean()) if len(values) else None
        found.append(row)
    return found


def judged_note(labels: Labels | None, rows: Sequence[Accuracy]) -> str:
    """What to say of judged numbers: how the judge is calibrated, or that it is not."""
    if all(row.open in (None, 0.0) for row in rows):
        return "Every answer was graded by rule; no judge was needed."
    if labels is None or not labels.enough:
        return f"Open answers count for nothing here: {UNCALIBRATED}."
    return (
        f"The judge's part is corrected by {labels.n} labels of a person (kappa {labels.kappa:.2f}); "
        "intervals hold its uncertainty too."
    )
