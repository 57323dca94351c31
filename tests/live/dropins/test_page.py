"""The blocks of docs/drop-ins.md, word for word, against a server on this machine."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from engine.models.provider import Reply
from live.dropins.server import ROOT, answering, chat, gemini, responses

PAGE = (ROOT / "docs" / "drop-ins.md").read_text(encoding="utf-8")
QUESTION = "What are the limits?"
ANSWER = "The limits are as they were."


def langchain(space: dict[str, Any]) -> str:
    assert Path("chats.db").exists()
    return str(space["answer"]["messages"][-1].content)


def langgraph(space: dict[str, Any]) -> str:
    messages = {"messages": [{"role": "user", "content": QUESTION}]}
    config = {"configurable": {"thread_id": "chat-1"}}
    return str(space["agent"].invoke(messages, config)["messages"][-1].content)


def openai_agents(space: dict[str, Any]) -> str:
    assert Path("chats.db").exists()
    return str(space["answer"].final_output)


def pydantic_ai(space: dict[str, Any]) -> str:
    assert [*Path("chats").glob("*.journal")]
    return str(space["result"].output)


def google_adk(space: dict[str, Any]) -> str:
    from google.adk.runners import Runner
    from google.adk.sessions.in_memory_session_service import InMemorySessionService
    from google.genai import types

    async def talk() -> str:
        sessions = InMemorySessionService()
        runner = Runner(app=space["app"], session_service=sessions)
        await sessions.create_session(app_name="reading", user_id="me", session_id="chat-1")
        message = types.Content(role="user", parts=[types.Part(text=QUESTION)])
        run = runner.run_async(user_id="me", session_id="chat-1", new_message=message)
        events = [event async for event in run]
        return str(events[-1].content.parts[0].text)

    answer = asyncio.run(talk())
    assert [*Path("chats").glob("*.journal")]
    return answer


def inspect(space: dict[str, Any]) -> str:
    from inspect_ai import Task, eval
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelAPI

    async def quarter(api: ModelAPI, text: str) -> int:
        return len(text) // 4

    with pytest.MonkeyPatch.context() as patch:  # Inspect's own counter is fetched from a network
        patch.setattr(ModelAPI, "count_text_tokens", quarter)
        task = Task(dataset=[Sample(input=QUESTION)], solver=space["agent"], message_limit=6)
        (log,) = eval(task, model="openai-api/local/stub", log_dir="logs", display="none")
    assert log.samples
    answers = [message.text for message in log.samples[0].messages if message.role == "assistant"]
    return str(answers[0])


def litellm(space: dict[str, Any]) -> str:
    data = {
        "proxy_server_request": {"headers": {"x-workbench-conversation": "chat-1"}},
        "messages": [{"role": "user", "content": QUESTION}],
        "model": "stub",
    }
    hook = space["compaction"]
    asyncio.run(hook.async_pre_call_hook(None, None, data, "acompletion"))
    assert [*Path("chats").glob("*.journal")]
    return ANSWER


@pytest.mark.parametrize(
    ("mark", "needs", "answer", "said"),
    [
        ("langchain", "langgraph.checkpoint.sqlite", chat, langchain),
        ("langgraph", "langchain_openai", chat, langgraph),
        ("openai agents", "agents", responses, openai_agents),
        ("pydantic-ai", "pydantic_ai", chat, pydantic_ai),
        ("google adk", "google.adk", gemini, google_adk),
        ("inspect", "inspect_ai", chat, inspect),
        ("litellm", "litellm_proxy_extras", chat, litellm),
    ],
)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_it_runs(
    mark: str,
    needs: str,
    answer: Callable[[dict[str, Any]], Reply],
    said: Callable[[dict[str, Any]], str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip(needs)
    match = re.search(rf"<!-- {mark} -->\n```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert match is not None
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_API_KEY", "GOOGLE_API_KEY", "LOCAL_API_KEY"):
        monkeypatch.setenv(name, "none")
    monkeypatch.setenv("OPENAI_AGENTS_DISABLE_TRACING", "1")
    space: dict[str, Any] = {}
    with answering(answer) as provider:
        monkeypatch.setenv("OPENAI_BASE_URL", provider.address)
        monkeypatch.setenv("LOCAL_BASE_URL", provider.address)
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", provider.address.removesuffix("/v1"))
        exec(compile(match[1], "drop-ins.md", "exec"), space)
        assert said(space) == ANSWER
        if "+recall" in match[1]:
            assert "recall" in json.dumps(provider.requests[0]["tools"])
