"""OpenTelemetry's traces by the GenAI conventions: OTLP as JSON, in one document or in lines.

Source: open-telemetry/semantic-conventions-genai, model and docs/gen-ai; the older events and
indexed attributes of its version 1.36, of OpenLLMetry and of OpenInference are read as well, flat
or nested, as Phoenix exports them, MLflow's spans, and what Jaeger exports.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from workbench.base.errors import FormatError
from workbench.engine.transcript.message import Json, Usage
from workbench.engine.transcript.session import Session
from workbench.recordings.importers.format import Format
from workbench.recordings.importers.formats.otel_attributes import (
    attributes_of,
    count_without_key,
    flattened,
    jaeger_spans,
)
from workbench.recordings.importers.head import Head
from workbench.recordings.importers.json_text import decode_or
from workbench.recordings.importers.source import SourceFile
from workbench.recordings.importers.traces import (
    ChatMessage,
    Generation,
    TraceBuilder,
    chat_messages,
)
from workbench.recordings.importers.usage import UsageFields
from workbench.recordings.importers.values import (
    JsonObject,
    Record,
    as_list,
    as_mapping,
    identifier,
    items_of,
    label,
    objects,
    text,
)

_SPEAKS_OF_MODELS = (
    "gen_ai.",
    '"llm.input_messages',
    '"mlflow.spanInputs"',
    '"openinference.span.kind"',
)

_INDEXED = re.compile(
    r"(?:gen_ai|llm)\.(prompt|completion|input_messages|output_messages)\.(\d{1,6})\.(?:message\.)?(.+)$"
)
_CONTENTS = re.compile(r"contents\.\d{1,4}\.message_content\.text$")

_MLFLOW_REQUESTS = frozenset({"CHAT_MODEL", "LLM"})
_CALL = re.compile(r"tool_calls\.(\d{1,4})\.(?:tool_call\.)?(?:function\.)?(id|name|arguments)$")
_EVENTS = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}
_NO_REQUEST = frozenset(
    {"execute_tool", "embeddings", "invoke_agent", "create_agent", "invoke_workflow"}
)
OTEL_USAGE = UsageFields(
    "gen_ai.usage.input_tokens gen_ai.usage.prompt_tokens llm.token_count.prompt",
    "gen_ai.usage.output_tokens gen_ai.usage.completion_tokens llm.token_count.completion",
    "gen_ai.usage.cache_read.input_tokens gen_ai.usage.cache_read_input_tokens "
    "gen_ai.usage.details.cache_read_tokens llm.token_count.prompt_details.cache_read",
    "gen_ai.usage.cache_creation.input_tokens gen_ai.usage.cache_creation_input_tokens "
    "gen_ai.usage.details.cache_write_tokens llm.token_count.prompt_details.cache_write",
    "gen_ai.usage.reasoning.output_tokens gen_ai.usage.details.reasoning_tokens "
    "llm.token_count.completion_details.reasoning",
    total="gen_ai.usage.total_tokens llm.usage.total_tokens llm.token_count.total",
    cache_in_input=True,
)
MODELS = ("gen_ai.response.model", "gen_ai.request.model", "llm.model_name")
_NO_NAME = "unknown"
"""The model's name where LangChain's adapter does not tell it."""
_LANGCHAIN_MODEL = "traceloop.association.properties.ls_model_name"
MLFLOW_USAGE = UsageFields(
    "input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"
)


@dataclass(slots=True)
class _Exchange:
    """The messages that went into a model, and those that came out."""

    sent: list[ChatMessage] = field(default_factory=list)
    answer: list[ChatMessage] = field(default_factory=list)

    def add(self, exchange: _Exchange) -> None:
        """Add the messages of another."""
        self.sent += exchange.sent
        self.answer += exchange.answer

    @property
    def is_empty(self) -> bool:
        """Whether there is no message."""
        return not self.sent and not self.answer


def sessions(source: SourceFile) -> Iterator[Session]:
    """One session a conversation, or a trace where none is named."""
    builders: dict[str, TraceBuilder] = {}
    for place, span in _spans(source):
        with source.at(field=place):
            raw_attributes = span.get("attributes")
            attributes = flattened(attributes_of(raw_attributes))
            keyless_count = count_without_key(raw_attributes)
            if keyless_count:
                source.unknown["attribute without a key of its own"] += keyless_count
            generation = _generation(source, span, attributes, place)
            group = text(attributes, "gen_ai.conversation.id", "session.id")
            group = group or identifier(span, "traceId", "trace_id", "context/trace_id")
            builder = builders.setdefault(group or source.stem, TraceBuilder(source))
            builder.title = builder.title or text(attributes, "gen_ai.agent.name")
            if generation is not None:
                builder.generations.append(generation)
    if not any(builder.generations for builder in builders.values()):
        raise FormatError("no span holds the messages of a model request", where=source.where)
    for group, builder in builders.items():
        if builder.generations:
            builder.id = group
            builder.project = builder.title
            yield builder.session()


def _spans(source: SourceFile) -> Iterator[tuple[str, JsonObject]]:
    """Every span with its place in the file."""
    records: Iterable[tuple[int | None, Json]]
    if source.in_lines():
        records = source.records()
    else:
        document = source.document()
        records = [(None, value) for value in as_list(document)]
    for line, record in records:
        if not isinstance(record, dict):
            continue
        with source.at(line):
            for place, span in _inside(record):
                if line:
                    place = f"line {line} {place}".strip()
                yield place, span


def _inside(record: Record) -> Iterator[tuple[str, JsonObject]]:
    """The spans of a document or a line, in any of the shapes that exporters write."""
    resources = objects(record, "resourceSpans")
    columns: JsonObject = {}
    for name, value in record.items():
        if "." in name:
            columns[name.removeprefix("attributes.")] = value
    if not resources and "attributes" in record:
        yield "", dict(record)
    elif columns:
        span = dict(record)
        span["attributes"] = columns
        span["trace_id"] = record.get("context.trace_id")
        yield "", span
    data = record.get("data")
    for place, span in _listed("data", data):
        if "traceID" in span:
            yield from jaeger_spans(place, span)
        else:
            yield place, span
    yield from _listed("spans", record.get("spans"))
    if isinstance(data, dict):
        yield from _listed("data.spans", data.get("spans"))
    for number, resource in enumerate(resources):
        yield from _of_resource(f"resourceSpans[{number}]", resource)


def _of_resource(place: str, resource: Record) -> Iterator[tuple[str, JsonObject]]:
    """The spans of one of OTLP's resources, with their places."""
    scopes = objects(resource, "scopeSpans")
    if not scopes:
        scopes = objects(resource, "instrumentationLibrarySpans")
    for scope_number, scope in enumerate(scopes):
        for number, span in enumerate(objects(scope, "spans")):
            yield f"{place}.scopeSpans[{scope_number}].spans[{number}]", span


