"""Reads what a host sends into messages of ours, its preset's own summaries among them."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from workbench.base.errors import FormatError
from workbench.engine.compaction.file_lists import lists_in, parted
from workbench.engine.compaction.prompt_template import PromptTemplate
from workbench.engine.compaction.stages.summarize import Summarize
from workbench.engine.compaction.strategy import Preset
from workbench.engine.transcript.message import Json, Message, Summary, plain_text
from workbench.live.formats.frameworks import framework_objection
from workbench.live.formats.parts import plain
from workbench.live.formats.shape import Entry, HostFormat, HostMessage, Record, misfit, record_of
from workbench.live.formats.table import FORMATS, MessageFormat, format_of

_INDEX = re.compile(r"\n*<([a-z-]+)>\n(?:(?!<\1>).)*</\1>\s*\Z", re.DOTALL)
"""What a preset sends below a summary in a tag."""


def recogniser(preset: Preset) -> Callable[[Message], Summary | None]:
    """What says whether a message is a summary that this preset wrote, and gives it as one.

    A summary is known by the lead above it and the text below, or by its author's name where it has
    no lead. The name stands in brackets above the text in formats that have no field for it.
    """
    strategies = [preset.strategy]
    if preset.overflow:
        strategies.append(preset.overflow)
    writers: list[object] = []
    for strategy in strategies:
        for stage in strategy.stages:
            writer = getattr(stage, "summary", stage)
            if isinstance(getattr(writer, "prompt", None), PromptTemplate):
                writers.append(writer)

    def recognised(message: Message) -> Summary | None:
        if message.role not in ("user", "assistant"):
            return None
        if any(block.type != "text" for block in message.blocks):
            return None
        for writer in writers:
            summary = _summary(message, writer)
            if summary is not None:
                return summary
        return None

    return recognised


def _summary(message: Message, stage: object) -> Summary | None:
    """The summary that a stage wrote, if the message is one."""
    prompt: PromptTemplate = getattr(stage, "prompt")  # noqa: B009  # a stage's protocol has no prompt
    said_by: Literal["user", "assistant"] = "user"
    name = ""
    if isinstance(stage, Summarize):
        said_by = stage.presentation.said_by
        name = stage.presentation.summary_name
    words = plain_text(message)
    if name and message.name != name:
        above = f"[{name}]\n"
        if not words.startswith(above):
            return None
        words = words.removeprefix(above)
    lead = prompt.opening
    tail = prompt.closing
    has_mark = bool(lead or name)
    if message.role != said_by or not has_mark:
        return None
    text_and_lists = _between(words, lead, tail)
    if not text_and_lists:
        return None
    text, lists = _without_lists(text_and_lists, stage)
    return Summary(
        id=message.id,
        text=text,
        replaces=(message.id,),
        files=lists_in(lists or text),
        lead=lead,
        tail=lists + tail,
        said_by=said_by,
        name=name or message.name,
    )


def _between(words: str, lead: str, tail: str) -> str:
    """What stands between the lead and the tail; empty where nothing does, or one is not there."""
    if not words.startswith(lead) or not words.endswith(tail):
        return ""
    start = len(lead)
    stop = len(words) - len(tail)
    return words[start:stop]


def _without_lists(text: str, stage: object) -> tuple[str, str]:
    """The text of a summary, and the lists of files that the stage writes below it."""
    if not isinstance(stage, Summarize):
        return text, ""
    presentation = stage.presentation
    if presentation.file_lists == "below":
        return parted(text)
    if presentation.below is None:
        return text, ""
    index = _INDEX.search(text)
    if index is None:
        return text, ""
    return text[: index.start()], index.group()


def listed(messages: Json) -> list[Json]:
    """A host's messages as a list.

    Raises:
        FormatError: they are no list.
    """
    is_no_list = isinstance(messages, str | bytes | Mapping)
    if is_no_list or not isinstance(messages, Iterable):
        type_name = type(messages).__name__
        objection = f"expected a list of messages, found {type_name}"
        raise FormatError(objection, where="messages")
    return list(messages)


@dataclass(slots=True)
class MessageReader:
    """Reads a host's messages one after another.

    Attributes:
        count: tokens of a message.
        pins: says of a host's message whether it must stay.
        format: found from the messages where it is None.
        likely: the format to suppose while the messages show none.
        written: our own summaries by their text, in case the host hands one back.
        names: the tools' names by the ids of their calls.
        number: of the newest message.
        recognise: gives a plain message as the summary that the preset once wrote; None for any
            other.
        sealed_budget: tokens up to which a provider's own compaction is pinned.
        unreadable: the marks of those that it cannot read any more: they stand for nothing.
    """

    count: Callable[[Message], int]
    pins: Callable[[Record], bool] | None = None
    format: MessageFormat | None = None
    likely: MessageFormat = "openai"
    written: dict[str, Summary] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    recognise: Callable[[Message], Summary | None] | None = None
    sealed_budget: int = 64_000
    unreadable: set[str] = field(default_factory=set)
    number: int = 0

    @property
    def present_format(self) -> MessageFormat:
        """The format that is named or was found, else the likely one."""
        return self.format or self.likely

    def read(
        self, messages: Sequence[Json], start: int = 0, earlier: Sequence[HostMessage] = ()
    ) -> Iterator[HostMessage]:
        """The entries of the host's list from `start` on; `earlier` are those in front of it.

        Raises:
            FormatError: an entry is no chat message; its index is named.
        """
        records: list[Record] = []
        for index, message in enumerate(messages[start:], start):
            objection = framework_objection(message)
            if not objection and not isinstance(plain(message), Mapping):
                type_name = type(message).__name__
                objection = f"expected a message with a role and content, found {type_name}"
            if objection:
                raise FormatError(objection, where=f"messages[{index}]")
            record = record_of(message)
            records.append(record)
        if not self.format:
            formats = map(format_of, records)
            self.format = next(filter(None, formats), None)
        format = FORMATS[self.present_format]
        waiting = _waiting_behind(earlier)
        start_of_answer = 0
        while start_of_answer < len(records):
            first_record = records[start_of_answer]
            where = f"messages[{start + start_of_answer}]"
            _refuse_unreadable(first_record, format, where)
            stop = start_of_answer + 1
            if format.joins(first_record):
                while stop < len(records) and format.joins(records[stop]):
                    stop += 1
            last_piece = stop - 1
            for piece in range(start_of_answer, last_piece):
                piece_object = messages[start + piece]
                yield HostMessage(piece_object, records[piece])
            host_object = messages[start + last_piece]
            answer_records = records[start_of_answer:stop]
            entry = self._last(format, host_object, answer_records, waiting)
            waiting = _waiting_after(waiting, entry)
            yield entry
            start_of_answer = stop

    def note_written(self, summaries: Iterable[Summary]) -> None:
        """Remember our own summaries, in case the host hands one back."""
        for summary in summaries:
            text = summary.lead + summary.text + summary.tail
            self.written[text] = summary

    def again(self, recorded: HostMessage, present: Json) -> HostMessage:
        """The host's present wording of a system prompt that was read, under the same id."""
        number = self.number
        recorded_id = recorded.messages[0].id
        recorded_number = int(recorded_id[1:])
        self.number = recorded_number - 1
        renewed = next(self.read([present]))
        self.number = number
        return renewed

    def _last(
        self,
        format: HostFormat,
        host_object: Json,
        records: Sequence[Record],
        waiting: Sequence[tuple[str, str]],
    ) -> HostMessage:
        """The last entry of one answer, with its messages."""
        pinned = self.pins is not None and any(map(self.pins, records))
        entry = Entry(
            records=records,
            pinned=pinned,
            names=self.names,
            written=self.written,
            open_calls=waiting,
            new_id=self._new_id,
            sealed_budget=self.sealed_budget,
            unreadable=self.unreadable,
        )
        messages: list[Message] = []
        for message in format.read(entry):
            messages += self._own(message, entry)
        for message in messages:
            if message.role == "assistant":
                for call in message.calls:
                    self.names[call.id] = call.name
        return HostMessage(
            object=host_object,
            record=records[-1],
            messages=tuple(messages),
            sizes=tuple(map(self.count, messages)),
            parts=entry.parts,
            span=len(records),
            covers=entry.covers,
        )

    def _own(self, message: Message, entry: Entry) -> list[Message]:
        """A summary that the preset wrote, as one again, apart from what a user says beside it;
        others as they are.
        """
        if self.recognise is None:
            return [message]
        if message.role != "user" or len(message.blocks) == 1:
            return [self.recognise(message) or message]
        for index, block in enumerate(message.blocks):
            block_alone = replace(message, blocks=(block,))
            summary = self.recognise(block_alone)
            if summary is None:
                continue
            parted: list[Message] = []
            if index > 0:
                earlier_blocks = message.blocks[:index]
                earlier_message = replace(message, blocks=earlier_blocks)
                parted.append(earlier_message)
                summary = replace(summary, id=self._new_id())
            entry.parts[id(summary)] = entry.parts[id(block)]
            parted.append(summary)
            later_blocks = message.blocks[index + 1 :]
            if later_blocks:
                later_id = self._new_id()
                later_message = replace(message, id=later_id, blocks=later_blocks)
                parted.append(later_message)
            return parted
        return [message]

    def _new_id(self) -> str:
        self.number += 1
        return f"m{self.number}"


