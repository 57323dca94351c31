"""A field that a provider does not take goes from each message that has it, and nothing else does;
against a server that names one at a time, as providers do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from live import strict_server
from live.strict_server import Refused, Rule, StrictServer
from live.talk import Record, answered, asked, back, used

from workbench import Compactor
from workbench.live.events import HistoryMended

QUESTION = asked("Do it.")
NEXT = asked("And now?")


def anthropic(messages: Sequence[Record]) -> str:
    """What Anthropic says of fields that other providers and clients write."""
    for index, message in enumerate(messages):
        for name in message.keys() - {"role", "content"}:
            return f"messages.{index}.{name}: Extra inputs are not permitted"
        parts = message["content"] if isinstance(message["content"], list) else []
        for number, part in enumerate(parts):
            for name in part.keys() - {
                "type",
                "text",
                "id",
                "name",
                "input",
                "tool_use_id",
                "content",
            }:
                where = f"messages.{index}.content.{number}.{part['type']}.{name}"
                return f"{where}: Extra inputs are not permitted"
    return ""


def responses(items: Sequence[Record]) -> str:
    for index, item in enumerate(items):
        if "status" in item:
            return f"Unknown parameter: 'input[{index}].status'."
    return ""


def groq(messages: Sequence[Record]) -> str:
    for index, message in enumerate(messages):
        if "reasoning" in message:
            where = f"'messages.{index}'"
            return (
                f"{where} : for 'role:assistant' the following must be satisfied[({where} :"
                " property 'reasoning' is unsupported, did you mean 'role'?)]"
            )
    return ""


def gemini(contents: Sequence[Record]) -> str:
    for index, content in enumerate(contents):
        for number, part in enumerate(content["parts"]):
            if "id" in part.get("functionCall", {}):
                where = f"'contents[{index}].parts[{number}].function_call'"
                return f'Invalid JSON payload received. Unknown name "id" at {where}: Cannot find field.'
    return ""


def thoughtful(message: Record) -> Record:
    return {**message, "reasoning": "Let me see."}


def use(call_id: str, **fields: Any) -> Record:
    part = {"type": "tool_use", "id": call_id, "name": "read", "input": {"index": 4}}
    return {"role": "assistant", "content": [{**part, **fields}]}


def told(call_id: str) -> Record:
    part = {"type": "tool_result", "tool_use_id": call_id, "content": "done"}
    return {"role": "user", "content": [part]}


def item(kind: str, **fields: Any) -> Record:
    return {"type": kind, "call_id": "c1", **fields}


def contents(role: str, *parts: Record) -> Record:
    return {"role": role, "parts": list(parts)}


RESPONSE: Record = {"functionResponse": {"name": "read", "response": {"output": "done"}}}
CALL: Record = {"name": "read", "args": {"id": 7}}
CASES: list[tuple[str, Rule, list[Record], list[Record]]] = [
    (
        "anthropic",
        anthropic,
        [QUESTION, use("t1", index=0), told("t1"), {**answered("Done."), "annotations": []}, NEXT],
        [QUESTION, use("t1"), told("t1"), answered("Done."), NEXT],
    ),
    (
        "anthropic",
        anthropic,
        [QUESTION, use("t1", index=0), told("t1"), use("t2", index=1, caller="a"), told("t2")],
        [QUESTION, use("t1"), told("t1"), use("t2"), told("t2")],
    ),
    (
        "responses",
        responses,
        [
            {"type": "message", "role": "user", "content": "Do it."},
            item("function_call", name="read", arguments='{"status": 1}', status="completed"),
            item("function_call_output", output="done", status="completed"),
        ],
        [
            {"type": "message", "role": "user", "content": "Do it."},
            item("function_call", name="read", arguments='{"status": 1}'),
            item("function_call_output", output="done"),
        ],
    ),
    (
        "openai",
        groq,
        [QUESTION, thoughtful(used("c1")), back("c1", "done"), thoughtful(answered("Done.")), NEXT],
        [QUESTION, used("c1"), back("c1", "done"), answered("Done."), NEXT],
    ),
    (
        "gemini",
        gemini,
        [
            contents("user", {"text": "Do it."}),
            contents("model", {"functionCall": {**CALL, "id": "a"}}),
            contents("user", RESPONSE),
        ],
        [
            contents("user", {"text": "Do it."}),
            contents("model", {"functionCall": CALL}),
            contents("user", RESPONSE),
        ],
    ),
]


def asked_until_taken(live: Compactor, server: StrictServer, messages: list[Record]) -> None:
    """One request of an agent that sends what it is told to send after each refusal."""
    sent = live.before_request(messages)
    while True:
        try:
            server.ask(sent)
            return
        except Refused as refusal:
            retry = live.on_error(refusal)
            assert retry is not None, str(refusal)
            sent = retry.messages


@pytest.mark.parametrize(("format", "rule", "history", "taken"), CASES)
def test_a_field_that_is_refused_goes_wherever_it_stands_and_is_refused_once(
    format: Any, rule: Rule, history: list[Record], taken: list[Record]
) -> None:
    live = Compactor("truncate", window=100_000, format=format)
    with strict_server.running(rule) as server:
        asked_until_taken(live, server, history)
        refusals = server.refusals
        later = Compactor.load(live.save(), format=format)
        asked_until_taken(later, server, history)
    assert server.taken == [taken, taken]
    assert 0 < refusals == server.refusals <= 2
    assert live.original == history
    mended = [event.defects for event in live.events if isinstance(event, HistoryMended)]
    assert mended == [("extra field",)] * refusals


ANSWER = {"role": "assistant", "content": [{"type": "text", "text": "Done."}]}
MARKED = {"type": "ephemeral", "ttl": "1h"}


@pytest.mark.parametrize(
    ("error", "fields"),
    [
        (
            "Unknown parameter: 'messages[1].reasoning_content'.",
            {"reasoning_content": "Let me see."},
        ),
        (
            "messages[1].reasoning: reasoning is not supported with this model",
            {"reasoning": "Let me see."},
        ),
        (
            "Additional properties are not allowed ('refusal' was unexpected) - 'messages.1'",
            {"refusal": None},
        ),
        (
            '{"detail": [{"type": "extra_forbidden", "loc": ["body", "messages", 1, "assistant",'
            ' "reasoning_content"], "msg": "Extra inputs are not permitted", "input": "Let me see."}]}',
            {"reasoning_content": "Let me see."},
        ),
    ],
)
def test_each_provider_names_a_field_in_its_own_way(error: str, fields: Record) -> None:
    live = Compactor("truncate", window=100_000)
    live.before_request([QUESTION, {**ANSWER, **fields}, NEXT])
    retry = live.on_error({"status": 400, "error": {"message": error}})
    assert retry is not None
    assert retry.messages == [QUESTION, ANSWER, NEXT]


def test_a_field_inside_a_part_goes_and_what_is_beside_it_stays() -> None:
    live = Compactor("truncate", window=100_000, format="anthropic")
    marked = {"type": "text", "text": "Done.", "cache_control": MARKED}
    live.before_request([QUESTION, {"role": "assistant", "content": [marked]}, NEXT])
    error = "messages.1.content.0.text.cache_control.ephemeral.ttl: Extra inputs are not permitted"
    retry = live.on_error(f"Error code: 400 - {error}")
    assert retry is not None
    assert retry.messages[1]["content"] == [{**marked, "cache_control": {"type": "ephemeral"}}]


@pytest.mark.parametrize(
    "error",
    [
        "messages.1.content: Extra inputs are not permitted",
        "messages.3.content.0.text: Extra inputs are not permitted",
        "messages.0.content.0.image_url: Extra inputs are not permitted",
        "Unknown parameter: 'messages[1].tool_calls[0].function.name'.",
        "system.1.cache_control.ephemeral.scope: Extra inputs are not permitted",
        "context_management: Extra inputs are not permitted",
        "Unknown parameter: 'reasoning.context'.",
        "property 'store' is unsupported, did you mean 'stop'?",
    ],
)
def test_what_is_no_field_of_a_message_or_may_not_go_is_left_alone(error: str) -> None:
    live = Compactor("truncate", window=100_000)
    picture = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
    question = {**QUESTION, "content": [picture]}
    history = [question, used("c1"), back("c1", "done"), ANSWER, NEXT]
    live.before_request(history)
    assert live.on_error({"status": 400, "error": {"message": error}}) is None
    assert live.before_request(history) == history
