"""ExAthena's last stage: a short summary in the place of everything between the pinned prefix and the live end."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.compaction.clip import head
from workbench.compaction.plan import Draft, Plan
from workbench.compaction.presets.ex_athena.pinning import PINNING, Pinning
from workbench.compaction.presets.ex_athena.session import StageFailed
from workbench.compaction.presets.token_counters import calls_of, role_of
from workbench.compaction.prompt_template import Prompt, PromptTemplate, harmless, prompt
from workbench.compaction.size_limits import SizeLimits
from workbench.compaction.span_selection import SummaryInput, SummaryTask
from workbench.compaction.stage import Budget
from workbench.compaction.stages.summarize import Summarize
from workbench.transcript.context import Context
from workbench.transcript.message import Message, Summary, ToolResult, plain_text

RESULT_CHARS = 500
WORD_CHARS = 1_000


class AthenaPrompt(PromptTemplate):
    """One user message: a transcript of lines that are cut short, and the request for one paragraph."""

    @property
    def system(self) -> str:
        """None."""
        return ""

    @property
    def opening(self) -> str:
        """Nothing stands above the summary."""
        return ""

    def request(self, filled: Prompt) -> str:
        """The user prompt's text."""
        parts = (self.transcript(filled.messages), prompt("athena_summary"), filled.instructions)
        return "\n\n".join(parts if filled.instructions else parts[:2])

    def transcript(self, messages: Sequence[Message], most_chars: int | None = None) -> str:
        """One line a message."""
        return "\n".join(map(line, messages))


def line(message: Message) -> str:
    """One message of the transcript, cut short."""
    words = harmless(plain_text(message))
    if isinstance(message, ToolResult):
        return f"[tool result] {head(words, RESULT_CHARS)}"
    calls = ", ".join(call.name for call in calls_of(message))
    return f"[{role_of(message)}] {head(words, WORD_CHARS)}" + (f" [calls: {calls}]" if calls else "")


class AthenaLimits(SizeLimits):
    """At most 512 tokens, and fewer than the summary replaces; a target does not bind."""

    def allowed(self, context: Context, budget: Budget, gone: Sequence[int], frame: int) -> int:
        """Tokens that the summary's text may have."""
        return min(self.most, sum(context.sizes[i] for i in gone) - frame + 1)


class AthenaInput(SummaryInput):
    """What is summarised: an earlier summary is one more message, which stands for what it replaced."""

    @property
    def ids(self) -> tuple[str, ...]:
        """The messages that the summary stands for, those of an earlier one or of a merged run included."""
        each = ((isinstance(one, Summary) and one.replaces) or (one.id,) for one in self.new)
        return tuple(dict.fromkeys(id for ids in each for id in ids))


def as_messages(context: Context, given: SummaryInput) -> SummaryInput:
    """The input with its summaries among the other messages."""
    gone = set(map(id, (*given.earlier, *given.new)))
    return AthenaInput((), tuple(message for message in context.messages if id(message) in gone), files=given.files)


def not_empty(task: SummaryTask, draft: Draft, edited: Context, at: int) -> Plan | None:
    """Nothing further, once the model has said something.

    Raises:
        StageFailed: it has not.
    """
    if not plain_text(edited.messages[at]).strip():
        raise StageFailed("summary", "summary_failed: empty_summary")
    return None


def summary_stage(pinning: Pinning = PINNING, model: str = "") -> Summarize:
    """The stage; another model may write the summary."""
    return Summarize(
        cut=pinning,
        prompt=AthenaPrompt(headings="", window_chars=None),
        limits=AthenaLimits(least=128, most=512),
        name="summary",
        file_lists="recorded",
        recognise=as_messages,
        place=pinning.place,
        finish=not_empty,
        fallback=None,
        if_empty="",
        model=model,
        said_by="assistant",
        summary_name="compactor_summary",
    )