def _listed(field: str, value: Json) -> Iterator[tuple[str, JsonObject]]:
    """The spans of a list, with the name of its field and their numbers."""
    for number, span in enumerate(items_of(value)):
        if isinstance(span, dict):
            yield f"{field}[{number}]", span


def _generation(
    source: SourceFile, span: Record, attributes: JsonObject, place: str
) -> Generation | None:
    """The request that a span traced; None for spans of tools and agents, and for those without
    messages.
    """
    if text(attributes, "gen_ai.operation.name") in _NO_REQUEST:
        return None
    is_mlflow = "mlflow.spanType" in attributes
    exchange = _mlflow(attributes) if is_mlflow else _latest(attributes)
    for event in objects(span, "events"):
        details = attributes_of(event.get("attributes"))
        if "gen_ai.input.messages" in details:
            exchange.add(_latest(details))
        else:
            exchange.add(_event(event, details))
    if exchange.is_empty:
        exchange = _indexed(attributes)
    if exchange.is_empty:
        exchange = _completion(attributes)
    if exchange.is_empty:
        return None
    model = source.name(attributes, *MODELS)
    if model == _NO_NAME:
        model = source.name(attributes, _LANGCHAIN_MODEL)
    usage = source.usage(OTEL_USAGE, attributes)
    time = source.time(span, "startTimeUnixNano")
    return Generation(
        sent=exchange.sent,
        answer=exchange.answer,
        model=model or _mlflow_model(attributes),
        usage=usage or _mlflow_usage(source, attributes),
        time=time or source.time(span, "start_time"),
        place=place,
    )


def _completion(attributes: Record) -> _Exchange:
    """The prompt and the words of a completion, which OpenInference has as values of the span; none
    where it is no request.
    """
    if attributes.get("openinference.span.kind") != "LLM":
        return _Exchange()
    input_value = as_mapping(_json(attributes.get("input.value")))
    output_value = as_mapping(_json(attributes.get("output.value")))
    prompt = label(input_value, "prompt")
    words = label(output_value, "text")
    if not prompt or not words:
        return _Exchange()
    return _Exchange(
        sent=[{"role": "user", "content": prompt}],
        answer=[{"role": "assistant", "content": words}],
    )


def _mlflow(attributes: Record) -> _Exchange:
    """The messages of one of MLflow's spans, whose values are JSON text; none where it is no
    request.
    """
    if _json(attributes.get("mlflow.spanType")) not in _MLFLOW_REQUESTS:
        return _Exchange()
    inputs = _json(attributes.get("mlflow.spanInputs"))
    outputs = _json(attributes.get("mlflow.spanOutputs"))
    sent = chat_messages(inputs)
    answer = chat_messages(outputs, "assistant")
    return _Exchange(sent or [], answer or [])


