"""What recordings say about the claims: rows by session, without any text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import pandas as pd

import workbench as wb
from workbench.engine.transcript.files import touched
from workbench.engine.transcript.message import AssistantMessage, Message, ToolCall, Usage
from workbench.evaluation.experiment.sources import sessions_in, sources_of
from workbench.evaluation.replays.step import Replay

Row: TypeAlias = dict[str, object]

REQUESTS = 50
"""The published runs take about 50 requests, so the first 50 of each recording are priced."""
SUMMARY_TOKENS = 1_300
"""What a real model writes for this prompt: the study of presets, requests.csv."""
ARMS = {
    "raw": "none",
    "mask": "observation_mask:messages=24:attention_window=20",
    "summary": (
        "openhands_rolling:trigger.max_size=62:summarize.cut.max_size=42:keep_first=1"
        f":most={SUMMARY_TOKENS}"
    ),
    "openhands": f"openhands_rolling:most={SUMMARY_TOKENS}",
    "clear": "clear_tool_uses",
}
"""What is priced: the raw history; results masked but those of the last ten calls, at every request;
the oldest 21 of 31 calls summarised (both as in The Complexity Trap); OpenHands' and Anthropic's
own settings. Masking begins beyond 24 messages: a try that finds nothing to mask is not made again
until the context has grown by a fiftieth of its window.
"""


def sessions(paths: Sequence[str], bundled: bool) -> Iterator[wb.Session]:
    """The sessions of these files, and the bundled ones."""
    sources = sources_of(list(paths))
    if bundled:
        sources = [*sources_of([]), *sources]
    for source in sources:
        yield from sessions_in(source)


def row_of(session: wb.Session, **values: object) -> Row:
    """A row, with the columns that every row begins with."""
    return {"session": session.id, "project": session.project or session.id, **values}


def answers(messages: Iterable[Message]) -> list[AssistantMessage]:
    """The model's messages, one a request."""
    return [message for message in messages if isinstance(message, AssistantMessage)]


def reported_usages(messages: Iterable[Message]) -> list[Usage]:
    """What the provider reported, request by request."""
    return [answer.usage for answer in answers(messages) if answer.usage is not None]


def cost_rows(session: wb.Session) -> Iterator[Row]:
    """The tokens of a recording's first requests under each arm, and of the `last` of them,
    without the client's own prompt, which is in `overhead`.
    """
    if len(session.requests) < REQUESTS:
        return
    last = session.requests[REQUESTS - 1]
    beginning = wb.Session.of(session.messages[: last + 1], session.id)
    prepared = wb.prepared(beginning)
    overhead = prepared.sizing.overhead
    written = sum(prepared.sizing.sizes[index] for index in beginning.requests)
    for arm, strategy in ARMS.items():
        replay = wb.replay(prepared, strategy)
        summaries = summary_tokens(replay)
        yield row_of(
            session,
            context=arm,
            sent=sum(step.tokens_sent - overhead for step in replay.steps),
            last=replay.steps[-1].tokens_sent - overhead,
            reused=sum(max(step.prefix_reused - overhead, 0) for step in replay.steps),
            overhead=overhead,
            written=written,
            summaries_read=summaries.read,
            summaries_written=summaries.written,
            compactions=len(replay.compactions),
        )


@dataclass(frozen=True)
class SummaryTokens:
    """What the requests for summaries read, at most, and what they write."""

    read: int
    written: int


def summary_tokens(replay: Replay) -> SummaryTokens:
    """The tokens of a replay's summaries. Each is taken to read all that it replaces, whole."""
    read, written = 0, 0
    for compaction in replay.compactions:
        before = compaction.before
        sizes = {
            message.id: size for message, size in zip(before.messages, before.sizes, strict=True)
        }
        for stage in compaction.stages:
            if stage.completions:
                read += sum(sizes.get(message_id, 0) for message_id in stage.dropped)
            written += sum(completion.output_tokens for completion in stage.completions)
    return SummaryTokens(read, written)


