"""The compactions of a run as OpenTelemetry spans, for those who look at traces elsewhere.

OTLP as JSON lines, which a collector's file receiver takes: a line is a trace, of one session under
one strategy; a span is a compaction, and below it a span for each request for a summary.

Source: open-telemetry/semantic-conventions-genai, inference spans and
`gen_ai.conversation.compacted`; opentelemetry.io/docs/specs/otlp, JSON encoding. What the
conventions have no name for is called `workbench.compaction.*`.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from workbench import __version__
from workbench.base.formats import missing
from workbench.base.palette import REFERENCES
from workbench.engine.models.provider_names import provider_named
from workbench.evaluation.experiment.atomic import write_atomically
from workbench.evaluation.experiment.results import Results
from workbench.report.view.contexts import ContextPlace, side
from workbench.report.view.runs import RunEntry, runs
from workbench.report.view.summary_requests import SummarySpan, summary_spans

FILE = "compactions.otlp.jsonl"
INTERNAL, CLIENT = 1, 3
"""Kinds of spans."""
SHORTEST = 1_000_000
"""Nanoseconds of a span of which no time is known."""
FIGURES = (
    "number",
    "at",
    "reason",
    "target",
    "tokens_before",
    "tokens_after",
    "tokens_sent",
    "dropped",
    "rewritten",
    "kept",
    "stages",
    "outcome",
    "why",
    "violations",
    "requests",
    "usd",
)
"""Columns of the table `compactions` that become attributes."""


def to_otel(results: Results, out: str | Path, *, texts: bool = False) -> Path:
    """Write the compactions of a run, on the strategies' own triggers, as spans.

    Times are those of the run, since a recording is replayed at once.

    Args:
        results: a run.
        out: a folder; a file of the same name is replaced.
        texts: with the prompts and answers of summaries, made again from the recordings; no model
            is asked.

    Returns:
        The file.

    Raises:
        NotShown: texts are wanted, and a recording is not there or has changed.
    """
    compactions = results.compactions
    is_natural = compactions["mode"] == "natural"
    is_reference = compactions["strategy"].isin(REFERENCES)
    compactions = compactions[is_natural & ~is_reference]
    (entry,) = runs(results.path).values()
    started = int((results.manifest.get("created") or 0) * 1e9)
    lines = []
    traces = compactions.groupby(["session", "strategy"], sort=False)
    for (session, strategy), rows in traces:
        trace = Trace(results.path.name, str(session), str(strategy), started)
        exchanges_of: dict[int, list[Exchange]] = {}
        if texts:
            exchanges_of = _from_recording(entry, trace)
        for row in rows.sort_values("number").to_dict("records"):
            exchanges = exchanges_of.get(row["number"]) or _from_table(row)
            trace.add(row, exchanges)
        line = json.dumps(trace.document(), ensure_ascii=True)
        lines.append(f"{line}\n")
    path = Path(out) / FILE
    write_atomically(path, "".join(lines))
    return path


@dataclass(frozen=True, slots=True)
class Exchange:
    """One or several requests for a summary, with their answers.

    Attributes:
        model: who wrote.
        is_by_rule: whether no model was asked.
        tokens_in, tokens_out: as the model, or we, counted them.
        seconds: how long it took.
        requests: how many requests these are.
        span: the request and the answer, where their texts are wanted.
    """

    model: str
    is_by_rule: bool
    tokens_in: int
    tokens_out: int
    seconds: float
    requests: int = 1
    span: SummarySpan | None = None


def _from_table(row: Mapping[Hashable, Any]) -> list[Exchange]:
    """All requests of a compaction as one, as the run's table has them."""
    if missing(row["requests"]) or not row["requests"]:
        return []
    exchange = Exchange(
        model=str(row["writer"]),
        is_by_rule=row["by_rule"] == row["requests"],
        tokens_in=int(row["input_tokens"]),
        tokens_out=int(row["output_tokens"]),
        seconds=float(row["seconds"]),
        requests=int(row["requests"]),
    )
    return [exchange]


def _from_recording(entry: RunEntry, trace: Trace) -> dict[int, list[Exchange]]:
    """The requests of each compaction with their texts, by the compaction's number."""
    view = side(entry, trace.session, trace.strategy, ContextPlace())
    exchanges = {}
    for event in view.replay.events:
        exchanges[event.number] = [_of_span(span) for span in summary_spans(view, event)]
    return exchanges


def _of_span(span: SummarySpan) -> Exchange:
    completion = span.completion
    return Exchange(
        model=completion.model,
        is_by_rule=span.is_by_rule,
        tokens_in=completion.input_tokens,
        tokens_out=completion.output_tokens,
        seconds=completion.seconds,
        span=span,
    )


