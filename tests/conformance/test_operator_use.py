"""Operator-Use's published table, row by row, and what else its document promises, through
compactor and replay.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from conformance.driver import Lived, lived, tokens
from conformance.rows import Row

import workbench as wb
from builders import called, result, said, told
from workbench import (
    Cancel,
    CompactionRefused,
    Hooks,
    ModelError,
    Scripted,
    Session,
    Supply,
    Text,
    UserMessage,
)
from workbench.engine.compaction.presets.operator_use import OperatorSettings, operator_use
from workbench.engine.transcript.message import Image, Message

WORDS = "w" * 4_000
"""A message of a thousand tokens."""
EMPTY = (
    "the original prepares an empty list and asks a model about nothing; the document returns None"
)


def pairs(n: int, first: int = 0) -> list[Message]:
    return [
        m for i in range(first, first + n) for m in (said(WORDS, f"u{i}"), told(WORDS, f"a{i}"))
    ]


def turned(messages: Sequence[Message], keep: int, *says: str | Exception, **options: Any) -> Lived:
    """A conversation whose turn is over, with a nearly full window."""
    return lived(
        "operator_use", messages, says or ("S", "T", "U"), keep=keep, after_turn=True, **options
    )


def point(messages: Sequence[Message], keep: int) -> dict[str, object]:
    done = turned(messages, keep)
    return {"path": done.path, "read": done.read}


def due(tokens: int, window: int, **settings: Any) -> bool:
    """Whether a turn whose answer left so many tokens is compacted."""
    preset = wb.preset("operator_use", **settings)
    done = lived(preset, pairs(4), ("S",), keep=1_000, window=window, full=False)
    done.live.report_usage({"prompt_tokens": tokens - 100, "completion_tokens": 100})
    done.live.after_turn(done.host)
    return "compaction_ended" in done.types


def sizes() -> dict[str, object]:
    words = "w" * 400
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    return {
        "image": tokens("operator_use", {"role": "user", "content": [picture]}),
        "text": tokens("operator_use", said(words)),
        "thinking": tokens(
            "operator_use", {"role": "assistant", "content": "", "reasoning_content": words}
        ),
        "result": tokens("operator_use", result(words)),
        "empty": tokens("operator_use", said("")),
    }


def right_after() -> dict[str, object]:
    done = turned(pairs(4), 3_000)
    done.go_on([], after_turn=True)
    return {
        "empty": turned([], 1).sent,
        "types": done.types.count("compaction_ended"),
        "read": done.read,
    }


def after_a_compaction() -> dict[str, object]:
    """Four messages of which two are kept, and two more: the messages that a second compaction
    summarises.
    """
    done = turned(pairs(2), 2_000, "first", "second").go_on(pairs(1, first=9), after_turn=True)
    return {"path": done.path, "read": done.read, "previous": done.model.requests[1].previous}


def lists(*calls: tuple[str, str]) -> str:
    """What stands below the answer in the summary."""
    steps = [
        m
        for i, (tool, path) in enumerate(calls)
        for m in (called(tool, f"c{i}", path=path), result("ok", f"c{i}"))
    ]
    return turned(
        [said(WORDS, "ux"), *steps, told(WORDS, "ax"), *pairs(2)], 2_000, "S"
    ).summary.partition("S")[2]


def failure(why: str) -> dict[str, object]:
    done = turned(pairs(6), 1_500, ModelError(why))
    assert done.live.ending is not None
    return {
        "code": done.live.ending.code,
        "why": done.live.ending.why,
        "sent": done.sent == done.host,
    }


def ignored_usage() -> dict[str, object]:
    done = lived("operator_use", pairs(4), keep=1_000, full=False, window=20_000)
    done.live.report_usage(None)
    done.live.after_turn()
    calm = done.types
    done.live.report_usage({"input_tokens": 19_000, "output_tokens": 5})
    done.live.after_turn()
    return {"null": calm, "good": "compaction_ended" in done.types}


def call(name: str, size: int = 8_000) -> list[Message]:
    return [called("read", name), result("w" * size, name)]


TRAILING: list[Message] = [
    said(WORDS),
    called("read", "c1"),
    called("read", "c2"),
    result("w" * 400, "c1"),
    result("w" * 400, "c2"),
]
IN_TURN = [*pairs(1), said(WORDS, "u1"), *call("c1"), told(WORDS, "a2")]

ROWS = (
    Row(
        "operator_use", "usage 100/50/20/10 is 180", {"179": True, "180": False},
        lambda: {str(n): passes(n) for n in (179, 180)},
    ),
    Row(
        "operator_use", "image; 400 chars of each kind; empty user text",
        {"image": 1200, "text": 100, "thinking": 100, "result": 100, "empty": 1}, sizes,
    ),
    Row(
        "operator_use", "should_compact(9500, 10000), reserve 1000, then (5000)", {"9500": True, "5000": False},
        lambda: {str(n): due(n, 10_000, reserve_tokens=1_000) for n in (9_500, 5_000)},
    ),
    Row(
        "operator_use", "reserve 500: 9501 and 9500 of 10000", {"9501": True, "9500": False},
        lambda: {str(n): due(n, 10_000, reserve_tokens=500) for n in (9_501, 9_500)},
    ),
    Row(
        "operator_use", "5001 of 10000: reserve 100 and 5000", {"100": False, "5000": True},
        lambda: {str(n): due(5_001, 10_000, reserve_tokens=n) for n in (100, 5_000)},
    ),
    Row(
        "operator_use", "disabled", {"due": False},
        lambda: {"due": due(9_999, 10_000, reserve_tokens=500, enabled=False)},
    ),
    Row(
        "operator_use", "trigger_percent 0.5", {"5000": False, "5001": True},
        lambda: {str(n): due(n, 10_000, trigger_percent=0.5) for n in (5_000, 5_001)},
    ),
    Row(
        "operator_use", "prepare([]); leaf is a compaction", {"empty": [], "types": 1, "read": [4, 1]}, right_after,
        instead="what the compaction kept is compacted again where it is due and not all of it is to be kept",
    ),
    Row(
        "operator_use", "5 pairs of 1 token, keep 1", {"path": ["summary", "u4", "a4"], "read": [8]},
        lambda: point(pairs(5), 1_000),
        instead="the newest user message stays beside the summary; the original summarises it as the turn's start",
    ),
    Row(
        "operator_use", "5 pairs, keep 2", {"path": ["summary", "u4", "a4"], "read": [8]},
        lambda: point(pairs(5), 2_000),
    ),
    Row(
        "operator_use", "5 pairs, keep 100000", {"path": [m.id for m in pairs(5)], "read": []},
        lambda: point(pairs(5), 100_000), instead=EMPTY,
    ),
    Row(
        "operator_use", "4 users and 3 assistants, keep 1", {"path": ["summary", "u3"], "read": [6]},
        lambda: point(pairs(4)[:7], 1_000),
    ),
    Row(
        "operator_use", "no valid index behind two results, keep 50", {"path": [m.id for m in TRAILING], "read": []},
        lambda: point(TRAILING, 50), instead=EMPTY,
    ),
    Row(
        "operator_use", "a result in a turn, keep 50", {"path": ["summary", "u1", "a2"], "read": [2, 2]},
        lambda: point(IN_TURN, 1_000),
        instead="the newest user message stays beside the summary; the original puts it into the prefix of 3",
    ),
    Row(
        "operator_use", "compaction with first kept = entry 2 of 4, then two more",
        {"path": ["summary", "u9", "a9"], "read": [2, 2], "previous": "first"}, after_a_compaction,
    ),
    Row(
        "operator_use", "read {a,b}, edited {b}, written {c}",
        {"footer": "\n\n<read-files>\na\n</read-files>\n\n<modified-files>\nb\nc\n</modified-files>"},
        lambda: {"footer": lists(("read", "b"), ("read", "a"), ("write", "c"), ("edit", "b"))},
    ),
    Row(
        "operator_use", "empty lists; only read; only modified",
        {
            "none": "", "read": "\n\n<read-files>\na\nb\n</read-files>",
            "modified": "\n\n<modified-files>\nc\n</modified-files>",
        },
        lambda: {"none": lists(), "read": lists(("read", "b"), ("read", "a")), "modified": lists(("write", "c"))},
    ),
    Row(
        "operator_use", "error events boom and blank",
        {
            "boom": {"code": "summarization_failed", "why": "boom", "sent": True},
            "blank": {"code": "summarization_failed", "why": "", "sent": True},
        },
        lambda: {"boom": failure("boom"), "blank": failure("")},
        instead="an event and `Compactor.ending` say it in the model's own words; the original raises out of the turn",
    ),
    Row(
        "operator_use", "second cycle after a first compaction", {"previous": "first"},
        lambda: {"previous": after_a_compaction()["previous"]},
    ),
    Row(
        "operator_use", "usage with error stop, or null", {"null": [], "good": True}, ignored_usage,
        instead="a host reports only answers that ended well"
    ),
)  # fmt: skip


def passes(limit: int) -> bool:
    """Whether a report of 100/50/20/10 is above a limit of so many tokens."""
    preset = wb.preset("operator_use", reserve_tokens=100_000 - limit)
    done = lived(preset, pairs(4), ("S",), keep=1_000, window=100_000, full=False)
    done.live.report_usage(
        {
            "input_tokens": 100,
            "output_tokens": 50,
            "cache_read_input_tokens": 20,
            "cache_creation_input_tokens": 10,
        }
    )
    done.live.after_turn(done.host)
    return "compaction_ended" in done.types


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_the_table_holds(row: Row) -> None:
    row.check()


def test_the_defaults_are_the_documents() -> None:
    documented: dict[str, Any] = {
        "enabled": True,
        "reserve_tokens": 8_192,
        "keep_recent_tokens": 16_384,
    }
    assert due(91_808, 100_000) == due(91_808, 100_000, **documented) is False
    assert due(91_809, 100_000) == due(91_809, 100_000, **documented) is True
    assert lived("operator_use", pairs(20), after_turn=True).path[1:3] == ["a11", "u12"]


def test_a_requested_compaction_waits_for_the_end_of_the_turn() -> None:
    done = lived("operator_use", [*pairs(4)[:-1], *call("c1")], keep=1_000, full=False)
    done.live.request_compaction("dwell on tests")
    done.live.after_tools(done.host)
    assert done.live.before_request(done.host) == done.host and done.types == []
    done.go_on(pairs(4)[-1:], full=False)
    done.live.after_turn(done.host)
    assert done.started.reason == "requested"
    assert done.prompts[0].endswith("Additional focus: dwell on tests")


def test_the_preparation_is_told_before_a_model_is_asked() -> None:
    done = lived("operator_use", pairs(6), full=False)
    done.live.after_turn(done.host)
    preparation = done.live.prepare(keep_recent=1_000)
    assert (
        preparation is not None
        and preparation.goes == tuple(range(preparation.first_kept or 0))
        and preparation.first_kept
    )
    assert (
        done.model.requests == []
        and done.types == []
        and preparation.tokens_before == done.live.tokens
    )


def test_nothing_is_due_in_mid_turn() -> None:
    done = lived("operator_use", pairs(4), keep=1_000)
    assert done.types == [] and done.sent == done.host


def test_settings_are_read_at_each_check() -> None:
    now = [OperatorSettings(enabled=False)]
    done = lived(operator_use(lambda: now[0]), pairs(4), ("S",), after_turn=True)
    assert done.types == []
    now[0] = OperatorSettings(keep_recent_tokens=1_000)
    done.go_on(pairs(1, first=9), after_turn=True)
    assert done.path == ["summary", "u9", "a9"]


def test_a_compaction_by_hand_needs_an_idle_agent() -> None:
    done = lived("operator_use", pairs(9)[:-1], ("S",), full=False)
    with pytest.raises(CompactionRefused, match="after the model's answer"):
        done.live.compact()
    assert done.types == []
    compaction = done.live.compact(
        messages=[*done.host, {"role": "assistant", "content": "well"}], keep_recent=1_000
    )
    assert compaction is not None and compaction.outcome != "unchanged"


def test_a_compaction_that_finds_nothing_to_do_makes_no_events() -> None:
    done = turned(pairs(2), 100_000)
    assert done.types == [] and done.prompts == []


def test_a_hook_may_cancel_or_supply_the_summary_and_the_lists_stand_below_it() -> None:
    messages = [
        said(WORDS, "ux"),
        *call("c1"),
        called("read", "c2", path="a.py"),
        result("ok", "c2"),
        *pairs(2),
    ]
    own = turned(messages, 2_000, hooks=Hooks(before=lambda due: Supply("by the host")))
    assert own.prompts == []
    assert (
        own.summary
        == "[Previous conversation summary]\nby the host\n\n<read-files>\na.py\n</read-files>"
    )
    cancelled = turned(messages, 2_000, hooks=Hooks(before=lambda due: Cancel()))
    assert cancelled.sent == cancelled.host


def test_the_models_failure_by_hand_is_raised() -> None:
    with pytest.raises(ModelError, match="boom"):
        lived("operator_use", pairs(6), [ModelError("boom")], by_hand=True, keep=1_500)


def test_a_split_turn_makes_two_requests_that_do_not_need_each_other() -> None:
    done = turned(
        [*pairs(2), said(WORDS, "u8"), *call("c1"), *call("c2"), told(WORDS, "a8")], 1_000, "H", "T"
    )
    assert done.purposes == ["summary", "turn_prefix"]
    assert done.summary.endswith("H\n\n---\n\n**Turn Context (split turn):**\n\nT")
    assert done.path == ["summary", "u8", "a8"]


def test_instructions_are_for_the_history_only() -> None:
    messages = [*pairs(2), said(WORDS, "u8"), *call("c1"), told(WORDS, "a8")]
    done = turned(messages, 1_000, "H", "T", instructions="on tests")
    assert (
        done.prompts[0].endswith("Additional focus: on tests") and "on tests" not in done.prompts[1]
    )


def test_a_split_turn_without_history_asks_once() -> None:
    done = turned([said("u8", "u8"), *call("c1"), told(WORDS, "a8")], 1_000, "T")
    assert done.purposes == ["turn_prefix"]
    assert "No prior history.\n\n---\n\n**Turn Context (split turn):**\n\nT" in done.summary


def test_a_split_turn_after_a_summary_updates_it() -> None:
    done = turned(
        [*pairs(2), said("u8", "u8"), *call("c1"), told(WORDS, "a8")], 1_000, "known", "T", "merged"
    )
    done.go_on([*call("c2"), told(WORDS, "a9")], after_turn=True)
    assert done.purposes[-1] == "update" and "<previous-summary>\nknown\n\n---" in done.prompts[-1]
    assert (
        done.summary.startswith("[Previous conversation summary]\nmerged")
        and done.path.count("summary") == 1
    )


def test_the_transcript_shows_calls_thoughts_and_cut_results() -> None:
    custom = UserMessage(id="x", blocks=(Text("note"),), name="reminder", synthetic=True)
    picture = UserMessage(id="p", blocks=(Text("hi"), Image()))
    messages: list[Message] = [
        picture,
        told("words", thought="hmm"),
        called("read", "c", path="a.py", lines=[1, 2]),
        result("y" * 2_500, "c"),
        custom,
        told("done", "a9"),
        *pairs(12),
    ]
    model = Scripted(["S"] * 99)
    preset = wb.preset("operator_use", reserve_tokens=0, keep_recent_tokens=1_000)
    wb.replay(
        Session.of([replace(m, id=f"m{i}") for i, m in enumerate(messages)]),
        preset,
        window=3_000,
        model=model,
    )
    assert (
        "\n\n".join(
            [
                "[User]: hi",
                "[Assistant thinking]: hmm",
                "[Assistant]: words",
                '[Assistant tool calls]: read(path="a.py", lines=[1, 2])',
                "[Tool result]: " + "y" * 2_000 + "\n\n[... 500 more characters truncated]",
                "[REMINDER]: note",
            ]
        )
        in model.requests[0].prompt
    )


def test_the_prompts_ask_for_the_documented_sections() -> None:
    done = turned([*pairs(2), said(WORDS, "u8"), *call("c1"), told(WORDS, "a8")], 1_000)
    history, turn = done.prompts
    for heading in (
        "Goal",
        "Constraints & Preferences",
        "Progress",
        "Key Decisions",
        "Next Steps",
        "Critical Context",
    ):
        assert f"## {heading}" in history
    for heading in ("Original Request", "Early Progress", "Context for Suffix"):
        assert f"## {heading}" in turn
    assert "blocked" in history


def test_a_replay_compacts_after_turns_only() -> None:
    messages = [
        *pairs(2),
        said(WORDS, "u9"),
        *[m for i in range(30) for m in call(f"c{i}", 800)],
        told("done", "a9"),
    ]
    replay = wb.replay(
        Session.of([*messages, *pairs(3, first=20)]),
        "operator_use",
        window=12_000,
        model=Scripted(["S"]),
    )
    assert all(replay.session.messages[event.at].role == "user" for event in replay.events)
