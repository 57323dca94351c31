"""One line of a Claude Code recording: what it says, and its place in the tree."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from workbench.errors import FormatError
from workbench.importers.content import Content, as_json, content
from workbench.importers.fields import anthropic_usage, epoch, inner, items, maybe_whole, words
from workbench.importers.images import image
from workbench.importers.source import kind
from workbench.transcript.message import Json, SaidBlock, Text, Usage

Kind: TypeAlias = Literal["user", "assistant", "boundary", "clearing", "note", "through"]

SYNTHETIC = "<synthetic>"
"""The model name that the client gives to answers that it wrote itself."""
NOTES = frozenset({"api_error", "local_command", "model_refusal_fallback"})
_CLIENT = re.compile(
    r"\s*(?:<(?:local-command-|bash-std|system-reminder|task-notification|user-memory-input|ide_)|"
    r"\[Request interrupted by user|Caveat: The messages below were generated)"
)
_COMMAND = re.compile(r"\s*<command-(?:name|message)>")
_COMMAND_ARGS = re.compile(r"<command-args>\s*\S")


@dataclass(slots=True)
class Node:
    """One record of the tree, with its text and without the client's own copies of it."""

    line: int
    uuid: str
    parent: str
    kind: Kind
    side: bool = False
    time: float | None = None
    content: Content = field(default_factory=Content)
    synthetic: bool = False
    summary: bool = False
    message_id: str = ""
    model: str = ""
    usage: Usage | None = None
    stop: str = ""
    label: str = ""
    meta: Mapping[str, Json] = field(default_factory=dict)


def node(line: int, record: Mapping[str, Json]) -> Node | None:
    """The record's node; None for side records, which have no place in the tree.

    Raises:
        FormatError: a field has the wrong type.
    """
    uuid = words(record, "uuid")
    if not uuid:
        return None
    made = Node(
        line,
        uuid,
        words(record, "parentUuid") or words(record, "logicalParentUuid"),
        "through",
        record.get("isSidechain") is True,
        epoch(record, "timestamp"),
    )
    type_ = record.get("type")
    if type_ == "user":
        _user(made, record)
    elif type_ == "assistant":
        _assistant(made, record)
    elif type_ == "attachment":
        _attachment(made, inner(record, "attachment"))
    elif type_ == "system":
        _system(made, record)
    return made


def _user(made: Node, record: Mapping[str, Json]) -> None:
    made.kind = "user"
    made.content = content(_message(record))
    made.summary = record.get("isCompactSummary") is True
    text = next((block.text for block in made.content.blocks if isinstance(block, Text)), "")
    made.synthetic = record.get("isMeta") is True or _by_client(text)


def _assistant(made: Node, record: Mapping[str, Json]) -> None:
    message = _message(record)
    made.content = content(message)
    made.model = words(message, "model")
    made.message_id = words(message, "id") or made.uuid
    if record.get("isApiErrorMessage") is True:
        made.kind, made.label = "note", "api_error"
        return
    made.kind = "assistant"
    made.stop = words(message, "stop_reason")
    made.usage = anthropic_usage(inner(message, "usage"))
    if made.model == SYNTHETIC:
        made.model, made.synthetic = "", True


def _system(made: Node, record: Mapping[str, Json]) -> None:
    subtype = words(record, "subtype")
    if subtype == "compact_boundary":
        made.kind, made.meta = "boundary", inner(record, "compactMetadata")
        made.parent = words(record, "logicalParentUuid") or words(record, "parentUuid")
    elif subtype == "microcompact_boundary":
        made.kind, made.meta = "clearing", inner(record, "microcompactMetadata")
    elif subtype in NOTES:
        made.kind, made.label = "note", subtype
        text = record.get("content")
        made.content = Content([Text(text if isinstance(text, str) else as_json(record.get("error")))])


def _attachment(made: Node, attachment: Mapping[str, Json]) -> None:
    type_ = words(attachment, "type")
    read = ATTACHMENTS.get(type_)
    if read is None:
        made.content.unknown.append(f"attachment of type {type_!r}")
        return
    blocks = read(attachment)
    if blocks:
        made.kind, made.content = "user", Content(list(blocks))
        made.synthetic = not (type_ == "queued_command" and attachment.get("commandMode") in (None, "prompt"))


