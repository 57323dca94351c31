"""One line of a Claude Code recording: what it says, and its place in the tree."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from workbench.engine.transcript.log import ClearingEntry, CompactionEntry, Entry, NoteEntry
from workbench.engine.transcript.message import (
    AssistantMessage,
    SaidBlock,
    Text,
    ToolResult,
    UserMessage,
)
from workbench.recordings.importers.blocks import Part, as_json, content, text_block
from workbench.recordings.importers.images import image
from workbench.recordings.importers.message_content import Content
from workbench.recordings.importers.source import SourceFile
from workbench.recordings.importers.usage import ANTHROPIC_USAGE
from workbench.recordings.importers.values import (
    as_list,
    as_mapping,
    as_object,
    items,
    label,
    mapping,
    objects,
    text,
    texts,
)

SYNTHETIC = "<synthetic>"
"""The model name that the client gives to answers that it wrote itself."""
NOTES = frozenset({"api_error", "local_command", "model_refusal_fallback"})
WITHOUT_NOTE = frozenset({"away_summary", "bridge_status"})
"""Subtypes of the client's own records whose words are for its user, and for no model."""
CLIENT_TYPES = frozenset({"attachment", "progress", "system"})
BOUNDARIES = frozenset({"compact_boundary", "microcompact_boundary"})
_TREE = frozenset({"uuid", "parentUuid", "agentId"})
"""Fields that give a record a place among others."""
_CLIENT = re.compile(
    r"\s*(?:<command-(?:name|message)>(?!(?s:.*)<command-args>\s*\S)|"
    r"<(?:local-command-|bash-std|system-reminder|task-notification|user-memory-input|ide_)|"
    r"\[Request interrupted by user|Caveat: The messages below were generated)"
)


@dataclass(slots=True, eq=False)
class Node:
    """One record of the tree.

    Attributes:
        item: the message or entry that it is, with the record's id; None if it only connects its
            children to its parent, or holds only results. The ids in `kept` of a compaction are
            those of records.
        summary: whether it is the summary of the compaction before it.
        preserved: of a compaction, the first and the last record that stayed, where it names no
            others.
        message_id: in an answer, of the API message of which it is a part.
        client: whether the client wrote it: an attachment, what a hook printed, a state.
        forked_from: id of the session that it was copied from; empty where it was not.
    """

    line: int
    uuid: str
    parent: str
    side: bool
    time: float | None
    item: UserMessage | AssistantMessage | Entry | None = None
    results: tuple[ToolResult, ...] = ()
    summary: bool = False
    preserved: tuple[str, str] = ("", "")
    message_id: str = ""
    client: bool = False
    forked_from: str = ""

    @property
    def calls(self) -> dict[str, str]:
        """The names of the tools that the record calls, by the ids of the calls."""
        if not isinstance(self.item, AssistantMessage):
            return {}
        return {call.id: call.name for call in self.item.calls}

    @property
    def says(self) -> object:
        """All that it says: what two records with one id must have in common to be one."""
        blocks: Sequence[object] = ()
        note = ""
        if isinstance(self.item, UserMessage | AssistantMessage):
            blocks = self.item.blocks
        elif isinstance(self.item, NoteEntry):
            note = self.item.text
        results = [(result.call_id, result.blocks) for result in self.results]
        return type(self.item), blocks, note, results

    def rename(self, uuid: str) -> None:
        """Give it another id."""
        self.uuid = uuid
        if self.item is not None:
            self.item = replace(self.item, id=uuid)
        self.results = tuple(replace(result, id=uuid) for result in self.results)

    @property
    def is_through(self) -> bool:
        """Whether it has no content, and only connects its children to its parent."""
        return self.item is None and not self.results


def read_node(line: int, record: Part, source: SourceFile) -> Node | None:
    """The record's node; None for side records, which have no place in the tree. Kinds without a
    reader are counted. A message of another program, which has no id, gets its line's number.

    Raises:
        FormatError: a field has the wrong type.
    """
    uuid = text(record, "uuid")
    if not uuid and is_without_tree(record):
        uuid = f"line-{line}"
    if not uuid:
        return None
    node = Node(
        line=line,
        uuid=uuid,
        parent=text(record, "parentUuid", "logicalParentUuid"),
        time=source.time(record, "timestamp"),
        side=record.get("isSidechain") is True,
        client=_is_client(record),
        forked_from=label(as_mapping(record.get("forkedFrom")), "sessionId"),
    )
    match record.get("type"):
        case "user" | "assistant" as type_:
            _read_message(node, type_, record, source)
        case "attachment":
            node.item = _attachment(node, mapping(record, "attachment"), source)
        case "system":
            node.item = _system(node, record, source)
        case "progress":
            if record.get("message"):
                source.leave_record("message in a record of progress", record)
        case type_ if not {"message", "attachment", "content", "data"}.isdisjoint(record):
            source.unknown[f"record of type {str(type_)[:40]!r}"] += 1
    return node


