"""Small builders: the value under test on one line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from workbench import (
    AssistantMessage,
    Compaction,
    CompactionEntry,
    Context,
    Log,
    MessageEntry,
    Model,
    Preset,
    Session,
    Situation,
    Text,
    ToolCall,
    UserMessage,
    compact,
    preset,
)
from workbench.engine.compaction.stages import Summarize
from workbench.engine.models.tokenizer import TiktokenCounter
from workbench.engine.transcript.message import Message, SystemMessage, Thinking, ToolResult, Usage


def rules(text: str, id: str = "s0") -> SystemMessage:
    return SystemMessage(id=id, blocks=(Text(text),))


def said(
    text: str, id: str = "u0", *, pinned: bool = False, synthetic: bool = False
) -> UserMessage:
    return UserMessage(
        id=id, blocks=(Text(text),) if text else (), pinned=pinned, synthetic=synthetic
    )


def told(
    text: str, id: str = "a0", *, thought: str = "", usage: Usage | None = None
) -> AssistantMessage:
    blocks = ((Thinking(thought),) if thought else ()) + ((Text(text),) if text else ())
    return AssistantMessage(id=id, blocks=blocks, usage=usage)


def called(
    name: str, call_id: str = "c0", id: str = "", text: str = "", **arguments: Any
) -> AssistantMessage:
    blocks = ((Text(text),) if text else ()) + (ToolCall(call_id, name, arguments),)
    return AssistantMessage(id=id or f"a-{call_id}", blocks=blocks)


def result(
    text: str, call_id: str = "c0", id: str = "", name: str = "", *, is_error: bool = False
) -> ToolResult:
    return ToolResult(
        id=id or f"r-{call_id}", call_id=call_id, blocks=(Text(text),), name=name, is_error=is_error
    )


def conversation(turns: int, *, words: int = 20, steps: int = 2) -> Sequence[Message]:
    """`turns` turns: a user message, `steps` calls of `read` with results of about `words`
    words, an answer.
    """
    messages: list[Message] = []
    for turn in range(turns):
        messages.append(
            said(f"please look at part {turn} and keep the limit at {turn + 1000}", f"u{turn}")
        )
        for step in range(steps):
            n = f"{turn}-{step}"
            messages.append(called("read", f"c{n}", path=f"src/part_{turn}/file_{step}.py"))
            messages.append(
                result(" ".join(f"word_{n}_{i}" for i in range(words)), f"c{n}", name="read")
            )
        messages.append(told(f"part {turn} is done, the limit is {turn + 1000}", f"a{turn}"))
    return messages


def remembering(turns: int, *, later: int = 8, words: int = 60) -> Sequence[Message]:
    """As `conversation`, but what a turn reads is used `later` turns after it, and nobody
    repeats it in between.
    """
    messages: list[Message] = []
    for turn in range(turns):
        messages.append(said(f"please look at part {turn}", f"u{turn}"))
        messages.append(called("read", f"c{turn}", path=f"src/part_{turn}/file.py"))
        filler = " ".join(f"plain{turn}x{i}" for i in range(words))
        fact = f"the worker timeout_of_{turn} is set to {turn + 4001} by the mail gateway"
        messages.append(result(f"{filler}\n{fact}\n{filler}", f"c{turn}", name="read"))
        old = turn - later
        use = (
            f"the worker timeout_of_{old} must stay {old + 4001} for the mail gateway"
            if old >= 0
            else "noted"
        )
        messages.append(told(use, f"a{turn}"))
    return messages


def reporting(messages: Sequence[Message], overhead: int) -> Iterator[Message]:
    """The messages, each answer with the usage of an agent whose prompt and tools take
    `overhead` tokens.
    """
    sent = overhead
    for message, size in zip(messages, TiktokenCounter().sizes(messages), strict=True):
        yield (
            replace(message, usage=Usage(input=sent))
            if isinstance(message, AssistantMessage)
            else message
        )
        sent += size


def compact_if_due(
    history: Context, preset: Preset, situation: Situation, model: Model
) -> Compaction | None:
    budget = preset.trigger.check(situation)
    return None if budget is None else compact(history, preset.strategy, budget, model)


def summarize(**settings: Any) -> Summarize:
    """The summarising stage of the preset `summarize`, with these of its settings."""
    stages = preset("summarize", **settings).strategy.stages
    (stage,) = [stage for stage in stages if isinstance(stage, Summarize)]
    return stage


def recorded(
    *compactions: CompactionEntry,
    largest: int | None = None,
    window: int | None = None,
    format: str = "built",
) -> Session:
    """A session of a known model, with these compactions in its middle and a largest reported
    prompt.
    """
    messages: list[Message] = list(remembering(20))
    if largest is not None:
        place, answer = next(
            (i, message)
            for i, message in enumerate(messages)
            if isinstance(message, AssistantMessage)
        )
        messages[place] = replace(answer, usage=Usage(input=largest))
    log = Log()
    for i, message in enumerate(messages):
        log.append(MessageEntry(id=message.id, parent=log.leaf, message=message))
        for entry in compactions if i == len(messages) // 2 else ():
            log.append(replace(entry, parent=log.leaf))
    session = Session("one", log, model="claude-sonnet-4-5", window=window)
    return recorded_by(format, session)


def recorded_by(format: str, session: Session, path: str = "") -> Session:
    """The session as if it came from such a file of the agent that writes this format."""
    return replace(session, origin=replace(session.origin, format=format, path=path))


def compaction(tokens: int | None, reason: str = "auto") -> CompactionEntry:
    return CompactionEntry(
        id=f"compaction-{tokens}", parent=None, tokens_before=tokens, reason=reason
    )
