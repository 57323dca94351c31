"""One compaction from its start to its end, and the events of both."""

from dataclasses import dataclass, replace

from workbench.engine.compaction.engine import Compaction, StageRecord
from workbench.engine.compaction.host_policy import HostPolicy
from workbench.engine.models.model import Completion
from workbench.engine.transcript.context import Context, last_user
from workbench.live.calibration import Calibration
from workbench.live.events import CompactionEnded, CompactionStarted


@dataclass(frozen=True, slots=True)
class Attempt:
    """What a compaction starts from.

    Attributes:
        started: the event that it started.
        history: as the strategy keeps it, by our count.
        start: the same in the provider's tokens, which is what is compacted.
        calibration: of our count against the provider's.
        heard_count: how many of the host's messages had been heard.
        version: of the history.
    """

    started: CompactionStarted
    history: Context
    start: Context
    calibration: Calibration
    heard_count: int
    version: int

    def ended(
        self, compaction: Compaction, usd: float | None, is_supplied: bool, host: HostPolicy
    ) -> CompactionEnded:
        """The event that it is over.

        Args:
            compaction: what became of the history.
            usd: what its summaries cost.
            is_supplied: whether it took the host's summary.
            host: of the preset.
        """
        started = self.started
        tokens_after = started.tokens
        messages_after = started.messages
        warning = ""
        if compaction.outcome != "unchanged":
            tokens_after = compaction.sent.tokens
            messages_after = len(compaction.sent.messages)
            warning = _warning(host, compaction)
        return CompactionEnded(
            started.number,
            compaction.outcome,
            compaction.refusal or compaction.why,
            started.tokens,
            tokens_after,
            tuple(map(_without_texts, compaction.stages)),
            usd,
            is_supplied,
            warning,
            messages_before=started.messages,
            messages_after=messages_after,
        )


def _without_texts(stage: StageRecord) -> StageRecord:
    """What a stage did, without what anybody said: hosts write events into their logs."""
    completions: list[Completion] = []
    for completion in stage.completions:
        completions.append(replace(completion, text="", calls=(), logprobs=()))
    return replace(stage, completions=tuple(completions), wrote=(), conversation=())


def _warning(host: HostPolicy, compaction: Compaction) -> str:
    """What the preset's system tells its user, whether a note is in the place of a summary, and
    whether the newest user message was cut.
    """
    warnings: list[str] = []
    if host.warning:
        warnings.append(host.warning)
    for completion in compaction.completions:
        if completion.fallback:
            reason = completion.why
            warnings.append(f"a note replaces the summary, since the model failed: {reason}")
            break
    warning = _cut_request(compaction)
    if warning:
        warnings.append(warning)
    return "; ".join(warnings)


def _cut_request(compaction: Compaction) -> str:
    """That the newest user message was cut short, in words; empty if it was not."""
    history = compaction.before
    request = compaction.sent
    newest = last_user(history.messages)
    if newest is None:
        return ""
    newest_id = history.messages[newest].id
    whole_tokens = history.sizes[newest]
    for message, tokens in zip(request.messages, request.sizes, strict=True):
        if message.id == newest_id and tokens < whole_tokens:
            return (
                f"the newest user message was cut in the middle: {tokens:,} of its"
                f" {whole_tokens:,} tokens are sent"
            )
    return ""
