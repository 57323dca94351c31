"""Weave's calls, as its client sends them and its pages export them: JSON or JSON lines."""

from workbench.engine.transcript.message import Usage
from workbench.recordings.importers.format import Format
from workbench.recordings.importers.head import Head
from workbench.recordings.importers.traces import (
    Generation,
    TraceBuilder,
    chat_messages,
    trace_sessions,
)
from workbench.recordings.importers.usage import provider_fields
from workbench.recordings.importers.values import (
    Record,
    as_mapping,
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
        _, _, project = label(record, "project_id").rpartition("/")
        self.project = self.project or project
        output = as_mapping(record.get("output"))
        inputs = mapping(record, "inputs")
        is_answered = bool(_ANSWERS & set(output))
        is_asked = bool({"messages", "contents", "input"} & set(inputs))
        if not is_answered or not is_asked:
            self.source.note("asks no model, left out", field="call")
            return
        sent = chat_messages(inputs)
        if sent is None:
            self.source.leave_record("call whose inputs have another framework's shape", inputs)
            return
        model = self.source.name(output, "model")
        generation = Generation(
            sent=sent,
            answer=chat_messages(output, "assistant") or (),
            model=model or self.source.name(inputs, "model"),
            usage=self._usage(output, record),
            time=self.source.time(record, "started_at"),
            place=identifier(record, "id"),
        )
        self.generations.append(generation)

    def _usage(self, output: Record, record: Record) -> Usage | None:
        """What the provider reported, in its answer or in Weave's sum by model."""
        figures = as_mapping(output.get("usage"))
        if not figures:
            for reported in self.source.report(record, "summary/usage").values():
                figures = as_mapping(reported)
        return self.source.usage(provider_fields(figures), figures)


weave_sessions = trace_sessions(WeaveBuilder, "calls")


WEAVE = Format(
    name="weave",
    description="calls of Weave (JSON or JSON lines)",
    carries=("tree", "calls", "thinking", "usage", "times", "model", "system"),
    knows=knows_weave,
    sessions=weave_sessions,
    aside="attributes summary display_name inputs.tools inputs.self",
)
