"""A hundred turns of an agent in a process of its own, which is killed at three places and begun
anew; and what was wrong with its requests.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.models.provider import Reply
from live.dropins.server import ROOT, answering, chat, size

TURNS = 100
KILLS = (37, 102, 171)
"""The requests during which the agent is killed: one asks for an answer, the others for a call."""
WINDOW = 2_000


@dataclass(frozen=True)
class Faults:
    """What must not be.

    Attributes:
        over_window: requests larger than the window.
        broken_pairs: calls without a result, and results without a call.
        lost_questions: turns whose newest request does not hold the question.
    """

    over_window: int
    broken_pairs: int
    lost_questions: int


NONE = Faults(0, 0, 0)


def ordeal(
    script: str,
    *given: str,
    kills: Sequence[int] = KILLS,
    answer: Callable[[dict[str, Any]], Reply] = chat,
    environment: dict[str, str] | None = None,
) -> list[dict[str, Any]]:
    """What the agent of a script sends, `script URL ...GIVEN TURNS`."""
    agents: list[subprocess.Popen[bytes]] = []

    def reply(asked: dict[str, Any]) -> Reply:
        if len(provider.requests) in kills:
            agents[-1].kill()
        return answer(asked)

    with answering(reply) as provider:
        command = [sys.executable, str(Path(__file__).parent / script), provider.address]
        command += [*given, str(TURNS)]
        variables = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}", **(environment or {})}
        for end in [-signal.SIGKILL] * len(kills) + [0]:
            agents.append(subprocess.Popen(command, env=variables))
            assert agents[-1].wait(400) == end
        return provider.requests


def faults(requests: Sequence[dict[str, Any]], window: int = WINDOW) -> Faults:
    """What is wrong with requests in the form of OpenAI's APIs, of Gemini's or of Anthropic's."""
    answered = set()
    over_window = 0
    broken_pairs = 0
    for request in requests:
        over_window += size(request) > window
        broken_pairs += _broken_pairs(request)
        newest = _questions(request)[-1:]
        answered.update(newest)
    questions = {question(number) for number in range(TURNS)}
    return Faults(over_window, broken_pairs, len(questions - answered))


def question(number: int) -> str:
    """What the person asks."""
    return f"What is the limit in part {number}?"


def _questions(request: dict[str, Any]) -> list[str]:
    """The person's questions that a request holds word for word."""
    questions = []
    for message in _messages(request):
        for text in _texts(message):
            if message.get("role") == "user" and text.startswith("What is the limit in part "):
                questions.append(text)
    return questions


def _messages(request: dict[str, Any]) -> list[dict[str, Any]]:
    """The conversation of a request, in any of the APIs."""
    messages = request.get("messages") or request.get("contents") or request.get("input")
    return list(messages or ())


def _texts(message: dict[str, Any]) -> list[str]:
    content = message.get("content", message.get("parts"))
    if isinstance(content, str):
        return [content]
    return [part["text"] for part in content or () if "text" in part]


def _broken_pairs(request: dict[str, Any]) -> int:
    """Calls and results that are not each other's neighbours."""
    waiting: set[str] = set()
    broken = 0
    for message in _messages(request):
        calls, results = _calls_and_results(message)
        if not results:
            broken += len(waiting)
            waiting = set()
        for result in results:
            broken += result not in waiting
            waiting.discard(result)
        waiting.update(calls)
    return broken + len(waiting)


def _calls_and_results(message: dict[str, Any]) -> tuple[list[str], list[str]]:
    """The ids of the calls in a message, and of the results."""
    calls = [call["id"] for call in message.get("tool_calls") or ()]
    results = [message["tool_call_id"]] if message.get("role") == "tool" else []
    if message.get("type") == "function_call":
        calls.append(message["call_id"])
    elif message.get("type") == "function_call_output":
        results.append(message["call_id"])
    content = message.get("content", message.get("parts"))
    for part in content if isinstance(content, list) else ():
        if part.get("type") == "tool_use":
            calls.append(part["id"])
        elif part.get("type") == "tool_result":
            results.append(part["tool_use_id"])
        elif "functionCall" in part:
            calls.append(part["functionCall"].get("id") or part["functionCall"]["name"])
        elif "functionResponse" in part:
            results.append(part["functionResponse"].get("id") or part["functionResponse"]["name"])
    return calls, results
