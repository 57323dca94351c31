"""Traces: OpenTelemetry's by the GenAI conventions (OTLP as JSON, in one document or in lines), and
Langfuse's.

Source: open-telemetry/semantic-conventions-genai, model and docs/gen-ai; the older events and
indexed attributes of its version 1.36, of OpenLLMetry and of OpenInference are read as well, flat
or nested, as Phoenix exports them, and MLflow's spans. Langfuse's page and API give one JSON
document of a trace and its observations; LangSmith gives runs.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from workbench.base.errors import FormatError
from workbench.engine.transcript.message import Json
from workbench.engine.transcript.session import Session
from workbench.recordings.importers.source import Head, SourceFile
from workbench.recordings.importers.traces import (
    ChatMessage,
    Generation,
    TraceBuilder,
    chat_messages,
)
from workbench.recordings.importers.usage import OPENAI_USAGE, UsageFields
from workbench.recordings.importers.values import (
    as_mapping,
    decode_or,
    first_value,
    identifier,
    items,
    label,
    mapping,
    objects,
    text,
)

_INDEXED = re.compile(
    r"(?:gen_ai|llm)\.(prompt|completion|input_messages|output_messages)\.(\d{1,6})\.(?:message\.)?(.+)$"
)
_CONTENTS = re.compile(r"contents\.\d{1,4}\.message_content\.text$")
_NESTED = ("llm", "session", "openinference", "gen_ai")
_MLFLOW = ("spanType", "spanInputs", "spanOutputs")
_MLFLOW_REQUESTS = frozenset({"CHAT_MODEL", "LLM"})
_CALL = re.compile(r"tool_calls\.(\d{1,4})\.(?:tool_call\.)?(?:function\.)?(id|name|arguments)$")
_EVENTS = {
    "gen_ai.system.message": "system", "gen_ai.user.message": "user", "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}  # fmt: skip
_NO_REQUEST = frozenset(
    {"execute_tool", "embeddings", "invoke_agent", "create_agent", "invoke_workflow"}
)
OTEL_USAGE = UsageFields(
    "gen_ai.usage.input_tokens gen_ai.usage.prompt_tokens llm.token_count.prompt",
    "gen_ai.usage.output_tokens gen_ai.usage.completion_tokens llm.token_count.completion",
    "gen_ai.usage.cache_read.input_tokens llm.token_count.prompt_details.cache_read",
    "gen_ai.usage.cache_creation.input_tokens llm.token_count.prompt_details.cache_write",
    "gen_ai.usage.reasoning.output_tokens llm.token_count.completion_details.reasoning",
    cache_in_input=True,
)
LANGFUSE_USAGE = UsageFields(
    "input",
    "output",
    "prompt_details.cache_read input_cache_read input_cached_tokens",
    reasoning="completion_details.reasoning output_reasoning",
    cache_in_input=True,
)
OBSERVATIONS = frozenset(
    {"SPAN", "EVENT", "AGENT", "TOOL", "CHAIN", "RETRIEVER", "EVALUATOR", "EMBEDDING", "GUARDRAIL"}
)
"""Langfuse's types of observations that are no request of a model."""
Messages: TypeAlias = list[ChatMessage]


def sessions(source: SourceFile) -> Iterator[Session]:
    """One session a conversation, or a trace where none is named."""
    builders: dict[str, TraceBuilder] = {}
    for place, span in _spans(source):
        with source.at(field=place):
            attributes = _flattened(_attributes(span.get("attributes")))
            if without := _without_key(span.get("attributes")):
                source.unknown["attribute without a key of its own"] += without
            generation = _generation(source, span, attributes, place)
            group = text(attributes, "gen_ai.conversation.id", "session.id")
            group = (
                group or identifier(span, "traceId", "trace_id", "context/trace_id") or source.stem
            )
            builder = builders.setdefault(group, TraceBuilder(source))
            builder.title = builder.title or text(attributes, "gen_ai.agent.name")
            builder.generations += [generation] if generation is not None else []
    builders = {group: builder for group, builder in builders.items() if builder.generations}
    if not builders:
        raise FormatError("no span holds the messages of a model request", where=source.where)
    for group, builder in builders.items():
        builder.id, builder.project = group, builder.title
        yield builder.session()


