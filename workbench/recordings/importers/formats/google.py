"""Gemini CLI's documents under `~/.gemini/tmp/<project>/chats`."""

from collections.abc import Iterator

from workbench.engine.transcript.log import MessageEntry, fold
from workbench.engine.transcript.message import (
    AssistantMessage,
    Image,
    SaidBlock,
    Thinking,
    ToolCall,
    ToolResult,
)
from workbench.engine.transcript.session import Session
from workbench.recordings.importers.blocks import content
from workbench.recordings.importers.format import Format, json_document, json_lines
from workbench.recordings.importers.head import Head
from workbench.recordings.importers.message_content import Content
from workbench.recordings.importers.session_builder import SessionBuilder
from workbench.recordings.importers.source import SourceFile
from workbench.recordings.importers.told_again import CLIENT_ANSWER, ids_told_again, places_of
from workbench.recordings.importers.tool_calls import tool_call
from workbench.recordings.importers.usage import UsageFields
from workbench.recordings.importers.values import (
    JsonObject,
    Record,
    identifier,
    label,
    mapping,
    objects,
    text,
)

CONTEXT = "<session_context>"
"""How the client begins what it adds to a user's first message."""
ROLES = {"gemini": "assistant"}
NOTES = frozenset({"info", "error", "warning"})
FAILED = frozenset({"error", "cancelled"})
ENDED = FAILED | {"success"}
"""States of a call that has ended."""
USAGE = UsageFields(
    "input",
    "output",
    "cached",
    reasoning="thoughts",
    tool_input="tool",
    total="total",
    cache_in_input=True,
    reasoning_in_output=False,
)


class GeminiCliBuilder(SessionBuilder):
    """Reads messages; an answer holds its calls with their results."""

    about = {"id": "sessionId", "title": "summary", "project": "projectHash"}

    def __init__(self, source: SourceFile) -> None:
        super().__init__(source)
        self.answered_calls: set[str] = set()
        self.result_images: list[Image] = []

    def read(self, record: Record) -> None:
        """Read one message."""
        type_ = text(record, "type")
        message_id = identifier(record, "id")
        parts = content(record)
        self.time = self.source.time(record, "timestamp")
        if type_ == "user" or type_ in NOTES:
            for field in ("thoughts", "toolCalls"):
                if record.get(field):
                    self.source.unknown[f"{field} of a message of type {type_}"] += 1
        if type_ == "user":
            self._user(message_id, parts)
        elif type_ == "gemini":
            self._answer(record, message_id, parts)
        elif type_ in NOTES:
            self.note(type_, parts.words, id=message_id)
        else:
            self.source.unknown[f"message of type {type_!r}"] += 1

    def _user(self, message_id: str, parts: Content) -> None:
        """Read what was typed, what the client added, or results, which newer versions write
        twice.
        """
        results = [result for result in parts.results if result.call_id not in self.answered_calls]
        is_repeated = len(results) < len(parts.results)
        parts.results = results
        if is_repeated:
            parts.blocks = [block for block in parts.blocks if block not in self.result_images]
        if is_repeated and not parts.blocks and not results:
            return
        synthetic = parts.words.startswith(CONTEXT)
        self.say_content(
            "user",
            parts,
            id=message_id,
            synthetic=synthetic,
        )

    def _answer(self, record: Record, message_id: str, parts: Content) -> None:
        thoughts: list[Thinking] = []
        for thought in objects(record, "thoughts"):
            words = f"{text(thought, 'subject')}\n{text(thought, 'description')}"
            thoughts.append(Thinking(words.strip()))
        parts.blocks = [*thoughts, *parts.blocks]
        for call_record in objects(record, "toolCalls"):
            call = tool_call(call_record)
            parts.blocks.append(call)
            result = self._result(call_record, call)
            if result is not None:
                parts.results.append(result)
        for result in parts.results:
            self.answered_calls.add(result.call_id)
            self.result_images += [block for block in result.blocks if isinstance(block, Image)]
        model = self.source.name(record, "model")
        usage = self.source.usage(USAGE, record, "tokens")
        self.say_content(
            "assistant",
            parts,
            id=message_id,
            model=model,
            usage=usage,
        )

    def _result(self, record: Record, call: ToolCall) -> ToolResult | None:
        """A call's result, which may be several parts; None where the recording has none."""
        status = text(record, "status")
        value = record.get("result")
        parts = content(record, "result") if isinstance(value, str | list) else Content()
        blocks: list[SaidBlock] = []
        for result in parts.results:
            blocks += result.blocks
        blocks += parts.said
        if not blocks and value is None and status not in ENDED:
            return None
        return ToolResult(
            id=f"{call.id}-result",
            call_id=call.id,
            blocks=tuple(blocks),
            name=call.name,
            is_error=status in FAILED or any(result.is_error for result in parts.results),
            time=self.source.time(record, "timestamp"),
        )


