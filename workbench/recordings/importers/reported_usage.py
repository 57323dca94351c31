"""What an agent reports of its requests apart from the messages: each report gets the answer that
it belongs to.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from workbench.engine.transcript.log import Entry, Log, MessageEntry
from workbench.engine.transcript.message import AssistantMessage, Usage
from workbench.recordings.importers.source import SourceFile

BEYOND = (
    "tells more tokens than the answers do: other requests, or the end of these, are in no bill"
)


@dataclass(frozen=True, slots=True)
class TimedUsage:
    """What one request used, and when that was written, in seconds since 1970."""

    time: float
    usage: Usage


def answers_of(log: Log) -> list[AssistantMessage]:
    """All answers in a log, in its order."""
    answers: list[AssistantMessage] = []
    for entry in log:
        if isinstance(entry, MessageEntry) and isinstance(entry.message, AssistantMessage):
            answers.append(entry.message)
    return answers


def tell_rest(source: SourceFile, log: Log, bills: Iterable[Usage | None], field: str) -> None:
    """Say that these bills of a whole session are larger than its answers report."""
    prompt = 0
    output = 0
    for bill in filter(None, bills):
        prompt += bill.prompt
        output += bill.output
    for answer in answers_of(log):
        usage = answer.usage or Usage()
        prompt -= usage.prompt
        output -= usage.output
    if prompt > 0 or output > 0:
        source.note(BEYOND, field=field)


def with_usages(log: Log, usages: Mapping[str, Usage]) -> Log:
    """The log in which answers have these usages, by their ids."""
    if not usages:
        return log
    entries: list[Entry] = []
    for entry in log:
        if isinstance(entry, MessageEntry) and entry.id in usages:
            message = entry.message
            if isinstance(message, AssistantMessage):
                entry = replace(entry, message=replace(message, usage=usages[entry.id]))
        entries.append(entry)
    changed_log = Log(entries)
    changed_log.leaf = log.leaf
    return changed_log


def with_last_usage(log: Log, usage: Usage) -> Log:
    """The log in which the newest answer has this usage; as it is where that answer has one, or
    where a compaction follows it, whose request was a later one.
    """
    for entry in reversed(list(log)):
        if entry.type == "compaction":
            return log
        if isinstance(entry, MessageEntry) and isinstance(entry.message, AssistantMessage):
            if entry.message.usage is not None:
                return log
            return with_usages(log, {entry.id: usage})
    return log
