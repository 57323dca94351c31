"""An error is judged alike in each form in which clients and gateways hand it on."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest
from engine.models.refused import Request, judged

Form: TypeAlias = Callable[[int, str], str]
ROOM = Path(__file__).parent


def chat_completions(status: int, text: str) -> str:
    error = {"message": text, "type": "invalid_request_error", "param": None, "code": status}
    return f"Error code: {status} - { ({'error': error}) }"


def anthropic(status: int, text: str) -> str:
    error = {"type": "invalid_request_error", "message": text}
    body = {"type": "error", "error": error, "request_id": "req_011CU2AQcHgBsaLHDo7RNuED"}
    return f"Error code: {status} - {body}"


def node(status: int, text: str) -> str:
    error = {"type": "invalid_request_error", "message": text}
    return f"API Error: {status} {json.dumps({'type': 'error', 'error': error})}"


def traceback_line(status: int, text: str) -> str:
    return f"openai.BadRequestError: {chat_completions(status, text)}"


def genai(status: int, text: str) -> str:
    error = {"code": status, "message": text, "status": "INVALID_ARGUMENT"}
    return f"{status} INVALID_ARGUMENT. { ({'error': error}) }"


def litellm(status: int, text: str) -> str:
    error = {"message": text, "type": "invalid_request_error", "code": str(status)}
    return f"litellm.BadRequestError: OpenAIException - {json.dumps({'error': error})}"


def openrouter(status: int, text: str) -> str:
    raw = json.dumps({"error": {"message": text}})
    metadata = {"raw": raw, "provider_name": "Chutes"}
    error = {"message": "Provider returned error", "code": status, "metadata": metadata}
    return f"Error code: {status} - { ({'error': error, 'user_id': 'user_2a'}) }"


def botocore(status: int, text: str) -> str:
    prefix = "An error occurred (ValidationException) when calling the ConverseStream operation: "
    return prefix + text


def ai_sdk(status: int, text: str) -> str:
    return f"AI_APICallError: Bad Request: {text}"


def stored_errors() -> list[tuple[int, int, str]]:
    """The status, the tokens of the request and the text of each error that has a status."""
    errors: list[tuple[int, int, str]] = []
    sets = tomllib.loads((ROOM / "requests_and_errors.toml").read_text("utf-8"))
    for rows in sets.values():
        for status, tokens, _window, _defect, _media, _action, text, _source in rows:
            errors.append((status, tokens, text))
    others = tomllib.loads((ROOM / "other_wordings.toml").read_text("utf-8"))
    for status, tokens, _action, text in others["wordings"]:
        errors.append((status, tokens, text))
    worded = tomllib.loads((ROOM / "provider_wordings.toml").read_text("utf-8"))
    for _source, status, _action, text in worded["wordings"]:
        errors.append((status, 0, text))
    return [error for error in errors if error[0]]


ERRORS = stored_errors()
REAL_FORMS: list[Form] = [
    chat_completions,
    anthropic,
    node,
    traceback_line,
    genai,
    litellm,
    openrouter,
    botocore,
    ai_sdk,
]


@pytest.mark.parametrize("form", REAL_FORMS)
def test_what_a_client_writes_around_an_error_changes_nothing(form: Form) -> None:
    judged_otherwise: list[str] = []
    for status, tokens, text in ERRORS[REAL_FORMS.index(form) % 4 :: 4]:
        request = Request(tokens)
        bare = judged(text, status, request).diagnosis
        wrapped = judged(form(status, text), status, request).diagnosis
        if wrapped.action != bare.action:
            judged_otherwise.append(f"{bare.action}, {wrapped.action}: {text}")
    assert judged_otherwise == []


def test_the_words_of_an_error_are_told_without_the_body_around_them() -> None:
    text = "prompt is too long: 210266 tokens > 200000 maximum"
    for form in (chat_completions, anthropic, node, traceback_line, genai, litellm):
        assert judged(form(400, text)).diagnosis.text == text


def test_a_code_beside_the_message_is_read() -> None:
    body = '{"error": {"message": "Bad request.", "code": "context_length_exceeded"}}'
    assert judged(f"Error code: 400 - {body}").diagnosis.action == "compact"


def test_the_status_of_a_failed_request_is_no_number_of_its_output() -> None:
    error = (
        "Error code: 400 - Failed to generate content: the input token count is 1251952 but model"
        " only supports up to 1048576."
    )
    diagnosis = judged(error, 400).diagnosis
    assert (diagnosis.action, diagnosis.limit) == ("compact", 1_048_576)
