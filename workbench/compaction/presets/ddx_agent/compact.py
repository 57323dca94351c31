"""The DDx agent's one stage: the summary comes last, and what the user said before the cut is sent again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

from workbench.compaction.clip import boundary
from workbench.compaction.file_lists import listed, without_lists
from workbench.compaction.place import exchanged
from workbench.compaction.plan import Draft, Plan, Replace
from workbench.compaction.presets.ddx_agent import wording
from workbench.compaction.presets.ddx_agent.config import Config
from workbench.compaction.presets.ddx_agent.cut import CompactionNoFit, Fit, fitted
from workbench.compaction.presets.token_counters import quarter_up, role_of
from workbench.compaction.prompt_template import prompt
from workbench.compaction.stage import Budget
from workbench.models.model import SummaryRequest
from workbench.transcript.context import Context
from workbench.transcript.message import Message, Summary, Text, UserMessage, plain_text, said_texts
from workbench.transcript.tokens import TokenCounter

LEAST = 64
"""Tokens under which no model can be asked to say anything; an error is then the same as an empty answer."""


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
        return None if fit is None else planned(context, fit, budget, config)


def planned(context: Context, fit: Fit, budget: Budget, config: Config) -> Plan | None:
    """The plan for a cut that was found to fit; None where what it gives up says nothing at all."""
    if not any(text.strip() for message in fit.said for text in said_texts(message)):
        return None
    before = [id for summary in fit.earlier for id in summary.replaces]
    draft = Draft(
        requests=(_request(context, fit, budget, config),),
        lead=wording.PREFIX,
        tail=wording.SUFFIX,
        replaces=tuple(dict.fromkeys([*before, *(message.id for message in fit.said)])),
        files=fit.files,
    )
    n = len(context.messages)
    return Plan(exchanged(fit.gone, n, draft), then=partial(_finished, context, fit, config))


def _request(context: Context, fit: Fit, budget: Budget, config: Config) -> SummaryRequest:
    previous = without_lists("\n\n".join(summary.text for summary in fit.earlier))
    focus = "\n".join(part for part in (config.summarization_focus, budget.instructions) if part)
    most = max(min(config.most_summary_tokens, fit.body), 1)
    return SummaryRequest(
        purpose="update" if previous else "summary",
        system=prompt("system"),
        write=wording.Letter(
            "update" if previous else "summary", fit.said, config.max_tool_result_chars, previous, focus
        ),
        messages=fit.said,
        previous=previous,
        instructions=focus,
        sections=tuple(heading for heading, _ in wording.headings()),
        files=fit.files,
        max_tokens=most,
        if_empty=wording.NO_SUMMARY,
        otherwise=wording.NO_SUMMARY if most < LEAST else None,
        count=context.count,
        model=config.summarizer,
    )


def _finished(whole: Context, fit: Fit, config: Config, edited: Context) -> Plan:
    """The summary cut to its room, and the newest words of the user that fit beside it, in the order they were said."""
    n = len(edited.messages)
    draft = edited.messages[n - 1]
    assert isinstance(draft, Summary)
    lists = listed(fit.files, fit.chars)
    text = wording.first_bytes(wording.body(draft.text), fit.body * 4)
    text = _fitting(text, fit.room, lambda text: replace(draft, text=text + lists), edited.count)
    summary = replace(draft, text=text + lists)
    tail = _tail(whole, fit, min(config.user_message_tail_tokens, fit.room - edited.count(summary)))
    stays = {i: message for i, message in enumerate(whole.messages[: fit.keep]) if i not in set(fit.gone)}
    front = tuple(message for _, message in sorted({**stays, **tail}.items()))
    return Plan((Replace(0, len(stays), front), Replace(n - 1, n, (summary,))))


def _tail(whole: Context, fit: Fit, budget: int) -> dict[int, Message]:
    """The newest user messages that fit; the first that does not is cut to what is left, and ends the list."""
    found: dict[int, Message] = {}
    for i in reversed(fit.tail):
        message, size = whole.messages[i], whole.sizes[i]
        if size > budget:
            text = wording.first_bytes(plain_text(message), (budget - quarter_up(role_of(message))) * 4)
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
