"""Logs of the UK AI Security Institute's Inspect, version 2: a zip of samples (`.eval`) or a
JSON document of them.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from workbench.engine.transcript.message import Json, Usage
from workbench.engine.transcript.session import Session
from workbench.recordings.importers.blocks import content
from workbench.recordings.importers.chat import ChatBuilder
from workbench.recordings.importers.format import Format
from workbench.recordings.importers.head import Head
from workbench.recordings.importers.json_text import decode
from workbench.recordings.importers.source import SourceFile
from workbench.recordings.importers.usage import UsageFields
from workbench.recordings.importers.values import (
    JsonObject,
    Record,
    as_object,
    identifier,
    items,
    mapping,
    objects,
    text,
)
from workbench.recordings.importers.zips import zip_members

_ZIP_MEMBERS = ("samples/", "_journal/", "header.json")

ZIP = "PK\x03\x04"
ATTACHED = "attachment://"
USAGE = UsageFields(
    "input_tokens",
    "output_tokens",
    "input_tokens_cache_read",
    "input_tokens_cache_write",
    "reasoning_tokens",
    total="total_tokens",
)


@dataclass(frozen=True, slots=True)
class Sample:
    """One sample of a log.

    Attributes:
        place: where it is in the file.
        about: what is known of the evaluation.
        record: the sample itself.
    """

    place: str
    about: Record
    record: Record


class SampleBuilder(ChatBuilder):
    """Reads one sample: its messages, with the figures and compactions of its events.

    Attributes:
        figures: what the provider reported, by the mark of the answer.
        compactions_after: those that followed an answer, by its mark; under the empty mark, those
            before any.
        pending: the compactions whose summaries have not come yet.
    """

    def __init__(self, source: SourceFile) -> None:
        super().__init__(source)
        self.figures: dict[str, Record] = {}
        self.compactions_after: dict[str, list[Record]] = defaultdict(list)
        self.pending: list[Record] = []

    def read_sample(self, sample: Record) -> None:
        """Read the events and then the messages; a compaction without a summary message comes
        last.
        """
        attached = mapping(sample, "attachments")
        with self.source.at():
            self._read_events(objects(sample, "events"), attached)
        self.pending = list(self.compactions_after[""])
        if not isinstance(sample.get("messages"), list):
            self.source.unknown["sample without its messages"] += 1
        messages = _resolved(items(sample, "messages"), attached)
        self.read_all(messages, "messages")
        for event in self.pending:
            self._compaction(None, event)

    def _read_events(self, events: list[JsonObject], attached: Record) -> None:
        answer_mark = ""
        for event in events:
            kind = event.get("event")
            if kind == "compaction":
                compactions = self.compactions_after[answer_mark]
                compactions.append(event)
            if kind != "model":
                continue
            output = mapping(event, "output")
            choices = objects(output, "choices")
            if choices:
                answer = _resolved(mapping(choices[0], "message"), attached)
                answer_mark = _mark(answer)
            usage = mapping(output, "usage")
            if answer_mark and usage:
                self.figures[answer_mark] = usage

    def read(self, record: Record) -> None:
        """Read one message, or the summary of the compaction that is pending."""
        metadata = mapping(record, "metadata")
        if metadata.get("summary") is True:
            event: Record = {}
            if self.pending:
                event = self.pending.pop(0)
            self._compaction(record, event)
        else:
            super().read(_shaped(record))
        if record.get("role") == "assistant":
            self.pending += self.compactions_after.get(_mark(record), [])

    def _compaction(self, message: Record | None, event: Record) -> None:
        """Add a summary with the figures of its event; without a message, the context was
        cleared or trimmed.
        """
        summary = None
        compaction_id = ""
        kept_ids: tuple[str, ...] | None = None
        if message is None:
            kept_ids = self.ids
        else:
            summary = self.summary_in(message)
            compaction_id = identifier(message, "id")
        tokens_before = self.source.count(event, "tokens_before")
        tokens_after = self.source.count(event, "tokens_after")
        self.time = None
        self.compaction(
            summary,
            id=compaction_id or "compaction",
            kept=kept_ids,
            tokens_before=tokens_before,
            tokens_after=tokens_after,
            reason=text(event, "type"),
        )

    def usage(self, record: Record) -> Usage | None:
        """The figures of the event whose answer this message is."""
        figures = self.figures.get(_mark(record), {})
        return self.source.usage(USAGE, figures)


def _mark(answer: Record) -> str:
    """What an answer and its event have in common: the id; in logs of 2024, which have none, the
    words and the ids of the calls.
    """
    answer_id = identifier(answer, "id")
    if answer_id:
        return answer_id
    call_ids = [identifier(call, "id") for call in objects(answer, "tool_calls")]
    return "\n".join([content(answer).words, *call_ids])


def _shaped(record: Record) -> JsonObject:
    """A message as a chat API would name its fields."""
    shaped = dict(record)
    shaped.pop("timestamp", None)
    if not record.get("content") and isinstance(record.get("error"), dict):
        shaped["content"] = text(record, "error/message")
    if record.get("role") == "tool":
        shaped["name"] = record.get("function")
    return shaped


def sessions(source: SourceFile) -> Iterator[Session]:
    """One session a sample."""
    for sample in _samples(source):
        with source.at(field=sample.place):
            builder = SampleBuilder(source)
            builder.read_sample(sample.record)
            sample_id = source.identifier(sample.record, "id")
            epoch = source.count(sample.record, "epoch") or 1
            builder.id = f"{source.stem}-{sample_id}-{epoch}"
            builder.model = source.name(sample.about, "model")
            builder.title = source.name(sample.about, "task")
            builder.project = builder.title
            yield builder.session()


def values(source: SourceFile) -> Iterator[Json]:
    """Its samples."""
    for sample in _samples(source):
        yield dict(sample.record)


def _samples(source: SourceFile) -> Iterator[Sample]:
    """The samples of a zip or of a document."""
    head = next(source.heads())
    if head.text.startswith(ZIP):
        yield from _zipped(source)
    else:
        yield from _listed(source)


def _listed(source: SourceFile) -> Iterator[Sample]:
    """The samples of a document."""
    document = source.object_with("samples")
    with source.at():
        about = mapping(document, "eval")
        for number, sample in enumerate(objects(document, "samples")):
            yield Sample(f"samples[{number}]", about, sample)


def _zipped(source: SourceFile) -> Iterator[Sample]:
    """The samples of a zip; when lenient, also of one whose end is missing."""
    note = None
    if source.lenient:
        note = source.leave_out
    with source.open() as stream:
        members = zip_members(stream, source.where, note)
        about: Record = {}
        if "header.json" in members:
            with source.at(field="header.json"):
                header = _object(members["header.json"])
                about = mapping(header, "eval")
        for name in sorted(members):
            is_sample = name.startswith("samples/") and name.endswith(".json")
            if not is_sample:
                continue
            with source.at(field=name):
                sample = _object(members[name])
                yield Sample(name, about, sample)


def _object(unpacked: Callable[[], bytes]) -> JsonObject:
    text = unpacked().decode(errors="replace")
    return as_object(decode(text))


def _resolved(value: Json, attached: Record) -> Json:
    """The value with its attachments put back in the places that name them."""
    if isinstance(value, str) and value.startswith(ATTACHED):
        return attached.get(value.removeprefix(ATTACHED), value)
    if isinstance(value, list):
        return [_resolved(inner, attached) for inner in value]
    if isinstance(value, dict):
        return {name: _resolved(inner, attached) for name, inner in value.items()}
    return value


def knows_inspect(head: Head) -> bool:
    """Whether it is a zip of samples, or a document with the task that was evaluated."""
    if head.text.startswith(ZIP):
        return any(name in head.text for name in _ZIP_MEMBERS)
    return head.is_object_with("version", "status", "eval")


INSPECT_AI = Format(
    name="inspect_ai",
    description="Inspect evaluation logs (.eval and JSON)",
    carries=("calls", "thinking", "images", "usage", "model", "compactions", "system"),
    knows=knows_inspect,
    sessions=sessions,
    values=values,
    aside="events scores target store attachments",
)
