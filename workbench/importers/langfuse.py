"""Traces that Langfuse exports: one JSON document of a trace and its observations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from workbench.errors import FormatError
from workbench.importers.fields import epoch, inner, known_id, objects, whole, words
from workbench.importers.generations import Generation, merged_log
from workbench.importers.growth import main_model, project
from workbench.importers.heads import seen
from workbench.importers.shapes import chat_messages
from workbench.importers.source import Carries, Source, kind
from workbench.transcript.message import Json, Usage
from workbench.transcript.session import Session


class Langfuse:
    """A trace with its observations, as Langfuse's page and API give it."""

    name: ClassVar[str] = "langfuse"
    description: ClassVar[str] = "Langfuse traces (JSON)"
    carries: ClassVar[tuple[Carries, ...]] = ("tree", "calls", "thinking", "usage", "times", "model", "system")

    def knows(self, head: str) -> bool:
        """Whether a trace and observations stand at the top."""
        keys = seen(head).keys
        return not seen(head).is_list and ("observations" in keys or ("trace" in keys and '"projectId"' in head))

    def sessions(self, source: Source) -> Iterator[Session]:
        """The one session of a trace: its requests, merged."""
        document = source.document()
        if not isinstance(document, dict):
            raise FormatError(f"expected an object with `observations`, found {kind(document)}", where=source.where)
        generations: list[Generation] = []
        trace: Mapping[str, Json] = {}
        observations: list[dict[str, Json]] = []
        with source.at():
            trace = inner(document, "trace") or document
            observations = objects(document, "observations") or objects(trace, "observations")
        for i, observation in enumerate(observations):
            with source.at(field=f"observations[{i}]"):
                if words(observation, "type") == "GENERATION":
                    generations += _generation(source, observation, f"observations[{i}]")
        log = merged_log(source, generations)
        if not len(log):
            raise FormatError("no generation has messages in a shape that is known", where=source.where)
        with source.at():
            yield Session(
                id=known_id(trace, "id") or source.stem,
                log=log,
                model=main_model(log),
                title=words(trace, "name"),
                project=words(trace, "name") or project("", source.folder),
            )


def _generation(source: Source, observation: Mapping[str, Json], place: str) -> list[Generation]:
    sent = chat_messages(observation.get("input"))
    answer = chat_messages(observation.get("output"), "assistant")
    if sent is None:
        source.unknown["generation whose input has another framework's shape"] += 1
        return []
    if not sent and not answer:
        return []
    return [
        Generation(
            sent=sent,
            answer=answer or (),
            model=words(observation, "model"),
            usage=_usage(observation),
            time=epoch(observation, "startTime"),
            place=place,
        )
    ]


def _usage(observation: Mapping[str, Json]) -> Usage | None:
    details = inner(observation, "usageDetails") or inner(observation, "usage")
    prompt = whole(details, "input")
    cached = whole(details, "prompt_details.cache_read") or whole(details, "input_cache_read")
    cached = min(cached or whole(details, "input_cached_tokens"), prompt)
    reasoning = whole(details, "completion_details.reasoning") or whole(details, "output_reasoning")
    usage = Usage(prompt - cached, cached, 0, whole(details, "output"), reasoning)
    return usage if usage != Usage() else None
