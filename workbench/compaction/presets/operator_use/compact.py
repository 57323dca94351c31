"""The second step of a compaction: the requests, and the result that their answers make; and both steps as a stage."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import ClassVar

from workbench.compaction.place import swapped
from workbench.compaction.plan import Draft, Plan
from workbench.compaction.presets.file_lists import listed, without_lists
from workbench.compaction.presets.operator_use import wording
from workbench.compaction.presets.operator_use.cut import OperatorCut
from workbench.compaction.presets.operator_use.preparing import Preparation
from workbench.compaction.presets.operator_use.settings import Settings
from workbench.compaction.presets.swap import Matter, bound, clipped, list_chars, matter, stated
from workbench.compaction.prompt_template import prompt
from workbench.compaction.stage import Budget
from workbench.compaction.tracking import file_ops
from workbench.errors import ModelError
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
class Details:
    """The files of everything summarised so far, sorted."""

    read_files: tuple[str, ...] = ()
    modified_files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Result:
    """A finished compaction, or one that a hook supplies.

    Attributes:
        summary: the model's text with the file footer.
        retained_from_id: the entry at which the retained tail begins.
        tokens_before: the context's size before.
    """

    summary: str
    retained_from_id: str
    tokens_before: int
    details: Details = Details()


def requests(prepared: Preparation, instructions: str = "") -> tuple[SummaryRequest, ...]:
    """One request, or two for a split turn that do not depend on each other and may be put at the same time.

    Args:
        prepared: the first step.
        instructions: what the summary of the history should dwell on; the turn's start is not told.
    """
    return _requests(_said(prepared), instructions)


def result(prepared: Preparation, answers: Sequence[str]) -> Result:
    """The compaction with these answers, one for each request.

    Raises:
        ValueError: there are more or fewer answers than requests.
    """
    wanted = len(requests(prepared))
    if len(answers) != wanted:
        raise ValueError(f"{wanted} requests but {len(answers)} answers")
    said = _said(prepared)
    draft = Draft(requests=requests(prepared), template=_template(said), footer=listed(prepared.file_ops))
    files = prepared.file_ops
    return Result(
        draft.written(answers).text, prepared.retained_from_id, prepared.tokens_before,
        Details(files.read, files.modified),
    )  # fmt: skip


def failed(why: str, *, turn_prefix: bool = False) -> ModelError:
    """The error for a model that stopped with an error of its own."""
    what = "Turn prefix summarization" if turn_prefix else "Summarization"
    return ModelError(f"{what} failed: {why.strip() or 'Unknown error'}")


@dataclass(frozen=True, slots=True)
class _Said:
    history: tuple[Message, ...]
    prefix: tuple[Message, ...]
    previous: str
    files: FileOps
    chars: int | None = None


def _said(prepared: Preparation) -> _Said:
    return _Said(
        prepared.messages_to_summarize, prepared.turn_prefix_messages, prepared.previous_summary or "",
        prepared.file_ops,
    )  # fmt: skip


def _template(said: _Said) -> str:
    if said.history and said.prefix:
        return wording.BOTH
    return wording.TURN_ONLY if said.prefix and not said.previous else "{0}"


def _requests(
    said: _Said, instructions: str, count: TokenCounter = chars_per_token, most: int | None = None
) -> tuple[SummaryRequest, ...]:
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

    settings: Callable[[], Settings] = field(default=Settings)
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
        said = _Said(given.history, given.prefix, given.previous, files, list_chars(context, budget))
        frame = context.count(_draft(given, said, ()).frame()) + 2
        most = bound(context, budget, given.gone, frame, LEAST)
        if most < LEAST:
            return None
        if most < 4 * LEAST:
            said = replace(said, history=said.history + said.prefix, prefix=())
        questions = _requests(said, budget.instructions, context.count, stated(most, context, budget, given.gone))
        return Plan(swapped(context.messages, given.gone, _draft(given, said, questions)))


def _draft(given: Matter, said: _Said, questions: tuple[SummaryRequest, ...]) -> Draft:
    return Draft(
        requests=questions,
        template=_template(said),
        lead=wording.LEAD,
        footer=listed(said.files, said.chars),
        replaces=given.ids,
        files=said.files,
        at_once=True,
    )