def changes_files(call: ToolCall) -> bool:
    """Whether a call changes a file, by the tool's name."""
    return bool(touched(call.name, call.arguments).modified)


def edit_rows(session: wb.Session) -> Iterator[Row]:
    """How many calls come before the first that changes a file, at the start of a session
    (`cold`) and behind each recorded compaction; none where no file is changed before the next.
    """
    starts = [("cold", 0)]
    for recorded in session.recorded:
        if recorded.entry.type == "compaction":
            starts.append(("compaction", recorded.at))
    ends = [place for _, place in starts[1:]] + [len(session.messages)]
    for (kind, start), end in zip(starts, ends, strict=True):
        calls = [call for answer in answers(session.messages[start:end]) for call in answer.calls]
        edits = [number for number, call in enumerate(calls) if changes_files(call)]
        yield row_of(session, context=kind, at=start, actions=edits[0] if edits else None)


def usage_rows(session: wb.Session) -> Iterator[Row]:
    """What the provider reported of a session's prompts, and what its answers take.

    Answers are counted here: some clients keep a report from the middle of an answer.
    """
    reported = [answer for answer in answers(session.messages) if answer.usage is not None]
    usages = reported_usages(reported)
    prompt = sum(usage.prompt for usage in usages)
    if not prompt:
        return
    sizes = wb.prepared(session).sizing.sizes
    yield row_of(
        session,
        requests=len(usages),
        prompt=prompt,
        read=sum(usage.cache_read for usage in usages),
        written=sum(sizes[session.place[id(answer)]] for answer in reported),
    )


def source_rows(session: wb.Session) -> Iterator[Row]:
    """How much of a recording's largest context, without the client's own prompt, tools gave."""
    if len(session.requests) < REQUESTS:
        return
    composition = wb.composition(session)
    if composition.empty:
        return
    sizes = composition.groupby("request")["tokens"].sum()
    largest = composition[composition["request"] == sizes.idxmax()]
    tokens = largest.groupby("source")["tokens"].sum()
    said = tokens.drop(["system prompt and tools", "not in the recording"], errors="ignore")
    yield row_of(session, result=int(tokens.get("result", 0)), said=int(said.sum()))


def compaction_rows(session: wb.Session) -> Iterator[Row]:
    """Each recorded compaction and clearing between two reports: the prompts of the requests
    before and after it, and how much of them was read from the cache.
    """
    for recorded in session.recorded:
        earlier = reported_usages(session.messages[: recorded.at])
        later = reported_usages(session.messages[recorded.at :])
        if earlier and later:
            yield row_of(
                session,
                context=recorded.entry.type,
                format=session.origin.format,
                at=recorded.at,
                before=earlier[-1].prompt,
                after=later[0].prompt,
                read_before=earlier[-1].cache_read,
                read_after=later[0].cache_read,
            )


KINDS: dict[str, Callable[[wb.Session], Iterator[Row]]] = {
    "compactions": compaction_rows,
    "costs": cost_rows,
    "edits": edit_rows,
    "sources": source_rows,
    "usage": usage_rows,
}


COLUMNS = {
    "compactions": "context format at before after read_before read_after",
    "costs": (
        "context sent last reused overhead written summaries_read summaries_written compactions"
    ),
    "edits": "context at actions",
    "sources": "result said",
    "usage": "requests prompt read written",
}
"""The columns of the rows, behind those of their session; a kind may have no row."""


def measured(paths: Sequence[str], bundled: bool) -> dict[str, pd.DataFrame]:
    """All rows of these recordings, by kind."""
    rows: dict[str, list[Row]] = {kind: [] for kind in KINDS}
    for session in sessions(paths, bundled):
        for kind, make in KINDS.items():
            rows[kind] += make(session)
    return {
        kind: pd.DataFrame(found, columns=["session", "project", *COLUMNS[kind].split()])
        for kind, found in rows.items()
    }
