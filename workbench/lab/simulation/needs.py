"""What recorded actions need of the history before them, whether a context tells it, and which call
would.

An agent can look up again the results of calls that only look, and what it wrote to files itself.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal, TypeAlias

import numpy as np

from workbench.base.errors import Unanswered
from workbench.base.ragged import Ints
from workbench.engine.extraction.entities import Kind
from workbench.engine.transcript.context import answered
from workbench.engine.transcript.files import OLD_KEYS, PATH_KEYS, touched
from workbench.engine.transcript.message import (
    AssistantMessage,
    SaidBlock,
    SystemMessage,
    Text,
    ToolCall,
    ToolResult,
    argument_texts,
    is_real_user,
)
from workbench.engine.transcript.session import Session
from workbench.evaluation.experiment.prepared import Prepared
from workbench.evaluation.metrics.exam.exams import BoundaryExam, Exams
from workbench.evaluation.metrics.exam.facts import MOST_LINES, Use, item_of, uses
from workbench.evaluation.metrics.exam.history import ExamHistory
from workbench.evaluation.metrics.exam.item import Item
from workbench.evaluation.metrics.sources import sources
from workbench.evaluation.metrics.view import View
from workbench.evaluation.replays.sizing import Sizing
from workbench.lab.judge.exam.readers import ModelReader

TOLD = 0.5
"""The reader's credit above which a context tells a thing."""
Origin: TypeAlias = Literal["user", "decision", "result"]
"""Who said what no call brings back: the user, the agent itself, or a result of then."""
READ = "read_file"
"""The call that reads what the agent wrote to a file; recordings seldom have it."""
Texts: TypeAlias = Callable[[], str]
"""A context as the text that a model is shown; made only where a model reads it."""


@dataclass(frozen=True, slots=True)
class Look:
    """A call that gives something of the history again.

    Attributes:
        source: index of the recorded message that holds what it gives.
        tokens: of the call, and of its result.
    """

    source: int
    call: ToolCall
    blocks: tuple[SaidBlock, ...]
    tokens: tuple[int, int]


@dataclass(frozen=True, slots=True, eq=False)
class NeededThing:
    """A thing of the history that an action uses.

    Attributes:
        at: the action, as the index of its message.
        evidence: the line of the history that tells it, as its number there; `said_at` is the
            newest message before the action that says it.
        exam: its question; None where none can be made, since fewer than three names could be
            mistaken for it or the whole history does not answer it. It then counts as told where
            the context names it.
    """

    name: str
    kind: Kind
    at: int
    evidence: int
    said_at: int
    origin: Origin
    look: Look | None
    lines: Ints
    exam: BoundaryExam | None

    @property
    def item(self) -> Item | None:
        """Its question, where there is one."""
        return self.exam.items[0] if self.exam else None