def is_without_tree(record: Part) -> bool:
    """Whether it is a message as the client writes it, without an id and a parent: other programs
    copy it so.
    """
    type_ = label(record, "type")
    message = as_mapping(record.get("message"))
    if type_ not in ("user", "assistant"):
        return False
    if not _TREE.isdisjoint(record):
        return False
    if "sessionId" not in record or "content" not in message:
        return False
    return label(message, "role") == type_


def is_client_text(words: str) -> bool:
    """Whether the client worded a user's message: a command, a reminder, a report."""
    return _CLIENT.match(words) is not None


def _is_client(record: Part) -> bool:
    """Whether the client wrote a record, and it is no compaction."""
    if label(record, "type") not in CLIENT_TYPES:
        return False
    return label(record, "subtype") not in BOUNDARIES


def _read_message(node: Node, type_: str, record: Part, source: SourceFile) -> None:
    """Read the message of a user's or an assistant's record into its node."""
    message = as_object(record.get("message"), "message")
    role = label(message, "role")
    if role in ("user", "assistant") and role != type_:
        source.leave_out(
            f"line {node.line}: the message of a record of type {type_!r} has the role {role!r}"
        )
    parts = content(message)
    source.leave_unknown(parts.unknown)
    node.results = tuple(replace(result, id=node.uuid) for result in parts.results)
    node.summary = record.get("isCompactSummary") is True
    if type_ == "assistant":
        node.item = _answer(node, record, parts, source)
    else:
        node.item = _user(node, record, parts, source)


def _user(node: Node, record: Part, parts: Content, source: SourceFile) -> UserMessage | None:
    said_blocks = parts.said_by("user", source.unknown)
    if parts.results and not said_blocks:
        return None
    synthetic = is_client_text(parts.first_text) or record.get("isMeta") is True
    return UserMessage(id=node.uuid, blocks=said_blocks, synthetic=synthetic)


def _answer(
    node: Node, record: Part, parts: Content, source: SourceFile
) -> AssistantMessage | UserMessage | NoteEntry:
    """An answer of a model; what the client answered for it was no request, and is sent later."""
    message = mapping(record, "message")
    if record.get("isApiErrorMessage") is True:
        return _note(node, "api_error", parts.words)
    model = source.name(message, "model")
    if model == SYNTHETIC:
        said_blocks = parts.said_by("user", source.unknown)
        return UserMessage(id=node.uuid, blocks=said_blocks, synthetic=True)
    node.message_id = text(message, "id") or node.uuid
    return AssistantMessage(
        id=node.uuid,
        blocks=tuple(parts.blocks),
        model=model,
        usage=source.usage(ANTHROPIC_USAGE, message, "usage"),
        stop=source.name(message, "stop_reason"),
    )


def _system(node: Node, record: Part, source: SourceFile) -> Entry | None:
    subtype = text(record, "subtype")
    is_known = subtype in NOTES | BOUNDARIES | WITHOUT_NOTE
    is_odd = not is_known and bool(record.get("content"))
    if is_odd or record.get("message"):
        source.leave_record(f"record of the client of subtype {subtype!r:.40}", record)
    if subtype in NOTES:
        words = record.get("content")
        if not isinstance(words, str):
            words = as_json(record.get("error"))
        return _note(node, subtype, words)
    if subtype == "compact_boundary":
        return _compaction(node, record, source)
    if subtype == "microcompact_boundary":
        return _clearing(node, record, source)
    return None


def _compaction(node: Node, record: Part, source: SourceFile) -> CompactionEntry:
    meta = mapping(record, "compactMetadata")
    tokens_before = source.count(meta, "preTokens")
    reason = text(meta, "trigger")
    head = text(meta, "preservedSegment/headUuid")
    tail = text(meta, "preservedSegment/tailUuid")
    node.preserved = head, tail
    node.parent = text(record, "logicalParentUuid", "parentUuid") or tail
    kept_ids = texts(meta, "preservedMessages/uuids") or texts(meta, "preservedMessages/allUuids")
    return CompactionEntry(
        id=node.uuid,
        parent=None,
        time=node.time,
        tokens_before=tokens_before,
        tokens_after=source.count(meta, "postTokens"),
        reason=reason,
        kept=kept_ids or None,
    )


