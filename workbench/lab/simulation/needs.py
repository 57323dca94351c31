"""What recorded actions need of the history before them, whether a context tells it, and which call
would.

An agent can look up again the results of calls that only look, and what it wrote to files itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
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

    @classmethod
    def of(cls, prepared: Prepared, reader: ModelReader | None = None) -> Needs:
        """Those of a session; with the lexical reader they are found once."""
        if reader is not None:
            return cls(prepared, reader)
        needs = prepared.index.needs
        if not isinstance(needs, cls):
            needs = cls(prepared)
            prepared.index.needs = needs
        return needs

    def __init__(self, prepared: Prepared, reader: ModelReader | None = None) -> None:
        self.history: ExamHistory = Exams.of(prepared.index).history
        self._looks = looks_of(prepared.session, prepared.sizing)
        self._is_look = np.isin(np.arange(len(self.history.messages)), list(self._looks))
        self._reader = reader
        self.uses = cache(self._uses)
        self.thing = cache(self._used_thing)

    def _uses(self, action: int) -> tuple[Use, ...]:
        """The names of the history that the action `messages[at]` uses."""
        return tuple(uses(self.history, action, self.history.before(action), horizon=1))

    def old(self, action: int, boundary: int) -> bool:
        """Whether an action uses something that was last told before a boundary."""
        newest = self.history.before(action).newest
        return any(newest[use.evidence] < boundary for use in self.uses(action))

    def _name(self, use: Use) -> str:
        return self.history.names[use.name].text

    def missing(
        self,
        action: int,
        context: View,
        text: Texts,
        but: set[str],
    ) -> NeededThing | None:
        """The first thing that an action uses and a context does not tell.

        Where the context has the very line that tells it, nobody is asked. A model is asked for all
        things of the action together, since it reads the context for each request.

        Args:
            action: the action.
            context: what the context holds.
            text: the same as text.
            but: names that need no answer; those that are told are added.
        """
        uses_now = self.uses(action)
        if not uses_now:
            return None
        is_line_held = self.history.held(context)
        open_uses: list[Use] = []
        for use in uses_now:
            if self._name(use) not in but and not is_line_held[use.evidence]:
                open_uses.append(use)
        verdicts: Mapping[NeededThing, bool] = {}
        if self._reader is not None:
            open_things = [self.thing(action, use) for use in open_uses]
            verdicts = self._finds(self._reader, open_things, text)
        for thing, is_told in verdicts.items():
            if is_told:
                but.add(thing.name)
        for use in uses_now:
            name = self._name(use)
            if name in but:
                continue
            if not is_line_held[use.evidence]:
                thing = self.thing(action, use)
                if not self._tells(thing, context, verdicts):
                    return thing
            but.add(name)
        return None

    def _finds(
        self, reader: ModelReader, things: Iterable[NeededThing], text: Texts
    ) -> Mapping[NeededThing, bool]:
        """Whether a reader of a context finds each of the things about which there is a question.

        Raises:
            Unanswered: it did not answer one of them.
        """
        things_with_question: list[NeededThing] = []
        questions: list[Item] = []
        for thing in things:
            if thing.item is not None:
                things_with_question.append(thing)
                questions.append(thing.item)
        if not questions:
            return {}
        answers = reader.sit(questions, text())
        verdicts: dict[NeededThing, bool] = {}
        for thing, answer in zip(things_with_question, answers, strict=True):
            if np.isnan(answer.credit):
                raise Unanswered(f"a question about {thing.name!r} has no answer: {answer.why}")
            verdicts[thing] = answer.credit > TOLD
        return verdicts

    def _tells(
        self, thing: NeededThing, context: View, verdicts: Mapping[NeededThing, bool]
    ) -> bool:
        """Whether a context tells a thing: as a reader said, by its name, or as the lexical
        reader finds.
        """
        if thing in verdicts:
            return verdicts[thing]
        if thing.exam is not None:
            return bool(thing.exam.credit(context)[0] > TOLD)
        if self.history.held(context)[thing.lines].any():
            return True
        name = thing.name.lower()
        return any(name in text.lower() for text in context.texts)

    def _used_thing(self, action: int, use: Use) -> NeededThing:
        history = self.history
        past = history.before(action)
        entity = history.names[use.name]
        exam = self._exam(action, item_of(history, use, past))
        lines = history.lines_with(use.name, past.newest)[-MOST_LINES:]
        said_at = int(past.newest[use.evidence])
        return NeededThing(
            name=entity.text,
            kind=entity.kind,
            at=action,
            evidence=use.evidence,
            said_at=said_at,
            origin=self._origin(said_at),
            look=self._look(action, use, lines, exam),
            lines=lines,
            exam=exam,
        )

    def _exam(self, action: int, item: Item | None) -> BoundaryExam | None:
        """An exam of one question; None where the whole history does not answer it."""
        if item is None:
            return None
        exam = BoundaryExam(self.history, action, (item,))
        if not exam.items:
            return None
        return exam

    def _origin(self, index: int) -> Origin:
        message = self.history.messages[index]
        if is_real_user(message) or isinstance(message, SystemMessage):
            return "user"
        if isinstance(message, AssistantMessage):
            return "decision"
        return "result"

    def _look(
        self,
        action: int,
        use: Use,
        lines: Ints,
        exam: BoundaryExam | None,
    ) -> Look | None:
        """The newest call before the action that only looks and whose result tells the thing."""
        history = self.history
        telling = [use.evidence]
        if exam is None:
            telling += lines.tolist()
        else:
            is_answered = exam.answered_by_lines()[lines, 0]
            telling += lines[is_answered].tolist()
        is_earlier = np.isin(history.place_line, telling) & (history.place_message < action)
        messages = history.place_message[is_earlier]
        looking_messages = messages[self._is_look[messages]]
        if not len(looking_messages):
            return None
        return self._looks[int(looking_messages.max())]


def exchange(
    number: int, call: ToolCall, blocks: tuple[SaidBlock, ...]
) -> tuple[AssistantMessage, ToolResult]:
    """A call that the recording does not have here, and its result."""
    name = f"look-up-{number}"
    new_call = replace(call, id=f"{name}-call")
    result = ToolResult(
        id=f"{name}-result",
        call_id=new_call.id,
        name=call.name,
        blocks=blocks,
    )
    return AssistantMessage(id=name, blocks=(new_call,)), result


def looks_of(session: Session, sizing: Sizing) -> Mapping[int, Look]:
    """By message, the call that would give again what it holds."""
    calls = answered(session.messages)
    kinds = sources(session.messages)
    looks: dict[int, Look] = {}
    for index, message in enumerate(session.messages):
        blocks: tuple[SaidBlock, ...]
        if isinstance(message, AssistantMessage):
            write = _last_write(message)
            if write is None:
                continue
            call, text = write
            blocks = (text,)
        elif kinds[index] == "repeatable" and index in calls:
            _, call = calls[index]
            blocks = message.blocks
        else:
            continue
        question, result = exchange(0, call, blocks)
        result_tokens = sizing.sizes[index]
        if not isinstance(message, ToolResult):
            result_tokens = sizing.count(result)
        looks[index] = Look(index, call, blocks, (sizing.count(question), result_tokens))
    return looks


def _last_write(message: AssistantMessage) -> tuple[ToolCall, Text] | None:
    """The last that a message wrote to a file, with the call that would read it."""
    for call in reversed(message.calls):
        paths = touched(call.name, call.arguments).modified
        if not paths:
            continue
        written_values = dict(call.arguments)
        for name in (*OLD_KEYS, *PATH_KEYS):
            written_values.pop(name, None)
        text = Text("\n".join(argument_texts(written_values)))
        return ToolCall(call.id, READ, {"path": paths[0]}), text
    return None
