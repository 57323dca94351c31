"""What real models say of the same contexts: their surprise, their answers, and what they do next.

Each part is there once its command has written its table into the run's folder.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from workbench.analysis.estimate import Estimate
from workbench.analysis.over_target import over_target_notes
from workbench.errors import SettingError
from workbench.judge.behaviour.effects import Compliance, Equivalence, compliances, equivalences
from workbench.judge.behaviour.trials import BehaviourResults
from workbench.judge.probes.accuracy import LABELS, Accuracy, accuracies, judged_note, labelled, rubric_means, splits
from workbench.judge.probes.answers import ProbeResults
from workbench.judge.probes.judge import DIMENSIONS, RUBRIC_NOTE
from workbench.judge.surprisal.measurement import SurprisalResults
from workbench.markup import shown
from workbench.report.digits import NOTHING, percent
from workbench.report.html import Cell, Html, bullets, dot, row, table
from workbench.report.tables import Source


@dataclass(frozen=True, slots=True)
class Measurement:
    """How the headline measure held against a real model when we tried it; docs/method.md says how to try it again.

    Attributes:
        mean, low, high: Spearman's rank correlation within a boundary, with its 95 % interval over sessions.
        median: of the boundaries.
        positive, boundaries, sessions: how many.
    """

    model: str
    mean: float
    low: float
    high: float
    median: float
    positive: int
    boundaries: int
    sessions: int


MEASURED = Measurement("Gemma 3 270M base", 0.85, 0.71, 0.97, 0.87, 7, 7, 7)


def asked_html(run: Source) -> Html:
    """Everything that real models were asked about this run's contexts; a sentence where nothing was."""
    folder = getattr(run, "path", None)  # a run that is not on disk holds no such tables
    every = [surprise_html(folder), probes_html(folder), behaviour_html(folder)] if isinstance(folder, Path) else []
    parts = [part for part in every if part.html]
    told = f"<p>{measured_told(MEASURED)}</p>"
    if not parts:
        told += (
            "<p>No real model was asked about this run's contexts. <code>workbench surprisal</code>, "
            "<code>workbench probe</code> and <code>workbench behave</code> with this run's folder as "
            "<code>--out</code> add what they find here.</p>"
        )
    return Html(told + "".join(part.html for part in parts), data=parts[0].data if parts else None)


def measured_told(one: Measurement) -> str:
    """The check of the headline measure against a real model, in words."""
    return (
        "<b>Held against a real model.</b> Contexts in which more is <i>kept</i> make what was needed later less "
        f"surprising to {shown(one.model)}: at {one.boundaries} boundaries of {one.sessions} bundled sessions, five "
        f"contexts of equal size are ranked alike, with a rank correlation of {one.mean:.2f} on average (95 % interval "
        f"{one.low:.2f} to {one.high:.2f}), {one.median:.2f} in the median, positive at {one.positive} of "
        f"{one.boundaries}."
    )


def surprise_html(folder: Path) -> Html:
    """How surprising a small model finds what was needed later: a row a strategy; empty where nobody measured it."""
    try:
        found = SurprisalResults.open(folder)
    except SettingError:
        return Html("")
    rows = found.means()
    if not rows:
        return Html("")
    names = [str(one["strategy"]) for one in rows]
    heads: list[Cell] = [("Strategy", ""), ("Nats a token", "n"), ("More than with all", "n"), ("Kept", "n"),
                         ("Boundaries", "n"), ("Sessions", "n")]  # fmt: skip
    lines = [
        row(
            [
                (dot(str(one["strategy"]), names), ""), (_digits(one["per_token"]), "n"), (_digits(one["excess"]), "n"),
                (_share(one["bound"]), "n"), (str(one["boundaries"]), "n"), (str(one["sessions"]), "n"),
            ]
        )
        for one in rows
    ]  # fmt: skip
    note = (
        f"How surprising {shown(str(found.notes['likelihood']))} finds what was needed later, where the recording used "
        "it, given each context; lower is better. Kept: of the same things, by the headline measure."
        f"{_larger(found.table)}"
    )
    return Html(
        "<h3>Surprise</h3>" + table(heads, lines, caption=note, label="surprise by strategy"), data=pd.DataFrame(rows)
    )


def probes_html(folder: Path) -> Html:
    """How many questions a model answers right from each context; empty where nobody asked."""
    try:
        found = ProbeResults.open(folder)
    except SettingError:
        return Html("")
    labels = labelled(folder / LABELS, found.table)
    rows = accuracies(found.table, labels)
    names = [one.strategy for one in rows]
    heads: list[Cell] = [("Strategy", ""), ("Right by rule", "n"), ("Right, judge corrected", "n"), ("Open", "n"),
                         ("Not stated", "n"), ("Stale", "n"), ("In the context", "n"), ("Answers", "n"),
                         ("Unusable", "n")]  # fmt: skip
    lines = [row([(dot(one.strategy, names), ""), *((text, "n") for text in _probe(one))]) for one in rows]
    who = shown(str(found.notes["reader"]))
    note = f"Questions answered by {who} from each context alone.{_larger(found.table)} {judged_note(labels, rows)}"
    html = "<h3>Questions</h3>" + table(heads, lines, caption=note, label="answers by strategy")
    if found.notes.get("scores_by"):
        html += _rubric(found.table)
    if (found.table["replicate"].fillna(0) > 0).any():
        html += _noise(splits([found]), names)
    return Html(html, data=found.table)


