"""After a restart without a saved compactor, a preset knows its own summaries among plain
messages.
"""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from live.shapes import contents, items
from live.talk import Record, anthropic, asked, openai
from preset_names import BUILTIN_PRESETS

from profiles import pairs
from workbench import Compactor, Completion, MessageEntry, Summary, SummaryRequest, find_model
from workbench.engine.transcript.message import plain_text

SILENT = {"none", "null", "truncate", "clear_tool_uses", "observation_mask", "scored"}
"""They write no summary."""
WRITERS = [name for name in BUILTIN_PRESETS if name not in SILENT]
TALKS: dict[str, Callable[..., list[Record]]] = {
    "openai": openai, "anthropic": anthropic, "responses": lambda turns, words: items(openai(turns, words=words)),
    "gemini": lambda turns, words: contents(openai(turns, words=words)),
}  # fmt: skip


def summaries(live: Compactor) -> list[Summary]:
    path = [entry.message for entry in live.log.path() if isinstance(entry, MessageEntry)]
    return [message for message in path if isinstance(message, Summary)]


def compacted(preset: str, format: str) -> tuple[Compactor, list[Record]]:
    """A compactor that wrote a summary, and what it sends as plain data."""
    live = Compactor(preset, model=find_model("extractive"), window=60_000, format=format)  # type: ignore[arg-type]
    live.before_request(TALKS[format](16, words=300))
    live.compact(keep_recent=2_000)
    sent = live.before_request(TALKS[format](16, words=300))
    return live, json.loads(json.dumps(sent))


@pytest.mark.parametrize(("preset", "format"), pairs(WRITERS, TALKS))
def test_a_summary_in_plain_messages_is_one_again(preset: str, format: str) -> None:
    live, sent = compacted(preset, format)
    (wrote,) = [
        message for message in live._memory.state.sent.messages if isinstance(message, Summary)
    ]
    again = Compactor(preset, model=find_model("extractive"), window=60_000, format=format)  # type: ignore[arg-type]
    again.before_request(sent)
    (summary,) = summaries(again)
    assert (summary.lead, summary.said_by, plain_text(summary)) == (
        wrote.lead,
        wrote.said_by,
        plain_text(wrote),
    )
    assert summary.text == wrote.text or (
        preset == "hermes_lean" and summary.text.startswith(wrote.text)
    )


class Seen:
    """A model that writes as the extractive one and keeps what it was asked."""

    name = "seen"

    def __init__(self) -> None:
        self.requests: list[SummaryRequest] = []

    def complete(self, request: SummaryRequest, /) -> Completion:
        self.requests.append(request)
        return find_model("extractive").complete(request)


def test_the_next_summary_updates_the_one_that_was_found() -> None:
    _, sent = compacted("summarize", "openai")
    model = Seen()
    again = Compactor("summarize", model=model, window=60_000)
    again.before_request(sent)
    again.compact(keep_recent=500)
    (wrote,) = summaries(again)
    assert [request.previous for request in model.requests] == [wrote.text]
    assert [request.purpose for request in model.requests] == ["update"]
    assert not any(message.role == "summary" for message in model.requests[0].messages)


def test_a_person_who_quotes_a_summary_is_a_person() -> None:
    live = Compactor("summarize", model=find_model("extractive"))
    lead = compacted("summarize", "openai")[1][1]["content"][:124]
    live.before_request([asked(f"What does this mean: {lead}")])
    assert summaries(live) == []
