"""What the request of a recorded compaction read and wrote: as it was reported, or else as an
estimate.
"""

from dataclasses import dataclass

from workbench.engine.transcript.log import CompactionEntry
from workbench.engine.transcript.message import TokenCounter, Usage


@dataclass(frozen=True, slots=True)
class CompactionRequest:
    """The request that asked a model for a recorded compaction.

    Attributes:
        usage: its tokens.
        is_estimate: whether no recording shows them: the context before is taken for what was read,
            the whole of it from the cache, and the summary for what was written; nothing is, where
            the summary is hidden.
    """

    usage: Usage
    is_estimate: bool


def compaction_request(entry: CompactionEntry, count: TokenCounter) -> CompactionRequest | None:
    """The request of a compaction; None where nothing tells its size, or where no model wrote a
    summary.

    Codex reports it in a record of its own, which no total counts. Claude Code does not record it.
    """
    if entry.usage is not None:
        return CompactionRequest(entry.usage, is_estimate=False)
    if not has_written_summary(entry) or not entry.tokens_before:
        return None
    summary_tokens = 0
    if entry.summary is not None:
        summary_tokens = count(entry.summary)
    usage = Usage(input=0, cache_read=entry.tokens_before, output=summary_tokens)
    return CompactionRequest(usage, is_estimate=True)


def has_written_summary(entry: CompactionEntry) -> bool:
    """Whether a model wrote a summary, shown in the recording or not."""
    return entry.summary is not None or entry.hidden_summary
