"""What somebody writes who embeds the engine or works in a notebook, with the names of `workbench`
alone: `test_embedder.py` runs it, and a type checker reads it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import workbench as wb


class FirstWords:
    """A model of one's own: its summary is the beginning of each message."""

    name = "first-words"

    def __init__(self) -> None:
        self.requests: list[wb.SummaryRequest] = []

    def complete(self, request: wb.SummaryRequest, /) -> wb.Completion:
        """Write the summary."""
        self.requests.append(request)
        if not request.messages:
            raise wb.ModelError("there is nothing to summarise")
        beginnings = [str(message.blocks)[:40] for message in request.messages]
        return wb.Completion(text="\n".join(beginnings), model=self.name)


class AboveTokens:
    """A trigger of one's own."""

    def __init__(self, tokens: int) -> None:
        self.tokens = tokens

    def check(self, situation: wb.Situation) -> wb.Budget | None:
        """A third of the window, once the context is larger than that."""
        if situation.tokens < self.tokens:
            return None
        return wb.Budget(target=situation.window // 3, window=situation.window, reason="too large")


def talk(live: wb.Compactor, turns: int) -> list[dict[str, str]]:
    """A long conversation that a compactor keeps within its window."""
    messages: list[dict[str, str]] = []
    for turn in range(turns):
        messages.append({"role": "user", "content": f"What is part {turn}? " + "Look it up. " * 40})
        live.before_request(messages)
        messages.append({"role": "assistant", "content": f"Part {turn} is number {turn * 13}."})
    return messages


def compactions_of(log: wb.Log) -> list[wb.CompactionEntry]:
    """The compactions that a log records."""
    return [entry for entry in log if isinstance(entry, wb.CompactionEntry)]


def messages_of(log: wb.Log) -> list[wb.MessageEntry]:
    """The messages that a log records."""
    return [entry for entry in log if isinstance(entry, wb.MessageEntry)]


def reason_not_to_load(path: Path) -> str:
    """Why a file cannot be read, as a host would show it; empty where it can."""
    try:
        wb.load(path)
    except wb.UnknownFormat as error:
        return f"unknown: {error.why}"
    except wb.FormatError as error:
        return f"damaged: {error.why}"
    except (wb.MissingPath, wb.SetupError) as error:
        return f"not there: {error}"
    return ""


def compacted(context: wb.Context, model: wb.Model, window: int) -> wb.Compaction:
    """One compaction of a history."""
    budget = wb.Budget(target=window // 4, window=window, reason="by hand")
    return wb.compact(context, wb.preset("summarize").strategy, budget, model)


def largest_compaction(replay: wb.Replay) -> int:
    """How many messages the largest compaction of a replay took away."""
    counts = [
        len(compaction.before.messages) - len(compaction.after.messages)
        for compaction in replay.compactions
    ]
    return max(counts, default=0)


def recommended_strategy(results: wb.Results) -> str:
    """What a run recommends; empty where it decides nothing."""
    findings: wb.Findings = wb.Findings.of(results)
    if findings.decision is None:
        return ""
    return findings.decision.recommendation


def message_counts(compactions_due: Sequence[wb.Due]) -> list[int]:
    """How many messages each context had that was due."""
    return [len(due.context.messages) for due in compactions_due]
