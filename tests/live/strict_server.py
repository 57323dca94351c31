"""A server on this machine that refuses histories as providers do, each in its own words."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from live.talk import Record

Rule = Callable[[Sequence[Record]], str]
"""Why a provider refuses a history; empty if it takes it."""


class Refused(Exception):
    """What a client raises for an answer of 400."""

    def __init__(self, status_code: int, body: str) -> None:
        super().__init__(f"Error code: {status_code} - {body}")
        self.status_code = status_code


class StrictServer:
    """Takes the histories that its rule takes.

    Attributes:
        taken: those that it took.
        refusals: how often it refused one.
    """

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.taken: list[list[Record]] = []
        self.refusals = 0
        self.url = ""

    def answer(self, history: list[Record]) -> str:
        """Why the history is refused; empty if it is taken."""
        objection = self.rule(history)
        if objection:
            self.refusals += 1
        else:
            self.taken.append(history)
        return objection

    def ask(self, messages: Sequence[Any]) -> None:
        """Send a history to it.

        Raises:
            Refused: with status 400 and the provider's words.
        """
        request = Request(self.url, json.dumps(list(messages)).encode(), method="POST")
        try:
            with urlopen(request) as response:
                response.read()
        except HTTPError as error:
            raise Refused(error.code, error.read().decode()) from None


@contextmanager
def running(rule: Rule) -> Iterator[StrictServer]:
    """A server with this rule, while it runs."""
    strict = StrictServer(rule)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            objection = strict.answer(json.loads(self.rfile.read(length)))
            self.send_response(400 if objection else 200)
            self.end_headers()
            error = {"type": "invalid_request_error", "message": objection}
            self.wfile.write(json.dumps({"error": error}).encode())

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    strict.url = f"http://127.0.0.1:{server.server_port}/"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield strict
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def anthropic(messages: Sequence[Record]) -> str:
    """What Anthropic refuses, in its words."""
    ids: set[str] = set()
    for index, message in enumerate(messages):
        if message["role"] not in ("user", "assistant"):
            return f'messages: Unexpected role "{message["role"]}".'
        content = message["content"]
        parts = content if isinstance(content, list) else [{"type": "text", "text": content}]
        texts = [part["text"] for part in parts if part["type"] == "text"]
        if message["role"] == "user" and not any(parts):
            return f"messages.{index}: user messages must have non-empty content"
        if isinstance(content, list) and "" in texts:
            return "messages: text content blocks must be non-empty"
        if texts and len(texts) == len(parts) and not any(text.strip() for text in texts):
            return "messages: text content blocks must contain non-whitespace text"
        for number, part in enumerate(parts):
            where = f"messages.{index}.content.{number}"
            if part["type"] == "thinking" and "signature" not in part:
                return f"{where}.thinking.signature: Field required"
            if part["type"] == "thinking" and not part["signature"].startswith("seal"):
                return f"{where}: Invalid `signature` in `thinking` block"
            if part["type"] == "tool_use" and part["id"] in ids:
                return f"{where}: `tool_use` ids must be unique"
            if part["type"] == "tool_use":
                ids.add(part["id"])
        missing = _missing_results(parts, messages[index + 1 : index + 2])
        if missing:
            return (
                f"messages.{index}: `tool_use` ids were found without `tool_result` blocks"
                f" immediately after: {', '.join(missing)}."
            )
    newest = messages[-1]
    if newest["role"] == "assistant":
        return (
            "This model does not support assistant message prefill. The conversation must end"
            " with a user message."
        )
    return ""


def _missing_results(parts: Sequence[Record], following: Sequence[Record]) -> list[str]:
    """The ids of calls that the message behind them does not answer."""
    results: set[str] = set()
    for message in following:
        if isinstance(message["content"], list):
            results |= {part.get("tool_use_id", "") for part in message["content"]}
    return [
        part["id"] for part in parts if part["type"] == "tool_use" and part["id"] not in results
    ]


def anthropic_thinking(messages: Sequence[Record]) -> str:
    """What Anthropic refuses while thinking is on."""
    objection = anthropic(messages)
    if objection:
        return objection
    first_answer = -1
    for index, message in enumerate(messages):
        is_answer = message["role"] == "assistant"
        if is_answer and first_answer < 0:
            first_answer = index
        elif not is_answer and not _is_of_results(message):
            first_answer = -1
    if first_answer < 0:
        return ""
    first_type = messages[first_answer]["content"][0]["type"]
    if first_type == "thinking":
        return ""
    return (
        f"messages.{first_answer}.content.0.type: Expected `thinking` or `redacted_thinking`, but"
        f" found `{first_type}`. When `thinking` is enabled, a final `assistant` message must start"
        " with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result`"
        " blocks)."
    )


def _is_of_results(message: Record) -> bool:
    content = message["content"]
    return isinstance(content, list) and all(part["type"] == "tool_result" for part in content)


def openai_pairs(messages: Sequence[Record]) -> str:
    """What OpenAI refuses of calls whose results are not directly behind them."""
    waiting: list[str] = []
    for index, message in enumerate(messages):
        if message["role"] == "tool":
            if message["tool_call_id"] not in waiting:
                return (
                    "Invalid parameter: messages with role 'tool' must be a response to a"
                    f" preceeding message with 'tool_calls'. (messages[{index}])"
                )
            waiting.remove(message["tool_call_id"])
        elif waiting:
            break
        else:
            waiting = [call["id"] for call in message.get("tool_calls") or ()]
    if waiting:
        return (
            "An assistant message with 'tool_calls' must be followed by tool messages responding to"
            " each 'tool_call_id'. The following tool_call_ids did not have response messages:"
            f" {', '.join(waiting)}"
        )
    return ""


def blank_end(messages: Sequence[Record]) -> str:
    """What Anthropic's older models refuse of an answer that is to be gone on with."""
    newest = messages[-1]
    text = (
        newest["content"] if isinstance(newest["content"], str) else newest["content"][-1]["text"]
    )
    if newest["role"] == "assistant" and text != text.rstrip():
        return "messages: final assistant content cannot end with trailing whitespace"
    return ""


