"""A run's compactions as OpenTelemetry spans: as the conventions have them, without a text unless it
is asked for, and read again by our importer and by OpenTelemetry's own classes.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command import shared_copy
from report.view.made import made_run

from workbench import AssistantMessage, FormatError, Results, load
from workbench.cli import main
from workbench.engine.transcript.message import plain_text


@pytest.fixture(scope="module")
def results(made_once: Callable[..., Path]) -> Results:
    return Results.open(made_once("view", made_run) / "reports" / "run")


def exported(results: Results, out: Path, *options: str) -> Path:
    """The file of spans that the command writes."""
    words = ["runs", "export", str(results.path), "--out", str(out), "--to", "otel"]
    assert main([*words, *options]) == 0
    return out / "compactions.otlp.jsonl"


def spans_of(line: str) -> list[dict[str, Any]]:
    """The spans of a trace, each with its attributes by key."""
    (resource,) = json.loads(line)["resourceSpans"]
    (scope,) = resource["scopeSpans"]
    spans = []
    for span in scope["spans"]:
        values = {item["key"]: next(iter(item["value"].values())) for item in span["attributes"]}
        spans.append({**span, "attributes": values})
    return spans


def test_each_compaction_is_a_span_below_its_replay(results: Results, tmp_path: Path) -> None:
    lines = exported(results, tmp_path).read_text().splitlines()
    rows = results.compactions.query("mode == 'natural' and strategy in ['summarize', 'truncate']")
    assert len(lines) == 2 and len(rows)
    for line in lines:
        spans = spans_of(line)
        (root,) = (span for span in spans if "parentSpanId" not in span)
        strategy = root["attributes"]["workbench.strategy"]
        by_number = rows[rows["strategy"] == strategy].set_index("number")
        compactions = [span for span in spans if span.get("parentSpanId") == root["spanId"]]
        assert len(compactions) == len(by_number)
        for span in compactions:
            row = by_number.loc[int(span["attributes"]["workbench.compaction.number"])]
            for column in ("at", "tokens_before", "tokens_sent", "dropped"):
                assert int(span["attributes"][f"workbench.compaction.{column}"]) == row[column]
            requests = [child for child in spans if child.get("parentSpanId") == span["spanId"]]
            assert len(requests) == (1 if row["requests"] else 0)
            for request in requests:
                assert request["attributes"]["gen_ai.operation.name"] == "chat"
                tokens = int(request["attributes"]["gen_ai.usage.input_tokens"])
                assert tokens == row["input_tokens"]
                assert int(span["startTimeUnixNano"]) <= int(request["startTimeUnixNano"])
                assert int(request["endTimeUnixNano"]) <= int(span["endTimeUnixNano"])
        assert len({span["spanId"] for span in spans}) == len(spans)
        assert {span["traceId"] for span in spans} == {root["traceId"]}


def test_a_run_has_the_same_spans_each_time(results: Results, tmp_path: Path) -> None:
    first, second = (exported(results, tmp_path / name).read_bytes() for name in "ab")
    assert first == second


def test_no_text_is_written_unless_it_is_asked_for(results: Results, tmp_path: Path) -> None:
    text = exported(results, tmp_path).read_text()
    assert "gen_ai.input.messages" not in text and "timeout_of" not in text
    with pytest.raises(FormatError, match="no span holds the messages"):
        load(tmp_path / "compactions.otlp.jsonl")


def test_our_importer_reads_the_texts_again(results: Results, tmp_path: Path) -> None:
    path = exported(results, tmp_path, "--texts")
    requests = [
        span for line in path.read_text().splitlines() for span in spans_of(line)
        if span["name"].startswith("chat ")
    ]  # fmt: skip
    (session,) = load(path)
    assert session.id == "s/1 under summarize"
    messages = [entry.message for entry in session.log if hasattr(entry, "message")]
    answers = [message for message in messages if isinstance(message, AssistantMessage)]
    written = [
        json.loads(span["attributes"]["gen_ai.output.messages"])[0]["parts"][0]["content"]
        for span in requests
    ]
    assert [plain_text(answer) for answer in answers] == written
    reported = [int(span["attributes"]["gen_ai.usage.output_tokens"]) for span in requests]
    assert [answer.usage.output for answer in answers if answer.usage] == reported


def test_texts_need_the_recording(
    results: Results, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = shared_copy(results.path, tmp_path / "copy")
    assert exported(copy, tmp_path).is_file()
    words = ["runs", "export", str(copy.path), "--out", str(tmp_path), "--to", "otel", "--texts"]
    assert main(words) == 2
    assert "shared copy" in capsys.readouterr().err


def test_the_command_writes_them(
    results: Results, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["runs", "export", str(results.path), "--out", str(tmp_path)]
    assert main([*words, "--to", "otel", "--texts", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "files": [str(tmp_path / "compactions.otlp.jsonl")]
    }
    assert main([*words, "--to", "csv", "--texts"]) == 2
    assert "--texts belongs to --to otel" in capsys.readouterr().err


def test_opentelemetry_reads_every_span(results: Results, tmp_path: Path) -> None:
    traces = pytest.importorskip("opentelemetry.proto.trace.v1.trace_pb2")
    json_format = pytest.importorskip("google.protobuf.json_format")
    for line in exported(results, tmp_path, "--texts").read_text().splitlines():
        document = json.loads(line)
        (scope,) = document["resourceSpans"][0]["scopeSpans"]
        for span in scope["spans"]:
            # OTLP writes ids as hex where protobuf's own JSON has base64
            for name in ("traceId", "spanId", "parentSpanId"):
                if name in span:
                    span[name] = b64encode(bytes.fromhex(span[name])).decode()
        data = json_format.ParseDict(document, traces.TracesData())
        parsed = data.resource_spans[0].scope_spans[0].spans
        assert len(parsed) == len(scope["spans"])
        for span in parsed:
            assert (len(span.trace_id), len(span.span_id)) == (16, 8)
            assert span.start_time_unix_nano <= span.end_time_unix_nano and span.kind in (1, 3)
