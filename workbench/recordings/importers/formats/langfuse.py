"""Langfuse's traces: one JSON document of a trace and its observations, of its page or its API."""

from workbench.engine.transcript.session import Session
from workbench.recordings.importers.format import Format, json_document
from workbench.recordings.importers.head import Head
from workbench.recordings.importers.source import SourceFile
from workbench.recordings.importers.traces import (
    Generation,
    TraceBuilder,
    chat_messages,
)
from workbench.recordings.importers.usage import UsageFields
from workbench.recordings.importers.values import (
    Record,
    identifier,
    items,
    mapping,
    text,
)

LANGFUSE_USAGE = UsageFields(
    "input",
    "output",
    "prompt_details.cache_read input_cache_read input_cached_tokens cache_read_input_tokens",
    "input_cache_creation cache_creation_input_tokens",
    reasoning="completion_details.reasoning output_reasoning output_reasoning_tokens",
    total="total",
    cache_in_input=True,
)
OBSERVATIONS = frozenset(
    {"SPAN", "EVENT", "AGENT", "TOOL", "CHAIN", "RETRIEVER", "EVALUATOR", "EMBEDDING", "GUARDRAIL"}
)
"""Langfuse's types of observations that are no request of a model."""


class LangfuseBuilder(TraceBuilder):
    """Reads observations; those that are generations hold messages. One inside another is the
    same request again.
    """

    def __init__(self, source: SourceFile) -> None:
        super().__init__(source)
        self.inside: dict[str, str] = {}

    def session(self) -> Session:
        """The session without generations inside of others."""
        outermost: list[Generation] = []
        for generation in self.generations:
            if self.inside[generation.place] not in self.inside:
                outermost.append(generation)
        self.generations = outermost
        return super().session()

    def begin(self, document: Record) -> None:
        """Read the trace's id and its name, and the observations where they are inside of it."""
        trace = mapping(document, "trace") or document
        self.id = identifier(trace, "id")
        self.title = text(trace, "name")
        self.project = self.title
        if not items(document, "observations"):
            self.read_all(items(trace, "observations"), "trace.observations")

    def read(self, record: Record) -> None:
        """Read one observation."""
        type_ = text(record, "type")
        if type_ != "GENERATION":
            if type_ not in OBSERVATIONS:
                self.source.unknown[f"observation of type {type_!r}"] += 1
            return
        sent = chat_messages(record.get("input"))
        answer = chat_messages(record.get("output"), "assistant")
        if sent is None:
            self.source.unknown["generation whose input has another framework's shape"] += 1
            return
        if not sent and not answer:
            return
        generation = Generation(
            sent=sent,
            answer=answer or (),
            model=self.source.name(record, "model"),
            time=self.source.time(record, "startTime"),
            usage=self.source.usage(LANGFUSE_USAGE, record, "usageDetails", "usage"),
            place=identifier(record, "id"),
        )
        parent = identifier(record, "parentObservationId")
        self.inside[generation.place] = parent
        if parent == generation.place:
            self.source.unknown["generation that names itself as its parent"] += 1
        self.generations.append(generation)


def knows_langfuse(head: Head) -> bool:
    """Whether it is a trace with the names that only this service has."""
    if not {"observations", "trace"} & head.keys:
        return False
    return '"GENERATION"' in head.text or '"projectId"' in head.text


LANGFUSE = Format(
    name="langfuse",
    description="Langfuse traces (JSON)",
    carries=("tree", "calls", "thinking", "usage", "times", "model", "system"),
    knows=knows_langfuse,
    sessions=json_document("observations", LangfuseBuilder),
    aside="trace observations.metadata observations.name observations.input.tools "
    "observations.input.content.function",
)