def _json(value: Json) -> Json:
    """The value of a JSON text; anything else as it is."""
    return decode_or(value, value)


def _mlflow_usage(source: SourceFile, attributes: Record) -> Usage | None:
    """What a provider reported: Anthropic's input is without what came from the cache."""
    is_anthropic = _json(attributes.get("mlflow.message.format")) == "anthropic"
    fields = replace(MLFLOW_USAGE, cache_in_input=not is_anthropic)
    figures = _json(attributes.get("mlflow.chat.tokenUsage"))
    return source.usage(fields, as_mapping(figures))


def _mlflow_model(attributes: Record) -> str:
    """The model's name, which is JSON text as well."""
    model = _json(attributes.get("mlflow.llm.model"))
    return label({"model": model}, "model")


def _latest(attributes: Record) -> _Exchange:
    """The messages as the newest conventions give them: JSON text or structured values."""
    exchange = _Exchange()
    rules = attributes.get("gen_ai.system_instructions")
    if rules:
        exchange.sent.append({"role": "system", "content": _json(rules)})
    prompt = attributes.get("gen_ai.prompt")
    sent = attributes.get("gen_ai.input.messages", prompt)
    exchange.sent += chat_messages(sent) or []
    completion = attributes.get("gen_ai.completion")
    answer = attributes.get("gen_ai.output.messages", completion)
    exchange.answer += chat_messages(answer, "assistant") or []
    return exchange


def _event(event: Record, details: JsonObject) -> _Exchange:
    """A message as an event of the older conventions."""
    name = text(event, "name")
    event_content = details.get("gen_ai.event.content")
    body: Json = details
    if isinstance(event_content, str):
        body = decode_or(event_content, {"content": event_content})
    if not isinstance(body, dict):
        body = {"content": body}
    if name == "gen_ai.choice":
        answer = chat_messages(body.get("message", body), "assistant") or []
        return _Exchange(answer=answer)
    if name not in _EVENTS:
        return _Exchange()
    message: ChatMessage = {
        "content": body.get("content"),
        "tool_calls": body.get("tool_calls"),
        "role": _EVENTS[name],
    }
    if message["role"] == "tool":
        message["tool_call_id"] = body.get("id")
    return _Exchange(sent=[message])


def _indexed(attributes: Record) -> _Exchange:
    """Messages as numbered attributes, one a field, as OpenLLMetry and OpenInference write them."""
    sent: dict[int, _IndexedMessage] = {}
    answer: dict[int, _IndexedMessage] = {}
    for key, value in attributes.items():
        indexed = _INDEXED.match(key)
        if not indexed:
            continue
        number = int(indexed[2])
        if indexed[1] in ("completion", "output_messages"):
            message = answer.setdefault(number, _IndexedMessage("assistant"))
        else:
            message = sent.setdefault(number, _IndexedMessage("user"))
        message.set(indexed[3], value)
    return _Exchange(
        sent=[sent[number].shaped for number in sorted(sent)],
        answer=[answer[number].shaped for number in sorted(answer)],
    )


class _IndexedMessage:
    """A message while its numbered attributes are read."""

    def __init__(self, role: str) -> None:
        self.fields: ChatMessage = {"role": role, "content": None}
        self.calls: dict[int, JsonObject] = {}

    def set(self, field: str, value: Json) -> None:
        """Take the value of an attribute; one of no message's field is passed over."""
        call = _CALL.match(field)
        if call:
            fields = self.calls.setdefault(int(call[1]), {})
            fields[call[2]] = value
        elif _CONTENTS.match(field):
            words = filter(None, (self.fields["content"], str(value)))
            self.fields["content"] = "\n".join(words)
        elif field in ("role", "content", "tool_call_id", "name"):
            self.fields[field] = value

    @property
    def shaped(self) -> ChatMessage:
        """The message in the shape of a chat API, its calls in order."""
        calls = [self.calls[number] for number in sorted(self.calls)]
        return {**self.fields, "tool_calls": calls}


def knows_otel(head: Head) -> bool:
    """Whether it holds spans that speak of models."""
    if "resourceSpans" in head.keys:
        return True
    if any(name.startswith("attributes.llm.") for name in head.keys):
        return True
    if '"input_messages"' in head.text and '"span_kind"' in head.text:
        return True
    has_spans = (
        {"attributes", "name"} <= head.keys
        or {"info", "data"} <= head.keys
        or '"scopeSpans"' in head.text
        or '"traceID"' in head.text
    )
    return has_spans and any(mark in head.text for mark in _SPEAKS_OF_MODELS)


OTEL = Format(
    name="otel",
    description="OpenTelemetry GenAI traces (OTLP JSON, JSON lines, exports of Jaeger)",
    carries=("tree", "calls", "thinking", "usage", "times", "model", "system"),
    knows=knows_otel,
    sessions=sessions,
)
