"""Puts a model's summary in the place of the older messages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from workbench.compaction.clip import shortened
from workbench.compaction.cut import Cut, CutRule, KeepRecent
from workbench.compaction.pins import Pins
from workbench.compaction.place import swapped
from workbench.compaction.plan import Draft, Plan
from workbench.compaction.prompt_template import Prompt, PromptTemplate
from workbench.compaction.stage import Budget
from workbench.compaction.tracking import file_ops, footer
from workbench.models.model import LazyText, Purpose, SummaryRequest
from workbench.transcript.context import Context
from workbench.transcript.files import FileOps
from workbench.transcript.message import Message, Summary, Text, UserMessage, plain_text


@dataclass(frozen=True, slots=True)
class Summarize:
    """Asks a model for a summary of what lies before the cut; what is pinned there survives beside it.

    An earlier summary in that part is carried on: the model gets its text and the messages that came after it. The
    start of a turn that goes on is summarised apart. The summary stands where the first message that it replaces
    stood, and may take what the target leaves after all that stays.

    Attributes:
        cut: where the kept part begins.
        wording: what a language model is told.
        track_files: whether lists of the files read and changed so far are sent below the summary.
        degrade: whether a note of what was left out stands in when the model fails; else its error passes.
        least, most: tokens of the summary; with less than `least` left it is not worth asking.
        input_share: the part of the window that the transcript may fill in a language model's prompt.
        pins: what stays besides.

    Source:
        The procedure of Opal's `session/compaction.ex`, restated; the file lists are written by code.
    """

    cut: CutRule = KeepRecent()
    wording: PromptTemplate = PromptTemplate()
    track_files: bool = True
    degrade: bool = True
    least: int = 48
    most: int = 16_000
    input_share: float = 0.7
    pins: Pins = Pins()
    name: ClassVar[str] = "summarize"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        """The summary's draft and what it replaces; None where nothing new lies before the cut, or no room is left."""
        cut = self.cut.find(context, budget)
        if cut is None:
            return None
        held = self.pins.held(context, budget)
        gone = [i for i in range(cut.keep) if i not in held]
        matter = _matter(context, gone, cut)
        if not matter.messages:
            return None
        freed = sum(context.sizes[i] for i in gone)
        left = budget.target - context.tokens + freed
        empty = self._draft(matter, max(left, self.least))
        frame = context.count(empty.frame()) + 2
        allowed = min(left - frame if left >= 0 else self.least, self.most, freed - frame - 1)
        if allowed < self.least:
            return None
        requests = tuple(self._requests(context, budget, matter, allowed))
        template = empty.template if len(requests) == 2 else "{0}"
        return Plan(swapped(context.messages, gone, replace(empty, requests=requests, template=template)))

    def _draft(self, matter: _Matter, left: int) -> Draft:
        """The draft without its questions, in its longest form."""
        return Draft(
            requests=(),
            template=self.wording.joined if matter.split else "{0}",
            lead=self.wording.opening,
            tail=footer(matter.files, chars=left // 2) if self.track_files else "",
            replaces=matter.ids,
            files=matter.files if self.track_files else FileOps(),
            at_once=True,
        )

    def _requests(self, context: Context, budget: Budget, matter: _Matter, allowed: int) -> Iterable[SummaryRequest]:
        if not matter.split or allowed < 4 * self.least:
            yield self._request(context, budget, matter, matter.purpose, matter.messages, allowed)
            return
        first = int(allowed * min(max(matter.share, 0.25), 0.75))
        yield self._request(context, budget, matter, matter.purpose, matter.history, first)
        yield self._request(context, budget, matter, "turn_prefix", matter.prefix, allowed - first)

    def _request(
        self, context: Context, budget: Budget, matter: _Matter, purpose: Purpose, said: tuple[Message, ...], most: int
    ) -> SummaryRequest:
        previous = matter.previous if purpose == "update" else ""
        letter = Prompt(
            self.wording,
            purpose,
            said,
            previous,
            budget.instructions,
            most,
            most_chars=int(3 * self.input_share * budget.window) if budget.window > 0 else None,
        )
        return SummaryRequest(
            purpose=purpose,
            system=self.wording.system,
            write=letter,
            messages=said,
            previous=previous,
            instructions=budget.instructions,
            sections=self.wording.sections if purpose != "turn_prefix" else (),
            files=matter.files,
            max_tokens=most,
            otherwise=LazyText(_otherwise, (context, said, previous, most)) if self.degrade else None,
            count=context.count,
        )


@dataclass(frozen=True, slots=True)
class _Matter:
    """What is to be summarised: earlier summaries, the messages of whole turns, and the start of a split one.

    Attributes:
        files: what all of them did to files.
        share: the part of the new messages' tokens that is in whole turns, in [0, 1].
    """

    earlier: tuple[Summary, ...]
    history: tuple[Message, ...]
    prefix: tuple[Message, ...]
    files: FileOps
    share: float

    @property
    def messages(self) -> tuple[Message, ...]:
        return self.history + self.prefix

    @property
    def split(self) -> bool:
        return bool(self.history and self.prefix)

    @property
    def previous(self) -> str:
        return "\n\n".join(summary.text for summary in self.earlier)

    @property
    def purpose(self) -> Purpose:
        return "update" if self.earlier else "summary"

    @property
    def ids(self) -> tuple[str, ...]:
        """The messages that the summary stands for; those of an earlier one among them."""
        before = [id for summary in self.earlier for id in summary.replaces]
        return tuple(dict.fromkeys([*before, *(message.id for message in self.messages)]))


def _matter(context: Context, gone: Sequence[int], cut: Cut) -> _Matter:
    said = context.messages
    earlier = tuple(message for i in gone if isinstance(message := said[i], Summary))
    new = [i for i in gone if not isinstance(said[i], Summary)]
    history = [i for i in new if i < cut.history]
    tokens = sum(context.sizes[i] for i in new)
    return _Matter(
        earlier,
        tuple(said[i] for i in history),
        tuple(said[i] for i in new[len(history) :]),
        file_ops(said[i] for i in gone),
        sum(context.sizes[i] for i in history) / max(tokens, 1),
    )


def _otherwise(context: Context, messages: Sequence[Message], previous: str, most: int) -> str:
    """What stands in when the model fails: the earlier summary, and how many messages of which kind were left out."""
    roles = Counter(message.role for message in messages)
    counts = ", ".join(f"{n} {role}" for role, n in sorted(roles.items()))
    note = f"[Compacted {len(messages)} messages: {counts}]"
    if not previous:
        return note
    whole = Summary(id="", text=previous)
    room = most - context.count(UserMessage(id="", blocks=(Text(note + "\n\n"),)))
    kept = shortened(whole, room, context.count(whole), context.count) if room > 0 else None
    return note if kept is None else f"{plain_text(kept)}\n\n{note}"
