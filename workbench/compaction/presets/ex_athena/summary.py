"""ExAthena's last stage: a short summary in the place of everything between the pinned prefix and the live end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

from workbench.compaction.clip import head
from workbench.compaction.file_lists import file_ops
from workbench.compaction.place import behind_prompt, exchanged
from workbench.compaction.plan import Draft, Plan
from workbench.compaction.presets.ex_athena.pinning import PINNING, Pinning
from workbench.compaction.presets.ex_athena.session import StageFailed
from workbench.compaction.prompt_template import harmless, prompt
from workbench.compaction.stage import Budget
from workbench.models.model import SummaryRequest
from workbench.transcript.context import Context
from workbench.transcript.files import FileOps
from workbench.transcript.message import AssistantMessage, Message, Summary, ToolResult, plain_text, said_texts
from workbench.transcript.pairing import cut_points

SUMMARY_NAME = "compactor_summary"
MOST_TOKENS = 512
RESULT_CHARS = 500
WORD_CHARS = 1_000
FEWEST = 3
LEAST = 128
"""Tokens of a summary under which it is not worth asking for one."""


@dataclass(frozen=True, slots=True)
class SummaryStage:
    """Summarises what neither is pinned nor belongs to the live end, in one paragraph.

    An earlier summary in between is one more message of it.

    Attributes:
        model: the name of another model that should write it; empty for the one at hand.
    """

    pinning: Pinning = PINNING
    model: str = ""
    name: ClassVar[str] = "summary"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """The draft behind the pinned prefix; None for fewer than three messages, or where nothing would be saved."""
        kept = self.pinning.kept(context, budget)
        gone = [i for i in range(len(context.messages)) if i not in kept]
        said = tuple(context.messages[i] for i in gone)
        if len(gone) < FEWEST or not any(text.strip() for message in said for text in said_texts(message)):
            return None
        ids = tuple(dict.fromkeys(id for message in said for id in _stands_for(message)))
        empty = Draft(requests=(), replaces=ids, files=file_ops(said), said_by="assistant", name=SUMMARY_NAME)
        left = sum(context.sizes[i] for i in gone) - context.count(empty.frame()) - 1
        if left < LEAST:
            return None
        draft = replace(empty, requests=(self._request(context, budget, said, empty.files, min(MOST_TOKENS, left)),))
        place = _place(context.messages, self.pinning.floor(context.messages), gone)
        return Plan(exchanged(gone, place, draft), then=partial(not_empty, ids))

    def _request(
        self, context: Context, budget: Budget, said: tuple[Message, ...], files: FileOps, most: int
    ) -> SummaryRequest:
        return SummaryRequest(
            purpose="summary",
            system="",
            write=Letter(said, budget.instructions),
            messages=said,
            instructions=budget.instructions,
            files=files,
            max_tokens=most,
            if_empty="",
            count=context.count,
            model=self.model,
        )


@dataclass(frozen=True, slots=True)
class Letter:
    """The one user message that is sent, written when it is read."""

    messages: tuple[Message, ...]
    instructions: str = ""

    def __call__(self) -> str:
        """The transcript, and what is asked for."""
        parts = ["\n".join(map(line, self.messages)), prompt("athena_summary")]
        return "\n\n".join((*parts, self.instructions) if self.instructions else parts)


def _stands_for(message: Message) -> tuple[str, ...]:
    """The ids of what was said: of a summary, or of a run that was merged, those that it replaces."""
    return (isinstance(message, Summary) and message.replaces) or (message.id,)


def line(message: Message) -> str:
    """One message of the transcript, cut short."""
    words = harmless(plain_text(message))
    if isinstance(message, ToolResult):
        return f"[tool result] {head(words, RESULT_CHARS)}"
    role = message.said_by if isinstance(message, Summary) else message.role
    calls = message.calls if isinstance(message, AssistantMessage) else ()
    named = f" [calls: {', '.join(call.name for call in calls)}]" if calls else ""
    return f"[{role}] {head(words, WORD_CHARS)}{named}"


def not_empty(ids: tuple[str, ...], edited: Context) -> None:
    """Nothing further, once the model has said something.

    Raises:
        StageFailed: it has not.
    """
    for message in edited.messages:
        if isinstance(message, Summary) and message.replaces == ids and not message.text.strip():
            raise StageFailed(SummaryStage.name, "summary_failed: empty_summary")


def _place(messages: Sequence[Message], floor: int, gone: Sequence[int]) -> int:
    """Right behind the pinned prefix, but never inside a pair; at the latest where the first message goes."""
    flags = cut_points(messages)
    prompt = behind_prompt(messages, gone)
    if prompt > gone[0]:
        return next(i for i in range(prompt, len(flags)) if flags[i])
    places = (i for i in range(max(floor, prompt), gone[0] + 1) if flags[i])
    return next(places, next(i for i in range(gone[0], -1, -1) if flags[i]))
