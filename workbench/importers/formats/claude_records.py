"""One line of a Claude Code recording: what it says, and its place in the tree."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, TypeAlias

from workbench.errors import FormatError
from workbench.importers.blocks import Content, as_json, content
from workbench.importers.decoding import kind
from workbench.importers.images import image
from workbench.importers.usage import ANTHROPIC_USAGE
from workbench.importers.values import items, mapping, optional_count, text, texts, timestamp
from workbench.transcript.log import ClearingEntry, CompactionEntry, NoteEntry
from workbench.transcript.message import Json, SaidBlock, Text, ToolCall, Usage

Kind: TypeAlias = Literal["user", "assistant", "entry", "through"]
Attachment: TypeAlias = Mapping[str, Json]

SYNTHETIC = "<synthetic>"
"""The model name that the client gives to answers that it wrote itself."""
NOTES = frozenset({"api_error", "local_command", "model_refusal_fallback"})
_CLIENT = re.compile(
    r"\s*(?:<(?:local-command-|bash-std|system-reminder|task-notification|user-memory-input|ide_)|"
    r"\[Request interrupted by user|Caveat: The messages below were generated)"
)
_COMMAND = re.compile(r"\s*<command-(?:name|message)>")
_COMMAND_ARGS = re.compile(r"<command-args>\s*\S")


@dataclass(slots=True, eq=False)
class Node:
    """One record of the tree, with its text and without the client's own copies of it.

    Attributes:
        kind: `through` has no content, and only connects its children to its parent.
        entry: what an `entry` is in a log. The summary of a compaction is a record of its own.
        preserved: ids of the records that a compaction kept word for word, where the recording names them.
    """

    line: int
    uuid: str
    parent: str
    side: bool
    time: float | None
    kind: Kind = "through"
    content: Content = field(default_factory=Content)
    synthetic: bool = False
    summary: bool = False
    message_id: str = ""
    model: str = ""
    usage: Usage | None = None
    stop: str = ""
    entry: CompactionEntry | ClearingEntry | NoteEntry | None = None
    preserved: tuple[str, ...] = ()

    @property
    def calls(self) -> dict[str, str]:
        """The names of the tools that the record calls, by the ids of the calls."""
        return {block.id: block.name for block in self.content.blocks if isinstance(block, ToolCall)}


def read_node(line: int, record: Mapping[str, Json]) -> Node | None:
    """The record's node; None for side records, which have no place in the tree.

    Raises:
        FormatError: a field has the wrong type.
    """
    uuid = text(record, "uuid")
    if not uuid:
        return None
    parent, time = text(record, "parentUuid", "logicalParentUuid"), timestamp(record, "timestamp")
    made = Node(line, uuid, parent, record.get("isSidechain") is True, time)
    match record.get("type"):
        case "user":
            made.kind, made.content = "user", content(_message(record))
            made.summary = record.get("isCompactSummary") is True
            first = next((block.text for block in made.content.blocks if isinstance(block, Text)), "")
            made.synthetic = record.get("isMeta") is True or _by_client(first)
        case "assistant":
            _read_answer(made, record)
        case "attachment":
            _read_attachment(made, mapping(record, "attachment"))
        case "system":
            _read_system(made, record)
    return made


def _read_answer(made: Node, record: Mapping[str, Json]) -> None:
    message = _message(record)
    made.content = content(message)
    made.model, made.message_id = text(message, "model"), text(message, "id") or made.uuid
    if record.get("isApiErrorMessage") is True:
        _note(made, "api_error")
        return
    made.kind, made.stop = "assistant", text(message, "stop_reason")
    made.usage = ANTHROPIC_USAGE.read(mapping(message, "usage"))
    if made.model == SYNTHETIC:
        made.model, made.synthetic = "", True


def _read_system(made: Node, record: Mapping[str, Json]) -> None:
    subtype = text(record, "subtype")
    if subtype in ("compact_boundary", "microcompact_boundary"):
        meta = mapping(record, "compactMetadata" if subtype == "compact_boundary" else "microcompactMetadata")
        about: dict[str, Any] = {"id": made.uuid, "parent": None, "time": made.time}
        about |= {"tokens_before": optional_count(meta, "preTokens"), "reason": text(meta, "trigger")}
        made.kind = "entry"
        if subtype == "compact_boundary":
            made.parent = text(record, "logicalParentUuid", "parentUuid")
            made.preserved = texts(meta, "preservedMessages/uuids") or texts(meta, "preservedMessages/allUuids")
            made.entry = CompactionEntry(tokens_after=optional_count(meta, "postTokens"), **about)
        else:
            call_ids, saved = texts(meta, "compactedToolIds"), optional_count(meta, "tokensSaved")
            made.entry = ClearingEntry(call_ids=call_ids, tokens_saved=saved, **about)
    elif subtype in NOTES:
        words = record.get("content")
        made.content = Content([Text(words if isinstance(words, str) else as_json(record.get("error")))])
        _note(made, subtype)


def _note(made: Node, label: str) -> None:
    made.kind = "entry"
    made.entry = NoteEntry(id=made.uuid, parent=None, kind=label, text=made.content.words, time=made.time)


def _read_attachment(made: Node, attachment: Attachment) -> None:
    type_ = text(attachment, "type")
    if type_ in UNSENT_ATTACHMENTS:
        return
    if type_ not in ATTACHMENTS:
        made.content.unknown.append(f"attachment of type {type_!r}")
    elif blocks := ATTACHMENTS[type_](attachment):
        made.kind, made.content = "user", Content(list(blocks))
        made.synthetic = not (type_ == "queued_command" and attachment.get("commandMode") in (None, "prompt"))


def _message(record: Mapping[str, Json]) -> Mapping[str, Json]:
    message = record.get("message")
    if not isinstance(message, dict):
        raise FormatError(f"expected an object, found {kind(message)}", field="message")
    return message


def _by_client(words: str) -> bool:
    if _COMMAND.match(words):
        return _COMMAND_ARGS.search(words) is None
    return _CLIENT.match(words) is not None


def _lines(field: str, attachment: Attachment) -> Sequence[SaidBlock]:
    """The values of a field, a line each."""
    value = attachment.get(field)
    parts = value if isinstance(value, list) else [value] if value else []
    words = "\n".join(part if isinstance(part, str) else as_json(part) for part in parts)
    return [Text(words)] if words.strip() else []


def _titled(title: str, field: str, attachment: Attachment) -> Sequence[SaidBlock]:
    """The text of a field under that of another."""
    words = text(attachment, field)
    return [Text(f"{text(attachment, title)}\n{words}")] if words else []


def _file(attachment: Attachment) -> Sequence[SaidBlock]:
    if text(attachment, "content/type") == "image":
        return [image(text(attachment, "content/file/type"), text(attachment, "content/file/base64"))]
    return _titled("filename", "content/file/content", attachment)


def _hook(attachment: Attachment) -> Sequence[SaidBlock]:
    """What a hook printed: only at these two events does the client pass it on."""
    sent = attachment.get("hookEvent") in ("SessionStart", "UserPromptSubmit")
    return _lines("content", attachment) if sent else []


def _tasks(attachment: Attachment) -> Sequence[SaidBlock]:
    tasks = [task for task in items(attachment, "content") if isinstance(task, dict)]
    lines = [f"[{text(task, 'status')}] {text(task, 'subject', 'content')}" for task in tasks]
    return [Text("\n".join(lines))] if lines else []


ATTACHMENTS: Mapping[str, Callable[[Attachment], Sequence[SaidBlock]]] = {
    **dict.fromkeys(("agent_listing_delta", "deferred_tools_delta"), partial(_lines, "addedLines")),
    **dict.fromkeys(("hook_additional_context", "skill_listing"), partial(_lines, "content")),
    **dict.fromkeys(("task_reminder", "todo", "todo_reminder"), _tasks),
    "compact_file_reference": partial(_lines, "filename"),
    "edited_text_file": partial(_titled, "filename", "snippet"),
    "file": _file,
    "hook_success": _hook,
    "mcp_instructions_delta": partial(_lines, "addedBlocks"),
    "nested_memory": partial(_titled, "path", "content/content"),
    "queued_command": lambda attachment: content(attachment, "prompt").said,
}
"""How each kind of attachment was worded for the model, as far as its text is in the file."""
UNSENT_ATTACHMENTS = frozenset({"command_permissions", "hook_system_message"})
