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
_FORMATS = ("openai", "anthropic")


@dataclass(slots=True)
class _Turn:
    """A person's words, and the answers and results behind them.

    Attributes:
        start: the place of the first of these in the list.
    """

    start: int
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

    def closing_place(self, *, is_newest: bool) -> int | None:
        """Where in the list the turn is to end: before its first thought, or behind the newest
        results; None where neither is there.
        """
        first_step = self.start + len(self.question)
        for index, step in enumerate(self.steps):
            if begins_with_thought(step.object):
                return first_step + index
        if is_newest and is_result(self.steps[-1].object):
            return first_step + len(self.steps)
        return None


def with_closed_turns(entries: Sequence[SentEntry], format: MessageFormat) -> list[SentEntry]:
    """With each turn closed that does not begin with a thought."""
    mended = list(entries)
    if format not in _FORMATS:
        return mended
    turns = _turns(entries)
    for place in reversed(_closing_places(turns, turns[-1], lambda _: True)):
        mended[place:place] = _end_of_turn(format)
    return mended


@dataclass(slots=True)
class CutTurns:
    """Closes the turns that have lost the thought which they begin with in the host's own messages.

    Of what a compaction left, all turns but the last are over, and looked at once.

    Attributes:
        compacted: the messages of what the compaction left.
        over: how many of these belong to turns that are over.
        closing_places: where such turns are closed.
    """

    compacted: list[Json] = field(default_factory=list)
    over: int = 0
    closing_places: list[int] = field(default_factory=list)

    def closed(
        self,
        history: HostList,
        format: MessageFormat,
        own_messages: Sequence[Json],
        compacted_count: int,
    ) -> HostList:
        """The list with such turns closed; the list itself where there is none.

        Args:
            history: what is to be sent.
            format: of its messages.
            own_messages: the host's, from the first one.
            compacted_count: how many of the first messages to send a compaction left.
        """
        if format not in _FORMATS:
            return history

        def is_cut(turn: _Turn) -> bool:
            place = turn.place
            if place is None:
                place = len(own_messages)
            return _begins_with_thought_before(own_messages, place)

        entries = entries_of(history, self._over(history, compacted_count, is_cut))
        turns = _turns(entries, self.over)
        later_places = _closing_places(turns, turns[-1], is_cut)
        closing_places = self.closing_places + later_places
        if not closing_places:
            return history
        objects = list(history.objects)
        places = list(history.places)
        for place in reversed(closing_places):
            end_of_turn = history_of(_end_of_turn(format))
            objects[place:place] = end_of_turn.objects
            places[place:place] = end_of_turn.places
        return HostList(objects, places)

    def _over(
        self, history: HostList, compacted_count: int, is_cut: Callable[[_Turn], bool]
    ) -> int:
        """How many of the first messages belong to turns that were looked at, now or before."""
        compacted = history.objects[:compacted_count]
        if compacted != self.compacted:
            entries = entries_of(history, 0, compacted_count)
            turns = _turns(entries)
            newest = turns.pop()
            self.compacted = compacted
            self.over = newest.start
            self.closing_places = _closing_places(turns, newest, is_cut)
        return self.over


def begins_with_thought(message: Json) -> bool:
    """Whether an answer begins with a thought, also as a gateway passes it."""
    entry = SentEntry(message)
    if entry.record.get("thinking_blocks"):
        return True
    parts = parts_of(entry)
    return bool(parts) and type_of(parts[0]) in _THOUGHTS


def _closing_places(
    turns: Sequence[_Turn], newest: _Turn, is_to_close: Callable[[_Turn], bool]
) -> list[int]:
    """Where those of the turns are to be closed that do not begin with a thought."""
    places: list[int] = []
    for turn in turns:
        if turn.begins_without_thought and is_to_close(turn):
            place = turn.closing_place(is_newest=turn is newest)
            if place is not None:
                places.append(place)
    return places


def _end_of_turn(format: MessageFormat) -> list[SentEntry]:
    """An answer and a word of the user, behind which a turn begins anew."""
    no_answer = SentEntry({"role": "assistant", "content": NO_ANSWER})
    return [no_answer, said_by_user(GO_ON, format)]


def _turns(entries: Sequence[SentEntry], start: int = 0) -> list[_Turn]:
    """The entries by turns, where the first of them has this place in the list."""
    newest = _Turn(start)
    turns = [newest]
    for place, entry in enumerate(entries, start):
        is_late_system = bool(newest.steps) and is_system(entry.object)
        if entry.role == "assistant" or is_late_system or is_result(entry.object):
            newest.steps.append(entry)
            continue
        if newest.steps:
            newest = _Turn(place)
            turns.append(newest)
        newest.question.append(entry)
    return turns


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
