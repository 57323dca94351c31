"""The DDx agent's one stage: the summary comes last, and what the user said before the cut is sent again."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

from workbench.compaction.clip import boundary
from workbench.compaction.plan import Draft, Plan, Replace
from workbench.compaction.presets.ddx_agent import wording
from workbench.compaction.presets.ddx_agent.config import Config
from workbench.compaction.presets.ddx_agent.counting import first_bytes, role, text_tokens
from workbench.compaction.presets.ddx_agent.cut import CompactionNoFit, Fit, fitted
from workbench.compaction.presets.file_lists import listed, without_lists
from workbench.compaction.prompt_template import prompt
from workbench.compaction.stage import Budget
from workbench.models.model import SummaryRequest
from workbench.transcript.context import Context
from workbench.transcript.files import FileOps
from workbench.transcript.message import Message, Summary, Text, UserMessage, plain_text, said_texts

LEAST = 64
"""Tokens under which no model can be asked to say anything; an error is then the same as an empty answer."""


@dataclass(frozen=True, slots=True)
class CompactionResult:
    """What one pass did: the summary with its file lists, sizes in tokens, and a warning for the user."""

    summary: str
    file_ops: FileOps
    tokens_before: int
    tokens_after: int
    cut_index: int
    messages_kept: int
    warning: str = wording.WARNING


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
    drops: list[Replace] = []
    for i in fit.gone:
        if drops and drops[-1].stop == i:
            drops[-1] = Replace(drops[-1].start, i + 1)
        else:
            drops.append(Replace(i, i + 1))
    before = [id for summary in fit.earlier for id in summary.replaces]
    draft = Draft(
        requests=(_request(context, fit, budget, config),),
        lead=wording.PREFIX,
        tail=wording.SUFFIX,
        replaces=tuple(dict.fromkeys([*before, *(message.id for message in fit.said)])),
        files=fit.files,
    )
    n = len(context.messages)
    return Plan((*drops, Replace(n, n, (draft,))), then=partial(_finished, context, fit, config))


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
    summary = _cut_to_room(draft, fit, edited)
    space = fit.effective - fit.beside - edited.count(summary)
    tail = _tail(whole, fit, min(config.user_message_tail_tokens, space))
    gone = set(fit.gone)
    stays = [(i, message) for i, message in enumerate(whole.messages[: fit.keep]) if i not in gone]
    front = tuple(message for _, message in sorted([*tail, *stays], key=lambda pair: pair[0]))
    return Plan((Replace(0, len(stays), front), Replace(n - 1, n, (summary,))))


def _cut_to_room(draft: Summary, fit: Fit, edited: Context) -> Summary:
    lists = listed(fit.files, fit.chars)
    text = first_bytes(wording.body(draft.text), fit.body * 4)
    summary = replace(draft, text=text + lists)
    room = fit.effective - fit.beside
    while text and (size := edited.count(summary)) > room:
        text = text[: boundary(text, min(len(text) * max(room, 1) // size, len(text) - 1))]
        summary = replace(draft, text=text + lists)
    return summary


def _tail(whole: Context, fit: Fit, budget: int) -> list[tuple[int, Message]]:
    """The newest user messages that fit; the first that does not is cut to what is left, and ends the list."""
    found: list[tuple[int, Message]] = []
    for i in reversed(fit.tail):
        message, size = whole.messages[i], whole.sizes[i]
        if size <= budget:
            found.append((i, message))
            budget -= size
            continue
        short = _shortened(message, budget, whole)
        if short is not None:
            found.append((i, short))
        break
    return found


def _shortened(message: Message, budget: int, whole: Context) -> Message | None:
    assert isinstance(message, UserMessage)
    text = first_bytes(plain_text(message), (budget - text_tokens(role(message))) * 4)
    while text.strip():
        short = replace(message, blocks=(Text(text),))
        size = whole.count(short)
        if size <= budget:
            return short
        text = text[: boundary(text, min(len(text) * max(budget, 0) // size, len(text) - 1))]
    return None


def result(before: Context, after: Context, fit: Fit) -> CompactionResult:
    """What a pass did, from the context before and after it."""
    summary = next(message for message in reversed(after.messages) if isinstance(message, Summary))
    kept = len(before.messages) - fit.keep - sum(i >= fit.keep for i in fit.gone)
    return CompactionResult(summary.text, fit.files, before.tokens, after.tokens, fit.cut, kept)
