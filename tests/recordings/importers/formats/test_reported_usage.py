"""What each format reports of its requests, by value: the prompt, what of it came from the cache,
and the whole answer.
"""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from recordings.importers.agent_samples import CLAUDE_STREAM, KIMI
from recordings.importers.files import database, document, only, written
from recordings.importers.samples import COPILOT, DOCUMENTS, LINES, copilot

from workbench import AssistantMessage, CompactionEntry, Session, load
from workbench.engine.transcript.message import Usage


class Report(NamedTuple):
    """What one request used."""

    prompt: int
    cached: int
    output: int


REPORTS = {
    "opencode": [Report(8_905, 8_000, 40)],
    "gemini_cli": [Report(100, 60, 12)],
    "cline": [Report(100, 60, 7)],
    "adk": [Report(50, 20, 5)],
    "mini_swe_agent": [Report(900, 800, 40)],
    "langfuse": [Report(50, 0, 5), Report(85, 0, 9)],
    "inspect_ai": [Report(100, 90, 4)],
    "atif": [Report(100, 60, 7)],
    "otel": [Report(50, 25, 5), Report(80, 40, 5)],
    "amp": [Report(943, 900, 7)],
    "continue": [Report(90, 60, 7)],
    "vscode_chat": [Report(500, 0, 9)],
    "openai_responses": [Report(100, 60, 9)],
    "pydantic_ai": [Report(100, 60, 9)],
    "roo_task": [Report(160, 60, 9)],
    "langchain": [Report(100, 60, 9)],
    "langsmith": [Report(100, 0, 9), Report(200, 0, 9)],
    "smolagents": [Report(100, 60, 9)] * 3,
    "autogen": [Report(100, 0, 9)] * 2,
    "weave": [Report(100, 60, 9)] * 2,
    "openhands": [Report(90, 0, 9)],
    "copilot_cli": [Report(100, 60, 9)],
    "antigravity": [Report(100, 20, 50)],
    "claude_stream": [Report(93, 90, 7)] * 2,
    "qwen_code": [Report(90, 50, 7)],
    "managed_agents": [Report(93, 90, 7)] * 2,
    "kimi_code": [Report(100, 60, 9)] * 2,
    "muse": [Report(100, 60, 9)] * 2,
}
SAMPLES = {**DOCUMENTS, **LINES}


def reports(sessions: list[Session]) -> list[Report]:
    """The reports of all answers of all sessions, on every branch."""
    found: list[Report] = []
    for usage in usages(sessions):
        found.append(Report(usage.prompt, usage.cache_read, usage.output))
    return found


def usages(sessions: list[Session]) -> list[Usage]:
    found: list[Usage] = []
    for session in sessions:
        for entry in session.log:
            message = entry.message if entry.type == "message" else None
            if isinstance(message, AssistantMessage) and message.usage is not None:
                found.append(message.usage)
    return found


def recorded(folder: Path, name: str, sample: Any) -> list[Session]:
    """The sessions of a sample, whose file's name says nothing."""
    if name in LINES:
        return load(written(folder, sample, "recording.dat"))
    return load(document(folder, sample, "recording.dat"))


@pytest.mark.parametrize("name", SAMPLES)
def test_each_request_and_their_sum_have_the_figures_that_the_file_reports(
    tmp_path: Path, name: str
) -> None:
    found = reports(recorded(tmp_path, name, SAMPLES[name]))
    expected = REPORTS.get(name, [])
    assert found == expected
    for figure in range(3):
        total = sum(report[figure] for report in found)
        assert total == sum(report[figure] for report in expected)


def with_figures(sample: Any, marks: set[str], figures: dict[str, Any]) -> Any:
    """The sample with these figures in place of each object that has these fields alone, or with
    others that are no texts.
    """
    if isinstance(sample, list):
        return [with_figures(item, marks, figures) for item in sample]
    if not isinstance(sample, dict):
        return sample
    if marks <= set(sample) and not any(isinstance(value, str) for value in sample.values()):
        return copy.deepcopy(figures)
    return {name: with_figures(value, marks, figures) for name, value in sample.items()}


