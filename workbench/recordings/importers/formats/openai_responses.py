"""Items of OpenAI's Responses API, as Codex writes them: a request's `input`, its `output`, or a
list of items.
"""

from collections.abc import Iterator

from workbench.engine.transcript.session import Session
from workbench.recordings.importers.format import Format
from workbench.recordings.importers.formats.codex import CodexBuilder
from workbench.recordings.importers.head import Head
from workbench.recordings.importers.source import SourceFile
from workbench.recordings.importers.usage import OPENAI_USAGE
from workbench.recordings.importers.values import Record, as_object, items, text

_ITEM_TYPES = (
    "function_call",
    "function_call_output",
    "input_text",
    "output_text",
    "custom_tool_call",
)


class ResponsesBuilder(CodexBuilder):
    """Reads items as Codex writes them; a compaction among them stands for all before it."""

    about = {"id": "id", "model": "model"}

    def __init__(self, source: SourceFile) -> None:
        super().__init__(source)
        self.call_count = 0
        self.open_calls: list[str] = []

    def begin(self, document: Record) -> None:
        """Read the instructions, the model and the id."""
        self.time = self.source.time(document, "created_at")
        super().begin(document)

    def read(self, record: Record) -> None:
        """Read one item."""
        if not text(record, "type") and not text(record, "role"):
            self.source.leave_record("item without a type and a role", record)
        elif text(record, "type") in ("compaction", "compaction_summary"):
            summary = text(record, "summary")
            self._compacted({"message": summary, "replacement_history": [record]})
        else:
            self._item({"type": "message", **self._with_call_id(record)})

    def _with_call_id(self, record: Record) -> Record:
        """The item with an id of its call where it has an empty one, as other providers' calls have
        behind this API: a result answers the oldest call that has none yet.
        """
        if record.get("call_id") != "":
            return record
        if text(record, "type").endswith("_output"):
            call_id = self.open_calls.pop(0) if self.open_calls else ""
        else:
            self.call_count += 1
            call_id = f"call-{self.call_count}"
            self.open_calls.append(call_id)
        return {**record, "call_id": call_id}


def knows_responses(head: Head) -> bool:
    """Whether it is a list of items, or an object with `input` or `output` that has some."""
    names = {"type", "role"} if head.is_list else {"input", "output"}
    if not names & head.keys:
        return False
    return any(_has_type(head.text, name) for name in _ITEM_TYPES)


def _has_type(json_text: str, name: str) -> bool:
    return f'"type":"{name}"' in json_text or f'"type": "{name}"' in json_text


def responses_sessions(source: SourceFile) -> Iterator[Session]:
    """The one conversation of a file: its input, and what came out."""
    document = source.document()
    if isinstance(document, list):
        document = {"input": document}
    response = as_object(document)
    builder = ResponsesBuilder(source)
    with source.at():
        builder.begin(response)
        prompt = response.get("input")
        if isinstance(prompt, str):
            builder.read_all([{"role": "user", "content": prompt}], "input")
        else:
            builder.read_all(items(response, "input"), "input")
        builder.read_all(items(response, "output"), "output")
        builder.usage = source.usage(OPENAI_USAGE, response, "usage")
        yield builder.session()


OPENAI_RESPONSES = Format(
    name="openai_responses",
    description="OpenAI Responses items: a list, or an object with `input` and `output` (JSON)",
    carries=("calls", "thinking", "images", "usage", "model", "compactions", "system"),
    knows=knows_responses,
    sessions=responses_sessions,
    aside="tools",
)
