"""Hosts whose requests have `context_management`: it stays theirs, and what it brings is carried
and counted.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
import validators
from live.talk import Record, asked
from preset_names import BUILTIN_PRESETS

from workbench import Compactor, find_model
from workbench.live.events import CompactionEnded, Rewound, UsageIgnored

EVERY = 9
"""The stand-ins for a provider compact with each ninth answer."""
WORDS = " ".join(f"word_{n}" for n in range(90))


def responses(request: Record, n: int) -> tuple[list[Record], Record]:
    """Items of an answer, and what was used."""
    tokens = len(json.dumps(request["input"])) // 4
    sealed = {"type": "compaction", "id": f"cmp_{n}", "encrypted_content": f"sealed {n} " * 200}
    call = {
        "type": "function_call",
        "id": f"fc_{n}",
        "call_id": f"c{n}",
        "name": "read",
        "arguments": "{}",
    }
    back = {"type": "function_call_output", "call_id": f"c{n}", "output": WORDS}
    said = {"type": "message", "role": "assistant", "content": f"Part {n} is done."}
    answer = [*([sealed] if n % EVERY == EVERY - 1 else []), call, back, said]
    return answer, {"input_tokens": tokens, "output_tokens": 90}


def anthropic(request: Record, n: int) -> tuple[list[Record], Record]:
    """Messages of an answer, and what was used once all but three results were cleared."""
    results = [one for one in request["messages"] if "tool_result" in str(one)]
    tokens = (
        len(json.dumps(request["messages"])) - sum(len(str(result)) - 90 for result in results[:-3])
    ) // 4
    block = {"type": "compaction", "content": f"Parts up to {n} were read.", "signature": "seal"}
    use = {"type": "tool_use", "id": f"t{n}", "name": "read", "input": {"path": "a"}}
    told = {"type": "tool_result", "tool_use_id": f"t{n}", "content": WORDS}
    answer: list[Record] = [
        {"role": "assistant", "content": [*([block] if n % EVERY == EVERY - 1 else []), use]},
        {"role": "user", "content": [told]},
        {"role": "assistant", "content": [{"type": "text", "text": f"Part {n} is done."}]},
    ]
    return answer, {"input_tokens": tokens, "output_tokens": 90}


APIS: dict[str, tuple[Any, Any, str, Any]] = {
    "responses": (
        responses, [{"type": "compaction", "compact_threshold": 200_000}], "input",
        lambda sent: validators.openai_responses([one for one in sent if one.get("type") != "compaction"]),
    ),
    "anthropic": (
        anthropic, {"edits": [{"type": "clear_tool_uses_20250919"}, {"type": "compact_20260112"}]}, "messages",
        validators.anthropic,
    ),
}  # fmt: skip


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("preset", sorted(BUILTIN_PRESETS))
def test_the_provider_compacts_beside_the_preset_and_both_stand(preset: str, api: str) -> None:
    answers, managed, body, problems = APIS[api]
    window = 8_000
    live = Compactor(preset, model=find_model("extractive"), window=window, format=api)  # type: ignore[arg-type]
    talk: list[Record] = []
    newest: list[Record] = []
    for n in range(40):
        talk.append(asked(f"Look at part {n}."))
        request = {body: live.before_request(talk), "context_management": managed}
        assert problems(request[body]) == [] and live.tokens <= window
        assert all(one in request[body] for one in newest)
        answer, usage = answers(json.loads(json.dumps(request)), n)
        live.report_usage(usage)
        talk += answer
        before = live.tokens
        live.after_turn(talk)
        if brought := [one for one in answer if "compaction" in str(one)]:
            assert live.tokens <= before
            newest = brought if api == "responses" else newest
    native = [
        entry for entry in live.log.path() if getattr(entry, "reason", "") == "by the provider"
    ]
    assert len(native) == 40 // EVERY
    assert live.original == talk
    assert not [event for event in live.events if isinstance(event, Rewound) and event.undone]
    assert not [event for event in live.events if isinstance(event, UsageIgnored)]


class Applied:
    """A client's object, as an answer has it."""

    def __init__(self, tokens: int) -> None:
        self.tokens = tokens

    def model_dump(self, exclude_none: bool = False) -> Record:
        return {
            "applied_edits": [
                {"type": "clear_tool_uses_20250919", "cleared_input_tokens": self.tokens}
            ]
        }


@pytest.mark.parametrize("preset", ["truncate", "pipeline", "pi"])
def test_what_the_provider_clears_by_itself_is_counted_no_more(preset: str) -> None:
    found = []
    for told in (True, False):
        live = Compactor(preset, model=find_model("extractive"), window=8_000, format="anthropic")
        talk: list[Record] = []
        for n in range(0, 40 * EVERY, EVERY):  # no answer brings a compaction
            talk.append(asked(f"Look at part {n}."))
            sent = live.before_request(talk)
            answer, usage = anthropic({"messages": sent}, n)
            cleared = len(json.dumps(sent)) // 4 - usage["input_tokens"]
            live.report_usage(usage, context_management=Applied(cleared) if told else None)
            assert live.tokens < 8_000
            talk += answer
        found.append(sum(isinstance(event, CompactionEnded) for event in live.events))
        again = Compactor.load(json.loads(json.dumps(live.save())), model=find_model("extractive"))
        assert (again.tokens, again.before_request(talk)) == (
            live.tokens,
            live.before_request(talk),
        )
    assert found[0] == 0 < found[1]


@pytest.mark.parametrize(
    "told", [7, "many", {"applied_edits": 7}, {"applied_edits": [{"cleared_input_tokens": -1}]}]
)
def test_a_report_of_edits_that_cannot_be_read_is_passed_over(told: object) -> None:
    live = Compactor("truncate", window=8_000)
    live.before_request([asked("Look.")])
    assert (
        live.report_usage({"prompt_tokens": 100, "completion_tokens": 9}, context_management=told)
        is None
    )
    assert live.tokens == 100
