"""What `workbench inspect` tells of a recording, as plain values."""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import asdict
from math import isnan
from typing import Any

import pandas as pd

from workbench.engine.models.tokenizer import TiktokenCounter
from workbench.engine.transcript.compaction_requests import compaction_request
from workbench.engine.transcript.log import ClearingEntry, CompactionEntry
from workbench.engine.transcript.message import AssistantMessage, ToolResult
from workbench.engine.transcript.recorded_requests import reported_prompts, usual_model
from workbench.engine.transcript.session import Recorded, Session, UnreadField
from workbench.evaluation.analysis.composition import RecordedContexts
from workbench.evaluation.analysis.composition_gaps import unrecorded_losses
from workbench.evaluation.analysis.message_sources import Source
from workbench.evaluation.analysis.recorded_compactions import bills
from workbench.evaluation.analysis.recorded_rules import recorded_rules
from workbench.evaluation.replays.agents import limit_of
from workbench.evaluation.replays.sizing import Sizing, window_of
from workbench.recordings.importers.copies import copied_from
from workbench.recordings.importers.importer import known_formats

ELSEWHERE = "in other requests only"
"""What a reader is told of the dollars of what is not in the request that is shown."""
BEGINNING = 60
"""Characters of a message that stand for it."""


def describe_session(contexts: RecordedContexts) -> dict[str, Any]:
    """What a session holds, and how it was read."""
    session, sizing = contexts.sized.session, contexts.sized.sizing
    named_window = window_of(session)
    window = sizing.window(named_window.tokens)
    window_source = named_window.source
    if window != named_window.tokens:
        window_source += ", widened to twice the overhead"
    limit = limit_of(session, window)
    counter = TiktokenCounter()
    unread, kept_by_client = _unread(session.origin.unread)
    return {
        "session": session.id,
        "path": session.origin.path,
        "format": session.origin.format,
        "title": session.title,
        "model": session.model,
        "branches": session.branches,
        "window": window,
        "window_from": window_source,
        "compacts_at": None if limit is None else limit.tokens,
        "compacts_at_from": None if limit is None else limit.source,
        "messages": len(session.messages),
        "roles": dict(Counter(message.role for message in session.messages)),
        "tool_calls": sum(len(message.calls) for message in _replies(session)),
        "requests": len(session.requests),
        "copied": copied_from(session),
        "tokens": sum(sizing.counted),
        "entries": len(session.log),
        "text_read": session.origin.text_read,
        "text_in_notes": session.origin.text_noted,
        "recorded_compactions": [
            _compaction_facts(recorded, counter) for recorded in session.own_recorded
        ],
        "usage": _usage_facts(session, sizing),
        "reports_left_out": list(contexts.sized.left_out),
        "skipped": list(session.origin.skipped),
        "unread": unread,
        "kept_by_client": kept_by_client,
    }


def _replies(session: Session) -> Iterator[AssistantMessage]:
    """The messages that the session's model wrote."""
    for message in session.messages:
        if message.role == "assistant":
            yield message


def _compaction_facts(recorded: Recorded, counter: TiktokenCounter) -> dict[str, Any]:
    """What is known of a compaction that the agent made."""
    entry = recorded.entry
    has_summary = entry.type == "compaction" and entry.summary is not None
    return {
        "before_message": recorded.at,
        "kind": entry.type,
        "reason": entry.reason,
        "tokens_before": entry.tokens_before,
        "summary_readable": has_summary,
        **_request(entry, counter),
    }


def _unread(fields: Iterable[UnreadField]) -> tuple[list[str], dict[str, Any]]:
    """What was not read, field by field; and what the client keeps for itself: the names of the
    fields, and their characters together, empty where it keeps nothing.
    """
    unread: list[str] = []
    names: list[str] = []
    characters = 0
    for field in fields:
        if field.client_only:
            names.append(field.field)
            characters += field.characters
        else:
            unread.append(str(field))
    if not names:
        return unread, {}
    return unread, {"characters": characters, "fields": names}


def _usage_facts(session: Session, sizing: Sizing) -> dict[str, Any]:
    """The usage that the provider reported, and how far our counts are from it."""
    calibration = sizing.calibration
    prompts = reported_prompts(session)
    return {
        "requests_with_usage": len(prompts),
        "largest_prompt": max(prompts, default=None),
        "overhead": sizing.overheads.get(usual_model(session)),
        "scale": None if calibration is None else round(calibration.scale, 3),
        "median_error": None if calibration is None else round(calibration.error, 4),
    }


