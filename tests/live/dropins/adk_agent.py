"""An agent of Google's ADK that asks its person's questions, and goes on where it was killed."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.models.google_llm import Gemini
from google.adk.runners import Runner
from google.adk.sessions.base_session_service import BaseSessionService
from google.adk.sessions.sqlite_session_service import SqliteSessionService
from google.genai import Client, types

from workbench.live.dropins.google_adk import CompactionPlugin

IDS = {"app_name": "reading", "user_id": "someone", "session_id": "chat"}


def read_part(part: int) -> str:
    """Read a part."""
    lines = [f"part {part}, line {n}: nothing of note" for n in range(20)]
    return "\n".join([*lines, f"limit = {part + 7000}"])


def made(
    url: str,
    folder: str | None,
    sessions: BaseSessionService,
    preset: str,
    window: int | None = 3_000,
    **given: Any,
) -> tuple[Runner, CompactionPlugin]:
    compaction = CompactionPlugin(preset, folder=folder, model="extractive", window=window, **given)
    options = types.HttpOptions(base_url=url.removesuffix("/v1"))
    model = Gemini(model="gemini-stub", client=Client(api_key="none", http_options=options))
    agent = LlmAgent(name="reader", model=model, instruction="Read each part.", tools=[read_part])
    app = App(name="reading", root_agent=agent, plugins=[compaction])
    return Runner(app=app, session_service=sessions), compaction


def words(text: str) -> types.Content:
    return types.Content(role="user", parts=[types.Part(text=text)])


async def ask(runner: Runner, parts: int) -> list[Any]:
    """The events after so many questions; one that was not answered is asked again."""
    sessions = runner.session_service
    session = await sessions.get_session(**IDS)
    if session is None:
        session = await sessions.create_session(**IDS)
    answered = sum(event.is_final_response() for event in session.events if event.author != "user")
    for part in range(answered, parts):
        message = words(f"What is the limit in part {part}?")
        async for _ in runner.run_async(user_id="someone", session_id="chat", new_message=message):
            pass
    session = await sessions.get_session(**IDS)
    assert session is not None
    return list(session.events)


if __name__ == "__main__":
    url, folder, preset, parts = sys.argv[1:]
    service = SqliteSessionService(f"{folder}/sessions.db")
    asyncio.run(ask(made(url, folder, service, preset, window=2_000)[0], int(parts)))
