"""What people export from chats: `conversations.json` of ChatGPT and of Claude, a session a
conversation.
"""

from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter

from workbench.engine.transcript.message import Json, Text, ToolCall
from workbench.engine.transcript.session import Session
from workbench.recordings.importers.blocks import add_part, text_block, thought_block
from workbench.recordings.importers.described import DescribedBuilder, MessageShape
from workbench.recordings.importers.format import Format
from workbench.recordings.importers.head import Head
from workbench.recordings.importers.json_text import decode_or
from workbench.recordings.importers.message_content import Content
from workbench.recordings.importers.message_lists import message_sessions
from workbench.recordings.importers.reading_account import Unknown
from workbench.recordings.importers.session_builder import SessionBuilder
from workbench.recordings.importers.source import SourceFile
from workbench.recordings.importers.values import (
    Record,
    as_list,
    as_mapping,
    as_object,
    identifier,
    items,
    label,
    mapping,
    objects,
    strings,
    text,
)

CLAUDE_LISTS = ("chat_messages",)
ROOT = "00000000-0000-4000-8000-000000000000"
"""The parent of a first message of Claude's export."""
CLAUDE = MessageShape(role="sender", content="content text", time="created_at")


def knows_claude(head: Head) -> bool:
    """Whether it is conversations of Claude."""
    return {"uuid", "chat_messages"} <= head.keys and '"sender"' in head.text


class ClaudeExportBuilder(DescribedBuilder):
    """Reads messages, each behind its parent, and the texts of the files that came with them.

    An answer holds all its rounds: results stand among what the model said.
    """

    shape = CLAUDE
    about = {"id": "uuid", "title": "name snapshot_name"}

    def __init__(self, source: SourceFile) -> None:
        super().__init__(source)
        self.places: dict[str, str | None] = {ROOT: None}
        self.newest = ""

    def begin(self, document: Record) -> None:
        """Read what is said of the conversation, such as where its main path ends."""
        super().begin(document)
        self.newest = label(document, "current_leaf_message_uuid")

    def close(self) -> None:
        """Go to the end of the main path: the message that is named, else the last one."""
        self.log.leaf = self.places.get(self.newest, self.log.leaf)

    def read(self, record: Record) -> None:
        """Read the attachments of a message, and the message."""
        parent = label(record, "parent_message_uuid")
        if parent in self.places:
            self.log.leaf = self.places[parent]
        for attached in objects(record, "attachments"):
            words = f"{text(attached, 'file_name')}\n{text(attached, 'extracted_content')}".strip()
            self.time = self.source.time(record, "created_at")
            self.say_text("user", words, synthetic=True)
        for blocks in _rounds(record.get("content")):
            super().read({**record, "content": blocks})
        self.places[label(record, "uuid")] = self.log.leaf


def _rounds(blocks: Json) -> list[Json]:
    """The blocks of each round of an answer, its results last; a content of another kind as it
    is.
    """
    if not isinstance(blocks, list) or not blocks:
        return [blocks]
    rounds: list[Json] = []
    is_answered = True
    for block in blocks:
        is_result = label(as_mapping(block), "type") == "tool_result"
        if is_answered and not is_result:
            rounds.append([])
        if not rounds:
            rounds.append([])
        rounds[-1].append(block)
        is_answered = is_result
    return rounds


def knows_chatgpt(head: Head) -> bool:
    """Whether it is conversations of ChatGPT: trees of messages, also inside an answer of its
    pages.
    """
    if {"mapping", "current_node"} <= head.keys:
        return True
    return {"conversation_id", "conversation"} <= head.keys and '"mapping"' in head.text


def chatgpt_sessions(source: SourceFile) -> Iterator[Session]:
    """One session a conversation."""
    document = source.document()
    for number, value in enumerate(as_list(document)):
        with source.at(field=f"[{number}]"):
            builder = ChatGptBuilder(source)
            builder.read_conversation(_conversation(as_object(value)))
            yield builder.session()


def chatgpt_values(source: SourceFile) -> Iterator[Json]:
    """The conversations, whose messages stand in a list instead of under their names."""
    for value in as_list(source.document()):
        conversation = dict(_conversation(as_mapping(value)))
        conversation["mapping"] = list(as_mapping(conversation.get("mapping")).values())
        yield conversation


def _conversation(value: Record) -> Record:
    """A conversation of an export, or the one inside an answer of ChatGPT's pages."""
    return mapping(value, "conversation") or value


