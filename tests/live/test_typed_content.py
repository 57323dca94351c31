"""Servers that take no list of parts get one text, once they have said so."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from live import strict_server
from live.strict_server import Refused, StrictServer
from live.talk import Record, answered, asked, back, used

from workbench import Compactor
from workbench.live.events import HistoryMended

DEEPSEEK = (
    "Failed to deserialize the JSON body: messages[0]: invalid type: sequence, expected a string"
)
OLLAMA = "json: cannot unmarshal array into Go struct field ChatRequest.messages of type string"
PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}


def text(words: str) -> Record:
    return {"type": "text", "text": words}


def said(*parts: Record) -> Record:
    return {"role": "user", "content": list(parts)}


def compactor() -> Compactor:
    return Compactor("none", window=200_000)


def sent_at_last(server: StrictServer, messages: list[Record]) -> tuple[list[Record], Compactor]:
    """What a server took of a list, after as many refusals as an agent goes through."""
    live = compactor()
    request = live.before_request(messages)
    for _ in range(4):
        try:
            server.ask(request)
        except Refused as error:
            retry = live.on_error(error)
            assert retry is not None
            request = retry.messages
        else:
            break
    return server.taken[-1], live


@pytest.mark.parametrize("objection", [DEEPSEEK, OLLAMA])
def test_lists_of_texts_become_one_text(objection: str) -> None:
    def refused(messages: Sequence[Record]) -> str:
        has_list = any(isinstance(message["content"], list) for message in messages)
        return objection if has_list else ""

    messages = [said(text("Read it."), text("Then say.")), answered("Done."), asked("And now?")]
    with strict_server.running(refused) as server:
        taken, live = sent_at_last(server, messages)
    assert taken == [asked("Read it.\n\nThen say."), answered("Done."), asked("And now?")]
    assert [event.defects for event in live.events if isinstance(event, HistoryMended)] == [
        ("typed content",)
    ]
    assert server.refusals == 1


def test_a_content_of_null_becomes_an_empty_text() -> None:
    def refused(messages: Sequence[Record]) -> str:
        has_null = any(message["content"] is None for message in messages)
        return "('messages.1.content' : value must be a string)" if has_null else ""

    messages = [asked("Read it."), used("c1"), back("c1", "done")]
    with strict_server.running(refused) as server:
        taken, _ = sent_at_last(server, messages)
    assert taken == [asked("Read it."), {**used("c1"), "content": ""}, back("c1", "done")]


def test_a_list_with_a_picture_stays() -> None:
    live = compactor()
    messages = [said(text("Look."), PICTURE), answered("A form."), said(text("And?"))]
    live.before_request(messages)
    retry = live.on_error(f"Error code: 400 - {DEEPSEEK}")
    assert retry is not None
    assert retry.messages == [messages[0], messages[1], asked("And?")]


READ_ERROR = {"status": 400, "error": {"message": "body.messages.0: could not be parsed"}}
HISTORY = [said(text("Read it.")), answered("Done."), said(text("Go on."))]
AS_TEXT = [asked("Read it."), answered("Done."), asked("Go on.")]


def test_a_server_that_cannot_read_a_request_gets_one_text_though_it_names_no_list() -> None:
    live = compactor()
    live.before_request(HISTORY)
    retry = live.on_error(READ_ERROR)
    assert retry is not None and retry.messages == AS_TEXT


def test_lists_are_sent_again_as_they_are_where_one_text_is_refused_as_well() -> None:
    live = compactor()
    live.before_request(HISTORY)
    assert live.on_error(READ_ERROR) is not None
    assert live.on_error(READ_ERROR) is None
    assert live.before_request(HISTORY) == HISTORY


@pytest.mark.parametrize(
    "error",
    [
        "messages: a tool call needs its tool result",
        "invalid role sequence",
        "The model is not for agents of this kind",
    ],
)
def test_lists_stay_where_an_error_is_about_something_else(error: str) -> None:
    live = compactor()
    live.before_request(HISTORY)
    assert live.on_error({"status": 400, "error": {"message": error}}) is None


def test_null_beside_calls_is_how_openai_writes_it_and_explains_nothing() -> None:
    live = compactor()
    live.before_request([asked("Read it."), used("c1"), back("c1", "done")])
    assert live.on_error(READ_ERROR) is None


def test_what_comes_later_is_sent_as_one_text_too() -> None:
    live = compactor()
    messages = [said(text("Read it."))]
    live.before_request(messages)
    live.on_error(f"Error code: 400 - {DEEPSEEK}")
    messages += [answered("Done."), said(text("And"), text("now?"))]
    assert live.before_request(messages)[-1] == asked("And\n\nnow?")
