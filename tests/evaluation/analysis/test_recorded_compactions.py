"""What a recorded compaction came to: its request, the cache that it broke, what was fetched
again.
"""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from workbench import (
    AssistantMessage,
    CompactionEntry,
    Log,
    MessageEntry,
    Session,
    Summary,
    Text,
    ToolCall,
    UserMessage,
)
from workbench.engine.transcript.message import Message, ToolResult, Usage
from workbench.evaluation.analysis.recorded_compactions import compaction_bills

MODEL = "gpt-4o"
INPUT, READ, OUTPUT = 2.5e-6, 1.25e-6, 10e-6
"""USD a token of that model."""


def listing(name: str) -> str:
    """A result of ten lines that stand in no other listing."""
    return "\n".join(f"{name} holds the lamp number {line}" for line in range(10))


def question(number: int) -> UserMessage:
    return UserMessage(id=f"q{number}", blocks=(Text("Go on."),))


def call(number: int, usage: Usage | None = None) -> AssistantMessage:
    blocks = (ToolCall(f"c{number}", "Read", {"number": number}),)
    return AssistantMessage(id=f"a{number}", blocks=blocks, usage=usage, model=MODEL)


def result(number: int, text: str) -> ToolResult:
    return ToolResult(id=f"r{number}", call_id=f"c{number}", name="Read", blocks=(Text(text),))


def bill(*parts: Message | CompactionEntry) -> pd.Series:
    """The only bill of a session of these messages and compactions."""
    log = Log()
    for part in parts:
        entry: MessageEntry | CompactionEntry = (
            part
            if isinstance(part, CompactionEntry)
            else MessageEntry(id=part.id, parent=log.leaf, message=part)
        )
        log.append(entry)
    rows = compaction_bills(Session("session", log, model=MODEL))
    assert len(rows) == 1
    return rows.iloc[0]


def compaction(after: str, text: str = "Work on lamps.", **fields: object) -> CompactionEntry:
    summary = Summary(id="s", text=text)
    return CompactionEntry(id="k", parent=after, summary=summary, kept=(), **fields)  # type: ignore[arg-type]


def test_a_result_whose_lines_were_seen_and_are_gone_was_fetched_again() -> None:
    told = bill(
        question(1),
        call(1),
        result(1, listing("hall")),
        compaction("r1"),
        call(2),
        result(2, listing("hall")),
        call(3),
        result(3, listing("attic")),
    )
    assert (told.calls, told.fetched_again) == (2, 1)
    assert told.usd_fetched_again == pytest.approx(told.tokens_fetched_again * INPUT)


def test_what_the_summary_still_tells_is_not_fetched_again() -> None:
    told = bill(
        question(1),
        call(1),
        result(1, listing("hall")),
        compaction("r1", listing("hall")),
        call(2),
        result(2, listing("hall")),
    )
    assert told.fetched_again == 0


def test_what_the_client_added_again_is_not_fetched_again() -> None:
    attached = UserMessage(id="q2", blocks=(Text(listing("hall")),), synthetic=True)
    told = bill(
        question(1),
        call(1),
        result(1, listing("hall")),
        compaction("r1"),
        attached,
        call(2),
        result(2, listing("hall")),
    )
    assert told.fetched_again == 0


def test_a_thing_counts_as_fetched_again_once() -> None:
    told = bill(
        question(1),
        call(1),
        result(1, listing("hall")),
        compaction("r1"),
        call(2),
        result(2, listing("hall")),
        call(3),
        result(3, listing("hall")),
    )
    assert told.fetched_again == 1


def test_the_request_of_a_compaction_has_a_price_as_reported_or_as_an_estimate() -> None:
    reported = Usage(input=1_000, output=100)
    told = bill(question(1), call(1), result(1, "x"), compaction("r1", usage=reported), call(2))
    assert told.request_usd == pytest.approx(1_000 * INPUT + 100 * OUTPUT)
    assert not told.is_estimate
    guessed = bill(question(1), call(1), result(1, "x"), compaction("r1", tokens_before=1_000))
    assert guessed.is_estimate
    assert guessed.request_usd == pytest.approx(1_000 * READ, rel=0.1)


def test_a_summary_that_the_recording_hides_was_paid_for() -> None:
    cut = CompactionEntry(id="k", parent="r1", kept=(), tokens_before=1_000)
    hidden = replace(cut, hidden_summary=True)
    unsized = replace(hidden, tokens_before=None)
    beginning = question(1), call(1), result(1, "x")
    assert bill(*beginning, cut).request_usd == 0
    assert bill(*beginning, hidden).is_estimate
    assert bill(*beginning, hidden).request_usd == pytest.approx(1_000 * READ)
    assert bill(*beginning, unsized).request_usd is None


def test_a_broken_cache_costs_what_its_tokens_cost_above_a_read() -> None:
    before = Usage(input=100, cache_read=9_900)
    told = bill(
        question(1),
        call(1, before),
        result(1, "x"),
        compaction("r1"),
        call(2, Usage(input=4_000, cache_read=1_000)),
    )
    assert (told.prompt_before, told.prompt_after) == (10_000, 5_000)
    assert told.cache_usd == pytest.approx(4_000 * (INPUT - READ), rel=0.02)


def test_without_a_cache_none_is_broken_and_without_reports_nothing_is_known() -> None:
    plain = bill(
        question(1),
        call(1, Usage(input=10_000)),
        result(1, "x"),
        compaction("r1"),
        call(2, Usage(input=5_000)),
    )
    assert plain.cache_usd == 0
    silent = bill(question(1), call(1), result(1, "x"), compaction("r1"), call(2))
    assert silent[["cache_usd", "prompt_before", "prompt_after", "request_usd"]].isna().all()


def test_a_session_without_compactions_has_no_bills() -> None:
    assert compaction_bills(Session.of([question(1), call(1)])).empty