VARIANTS: dict[str, tuple[str, set[str], dict[str, Any], Report]] = {
    "OpenCode with a total counts thoughts beside the answer": (
        "opencode",
        {"input", "output", "cache"},
        {"total": 150, "input": 40, "output": 20, "reasoning": 30, "cache": {"read": 60}},
        Report(100, 60, 50),
    ),
    "OpenCode without one counts them in it": (
        "opencode",
        {"input", "output", "cache"},
        {"input": 40, "output": 50, "reasoning": 30, "cache": {"read": 60}},
        Report(100, 60, 50),
    ),
    "Gemini counts thoughts beside the answer": (
        "adk",
        {"prompt_token_count"},
        {
            "prompt_token_count": 100,
            "candidates_token_count": 20,
            "thoughts_token_count": 30,
            "total_token_count": 150,
        },
        Report(100, 0, 50),
    ),
    "another model behind Gemini's names counts them in it": (
        "adk",
        {"prompt_token_count"},
        {
            "prompt_token_count": 100,
            "candidates_token_count": 50,
            "thoughts_token_count": 30,
            "total_token_count": 150,
        },
        Report(100, 0, 50),
    ),
    "Langfuse takes the cache and the thoughts out of the sums": (
        "langfuse",
        {"input", "output"},
        {
            "input": 80,
            "output": 20,
            "input_cached_tokens": 20,
            "output_reasoning_tokens": 30,
            "total": 150,
        },
        Report(100, 20, 50),
    ),
    "Cline's first request writes all of its prompt to the cache": (
        "cline",
        {"inputTokens", "outputTokens"},
        {"inputTokens": 19, "outputTokens": 50, "cacheReadTokens": 0, "cacheWriteTokens": 10_386},
        Report(10_405, 0, 50),
    ),
    "Inspect of 2024 counts the cache in the input": (
        "inspect_ai",
        {"input_tokens", "output_tokens"},
        {
            "input_tokens": 100,
            "output_tokens": 50,
            "input_tokens_cache_read": 60,
            "total_tokens": 150,
        },
        Report(100, 60, 50),
    ),
}


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_total_or_a_part_tells_what_a_figure_includes(tmp_path: Path, variant: str) -> None:
    name, marks, figures, expected = VARIANTS[variant]
    sample = with_figures(SAMPLES[name], marks, figures)
    found = reports(recorded(tmp_path, name, sample))
    assert set(found) == {expected}


CHAT_FIGURES = {
    "LiteLLM with Anthropic's names of the cache": (
        {
            "prompt_tokens": 100,
            "completion_tokens": 9,
            "total_tokens": 109,
            "cache_read_input_tokens": 60,
            "cache_creation_input_tokens": 30,
        },
        Usage(input=10, cache_read=60, cache_write=30, output=9),
    ),
    "OpenRouter": (
        {
            "prompt_tokens": 100,
            "completion_tokens": 9,
            "prompt_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 30},
        },
        Usage(input=10, cache_read=60, cache_write=30, output=9),
    ),
    "DeepSeek": (
        {"prompt_tokens": 100, "completion_tokens": 9, "prompt_cache_hit_tokens": 60},
        Usage(input=40, cache_read=60, output=9),
    ),
    "Anthropic": (
        {"input_tokens": 10, "output_tokens": 9, "cache_read_input_tokens": 60},
        Usage(input=10, cache_read=60, output=9),
    ),
}


@pytest.mark.parametrize("provider", CHAT_FIGURES)
def test_a_chat_s_report_is_read_by_the_names_that_it_has(tmp_path: Path, provider: str) -> None:
    figures, expected = CHAT_FIGURES[provider]
    answer = {"role": "assistant", "content": "The lamp is dim.", "usage": figures}
    session = only(document(tmp_path, [{"role": "user", "content": "Why?"}, answer]))
    assert usages([session]) == [expected]


