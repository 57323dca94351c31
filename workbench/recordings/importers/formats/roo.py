"""The task folders of Roo Code, Kilo Code and Cline: messages with the time and the marks of
condensing.
"""

import re
from collections import defaultdict

from workbench.engine.transcript.message import Json, SaidBlock, Text
from workbench.recordings.importers.blocks import content
from workbench.recordings.importers.described import DescribedBuilder, MessageShape, is_value
from workbench.recordings.importers.format import Format
from workbench.recordings.importers.formats.roo_requests import with_requests
from workbench.recordings.importers.head import Head
from workbench.recordings.importers.message_lists import message_sessions
from workbench.recordings.importers.source import SourceFile
from workbench.recordings.importers.text_calls import tagged_call_parts
from workbench.recordings.importers.usage import UsageFields
from workbench.recordings.importers.values import JsonObject, Record, block_texts, label

ROO = MessageShape(
    time="ts",
    model="modelInfo/modelId",
    summary="isSummary",
    usage_in="metrics/tokens",
)
_ROO_MARKS = (
    '"condenseParent"',
    '"condenseId"',
    '"isSummary"',
    '"truncationParent"',
    '"isTruncationMarker"',
    "<environment_details>",
)
_RESULT = re.compile(r"\[(?P<tool>\w+)(?: for .*?)?\] Result:", re.DOTALL)
"""How the client begins what a tool returned, where no block says so."""
_DETAILS = "<environment_details>"


class RooBuilder(DescribedBuilder):
    """Reads the messages of a task; those that a summary replaced stand before it.

    A model without tools of its API writes its calls as tags in its text, and a user's turn has
    what they returned. Cline's `cached` is what was read from the cache and written to it, in one
    figure beside the prompt (cline/cline, 09692d7d3a).
    """

    shape = ROO
    usage_fields = UsageFields("prompt", "completion", "cached")

    def __init__(self, source: SourceFile) -> None:
        super().__init__(source)
        self.replaced: dict[str, set[str]] = defaultdict(set)
        self.thoughts: list[str] = []

    def read(self, record: Record) -> None:
        """Read one message; a summary, or the mark of a truncation, replaces those that name it."""
        if label(record, "type") == "reasoning":
            self._think(record)
            return
        earlier_ids = set(self.ids)
        if is_value(record, "isTruncationMarker"):
            self._compaction(None, label(record, "truncationId"), default_ids=self.ids)
        elif is_value(record, "isSummary"):
            self.time = self.source.time(record, "ts")
            summary = self.summary_in(record)
            self._compaction(summary, label(record, "condenseId"), default_ids=self.system_ids)
        else:
            super().read(record)
        new_ids = set(self.ids) - earlier_ids
        for field in ("condenseParent", "truncationParent"):
            name = label(record, field)
            if name:
                self.replaced[name] |= new_ids

    def read_message(self, message: Record) -> None:
        """Read a message, whose calls or results may stand in its text."""
        parts = content(message)
        words = parts.words
        if label(message, "role") == "assistant":
            message = self._with_thoughts(message)
        if label(message, "role") == "user" and self.open_calls and _RESULT.match(words):
            self._read_results(message)
        elif label(message, "role") == "assistant" and not parts.calls:
            super().read_message({**message, "content": _with_call(message["content"], words)})
        else:
            super().read_message(message)

    def _read_results(self, message: Record) -> None:
        """Read what each tool returned, and what the client says of the environment behind it."""
        results: list[list[SaidBlock]] = []
        about_environment: list[JsonObject] = []
        for block in content(message).said:
            words = _words(block)
            starts_result = not results or _RESULT.match(words)
            if words.startswith(_DETAILS):
                detail: JsonObject = {"type": "text", "text": words}
                about_environment.append(detail)
            elif starts_result and len(results) < len(self.open_calls):
                results.append([block])
            else:
                results[-1].append(block)
        self.time = self.source.time(message, "timestamp")
        for blocks in results:
            self.say_result(self._call_of(blocks[0]), blocks)
        if about_environment:
            self.synthetic = True
            super().read_message({**message, "content": about_environment})

    def _call_of(self, result: SaidBlock) -> str:
        """The oldest open call of the tool that a result names; empty where it names none."""
        header = _RESULT.match(_words(result))
        if header is None:
            return ""
        for call_id in self.open_calls:
            if self.names[call_id] == header["tool"]:
                return call_id
        return ""

    def _think(self, record: Record) -> None:
        """Read a thought, which stands before the answer that it belongs to."""
        thought = block_texts(record, "summary")
        if thought:
            self.thoughts.append(thought)
        else:
            self.source.leave_record("thought without words", record)

    def _with_thoughts(self, answer: Record) -> Record:
        """An answer with the thoughts that stand before it."""
        if not self.thoughts:
            return answer
        thoughts = self.thoughts
        self.thoughts = []
        thought_beside = label(answer, "reasoning_content")
        if thought_beside:
            thoughts.append(thought_beside)
        return {**answer, "reasoning_content": "\n".join(thoughts)}

    def close(self) -> None:
        """Write thoughts that no answer follows, and give answers the usage that stands in the file
        beside this one.
        """
        if self.thoughts:
            answer = self._with_thoughts({"role": "assistant"})
            super().read_message(answer)
        self.log = with_requests(self.log, self.source)

    def _compaction(self, summary: str | None, name: str, *, default_ids: tuple[str, ...]) -> None:
        """Read a compaction. What does not name it is kept; `default_ids` where nothing does."""
        kept_ids = default_ids
        replaced = self.replaced[name]
        if replaced:
            kept_ids = tuple(entry_id for entry_id in self.ids if entry_id not in replaced)
        self.compaction(summary, kept=kept_ids)


def _words(block: SaidBlock) -> str:
    """The text of a block; empty for a picture."""
    if isinstance(block, Text):
        return block.text
    return ""


def _with_call(value: Json, words: str) -> Json:
    """An answer's content, with the call that stands in its text; as it is where none does."""
    return tagged_call_parts(words) or value


def knows_roo(head: Head) -> bool:
    """Whether its messages have the time, or marks that only these agents write."""
    if not head.is_list or not {"role", "content"} <= head.keys:
        return False
    return "ts" in head.keys or any(mark in head.text for mark in _ROO_MARKS)


ROO_TASK = Format(
    name="roo_task",
    description="tasks of Roo Code, Kilo Code and Cline (`api_conversation_history.json`)",
    carries=("calls", "thinking", "images", "usage", "times", "model", "compactions"),
    knows=knows_roo,
    sessions=message_sessions(RooBuilder),
)