def _spans(source: SourceFile) -> Iterator[tuple[str, dict[str, Json]]]:
    """Every span with its place in the file."""
    records: Iterable[tuple[int | None, Json]] = source.records()
    if not source.in_lines():
        document = source.document()
        records = ((None, one) for one in (document if isinstance(document, list) else [document]))
    for line, record in records:
        with source.at(line):
            for place, span in _inside(record) if isinstance(record, dict) else ():
                yield f"line {line} {place}".strip() if line else place, span


def _inside(record: Mapping[str, Json]) -> Iterator[tuple[str, dict[str, Json]]]:
    resources = objects(record, "resourceSpans")
    columns = {
        name.removeprefix("attributes."): value for name, value in record.items() if "." in name
    }
    if not resources and "attributes" in record:
        yield "", dict(record)
    elif columns:
        yield "", {**record, "attributes": columns, "trace_id": record.get("context.trace_id")}
    for field in ("data", "spans", "data/spans"):
        listed = (
            first_value(record, field)
            if "/" not in field or isinstance(record.get("data"), dict)
            else None
        )
        for i, span in enumerate(listed if isinstance(listed, list) else []):
            if isinstance(span, dict):
                yield f"{field.replace('/', '.')}[{i}]", span
    for i, resource in enumerate(resources):
        scopes = objects(resource, "scopeSpans") or objects(resource, "instrumentationLibrarySpans")
        for j, scope in enumerate(scopes):
            for k, span in enumerate(objects(scope, "spans")):
                yield f"resourceSpans[{i}].scopeSpans[{j}].spans[{k}]", span


def _attributes(value: Json) -> dict[str, Json]:
    """Attributes as a plain object, from OTLP's list of keys and typed values or from an object."""
    if isinstance(value, dict):
        return value
    attributes: dict[str, Json] = {}
    for attribute in value if isinstance(value, list) else []:
        if isinstance(attribute, dict) and isinstance(attribute.get("key"), str):
            attributes[attribute["key"]] = _value(attribute.get("value"))
    return attributes


def _flattened(attributes: dict[str, Json]) -> dict[str, Json]:
    """Attributes with a key for each value inside of OpenInference's own, as it writes them to a
    span.
    """
    flat: dict[str, Json] = {}
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


def _without_key(value: Json) -> int:
    """How many of OTLP's attributes have no key, or that of another."""
    attributes = value if isinstance(value, list) else []
    keys = [label(attribute, "key") for attribute in attributes if isinstance(attribute, dict)]
    return len(attributes) - len(set(keys) - {""})


def _value(value: Json) -> Json:
    if not isinstance(value, dict):
        return value
    name, inside = next(iter(value.items()), ("", None))
    match name.replace("_value", "Value"):
        case "stringValue" | "boolValue" | "doubleValue":
            return inside
        case "intValue":
            digits = str(inside)
            return int(digits) if digits.lstrip("-").isdigit() and len(digits) < 20 else None
        case "arrayValue" if isinstance(inside, dict):
            return [_value(item) for item in objects(inside, "values")]
        case "kvlistValue" if isinstance(inside, dict):
            return _attributes(inside.get("values"))
    return None


def _generation(
    source: SourceFile, span: Mapping[str, Json], attributes: dict[str, Json], place: str
) -> Generation | None:
    """The request that a span traced; None for spans of tools and agents, and for those without
    messages.
    """
    if text(attributes, "gen_ai.operation.name") in _NO_REQUEST:
        return None
    sent, answer = _mlflow(attributes) if "mlflow.spanType" in attributes else _latest(attributes)
    for event in objects(span, "events"):
        details = _attributes(event.get("attributes"))
        more, event_answer = (
            _latest(details) if "gen_ai.input.messages" in details else _event(event, details)
        )
        sent, answer = sent + more, answer + event_answer
    if not sent and not answer:
        sent, answer = _indexed(attributes)
    if not sent and not answer:
        return None
    return Generation(
        sent=sent,
        answer=answer,
        model=source.name(
            attributes, "gen_ai.response.model", "gen_ai.request.model", "llm.model_name"
        ),
        usage=source.usage(OTEL_USAGE, attributes)
        or source.usage(OPENAI_USAGE, _mlflow_usage(attributes)),
        time=source.time(span, "startTimeUnixNano") or source.time(span, "start_time"),
        place=place,
    )


