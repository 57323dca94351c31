"""Sessions of Kiro's command line since 2.0: `~/.kiro/sessions/cli/*.jsonl`, and beside each a
document of the same name with the folder and the model. An export has that document as `metadata`
and the lines as `log_entries`.

Read after the records that public readers of these files show, of 2.14 to 2.27; the program itself
is not public. What requests used is in neither file: Kiro counts credits.
"""

from workbench.engine.transcript.message import AnswerBlock, Image, SaidBlock, ToolCall
from workbench.recordings.importers.blocks import result_blocks, text_block, thought_block
from workbench.recordings.importers.format import Format, json_records
from workbench.recordings.importers.head import Head
from workbench.recordings.importers.images import image, linked
from workbench.recordings.importers.message_content import Content
from workbench.recordings.importers.neighbours import object_beside
from workbench.recordings.importers.session_builder import SessionBuilder
from workbench.recordings.importers.source import SourceFile
from workbench.recordings.importers.values import (
    JsonObject,
    Record,
    as_mapping,
    identifier,
    label,
    mapping,
    objects,
)

_KINDS = frozenset({"Prompt", "AssistantMessage", "ToolResults"})


class KiroLinesBuilder(SessionBuilder):
    """Reads records of a kind and its data; a part has a kind and data of its own."""

    def __init__(self, source: SourceFile) -> None:
        super().__init__(source)
        document = object_beside(source, ".json")
        about = mapping(document, "metadata") or document
        model_info = mapping(about, "session_state/rts_model_state/model_info")
        self.id = identifier(about, "session_id")
        self.cwd = source.name(about, "cwd")
        self.title = source.name(about, "title")
        self.model = source.name(model_info, "model_id")
        self.window = source.count(model_info, "context_window_tokens")

    def read(self, record: Record) -> None:
        """Read one record."""
        kind = label(record, "kind")
        data = mapping(record, "data")
        self.time = self.source.time(data, "meta/timestamp")
        match kind:
            case "Prompt":
                parts = self._content(data)
                message_id = identifier(data, "message_id")
                self.say_content("user", parts, id=message_id)
            case "AssistantMessage":
                self._answer(data)
            case "ToolResults":
                self._results(data)
            case "Compaction":
                self._compaction(data)
            case "Clear":
                self.compaction(None, kept=(), reason="clear")
            case _:
                self.source.leave_record(f"record of kind {kind!r:.40}", record)

    def _answer(self, data: JsonObject) -> None:
        """Read an answer; a thought names the model that had it."""
        for part in objects(data, "content"):
            about = as_mapping(part.get("data"))
            self.model = self.source.name(about, "modelId") or self.model
        self.say_content(
            "assistant",
            self._content(data),
            id=identifier(data, "message_id"),
            model=self.model,
        )

    def _results(self, data: JsonObject) -> None:
        """Read what tools returned."""
        for part in objects(data, "content"):
            result = as_mapping(part.get("data"))
            if label(part, "kind") != "toolResult":
                self.source.leave_record("part of results of an unknown kind", part)
                continue
            blocks: list[SaidBlock] = []
            for returned in objects(result, "content"):
                blocks += self._returned(returned)
            failed = label(result, "status") not in ("", "success")
            self.say_result(identifier(result, "toolUseId"), blocks, failed=failed)

    def _returned(self, part: JsonObject) -> list[SaidBlock]:
        """A part of a result: a text, JSON as text, or a picture."""
        if label(part, "kind") == "image":
            return [_picture(as_mapping(part.get("data")))]
        return [*result_blocks(part.get("data"))]

    def _content(self, data: JsonObject) -> Content:
        """The parts of a prompt or an answer."""
        parts = Content()
        for part in objects(data, "content"):
            parts.blocks += self._blocks(part)
        return parts

    def _blocks(self, part: JsonObject) -> list[AnswerBlock]:
        about = as_mapping(part.get("data"))
        words = label(part, "data") or label(about, "text")
        match label(part, "kind"):
            case "text":
                return [*text_block(words)]
            case "thinking":
                return [*thought_block(words, label(about, "signature"))]
            case "toolUse":
                call_id = identifier(about, "toolUseId")
                arguments = as_mapping(about.get("input"))
                return [ToolCall(call_id, label(about, "name"), arguments)]
            case "image":
                return [_picture(about)]
        self.source.leave_record(f"part of kind {part.get('kind')!r:.40}", part)
        return []

    def _compaction(self, data: JsonObject) -> None:
        """Read a summary. The newest answers stay behind it, each with what was said before it (as
        in aws/amazon-q-developer-cli, conversation.rs, where an answer and that are a pair).
        """
        summary = label(data, "summary")
        pair_count = self.source.count(mapping(data, "strategy"), "message_pairs_to_exclude") or 0
        first_kept: str | None = None
        answer_count = 0
        for entry in reversed(self.log.path()):
            if entry.type == "message" and entry.message.role == "assistant":
                answer_count += 1
            if answer_count > pair_count or entry.type == "compaction":
                break
            if answer_count:
                first_kept = entry.id
        self.compaction(summary or None, hidden_summary=not summary, first_kept=first_kept)


def _picture(about: Record) -> Image:
    """A picture as a placeholder, whose size is unknown where its bytes are no text."""
    encoded = label(about, "data") or label(mapping(about, "source"), "bytes")
    if not encoded:
        return linked("")
    return image(f"image/{label(about, 'format') or 'png'}", encoded)


def knows_kiro_lines(head: Head) -> bool:
    """Whether it is an export that lists such records, or a line has a kind of this program, and
    content of parts with kinds.
    """
    if head.is_object_with("format", "log_entries"):
        return '"kiro-session-export-' in head.text
    for record in head.records:
        data = as_mapping(record.get("data"))
        if label(record, "kind") in _KINDS and "message_id" in data and "content" in data:
            return True
    return False


KIRO_LINES = Format(
    name="kiro_lines",
    description="sessions of Kiro's command line since 2.0 (JSON lines, or an export)",
    carries=("calls", "thinking", "images", "times", "model", "compactions"),
    knows=knows_kiro_lines,
    sessions=json_records(KiroLinesBuilder, ["log_entries"]),
    aside="data.results data.messages_snapshot",
)
