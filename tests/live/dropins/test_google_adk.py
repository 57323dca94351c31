"""The plugin inside the Agent Development Kit's own runner, with Gemini's own client against a
server on this machine.
"""

from __future__ import annotations

import asyncio
import warnings
from pathlib import Path
from typing import Any

import pytest
from engine.models.provider import Reply

from workbench import SettingError, UnknownName

pytest.importorskip("google.adk")

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from google.adk.sessions.in_memory_session_service import InMemorySessionService
    from google.adk.sessions.sqlite_session_service import SqliteSessionService
    from google.genai import types
    from live.dropins.adk_agent import IDS, ask, made, words

from live.dropins.ordeal import NONE, TURNS, faults, ordeal, question
from live.dropins.server import answering, gemini, size

from workbench.live.dropins.google_adk import CompactionPlugin, _Contents

IDENTITY = ("reading", "someone", "chat", "reader")


def test_the_session_keeps_every_event_and_what_is_sent_stays_within_the_window() -> None:
    with answering(gemini) as provider:
        runner, compaction = made(provider.address, None, InMemorySessionService(), "summarize")
        events = asyncio.run(ask(runner, 20))
        assert len(events) == 80
        assert max(map(size, provider.requests)) <= 3_000
        live = compaction.compactor(*IDENTITY)
        types_of_events = [event.type for event in live.events]
        assert types_of_events.count("compaction_ended") >= 2
        assert {"rewound", "usage_ignored", "callback_failed"}.isdisjoint(types_of_events)
        assert abs(live.tokens - size(provider.requests[-1])) < 60  # usage is taken in


@pytest.mark.parametrize("preset", ["summarize", "pipeline"])
def test_a_hundred_turns_with_three_kills(tmp_path: Path, preset: str) -> None:
    sent = ordeal("adk_agent.py", str(tmp_path), preset, answer=gemini)
    assert len(sent) >= 2 * TURNS and faults(sent) == NONE
    service = SqliteSessionService(str(tmp_path / "sessions.db"))
    session = asyncio.run(service.get_session(**IDS))
    assert session is not None
    questions = [
        event.content.parts[0].text
        for event in session.events
        if event.author == "user" and event.content
    ]
    assert [*dict.fromkeys(questions)] == [question(number) for number in range(TURNS)]


def test_a_refused_request_goes_out_again_smaller_and_the_limit_is_learned() -> None:
    def reply(asked: dict[str, Any]) -> Reply:
        if size(asked) <= 3_000:
            return gemini(asked)
        text = f"The input token count ({size(asked)}) exceeds the maximum number of tokens allowed"
        error = {"code": 400, "message": f"{text} (3000).", "status": "INVALID_ARGUMENT"}
        return Reply({"error": error}, 400)

    with answering(reply) as provider:
        runner, compaction = made(
            provider.address, None, InMemorySessionService(), "summarize", window=100_000
        )
        events = asyncio.run(ask(runner, 12))
        assert "The limit is 7011." in str(events[-1].content)
        assert sum(size(request) > 3_000 for request in provider.requests) == 1
        assert compaction.compactor(*IDENTITY).window == 3_000


def test_an_error_that_compaction_does_not_mend_reaches_the_agent() -> None:
    error = {"code": 403, "message": "no such key", "status": "PERMISSION_DENIED"}
    with answering(lambda _: Reply({"error": error}, 403)) as provider:
        runner, _ = made(provider.address, None, InMemorySessionService(), "summarize")
        with pytest.raises(Exception, match="no such key"):
            asyncio.run(ask(runner, 1))


def test_bytes_come_back_as_they_were_from_a_content_that_was_changed() -> None:
    picture = types.Blob(data=b"\x00\xff\x89PNG", mime_type="image/png")
    part = types.Part(inline_data=picture, thought_signature=b"\x00\xfe")
    contents = _Contents([types.Content(role="user", parts=[part, types.Part(text="words")])])
    (sent,) = contents.contents([{**contents.records[0]}])
    assert sent.parts is not None and sent.parts[0] == part


def test_two_sessions_do_not_meet() -> None:
    async def talk(runner: Any) -> None:
        async def session(id: str, first: int) -> None:
            await runner.session_service.create_session(
                app_name="reading", user_id="someone", session_id=id
            )
            for number in range(10):
                async for _ in runner.run_async(
                    user_id="someone", session_id=id, new_message=words(question(first + number))
                ):
                    pass

        await asyncio.gather(session("first", 0), session("second", 50))

    with answering(gemini) as provider:
        asyncio.run(talk(made(provider.address, None, InMemorySessionService(), "summarize")[0]))
        assert len(provider.requests) == 40
        for request in provider.requests:
            text = str(request["contents"])
            assert ("part 0?" in text) != ("part 50?" in text)


def test_what_a_compactor_refuses_is_refused_at_once() -> None:
    with pytest.raises(UnknownName, match="nonsense"):
        CompactionPlugin("nonsense")
    with pytest.raises(SettingError, match="model"):
        CompactionPlugin("summarize")