def _mlflow(attributes: Mapping[str, Json]) -> tuple[Messages, Messages]:
    """The messages of one of MLflow's spans, whose values are JSON text; none where it is no
    request.
    """
    values = {
        name: decode_or(attributes.get(f"mlflow.{name}"), attributes.get(f"mlflow.{name}"))
        for name in _MLFLOW
    }
    if values["spanType"] not in _MLFLOW_REQUESTS:
        return [], []
    return (
        chat_messages(values["spanInputs"]) or [],
        chat_messages(values["spanOutputs"], "assistant") or [],
    )


def _mlflow_usage(attributes: Mapping[str, Json]) -> dict[str, Json]:
    return as_mapping(
        decode_or(
            attributes.get("mlflow.chat.tokenUsage"), attributes.get("mlflow.chat.tokenUsage")
        )
    )


def _latest(attributes: Mapping[str, Json]) -> tuple[Messages, Messages]:
    """The messages as the newest conventions give them: JSON text or structured values."""
    rules = attributes.get("gen_ai.system_instructions")
    system = [{"role": "system", "content": decode_or(rules, rules)}] if rules else []
    sent = (
        chat_messages(attributes.get("gen_ai.input.messages", attributes.get("gen_ai.prompt")))
        or []
    )
    answer = attributes.get("gen_ai.output.messages", attributes.get("gen_ai.completion"))
    return system + sent, chat_messages(answer, "assistant") or []


def _event(event: Mapping[str, Json], details: dict[str, Json]) -> tuple[Messages, Messages]:
    """A message as an event of the older conventions."""
    name, event_content = text(event, "name"), details.get("gen_ai.event.content")
    body = (
        decode_or(event_content, {"content": event_content})
        if isinstance(event_content, str)
        else details
    )
    body = body if isinstance(body, dict) else {"content": body}
    if name == "gen_ai.choice":
        return [], chat_messages(body.get("message", body), "assistant") or []
    if name not in _EVENTS:
        return [], []
    shaped = {
        "content": body.get("content"),
        "tool_calls": body.get("tool_calls"),
        "role": _EVENTS[name],
    }
    return [{**shaped, "tool_call_id": body.get("id")} if shaped["role"] == "tool" else shaped], []


def _indexed(attributes: Mapping[str, Json]) -> tuple[Messages, Messages]:
    """Messages as numbered attributes, one a field, as OpenLLMetry and OpenInference write them."""
    messages: dict[tuple[bool, int], dict[str, Json]] = {}
    for key, value in attributes.items():
        if not (named := _INDEXED.match(key)):
            continue
        place = (named[1] in ("completion", "output_messages"), int(named[2]))
        message = messages.setdefault(
            place, {"role": "assistant" if place[0] else "user", "content": None}
        )
        if call := _CALL.match(named[3]):
            message.setdefault("calls", {}).setdefault(int(call[1]), {})[call[2]] = value
        elif _CONTENTS.match(named[3]):
            message["content"] = "\n".join(filter(None, (message["content"], str(value))))
        elif named[3] in ("role", "content", "tool_call_id", "name"):
            message[named[3]] = value
    both: tuple[Messages, Messages] = ([], [])
    for (is_answer, _), message in sorted(messages.items()):
        message["tool_calls"] = [call for _, call in sorted(message.pop("calls", {}).items())]
        both[is_answer].append(message)
    return both