def test_gptme_keeps_the_cache_beside_the_input(tmp_path: Path) -> None:
    figures = {"input_tokens": 120, "output_tokens": 42, "cache_read_tokens": 80}
    answer = {"role": "assistant", "content": "Hm.", "metadata": {"usage": figures}}
    session = only(written(tmp_path, [{"role": "user", "content": "Why?"}, answer]))
    assert reports([session]) == [Report(200, 80, 42)]


def codex(type_: str, second: int, **payload: Any) -> dict[str, Any]:
    return {"timestamp": f"2026-01-01T10:00:{second:02}Z", "type": type_, "payload": payload}


def codex_count(second: int, prompt: int, output: int, total: int) -> dict[str, Any]:
    info = {
        "last_token_usage": {"input_tokens": prompt, "output_tokens": output},
        "total_token_usage": {"input_tokens": total},
    }
    return codex("event_msg", second, type="token_count", info=info)


def codex_answer(second: int, words: str) -> dict[str, Any]:
    block = {"type": "output_text", "text": words}
    return codex("response_item", second, type="message", role="assistant", content=[block])


def test_codex_tells_a_request_again_and_the_request_of_a_compaction(tmp_path: Path) -> None:
    lines = [
        codex("session_meta", 0, id="s1"),
        codex_answer(1, "I look."),
        codex_count(2, 900, 40, 900),
        codex("response_item", 3, type="reasoning", summary=[{"text": "The bulb?"}]),
        codex_count(4, 900, 40, 900),
        codex("event_msg", 5, type="turn_aborted", reason="interrupted"),
        codex_answer(6, "It is the bulb."),
        codex_count(7, 950, 30, 1_850),
        codex_count(8, 2_000, 300, 3_850),
        codex("compacted", 9, message="The bulb is dim."),
        codex_count(10, 0, 0, 3_850),
        codex_answer(11, "Done."),
        codex_count(12, 100, 5, 3_950),
    ]
    session = only(written(tmp_path, lines))
    assert reports([session]) == [Report(900, 0, 40), Report(950, 0, 30), Report(100, 0, 5)]
    (compaction,) = (entry for entry in session.log if isinstance(entry, CompactionEntry))
    assert compaction.usage == Usage(input=2_000, output=300)
    assert compaction.tokens_before == 950


def test_the_requests_of_a_review_of_codex_are_named_and_the_total_behind_it_is_no_request(
    tmp_path: Path,
) -> None:
    lines = [
        codex("session_meta", 0, id="s1"),
        codex_answer(1, "I look."),
        codex_count(2, 900, 40, 900),
        codex("event_msg", 3, type="entered_review_mode"),
        codex_count(4, 300, 10, 300),
        codex_count(5, 400, 20, 700),
        codex_count(5, 400, 20, 700),
        codex("event_msg", 6, type="exited_review_mode"),
        codex("response_item", 6, type="message", role="user", content=[]),
        codex_count(7, 900, 40, 900),
        codex_answer(8, "Mended."),
        codex_count(9, 950, 30, 1_850),
    ]
    session = only(written(tmp_path, lines))
    assert reports([session]) == [Report(900, 0, 40), Report(950, 0, 30)]
    (sentence,) = session.origin.skipped
    assert "a request of a review, whose answer is in no file" in sentence
    assert sentence.endswith("(and 1 times more)")