class ChatGptBuilder(SessionBuilder):
    """Reads the messages of a conversation, each behind its parent."""

    about = {"id": "conversation_id id", "title": "title", "model": "default_model_slug"}

    def __init__(self, source: SourceFile) -> None:
        super().__init__(source)
        self.places: dict[str, str | None] = {}
        self.open_calls: dict[str, str] = {}

    def read_conversation(self, document: Record) -> None:
        """Read a conversation; its newest message is the end of the main path."""
        self.begin(document)
        nodes = mapping(document, "mapping")
        for name in _parents_first(nodes):
            with self.source.at(field=f"mapping.{name}"):
                node = mapping(nodes, name)
                self.log.leaf = self.places.get(text(node, "parent"))
                message = mapping(node, "message")
                if message:
                    self.read(message)
                self.places[name] = self.log.leaf
        newest = text(document, "current_node")
        self.log.leaf = self.places.get(newest, self.log.leaf)

    def read(self, record: Record) -> None:
        """Read one message: words, a call of the tool to whom it is addressed, or what a tool
        answered; what it says further, or without a call, is the client's word.
        """
        self.time = self.source.time(record, "create_time")
        role = text(record, "author/role")
        message_id = identifier(record, "id")
        parts = self._content(mapping(record, "content"))
        if role == "assistant":
            recipient = label(record, "recipient")
            if recipient not in ("", "all"):
                parts.blocks = [self._call(message_id, recipient, parts.words)]
            model = self.source.name(mapping(record, "metadata"), "model_slug")
            self.say_content(
                "assistant",
                parts,
                id=message_id,
                model=model,
            )
        elif role == "tool":
            name = text(record, "author/name")
            call_id = self.open_calls.pop(name, "")
            self.source.leave_unknown(parts.unknown)
            if call_id:
                self.say_result(
                    call_id,
                    parts.said,
                    id=message_id,
                    name=name,
                )
            elif parts.said:
                words = Content([*parts.said])
                self.say_content(
                    "user",
                    words,
                    id=message_id,
                    name=name,
                    synthetic=True,
                )
        elif role in ("user", "system"):
            if parts.blocks or parts.unknown:
                self.say_content(role, parts, id=message_id)
        else:
            self.source.leave_record(f"message of role {role!r:.40}", record)

    def _call(self, message_id: str, recipient: str, words: str) -> ToolCall:
        self.open_calls[recipient] = message_id
        arguments = decode_or(words)
        if not isinstance(arguments, dict):
            arguments = {"input": words}
        return ToolCall(message_id, recipient, arguments)

    def _content(self, record: Record) -> Content:
        """What a message says, by the type of its content."""
        kind = label(record, "content_type")
        if kind == "thoughts":
            return _thoughts(record)
        parts = Content()
        for part in items(record, "parts"):
            asset = label(as_mapping(part), "asset_pointer")
            add_part(parts, {"type": "image", "url": asset} if asset else part)
        for name in ("text", "result", "content", "user_profile", "user_instructions"):
            parts.blocks += text_block(label(record, name))
        parts.blocks = [block for block in parts.blocks if block != Text("")]
        if not parts.blocks:
            other_values = dict(record)
            other_values.pop("content_type", None)
            other_values.pop("language", None)
            other_texts = tuple(strings(list(other_values.values())))
            if any(other_texts):
                parts.unknown.append(Unknown(f"content of type {kind!r}", other_texts))
        return parts


def _thoughts(record: Record) -> Content:
    """What a model thought."""
    parts = Content()
    for thought in objects(record, "thoughts"):
        words = f"{text(thought, 'summary')}\n{text(thought, 'content')}".strip()
        parts.blocks += thought_block(words)
    other_content = [
        record.get("parts"),
        record.get("text"),
        record.get("content"),
    ]
    other_texts = tuple(strings(other_content))
    if any(other_texts):
        parts.unknown.append(Unknown("thoughts with other content", other_texts))
    return parts


def _parents_first(nodes: Record) -> list[str]:
    """The names of the nodes of a tree, each behind its parent; in the order of the file where
    it is none.
    """
    parents_of: dict[str, list[str]] = {}
    for name, node in nodes.items():
        parent = label(as_mapping(node), "parent")
        parents_of[name] = [parent] if parent in nodes else []
    try:
        return list(TopologicalSorter(parents_of).static_order())
    except CycleError:
        return list(nodes)


CHATGPT_EXPORT = Format(
    name="chatgpt_export",
    description="ChatGPT's export (`conversations.json`)",
    carries=("tree", "calls", "thinking", "images", "times", "model", "system"),
    knows=knows_chatgpt,
    sessions=chatgpt_sessions,
    values=chatgpt_values,
    aside="mapping.message.metadata title _project_name",
)

CLAUDE_EXPORT = Format(
    name="claude_export",
    description="Claude's export (`conversations.json`)",
    carries=("tree", "calls", "thinking", "times"),
    knows=knows_claude,
    sessions=message_sessions(ClaudeExportBuilder, CLAUDE_LISTS),
    aside="chat_messages.text summary chat_messages.content.display_content chat_messages.content.summaries "
    "chat_messages.content.message",
)
