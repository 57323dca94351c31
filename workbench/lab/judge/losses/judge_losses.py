"""A model looks at the losses of a finished run, one after another, and marks them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Unpack

import pandas as pd

from workbench.base.errors import ModelError, UnknownName
from workbench.engine.models.model import Model
from workbench.evaluation.experiment.checked_spec import documented
from workbench.evaluation.experiment.filler import FillerModel, ModelUse
from workbench.evaluation.experiment.progress import progress
from workbench.evaluation.experiment.results import Results
from workbench.evaluation.experiment.run_notes import LossMark, RunNotes
from workbench.lab.judge.losses.lost_pages import LostPages, lost_pages
from workbench.lab.judge.losses.page import LossPage
from workbench.lab.judge.losses.question import loss_request
from workbench.lab.judge.losses.spec import LossSettings, LossSpec
from workbench.lab.judge.losses.verdict import UnusableAnswer, Verdict, asked_verdict
from workbench.report.view.losses import all_losses
from workbench.report.view.runs import RunEntry, runs

NO_KIND = "wrong"
"""The kind of what is no thing of any kind, such as a piece of a word."""


@dataclass(frozen=True, slots=True)
class LossOutcome:
    """What became of one loss that a model was to look at.

    Attributes:
        loss: its `loss_key`, the name of it in `workbench view`.
        session, kind, entity, needed_at: which loss it is, as in the table `losses`.
        mark: what the model says of it; None where it stays as it was.
        problem: why it stays as it was; empty where it has a mark.
        pending: whether the model's provider gave no answer, so that the same call asks again.
    """

    loss: str
    session: str
    kind: str
    entity: str
    needed_at: int
    mark: LossMark | None = None
    problem: str = ""
    pending: bool = False


@dataclass(frozen=True)
class JudgedLosses:
    """The losses of a run that a model was to look at.

    Attributes:
        path: the run's folder, whose `notes.json` keeps the marks.
        model: the name of the model.
        outcomes: those first that the report lists first.
    """

    path: Path
    model: str
    outcomes: tuple[LossOutcome, ...]

    @property
    def pending(self) -> int:
        """How many losses wait for the model's provider."""
        return sum(outcome.pending for outcome in self.outcomes)

    @property
    def unmarked(self) -> int:
        """How many losses have no mark though nothing is awaited; they stay in the figures."""
        return len(self.outcomes) - self.pending - self.counts.total()

    @cached_property
    def counts(self) -> Counter[str]:
        """How many losses have each mark."""
        counts: Counter[str] = Counter()
        for outcome in self.outcomes:
            if outcome.mark is not None:
                counts[outcome.mark.mark] += 1
        return counts

    @cached_property
    def table(self) -> pd.DataFrame:
        """A row a loss: which it is, its `mark` with `reason`, the `model_kind`, the `words` that
        show it, the model's `sentence`, or the `problem`, and whether it is `pending`.
        """
        return pd.DataFrame(map(_row, self.outcomes), columns=list(COLUMNS))


COLUMNS = (
    "loss",
    "session",
    "kind",
    "entity",
    "needed_at",
    "mark",
    "reason",
    "model_kind",
    "words",
    "sentence",
    "problem",
    "pending",
)


def _row(outcome: LossOutcome) -> dict[str, Any]:
    row = asdict(outcome)
    mark = outcome.mark or LossMark("")
    row |= {"mark": mark.mark, "reason": mark.reason, "model_kind": mark.kind}
    row |= {"words": mark.words, "sentence": mark.sentence}
    return row


@documented(LossSpec)
def judge_losses(
    run: Results | Path | str,
    *,
    spec: LossSpec | None = None,
    before: Callable[[Sequence[ModelUse]], bool] = lambda forecast: True,
    **settings: Unpack[LossSettings],
) -> JudgedLosses | None:
    """Let a model look at the losses of a finished run, and mark those that were no need.

    The model reads a page a loss: the thing, where it was stated, what of it is still sent, and its
    use. It is asked once more where its answer cannot be used; after that the loss stays unmarked.
    Marks are kept in the run's `notes.json`. What is called not needed leaves what was lost and
    what is kept of each kind, with a note; a person's mark stands over a model's.

    Where several strategies lost the thing, their contexts are asked about one after another until
    the answer cannot change: a need in any of them is a need.

    Args:
        run: a finished run, or its folder.
        spec: a specification made before; further settings change it.
        before: receives the forecast before anything is asked; false stops there.
        **settings: the fields of `LossSpec`; `model` is needed.

    Returns:
        What became of each loss; None if `before` stopped it. Losses without an answer are pending:
        the same call asks again.

    Raises:
        SettingError: no model, or no finished run.
        UnknownName: the run has no such strategy.
        NotShown: the run is a shared copy, without the texts.
    """
    spec = LossSpec.of(spec, settings)
    entry = _entry(run)
    model = spec.judge(entry.path)
    outcomes = _losses_to_judge(entry, spec)
    lost = lost_pages(entry, _keys(outcomes), quiet=spec.quiet)
    lost = _masked(lost, spec)
    if not before([_forecast(lost, model)]):
        return None
    judged: list[LossOutcome] = []
    with progress(len(outcomes), "asking about", "page", quiet=spec.quiet) as bar:
        for outcome in outcomes:
            judged.append(_judged(outcome, lost, model))
            _keep(entry, judged[-1])
            bar.update()
    return JudgedLosses(entry.path, model.name, tuple(judged))


