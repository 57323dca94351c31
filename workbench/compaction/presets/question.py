"""The one question that a restated system puts to a model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from workbench.compaction.presets.swap import clipped
from workbench.compaction.prompt_template import Prompt, PromptTemplate
from workbench.compaction.stage import Budget
from workbench.compaction.tracking import file_ops
from workbench.models.model import LazyText, Purpose, SummaryRequest
from workbench.transcript.context import Context
from workbench.transcript.message import Message, Summary, Text, UserMessage

CHARS_OF_WINDOW = 2.1
"""Characters of transcript for each token of the window: some seven tenths of it."""


def question(
    context: Context,
    budget: Budget,
    wording: PromptTemplate,
    said: tuple[Message, ...],
    earlier: Sequence[Summary],
    most: int,
) -> SummaryRequest:
    """Request for a summary of these messages, or for the update of earlier ones; with a note for a model that fails.

    Args:
        context: counts.
        budget: its window bounds the transcript.
        wording: how it is put.
        said: what is to be summarised.
        earlier: summaries that are to be carried on.
        most: tokens of the answer.
    """
    previous = "\n\n".join(summary.text for summary in earlier)
    purpose: Purpose = "update" if previous else "summary"
    chars = int(CHARS_OF_WINDOW * budget.window) if budget.window > 0 else None
    return SummaryRequest(
        purpose=purpose,
        system=wording.system,
        write=Prompt(wording, purpose, said, previous, budget.instructions, most, most_chars=chars),
        messages=said,
        previous=previous,
        instructions=budget.instructions,
        sections=wording.sections,
        files=file_ops([*earlier, *said]),
        max_tokens=most,
        otherwise=LazyText(_note, (context, said, previous, most)),
        count=context.count,
    )


def _note(context: Context, said: Sequence[Message], previous: str, most: int) -> str:
    roles = Counter(message.role for message in said)
    note = f"[{len(said)} earlier messages left out: {', '.join(f'{n} {role}' for role, n in sorted(roles.items()))}]"
    room = most - context.count(UserMessage(id="", blocks=(Text("\n\n" + note),)))
    kept = clipped(previous, room, context.count) if previous and room > 0 else ""
    return f"{kept}\n\n{note}" if kept else clipped(note, most, context.count) or "[...]"
