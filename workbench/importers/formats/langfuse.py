"""Traces that Langfuse's page and API give: one JSON document of a trace and its observations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from workbench.errors import FormatError
from workbench.importers.source import Source
from workbench.importers.traces import Generation, TraceBuilder, chat_messages
from workbench.importers.usage import UsageFields
from workbench.importers.values import identifier, mapping, objects, text, timestamp
from workbench.transcript.message import Json
from workbench.transcript.session import Session

USAGE = UsageFields(
    "input",
    "output",
    "prompt_details.cache_read input_cache_read input_cached_tokens",
    reasoning="completion_details.reasoning output_reasoning",
    cache_in_input=True,
)


def sessions(source: Source) -> Iterator[Session]:
    """The one session of a trace: its requests, merged."""
    document = source.object_with("observations")
    generations: list[Generation] = []
    trace: Mapping[str, Json] = {}
    with source.at():
        trace = mapping(document, "trace") or document
        for i, observation in enumerate(objects(document, "observations") or objects(trace, "observations")):
            with source.at(field=f"observations[{i}]"):
                if text(observation, "type") == "GENERATION":
                    generations += _generation(source, observation, f"observations[{i}]")
    builder = TraceBuilder(source)
    builder.merge(generations)
    if not len(builder.log):
        raise FormatError("no generation holds messages in a known shape", where=source.where)
    with source.at():
        builder.id, builder.title = identifier(trace, "id"), text(trace, "name")
        builder.project = builder.title
        yield builder.session()


def _generation(source: Source, observation: Mapping[str, Json], place: str) -> list[Generation]:
    sent = chat_messages(observation.get("input"))
    answer = chat_messages(observation.get("output"), "assistant")
    if sent is None:
        source.unknown["generation whose input has another framework's shape"] += 1
        return []
    if not sent and not answer:
        return []
    model, time = text(observation, "model"), timestamp(observation, "startTime")
    usage = USAGE.read(mapping(observation, "usageDetails", "usage"))
    return [Generation(sent=sent, answer=answer or (), model=model, usage=usage, time=time, place=place)]
