"""LangSmith's runs, as JSON or JSON lines."""

from workbench.recordings.importers.format import Format
from workbench.recordings.importers.head import Head
from workbench.recordings.importers.traces import (
    Generation,
    TraceBuilder,
    chat_messages,
    trace_sessions,
)
from workbench.recordings.importers.usage import UsageFields
from workbench.recordings.importers.values import (
    Record,
    as_mapping,
    identifier,
    mapping,
    text,
)

RUNS = frozenset({"chain", "tool", "retriever", "embedding", "prompt", "parser"})
"""LangSmith's types of runs that are no request of a model."""
LANGSMITH_USAGE = UsageFields(
    "prompt_tokens input_tokens",
    "completion_tokens output_tokens",
    "prompt_token_details/cache_read input_token_details/cache_read",
    "prompt_token_details/cache_creation input_token_details/cache_creation",
    reasoning="completion_token_details/reasoning output_token_details/reasoning",
    total="total_tokens",
    cache_in_input=True,
)


def knows_langsmith(head: Head) -> bool:
    """Whether it is runs, one or many, with what went in."""
    if '"inputs"' not in head.text:
        return False
    return "run_type" in head.keys or "run_type" in head.first_record


class LangSmithBuilder(TraceBuilder):
    """Reads runs; those of a model hold messages."""

    def read(self, record: Record) -> None:
        """Read one run."""
        type_ = text(record, "run_type")
        if type_ != "llm":
            if type_ not in RUNS:
                self.source.leave_record(f"run of type {type_!r:.40}", record)
            else:
                self.source.note("asks no model, left out", field=f"run of type {type_}")
            return
        self.id = self.id or identifier(record, "session_id", "trace_id")
        inputs = mapping(record, "inputs")
        outputs = mapping(record, "outputs")
        sent = chat_messages(inputs)
        answer = chat_messages(outputs, "assistant")
        if sent is None:
            self.source.leave_record("run whose inputs have another framework's shape", inputs)
        elif sent or answer:
            generation = Generation(
                sent=sent,
                answer=answer or (),
                model=self._model(as_mapping(record.get("extra"))),
                usage=self.source.usage(LANGSMITH_USAGE, record),
                time=self.source.time(record, "start_time"),
                place=identifier(record, "id"),
            )
            self.generations.append(generation)

    def _model(self, extra: Record) -> str:
        """The model's name, of what a run has beside its messages."""
        model = self.source.name(mapping(extra, "metadata"), "ls_model_name")
        if model:
            return model
        return self.source.name(mapping(extra, "invocation_params"), "model", "model_name")


langsmith_sessions = trace_sessions(LangSmithBuilder, "runs")


LANGSMITH = Format(
    name="langsmith",
    description="LangSmith runs (JSON or JSON lines)",
    carries=("tree", "calls", "thinking", "usage", "times", "model", "system"),
    knows=knows_langsmith,
    sessions=langsmith_sessions,
    aside="extra serialized events error",
)
