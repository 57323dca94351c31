"""A server on this machine that speaks OpenAI's protocol and can fail in every way that a
provider does.
"""

from __future__ import annotations

import json
import socket
import sqlite3
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from workbench import ModelError, SummaryRequest, find_model
from workbench.engine.models.ledger import Ledger
from workbench.engine.models.litellm import LiteLLM
from workbench.engine.models.provider_options import ProviderOptions
from workbench.engine.models.wrappers import CachedModel


@dataclass(frozen=True)
class Reply:
    """What is said to one request.

    `drips`: seconds between two bytes; `resets`: the connection is torn down; `meets`: who must be
    there before it is said.
    """

    body: Any
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    hangs: bool = False
    drips: float = 0.0
    resets: bool = False
    meets: threading.Barrier | None = None

    def bytes(self) -> bytes:
        return self.body.encode() if isinstance(self.body, str) else json.dumps(self.body).encode()


class Provider(ThreadingHTTPServer):
    """Says what it was told to, the last thing for ever; `by` decides by the request instead."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.replies: list[Reply] = []
        self.by: Callable[[dict[str, Any]], Reply] | None = None
        self.requests: list[dict[str, Any]] = []
        self.authorization = ""  # the header of the newest request
        self.path, self.headers = "", dict[str, str]()  # of the newest request
        self.closing = threading.Event()
        self.lock = threading.Lock()
        self.open = self.most_open = 0

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def reply(self, asked: dict[str, Any]) -> Reply:
        with self.lock:
            self.requests.append(asked)
            if self.by is not None:
                return self.by(asked)
            return self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no news."""


class Handler(BaseHTTPRequestHandler):
    server: Provider

    def do_POST(self) -> None:
        with self.server.lock:
            self.server.open += 1
            self.server.most_open = max(self.server.most_open, self.server.open)
        try:
            self._reply(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        finally:
            with self.server.lock:
                self.server.open -= 1

    def _reply(self, asked: dict[str, Any]) -> None:
        self.server.authorization = self.headers.get("authorization", "")
        self.server.path = self.path
        self.server.headers = {name.lower(): value for name, value in self.headers.items()}
        reply = self.server.reply(asked)
        if reply.meets:
            reply.meets.wait(10)
        if reply.hangs:
            self.server.closing.wait(10)
            return
        if reply.resets:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
            return
        body = reply.bytes()
        self.send_response(reply.status)
        headers = {
            "content-type": "application/json",
            "content-length": str(len(body)),
            **reply.headers,
        }
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if not reply.drips:
            self.wfile.write(body)
            return
        for i in range(len(body)):
            self.wfile.write(body[i : i + 1])
            self.wfile.flush()
            if self.server.closing.wait(reply.drips):
                return

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def serving() -> Iterator[Provider]:
    server = Provider()
    threading.Thread(
        target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
    ).start()
    try:
        yield server
    finally:
        server.closing.set()
        server.shutdown()
        server.server_close()


def completion(
    content: Any, *, finish: str = "stop", usage: Any = "honest", **message: Any
) -> Reply:
    honest = {
        "prompt_tokens": 120,
        "completion_tokens": 7,
        "total_tokens": 127,
        "prompt_tokens_details": {"cached_tokens": 100},
    }
    choice = {
        "index": 0,
        "finish_reason": finish,
        "message": {"role": "assistant", "content": content, **message},
    }
    body = {
        "id": "x",
        "object": "chat.completion",
        "created": 1,
        "model": "stub",
        "choices": [choice],
    }
    if usage is not None:
        body["usage"] = honest if usage == "honest" else usage
    return Reply(body)


def refusal(status: int, text: str, code: str = "", **headers: str) -> Reply:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply({"error": {"message": text, "type": "error", "code": code or None}}, status, named)


def calls(ledger: Ledger) -> int:
    """How often the ledger's run called a model, failed tries included."""
    if not ledger.path.exists():
        return 0
    with closing(sqlite3.connect(ledger.path)) as connection:
        return int(
            connection.execute(
                "select count(*) from calls where run = ?", (ledger.run,)
            ).fetchone()[0]
        )


def model(provider: Provider, ledger: Ledger, **how: Any) -> CachedModel:
    """The model behind the server as a run asks it: with the cache, and at its own prices."""
    given: dict[str, Any] = {
        "api_base": provider.address,
        "tries": 3,
        "first_wait": 0.01,
        "timeout": 20.0,
        "input_usd": 1.0,
        "output_usd": 2.0,
    }
    return CachedModel(LiteLLM("openai/stub", ProviderOptions(**{**given, **how}), ledger), ledger)


def request(prompt: str = "Summarise this.", most: int | None = 100) -> SummaryRequest:
    return SummaryRequest(purpose="summary", system="", write=lambda _: prompt, max_tokens=most)


def sent_to_provider(request: SummaryRequest) -> list[dict[str, Any]]:
    """The messages that a provider gets, which gives no answer."""
    sent: list[dict[str, Any]] = []

    def no_answer(*, messages: list[dict[str, Any]], **_: object) -> None:
        sent.extend(messages)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("litellm.completion", no_answer)
        patched.setenv("WORKBENCH_API_BASE", "http://127.0.0.1:9/v1")
        patched.setenv("WORKBENCH_TRIES", "1")
        with pytest.raises(ModelError, match="no choice"):
            find_model("litellm:openai/stub").complete(request)
    return sent
