"""A history that a provider refuses is mended as little as that takes, against a server that
refuses as the provider does.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import pytest
from live import strict_server
from live.strict_server import Refused, Rule, StrictServer
from live.talk import Record, answered, asked, back, used

from workbench import Compactor
from workbench.live.events import HistoryMended

SKIPPED = "skip_thought_signature_validator"


def thought(signature: str | None) -> Record:
    part = {"type": "thinking", "thinking": "Let me see."}
    return part if signature is None else {**part, "signature": signature}


def text(words: str) -> Record:
    return {"type": "text", "text": words}


def use(call_id: str) -> Record:
    return {"type": "tool_use", "id": call_id, "name": "read", "input": {}}


def result(call_id: str) -> Record:
    return {"type": "tool_result", "tool_use_id": call_id, "content": "done"}


def said(role: str, *parts: Record) -> Record:
    return {"role": role, "content": list(parts)}


def reasoning(number: int, sealed: str = "sealed") -> Record:
    item = {"type": "reasoning", "id": f"rs_{number}", "summary": []}
    return {**item, "encrypted_content": sealed} if sealed else item


def call_item(number: int, item_id: str | None = None) -> Record:
    item = {"type": "function_call", "call_id": f"c{number}", "name": "read", "arguments": "{}"}
    return item if item_id is None else {**item, "id": item_id}


def output_item(number: int) -> Record:
    return {"type": "function_call_output", "call_id": f"c{number}", "output": "done"}


def message_item(role: str, words: str) -> Record:
    return {"type": "message", "role": role, "content": words}


def contents(role: str, *parts: Record) -> Record:
    return {"role": role, "parts": list(parts)}


def cut_off(call_id: str) -> Record:
    message = used(call_id)
    message["tool_calls"][0]["function"]["arguments"] = '{"path": "a.p'
    return message


UNREAD = json.dumps({"unread_arguments": '{"path": '})
CALL: Record = {"functionCall": {"name": "read", "args": {}}}
RESPONSE: Record = {"functionResponse": {"name": "read", "response": {"output": "done"}}}
LONG_ID = "call_" + "x" * 60
QUESTION = asked("Do it.")
NEXT = asked("And now?")


@dataclass(frozen=True, slots=True)
class Broken:
    """A history that a provider refuses, and what it should take in its place."""

    name: str
    rule: Rule
    history: list[Record]
    mended: list[Record]
    options: dict[str, Any] = field(default_factory=dict)


ANTHROPIC = {"format": "anthropic"}
RESPONSES = {"format": "responses"}
GEMINI = {"format": "gemini"}
CASES = [
    Broken(
        "prefill",
        strict_server.anthropic,
        [QUESTION, answered("Sure:")],
        [QUESTION, answered("Sure:"), asked("Continue.")],
        ANTHROPIC,
    ),
    Broken(
        "white space behind a prefill",
        strict_server.blank_end,
        [QUESTION, answered("Sure: ")],
        [QUESTION, answered("Sure:")],
        ANTHROPIC,
    ),
    Broken(
        "empty text beside a call",
        strict_server.anthropic,
        [QUESTION, said("assistant", text(""), use("t1")), said("user", result("t1"))],
        [QUESTION, said("assistant", use("t1")), said("user", result("t1"))],
        ANTHROPIC,
    ),
    Broken(
        "an answer that says nothing",
        strict_server.anthropic,
        [QUESTION, said("assistant", text(" ")), NEXT],
        [QUESTION, NEXT],
        ANTHROPIC,
    ),
    Broken(
        "a question that says nothing",
        strict_server.anthropic,
        [QUESTION, answered("Done."), said("user", text(""))],
        [QUESTION, answered("Done."), said("user", text("(no text)"))],
        ANTHROPIC,
    ),
    Broken(
        "thought without a signature",
        strict_server.anthropic,
        [QUESTION, said("assistant", thought(None), text("Done.")), NEXT],
        [QUESTION, said("assistant", text("Done.")), NEXT],
        ANTHROPIC,
    ),
    Broken(
        "thought of another model: those before it stay",
        strict_server.anthropic,
        [
            QUESTION,
            said("assistant", thought("seal-1"), text("Done.")),
            NEXT,
            said("assistant", thought("foreign"), text("Done again.")),
            NEXT,
        ],
        [
            QUESTION,
            said("assistant", thought("seal-1"), text("Done.")),
            NEXT,
            said("assistant", text("Done again.")),
            NEXT,
        ],
        ANTHROPIC,
    ),
    Broken(
        "an id of a call again",
        strict_server.anthropic,
        [
            QUESTION,
            said("assistant", use("t1")),
            said("user", result("t1")),
            said("assistant", use("t1")),
            said("user", result("t1")),
        ],
        [
            QUESTION,
            said("assistant", use("t1")),
            said("user", result("t1")),
            said("assistant", use("t1_2")),
            said("user", {**result("t1"), "tool_use_id": "t1_2"}),
        ],
        ANTHROPIC,
    ),
    Broken(
        "an id that is too long",
        strict_server.short_ids,
        [QUESTION, used(LONG_ID), back(LONG_ID, "done")],
        [QUESTION, used("93d9af240"), back("93d9af240", "done")],
    ),
    Broken(
        "arguments that end too early",
        strict_server.whole_arguments,
        [QUESTION, cut_off("c1"), back("c1", "no such file")],
        [
            QUESTION,
            used("c1", unread_arguments='{"path": "a.p'),
            back("c1", "no such file"),
        ],
    ),
    Broken(
        "arguments of an item that end too early",
        strict_server.whole_arguments,
        [QUESTION, {**call_item(1), "arguments": '{"path": '}, output_item(1)],
        [QUESTION, {**call_item(1), "arguments": UNREAD}, output_item(1)],
        RESPONSES,
    ),
    Broken(
        "a call without the thought that led to it",
        strict_server.thoughts_back,
        [QUESTION, used("c1"), back("c1", "done")],
        [
            QUESTION,
            {**used("c1"), "reasoning_content": "(this thought was left out)"},
            back("c1", "done"),
        ],
    ),
    Broken(
        "an empty list of calls",
        strict_server.no_empty_lists,
        [QUESTION, {**answered("Done."), "tool_calls": []}, NEXT],
        [QUESTION, answered("Done."), NEXT],
    ),
    Broken(
        "system message between Anthropic's",
        strict_server.anthropic,
        [QUESTION, answered("Done."), {"role": "system", "content": "Be brief."}, NEXT],
        [QUESTION, answered("Done."), asked("Be brief.\n\nAnd now?")],
        ANTHROPIC,
    ),
    Broken(
        "a parallel call without a result",
        strict_server.anthropic,
        [QUESTION, said("assistant", use("t1"), use("t2")), said("user", result("t1"))],
        [
            QUESTION,
            said("assistant", use("t1"), use("t2")),
            said("user", {**result("t2"), "content": "(no result)"}, result("t1")),
        ],
        ANTHROPIC,
    ),
    Broken(
        "a turn that does not begin with a thought, of a host that turns thinking on",
        strict_server.anthropic_thinking,
        [QUESTION, said("assistant", use("t1")), said("user", result("t1"))],
        [
            QUESTION,
            said("assistant", use("t1")),
            said("user", result("t1")),
            answered("(no answer)"),
            asked("Continue."),
        ],
        ANTHROPIC,
    ),
    Broken(
        "a host's note between results",
        strict_server.openai_pairs,
        [
            QUESTION,
            {**used("c1"), "tool_calls": [*used("c1")["tool_calls"], *used("c2")["tool_calls"]]},
            back("c1", "done"),
            {"role": "system", "content": "Be brief."},
            back("c2", "done"),
        ],
        [
            QUESTION,
            {**used("c1"), "tool_calls": [*used("c1")["tool_calls"], *used("c2")["tool_calls"]]},
            back("c1", "done"),
            back("c2", "done"),
            {"role": "system", "content": "Be brief."},
        ],
    ),
    Broken(
        "a host's note before Gemini's responses",
        strict_server.gemini_pairs,
        [
            contents("user", {"text": "Do it."}),
            contents("model", {**CALL, "thoughtSignature": "sealed"}),
            contents("user", {"text": "Be brief."}),
            contents("user", RESPONSE),
        ],
        [
            contents("user", {"text": "Do it."}),
            contents("model", {**CALL, "thoughtSignature": "sealed"}),
            contents("user", RESPONSE),
            contents("user", {"text": "Be brief."}),
        ],
        GEMINI,
    ),
    Broken(
        "system message in the middle",
        strict_server.system_first,
        [
            {"role": "system", "content": "Work."},
            QUESTION,
            used("c1"),
            {"role": "system", "content": "Be brief."},
            back("c1", "done"),
            answered("Done."),
            NEXT,
        ],
        [
            {"role": "system", "content": "Work."},
            QUESTION,
            used("c1"),
            back("c1", "done"),
            asked("Be brief."),
            answered("Done."),
            NEXT,
        ],
    ),
    Broken(
        "two questions in a row",
        strict_server.alternating_template,
        [QUESTION, asked("Quickly."), answered("Done."), NEXT],
        [asked("Do it.\n\nQuickly."), answered("Done."), NEXT],
    ),
    Broken(
        "a question right behind a result",
        strict_server.alternating_template,
        [QUESTION, used("c1"), back("c1", "done"), NEXT],
        [QUESTION, used("c1"), back("c1", "done"), answered("(no answer)"), NEXT],
    ),
    Broken(
        "reasoning that nothing follows",
        strict_server.responses,
        [message_item("user", "Do it."), reasoning(1), message_item("user", "And now?")],
        [message_item("user", "Do it."), message_item("user", "And now?")],
        RESPONSES,
    ),
    Broken(
        "a call without its reasoning",
        strict_server.responses,
        [message_item("user", "Do it."), call_item(1, "fc_1"), output_item(1)],
        [message_item("user", "Do it."), call_item(1), output_item(1)],
        RESPONSES,
    ),
    Broken(
        "reasoning that was not stored",
        strict_server.responses,
        [
            message_item("user", "Do it."),
            reasoning(1, sealed=""),
            call_item(1, "fc_1"),
            output_item(1),
        ],
        [message_item("user", "Do it."), call_item(1), output_item(1)],
        RESPONSES,
    ),
    Broken(
        "an item twice",
        strict_server.responses,
        [
            message_item("user", "Do it."),
            reasoning(1),
            call_item(1, "fc_1"),
            output_item(1),
            reasoning(1),
            call_item(2, "fc_1"),
            output_item(2),
        ],
        [
            message_item("user", "Do it."),
            reasoning(1),
            call_item(1, "fc_1"),
            output_item(1),
            call_item(2),
            output_item(2),
        ],
        RESPONSES,
    ),
    Broken(
        "a call that Gemini did not sign",
        strict_server.gemini,
        [
            contents("user", {"text": "Do it."}),
            contents("model", CALL, CALL),
            contents("user", RESPONSE, RESPONSE),
        ],
        [
            contents("user", {"text": "Do it."}),
            contents("model", {**CALL, "thoughtSignature": SKIPPED}, CALL),
            contents("user", RESPONSE, RESPONSE),
        ],
        GEMINI,
    ),
    Broken(
        "an answer of Gemini's at the end",
        strict_server.gemini,
        [contents("user", {"text": "Do it."}), contents("model", {"text": "Sure:"})],
        [
            contents("user", {"text": "Do it."}),
            contents("model", {"text": "Sure:"}),
            contents("user", {"text": "Continue."}),
        ],
        GEMINI,
    ),
    Broken(
        "an answer of Gemini's without parts",
        strict_server.gemini,
        [
            contents("user", {"text": "Do it."}),
            contents("model"),
            contents("user", {"text": "And now?"}),
        ],
        [contents("user", {"text": "Do it."}), contents("user", {"text": "And now?"})],
        GEMINI,
    ),
]


def compactor(**options: Any) -> Compactor:
    return Compactor("truncate", window=100_000, **options)


def asked_once(live: Compactor, server: StrictServer, messages: list[Record]) -> None:
    """One request of an agent that sends what it is told to send after a refusal."""
    try:
        server.ask(live.before_request(messages))
    except Refused as refusal:
        retry = live.on_error(refusal)
        assert retry is not None
        server.ask(retry.messages)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_refused_history_is_mended_and_taken(case: Broken) -> None:
    live = compactor(**case.options)
    with strict_server.running(case.rule) as server:
        asked_once(live, server, case.history)
    assert server.taken == [case.mended]
    assert live.original == case.history


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_is_not_refused_is_sent_as_it_is(case: Broken) -> None:
    live = compactor(**case.options)
    assert live.before_request(case.history) == case.history


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_later_requests_are_mended_before_they_are_refused(case: Broken) -> None:
    live = compactor(**case.options)
    with strict_server.running(case.rule) as server:
        asked_once(live, server, case.history)
        asked_once(Compactor.load(live.save(), **case.options), server, case.history)
    assert server.taken == [case.mended, case.mended]
    assert server.refusals == 1


def test_a_host_may_go_on_from_the_list_that_it_got() -> None:
    live = compactor(format="anthropic")
    with strict_server.running(strict_server.anthropic) as server:
        history = [QUESTION, answered("Sure:")]
        live.before_request(history)
        retry = live.on_error("This model does not support assistant message prefill.")
        assert retry is not None
        asked_once(live, server, [*retry.messages, answered("done."), NEXT])
    assert server.refusals == 0
    assert server.taken == [[*history, asked("Continue."), answered("done."), NEXT]]


def test_another_model_gets_the_history_as_it_is() -> None:
    history = [QUESTION, answered("Sure:")]
    live = compactor(format="anthropic")
    live.before_request(history, model="strict")
    assert live.on_error("prefill is not supported: must end with a user message") is not None
    assert live.before_request(history, model="strict") != history
    assert live.before_request(history, model="mild") == history


def test_a_mend_that_did_not_help_is_not_made_again() -> None:
    history = [QUESTION, asked("Quickly."), answered("Sure:")]
    live = compactor()
    live.before_request(history)
    refusal = {"status": 400, "error": {"message": "Provider returned error"}}
    retry = live.on_error(refusal)
    assert retry is not None and retry.messages != history
    assert live.on_error(refusal) is None
    assert live.before_request(history) == history


def with_notes(live: Compactor) -> list[Record]:
    """A history of two turns, after requests in which a note stood before each newest question."""
    history = [QUESTION, answered("Done."), asked("And then?"), answered("Done again.")]
    live.before_request([asked("Open file: 1.py"), *history[:1]])
    live.before_request([*history[:2], asked("Open file: 2.py"), *history[2:3]])
    return history


def test_what_a_host_adds_to_a_request_is_mended_with_it() -> None:
    live = compactor()
    history = with_notes(live)
    with strict_server.running(strict_server.alternating_template) as server:
        asked_once(live, server, [*history, asked("Open file: 3.py"), NEXT])
    assert server.taken == [[*history, asked("Open file: 3.py\n\nAnd now?")]]


def test_a_thought_that_a_refusal_names_is_found_behind_what_the_host_adds() -> None:
    live = compactor(format="anthropic")
    history = with_notes(live)
    answer = said("assistant", thought("foreign"), use("t1"))
    with strict_server.running(strict_server.anthropic) as server:
        question = [asked("Open file: 3.py"), NEXT]
        asked_once(live, server, [*history, *question, answer, said("user", result("t1"))])
    bare_answer = said("assistant", use("t1"))
    assert server.taken == [[*history, *question, bare_answer, said("user", result("t1"))]]


def test_the_host_is_told_what_was_mended() -> None:
    live = compactor(format="anthropic")
    with strict_server.running(strict_server.anthropic) as server:
        asked_once(live, server, [QUESTION, said("assistant", thought(None), text("Done.")), NEXT])
    mended = [event.defects for event in live.events if isinstance(event, HistoryMended)]
    assert mended == [("unsigned thought",)]


def test_a_turn_that_was_closed_goes_on_with_the_next_thought() -> None:
    live = compactor(format="anthropic")
    history = [QUESTION, said("assistant", use("t1")), said("user", result("t1"))]
    later = [said("assistant", thought("seal"), use("t2")), said("user", result("t2"))]
    closing = [answered("(no answer)"), asked("Continue.")]
    with strict_server.running(strict_server.anthropic_thinking) as server:
        asked_once(live, server, history)
        asked_once(live, server, [*history, *later])
    assert server.taken == [[*history, *closing], [*history, *closing, *later]]
    assert server.refusals == 1


@pytest.mark.parametrize("preset", ["truncate", "summarize", "pipeline", "opal", "pi"])
def test_a_compaction_inside_a_turn_leaves_no_turn_without_a_thought(preset: str) -> None:
    live = Compactor(preset, model="extractive", window=6_000, format="anthropic")
    history = [
        QUESTION,
        said("assistant", thought("seal-0"), use("t0")),
        said("user", result("t0")),
    ]
    with strict_server.running(strict_server.anthropic_thinking) as server:
        for number in range(1, 60):
            sent = live.before_request(history)
            server.ask(sent)
            thoughts = [thought(f"seal-{number}")] if sent[-1] == asked("Continue.") else []
            call_id = f"t{number}"
            answer = said("assistant", *thoughts, text("I look on."), use(call_id))
            long_result = {**result(call_id), "content": f"word {number} " * 150}
            history += [answer, said("user", long_result)]
    assert any(event.type == "compaction_ended" for event in live.events)
    assert server.refusals == 0


def test_a_turn_that_a_compaction_cut_stays_closed_in_the_turns_behind_it() -> None:
    live = Compactor("truncate", window=6_000, format="anthropic")
    go_on = asked("Continue.")
    history: list[Record] = []
    before: list[Record] = []
    compactions = 0
    closed_places = set()
    for number in range(90):
        if number % 6 == 0:
            history.append(asked(f"Question {number}"))
        sent = live.before_request(history)
        if len(live.events) == compactions:
            assert sent[: len(before)] == before
        if go_on in sent[:-1]:
            place = sent.index(go_on)
            closed_places.add(place)
            assert sent[place + 1]["content"][0]["type"] == "thinking"
        before, compactions = sent, len(live.events)
        thinks = number % 2 == 0 or sent[-1] == go_on
        thoughts = [thought(f"seal-{number}")] if thinks else []
        answer = said("assistant", *thoughts, use(f"t{number}"))
        long_result = {**result(f"t{number}"), "content": f"word {number} " * 150}
        history += [answer, said("user", long_result)]
    assert closed_places


def test_two_defects_of_one_request_are_mended_one_after_the_other() -> None:
    live = compactor(format="anthropic")
    step = [said("assistant", use("t1")), said("user", result("t1"))]
    with strict_server.running(strict_server.anthropic_thinking) as server:
        sent = live.before_request([QUESTION, *step, *step])
        for _ in range(2):
            with pytest.raises(Refused) as refused:
                server.ask(sent)
            retry = live.on_error(refused.value)
            assert retry is not None
            sent = retry.messages
        server.ask(sent)
    assert server.refusals == 2


def test_a_history_is_mended_after_the_same_request_was_too_large() -> None:
    live = compactor(format="anthropic")
    history = [QUESTION, answered("Done. " * 4_000), NEXT, said("assistant", text(""), use("t1"))]
    live.before_request([*history, said("user", result("t1"))])
    assert live.on_error("prompt is too long: 12000 tokens > 10000 maximum") is not None
    saved = Compactor.load(live.save(), format="anthropic")
    assert saved.on_error("messages: text content blocks must be non-empty") is not None
    assert live.on_error("messages: text content blocks must be non-empty") is not None
    assert live.on_error("prompt is too long: 12000 tokens > 10000 maximum") is None


def test_what_no_mend_helps_against_is_left_to_the_host() -> None:
    live = compactor(format="anthropic")
    live.before_request([QUESTION, answered("Done."), NEXT])
    refusal = (
        "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found"
        " `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a"
        " thinking block."
    )
    assert live.on_error(refusal) is None
    assert [event.type for event in live.events] == ["error_judged"]