def _noise(rows: Sequence[Mapping[str, object]], names: Sequence[str]) -> str:
    """Where the answers' noise comes from."""
    heads: list[Cell] = [("Strategy", ""), ("Source", ""), ("Levels", "n"), ("Variance", "n"), ("From", "n"),
                         ("To", "n"), ("Of one answer", "n"), ("Of the mean", "n")]  # fmt: skip
    lines = [
        row([(dot(str(one["strategy"]), names), ""), (shown(str(one["source"])), ""), *_source(one)])
        for one in rows
        if not one.get("why")
    ]
    note = (
        "Variance of one answer, 1 if right and 0 if not, with its 95 % interval. Repetition: the same question put to "
        "the same reader again. Sources of which only one was tried are left out."
    )
    told = [f"{shown(str(one['strategy']))}: {shown(str(one['advice']), 400)}" for one in rows if one.get("advice")]
    return table(heads, lines, caption=note, label="where the noise of answers comes from") + bullets(told)


def _source(one: Mapping[str, object]) -> Sequence[Cell]:
    figures = [_digits(one.get(name), 3) for name in ("variance", "low", "high")]
    parts = [_share(one.get(name)) for name in ("share", "of_mean")]
    return [(text, "n") for text in (str(one.get("levels", NOTHING)), *figures, *parts)]


def behaviour_html(folder: Path) -> Html:
    """Whether a model does the same next, and obeys; empty where nobody tried."""
    try:
        found = BehaviourResults.open(folder)
    except SettingError:
        return Html("")
    same, obeyed = equivalences(found.table), compliances(found.table)
    names = [one.strategy for one in same]
    heads: list[Cell] = [("Strategy", ""), ("Same next action", "n"), ("Asked twice", "n"), ("Beyond chance", "n"),
                         ("As recorded", "n"), ("Boundaries", "n")]  # fmt: skip
    lines = [row([(dot(one.strategy, names), ""), *((text, "n") for text in _decision(one))]) for one in same]
    note = f"What {shown(str(found.notes['reader']))} would do next, against what it would do with the whole history."
    note += _larger(found.table)
    html = "<h3>Behaviour</h3>" + table(heads, lines, caption=note, label="next actions by strategy")
    if obeyed:
        heads = [("Strategy", ""), ("Whole", "n"), ("Never said", "n"), ("Compacted", "n"), ("Said again", "n"),
                 ("Effect kept", "n"), ("Demands", "n"), ("", "")]  # fmt: skip
        lines = [row([(dot(one.strategy, names), ""), *_obeyed(one)]) for one in obeyed]
        note = "How often the step that obeys the user was taken. Effect kept: 0 as if never said, 1 as if just said."
        html += table(heads, lines, caption=note, label="obedience by strategy")
    return Html(html, data=found.table)


def _larger(answers: pd.DataFrame) -> str:
    """Behind a table's note: who stays larger than the size, and what follows."""
    return "".join(f" {shown(line)}" for line in over_target_notes(answers))


def _probe(one: Accuracy) -> list[str]:
    judged = NOTHING
    if one.share is not None:
        judged = f"{percent(one.share.value)} ({percent(one.share.low)} to {percent(one.share.high)})"
    shares = [percent(value) for value in (one.open, one.abstained, one.stale, one.present)]
    return [percent(one.right), judged, *shares, str(one.asked), str(one.unusable)]


def _decision(one: Equivalence) -> list[str]:
    return [percent(one.same), percent(one.again), _estimate(one.difference), percent(one.as_recorded), str(one.n)]


def _obeyed(one: Compliance) -> list[Cell]:
    conditions = [(percent(one.obeyed[condition]), "n") for condition in ("whole", "without", "compacted", "restated")]
    return [*conditions, (_estimate(one.effect), "n"), (str(one.n), "n"), (shown(one.why), "")]


def _rubric(answers: pd.DataFrame) -> str:
    rows = rubric_means(answers, DIMENSIONS)
    names = [str(one["strategy"]) for one in rows]
    heads: list[Cell] = [("Strategy", ""), *((name.capitalize(), "n") for name in DIMENSIONS)]
    lines = [
        row([(dot(str(one["strategy"]), names), ""), *((_digits(one[name]), "n") for name in DIMENSIONS)])
        for one in rows
    ]
    return table(heads, lines, caption=RUBRIC_NOTE, label="six scores by strategy")


def _share(value: object) -> str:
    return percent(value) if isinstance(value, float) else NOTHING


def _digits(value: object, places: int = 2) -> str:
    return f"{value:.{places}f}" if isinstance(value, float) else NOTHING


def _estimate(one: Estimate | None) -> str:
    if one is None:
        return NOTHING
    return f"{one.mean:.2f}" if one.low is None else f"{one.mean:.2f} ({one.low:.2f} to {one.high:.2f})"