def describe_context(contexts: RecordedContexts) -> dict[str, Any]:
    """What filled the context at the largest request: who put it there, and the largest
    messages.
    """
    rows = contexts.composition()
    if rows.empty:
        return {}
    prompts = rows.groupby("request")["tokens"].sum()
    number = int(prompts.idxmax())
    usd = rows.groupby(["source", "name"])["usd"].sum(min_count=1)
    source_rows = rows[rows["request"] == number]
    sources = []
    for row in source_rows.to_dict("records"):
        source = {
            "who": _who(row),
            "tokens": round(row["tokens"]),
            "share": row["share"],
            "usd_in_the_session": _price(usd[row["source"], row["name"]]),
        }
        sources.append(source)
    sources += _elsewhere(usd, source_rows)
    messages = []
    for row in contexts.largest_messages(number).to_dict("records"):
        message = {
            "message": row["message"],
            "who": _who(row),
            "tokens": round(row["tokens"]),
            "share": row["tokens"] / prompts[number],
            "begins": row["begins"][:BEGINNING],
        }
        messages.append(message)
    reported = rows.groupby("request")["reported"].count() > 0
    return {
        "request": number + 1,
        "requests": len(contexts.sized.session.requests),
        "reported_requests": int(reported.sum()),
        "tokens": round(prompts[number]),
        "newest_tokens": round(prompts.iloc[-1]),
        "usd": _price(rows["usd"].sum(min_count=1)),
        "priced_as": contexts.priced_as,
        "is_reported": bool(reported[number]),
        "sources": sources,
        "largest_messages": messages,
        "compactions": list(map(asdict, bills(contexts.sized))),
        "lacks": _lacks(contexts.sized.session),
        "calls_without_result": _calls_without_result(contexts.sized.session),
        "unrecorded_losses": list(map(asdict, unrecorded_losses(contexts.sized.session, rows))),
        "rules": [
            {"message": rule.message, **asdict(rule.verdict)}
            for rule in recorded_rules(contexts.sized.session)
        ],
    }


def _elsewhere(
    usd: "pd.Series[float]",
    source_rows: pd.DataFrame,
) -> list[dict[str, Any]]:
    """The dollars of what stands in other requests only, such as a summary of later on, as one
    more source, so that all sources add up to the prompts of the session; none without any.

    Args:
        usd: of the session, by source and name.
        source_rows: what fills the one request.
    """
    in_the_request = pd.MultiIndex.from_frame(source_rows[["source", "name"]])
    is_elsewhere = ~usd.index.isin(in_the_request)
    remainder = usd[is_elsewhere].sum(min_count=1)
    price = _price(remainder)
    if not price:
        return []
    source = {
        "who": ELSEWHERE,
        "tokens": 0,
        "share": 0.0,
        "usd_in_the_session": price,
    }
    return [source]


def _lacks(session: Session) -> str:
    """What a model was sent and no file of the session's format holds; often empty."""
    session_format = known_formats().get(session.origin.format)
    return "" if session_format is None else session_format.lacks


def _calls_without_result(session: Session) -> dict[str, int]:
    """How many calls of each tool have no result, the last answer's left out: a server's own tools
    often work so.
    """
    answered_calls: set[str] = set()
    for message in session.messages:
        if isinstance(message, ToolResult):
            answered_calls.add(message.call_id)
    counts = Counter[str]()
    for index in session.requests[:-1]:
        answer = session.messages[index]
        assert isinstance(answer, AssistantMessage)
        for call in answer.calls:
            if call.id not in answered_calls:
                counts[call.name] += 1
    return dict(counts)


def _who(row: Mapping[Hashable, Any]) -> str:
    """Who put something into the context."""
    return Source(str(row["source"]), str(row["name"])).who


def _price(usd: float) -> float | None:
    """A price; None where it is not known."""
    if isnan(usd):
        return None
    return usd


def _request(entry: CompactionEntry | ClearingEntry, counter: TiktokenCounter) -> dict[str, Any]:
    """The tokens of the request that made a compaction, and whether they are an estimate."""
    if not isinstance(entry, CompactionEntry):
        return {}
    request = compaction_request(entry, counter)
    if request is None:
        return {}
    facts: dict[str, Any] = {"request_read": request.usage.prompt}
    if not entry.hidden_summary:
        facts["request_wrote"] = request.usage.output
    return {**facts, "request_is_estimate": request.is_estimate}