class LangfuseBuilder(TraceBuilder):
    """Reads observations; those that are generations hold messages. One inside another is the
    same request again.
    """

    def __init__(self, source: SourceFile) -> None:
        super().__init__(source)
        self.inside: dict[str, str] = {}

    def session(self) -> Session:
        """The session without generations inside of others."""
        self.generations = [
            generation
            for generation in self.generations
            if self.inside[generation.place] not in self.inside
        ]
        return super().session()

    def begin(self, document: Mapping[str, Json]) -> None:
        """Read the trace's id and its name, and the observations where they are inside of it."""
        trace = mapping(document, "trace") or document
        self.id, self.title = identifier(trace, "id"), text(trace, "name")
        self.project = self.title
        if not items(document, "observations"):
            self.read_all(items(trace, "observations"), "trace.observations")

    def read(self, record: Mapping[str, Json]) -> None:
        """Read one observation."""
        type_ = text(record, "type")
        if type_ != "GENERATION":
            if type_ not in OBSERVATIONS:
                self.source.unknown[f"observation of type {type_!r}"] += 1
            return
        sent, answer = (
            chat_messages(record.get("input")),
            chat_messages(record.get("output"), "assistant"),
        )
        if sent is None:
            self.source.unknown["generation whose input has another framework's shape"] += 1
        elif sent or answer:
            model, time = self.source.name(record, "model"), self.source.time(record, "startTime")
            usage, place = (
                self.source.usage(LANGFUSE_USAGE, record, "usageDetails", "usage"),
                identifier(record, "id"),
            )
            generation = Generation(
                sent=sent, answer=answer or (), model=model, usage=usage, time=time, place=place
            )
            self.inside[place] = identifier(record, "parentObservationId")
            if self.inside[place] == place:
                self.source.unknown["generation that names itself as its parent"] += 1
            self.generations.append(generation)


RUNS = frozenset({"chain", "tool", "retriever", "embedding", "prompt", "parser"})
"""LangSmith's types of runs that are no request of a model."""
LANGSMITH_USAGE = UsageFields(
    "prompt_tokens input_tokens",
    "completion_tokens output_tokens",
    "prompt_token_details/cache_read input_token_details/cache_read",
    reasoning="completion_token_details/reasoning output_token_details/reasoning",
    cache_in_input=True,
)


def knows_langsmith(head: Head) -> bool:
    """Whether it is runs, one or many, with what went in."""
    return (
        "run_type" in (head.keys | set(head.records[0] if head.records else ()))
        and '"inputs"' in head.text
    )


class LangSmithBuilder(TraceBuilder):
    """Reads runs; those of a model hold messages."""

    def read(self, record: Mapping[str, Json]) -> None:
        """Read one run."""
        type_ = text(record, "run_type")
        if type_ != "llm":
            if type_ not in RUNS:
                self.source.leave_record(f"run of type {type_!r:.40}", record)
            else:
                self.source.note("asks no model, left out", field=f"run of type {type_}")
            return
        self.id = self.id or identifier(record, "session_id", "trace_id")
        inputs, outputs = mapping(record, "inputs"), mapping(record, "outputs")
        sent, answer = chat_messages(inputs), chat_messages(outputs, "assistant")
        if sent is None:
            self.source.leave_record("run whose inputs have another framework's shape", inputs)
        elif sent or answer:
            about = {
                name: value
                for name, value in as_mapping(record.get("extra")).items()
                if name != "runtime"
            }
            metadata = mapping(about, "metadata")
            model = self.source.name(metadata, "ls_model_name") or self.source.name(
                mapping(about, "invocation_params"), "model", "model_name"
            )
            generation = Generation(
                sent=sent,
                answer=answer or (),
                model=model,
                usage=self.source.usage(LANGSMITH_USAGE, record),
                time=self.source.time(record, "start_time"),
                place=identifier(record, "id"),
            )
            self.generations.append(generation)


def langsmith_sessions(source: SourceFile) -> Iterator[Session]:
    """One session a trace."""
    builders: dict[str, LangSmithBuilder] = {}
    for place, run in _runs(source):
        with source.at(field=place):
            trace = identifier(run, "trace_id", "session_id") or source.stem
            builders.setdefault(trace, LangSmithBuilder(source)).read(run)
    for builder in builders.values():
        if builder.generations:
            yield builder.session()


def _runs(source: SourceFile) -> Iterator[tuple[str, dict[str, Json]]]:
    """Every run with its place in the file."""
    if source.in_lines():
        for line, record in source.records():
            yield f"line {line}", record
        return
    document = source.document()
    listed = document.get("runs", [document]) if isinstance(document, dict) else document
    for number, run in enumerate(listed if isinstance(listed, list) else []):
        if isinstance(run, dict):
            yield f"[{number}]", run
