"""Opal's one stage: a summary, or two for a split turn, in the place of the older messages."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import ClassVar, Literal

from workbench.compaction.cut import CutRule
from workbench.compaction.file_lists import file_ops, listed, lists_in, without_lists
from workbench.compaction.place import swapped
from workbench.compaction.plan import Draft, Plan, Replace
from workbench.compaction.presets.opal import wording
from workbench.compaction.presets.opal.cut import OpalCut
from workbench.compaction.presets.swap import LEAST, Matter, bound, clipped, list_chars, matter, stated
from workbench.compaction.prompt_template import prompt
from workbench.compaction.stage import Budget
from workbench.models.model import LazyText, Purpose, SummaryRequest
from workbench.transcript.context import Context
from workbench.transcript.files import FileOps
from workbench.transcript.message import Message, Summary, Text, UserMessage
from workbench.transcript.tokens import TokenCounter


@dataclass(frozen=True, slots=True)
class OpalCompact:
    """Summarises what lies before Opal's cut.

    Attributes:
        cut: where.
        strategy: `truncate` asks no model and only counts what was left out, as Opal does where it has none.
    """

    cut: CutRule = field(default_factory=OpalCut)
    strategy: Literal["summarize", "truncate"] = "summarize"
    name: ClassVar[str] = "opal_compact"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """The draft and what it replaces; None where nothing new lies before the cut, or a summary would be larger."""
        cut = self.cut.find(context, budget)
        if cut is None:
            return None
        given = recognised(matter(context, cut))
        if not given.new:
            return None
        files = file_ops([*given.earlier, *given.new])
        chars = list_chars(context, budget)
        frame = context.count(_draft(given, files, (), chars).frame()) + 2
        most = bound(context, budget, given.gone, frame)
        if most < LEAST:
            return None
        requests = () if self.strategy == "truncate" else tuple(_requests(context, budget, given, files, most))
        draft = _draft(given, files, requests, chars)
        if not requests:
            draft = replace(draft, template=_stand_in(given.new, without_lists(given.previous), most, context.count))
        return Plan(swapped(context.messages, given.gone, draft), then=partial(finished, given.ids, chars))


def _draft(given: Matter, files: FileOps, requests: tuple[SummaryRequest, ...], chars: int | None) -> Draft:
    template = "{0}"
    if given.prefix and not (given.earlier and not given.history):
        template = wording.BOTH if given.history else wording.TURN_ONLY
    return Draft(
        requests=requests,
        template=template,
        lead=wording.HEADER + "\n\n",
        footer="" if requests else listed(files, chars),
        replaces=given.ids,
        files=files,
    )


def recognised(given: Matter) -> Matter:
    """The same, with a first message that is a summary in the guise of a user message known as what it is."""
    said = given.history or given.prefix
    text = wording.earlier_text(said[0]) if said else None
    if given.earlier or text is None:
        return given
    summary = Summary(id=said[0].id, text=text, replaces=(said[0].id,), files=lists_in(text))
    if given.history:
        return replace(given, earlier=(summary,), history=given.history[1:])
    return replace(given, earlier=(summary,), prefix=given.prefix[1:])


def _requests(context: Context, budget: Budget, given: Matter, files: FileOps, most: int) -> Iterable[SummaryRequest]:
    """One request, or two where a turn is split: the earlier summary goes with the first."""
    request = partial(_request, context, budget, given.gone, files)
    if given.split:
        history = sum(map(context.count, given.history))
        prefix = sum(map(context.count, given.prefix))
        first = int(most * min(max(history / max(history + prefix, 1), 0.25), 0.75))
        yield request("update" if given.earlier else "summary", given.history, given.previous, first)
        yield request("turn_prefix", given.prefix, "", most - first)
    elif given.prefix and not given.earlier:
        yield request("turn_prefix", given.prefix, "", most)
    else:
        yield request("update" if given.earlier else "summary", given.new, given.previous, most)


def _request(
    context: Context, budget: Budget, gone: tuple[int, ...], files: FileOps, purpose: Purpose,
    said: tuple[Message, ...], previous: str, most: int,
) -> SummaryRequest:  # fmt: skip
    previous = without_lists(previous)
    return SummaryRequest(
        purpose=purpose,
        system=prompt("system"),
        write=wording.Letter(purpose, said, previous, budget.instructions),
        messages=said,
        previous=previous,
        instructions=budget.instructions if purpose != "turn_prefix" else "",
        sections=wording.sections(),
        files=files,
        max_tokens=stated(most, context, budget, gone),
        otherwise=LazyText(_stand_in, (said, previous, most, context.count)),
        count=context.count,
    )


def _stand_in(said: tuple[Message, ...], previous: str, most: int, count: TokenCounter) -> str:
    """The truncation text, below what the earlier summary said as far as that fits: one failure loses no history."""
    note = wording.truncation(said)
    if not previous:
        return note
    kept = clipped(previous, most - count(UserMessage(id="", blocks=(Text("\n\n" + note),))), count)
    return f"{kept}\n\n{note}" if kept else note


def finished(ids: tuple[str, ...], chars: int | None, edited: Context) -> Plan | None:
    """The summary with the file lists of the record in the place of those that the model wrote."""
    for i, message in enumerate(edited.messages):
        if isinstance(message, Summary) and message.replaces == ids:
            text = without_lists(message.text) + listed(message.files, chars)
            return None if text == message.text else Plan((Replace(i, i + 1, (replace(message, text=text),)),))
    return None
