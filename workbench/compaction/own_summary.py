"""Recognises a preset's own summary in a plain message, by what its prompt template puts around one."""

from __future__ import annotations

import re
from collections.abc import Callable

from workbench.compaction.file_lists import lists_in, parted
from workbench.compaction.prompt_template import PromptTemplate
from workbench.compaction.stages.summarize import Summarize
from workbench.compaction.strategy import Preset
from workbench.transcript.message import Message, Summary, plain_text

_INDEX = re.compile(r"\n*<([a-z-]+)>\n(?:(?!<\1>).)*</\1>\s*\Z", re.DOTALL)
"""What a preset sends below a summary in a tag."""


def recogniser(preset: Preset) -> Callable[[Message], Summary | None]:
    """What says whether a message is a summary that this preset wrote, and gives it as one.

    A summary is known by the lead above it and the text below, or by its author's name where it has no lead. The name
    stands in brackets above the text in formats that have no field for it.
    """
    strategies = [preset.strategy, *([preset.overflow] if preset.overflow else [])]
    stages = [getattr(stage, "summary", stage) for strategy in strategies for stage in strategy.stages]
    writers = [stage for stage in stages if isinstance(getattr(stage, "prompt", None), PromptTemplate)]

    def recognised(message: Message) -> Summary | None:
        if message.role not in ("user", "assistant") or any(block.type != "text" for block in message.blocks):
            return None
        return next(filter(None, (_summary(message, writer) for writer in writers)), None)

    return recognised


def _summary(message: Message, stage: object) -> Summary | None:
    prompt: PromptTemplate = getattr(stage, "prompt")  # noqa: B009  # a stage's protocol has no prompt
    said_by, name = (stage.said_by, stage.summary_name) if isinstance(stage, Summarize) else ("user", "")
    words, above = plain_text(message), f"[{name}]\n"
    lead, tail = prompt.opening, prompt.closing
    if name and message.name != name:
        if not words.startswith(above):
            return None
        words = words.removeprefix(above)
    if message.role != said_by or not (lead or name):
        return None
    if not (words.startswith(lead) and words.endswith(tail) and len(words) > len(lead) + len(tail)):
        return None
    text, lists = words[len(lead) : len(words) - len(tail)], ""
    if isinstance(stage, Summarize) and stage.file_lists == "below":
        text, lists = parted(text)
    elif isinstance(stage, Summarize) and stage.below is not None and (index := _INDEX.search(text)):
        text, lists = text[: index.start()], index.group()
    return Summary(
        id=message.id, text=text, replaces=(message.id,), files=lists_in(lists or text), lead=lead, tail=lists + tail,
        said_by=said_by, name=name or message.name,
    )  # fmt: skip
