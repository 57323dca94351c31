"""Reports of usage that stand in a list beside the messages of a chat document.

Source: documents in some seventy public repositories of 2026, which a converter made of sessions of
Codex and of Claude Code. `meta.token_counts` has events as Codex writes them; a message has its
time in `_metadata`. Codex reports a request behind its answer, and again behind the results. Of
Claude Code each part of an answer has a report with its time, and none has what was written to the
cache, so the size of the prompt is not known.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace

from workbench.engine.transcript.log import Log
from workbench.engine.transcript.message import Usage
from workbench.recordings.importers.reported_usage import TimedUsage, answers_of, with_usages
from workbench.recordings.importers.source import SourceFile
from workbench.recordings.importers.usage import OPENAI_USAGE
from workbench.recordings.importers.values import Record


def with_token_counts(log: Log, events: Sequence[Record], source: SourceFile) -> Log:
    """The log in which answers have the usage that these events report."""
    is_of_claude = any(_is_cache_beside(event, source) for event in events)
    ids_by_time: dict[float, str] = {}
    for answer in answers_of(log):
        if answer.time is not None:
            ids_by_time.setdefault(answer.time, answer.id)
    times = sorted(ids_by_time)
    usages: dict[str, Usage] = {}
    previous: Usage | None = None
    answer_id = ""
    for report in _reports(events, source):
        if is_of_claude and report.time not in ids_by_time:
            continue  # a sub-agent's, whose messages are no part of this conversation
        usage = report.usage
        answer_count = bisect_right(times, report.time)
        if previous is None or _prompt(usage) != _prompt(previous):
            answer_id = ids_by_time[times[answer_count - 1]] if answer_count else ""
        previous = usage
        if answer_id:
            usages[answer_id] = usage
    if is_of_claude:
        source.note("is without what was written to the cache, not used", field="meta.token_counts")
        usages = {name: Usage(output=usage.output) for name, usage in usages.items()}
    return with_usages(log, usages)


def _is_cache_beside(event: Record, source: SourceFile) -> bool:
    """Whether more was read from the cache than the input has, as only Claude's figures can."""
    figures = source.report(event, "info/last_token_usage")
    cached = source.count(figures, "cached_input_tokens") or 0
    return cached > (source.count(figures, "input_tokens") or 0)


def _reports(events: Sequence[Record], source: SourceFile) -> list[TimedUsage]:
    """What the events report, in the order of time."""
    fields = replace(OPENAI_USAGE, total="")
    reports: list[TimedUsage] = []
    for event in events:
        usage = source.usage(fields, event, "info/last_token_usage")
        time = source.time(event, "_timestamp")
        if usage is not None and time is not None:
            reports.append(TimedUsage(time, usage))
    return sorted(reports, key=lambda report: report.time)


def _prompt(usage: Usage) -> tuple[int, int]:
    """What tells one request from the next: the parts of a request report the same prompt."""
    return usage.input, usage.cache_read