class GeminiLinesBuilder(GeminiCliBuilder):
    """Reads the lines that Gemini CLI writes since 0.40: a header, messages, and changes of what
    was said.

    A line with the id of an earlier one is the newer state of that message.
    """

    def __init__(self, source: SourceFile) -> None:
        super().__init__(source)
        self.newest_lines: dict[str, tuple[int, Record]] = {}
        self.steps: list[Record] = []
        self.entries_of: dict[str, tuple[str, ...]] = {}

    def read(self, record: Record) -> None:
        """Keep one line until all are known."""
        message_id = identifier(record, "id")
        if message_id and message_id not in self.newest_lines:
            self.steps.append({"message": message_id})
        if message_id:
            self.newest_lines[message_id] = self.line, record
        elif "$set" in record or "$rewindTo" in record:
            self.steps.append(record)
        elif "projectHash" in record:
            self.begin(record)
        else:
            self.source.leave_record("line of an unknown kind", record)

    def close(self) -> None:
        """Read the messages and their changes, in order."""
        leaf_before: dict[str, str | None] = {}
        for step in self._without_false_starts():
            message_id = label(step, "message")
            if message_id:
                leaf_before[message_id] = self.log.leaf
                self._message(message_id)
            elif "$rewindTo" in step:
                self.log.leaf = leaf_before.get(text(step, "$rewindTo"))
            else:
                self._change(mapping(step, "$set"))
        self.steps = []

    def _without_false_starts(self) -> list[Record]:
        """The steps without each history that another one follows at once: a resume begins with an
        empty one.
        """
        steps: list[Record] = []
        is_told_again = False
        for step in reversed(self.steps):
            has_history = bool(mapping(step, "$set").get("messages"))
            if has_history and is_told_again:
                changes = {**mapping(step, "$set"), "messages": None}
                step = {"$set": changes}
            elif has_history or "message" in step or "$rewindTo" in step:
                is_told_again = has_history
            steps.append(step)
        return steps[::-1]

    def _message(self, message_id: str) -> None:
        line, record = self.newest_lines[message_id]
        entry_count = len(self.log)
        with self.source.at(line):
            super().read(record)
        self.entries_of[message_id] = self.ids[entry_count:]

    def _change(self, changes: Record) -> None:
        """Read what changed of the session: its title, or its messages."""
        self.title = self.source.name(changes, "summary") or self.title
        messages = objects(changes, "messages")
        if messages:
            self._history(messages)

    def _history(self, messages: list[JsonObject]) -> None:
        """Read the whole history as it is from now on. Where something of the context left it, that
        was a compaction, and the first new message is its summary; a resume tells it all again.
        """
        places = places_of(self.log)
        kept_ids: list[str] = []
        added: list[JsonObject] = []
        for message in messages:
            message_id = identifier(message, "id")
            if message_id not in self.entries_of:
                role = ROLES.get(label(message, "type"), "user")
                told_ids = ids_told_again(places, role, content(message))
                if told_ids:
                    self.entries_of[message_id] = tuple(told_ids)
            if message_id in self.entries_of:
                kept_ids += self.entries_of[message_id]
            else:
                added.append(message)
        kept_ids += self._results_of(kept_ids)
        context_ids = {message.id for message in fold(self.log.path())}
        if context_ids.difference(kept_ids):
            self._compacted(kept_ids, added)
        for message in added:
            entry_count = len(self.log)
            parts = content(message)
            is_answer = label(message, "type") == "gemini"
            has_report = bool(message.get("tokens"))
            if is_answer and not has_report and not parts.calls:
                self.note(CLIENT_ANSWER, parts.words)
            else:
                super().read(message)
            self.entries_of[identifier(message, "id")] = self.ids[entry_count:]

    def _compacted(self, kept_ids: list[str], added: list[JsonObject]) -> None:
        """Read a compaction that kept these entries; the first of the new messages is the summary."""
        if not added:
            self.time = None
            self.compaction(None, kept=tuple(kept_ids))
            return
        summary = added.pop(0)
        self.time = self.source.time(summary, "timestamp")
        entry_id = self.compaction(self.summary_in(summary), kept=tuple(kept_ids))
        self.entries_of[identifier(summary, "id")] = (f"{entry_id}-summary",)

    def _results_of(self, answer_ids: list[str]) -> list[str]:
        """The ids of the results of these answers, which the client may tell later."""
        call_ids: set[str] = set()
        result_ids: list[str] = []
        for entry in self.log:
            if not isinstance(entry, MessageEntry):
                continue
            message = entry.message
            if isinstance(message, AssistantMessage) and entry.id in answer_ids:
                call_ids.update(call.id for call in message.calls)
            elif isinstance(message, ToolResult) and message.call_id in call_ids:
                result_ids.append(entry.id)
        return result_ids


def gemini_cli_sessions(source: SourceFile) -> Iterator[Session]:
    """The one session of a document, or of lines."""
    if source.in_lines():
        yield from json_lines(GeminiLinesBuilder)(source)
    else:
        yield from json_document("messages", GeminiCliBuilder)(source)


def knows_gemini_cli(head: Head) -> bool:
    """Whether it is a session of a project."""
    return head.is_object_with("sessionId", "projectHash")


GEMINI_CLI = Format(
    name="gemini_cli",
    description="Gemini CLI sessions (JSON, or JSON lines since 0.40)",
    carries=("tree", "calls", "thinking", "images", "usage", "times", "model", "compactions"),
    knows=knows_gemini_cli,
    sessions=gemini_cli_sessions,
    aside="messages.toolCalls.resultDisplay messages.toolCalls.description messages.displayContent "
    "toolCalls.resultDisplay toolCalls.description displayContent $set.summary",
)