def _entry(run: Results | Path | str) -> RunEntry:
    """The run in a folder.

    Raises:
        SettingError: there is none, or it is not finished.
    """
    results = run if isinstance(run, Results) else Results.open(run)
    (entry,) = runs(results.path).values()
    return entry


def _losses_to_judge(entry: RunEntry, spec: LossSpec) -> list[LossOutcome]:
    """The losses without a mark to look at, those first that the report lists first.

    Raises:
        UnknownName: the run has no such strategy.
    """
    strategies = entry.tables().strategies
    for name in spec.strategies:
        if name not in strategies:
            raise UnknownName("strategy of this run", name, strategies)
    notes = RunNotes.of(entry.path)
    marked = set(notes.marks)
    if not spec.again:
        marked |= notes.judged.keys()
    chosen: list[LossOutcome] = []
    for loss in all_losses(entry):
        if len(chosen) == spec.limit:
            break
        is_of_strategies = not spec.strategies or set(loss["by"]).intersection(spec.strategies)
        if is_of_strategies and loss["loss"] not in marked:
            chosen.append(
                LossOutcome(
                    loss["loss"], loss["session"], loss["kind"], loss["entity"], loss["needed_at"]
                )
            )
    return chosen


def _keys(outcomes: Iterable[LossOutcome]) -> set[str]:
    keys = set()
    for outcome in outcomes:
        keys.add(outcome.loss)
    return keys


def _masked(lost: LostPages, spec: LossSpec) -> LostPages:
    """The pages without secrets and personal data, where these are to be masked."""
    if spec.redaction is None:
        return lost
    from workbench.engine.transcript.redaction import masker  # it takes a third of a second

    mask = masker(spec.redaction)
    masked = LostPages(reasons=lost.reasons)
    for key, pages in lost.pages.items():
        for page in pages:
            masked.pages[key].append(
                LossPage(mask(page.thing), mask(page.text), mask(page.remaining))
            )
    return masked


def _forecast(lost: LostPages, model: Model) -> ModelUse:
    """What the model is asked at most, where each of its answers can be used."""
    filler = FillerModel(model.name)
    for pages in lost.pages.values():
        for page in pages:
            filler.complete(loss_request(page))
    return filler.use


def _judged(outcome: LossOutcome, lost: LostPages, model: Model) -> LossOutcome:
    """A loss with the model's mark, or with the reason why it has none."""
    pages = lost.pages.get(outcome.loss)
    if not pages:
        return replace(outcome, problem=lost.reasons.get(outcome.loss, "it has no page"))
    try:
        verdict = _verdict(pages, model)
    except ModelError as error:
        return replace(outcome, problem=str(error), pending=error.outage)
    except UnusableAnswer as error:
        problem = f"{model.name} gave no answer that can be used: {error}"
        return replace(outcome, problem=problem)
    return replace(outcome, mark=_mark(verdict, model))


def _verdict(pages: Sequence[LossPage], model: Model) -> Verdict:
    """What the model says of a loss: of its first page, and of further ones while all are told.

    What is known, made up or not used is so whatever the context holds.
    """
    verdict = asked_verdict(pages[0], model)
    for page in pages[1:]:
        if verdict.reason != "told":
            break
        verdict = asked_verdict(page, model)
    return verdict


def _mark(verdict: Verdict, model: Model) -> LossMark:
    mark = "not needed"
    if verdict.is_needed:
        mark = "wrong kind" if verdict.kind == NO_KIND else "needed"
    return LossMark(
        mark=mark,
        by=model.name,
        reason=verdict.reason or "",
        kind=verdict.kind,
        words=verdict.words,
        sentence=verdict.sentence,
    )


def _keep(entry: RunEntry, outcome: LossOutcome) -> None:
    """Write a mark into the run's notes, as they are by now."""
    if outcome.mark is not None:
        notes = RunNotes.of(entry.path)
        notes.judged_by_model({outcome.loss: outcome.mark}).write(entry.path)
