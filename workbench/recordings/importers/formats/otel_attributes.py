"""The attributes of OpenTelemetry's spans and events, as plain objects."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.engine.transcript.message import Json
from workbench.recordings.importers.values import (
    JsonObject,
    as_mapping,
    items_of,
    label,
    objects,
)

_NESTED = ("llm", "session", "openinference", "gen_ai")
"""How the keys begin whose values OpenInference nests."""


def attributes_of(value: Json) -> JsonObject:
    """Attributes as a plain object, from OTLP's list of keys and typed values or from an object."""
    if isinstance(value, dict):
        return value
    attributes: JsonObject = {}
    for attribute in items_of(value):
        if not isinstance(attribute, dict):
            continue
        key = attribute.get("key")
        if isinstance(key, str):
            attributes[key] = _value(attribute.get("value"))
    return attributes


def flattened(attributes: JsonObject) -> JsonObject:
    """Attributes with a key for each value inside of OpenInference's own, as it writes them to a
    span.
    """
    flat: JsonObject = {}
    for key, value in attributes.items():
        if key.partition(".")[0] in _NESTED and isinstance(value, dict | list):
            flat |= dict(_leaves(key, value))
        else:
            flat[key] = value
    return flat


def _leaves(key: str, value: Json) -> Iterator[tuple[str, Json]]:
    """The values inside of a value, each under the names and numbers that lead to it."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _leaves(f"{key}.{name}", inner)
    elif isinstance(value, list) and not key.startswith("gen_ai."):
        for number, inner in enumerate(value):
            yield from _leaves(f"{key}.{number}", inner)
    else:
        yield key, value


def count_without_key(value: Json) -> int:
    """How many of OTLP's attributes have no key, or that of another."""
    attributes = items_of(value)
    keys: set[str] = set()
    for attribute in attributes:
        key = label(as_mapping(attribute), "key")
        if key:
            keys.add(key)
    return len(attributes) - len(keys)


def jaeger_spans(place: str, trace: JsonObject) -> Iterator[tuple[str, JsonObject]]:
    """The spans of a trace that Jaeger exported, as OTLP has them, with their places.

    Jaeger has tags and logs where OTLP has attributes and events. Its times are microseconds, which
    are told from nanoseconds by their size.
    """
    for number, span in enumerate(objects(trace, "spans")):
        events: list[Json] = []
        for log in objects(span, "logs"):
            fields = _tags(log, "fields")
            events.append({"name": fields.get("event"), "attributes": fields})
        converted: JsonObject = {
            "name": span.get("operationName"),
            "traceId": trace.get("traceID"),
            "startTimeUnixNano": span.get("startTime"),
            "attributes": _tags(span, "tags"),
            "events": events,
        }
        yield f"{place}.spans[{number}]", converted


def _tags(record: JsonObject, field: str) -> JsonObject:
    """Jaeger's list of keys and values as a plain object."""
    tags: JsonObject = {}
    for tag in objects(record, field):
        key = label(tag, "key")
        if key:
            tags[key] = tag.get("value")
    return tags


def _value(value: Json) -> Json:
    """One of OTLP's typed values."""
    if not isinstance(value, dict):
        return value
    type_, inner = next(iter(value.items()), ("", None))
    match type_.replace("_value", "Value"):
        case "stringValue" | "boolValue" | "doubleValue":
            return inner
        case "intValue":
            digits = str(inner)
            if digits.lstrip("-").isdigit() and len(digits) < 20:
                return int(digits)
        case "arrayValue" if isinstance(inner, dict):
            return [_value(item) for item in objects(inner, "values")]
        case "kvlistValue" if isinstance(inner, dict):
            return attributes_of(inner.get("values"))
    return None
