"""Weave's calls, as its client sends them and its pages export them: JSON or JSON lines."""

from workbench.engine.transcript.message import Json, Usage
from workbench.recordings.importers.source import Head
from workbench.recordings.importers.traces import (
    Generation,
    TraceBuilder,
    chat_messages,
    trace_sessions,
)
from workbench.recordings.importers.usage import ANTHROPIC_USAGE, OPENAI_USAGE
from workbench.recordings.importers.values import (
    Record,
    as_mapping,
    first_value,
    identifier,
    label,
    mapping,
)

_ANSWERS = frozenset({"choices", "content", "candidates", "output"})
"""Fields of what a provider gives, one of which holds the answer."""


def knows_weave(head: Head) -> bool:
    """Whether it is calls of operations, one or many, with what went in."""
    if '"op_name"' not in head.text or '"inputs"' not in head.text:
        return False
    return '"trace_id"' in head.text


class WeaveBuilder(TraceBuilder):
    """Reads calls; those of a provider's client hold messages."""

    def read(self, record: Record) -> None:
        """Read one call."""
        self.id = self.id or identifier(record, "thread_id", "trace_id")
        self.project = self.project or label(record, "project_id").rpartition("/")[2]
        output = as_mapping(record.get("output"))
        inputs = mapping(record, "inputs")
        if not _ANSWERS & set(output) or not {"messages", "contents", "input"} & set(inputs):
            self.source.note("asks no model, left out", field="call")
            return
        sent = chat_messages(inputs)
        if sent is None:
            self.source.leave_record("call whose inputs have another framework's shape", inputs)
            return
        model = first_value({"output": output, "inputs": inputs}, "output/model inputs/model")
        generation = Generation(
            sent=sent,
            answer=chat_messages(output, "assistant") or (),
            model=model if isinstance(model, str) else "",
            usage=self._usage(output, record),
            time=self.source.time(record, "started_at"),
            place=identifier(record, "id"),
        )
        self.generations.append(generation)

    def _usage(self, output: Record, record: Record) -> Usage | None:
        """What the provider reported, in its answer or in Weave's sum by model."""
        figures: Json = output.get("usage")
        if not isinstance(figures, dict):
            for reported in mapping(record, "summary/usage").values():
                figures = reported
        figures = as_mapping(figures)
        is_anthropic = "cache_creation_input_tokens" in figures
        fields = ANTHROPIC_USAGE if is_anthropic else OPENAI_USAGE
        return self.source.usage(fields, figures)


weave_sessions = trace_sessions(WeaveBuilder, "calls")
