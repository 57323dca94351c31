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
from workbench.evaluation.experiment.store import typed
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

FETCHED_AGAIN: Mapping[How, bool] = {"remembered": False, "looked for": True, "fetched": True}
"""Whether the agent fetched a thing again; not known where it was told, since it then had no
need to.
"""
CONTROL = "truncate"
"""The strategy whose context stands beside the real one: no agent had it, so what it keeps can
change nothing.
"""
COLUMNS = {
    "session": "string", "project": "string", "source": "string", "compaction": "Int64", "at": "Int64",
    "context": "string", "kind": "string", "thing": "string", "recoverable": "string", "used": "Int64",
    "how": "string", "fetched_again": "boolean", "demanded": "boolean", "asked": "boolean", "presence": "Float64",
    "bound": "Float64", "coverage": "Float64", "exam": "Float64", "bm25": "Float64",
}  # fmt: skip
METRICS = ("presence", "bound", "coverage", "exam", "bm25")
"""Those with a verdict; BM25, the baseline, is the last."""


def compacted(
    what: What, limit: int | None = None, redaction: frozenset[str] | None = None
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
    sessions = [
        redacted(session, redaction)
        for source in sources_of(what)
        for session in _read(source, redaction)
    ]
    prepared_sessions = (
        prepared(session) for session in sessions if any(map(_is_readable, session.path))
    )
    compacted_sessions = [
        prepared_session
        for prepared_session in prepared_sessions
        if recorded_contexts(prepared_session.session, prepared_session.sizing)
    ][:limit]
    if not compacted_sessions:
        raise SettingError(
            f"{some(len(sessions), 'recorded session')} without a compaction that has a readable"
            f" summary, {FEWEST_BEFORE} messages before it and {FEWEST_AFTER} after it; name"
            " recordings of agents that compacted"
        )
    return compacted_sessions


def _read(source: SessionSource, redaction: frozenset[str] | None) -> list[Session]:
    sessions = sessions_in(source)
    if not sessions and source.path is not None and source.named:
        try:
            load(source.path)  # says why
        except WorkbenchError as error:
            warnings.warn(masker(redaction)(f"left out: {error}"), LeftOut, stacklevel=2)
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
    return typed(
        (row for prepared_session in sessions for row in _of_session(prepared_session)), COLUMNS
    )


def _of_session(prepared_session: Prepared) -> Iterator[dict[str, object]]:
    session = prepared_session.session
    recorded = recorded_contexts(session, prepared_session.sizing)
    control = at_recorded_sizes(
        session,
        preset(CONTROL),
        prepared_session.reader(Extractive()),
        prepared_session.sizing,
        window=prepared_session.window,
        really=recorded,
    )
    controls = {shot.at: {CONTROL: shot.context} for shot in control.snapshots}
    looks = Looks(session)
    for number, (boundary, compaction) in enumerate(recorded.items()):
        of = {
            "session": session.id,
            "project": session.project or session.id,
            "source": session.origin.format,
            "compaction": number,
            "at": boundary,
        }
        # no control where what must stay is larger
        contexts = {"recorded": compaction.after, **controls.get(boundary, {})}
        views = {name: view(session, context) for name, context in contexts.items()}
        yield from (
            {**of, **row} for row in _of_compaction(prepared_session, boundary, views, looks)
        )


def _of_compaction(
    prepared_session: Prepared, boundary: int, views: Mapping[str, View], looks: Looks
) -> Iterator[dict[str, object]]:
    index, end = (
        prepared_session.index,
        min(
            [later.at for later in prepared_session.session.recorded if later.at > boundary],
            default=boundary + HORIZON,
        ),
    )
    used, history = index.used(boundary), Exams.of(index).history
    exam = BoundaryExam(history, boundary, tuple(facts(history, boundary, every=True)))
    asked_answers = {item.answer for item in Exams.of(index).at(boundary).items}
    stands_for = stand_ins(history, boundary)
    demanded = set(index.demand(boundary).entities.tolist())
    ways = _ways(prepared_session, used, looks)
    messages = prepared_session.session.messages
    bm25 = Bm25(map(said_text, messages[:boundary]))
    answers = [item.answer.lower() for item in exam.items]
    sought = [f"{item.use} {item.answer}" for item in exam.items]
    for name, context_view in views.items():
        retained = used.retained(context_view.kept, context_view.texts)
        credit = dict(zip(answers, exam.credit(context_view).tolist(), strict=True))
        text = "\n".join(
            (
                *(said_text(messages[number]) for number in sorted(context_view.kept)),
                *context_view.texts,
            )
        )
        shares = dict(zip(answers, bm25.shares(sought, text), strict=True))
        for slot, need in enumerate(used.needs):
            if need.use < end:
                thing, number = need.entity.text, int(used.entities[slot])
                yield {
                    "context": name,
                    "kind": need.entity.kind,
                    "thing": thing,
                    "recoverable": "reacquirable" if need.reacquirable else "irrecoverable",
                    "used": need.use,
                    "how": ways[slot],
                    "fetched_again": FETCHED_AGAIN.get(ways[slot]),
                    "demanded": number in demanded,
                    "asked": stands_for.get(thing.lower()) in asked_answers,
                    **{
                        level: float(retained.level(level)[slot])
                        for level in ("presence", "bound", "coverage")
                    },
                    "exam": credit.get(thing.lower()),
                    "bm25": shares.get(thing.lower()),
                }


def _ways(prepared_session: Prepared, used: Demand, looks: Looks) -> list[How]:
    """How the agent came by each thing before it first named it."""
    p, messages = prepared_session.index.inverted_index, prepared_session.session.messages
    is_later = p.pair_message >= used.at
    entities, first_pairs = np.unique(p.pair_entity[is_later], return_index=True)
    mention = dict(
        zip(entities.tolist(), p.pair_message[is_later][first_pairs].tolist(), strict=True)
    )
    ways: list[How] = []
    for entity in used.entities.tolist():
        place = mention[entity]
        message = messages[place]
        if isinstance(message, AssistantMessage):
            texts = [
                "\n".join(argument_texts(call.arguments)) for call in looks.of(message, used.at)
            ]
            ways.append(
                "looked for"
                if entity in prepared_session.index.read(texts).entities
                else "remembered"
            )
        elif isinstance(message, ToolResult):
            ways.append("fetched" if looks.gave(message, used.at) else "in passing")
        else:
            ways.append("told")
    return ways


class Looks:
    """The calls of a session that only look, or that were made before."""

    def __init__(self, session: Session) -> None:
        self._calls: dict[str, ToolCall] = {}
        self._first: dict[tuple[str, str], int] = {}
        for place, message in enumerate(session.messages):
            for call in message.calls if isinstance(message, AssistantMessage) else ():
                self._calls[call.id] = call
                self._first.setdefault((call.name, call.arguments_json()), place)

    def of(self, message: AssistantMessage, boundary: int) -> list[ToolCall]:
        """Those among a message's calls, with what was called before a boundary."""
        return [call for call in message.calls if self._is_look(call, boundary)]

    def gave(self, result: ToolResult, boundary: int) -> bool:
        """Whether one of them gave this result."""
        call = self._calls.get(result.call_id)
        return call is not None and self._is_look(call, boundary)

    def _is_look(self, call: ToolCall, boundary: int) -> bool:
        return repeatable(call) or self._first[call.name, call.arguments_json()] < boundary
