"""docker-agent's published table, row by row, and what else its documentation promises, through
the public face.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from conformance.driver import Lived, Record, lived, records, tokens
from conformance.rows import Row

import workbench as wb
from builders import called, result, rules, said, told
from workbench import (
    AssistantMessage,
    Cancel,
    Compactor,
    Completion,
    Hooks,
    ModelError,
    Scripted,
    Session,
    SettingError,
    SummaryRequest,
    Supply,
    preset,
)
from workbench.engine.transcript.message import Message, Usage

G1, G2 = "docker_agent", "docker_agent_g2"
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}


def turns(*chars: int, first: int = 0) -> list[Message]:
    """Messages of so many characters, a user's and the model's in turns."""
    ids = [f"m{i}" for i in range(first, first + len(chars))]
    return [
        (said, told)[i % 2]("x" * n, id) for i, (n, id) in enumerate(zip(chars, ids, strict=True))
    ]


LONG = turns(*(20_000,) * 20)
NOW = said("now", "now")


def steps(n: int, chars: int = 900) -> list[Message]:
    return [
        m
        for i in range(n)
        for m in (called("read", f"c{i}", path="a"), result("x" * chars, f"c{i}"))
    ]


def due(
    prompt: int, output: int = 0, later: Sequence[Message] = (), threshold: float = 0.9
) -> bool:
    """Whether a window of 100,000 is compacted after this report and these messages."""
    by = preset(G1, threshold=threshold)
    done = lived(by, turns(400, 400, 400), full=False, window=100_000)
    done.live.report_usage({"prompt_tokens": prompt, "completion_tokens": output})
    return "compaction_started" in done.go_on(later, full=False).types


def counted(message: Message | Record) -> list[int]:
    return [tokens(name, message) for name in (G1, G2)]


def parts(*texts: str) -> Record:
    return {"role": "user", "content": [{"type": "text", "text": text} for text in texts]}


def replayed_sizes(*messages: Message) -> list[int]:
    """How large the later version takes recorded messages to be."""
    session = Session.of(
        [said("f" * 8_000, "f"), *messages, said("h" * 800_000, "h"), told("end", "e")]
    )
    (compaction,) = wb.replay(session, G2, window=200_000, model=Scripted(["S"])).compactions
    return list(compaction.before.sizes[1:-1])


def answer(prompt: int, output: int = 0, model: str = "m") -> AssistantMessage:
    usage = Usage(input=prompt, output=output)
    return replace(told("ok", f"a{prompt}", usage=usage), model=model)


TOOL = result("t" * 7_000)


def kept_behind(*messages: Message) -> int:
    """How many of 200 messages of 115 tokens stay in 5,000 behind these recorded ones: fewer,
    the larger the scale.
    """
    tail = [said("t" * 385, f"t{i}") for i in range(200)]
    session = Session.of([said("go", "g"), *messages, *tail, told("end", "e")])
    (compaction,) = wb.replay(session, G2, window=25_000, model=Scripted(["S"])).compactions
    return sum(message.id[0] == "t" for message in compaction.after.messages)


def usages() -> dict[str, object]:
    words = "w" * 35
    return {
        name: replayed_sizes(message)
        for name, message in {
            "plain": told(words, usage=Usage(output=900)),
            "hidden": told(words, usage=Usage(output=5_000, reasoning=4_990)),
            "stored": told(words, thought="hmm", usage=Usage(output=1_000, reasoning=400)),
            "input only": told(words, usage=Usage(input=900)),
        }.items()
    }


def second_cycle() -> dict[str, object]:
    done = lived(G1, LONG, ("before", "after"), full=True, window=200_000)
    first = done.summary
    done.go_on(turns(*(20_000,) * 20, first=20))
    return {
        "first": first,
        "path": done.path,
        "purposes": done.purposes,
        "previous": done.model.requests[1].previous,
    }


def everything() -> dict[str, object]:
    done = lived(G1, turns(4_000, 4_000), by_hand=True)
    return {"then": done.go_on([said("next", "n0")], full=False).path, "read": done.read}


def small_window() -> dict[str, object]:
    done = lived(G2, turns(80_000, 80_000, 400, 400), window=32_000)
    return {"path": done.path, "read": done.read, "note": done.summary.partition("\n\n")[2]}


def tool_rounds() -> dict[str, object]:
    done = lived(G2, [said("go"), *steps(8, 4_000)], window=8_192)
    return {"read": done.read[0] > 0, "kept": 0 < len(done.path) < 17}


def outcome(done: Lived) -> dict[str, object]:
    return {"unchanged": done.sent == done.host, "read": done.read}


def missing() -> dict[str, object]:
    with pytest.raises(SettingError, match="model"):
        Compactor(G1, window=100_000)
    return {"refused": True}


def own_and_sub() -> dict[str, object]:
    calls: list[Message] = [said("go"), called("read")]
    return {
        "sub-session": (
            "compaction_started"
            in lived(G2, [*calls, result("done")], full=False, window=100_000).types
        ),
        "own": (
            "compaction_started"
            in lived(G2, [*calls, result("x" * 600_000)], full=False, window=100_000).types
        ),
    }


def overflows(*errors: object) -> list[bool]:
    """Whether each error is answered with a compaction."""
    lives = [lived(G1, turns(*(20_000,) * 8), full=False, window=100_000).live for _ in errors]
    return [live.on_error(error) is not None for live, error in zip(lives, errors, strict=True)]  # type: ignore[arg-type]


WRAPPED = RuntimeError("the turn failed")
WRAPPED.__cause__ = ValueError("prompt is too long: 226360 tokens > 200000 maximum")
WRAPPED.__cause__.status_code = 400  # type: ignore[attr-defined]

ROWS = (
    Row(
        "docker_agent", "ShouldCompact 5000+2000 of 100000; 90000; 90001; 70000+10000+15000",
        {"7000": False, "90000": False, "90001": True, "added": True},
        lambda: {
            "7000": due(5_000, 2_000), "90000": due(90_000), "90001": due(90_001),
            "added": due(70_000, 10_000, [told("a" * 39_980, "a9"), said("u" * 59_980, "u9")]),
        },
    ),
    Row(
        "docker_agent", "threshold 0.5: 60000 / 40000; 1: 99999; 0 or 1.5: 90001; -0.5: 89000 (G2)",
        {"0.5": [True, False], "1": False, "0": True, "1.5": True, "-0.5": False},
        lambda: {
            "0.5": [due(60_000, threshold=0.5), due(40_000, threshold=0.5)], "1": due(99_999, threshold=1),
            "0": due(90_001, threshold=0), "1.5": due(90_001, threshold=1.5), "-0.5": due(89_000, threshold=-0.5),
        },
    ),
    Row(
        "docker_agent", "estimate: empty; Hello, world!; parts 10+11; call + 24-char args; 6+46 reasoning; 38 mixed",
        {"G1": (5, 8, 10, 13, 18, 14), "G2": (5, 8, 11, 14, 19, 15)},
        lambda: dict(zip(("G1", "G2"), zip(*map(counted, ESTIMATED), strict=True), strict=True)),
    ),
    Row(
        "docker_agent", "2 binary attachments; 35 chars inline doc (G2)", {"two": [5, 3_005], "inline": [13, 15]},
        lambda: {
            "two": counted({"role": "user", "content": [IMAGE, IMAGE]}), "inline": counted(said("d" * 35)),
        },
    ),
    Row(
        "docker_agent", "usage output 900; 5000 with 4990 hidden; 1000 with stored reasoning; input only",
        {"plain": [905], "hidden": [15], "stored": [1_005], "input only": [15]}, usages,
    ),
    Row(
        "docker_agent", "mirrored text part; repeated twice", {"mirrored": 15, "repeated twice": 25},
        lambda: {
            "mirrored": counted(parts(*["x" * 35] * 2))[1], "repeated twice": counted(parts(*["x" * 35] * 3))[1],
        },
    ),
    Row(
        "docker_agent", "anchors 1000/100, tool 7000 chars (2005), 4108: scale 1.5; 1700: 0.75; 11100: 2.0",
        {"4108": 5_000 // 172, "1700": 5_000 // 86, "11100": 5_000 // 230, "size": [2_005]},
        lambda: {
            "size": replayed_sizes(TOOL),
            **{str(n): kept_behind(answer(1_000, 100), TOOL, answer(n)) for n in (4_108, 1_700, 11_100)},
        },
    ),
    Row(
        "docker_agent", "100-char tool; model switch: scale 1.0; negative second delta: 1.5 from the clean window",
        {"small": 5_000 // 115, "switch": 5_000 // 115, "negative": 5_000 // 172},
        lambda: {
            "small": kept_behind(answer(1_000, 100), result("t" * 100), answer(4_108)),
            "switch": kept_behind(answer(1_000, 100), TOOL, answer(4_108, model="other")),
            "negative": kept_behind(answer(1_000, 100), TOOL, answer(4_108), replace(TOOL, id="r2"), answer(500)),
        },
    ),
    Row(
        "docker_agent", "six 40000-char u/a messages and a short one, budget 23000 and, at G1 sizes, 20000",
        {"G1": ["summary", "m4", "m5", "now"], "G2": ["summary", "m5", "now"], "20000": ["summary", "m5", "now"]},
        lambda: {
            "G1": lived(G1, [*turns(*(40_000,) * 6), NOW], keep=23_000).path,
            "G2": lived(G2, [*turns(*(40_000,) * 6), NOW], keep=22_000).path,
            "20000": lived(G1, [*turns(*(40_000,) * 6), NOW], keep=20_000).path,
        },
    ),
    Row(
        "docker_agent", "u, a short or u, a, tool with 100000: everything is compacted",
        {"two": [1], "three": [2]},
        lambda: {
            "two": lived(G1, turns(4_000, 4_000), keep=100_000).read,
            "three": lived(G1, [said("go"), *steps(1, 4_000)], keep=100_000).read,
        },
        instead="the newest user message stays beside the summary",
    ),
    Row(
        "docker_agent", "twenty 20000-char messages, limit 200000",
        {name: (["summary", "m17", "m18", "m19"], [17]) for name in (G1, G2)},
        lambda: {name: (lived(name, LONG, window=200_000).path, [17]) for name in (G1, G2)},
    ),
    Row(
        "docker_agent", "four 4000-char messages, FirstIndexInBudget 2400 (G2)", {"path": ["summary", "m2", "m3"]},
        lambda: {"path": lived(G2, turns(*(4_000,) * 4), keep=2_400).path},
    ),
    Row(
        "docker_agent", "[sys, u1, a1, sys2, u2]", {"path": ["s1", "summary", "s2", "u2"], "read": [2]},
        lambda: {"path": systems().path, "read": systems().read},
        instead="system messages keep their places",
    ),
    Row(
        "docker_agent", "a summary with a kept tail, and new items",
        {
            "first": "Session Summary: before", "path": ["summary", "m37", "m38", "m39"],
            "purposes": ["summary", "update"], "previous": "before",
        },
        second_cycle,
    ),
    Row(
        "docker_agent", "summary item with first kept 0", {"then": ["m0", "summary", "n0"], "read": [1]}, everything,
        instead="the newest user message stays",
    ),
    Row(
        "docker_agent", "limit 32000, two 80000-char + two small (G2)",
        {
            "path": ["summary", "m2", "m3"], "read": [1],
            "note": "[1 earlier message did not fit into the summariser's window]",
        },
        small_window,
    ),
    Row(
        "docker_agent", "limit 8192, 1 user + 8 tool rounds of 4000 chars (G2)", {"read": True, "kept": True},
        tool_rounds,
    ),
    Row(
        "docker_agent", "single 200000-char user, limit 8192 (G2)", {"unchanged": True, "read": []},
        lambda: outcome(lived(G2, turns(200_000), full=False, window=8_192)),
    ),
    Row(
        "docker_agent", "seeded assistant reply but blank model output (G2)",
        {"blank": True, "trimmed": "Session Summary: the summary"},
        lambda: {
            "blank": outcome(lived(G2, LONG, [" "], window=200_000))["unchanged"],
            "trimmed": lived(G2, LONG, ["  the summary\n"], window=200_000).summary,
        },
    ),
    Row("docker_agent", "RunAgent nil", {"refused": True}, missing, instead="the error says to pass a model"),
    Row(
        "docker_agent", "600000-char content in a sub-session / in own tool result, limit 100000 (G2)",
        {"sub-session": False, "own": True}, own_and_sub,
    ),
    Row(
        "docker_agent", "overflow texts, wrapped / 500, 429, timeout, nothing",
        {"true": [True] * 3, "false": [False] * 4},
        lambda: {
            "true": overflows(
                "prompt is too long: 226360 tokens > 200000 maximum",
                "max_tokens must be greater than thinking.budget_tokens", WRAPPED,
            ),
            "false": overflows("500 Internal Server Error", "429 too many requests", "connection timeout", ""),
        },
    ),
)  # fmt: skip

ESTIMATED: list[Message | Record] = [
    said(""), said("Hello, world!"), parts("a" * 10, "b" * 11), called("read_file", path="/tmp/test.txt"),
    told("w" * 6, thought="t" * 46),
    {
        "role": "assistant", "content": "w" * 10, "reasoning_content": "t" * 4,
        "tool_calls": [
            {"id": "c", "type": "function", "function": {"name": "bash", "arguments": '{"command": "ls -la"}'}}
        ],
    },
]  # fmt: skip


def systems() -> Lived:
    sys2 = rules("two", "s2")
    return lived(
        G1, [rules("one", "s1"), *turns(4_000, 4_000), sys2, said("v" * 400, "u2")], window=200_000
    )


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_the_table_holds(row: Row) -> None:
    row.check()


def test_the_request_has_the_whole_conversation_the_cap_and_the_instruction_last() -> None:
    (request,) = lived(
        G1, LONG, window=200_000, instructions="focus on code changes"
    ).model.requests
    assert (request.max_tokens, request.purpose, len(request.messages)) == (16_000, "summary", 17)
    assert request.prompt.count("x" * 20_000) == 17 and request.prompt.endswith(
        "\n\nfocus on code changes"
    )


@pytest.mark.parametrize("text", ["", "  \n"])
def test_an_empty_answer_compacts_nothing(text: str) -> None:
    done = lived(G1, LONG, [text], window=200_000)
    assert done.sent == done.host and done.ended.outcome == "unchanged"


def test_a_models_error_leaves_the_history_and_is_raised_by_hand() -> None:
    done = lived(G1, LONG, [ModelError("boom")], window=200_000)
    assert (
        done.sent == done.host
        and done.types[-1] == "compaction_failed"
        and done.live.ending is None
    )
    with pytest.raises(ModelError, match="boom"):
        lived(G1, LONG, [ModelError("boom")], by_hand=True)


def test_the_first_kept_message_can_be_asked_for() -> None:
    done = lived(G1, LONG, full=False, window=200_000)
    preparation = done.live.prepare()
    assert preparation is not None and preparation.first_kept is not None
    done.live.compact()
    assert done.live.before_request(done.host)[1:] == done.host[preparation.first_kept :]


def test_a_dedicated_model_is_asked_and_its_window_counts() -> None:
    small = preset(G1, model="small", summarizer_window=40_000)
    done = lived(small, turns(4_000, 4_000, 400), full=False, window=200_000)
    done.live.report_usage({"prompt_tokens": 36_000})
    assert done.go_on([], full=False).types == []
    done.live.report_usage({"prompt_tokens": 36_001})
    assert done.go_on([], full=False).read == [2]
    (request,) = lived(small, LONG, window=200_000).model.requests
    assert request.model == "small" and len(request.messages) < 17


def test_what_does_not_fit_is_reported_in_the_summary() -> None:
    done = lived(G1, LONG, ["s"], window=64_000, full=False)
    assert done.summary.endswith(
        "s\n\n[8 earlier messages did not fit into the summariser's window]"
    )


def test_an_earlier_summary_is_fed_first_and_never_dropped() -> None:
    done = lived(G1, LONG, ("the first summary", "the second"), window=64_000, full=False)
    done.go_on(turns(*(20_000,) * 20, first=20), full=False)
    request = done.model.requests[1]
    assert (request.purpose, request.previous.partition("\n")[0]) == ("update", "the first summary")
    assert "[Summary]: the first summary" in request.prompt and len(request.messages) < 17
    assert done.path.count("summary") == 1


def test_where_everything_fits_everything_is_compacted_but_what_the_user_said_last() -> None:
    messages = [
        said("go", "u0"),
        *steps(6),
        told("done", "a9"),
        said("and now", "u9"),
        told("well", "b9"),
    ]
    assert lived(G1, messages).path == ["summary", "u9"]


def test_a_tail_at_exactly_the_budget_stays_and_begins_at_a_user_or_an_answer() -> None:
    messages = [*turns(*(4_000,) * 6), NOW]
    size = 2 * 1_005 + tokens(G1, NOW)
    assert lived(G1, messages, keep=size).path == ["summary", "m4", "m5", "now"]
    assert lived(G1, messages, keep=size - 1).path == ["summary", "m5", "now"]
    path = lived(G1, [said("x" * 4_000), *steps(4, 4_000)], keep=2_500).path
    assert path[-4:] == ["a-c2", "r-c2", "a-c3", "r-c3"]


def test_a_hooks_summary_stays_as_it_is_keeps_the_same_tail_and_asks_no_model() -> None:
    files: list[Message] = [called("read", "c", path="a.py"), result("ok", "c")]
    hooks = Hooks(before=lambda due: Supply("  by the host\n"))
    done = lived(G1, [*files, *LONG], window=64_000, full=False, hooks=hooks)
    assert done.summary == "Session Summary:   by the host\n" and done.prompts == []
    assert done.path == lived(G1, [*files, *LONG], window=64_000, full=False).path


def test_a_blank_summary_of_a_hook_is_none() -> None:
    done = lived(
        G1, LONG, ["by the model"], window=200_000, hooks=Hooks(before=lambda due: Supply(" "))
    )
    assert done.summary == "Session Summary: by the model"


def test_a_hook_may_block_and_sees_the_tokens_and_the_reason() -> None:
    seen: list[object] = []

    def block(due: object) -> Cancel:
        seen.append((due.budget.reason, due.budget.window))  # type: ignore[attr-defined]
        return Cancel()

    done = lived(G1, LONG, window=200_000, hooks=Hooks(before=block))
    assert done.sent == done.host and seen == [("threshold", 200_000)]


def test_the_cost_is_in_the_event() -> None:
    class Priced:
        name = "priced"

        def complete(self, request: SummaryRequest, /) -> Completion:
            return Completion(text=" text ", model=self.name, output_tokens=321, usd=0.02)

    live = Compactor(G1, model=Priced())
    live.compact(messages=records(LONG))
    assert [event.usd for event in live.events if event.type == "compaction_ended"] == [0.02]


def test_it_is_asked_after_tool_results_too() -> None:
    done = lived(G1, [said("go" * 4_000, "u"), *steps(4)], full=False, window=100_000)
    host = [*done.host, *records([called("read", "big"), result("x" * 400_000, "big")])]
    done.live.after_tools(host)
    assert done.started.cause == "after_tools"


def test_nothing_starts_by_itself_where_it_is_switched_off_but_by_hand_it_may() -> None:
    off = preset(G1, enabled=False)
    assert lived(off, LONG).sent == records(LONG)
    assert "summary" in lived(off, LONG, by_hand=True).path


def test_an_overflow_is_compacted_and_tried_again_once() -> None:
    done = lived(G1, turns(*(20_000,) * 12), full=False, window=100_000)
    retry = done.live.on_error("prompt is too long: 226360 tokens > 200000 maximum")
    assert retry is not None and len(retry.messages) < 12
    assert done.live.on_error("prompt is too long: 226360 tokens > 200000 maximum") is None


def test_the_log_is_only_appended_to_and_the_newest_summary_wins() -> None:
    done = lived(G1, LONG, ("one", "two"), window=200_000)
    entries = list(done.live.log)
    done.go_on(turns(*(20_000,) * 20, first=20))
    assert list(done.live.log)[: len(entries)] == entries
    assert done.summary == "Session Summary: two" and done.path.count("summary") == 1


def test_later_versions_follow_small_windows() -> None:
    done = lived(G2, turns(*(2_000,) * 40), window=8_192)
    assert done.model.requests[0].max_tokens == 2_048
    assert done.path == ["summary", "m38", "m39"], "a fifth of the window is 1,638 tokens"


def test_large_results_are_cut_before_they_are_summarised_in_later_versions() -> None:
    messages: list[Message] = [
        said("go"),
        called("read"),
        result("x" * 30_000),
        told("done"),
        said("next", "u1"),
    ]
    (prompt,) = lived(G2, messages, window=8_192, full=False).prompts
    assert 0 < prompt.count("x") < 8_000


def test_the_source_is_named() -> None:
    assert "docker/docker-agent" in preset(G1).source
