"""A LiteLLM proxy in a process of its own, before a provider on this machine, and an agent that
talks through it.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from secrets import token_hex
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from live.dropins.server import ROOT

CONFIG = """
model_list:
  - model_name: stub
    litellm_params: {{model: openai/stub, api_base: "{provider}", api_key: none}}
    model_info: {{max_input_tokens: {window}}}
  - model_name: claude-stub
    litellm_params: {{model: anthropic/claude-stub, api_base: "{anthropic}", api_key: none}}
    model_info: {{max_input_tokens: {window}}}
litellm_settings:
  callbacks: compacting.compaction
  num_retries: 0
"""
HOOK = """
from workbench.live.dropins.litellm import ProxyCompaction

compaction = ProxyCompaction("{preset}", folder="journals", model="extractive")
"""
TOOLS: list[dict[str, Any]] = [
    {
        "type": "function",
        "function": {
            "name": "read_part",
            "description": "Read a part.",
            "parameters": {"type": "object", "properties": {"part": {"type": "integer"}}},
        },
    }
]


class Proxy:
    """A proxy that may be killed and begun anew.

    Attributes:
        address: of its API.
    """

    def __init__(self, folder: Path, provider: str, preset: str, window: int) -> None:
        anthropic = provider.removesuffix("/v1")
        config = CONFIG.format(provider=provider, anthropic=anthropic, window=window)
        (folder / "config.yaml").write_text(config)
        (folder / "compacting.py").write_text(HOOK.format(preset=preset))
        with contextlib.closing(socket.socket()) as free:
            free.bind(("127.0.0.1", 0))
            self._port = free.getsockname()[1]
        self.address = f"http://127.0.0.1:{self._port}"
        self._folder = folder
        self._key = f"sk-{token_hex(32)}"
        self.begin()

    def begin(self) -> None:
        """Start the process, and wait until it answers."""
        command = [str(Path(sys.executable).parent / "litellm"), "--config", "config.yaml"]
        command += ["--host", "127.0.0.1", "--port", str(self._port), "--telemetry", "False"]
        variables = {**os.environ, "PYTHONPATH": f"{self._folder}:{ROOT}", "NO_PROXY": "127.0.0.1"}
        variables["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
        variables["LITELLM_MASTER_KEY"] = self._key
        with (self._folder / "proxy.log").open("ab") as log:
            self._process = subprocess.Popen(
                command, cwd=self._folder, env=variables, stdout=log, stderr=log
            )
        for _ in range(600):
            with contextlib.suppress(URLError, OSError):
                if urlopen(f"{self.address}/health/liveliness", timeout=5).status == 200:
                    return
            assert self._process.poll() is None, (self._folder / "proxy.log").read_text()[-3_000:]
            time.sleep(0.2)
        raise AssertionError((self._folder / "proxy.log").read_text()[-3_000:])

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def post(self, body: dict[str, Any], conversation: str, path: str) -> dict[str, Any]:
        """The answer to a request."""
        headers = {"content-type": "application/json", "authorization": f"Bearer {self._key}"}
        if conversation:
            headers["x-workbench-conversation"] = conversation
        if "messages" in path:
            headers["anthropic-version"] = "2023-06-01"
        request = Request(self.address + path, json.dumps(body).encode(), headers)
        with urlopen(request, timeout=60) as response:
            text = response.read().decode()
        if body.get("stream"):
            return {"stream": text}
        answer: dict[str, Any] = json.loads(text)
        return answer


class Caller:
    """An agent in a language that we have no drop-in for.

    Attributes:
        messages: its whole conversation.
    """

    def __init__(self, proxy: Proxy, conversation: str, **request: Any) -> None:
        self._proxy, self._conversation, self._request = proxy, conversation, request
        self.messages: list[dict[str, Any]] = [{"role": "system", "content": "Read each part."}]

    def ask(self, text: str) -> str:
        """The answer to a question, after a call of the tool."""
        self.messages.append({"role": "user", "content": text})
        while True:
            body = {"model": "stub", "messages": self.messages, "tools": TOOLS, **self._request}
            message = self._message(body)
            self.messages.append(message)
            if not message.get("tool_calls"):
                return str(message["content"])
            for call in message["tool_calls"]:
                part = json.loads(call["function"]["arguments"])["part"]
                result = {"role": "tool", "tool_call_id": call["id"], "content": part_of(part)}
                self.messages.append(result)

    def _message(self, body: dict[str, Any]) -> dict[str, Any]:
        """The model's answer; the request is sent again where the proxy was killed."""
        try:
            answer = self._proxy.post(body, self._conversation, "/v1/chat/completions")
        except HTTPError:
            raise
        except OSError:
            self._proxy.begin()
            answer = self._proxy.post(body, self._conversation, "/v1/chat/completions")
        message = answer["choices"][0]["message"]
        return {key: value for key, value in message.items() if value is not None}


def part_of(number: int) -> str:
    """What the tool says of a part."""
    lines = [f"part {number}, line {n}: nothing of note" for n in range(20)]
    return "\n".join([*lines, f"limit = {number + 7000}"])


class MessagesCaller:
    """The same in Anthropic's API.

    Attributes:
        messages: its whole conversation.
    """

    def __init__(self, proxy: Proxy, conversation: str) -> None:
        self._proxy, self._conversation = proxy, conversation
        self.messages: list[dict[str, Any]] = []

    def ask(self, text: str) -> str:
        """The answer to a question, after a call of the tool."""
        function = TOOLS[0]["function"]
        tool = {"name": function["name"], "input_schema": function["parameters"]}
        self.messages.append({"role": "user", "content": text})
        while True:
            body = {"model": "claude-stub", "max_tokens": 500, "messages": self.messages}
            body |= {"system": "Read each part.", "tools": [tool]}
            content = self._proxy.post(body, self._conversation, "/v1/messages")["content"]
            self.messages.append({"role": "assistant", "content": content})
            uses = [part for part in content if part["type"] == "tool_use"]
            if not uses:
                return str(content[0]["text"])
            results = []
            for use in uses:
                told = part_of(use["input"]["part"])
                result = {"type": "tool_result", "tool_use_id": use["id"], "content": told}
                results.append(result)
            self.messages.append({"role": "user", "content": results})


class ResponsesCaller:
    """The same in OpenAI's Responses API.

    Attributes:
        messages: its whole conversation, as items.
    """

    def __init__(self, proxy: Proxy, conversation: str) -> None:
        self._proxy, self._conversation = proxy, conversation
        self.messages: list[dict[str, Any]] = []

    def ask(self, text: str) -> str:
        """The answer to a question, after a call of the tool."""
        tool = {"type": "function", **TOOLS[0]["function"]}
        self.messages.append({"role": "user", "content": text})
        while True:
            body = {"model": "stub", "input": self.messages, "tools": [tool]}
            body["instructions"] = "Read each part."
            output = self._proxy.post(body, self._conversation, "/v1/responses")["output"]
            self.messages += output
            calls = [item for item in output if item["type"] == "function_call"]
            if not calls:
                return str(output[0]["content"][0]["text"])
            for call in calls:
                told = part_of(json.loads(call["arguments"])["part"])
                result = {"type": "function_call_output", "call_id": call["call_id"]}
                self.messages.append({**result, "output": told})
