"""Logs of Inspect: a zip of samples (`.eval`) or one JSON document, a sample a session."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from workbench.errors import FormatError
from workbench.importers.chat import Chat
from workbench.importers.content import content
from workbench.importers.decoding import BadJson, decode
from workbench.importers.fields import inner, known_id, maybe_whole, objects, whole, words
from workbench.importers.growth import main_model, project
from workbench.importers.heads import seen
from workbench.importers.source import Carries, Source, kind
from workbench.transcript.log import CompactionEntry
from workbench.transcript.message import Json, Summary, Text
from workbench.transcript.session import Session

ZIP = "PK\x03\x04"
MOST_BYTES = 1 << 30
"""Unpacked bytes of one sample that are read: a zip can claim any size."""
ATTACHED = "attachment://"


class InspectAi:
    """Evaluation logs of the UK AI Security Institute's Inspect, version 2 of the format."""

    name: ClassVar[str] = "inspect_ai"
    description: ClassVar[str] = "Inspect evaluation logs (.eval and JSON)"
    carries: ClassVar[tuple[Carries, ...]] = (
        "calls", "thinking", "images", "usage", "model", "compactions", "system",
    )  # fmt: skip

    def knows(self, head: str) -> bool:
        """Whether it is a zip of samples, or a document with the task that was evaluated."""
        if head.startswith(ZIP):
            return any(name in head for name in ("samples/", "_journal/", "header.json"))
        start = seen(head)
        return not start.is_list and {"version", "status", "eval"} <= start.keys

    def sessions(self, source: Source) -> Iterator[Session]:
        """One session a sample."""
        if source.head().startswith(ZIP):
            yield from _from_zip(source)
            return
        document = source.document()
        if not isinstance(document, dict):
            raise FormatError(f"expected an object with `samples`, found {kind(document)}", where=source.where)
        samples: list[dict[str, Json]] = []
        with source.at():
            samples = objects(document, "samples")
        for i, sample in enumerate(samples):
            with source.at(field=f"samples[{i}]"):
                yield _session(source, inner(document, "eval"), sample)


def _from_zip(source: Source) -> Iterator[Session]:
    try:
        with source.open() as stream, zipfile.ZipFile(stream) as archive:
            about = inner(_member(archive, "header.json"), "eval") if "header.json" in archive.namelist() else {}
            for name in sorted(archive.namelist()):
                if name.startswith("samples/") and name.endswith(".json"):
                    with source.at(field=name):
                        yield _session(source, about, _member(archive, name))
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, KeyError, ValueError) as error:
        raise FormatError(f"not a zip that can be read ({error})", where=source.where) from None


def _member(archive: zipfile.ZipFile, name: str) -> dict[str, Json]:
    if archive.getinfo(name).file_size > MOST_BYTES:
        raise FormatError(f"unpacks to more than {MOST_BYTES:,} bytes")
    try:
        value = decode(archive.read(name).decode())
    except (BadJson, UnicodeDecodeError) as error:
        raise FormatError(f"not JSON text ({error})") from None
    if not isinstance(value, dict):
        raise FormatError(f"expected an object, found {kind(value)}")
    return value


@dataclass(slots=True)
class _Events:
    """What the events of a sample tell about its messages.

    Attributes:
        usage: the provider's figures by the id of the answer.
        after: the compactions that followed an answer, by its id; under the empty id, those before any.
    """

    usage: dict[str, Mapping[str, Json]] = field(default_factory=dict)
    after: dict[str, list[Mapping[str, Json]]] = field(default_factory=dict)


def _session(source: Source, about: Mapping[str, Json], sample: Mapping[str, Json]) -> Session:
    attached = inner(sample, "attachments")
    events = _events(sample)
    chat = Chat(source)
    pending: list[Mapping[str, Json]] = list(events.after.get("", []))
    for i, message in enumerate(objects(sample, "messages")):
        with source.at(field=f"messages[{i}]"):
            shaped = _as_chat(_resolved(message, attached), events)
            if inner(message, "metadata").get("summary") is True:
                _compaction(chat, shaped, pending)
            else:
                chat.hear(shaped)
            pending += events.after.get(known_id(message, "id"), [])
    for event in pending:
        _compaction(chat, None, [event])
    log = chat.growth.log
    name = known_id(sample, "id")
    return Session(
        id=f"{source.stem}-{name}-{whole(sample, 'epoch') or 1}",
        log=log,
        model=main_model(log) or words(about, "model"),
        title=words(about, "task"),
        project=words(about, "task") or project("", source.folder),
    )


def _events(sample: Mapping[str, Json]) -> _Events:
    found, newest = _Events(), ""
    for event in objects(sample, "events"):
        if event.get("event") == "model":
            output = inner(event, "output")
            choices = objects(output, "choices")
            newest = known_id(inner(choices[0], "message"), "id") if choices else newest
            if newest and output.get("usage"):
                found.usage[newest] = inner(output, "usage")
        elif event.get("event") == "compaction":
            found.after.setdefault(newest, []).append(event)
    return found


def _compaction(chat: Chat, message: Mapping[str, Json] | None, pending: list[Mapping[str, Json]]) -> None:
    """A summary with the figures of its event; without a message, an event that left none: clearing or trimming."""
    event = pending.pop(0) if pending else {}
    entry_id = chat.growth.fresh(known_id(message or {}, "id") or "compaction")
    summary = None
    if message is not None:
        text = "\n".join(block.text for block in content(message).blocks if isinstance(block, Text))
        summary = Summary(id=f"{entry_id}-summary", text=text)
    entry = CompactionEntry(
        id=entry_id,
        parent=None,
        summary=summary,
        kept=None if message is not None else tuple(one.id for one in chat.growth.log),
        tokens_before=maybe_whole(event, "tokens_before"),
        tokens_after=maybe_whole(event, "tokens_after"),
        reason=words(event, "type"),
    )
    chat.growth.note(entry)


def _as_chat(message: dict[str, Json], events: _Events) -> dict[str, Json]:
    """The message in OpenAI's shape."""
    shaped = dict(message)
    shaped["tool_calls"] = [
        {"id": call.get("id"), "function": {"name": call.get("function"), "arguments": call.get("arguments")}}
        if isinstance(call.get("function"), str)
        else call
        for call in objects(message, "tool_calls")
    ]
    usage = events.usage.get(known_id(message, "id"))
    if usage is not None:
        shaped["usage"] = {
            "input_tokens": whole(usage, "input_tokens"),
            "cache_read_input_tokens": whole(usage, "input_tokens_cache_read"),
            "cache_creation_input_tokens": whole(usage, "input_tokens_cache_write"),
            "output_tokens": whole(usage, "output_tokens"),
        }
    error = message.get("error")
    if isinstance(error, dict) and not message.get("content"):
        shaped["content"] = words(error, "message")
    if message.get("role") == "tool":
        shaped["name"] = message.get("function")
    shaped.pop("timestamp", None)
    return shaped


def _resolved(message: dict[str, Json], attached: Mapping[str, Json]) -> dict[str, Json]:
    """The message with its attachments put back in the places that name them."""

    def put_back(value: Json) -> Json:
        if isinstance(value, str) and value.startswith(ATTACHED):
            return attached.get(value.removeprefix(ATTACHED), value)
        if isinstance(value, list):
            return [put_back(one) for one in value]
        if isinstance(value, dict):
            return {name: put_back(one) for name, one in value.items()}
        return value

    return {name: put_back(value) for name, value in message.items()} if attached else message
