"""Sessions of the Cline SDK: one JSON document of Anthropic-like messages, before or after a compaction."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from workbench.errors import FormatError
from workbench.importers.chat import Chat
from workbench.importers.fields import epoch, inner, items, known_id, maybe_whole, objects, whole, words
from workbench.importers.growth import main_model, project
from workbench.importers.heads import seen
from workbench.importers.source import Carries, Source, kind
from workbench.transcript.files import FileOps
from workbench.transcript.log import CompactionEntry
from workbench.transcript.message import Json, Summary, SystemMessage, Text
from workbench.transcript.session import Session


class Cline:
    """The `messages.json` files under `~/.cline/data/sessions`, and their compacted states."""

    name: ClassVar[str] = "cline"
    description: ClassVar[str] = "Cline sessions and their compacted states (JSON)"
    carries: ClassVar[tuple[Carries, ...]] = (
        "calls", "thinking", "images", "usage", "times", "model", "compactions", "system",
    )  # fmt: skip

    def knows(self, head: str) -> bool:
        """Whether it is a versioned list of messages with Cline's session id."""
        start = seen(head)
        return (
            not start.is_list
            and {"version", "sessionId"} <= start.keys
            and ({"messages", "agent"} & start.keys != set() and '"role"' in head)
        )

    def sessions(self, source: Source) -> Iterator[Session]:
        """The one session of a file."""
        document = source.document()
        if not isinstance(document, dict):
            raise FormatError(f"expected an object with `messages`, found {kind(document)}", where=source.where)
        chat = Chat(source)
        messages: list[dict[str, Json]] = []
        with source.at():
            prompt = words(document, "system_prompt")
            if prompt:
                chat.growth.say(SystemMessage(id="system", blocks=(Text(prompt),)))
            messages = objects(document, "messages")
        compacted = False
        for i, message in enumerate(messages):
            with source.at(field=f"messages[{i}]"):
                compacted = _hear(chat, message, compacted)
        log = chat.growth.log
        with source.at():
            yield Session(
                id=_name(document, source.stem),
                log=log,
                model=main_model(log),
                project=project("", source.folder),
            )


def _name(document: Mapping[str, Json], stem: str) -> str:
    """The session's id; its compacted states have the same one, so their file's name stands behind it."""
    given = known_id(document, "sessionId")
    return f"{given}-{stem}" if given and stem not in ("session", given) else given or stem


def _hear(chat: Chat, message: Mapping[str, Json], compacted: bool) -> bool:
    """Read one message; say whether the compaction that the file is the state after has been noted."""
    about = inner(message, "metadata")
    kind_ = words(about, "kind")
    if kind_ == "compaction_summary":
        _summary(chat, message, about)
        return True
    if kind_ == "compaction" and not compacted:
        entry_id = chat.growth.fresh(f"{known_id(message, 'id')}-compaction")
        reason = words(about, "reason")
        chat.growth.note(
            CompactionEntry(id=entry_id, parent=None, kept=_before(chat), reason=reason, time=epoch(message, "ts"))
        )
    chat.hear(_as_chat(message))
    return compacted or kind_ == "compaction"


def _summary(chat: Chat, message: Mapping[str, Json], about: Mapping[str, Json]) -> None:
    details = inner(about, "details")
    files = FileOps(_paths(details, "readFiles"), _paths(details, "modifiedFiles"))
    entry_id = chat.growth.fresh(known_id(message, "id") or "compaction")
    time = epoch(about, "generatedAt")
    summary = Summary(id=f"{entry_id}-summary", text=words(about, "summary"), files=files, time=time)
    chat.growth.note(
        CompactionEntry(
            id=entry_id,
            parent=None,
            summary=summary,
            kept=_before(chat),
            tokens_before=maybe_whole(about, "tokensBefore"),
            time=time,
        )
    )


def _before(chat: Chat) -> tuple[str, ...]:
    """What stands before: the system prompt, which no compaction touches."""
    return tuple(entry.id for entry in chat.growth.log)


def _paths(details: Mapping[str, Json], field: str) -> tuple[str, ...]:
    return tuple(path for path in items(details, field) if isinstance(path, str))


def _as_chat(message: Mapping[str, Json]) -> dict[str, Json]:
    """The message in Anthropic's shape, with files as text and figures under `usage`."""
    shaped = {name: value for name, value in message.items() if name in ("id", "role", "content")}
    if isinstance(shaped.get("content"), list):
        shaped["content"] = [_block(part) for part in shaped["content"]]
    shaped["timestamp"] = message.get("ts")
    shaped["model"] = words(inner(message, "modelInfo"), "id")
    metrics = inner(message, "metrics")
    read, written = whole(metrics, "cacheReadTokens"), whole(metrics, "cacheWriteTokens")
    if metrics:
        shaped["usage"] = {
            "input_tokens": max(whole(metrics, "inputTokens") - read - written, 0),
            "cache_read_input_tokens": read,
            "cache_creation_input_tokens": written,
            "output_tokens": whole(metrics, "outputTokens"),
        }
    return shaped


def _block(part: Json) -> Json:
    if isinstance(part, dict) and part.get("type") == "file":
        return {"type": "text", "text": f"{words(part, 'path')}\n{words(part, 'content')}"}
    return part