class Needs:
    """The things that each action of a session needs; each is found once, whatever the strategy.

    Args:
        ready: the session.
        reader: a model that says whether a context tells a thing; None: the lexical reader.
    """

    def __init__(self, ready: Prepared, reader: ModelReader | None = None) -> None:
        self.history: ExamHistory = Exams.of(ready.index).history
        self._looks = looks_of(ready.session, ready.sizing)
        self._is_look = np.isin(np.arange(len(self.history.messages)), list(self._looks))
        self._reader = reader
        self.uses = cache(self._uses)
        self.thing = cache(self._thing)

    def _uses(self, at: int) -> tuple[Use, ...]:
        """The names of the history that the action `messages[at]` uses."""
        return tuple(uses(self.history, at, self.history.before(at), horizon=1))

    def old(self, at: int, boundary: int) -> bool:
        """Whether an action uses something that was last told before a boundary."""
        newest = self.history.before(at).newest
        return any(newest[use.evidence] < boundary for use in self.uses(at))

    def missing(self, at: int, seen: View, text: Texts, but: set[str]) -> NeededThing | None:
        """The first thing that an action uses and a context does not tell.

        Where the context has the very line that tells it, nobody is asked. A model is asked for all
        things of the action together, since it reads the context for each request.

        Args:
            at: the action.
            seen: what the context holds.
            text: the same as text.
            but: names that need no answer; those that are told are added.
        """
        uses_now = self.uses(at)
        held = self.history.held(seen) if uses_now else ()
        asked = [
            use
            for use in uses_now
            if self.history.names[use.name].text not in but and not held[use.evidence]
        ]
        told = (
            {}
            if self._reader is None
            else self._told(self._reader, [self.thing(at, use) for use in asked], text)
        )
        but.update(thing.name for thing, is_told in told.items() if is_told)
        for use in uses_now:
            name = self.history.names[use.name].text
            if name in but:
                continue
            if not held[use.evidence] and not self._tells(self.thing(at, use), seen, told):
                return self.thing(at, use)
            but.add(name)
        return None

    def _told(
        self, reader: ModelReader, things: Iterable[NeededThing], text: Texts
    ) -> Mapping[NeededThing, bool]:
        """Whether a reader of a context finds each of the things about which there is a question.

        Raises:
            Unanswered: it did not answer one of them.
        """
        with_question = [(thing, thing.item) for thing in things if thing.item is not None]
        if not with_question:
            return {}
        answers = reader.sit([item for _, item in with_question], text())
        told: dict[NeededThing, bool] = {}
        for (thing, _), answer in zip(with_question, answers, strict=True):
            if np.isnan(answer.credit):
                raise Unanswered(f"a question about {thing.name!r} has no answer: {answer.why}")
            told[thing] = answer.credit > TOLD
        return told

    def _tells(self, thing: NeededThing, seen: View, told: Mapping[NeededThing, bool]) -> bool:
        """Whether a context tells a thing: as a reader said, by its name, or as the lexical
        reader finds.
        """
        if thing in told:
            return told[thing]
        if thing.exam is None:
            named = thing.name.lower()
            return bool(self.history.held(seen)[thing.lines].any()) or any(
                named in new.lower() for new in seen.texts
            )
        return bool(thing.exam.credit(seen)[0] > TOLD)

    def _thing(self, at: int, use: Use) -> NeededThing:
        history = self.history
        past = history.before(at)
        entity = history.names[use.name]
        item = item_of(history, use, past)
        exam = BoundaryExam(history, at, (item,)) if item else None
        exam = exam if exam and exam.items else None
        lines = history.lines_with(use.name, past.newest)[-MOST_LINES:]
        said_at = int(past.newest[use.evidence])
        look = self._look(at, use, lines, exam)
        return NeededThing(
            entity.text,
            entity.kind,
            at,
            use.evidence,
            said_at,
            self._origin(said_at),
            look,
            lines,
            exam,
        )

    def _origin(self, at: int) -> Origin:
        message = self.history.messages[at]
        if is_real_user(message) or isinstance(message, SystemMessage):
            return "user"
        return "decision" if isinstance(message, AssistantMessage) else "result"

    def _look(self, at: int, use: Use, lines: Ints, exam: BoundaryExam | None) -> Look | None:
        """The newest call before the action that only looks and whose result tells the thing."""
        history = self.history
        told = (
            [[True] for _ in lines]
            if exam is None
            else exam.answered_by([history.texts[line] for line in lines])
        )
        telling = [
            line for line, answered in zip(lines.tolist(), told, strict=True) if answered[0]
        ] + [use.evidence]
        before = np.isin(history.place_line, telling) & (history.place_message < at)
        messages = history.place_message[before]
        found = messages[self._is_look[messages]]
        return self._looks[int(found.max())] if len(found) else None


def exchange(
    number: int, call: ToolCall, blocks: tuple[SaidBlock, ...]
) -> tuple[AssistantMessage, ToolResult]:
    """A call that the recording does not have here, and its result."""
    name = f"look-up-{number}"
    made = replace(call, id=f"{name}-call")
    result = ToolResult(id=f"{name}-result", call_id=made.id, name=call.name, blocks=blocks)
    return AssistantMessage(id=name, blocks=(made,)), result


def looks_of(session: Session, sizing: Sizing) -> Mapping[int, Look]:
    """By message, the call that would give again what it holds."""
    calls, kinds = answered(session.messages), sources(session.messages)
    found: dict[int, Look] = {}
    for at, message in enumerate(session.messages):
        if isinstance(message, AssistantMessage):
            made = list(_written(message))
        else:
            made = (
                [(calls[at][1], message.blocks)]
                if kinds[at] == "repeatable" and at in calls
                else []
            )
        if made:
            call, blocks = made[-1]
            asked, result = exchange(0, call, blocks)
            size = sizing.sizes[at] if isinstance(message, ToolResult) else sizing.count(result)
            found[at] = Look(at, call, blocks, (sizing.count(asked), size))
    return found


def _written(message: AssistantMessage) -> Iterator[tuple[ToolCall, tuple[SaidBlock, ...]]]:
    """What a message wrote to files, each with the call that would read it."""
    for call in message.calls:
        for path in touched(call.name, call.arguments).modified[:1]:
            new = {
                name: value
                for name, value in call.arguments.items()
                if name not in (*OLD_KEYS, *PATH_KEYS)
            }
            yield ToolCall(call.id, READ, {"path": path}), (Text("\n".join(argument_texts(new))),)
