from __future__ import annotations

import json
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from workbench import Loopback, ToolCall


def post(model: Loopback, text: str) -> Any:
    body = json.dumps({"messages": [{"role": "user", "content": text}]}).encode()
    with urlopen(
        Request(f"{model.url}/chat/completions", body, {"content-type": "application/json"})
    ) as answer:
        return json.load(answer)


def test_it_says_its_script_in_order_and_reports_usage() -> None:
    with Loopback(["one", ToolCall("c1", "read", {"path": "a.py"})]) as model:
        first, second = post(model, "x" * 400), post(model, "y")
    assert first["choices"][0]["message"]["content"] == "one"
    assert 100 <= first["usage"]["prompt_tokens"] <= 120
    call = second["choices"][0]["message"]["tool_calls"][0]
    assert (call["id"], json.loads(call["function"]["arguments"])) == ("c1", {"path": "a.py"})
    assert second["choices"][0]["finish_reason"] == "tool_calls"


def test_it_refuses_what_is_longer_than_its_window_and_says_the_same_next_time() -> None:
    with Loopback(["one"], window=100) as model:
        with pytest.raises(HTTPError) as refusal:
            post(model, "x" * 1_000)
        assert "prompt is too long" in refusal.value.read().decode()
        assert post(model, "x")["choices"][0]["message"]["content"] == "one"
    assert (len(model.requests), model.refused) == (2, 1)


def test_a_request_that_comes_again_at_once_gets_the_same_answer() -> None:
    with Loopback(["one", "two"]) as model:
        said = [post(model, text)["choices"][0]["message"]["content"] for text in ("x", "x", "y")]
    assert said == ["one", "one", "two"] and model.repeated == 1


def test_a_script_at_its_end_is_an_error() -> None:
    with Loopback([]) as model, pytest.raises(HTTPError) as error:
        post(model, "x")
    assert error.value.code == 500
