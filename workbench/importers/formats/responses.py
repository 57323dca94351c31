"""Items of OpenAI's Responses API: a request's `input`, its `output`, or a list of such items."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from workbench.importers.decoding import as_object
from workbench.importers.formats.codex import CodexBuilder
from workbench.importers.head import Head
from workbench.importers.source import SourceFile
from workbench.importers.usage import OPENAI_USAGE
from workbench.importers.values import items, mapping, text, timestamp
from workbench.transcript.message import Json
from workbench.transcript.session import Session

TYPES = tuple(
    f'"{name}"' for name in ("function_call", "function_call_output", "input_text", "output_text", "custom_tool_call")
)


def knows(head: Head) -> bool:
    """Whether it is a list of items, or an object with `input` or `output` that has some."""
    listed = {"input", "output"} & head.keys if not head.is_list else {"type", "role"} & head.keys
    return bool(listed) and any(f'"type":{space}{name}' in head.text for name in TYPES for space in ("", " "))


def sessions(source: SourceFile) -> Iterator[Session]:
    """The one conversation of a file: its input, and what came out."""
    document = source.document()
    whole: Mapping[str, Json] = {"input": document} if isinstance(document, list) else as_object(document)
    built = ResponsesBuilder(source)
    with source.at():
        built.begin(whole)
        given = whole.get("input")
        built.read_all(
            [{"role": "user", "content": given}] if isinstance(given, str) else items(whole, "input"), "input"
        )
        built.read_all(items(whole, "output"), "output")
        built.usage = OPENAI_USAGE.read(mapping(whole, "usage"))
        yield built.session()


class ResponsesBuilder(CodexBuilder):
    """Reads items as Codex writes them; a compaction among them stands for all before it."""

    def begin(self, document: Mapping[str, Json]) -> None:
        """Read the instructions, the model and the id."""
        self.model, self.time = text(document, "model"), timestamp(document, "created_at")
        self._meta(document)

    def read(self, record: Mapping[str, Json]) -> None:
        """Read one item."""
        if text(record, "type") in ("compaction", "compaction_summary"):
            self._compacted({"message": text(record, "summary"), "replacement_history": [record]})
        else:
            self._item({"type": "message", **record})
