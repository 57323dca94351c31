"""A request that sends the conversation itself reaches each kind of model whole and in valid pairs."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from engine.models.provider import Provider, completion, sent_to_provider
from engine.models.provider import model as cached

from builders import called, conversation, result, rules, said, told
from workbench import (
    AnswerAwaited,
    Completion,
    ModelError,
    Summary,
    SummaryRequest,
    find_model,
)
from workbench.engine.compaction.stages import Summarize
from workbench.engine.models.ledger import Ledger
from workbench.engine.models.plain_text import request_key
from workbench.engine.models.splitting import SplittingModel
from workbench.engine.transcript.message import Message

HISTORY: tuple[Message, ...] = (rules("be good"), *conversation(6))


def request(messages: tuple[Message, ...] = HISTORY) -> SummaryRequest:
    return SummaryRequest(
        purpose="summary",
        system="You write summaries.",
        write=replace(Summarize().prompt, request="conversation"),
        messages=messages,
        max_tokens=300,
        conversation=messages,
        is_agents_own=True,
    )


def test_the_conversation_comes_first_and_the_question_last() -> None:
    messages = sent_to_provider(request())
    assert messages[0] == {"role": "system", "content": "be good"}
    assert len(messages) == len(HISTORY) + 1
    assert messages[-1] == {"role": "user", "content": request().prompt}
    assert "<conversation>" not in request().prompt, "nothing is said twice"


def test_without_a_system_prompt_of_the_agent_the_summarisers_own_is_sent() -> None:
    messages = sent_to_provider(request(HISTORY[1:]))
    assert messages[0] == {"role": "system", "content": "You write summaries."}


def test_results_follow_their_calls_and_what_has_no_partner_is_left_out() -> None:
    messages: tuple[Message, ...] = (
        called("read", "c1", text="I look", path="a.py"),
        said("and hurry"),
        result("late", "c1"),
        result("nobody called", "c9"),
        told("", "a1", thought="hm"),
        called("read", "c2"),
    )
    _, *chat, _ = sent_to_provider(request(messages))
    assert [message["role"] for message in chat] == ["assistant", "tool", "user"]
    assert chat[0]["content"] == "I look"
    assert chat[1] == {"role": "tool", "content": "late", "tool_call_id": "c1"}


def test_an_earlier_summary_is_said_by_whom_it_was_sent() -> None:
    summary = Summary(id="s", text="old", lead="[lead] ", said_by="assistant")
    _, *chat, _ = sent_to_provider(request((summary,)))
    assert chat == [{"role": "assistant", "content": "[lead] old"}]


def test_a_provider_is_sent_the_messages_and_the_tools_that_they_called(
    provider: Provider, tmp_path: Path
) -> None:
    provider.replies = [completion("the summary")]
    answer = cached(provider, Ledger(tmp_path / "answers.sqlite", run="r")).complete(request())
    assert answer.text == "the summary"
    (body,) = provider.requests
    roles = [message["role"] for message in body["messages"]]
    assert roles[:4] == ["system", "user", "assistant", "tool"] and roles[-1] == "user"
    assert [tool["function"]["name"] for tool in body["tools"]] == ["read"]
    assert body["tool_choice"] == "none"


def test_another_conversation_is_another_question(provider: Provider, tmp_path: Path) -> None:
    provider.replies = [completion("the summary")]
    model = cached(provider, Ledger(tmp_path / "answers.sqlite", run="r"))
    model.complete(request())
    model.complete(request())
    model.complete(request((*HISTORY, said("one more"))))
    assert len(provider.requests) == 2
    assert request_key(request()) != request_key(request((*HISTORY, said("one more"))))
    assert request_key(request()) != request_key(request().as_transcript())


def test_a_program_and_a_folder_get_it_as_text(tmp_path: Path) -> None:
    echo = find_model(f"command:{sys.executable} -c 'import sys; print(sys.stdin.read()[:16])'")
    assert echo.complete(request()).text == "[system]\nbe good"
    with pytest.raises(AnswerAwaited):
        find_model(f"folder:{tmp_path}").complete(request())
    (path,) = tmp_path.glob("*.request.txt")
    _, _, text = path.read_text().partition("\n---\n")
    assert text.startswith("[system]\nbe good") and "word_0-0_3" in text
    assert text.rstrip().endswith("what is longer is cut off.")


def test_the_rule_that_reads_messages_writes_the_same_summary() -> None:
    assert find_model("extractive").complete(request()) == find_model("extractive").complete(
        request().as_transcript()
    )


@dataclass
class Small:
    """A model that refuses a conversation, and says whether it was asked about one."""

    takes: int | None = None
    conversations: list[int] = field(default_factory=list)
    name: str = "small"

    def window(self, request: SummaryRequest, /) -> int | None:
        return self.takes

    def complete(self, request: SummaryRequest, /) -> Completion:
        self.conversations.append(len(request.conversation))
        if request.conversation:
            raise ModelError("too long", overflow=True)
        return Completion(text="from a transcript", model="small")


@pytest.mark.parametrize(("takes", "asked"), [(None, [31, 0]), (100_000, [31, 0])])
def test_a_model_that_refuses_the_conversation_gets_a_transcript(
    takes: int | None, asked: list[int]
) -> None:
    assert len(HISTORY) == 31 + 6
    model = Small(takes)
    summary_request = replace(request(), conversation=HISTORY[:31])
    assert SplittingModel(model).complete(summary_request).text == "from a transcript"
    assert model.conversations == asked


def test_a_model_that_the_conversation_does_not_fit_is_not_asked_about_it() -> None:
    model = Small(takes=2_500)
    large = (*HISTORY, said("word " * 3_000))
    summary_request = replace(request(large), messages=HISTORY)
    assert SplittingModel(model).complete(summary_request).text == "from a transcript"
    assert set(model.conversations) == {0}
