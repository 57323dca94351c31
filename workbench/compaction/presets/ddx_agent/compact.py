"""What the DDx agent asks a model, and its one stage: the summary comes last, and the user's words are sent again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

from workbench.compaction.clip import boundary
from workbench.compaction.file_lists import listed, without_lists
from workbench.compaction.place import behind_all
from workbench.compaction.plan import Draft, Plan, Replace
from workbench.compaction.presets.ddx_agent.cut import PREFIX, SUFFIX, CompactionNoFit, Config, Fit, fitted
from workbench.compaction.presets.host import FixedCut, FixedSize
from workbench.compaction.presets.token_counters import byte_length, quarter_up, role_of
from workbench.compaction.prompt_template import PromptTemplate, harmless
from workbench.compaction.span_selection import Span, SummaryInput, SummaryTask
from workbench.compaction.stage import Budget
from workbench.compaction.stages.summarize import Summarize
from workbench.transcript.context import Context
from workbench.transcript.message import (
    AssistantMessage,
    Message,
    Summary,
    Text,
    ToolCall,
    ToolResult,
    UserMessage,
    plain_text,
)
from workbench.transcript.tokens import TokenCounter

NO_SUMMARY = "(no summary available)"
LEAST = 64
"""Tokens under which no model can be asked to say anything; an error is then the same as an empty answer."""


class DdxPrompt(PromptTemplate):
    """The DDx agent's form of a conversation, in which each call stands in one line with its result."""

    @property
    def opening(self) -> str:
        """The sentence and the tag above the summary."""
        return PREFIX

    @property
    def closing(self) -> str:
        """The tag below it."""
        return SUFFIX

    def transcript(self, messages: Sequence[Message], most_chars: int | None = None) -> str:
        """The messages as text."""
        results: dict[str, list[ToolResult]] = {}
        for message in messages:
            if isinstance(message, ToolResult):
                results.setdefault(message.call_id, []).append(message)
        return "\n".join(line for message in messages for line in _lines(message, results, self.result_chars))


def _lines(message: Message, results: dict[str, list[ToolResult]], most: int) -> Iterator[str]:
    words = plain_text(message)
    if isinstance(message, AssistantMessage):
        if words:
            yield f"[Assistant]: {harmless(words)}"
        for call in message.calls:
            answers = results.get(call.id)
            said = plain_text(answers.pop(0)) if answers else ""
            yield f"[Assistant → {harmless(_called(call))}]: {harmless(truncated(said, most))}"
    elif isinstance(message, ToolResult):
        left = results.get(message.call_id, [])
        if any(message is other for other in left):
            left.remove(message)
            yield f"[Tool Result]: {harmless(truncated(words, most))}"
    else:
        yield f"[{'System' if message.role == 'system' else 'User'}]: {harmless(words)}"


def _called(call: ToolCall) -> str:
    arguments = (f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in call.arguments.items())
    return f"{call.name}({', '.join(arguments)})"


def first_bytes(text: str, most: int) -> str:
    """As many whole characters as fit into that many bytes."""
    if byte_length(text) <= most:
        return text
    head = text.encode("utf-8", "surrogatepass")[: max(most, 0)].decode("utf-8", "ignore")
    return text[: boundary(text, len(head))]


def truncated(text: str, most: int) -> str:
    """The first `most` bytes of a tool result and a line that says how much is missing; all of it for 0 or less."""
    if most <= 0 or byte_length(text) <= most:
        return text
    head = first_bytes(text, most)
    return f"{head}\n[... {byte_length(text) - byte_length(head)} more characters truncated]"


@dataclass(frozen=True, slots=True)
class DdxCompact:
    """Summarises what lies before the first cut that leaves room."""

    config: Config = Config()  # noqa: RUF009  # frozen
    name: ClassVar[str] = "ddx_compact"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """The draft, and a second step for what depends on its length; None where nothing fits or nothing is to do."""
        config = self.config.at(budget.window)
        try:
            fit = fitted(context, budget, config)
        except CompactionNoFit:
            return None
        return None if fit is None else _summary(fit, config, len(context.messages)).plan(context, budget)


def _summary(fit: Fit, config: Config, n: int) -> Summarize:
    """The shared procedure for a cut that was found to fit, of n messages."""
    earlier = tuple(replace(summary, text=without_lists(summary.text)) for summary in fit.earlier)
    given = SummaryInput(earlier, fit.said, files=fit.files)
    return Summarize(
        cut=FixedCut(Span(fit.gone, n)),
        prompt=DdxPrompt(
            headings="ddx_headings",
            result_chars=config.max_tool_result_chars,
            focus=config.summarization_focus,
            focus_prompt="additional_focus",
            says_size=False,
            window_chars=None,
        ),
        limits=FixedSize(least=0, most=max(min(config.most_summary_tokens, fit.body), 1)),
        name=DdxCompact.name,
        file_lists="recorded",
        recognise=lambda context, _: given,
        place=behind_all,
        finish=partial(_finished, fit, config),
        fallback=no_summary,
        if_empty=NO_SUMMARY,
        model=config.summarizer,
    )


def no_summary(messages: Sequence[Message], previous: str, most: int, count: TokenCounter) -> str | None:
    """What stands in for a model that fails where it could not have said anything; elsewhere its error passes."""
    return NO_SUMMARY if most < LEAST else None


def _finished(fit: Fit, config: Config, task: SummaryTask, draft: Draft, edited: Context, at: int) -> Plan:
    """The summary cut to its room, and the newest words of the user that fit beside it, in the order they were said."""
    whole, written = task.context, edited.messages[at]
    assert isinstance(written, Summary)
    made = partial(_listing, written, listed(fit.files, fit.chars))
    text = first_bytes(without_lists(written.text.strip()) or NO_SUMMARY, fit.body * 4)
    summary = made(_fitting(text, fit.room, made, edited.count))
    tail = _tail(whole, fit, min(config.user_message_tail_tokens, fit.room - edited.count(summary)))
    gone = set(fit.gone)
    stays = {i: message for i, message in enumerate(whole.messages[: fit.keep]) if i not in gone}
    front = tuple(message for _, message in sorted({**stays, **tail}.items()))
    return Plan((Replace(0, len(stays), front), Replace(at, at + 1, (summary,))))


def _listing(summary: Summary, lists: str, text: str) -> Summary:
    return replace(summary, text=text + lists)


def _tail(whole: Context, fit: Fit, budget: int) -> dict[int, Message]:
    """The newest user messages that fit; the first that does not is cut to what is left, and ends the list."""
    found: dict[int, Message] = {}
    for i in reversed(fit.tail):
        message, size = whole.messages[i], whole.sizes[i]
        if size > budget:
            text = first_bytes(plain_text(message), (budget - quarter_up(role_of(message))) * 4)
            text = _fitting(text, budget, partial(_saying, message), whole.count)
            return {**found, i: _saying(message, text)} if text.strip() else found
        found[i] = message
        budget -= size
    return found


def _saying(message: Message, text: str) -> Message:
    assert isinstance(message, UserMessage)
    return replace(message, blocks=(Text(text),))


def _fitting(text: str, room: int, made: Callable[[str], Message], count: TokenCounter) -> str:
    """As much of a text's beginning as leaves the message with it at most `room` tokens; empty where nothing does."""
    while text and (size := count(made(text))) > room:
        text = text[: boundary(text, min(len(text) * max(room, 0) // size, len(text) - 1))]
    return text