def without_usage(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Lines of Claude's stream whose answers report nothing."""
    cleared = copy.deepcopy(lines)
    for line in cleared:
        if "usage" in line.get("message", {}):
            line["message"]["usage"] = {"input_tokens": 0, "output_tokens": 0}
    return cleared


def test_the_total_of_a_run_is_named_where_no_answer_has_its_part(tmp_path: Path) -> None:
    total = {"input_tokens": 70, "cache_read_input_tokens": 900, "output_tokens": 50}
    result = {"type": "result", "subtype": "success", "session_id": "s1", "usage": total}
    sentence = "field 'usage': is of all requests together, not used"
    for lines, is_named in ((CLAUDE_STREAM, False), (without_usage(CLAUDE_STREAM), True)):
        session, *_ = load(written(tmp_path, [*lines, result]))
        assert any(sentence in words for words in session.origin.skipped) is is_named


def is_rest_named(folder: Path, lines: list[dict[str, Any]]) -> bool:
    """Whether the import says that other requests are in no bill."""
    skipped = load(written(folder, lines))[0].origin.skipped
    return any("are in no bill" in words for words in skipped)


def test_what_a_run_of_claude_was_billed_beyond_its_answers_is_named(tmp_path: Path) -> None:
    result = {"type": "result", "subtype": "success", "session_id": "s1"}
    for output, is_named in ((14, False), (15, True)):
        bill = {"inputTokens": 90, "cacheReadInputTokens": 9, "outputTokens": output}
        total = {**result, "modelUsage": {"big": bill}}
        assert is_rest_named(tmp_path, [*CLAUDE_STREAM, total]) is is_named


def test_what_a_grader_of_managed_agents_used_is_named(tmp_path: Path) -> None:
    for output, is_named in ((14, False), (15, True)):
        bill = {"input_tokens": 6, "output_tokens": output}
        total = {"id": "sevt_9", "type": "session.usage", "processed_at": None, "usage": bill}
        assert is_rest_named(tmp_path, [*LINES["managed_agents"], total]) is is_named


def test_what_openhands_used_beyond_its_answers_is_named(tmp_path: Path) -> None:
    for output, is_named in ((9, False), (10, True)):
        lines = copy.deepcopy(LINES["openhands"])
        bill = {"prompt_tokens": 90, "completion_tokens": output}
        lines[0]["history"][-1]["llm_metrics"] = {"accumulated_token_usage": bill}
        assert is_rest_named(tmp_path, lines) is is_named


def test_the_total_that_swe_agent_tells_is_named(tmp_path: Path) -> None:
    run = copy.deepcopy(DOCUMENTS["swe_agent"])
    run["info"] = {"model_stats": {"tokens_sent": 90, "tokens_received": 9}}
    (session,) = load(document(tmp_path, run))
    assert any(
        "field 'model_stats': is of all requests" in words for words in session.origin.skipped
    )


def test_the_total_that_copilot_tells_at_its_end_is_named(tmp_path: Path) -> None:
    total = {"gpt": {"requests": {"count": 2}, "usage": {"inputTokens": 600}}}
    end = copilot("session.shutdown", "end", None, modelMetrics=total)
    lines = [line for line in COPILOT if line["type"] != "assistant.usage"]
    session, *_ = load(written(tmp_path, [*lines, end]))
    assert any(
        "field 'modelMetrics': is of all requests together, not used" in words
        for words in session.origin.skipped
    )


@pytest.mark.parametrize(("steps", "expected"), [(2, [Report(100, 60, 9)] * 2), (3, [])])
def test_the_usage_of_kimi_s_steps_stands_in_the_file_beside_the_context(
    tmp_path: Path, steps: int, expected: list[Report]
) -> None:
    usage = {"input_other": 40, "input_cache_read": 60, "output": 9, "input_cache_creation": 0}
    step = {"type": "StatusUpdate", "payload": {"token_usage": usage}}
    head = {"type": "metadata", "protocol_version": "1.3"}
    events = [{"timestamp": 1767261600.5, "message": step}] * steps
    written(tmp_path, [head, *events], "wire.jsonl")
    session = only(written(tmp_path, KIMI, "context.jsonl"))
    assert reports([session]) == expected
    assert len(session.origin.skipped) == (steps == 3)


CRUSH_TABLES = """
CREATE TABLE sessions (id TEXT PRIMARY KEY, parent_session_id TEXT, title TEXT, created_at INTEGER,
    updated_at INTEGER, prompt_tokens INTEGER, completion_tokens INTEGER);
CREATE TABLE messages (id TEXT PRIMARY KEY, session_id TEXT, role TEXT, parts TEXT, model TEXT,
    created_at INTEGER, finished_at INTEGER, is_summary_message INTEGER);
"""
ANSWER = "The lamp flickers since it gets eleven volts and needs twelve of them."
IN_2025 = 1_750_000_000
IN_2026 = 1_775_000_000


def crush(
    folder: Path, *, written_at: int, prompt: int, completion: int, summary: bool = False
) -> Session:
    said = [("user", "Why?", 0), ("assistant", "I look.", 0), ("assistant", ANSWER, 0)]
    if summary:
        said.append(("assistant", "The lamp is dim.", 1))
    messages: list[tuple[Any, ...]] = []
    for number, (role, words, is_summary) in enumerate(said):
        parts = json.dumps([{"type": "text", "data": {"text": words}}])
        message = (f"m{number}", "c1", role, parts, "big", written_at + number, None, is_summary)
        messages.append(message)
    about = ("c1", None, "a lamp", written_at, written_at, prompt, completion)
    return only(database(folder, CRUSH_TABLES, sessions=[about], messages=messages))


def test_the_newest_answer_of_crush_has_what_the_session_says_of_its_last_request(
    tmp_path: Path,
) -> None:
    session = crush(tmp_path, written_at=IN_2026, prompt=9_000, completion=300)
    first, last = (message for message in session.messages if message.role == "assistant")
    assert first.usage is None
    assert last.usage == Usage(input=9_000, output=300)


def test_figures_of_crush_with_more_than_one_answer_in_them_are_named_and_not_used(
    tmp_path: Path,
) -> None:
    session = crush(tmp_path, written_at=IN_2025, prompt=200, completion=17_767)
    assert reports([session]) == []
    assert session.origin.skipped == (
        "field 'session c1.completion_tokens': is more than the last answer, not used",
    )


def test_figures_of_an_early_crush_that_fit_its_last_answer_are_used(tmp_path: Path) -> None:
    session = crush(tmp_path, written_at=IN_2025, prompt=9_000, completion=20)
    assert reports([session]) == [Report(9_000, 0, 20)]


def test_what_crush_used_for_a_summary_is_no_usage_of_an_answer(tmp_path: Path) -> None:
    session = crush(tmp_path, written_at=IN_2026, prompt=0, completion=90, summary=True)
    assert reports([session]) == []


def token_count(second: float, prompt: int, cached: int, output: int) -> dict[str, Any]:
    figures = {
        "input_tokens": prompt,
        "cached_input_tokens": cached,
        "output_tokens": output,
        "total_tokens": prompt + output,
    }
    info = {"last_token_usage": figures, "total_token_usage": figures}
    return {"_timestamp": 1_767_261_600 + second, "info": info}


def chat_with_counts(folder: Path, counts: list[dict[str, Any]]) -> Session:
    said = ["user", "assistant", "assistant", "tool", "assistant"]
    messages: list[dict[str, Any]] = []
    for second, role in enumerate(said):
        about = {"timestamp": 1_767_261_600 + second}
        messages.append({"role": role, "content": f"words {second}", "_metadata": about})
    messages[2]["tool_calls"] = [{"id": "c1", "function": {"name": "look", "arguments": "{}"}}]
    messages[3]["tool_call_id"] = "c1"
    return only(document(folder, {"messages": messages, "meta": {"token_counts": counts}}))


def test_codex_s_counts_beside_a_chat_belong_to_the_newest_answer_before_them(
    tmp_path: Path,
) -> None:
    counts = [
        token_count(2.5, 900, 800, 40),
        token_count(3.5, 900, 800, 40),
        token_count(4.5, 990, 900, 7),
    ]
    session = chat_with_counts(tmp_path, counts)
    last_part, last_answer = session.messages[2], session.messages[4]
    assert last_part.role == "assistant" and last_part.usage == Usage(100, 800, 0, 40)
    assert last_answer.role == "assistant" and last_answer.usage == Usage(90, 900, 0, 7)
    assert len(reports([session])) == 2


def test_claude_s_counts_beside_a_chat_tell_the_answer_and_not_the_prompt(tmp_path: Path) -> None:
    of_a_sub_agent = token_count(2.5, 4, 600, 99)
    counts = [
        token_count(1, 3, 800, 2),
        token_count(2, 3, 800, 40),
        of_a_sub_agent,
        token_count(4, 1, 900, 7),
    ]
    session = chat_with_counts(tmp_path, counts)
    assert reports([session]) == [Report(0, 0, 40), Report(0, 0, 7)]
    assert session.origin.skipped == (
        "field 'meta.token_counts': is without what was written to the cache, not used",
    )


def roo_task(folder: Path, shown: Any) -> Session:
    messages: list[dict[str, Any]] = []
    for second, role in enumerate(["user", "assistant", "user", "assistant"]):
        messages.append({"role": role, "content": f"words {second}", "ts": 1_000 * second + 500})
    (folder / "ui_messages.json").write_text(json.dumps(shown), encoding="utf-8")
    return only(document(folder, messages, "api_conversation_history.json"))


def roo_request(milliseconds: int, prompt: int, cached: int, output: int) -> dict[str, Any]:
    figures = {"tokensIn": prompt, "tokensOut": output, "cacheReads": cached, "cacheWrites": 0}
    return {
        "ts": milliseconds,
        "type": "say",
        "say": "api_req_started",
        "text": json.dumps(figures),
    }


def test_the_requests_of_a_roo_task_stand_in_the_file_beside_it(tmp_path: Path) -> None:
    shown = [
        {"ts": 400, "say": "text", "text": "Why?"},
        roo_request(490, 700, 0, 3),
        roo_request(600, 900, 800, 40),
        roo_request(2_600, 2, 950, 7),
        roo_request(9_000, 5, 990, 8),
    ]
    session = roo_task(tmp_path, shown)
    assert reports([session]) == [Report(900, 800, 40), Report(952, 950, 7)]
    assert session.origin.skipped == (
        "field 'ui_messages.json': has a request whose answer is not here, left out "
        "(and 1 times more)",
    )


def test_a_torn_file_beside_a_roo_task_costs_the_usage_alone(tmp_path: Path) -> None:
    session = roo_task(tmp_path, [{"ts": 1, "say": "api_req_started", "text": "{torn"}])
    assert reports([session]) == [] and len(session.messages) == 4
    (tmp_path / "ui_messages.json").write_text("[{", encoding="utf-8")
    session = only(tmp_path / "api_conversation_history.json")
    assert reports([session]) == [] and len(session.messages) == 4
    assert len(session.origin.skipped) == 1


def test_tools_by_the_names_tool_name_and_tool_id_are_read(tmp_path: Path) -> None:
    call = {"type": "tool_use", "tool_name": "Read", "tool_id": "t1", "input": {"path": "a"}}
    other = {"type": "tool_use", "tool_name": "Glob", "tool_id": "t2", "input": {}}
    result = {"type": "tool_result", "tool_id": "t2", "output": "b.py"}
    lines = [
        {"role": "user", "content": {"type": "text", "text": "Why?"}},
        {"role": "assistant", "content": call},
        {"role": "assistant", "content": other},
        {"role": "tool", "content": result},
    ]
    session = only(written(tmp_path, lines))
    answered = session.messages[-1]
    assert answered.role == "tool"
    assert (answered.call_id, answered.name) == ("t2", "Glob")


def test_a_step_of_atif_may_have_its_figures_in_usage(tmp_path: Path) -> None:
    figures = {"prompt_tokens": 100, "completion_tokens": 9, "cache_tokens": 60}
    steps = [
        {"step_id": 1, "source": "user", "message": "Why?"},
        {"step_id": 2, "source": "agent", "message": "The bulb.", "usage": figures},
    ]
    session = only(document(tmp_path, {"schema_version": "ATIF-v1.2", "steps": steps}))
    assert reports([session]) == [Report(100, 60, 9)]


def test_more_thoughts_than_output_are_no_second_output_of_pydantic_ai(tmp_path: Path) -> None:
    usage = {"input_tokens": 639, "output_tokens": 614, "details": {"reasoning_tokens": 685}}
    parts = [{"part_kind": "text", "content": "Mended."}]
    asked = {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "Mend it."}]}
    answered = {"kind": "response", "usage": usage, "parts": parts}
    session = only(document(tmp_path, [asked, answered]))
    assert reports([session]) == [Report(639, 0, 614)]