class Trace:
    """The spans of a session under a strategy, one behind the other.

    Attributes:
        run, session, strategy: whose compactions these are.
    """

    def __init__(self, run: str, session: str, strategy: str, started: int) -> None:
        self.run = run
        self.session = session
        self.strategy = strategy
        self.started = started
        self.time = started
        self.spans: list[dict[str, Any]] = []
        self.id = self._id("trace", 32)
        self.root = self._id("root", 16)

    def _id(self, name: str, digits: int) -> str:
        """An id that follows from what it names: written again, a run has the same traces."""
        parts = (self.run, self.session, self.strategy, name)
        digest = sha256("\0".join(parts).encode("utf-8", "surrogatepass"))
        return digest.hexdigest()[:digits]

    @property
    def conversation(self) -> str:
        """What the requests of this trace belong to."""
        return f"{self.session} under {self.strategy}"

    def add(self, row: Mapping[Hashable, Any], exchanges: Sequence[Exchange]) -> None:
        """Add a compaction.

        Args:
            row: of the table `compactions`.
            exchanges: its requests.
        """
        number = row["number"]
        begins = self.time
        span_id = self._id(f"compaction {number}", 16)
        for place, exchange in enumerate(exchanges):
            exchange_id = self._id(f"request {number} {place}", 16)
            self._add_exchange(exchange, exchange_id, span_id)
        if not exchanges:
            self.time += SHORTEST
        attributes = {"gen_ai.conversation.id": self.conversation}
        for name in FIGURES:
            if not missing(row[name]):
                attributes[f"workbench.compaction.{name}"] = row[name]
        self._add(span_id, self.root, f"compaction {number}", INTERNAL, begins, attributes)

    def _add_exchange(self, exchange: Exchange, span_id: str, parent: str) -> None:
        begins = self.time
        self.time += max(int(exchange.seconds * 1e9), SHORTEST)
        attributes = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": provider_named(exchange.model),
            "gen_ai.request.model": exchange.model,
            "gen_ai.conversation.id": self.conversation,
            "gen_ai.usage.input_tokens": exchange.tokens_in,
            "gen_ai.usage.output_tokens": exchange.tokens_out,
            "workbench.requests": exchange.requests,
            "workbench.by_rule": exchange.is_by_rule,
        }
        if exchange.span is not None:
            attributes |= _texts(exchange.span)
        kind = INTERNAL if exchange.is_by_rule else CLIENT
        self._add(span_id, parent, f"chat {exchange.model}", kind, begins, attributes)

    def _add(
        self,
        span_id: str,
        parent: str,
        name: str,
        kind: int,
        begins: int,
        attributes: Mapping[str, object],
    ) -> None:
        span = {
            "traceId": self.id,
            "spanId": span_id,
            "name": name,
            "kind": kind,
            "startTimeUnixNano": str(begins),
            "endTimeUnixNano": str(self.time),
            "attributes": _attributes(attributes),
        }
        if parent:
            span["parentSpanId"] = parent
        self.spans.append(span)

    def document(self) -> dict[str, Any]:
        """The trace as OTLP has it, with a root span around all compactions."""
        attributes = {
            "gen_ai.conversation.id": self.conversation,
            "workbench.run": self.run,
            "workbench.session": self.session,
            "workbench.strategy": self.strategy,
        }
        name = f"replay under {self.strategy}"
        self._add(self.root, "", name, INTERNAL, self.started, attributes)
        service = {"service.name": "workbench", "service.version": __version__}
        scope = {"name": "workbench", "version": __version__}
        resource_spans = {
            "resource": {"attributes": _attributes(service)},
            "scopeSpans": [{"scope": scope, "spans": self.spans}],
        }
        return {"resourceSpans": [resource_spans]}


def _texts(span: SummarySpan) -> dict[str, object]:
    """The messages of a request and its answer, as the conventions write them to a span."""
    request = span.request
    attributes: dict[str, object] = {}
    if request.system:
        attributes["gen_ai.system_instructions"] = json.dumps([_part(request.system)])
    sent = {"role": "user", "parts": [_part(request.prompt)]}
    answer = {
        "role": "assistant",
        "parts": [_part(span.completion.text)],
        "finish_reason": "length" if span.completion.cut else "stop",
    }
    attributes["gen_ai.input.messages"] = json.dumps([sent])
    attributes["gen_ai.output.messages"] = json.dumps([answer])
    if request.previous:
        attributes["gen_ai.conversation.compacted"] = True
    return attributes


def _part(text: str) -> dict[str, str]:
    return {"type": "text", "content": text}


def _attributes(values: Mapping[str, object]) -> list[dict[str, Any]]:
    """Values as OTLP writes attributes."""
    attributes = []
    for key, value in values.items():
        attributes.append({"key": key, "value": _value(value)})
    return attributes


def _value(value: object) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    return {"stringValue": str(value).encode("utf-8", "replace").decode()}
