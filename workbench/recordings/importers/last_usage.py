"""What an agent keeps of its last request alone, beside the messages: it belongs to the newest
answer.
"""

from dataclasses import replace

from workbench.engine.transcript.log import Log, MessageEntry
from workbench.engine.transcript.message import AssistantMessage, Usage


def with_last_usage(log: Log, usage: Usage) -> Log:
    """The log in which the newest answer has this usage; as it is where that answer has one, or
    where a compaction follows it, whose request was a later one.
    """
    entries = list(log)
    for index in reversed(range(len(entries))):
        entry = entries[index]
        if entry.type == "compaction":
            return log
        if not isinstance(entry, MessageEntry):
            continue
        answer = entry.message
        if not isinstance(answer, AssistantMessage):
            continue
        if answer.usage is not None:
            return log
        answer = replace(answer, usage=usage)
        entries[index] = replace(entry, message=answer)
        changed_log = Log(entries)
        changed_log.leaf = log.leaf
        return changed_log
    return log
