"""Models that follow a script, for tests and examples: in this process, and behind OpenAI's API
on this machine.
"""

import json
from collections.abc import Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from workbench.base.errors import ModelError
from workbench.engine.models.model import Completion, SummaryRequest
from workbench.engine.transcript.message import Json, ToolCall


class Scripted:
    """Returns the texts in order, raises the errors among them, and records the requests.

    Attributes:
        requests: every request so far, in order.
    """

    def __init__(self, says: Sequence[str | Exception], name: str = "scripted") -> None:
        self.says = tuple(says)
        self.name = name
        self.requests: list[SummaryRequest] = []

    def complete(self, request: SummaryRequest, /) -> Completion:
        """The next text of the script.

        Raises:
            ModelError: the script is at its end; or any error in the script.
        """
        index = len(self.requests)
        self.requests.append(request)
        if index >= len(self.says):
            raise ModelError(f"the script of {self.name!r} has only {len(self.says)} answers")
        line = self.says[index]
        if isinstance(line, Exception):
            raise line
        return Completion(text=line, model=self.name)


HOST = "127.0.0.1"
SECONDS_TO_STOP = 0.02
"""How long `stop` waits at most for the server to see it."""


class Loopback(ThreadingHTTPServer):
    """A server for the length of a `with` block, or until `stop`.

    Attributes:
        says: the answers in order: words, or the wish for a tool. A refused request takes none of
            them.
        window: tokens that it takes, at four characters each.
        requests: the bodies of the requests so far.
        refused: how many of them were too long.
        repeated: how many of them were the same as the one before.
        url: what a client takes as its base address.
    """

    def __init__(self, says: Sequence[str | ToolCall], window: int = 8_000) -> None:
        super().__init__((HOST, 0), _Handler)
        self.says = tuple(says)
        self.window = window
        self.requests: list[Mapping[str, Json]] = []
        self.refused = 0
        self.repeated = 0
        self.url = f"http://{HOST}:{self.server_port}/v1"
        Thread(target=self.serve_forever, args=(SECONDS_TO_STOP,), daemon=True).start()

    def stop(self) -> None:
        """Stop listening."""
        self.shutdown()
        self.server_close()

    def __exit__(self, *error: object) -> None:
        self.stop()

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of a client that went away."""

    def reply(self, request: Mapping[str, Json]) -> tuple[int, Json]:
        """Status and body for one request."""
        self.requests.append(request)
        prompt = [request.get("messages"), request.get("tools")]
        used = _tokens(prompt)
        if used > self.window:
            self.refused += 1
            problem = f"prompt is too long: {used} tokens > {self.window} maximum"
            return 400, _error(problem)
        if self.requests[-2:-1] == [request]:
            self.repeated += 1
        answered_count = len(self.requests) - self.refused - self.repeated
        index = answered_count - 1
        if index >= len(self.says):
            problem = f"the script has only {len(self.says)} answers"
            return 500, _error(problem)
        return 200, _completion(index, self.says[index], used)


def _tokens(value: Json) -> int:
    """Tokens of a part of a request or an answer, at four characters each."""
    return len(json.dumps(value, ensure_ascii=False)) // 4


def _error(text: str) -> Json:
    error = {
        "message": text,
        "type": "invalid_request_error",
        "param": None,
        "code": None,
    }
    return {"error": error}


def _completion(index: int, answer: str | ToolCall, used: int) -> Json:
    message: dict[str, Json] = {"role": "assistant", "content": None}
    finish_reason = "stop"
    if isinstance(answer, ToolCall):
        function = {"name": answer.name, "arguments": answer.arguments_json()}
        call = {"id": answer.id, "type": "function", "function": function}
        message["tool_calls"] = [call]
        finish_reason = "tool_calls"
    else:
        message["content"] = answer
    output = _tokens(message)
    choice = {"index": 0, "message": message, "finish_reason": finish_reason}
    usage = {
        "prompt_tokens": used,
        "completion_tokens": output,
        "total_tokens": used + output,
    }
    return {
        "id": f"chatcmpl-{index}",
        "object": "chat.completion",
        "created": 0,
        "model": "loopback",
        "choices": [choice],
        "usage": usage,
    }


class _Handler(BaseHTTPRequestHandler):
    server: Loopback

    def do_POST(self) -> None:
        """Any address is the chat's."""
        length = int(self.headers.get("content-length", 0))
        request = json.loads(self.rfile.read(length))
        status, answer = self.server.reply(request)
        sent = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""
