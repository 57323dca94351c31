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
            the whole of it from the cache, and the summary for what was written.
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
    if entry.summary is None or not entry.tokens_before:
        return None
    usage = Usage(input=0, cache_read=entry.tokens_before, output=count(entry.summary))
    return CompactionRequest(usage, is_estimate=True)