def _message(record: Mapping[str, Json]) -> Mapping[str, Json]:
    message = record.get("message")
    if not isinstance(message, dict):
        raise FormatError(f"expected an object, found {kind(message)}", field="message")
    return message


def _by_client(text: str) -> bool:
    if _COMMAND.match(text):
        return _COMMAND_ARGS.search(text) is None
    return _CLIENT.match(text) is not None


def _joined(field_name: str) -> Callable[[Mapping[str, Json]], tuple[SaidBlock, ...]]:
    def read(attachment: Mapping[str, Json]) -> tuple[SaidBlock, ...]:
        value = attachment.get(field_name)
        parts = value if isinstance(value, list) else [value] if value else []
        text = "\n".join(part if isinstance(part, str) else as_json(part) for part in parts)
        return (Text(text),) if text.strip() else ()

    return read


def _prompt(attachment: Mapping[str, Json]) -> tuple[SaidBlock, ...]:
    return content(attachment, "prompt").said


def _file(attachment: Mapping[str, Json]) -> tuple[SaidBlock, ...]:
    inside = inner(attachment, "content")
    file = inner(inside, "file")
    if words(inside, "type") == "image":
        return (image(words(file, "type"), words(file, "base64")),)
    text = words(file, "content")
    return (Text(f"{words(attachment, 'filename')}\n{text}"),) if text else ()


def _memory(attachment: Mapping[str, Json]) -> tuple[SaidBlock, ...]:
    text = words(inner(attachment, "content"), "content")
    return (Text(f"{words(attachment, 'path')}\n{text}"),) if text else ()


def _edited(attachment: Mapping[str, Json]) -> tuple[SaidBlock, ...]:
    text = words(attachment, "snippet")
    return (Text(f"{words(attachment, 'filename')}\n{text}"),) if text else ()


def _hook(attachment: Mapping[str, Json]) -> tuple[SaidBlock, ...]:
    """What a hook printed: only at these two events does the client pass it on."""
    if attachment.get("hookEvent") not in ("SessionStart", "UserPromptSubmit"):
        return ()
    return _joined("content")(attachment)


def _todo(attachment: Mapping[str, Json]) -> tuple[SaidBlock, ...]:
    lines = []
    for task in items(attachment, "content"):
        if isinstance(task, dict):
            lines.append(f"[{words(task, 'status')}] {words(task, 'subject') or words(task, 'content')}")
    return (Text("\n".join(lines)),) if lines else ()


def _nothing(attachment: Mapping[str, Json]) -> tuple[SaidBlock, ...]:
    return ()


ATTACHMENTS: Mapping[str, Callable[[Mapping[str, Json]], tuple[SaidBlock, ...]]] = {
    "agent_listing_delta": _joined("addedLines"),
    "command_permissions": _nothing,
    "compact_file_reference": _joined("filename"),
    "deferred_tools_delta": _joined("addedLines"),
    "edited_text_file": _edited,
    "file": _file,
    "hook_additional_context": _joined("content"),
    "hook_success": _hook,
    "hook_system_message": _nothing,
    "mcp_instructions_delta": _joined("addedBlocks"),
    "nested_memory": _memory,
    "queued_command": _prompt,
    "skill_listing": _joined("content"),
    "task_reminder": _todo,
    "todo": _todo,
    "todo_reminder": _todo,
}
"""How each kind of attachment was worded for the model, as far as its text is in the file."""


def boundary_ids(meta: Mapping[str, Json]) -> list[str] | None:
    """The ids of the records that stayed verbatim behind the summary; None where the recording names none."""
    preserved = inner(meta, "preservedMessages")
    ids = items(preserved, "uuids") or items(preserved, "allUuids")
    return [uuid for uuid in ids if isinstance(uuid, str)] or None


def cleared_ids(meta: Mapping[str, Json]) -> tuple[str, ...]:
    """The ids of the calls whose results were cleared."""
    return tuple(call for call in items(meta, "compactedToolIds") if isinstance(call, str))


def tokens(meta: Mapping[str, Json], name: str) -> int | None:
    """A figure of the client about its own context."""
    return maybe_whole(meta, name)
