"""What the adversaries score beside strategies and the reference `oracle`, at equal size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import pandas as pd

from workbench.engine.compaction.presets import preset
from workbench.engine.models.extractive import Extractive
from workbench.evaluation.experiment.prepared import Prepared
from workbench.evaluation.metrics.exam.exams import Exams
from workbench.evaluation.metrics.reference_contexts import Oracle
from workbench.evaluation.metrics.view import View, view
from workbench.evaluation.replays.boundaries import at_shares
from workbench.evaluation.replays.budgets import budget
from workbench.evaluation.replays.matched import matched
from workbench.lab.validation.adversaries import FAMILY, Gamer
from workbench.lab.validation.gaming import count_line, filled, with_many_entities

STRATEGIES = ("none", "null", "truncate", "summarize")
SHARES = (0.1, 0.2)
BOUNDARIES = (0.5, 0.8)
MEASURES = ("exam", "presence")
FEWEST = 5
"""Items that a boundary needs."""


def scored(
    sessions: Sequence[Prepared],
    family: Sequence[Gamer] = FAMILY,
    strategies: Sequence[str] = STRATEGIES,
) -> pd.DataFrame:
    """What each gamer, the reference `oracle` and some strategies score at equal size in each
    session.

    Sessions with few exact things are left out, where there are others. A row a session, share and
    context kind: `session project share name`, and the means over boundaries of `MEASURES`.
    """
    rows: list[ScoreRow] = []
    for prepared_session in with_many_entities(sessions):
        session = prepared_session.session
        for context in _contexts(prepared_session, family, strategies):
            row = ScoreRow(
                session=session.id,
                project=session.project or session.id,
                share=context.share,
                name=context.name,
                exam=_exam_score(prepared_session, context),
                presence=_presence(prepared_session, context),
            )
            rows.append(row)
    table = pd.DataFrame(rows, columns=ScoreRow._fields)
    table = table.astype(dict.fromkeys(MEASURES, "float"))
    groups = table.groupby(["session", "project", "share", "name"], sort=False)
    return groups[list(MEASURES)].mean().reset_index()


class ScoreRow(NamedTuple):
    """What the `MEASURES` say of one context."""

    session: str
    project: str
    share: float
    name: str
    exam: float
    presence: float


@dataclass(frozen=True, slots=True)
class NamedContext:
    """A context at a boundary.

    Attributes:
        share: of the history's tokens that it may have.
        name: of the strategy, or the label of the gamer, that made it.
    """

    boundary: int
    share: float
    name: str
    view: View


def _contexts(
    prepared_session: Prepared,
    family: Sequence[Gamer],
    strategies: Sequence[str],
) -> Iterator[NamedContext]:
    """Those of the strategies, the gamers and the oracle, where there are enough items."""
    session = prepared_session.session
    exams = Exams.of(prepared_session.index)
    boundaries = []
    for boundary in at_shares(session, BOUNDARIES):
        if len(exams.at(boundary).items) >= FEWEST:
            boundaries.append(boundary)
    if not boundaries:
        return
    for name in strategies:
        replay = matched(
            session,
            preset(name),
            prepared_session.reader(Extractive()),
            prepared_session.sizing,
            window=prepared_session.window,
            boundaries=tuple(boundaries),
            shares=SHARES,
        )
        for shot in replay.snapshots:
            context_view = view(session, shot.context)
            yield NamedContext(shot.at, shot.share or 1.0, name, context_view)
    for boundary in boundaries:
        yield from _made_contexts(prepared_session, boundary, family)


def _made_contexts(
    prepared_session: Prepared,
    boundary: int,
    family: Sequence[Gamer],
) -> Iterator[NamedContext]:
    """The contexts of the gamers and of the oracle at one boundary."""
    session = prepared_session.session
    sizing = prepared_session.sizing
    exams = Exams.of(prepared_session.index)
    history_tokens = sum(sizing.sizes_before(session.messages, boundary))
    budgets = [int(share * history_tokens) for share in SHARES]
    count = partial(count_line, prepared_session)
    gamer_by_label = {gamer.label: gamer for gamer in family}
    for label, gamer in gamer_by_label.items():
        texts = filled(gamer.lines(exams.history, boundary), count, budgets)
        for share, text in zip(SHARES, texts, strict=True):
            made_view = View(frozenset(), (text,), ())
            yield NamedContext(boundary, share, label, made_view)
    history = sizing.history(session.messages, boundary)
    oracle = Oracle(history, exams.at(boundary))
    for share in SHARES:
        oracle_context = oracle.context(budget(history, share))
        oracle_view = view(session, oracle_context)
        yield NamedContext(boundary, share, "oracle", oracle_view)


def _exam_score(prepared_session: Prepared, context: NamedContext) -> float:
    exam = Exams.of(prepared_session.index).at(context.boundary)
    return exam.score(context.view)


def _presence(prepared_session: Prepared, context: NamedContext) -> float:
    demand = prepared_session.index.demand(context.boundary)
    if not len(demand):
        return 0.0
    retained = demand.retained(context.view.kept, context.view.texts)
    return retained.mean("presence")
