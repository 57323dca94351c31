"""What recorded agents used after their own compactions: what metrics say of it, and how the
agents came by it.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, TypeAlias

import numpy as np
import pandas as pd

from workbench.base.errors import LeftOut, SettingError, WorkbenchError
from workbench.base.formats import some
from workbench.engine.compaction.presets import preset
from workbench.engine.models.extractive import Extractive
from workbench.engine.transcript.log import CompactionEntry
from workbench.engine.transcript.message import (
    AssistantMessage,
    ToolCall,
    ToolResult,
    argument_texts,
    said_text,
)
from workbench.engine.transcript.redaction import masker, redacted
from workbench.engine.transcript.session import Session
from workbench.evaluation.experiment.prepared import Prepared, prepared
from workbench.evaluation.experiment.sources import SessionSource, What, sessions_in, sources_of
from workbench.evaluation.experiment.table_columns import typed
from workbench.evaluation.metrics.bm25 import Bm25
from workbench.evaluation.metrics.demand import HORIZON, Demand
from workbench.evaluation.metrics.exam.exams import BoundaryExam, Exams
from workbench.evaluation.metrics.exam.facts import facts, stand_ins
from workbench.evaluation.metrics.sources import repeatable
from workbench.evaluation.metrics.view import View, view
from workbench.evaluation.replays.boundaries import FEWEST_AFTER, FEWEST_BEFORE
from workbench.evaluation.replays.matched import at_recorded_sizes, recorded_contexts
from workbench.recordings.importers.importer import load

How: TypeAlias = Literal["remembered", "looked for", "fetched", "told", "in passing"]
"""How an agent came by a thing before it first named it: nothing told it; nothing did, and it named
it in a look; the result of a look did; the user did; another result did. A look is a call that only
looks, or one made before again.
"""

FETCHED_AGAIN: Mapping[How, bool] = {
    "remembered": False,
    "looked for": True,
    "fetched": True,
}
"""Whether the agent fetched a thing again; not known where it was told, since it then had no
need to.
"""
CONTROL = "truncate"
"""The strategy whose context stands beside the real one: no agent had it, so what it keeps can
change nothing.
"""
COLUMNS = {
    "session": "string",
    "project": "string",
    "source": "string",
    "compaction": "Int64",
    "at": "Int64",
    "context": "string",
    "kind": "string",
    "thing": "string",
    "recoverable": "string",
    "used": "Int64",
    "how": "string",
    "fetched_again": "boolean",
    "demanded": "boolean",
    "asked": "boolean",
    "presence": "Float64",
    "bound": "Float64",
    "coverage": "Float64",
    "exam": "Float64",
    "bm25": "Float64",
}
METRICS = ("presence", "bound", "coverage", "exam", "bm25")
"""Those with a verdict; BM25, the baseline, is the last."""


def compacted(
    what: What,
    limit: int | None = None,
    redaction: frozenset[str] | None = None,
) -> list[Prepared]:
    """The recorded sessions, of these files, folders, patterns or sessions, with a compaction that
    can be scored.

    A file that is named and cannot be read is a warning `LeftOut`.

    Args:
        what: recordings.
        limit: sessions at most.
        redaction: the kinds of personal data that are masked first, beside secrets; None masks
            nothing.

    Raises:
        SettingError: none has one.
    """
    sessions: list[Session] = []
    for source in sources_of(what):
        for session in _read(source, redaction):
            sessions.append(redacted(session, redaction))
    compacted_sessions: list[Prepared] = []
    for session in sessions:
        if limit is not None and len(compacted_sessions) >= limit:
            break
        if not any(map(_is_readable, session.path)):
            continue
        prepared_session = prepared(session)
        if recorded_contexts(prepared_session.session, prepared_session.sizing):
            compacted_sessions.append(prepared_session)
    if not compacted_sessions:
        raise SettingError(
            f"{some(len(sessions), 'recorded session')} without a compaction that has a readable"
            f" summary, {FEWEST_BEFORE} messages before it and {FEWEST_AFTER} after it; name"
            " recordings of agents that compacted"
        )
    return compacted_sessions


def _read(
    source: SessionSource,
    redaction: frozenset[str] | None,
) -> list[Session]:
    sessions = sessions_in(source)
    if not sessions and source.path is not None and source.named:
        try:
            load(source.path)  # says why
        except WorkbenchError as error:
            warning = masker(redaction)(f"left out: {error}")
            warnings.warn(warning, LeftOut, stacklevel=2)
    return sessions


def _is_readable(entry: object) -> bool:
    return isinstance(entry, CompactionEntry) and entry.summary is not None


def used_things(sessions: Sequence[Prepared]) -> pd.DataFrame:
    """The table `used_things`: what each agent used after its own compactions, a row a thing and
    context.

    A thing is an exact thing (an entity) of the history before a compaction that an answer uses
    among the next `HORIZON` messages, and before the next compaction. Columns:
    docs/reference/tables.md.
    """
    rows: list[dict[str, object]] = []
    for prepared_session in sessions:
        rows += _of_session(prepared_session)
    return typed(rows, COLUMNS)


def _of_session(prepared_session: Prepared) -> Iterator[dict[str, object]]:
    session = prepared_session.session
    sizing = prepared_session.sizing
    recorded = recorded_contexts(session, sizing)
    control = at_recorded_sizes(
        session,
        preset(CONTROL),
        prepared_session.reader(Extractive()),
        sizing,
        window=prepared_session.window,
        recorded=recorded,
    )
    controls = {shot.at: shot.context for shot in control.snapshots}
    looks = Looks(session)
    for number, boundary in enumerate(recorded):
        place = {
            "session": session.id,
            "project": session.project or session.id,
            "source": session.origin.format,
            "compaction": number,
            "at": boundary,
        }
        views = {"recorded": view(session, recorded[boundary].after)}
        # no control where what must stay is larger
        if boundary in controls:
            views[CONTROL] = view(session, controls[boundary])
        for row in _of_compaction(prepared_session, boundary, views, looks):
            yield {**place, **row}


def _of_compaction(
    prepared_session: Prepared,
    boundary: int,
    views: Mapping[str, View],
    looks: Looks,
) -> Iterator[dict[str, object]]:
    index = prepared_session.index
    session = prepared_session.session
    later_compactions = [later.at for later in session.recorded if later.at > boundary]
    end = min(later_compactions, default=boundary + HORIZON)
    history = Exams.of(index).history
    items = tuple(facts(history, boundary, every=True))
    exam = BoundaryExam(history, boundary, items)
    bm25 = Bm25(map(said_text, session.messages[:boundary]))
    used = index.used(boundary)
    about_things = _about_things(prepared_session, used, looks)
    for name, context_view in views.items():
        levels = used.retained(context_view.kept, context_view.texts)
        presence = levels.level("presence")
        bound = levels.level("bound")
        coverage = levels.level("coverage")
        credits = _exam_credits(exam, context_view)
        shares = _bm25_shares(exam, bm25, _text_of(session, context_view))
        for slot, need in enumerate(used.needs):
            if need.use >= end:
                continue
            thing = need.entity.text.lower()
            yield {
                "context": name,
                **about_things[slot],
                "presence": float(presence[slot]),
                "bound": float(bound[slot]),
                "coverage": float(coverage[slot]),
                "exam": credits.get(thing),
                "bm25": shares.get(thing),
            }


def _about_things(
    prepared_session: Prepared,
    used: Demand,
    looks: Looks,
) -> list[dict[str, object]]:
    """Of each used thing the columns that are the same whatever the context."""
    index = prepared_session.index
    exams = Exams.of(index)
    asked_answers = {item.answer for item in exams.at(used.at).items}
    answer_of_thing = stand_ins(exams.history, used.at)
    demanded = set(index.demand(used.at).entities.tolist())
    entities = used.entities.tolist()
    ways = _ways(prepared_session, used, looks)
    rows: list[dict[str, object]] = []
    for need, entity, how in zip(used.needs, entities, ways, strict=True):
        thing = need.entity.text
        answer = answer_of_thing.get(thing.lower())
        recoverable = "irrecoverable"
        if need.reacquirable:
            recoverable = "reacquirable"
        row: dict[str, object] = {
            "kind": need.entity.kind,
            "thing": thing,
            "recoverable": recoverable,
            "used": need.use,
            "how": how,
            "fetched_again": FETCHED_AGAIN.get(how),
            "demanded": entity in demanded,
            "asked": answer in asked_answers,
        }
        rows.append(row)
    return rows


def _exam_credits(exam: BoundaryExam, context_view: View) -> dict[str, float]:
    """By answer in lower case, what the exam credits to a context."""
    answers = [item.answer.lower() for item in exam.items]
    credits = exam.credit(context_view).tolist()
    return dict(zip(answers, credits, strict=True))


def _bm25_shares(exam: BoundaryExam, bm25: Bm25, text: str) -> dict[str, float]:
    """By answer in lower case, what BM25 finds of its question and answer in a text."""
    answers = []
    queries = []
    for item in exam.items:
        answers.append(item.answer.lower())
        queries.append(f"{item.use} {item.answer}")
    shares = bm25.shares(queries, text)
    return dict(zip(answers, shares, strict=True))


def _text_of(session: Session, context_view: View) -> str:
    """What a context says, as one text."""
    texts = []
    for number in sorted(context_view.kept):
        texts.append(said_text(session.messages[number]))
    texts += context_view.texts
    return "\n".join(texts)


def _ways(prepared_session: Prepared, used: Demand, looks: Looks) -> list[How]:
    """How the agent came by each thing before it first named it."""
    first_mentions = _first_mentions(prepared_session, used.at)
    messages = prepared_session.session.messages
    ways: list[How] = []
    for entity in used.entities.tolist():
        message = messages[first_mentions[entity]]
        if isinstance(message, AssistantMessage):
            texts = []
            for call in looks.of(message, used.at):
                texts.append("\n".join(argument_texts(call.arguments)))
            looked_for = prepared_session.index.read(texts).entities
            if entity in looked_for:
                ways.append("looked for")
            else:
                ways.append("remembered")
        elif not isinstance(message, ToolResult):
            ways.append("told")
        elif looks.gave(message, used.at):
            ways.append("fetched")
        else:
            ways.append("in passing")
    return ways


def _first_mentions(prepared_session: Prepared, boundary: int) -> dict[int, int]:
    """By entity the first message after a boundary that names it."""
    inverted = prepared_session.index.inverted_index
    is_later = inverted.pair_message >= boundary
    messages = inverted.pair_message[is_later]
    later_entities = inverted.pair_entity[is_later]
    entities, first_pairs = np.unique(later_entities, return_index=True)
    first_messages = messages[first_pairs].tolist()
    return dict(zip(entities.tolist(), first_messages, strict=True))


class Looks:
    """The calls of a session that only look, or that were made before."""

    def __init__(self, session: Session) -> None:
        self._calls: dict[str, ToolCall] = {}
        self._first: dict[tuple[str, str], int] = {}
        for place, message in enumerate(session.messages):
            if not isinstance(message, AssistantMessage):
                continue
            for call in message.calls:
                self._calls[call.id] = call
                self._first.setdefault(_meaning(call), place)

    def of(self, message: AssistantMessage, boundary: int) -> list[ToolCall]:
        """Those among a message's calls, with what was called before a boundary."""
        return [call for call in message.calls if self._is_look(call, boundary)]

    def gave(self, result: ToolResult, boundary: int) -> bool:
        """Whether one of them gave this result."""
        call = self._calls.get(result.call_id)
        return call is not None and self._is_look(call, boundary)

    def _is_look(self, call: ToolCall, boundary: int) -> bool:
        return repeatable(call) or self._first[_meaning(call)] < boundary


def _meaning(call: ToolCall) -> tuple[str, str]:
    """What calls that do the same share: the tool's name and the arguments."""
    return call.name, call.arguments_json()
