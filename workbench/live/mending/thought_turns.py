"""Turns that do not begin with a thought, which Anthropic refuses of the newest turn while thinking
is on.

Such a turn is closed by a short answer and a word of the user: the model then thinks anew.

Source:
    Anthropic's page on extended thinking: a turn goes on through all its calls and results, must
    begin with a thought while thinking is enabled, and thoughts of earlier turns may be left out.
    A compaction that covers the beginning of a turn takes the thought with it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from workbench.engine.transcript.message import Json
from workbench.live.formats.canonical import is_result
from workbench.live.formats.parts import plain, type_of
from workbench.live.formats.shape import is_system
from workbench.live.formats.table import MessageFormat
from workbench.live.identity import HostList
from workbench.live.mending.sent_entry import (
    SentEntry,
    entries_of,
    history_of,
    parts_of,
    said_by_user,
)
from workbench.live.mending.turns import GO_ON, NO_ANSWER

_THOUGHTS = ("thinking", "redacted_thinking")


@dataclass(slots=True)
class _Turn:
    """A person's words, and the answers and results behind them."""

    question: list[SentEntry] = field(default_factory=list)
    steps: list[SentEntry] = field(default_factory=list)

    @property
    def begins_without_thought(self) -> bool:
        """Whether it has an answer, and the first one does not begin with a thought."""
        return bool(self.steps) and not begins_with_thought(self.steps[0].object)

    @property
    def place(self) -> int | None:
        """The place of the first step that is the host's own message; None where none is."""
        for step in self.steps:
            if step.place is not None:
                return step.place
        return None


def with_closed_turns(entries: Sequence[SentEntry], format: MessageFormat) -> list[SentEntry]:
    """With each turn closed that does not begin with a thought."""
    return _with_closed(entries, format, lambda _: True)


def with_cut_turns_closed(
    history: HostList, format: MessageFormat, own_messages: Sequence[Json]
) -> HostList:
    """The list with each turn closed that has lost the thought which it begins with in the host's
    own messages; the list itself where there is none.
    """
    entries = entries_of(history)

    def is_cut(turn: _Turn) -> bool:
        place = turn.place
        if place is None:
            place = len(own_messages)
        return _begins_with_thought_before(own_messages, place)

    mended = _with_closed(entries, format, is_cut)
    if len(mended) == len(entries):
        return history
    return history_of(mended)


def begins_with_thought(message: Json) -> bool:
    """Whether an answer begins with a thought, also as a gateway passes it."""
    entry = SentEntry(message)
    if entry.record.get("thinking_blocks"):
        return True
    parts = parts_of(entry)
    return bool(parts) and type_of(parts[0]) in _THOUGHTS


def _with_closed(
    entries: Sequence[SentEntry],
    format: MessageFormat,
    is_to_close: Callable[[_Turn], bool],
) -> list[SentEntry]:
    """With those of the turns closed that do not begin with a thought."""
    if format not in ("openai", "anthropic"):
        return list(entries)
    turns = _turns(entries)
    mended: list[SentEntry] = []
    for turn in turns:
        steps = turn.steps
        if turn.begins_without_thought and is_to_close(turn):
            steps = _closed(steps, format, is_newest=turn is turns[-1])
        mended += turn.question
        mended += steps
    return mended


def _turns(entries: Sequence[SentEntry]) -> list[_Turn]:
    """The entries by turns."""
    turns = [_Turn()]
    for entry in entries:
        newest = turns[-1]
        is_late_system = bool(newest.steps) and is_system(entry.object)
        if entry.role == "assistant" or is_late_system or is_result(entry.object):
            newest.steps.append(entry)
            continue
        if newest.steps:
            newest = _Turn()
            turns.append(newest)
        newest.question.append(entry)
    return turns


def _closed(
    steps: Sequence[SentEntry], format: MessageFormat, *, is_newest: bool
) -> list[SentEntry]:
    """The steps of a turn with the end of the turn before the first thought, or behind the newest
    results.
    """
    end_of_turn = [
        SentEntry({"role": "assistant", "content": NO_ANSWER}),
        said_by_user(GO_ON, format),
    ]
    for index, step in enumerate(steps):
        if begins_with_thought(step.object):
            return [*steps[:index], *end_of_turn, *steps[index:]]
    if is_newest and is_result(steps[-1].object):
        return [*steps, *end_of_turn]
    return list(steps)


def _begins_with_thought_before(own_messages: Sequence[Json], place: int) -> bool:
    """Whether the turn that this place of the host's messages is in begins with a thought."""
    first_answer: Json = None
    for index in range(min(place, len(own_messages) - 1), -1, -1):
        message = own_messages[index]
        if plain(message).get("role") == "assistant":
            first_answer = message
        elif not is_result(message) and not is_system(message):
            break
    return first_answer is not None and begins_with_thought(first_answer)