def alternating_template(messages: Sequence[Record]) -> str:
    """What a chat template of Mistral's refuses, as llama.cpp words it."""
    turns = [message for message in messages if not _is_step(message)]
    if turns and turns[0]["role"] == "system":
        turns = turns[1:]
    for index, message in enumerate(turns):
        if (message["role"] == "user") != (index % 2 == 0):
            return (
                "\n------------\nWhile executing CallExpression at line 46, column 32 in source:\n"
                "Error: Jinja Exception: After the optional system message, conversation roles must"
                " alternate user and assistant roles except for tool calls and results."
            )
    return ""


def system_first(messages: Sequence[Record]) -> str:
    """What a chat template of Qwen's refuses."""
    if any(message["role"] == "system" for message in messages[1:]):
        return "\n------------\nError: Jinja Exception: System message must be at the beginning."
    return ""


def short_ids(messages: Sequence[Record]) -> str:
    """What OpenAI refuses of ids that another provider gave."""
    for index, message in enumerate(messages):
        for number, call in enumerate(message.get("tool_calls") or ()):
            if len(call["id"]) > 40:
                return (
                    f"Invalid 'messages[{index}].tool_calls[{number}].id': string too long. Expected"
                    f" a string with maximum length 40, but got a string with length"
                    f" {len(call['id'])} instead."
                )
    return ""


def thoughts_back(messages: Sequence[Record]) -> str:
    """What Kimi's API refuses while thinking is on."""
    for index, message in enumerate(messages):
        if message.get("tool_calls") and not message.get("reasoning_content"):
            return (
                "thinking is enabled but reasoning_content is missing in assistant tool call"
                f" message at index {index}"
            )
    return ""


def no_empty_lists(messages: Sequence[Record]) -> str:
    """What Azure refuses of calls."""
    for index, message in enumerate(messages):
        if message.get("tool_calls") == []:
            return f"[] is too short - 'messages.{index}.tool_calls'"
    return ""


def _is_step(message: Record) -> bool:
    return message["role"] == "tool" or bool(message.get("tool_calls"))


def responses(items: Sequence[Record]) -> str:
    """What OpenAI's Responses API refuses; the item `fc_N` or `msg_N` was made after `rs_N`."""
    item_ids = [item["id"] for item in items if "id" in item]
    for item_id in item_ids:
        if item_ids.count(item_id) > 1:
            return (
                f"Duplicate item found with id {item_id}. Remove duplicate items from your input"
                " and try again."
            )
    for index, item in enumerate(items):
        following = items[index + 1]["type"] if index + 1 < len(items) else ""
        if item["type"] == "reasoning":
            if not item.get("encrypted_content"):
                return (
                    f"Item with id '{item['id']}' not found. Items are not persisted when `store`"
                    " is set to false."
                )
            if following not in ("function_call", "message", "reasoning") or (
                items[index + 1].get("role") == "user"
            ):
                return (
                    f"Item '{item['id']}' of type 'reasoning' was provided without its required"
                    " following item."
                )
        prefix, _, number = item.get("id", "").partition("_")
        if prefix in ("fc", "msg") and f"rs_{number}" not in item_ids:
            return (
                f"Item '{item['id']}' of type '{item['type']}' was provided without its required"
                f" 'reasoning' item: 'rs_{number}'."
            )
    return ""


def gemini(contents: Sequence[Record]) -> str:
    """What Gemini refuses, in its words."""
    for content in contents:
        if not content["parts"]:
            return "* GenerateContentRequest.contents[1].parts: contents.parts must not be empty."
        calls = [part for part in content["parts"] if "functionCall" in part]
        if calls and not calls[0].get("thoughtSignature"):
            name = calls[0]["functionCall"]["name"]
            return (
                "Function call is missing a thought_signature in functionCall parts. This is"
                " required for tools to work correctly, and missing thought_signature may lead to"
                f" degraded model performance. Additional data, function call `{name}`, position 2."
            )
    if contents[-1]["role"] == "model":
        return "Please ensure that multiturn requests end with a user role."
    return ""


def gemini_pairs(contents: Sequence[Record]) -> str:
    """What Gemini refuses of calls whose responses are not in the content behind them."""
    call_count = 0
    for content in contents:
        response_count = sum("functionResponse" in part for part in content["parts"])
        if response_count != call_count:
            return (
                "Please ensure that the number of function response parts is equal to the number of"
                " function call parts of the function call turn."
            )
        call_count = sum("functionCall" in part for part in content["parts"])
    return ""


def whole_arguments(messages: Sequence[Record]) -> str:
    """What MiniMax refuses in the arguments of calls, in its words."""
    for message in messages:
        for call in message.get("tool_calls") or [message]:
            call_id = call.get("id") or call.get("call_id", "")
            arguments = call.get("function", call).get("arguments", "{}")
            try:
                json.loads(arguments)
            except ValueError:
                return (
                    "invalid params, invalid function arguments json string, tool_call_id:"
                    f" {call_id} (2013)"
                )
    return ""