def _refuse_unreadable(record: Record, format: HostFormat, where: str) -> None:
    """Refuse an entry that no format can read, or not this one.

    Raises:
        FormatError: it is such an entry.
    """
    for field_name, objection in (misfit(record), format.problem(record)):
        if objection:
            raise FormatError(objection, where=where, field=field_name)


def _waiting_behind(entries: Sequence[HostMessage]) -> list[tuple[str, str]]:
    """The calls of the newest answer that no result has answered yet, by id and name."""
    newest: list[HostMessage] = []
    for entry in reversed(entries):
        newest.append(entry)
        if any(message.role == "assistant" for message in entry.messages):
            break
    waiting: list[tuple[str, str]] = []
    for entry in reversed(newest):
        waiting = _waiting_after(waiting, entry)
    return waiting


def _waiting_after(waiting: Sequence[tuple[str, str]], entry: HostMessage) -> list[tuple[str, str]]:
    """The calls that wait behind an entry: those of its own answer, or the earlier ones that it
    does not answer.
    """
    calls = list(waiting)
    for message in entry.messages:
        if message.role == "assistant":
            calls = [(call.id, call.name) for call in message.calls]
        elif message.role == "tool":
            for call_id, name in calls:
                if call_id == message.call_id:
                    calls.remove((call_id, name))
                    break
    return calls
