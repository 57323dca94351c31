"""Traces that Langfuse's page and API give: one JSON document of a trace and its observations."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.importers.session_builder import SessionBuilder
from workbench.importers.traces import Generation, TraceBuilder, chat_messages
from workbench.importers.usage import UsageFields
from workbench.importers.values import identifier, items, mapping, text, timestamp
from workbench.transcript.message import Json

USAGE = UsageFields(
    "input",
    "output",
    "prompt_details.cache_read input_cache_read input_cached_tokens",
    reasoning="completion_details.reasoning output_reasoning",
    cache_in_input=True,
)


class LangfuseBuilder(TraceBuilder, SessionBuilder):
    """Reads observations; those that are generations hold messages."""

    def begin(self, document: Mapping[str, Json]) -> None:
        """Read the trace's id and its name, and the observations where they are inside of it."""
        trace = mapping(document, "trace") or document
        self.id, self.title = identifier(trace, "id"), text(trace, "name")
        self.project = self.title
        if not items(document, "observations"):
            self.read_all(items(trace, "observations"), "trace.observations")

    def read(self, record: Mapping[str, Json]) -> None:
        """Read one observation."""
        if text(record, "type") != "GENERATION":
            return
        sent, answer = chat_messages(record.get("input")), chat_messages(record.get("output"), "assistant")
        if sent is None:
            self.source.unknown["generation whose input has another framework's shape"] += 1
        elif sent or answer:
            model, time = text(record, "model"), timestamp(record, "startTime")
            usage, place = USAGE.read(mapping(record, "usageDetails", "usage")), identifier(record, "id")
            made = Generation(sent=sent, answer=answer or (), model=model, usage=usage, time=time, place=place)
            self.generations.append(made)