def _clearing(node: Node, record: Part, source: SourceFile) -> ClearingEntry:
    meta = mapping(record, "microcompactMetadata")
    return ClearingEntry(
        id=node.uuid,
        parent=None,
        time=node.time,
        tokens_before=source.count(meta, "preTokens"),
        reason=text(meta, "trigger"),
        call_ids=texts(meta, "compactedToolIds"),
        tokens_saved=source.count(meta, "tokensSaved"),
    )


def _note(node: Node, label: str, words: str) -> NoteEntry:
    return NoteEntry(
        id=node.uuid,
        parent=None,
        kind=label,
        text=words,
        time=node.time,
    )


def _attachment(node: Node, attachment: Part, source: SourceFile) -> UserMessage | None:
    type_ = text(attachment, "type")
    blocks: Sequence[SaidBlock] = ()
    if type_ in ATTACHMENTS:
        blocks = ATTACHMENTS[type_](attachment)
    else:
        source.leave_record(f"attachment of type {type_!r}", attachment)
    has_content = attachment.get("content") != ""
    if type_ == "nested_memory" and not blocks and has_content:
        source.leave_record("file of rules without its text", attachment)
    if not blocks:
        return None
    is_typed = False
    if type_ == "queued_command":
        is_typed = attachment.get("commandMode") in (None, "prompt")
    return UserMessage(id=node.uuid, blocks=tuple(blocks), synthetic=not is_typed)


def _lines(field: str, attachment: Part) -> Sequence[SaidBlock]:
    """The values of a field, a line each."""
    value = attachment.get(field)
    if not value:
        return []
    lines: list[str] = []
    for part in as_list(value):
        line = part
        if not isinstance(part, str):
            line = as_json(part)
        lines.append(line)
    words = "\n".join(lines)
    if not words.strip():
        return []
    return [Text(words)]


def _titled(title: str, field: str, attachment: Part) -> Sequence[SaidBlock]:
    """The text of a field under that of another."""
    words = text(attachment, field)
    if not words:
        return []
    heading = text(attachment, title)
    return [Text(f"{heading}\n{words}")]


def _file(attachment: Part) -> Sequence[SaidBlock]:
    if text(attachment, "content/type") != "image":
        return _titled("filename", "content/file/content", attachment)
    media_type = text(attachment, "content/file/type")
    data = text(attachment, "content/file/base64")
    return [image(media_type, data)]


def _hook(attachment: Part) -> Sequence[SaidBlock]:
    """What a hook printed: only at these two events does the client pass it on."""
    if attachment.get("hookEvent") not in ("SessionStart", "UserPromptSubmit"):
        return []
    return _lines("content", attachment)


def _listed(title: str, words: str, field: str, attachment: Part) -> Sequence[SaidBlock]:
    """Each object of a list, its text under its title."""
    blocks: list[SaidBlock] = []
    for item in objects(attachment, field):
        heading = text(item, title)
        body = text(item, words)
        blocks += text_block(f"{heading}\n{body}".strip())
    return blocks


def _tasks(attachment: Part) -> Sequence[SaidBlock]:
    lines: list[str] = []
    for task in items(attachment, "content"):
        if isinstance(task, dict):
            status = text(task, "status")
            subject = text(task, "subject", "content")
            lines.append(f"[{status}] {subject}")
    return text_block("\n".join(lines))


ATTACHMENTS: Mapping[str, Callable[[Part], Sequence[SaidBlock]]] = {
    **dict.fromkeys(("agent_listing_delta", "deferred_tools_delta"), partial(_lines, "addedLines")),
    **dict.fromkeys(("hook_additional_context", "skill_listing"), partial(_lines, "content")),
    **dict.fromkeys(("task_reminder", "todo", "todo_reminder"), _tasks),
    "compact_file_reference": partial(_lines, "filename"),
    "edited_text_file": partial(_titled, "filename", "snippet"),
    "file": _file,
    "instructions": partial(_listed, "path", "content", "files"),
    "invoked_skills": partial(_listed, "path", "content", "skills"),
    "plan_file_reference": partial(_titled, "planFilePath", "planContent"),
    "task_status": partial(_titled, "status", "description"),
    "hook_success": _hook,
    "mcp_instructions_delta": partial(_lines, "addedBlocks"),
    "nested_memory": partial(_titled, "path", "content/content"),
    "queued_command": lambda attachment: content(attachment, "prompt").said,
    **dict.fromkeys(("command_permissions", "hook_system_message"), lambda attachment: []),
}
"""How each kind of attachment was worded for the model, as far as its text is in the file; some
are not sent.
"""
