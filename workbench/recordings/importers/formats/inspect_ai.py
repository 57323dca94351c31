"""Logs of the UK AI Security Institute's Inspect, version 2: a zip of samples (`.eval`) or a
JSON document of them.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from workbench.engine.transcript.message import Json, Usage
from workbench.engine.transcript.session import Session
from workbench.recordings.importers.chat import ChatBuilder
from workbench.recordings.importers.opening import zip_members
from workbench.recordings.importers.source import SourceFile
from workbench.recordings.importers.usage import UsageFields
from workbench.recordings.importers.values import (
    as_object,
    decode,
    identifier,
    items,
    mapping,
    objects,
    text,
)

ZIP = "PK\x03\x04"
Sample: TypeAlias = tuple[str, Mapping[str, Json], Mapping[str, Json]]
ATTACHED = "attachment://"
USAGE = UsageFields(
    "input_tokens", "output_tokens", "input_tokens_cache_read", "input_tokens_cache_write"
)


class SampleBuilder(ChatBuilder):
    """Reads one sample: its messages, with the figures and compactions of its events.

    Attributes:
        figures: what the provider reported, by the id of the answer.
        after: the compactions that followed an answer, by its id; under the empty id, those before
            any.
        pending: the compactions whose summaries have not come yet.
    """

    def __init__(self, source: SourceFile) -> None:
        super().__init__(source)
        self.figures: dict[str, Mapping[str, Json]] = {}
        self.after: dict[str, list[Mapping[str, Json]]] = defaultdict(list)
        self.pending: list[Mapping[str, Json]] = []

    def read_sample(self, sample: Mapping[str, Json]) -> None:
        """Read the events and then the messages; a compaction without a summary message comes
        last.
        """
        with self.source.at():
            self._read_events(objects(sample, "events"))
        self.pending = list(self.after[""])
        if not isinstance(sample.get("messages"), list):
            self.source.unknown["sample without its messages"] += 1
        self.read_all(
            _resolved(items(sample, "messages"), mapping(sample, "attachments")), "messages"
        )
        for event in self.pending:
            self._compaction(None, event)

    def _read_events(self, events: list[dict[str, Json]]) -> None:
        newest = ""
        for event in events:
            if event.get("event") == "model":
                output = mapping(event, "output")
                choices = objects(output, "choices")
                newest = identifier(mapping(choices[0], "message"), "id") if choices else newest
                if newest and output.get("usage"):
                    self.figures[newest] = mapping(output, "usage")
            elif event.get("event") == "compaction":
                self.after[newest].append(event)

    def read(self, record: Mapping[str, Json]) -> None:
        """Read one message, or the summary of the compaction that is pending."""
        if mapping(record, "metadata").get("summary") is True:
            self._compaction(record, self.pending.pop(0) if self.pending else {})
        else:
            shaped = {name: value for name, value in record.items() if name != "timestamp"}
            if not record.get("content") and isinstance(record.get("error"), dict):
                shaped["content"] = text(record, "error/message")
            if record.get("role") == "tool":
                shaped["name"] = record.get("function")
            super().read(shaped)
        self.pending += self.after.get(identifier(record, "id"), [])

    def _compaction(self, message: Mapping[str, Json] | None, event: Mapping[str, Json]) -> None:
        """Add a summary with the figures of its event; without a message, the context was
        cleared or trimmed.
        """
        self.time = None
        self.compaction(
            None if message is None else self.summary_in(message),
            id=identifier(message or {}, "id") or "compaction",
            kept=self.ids if message is None else None,
            tokens_before=self.source.count(event, "tokens_before"),
            tokens_after=self.source.count(event, "tokens_after"),
            reason=text(event, "type"),
        )

    def usage(self, record: Mapping[str, Json]) -> Usage | None:
        """The figures of the event whose answer this message is."""
        return self.source.usage(USAGE, self.figures.get(identifier(record, "id"), {}))


def sessions(source: SourceFile) -> Iterator[Session]:
    """One session a sample."""
    zipped = next(source.heads()).text.startswith(ZIP)
    for place, about, sample in _zipped(source) if zipped else _listed(source):
        with source.at(field=place):
            builder = SampleBuilder(source)
            builder.read_sample(sample)
            builder.id = f"{source.stem}-{source.identifier(sample, 'id')}-{source.count(sample, 'epoch') or 1}"
            builder.model, builder.title = source.name(about, "model"), source.name(about, "task")
            builder.project = builder.title
            yield builder.session()


def values(source: SourceFile) -> Iterator[Json]:
    """Its samples, without the events, which repeat their messages."""
    zipped = next(source.heads()).text.startswith(ZIP)
    for _, _, sample in _zipped(source) if zipped else _listed(source):
        yield {name: value for name, value in sample.items() if name != "events"}


def _listed(source: SourceFile) -> Iterator[Sample]:
    """The samples of a document, with their places and what is known of the evaluation."""
    document = source.object_with("samples")
    with source.at():
        about = mapping(document, "eval")
        for i, sample in enumerate(objects(document, "samples")):
            yield f"samples[{i}]", about, sample


def _zipped(source: SourceFile) -> Iterator[Sample]:
    """The samples of a zip likewise; when lenient, also of one whose end is missing."""
    with source.open() as stream:
        members = zip_members(stream, source.where, source.leave_out if source.lenient else None)
        about: Mapping[str, Json] = {}
        if "header.json" in members:
            with source.at(field="header.json"):
                about = mapping(_object(members["header.json"]), "eval")
        for name in sorted(members):
            if name.startswith("samples/") and name.endswith(".json"):
                with source.at(field=name):
                    yield name, about, _object(members[name])


def _object(unpacked: Callable[[], bytes]) -> dict[str, Json]:
    return as_object(decode(unpacked().decode(errors="replace")))


def _resolved(value: Json, attached: Mapping[str, Json]) -> Json:
    """The value with its attachments put back in the places that name them."""
    if isinstance(value, str) and value.startswith(ATTACHED):
        return attached.get(value.removeprefix(ATTACHED), value)
    if isinstance(value, list):
        return [_resolved(inner, attached) for inner in value]
    if isinstance(value, dict):
        return {name: _resolved(inner, attached) for name, inner in value.items()}
    return value
