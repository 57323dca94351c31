"""Operator-Use's one stage, and what it asks a model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import ClassVar

from workbench.compaction.file_lists import file_ops, listed, without_lists
from workbench.compaction.place import swapped
from workbench.compaction.plan import Draft, Plan
from workbench.compaction.presets.operator_use import wording
from workbench.compaction.presets.operator_use.cut import OperatorCut
from workbench.compaction.presets.operator_use.settings import OperatorSettings
from workbench.compaction.presets.swap import Matter, bound, clipped, list_chars, matter, stated
from workbench.compaction.prompt_template import prompt
from workbench.compaction.stage import Budget
from workbench.models.model import LazyText, Purpose, SummaryRequest
from workbench.transcript.context import Context
from workbench.transcript.files import FileOps
from workbench.transcript.message import Message, said_texts
from workbench.transcript.tokens import TokenCounter, chars_per_token

LEAST = 128
"""Tokens of a summary under which it is not worth asking for one."""

FEW = 4
FEW_CHARS = 600
"""What can stand for itself: a few messages of a few words."""


@dataclass(frozen=True, slots=True)
class Said:
    """What the requests are made of; `chars` is what the paths in the file lists may take."""

    history: tuple[Message, ...]
    prefix: tuple[Message, ...]
    previous: str
    files: FileOps
    chars: int | None = None


def template_for(said: Said) -> str:
    """How the answers become the summary."""
    if said.history and said.prefix:
        return wording.BOTH
    return wording.TURN_ONLY if said.prefix and not said.previous else "{0}"


def requests_for(
    said: Said, instructions: str, count: TokenCounter = chars_per_token, most: int | None = None
) -> tuple[SummaryRequest, ...]:
    """One request, or two for a split turn."""
    first: Purpose = "update" if said.previous else "summary"
    request = partial(_request, said.files, count)
    if said.history and said.prefix:
        shares = (None, None) if most is None else (most * 2 // 3, most // 3)
        return (
            request(shares[0], first, said.history, said.previous, instructions),
            request(shares[1], "turn_prefix", said.prefix),
        )
    if said.prefix and not said.previous:
        return (request(most, "turn_prefix", said.prefix),)
    return (request(most, first, said.history + said.prefix, said.previous, instructions),)


def _request(
    files: FileOps, count: TokenCounter, most: int | None, purpose: Purpose, said: tuple[Message, ...],
    previous: str = "", instructions: str = "",
) -> SummaryRequest:  # fmt: skip
    previous = without_lists(previous)
    return SummaryRequest(
        purpose=purpose,
        system=prompt("system"),
        write=wording.Letter(purpose, said, previous, instructions),
        messages=said,
        previous=previous,
        instructions=instructions,
        sections=tuple(heading for heading, _ in wording.headings(purpose)),
        files=files,
        max_tokens=most,
        otherwise=LazyText(_stand_in, (said, most, count)),
        count=count,
    )


def _stand_in(said: tuple[Message, ...], most: int | None, count: TokenCounter) -> str | None:
    """What stands in for a model that fails: the words themselves where they are few, the newest where room is small.

    None everywhere else, where a failure is an error.
    """
    if most is not None:
        return clipped(wording.serialised(said[-2:]), most, count) or None
    words = wording.serialised(said) if len(said) <= FEW else ""
    return words if 0 < len(words) <= FEW_CHARS else None


@dataclass(frozen=True, slots=True)
class OperatorCompact:
    """Both steps at once, on a context instead of a log.

    Attributes:
        settings: says what the settings are now.
    """

    settings: Callable[[], OperatorSettings] = field(default=OperatorSettings)
    name: ClassVar[str] = "operator_compact"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """The draft and what it replaces; None where there is nothing new, or a summary would be larger."""
        cut = OperatorCut(self.settings).find(context, budget)
        if cut is None:
            return None
        given = matter(context, cut)
        if not any(text.strip() for message in given.new for text in said_texts(message)):
            return None
        files = wording.in_order(file_ops([*given.earlier, *given.new]))
        said = Said(given.history, given.prefix, given.previous, files, list_chars(context, budget))
        frame = context.count(_draft(given, said, ()).frame()) + 2
        most = bound(context, budget, given.gone, frame, LEAST)
        if most < LEAST:
            return None
        if most < 4 * LEAST:
            said = replace(said, history=said.history + said.prefix, prefix=())
        questions = requests_for(said, budget.instructions, context.count, stated(most, context, budget, given.gone))
        return Plan(swapped(context.messages, given.gone, _draft(given, said, questions)))


def _draft(given: Matter, said: Said, questions: tuple[SummaryRequest, ...]) -> Draft:
    return Draft(
        requests=questions,
        template=template_for(said),
        lead=wording.LEAD,
        footer=listed(said.files, said.chars),
        replaces=given.ids,
        files=said.files,
        at_once=True,
    )
