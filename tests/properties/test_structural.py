"""S1 to S13: the structure of what is kept and sent, for every preset and every stage.

The rules of one compaction are checked on the engine's own messages; those of requests (S3, S5, S6,
and S4, S8, S11, S12 once more) through a `Compactor` and in the shapes of OpenAI chat, OpenAI
Responses, Anthropic and Gemini.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import pytest
import validators
from properties.chats import as_gemini, as_responses
from properties.holding import every_preset, every_subject, holds
from properties.requests import anthropic, openai, parts
from properties.steps import SUBJECTS, Words, steps

from builders import conversation, result, rules
from workbench import Budget, Context, compact
from workbench.engine.transcript.message import Message


@every_subject("S1")
def test_s1_every_result_answers_an_earlier_call_and_every_call_has_one_result(name: str) -> None:
    """A tool result stands behind the call that it answers, and each call has its result before
    anybody else speaks.

    Only a last call that was still waiting may go on waiting; what was broken before may stay
    broken.
    """
    holds("S1", name)


@every_subject("S2")
def test_s2_no_call_is_answered_twice_and_no_message_stands_twice(name: str) -> None:
    """One call id of one answer has one result, and a message's id is its own."""
    holds("S2", name)


@every_preset
def test_s3_results_stand_where_each_provider_wants_them(name: str) -> None:
    """OpenAI chat: tool messages directly behind their calls. Anthropic: results first in the next
    user's turn. Responses: outputs share their call's id, reasoning stays before what it led to.
    Gemini: as many responses as calls.
    """
    for lived in openai(name):
        for sent in lived.sent:
            assert validators.openai_chat(sent.request) == []
        assert validators.openai_responses(as_responses(lived.last)) == []
        assert validators.gemini(as_gemini(lived.last)) == []
    for lived in anthropic(name):
        for sent in lived.sent:
            assert validators.anthropic(sent.request) == []


def prompted_late(messages: Sequence[Message]) -> bool:
    """Whether somebody spoke before the system prompt: no provider takes that, and no preset may
    move it.
    """
    sent = [message.role for message in messages if message.role != "tool"]
    return "system" in sent[sent.count("system") :]


STRAY = result("lost " * 90, "nobody")
PROMPT = rules("be careful")
BEFORE_THE_PROMPT: dict[str, list[Message]] = {
    "a result that answers nothing": [STRAY, PROMPT],
    "two prompts": [STRAY, PROMPT, replace(PROMPT, id="s2")],
    "a run of results": [
        *(replace(STRAY, id=f"x{n}", call_id=f"no{n}", name="read") for n in range(4)),
        PROMPT,
    ],
}
"""Each was a counter-example: the summary took the place of what stood first, and so stood
before the prompt.
"""


@every_subject("S4")
@pytest.mark.parametrize("first", BEFORE_THE_PROMPT)
def test_s4_a_summary_of_what_stood_before_the_system_prompt_stands_behind_it(
    name: str, first: str
) -> None:
    """Whatever the budget: nobody speaks before the system prompt."""
    before = Context.of([*BEFORE_THE_PROMPT[first], *conversation(6, words=40)])
    for share in (0.1, 0.3, 0.6):
        budget = Budget(target=int(share * before.tokens), window=before.tokens, reason="matched")
        compaction = compact(before, SUBJECTS[name], budget, Words())
        assert not prompted_late(compaction.sent.messages)


@every_subject("S4")
def test_s4_the_system_prompt_is_first_and_byte_for_byte_the_same(name: str) -> None:
    """The pinned system messages that began the conversation begin it still, unchanged."""
    holds("S4", name)


@every_preset
def test_s4_the_host_gets_its_own_system_prompt_back_first(name: str) -> None:
    """Through a compactor the first message is the host's own object."""
    for lived in openai(name):
        if lived.messages[0]["role"] == "system":
            assert all(sent.request[0] is lived.messages[0] for sent in lived.sent)


@every_subject("S5")
def test_s5_no_conversation_is_made_to_begin_with_a_bare_result(name: str) -> None:
    """Behind the system prompt stands no tool result, unless one stood there before."""
    holds("S5", name)


@every_preset
def test_s5_a_request_begins_with_a_users_words(name: str) -> None:
    """Anthropic, Gemini and some templates want a user's turn first, and one that says
    something.
    """
    for lived in openai(name):
        for sent in lived.sent:
            assert as_gemini(sent.request)[0]["role"] == "user"
            assert "functionResponse" not in as_gemini(sent.request)[0]["parts"][0]
    for lived in anthropic(name):
        for sent in lived.sent:
            assert sent.request[0]["role"] == "user"
            assert all(part["type"] != "tool_result" for part in parts(sent.request[:1]))


@every_preset
def test_s6_roles_alternate_and_the_last_word_is_not_the_models(name: str) -> None:
    """Once neighbours of one role are merged, user and model take turns, no result is merged away
    from its place, and a request ends with a user or a tool.
    """
    for lived in openai(name):
        for sent in lived.sent:
            assert [turn["role"] for turn in as_gemini(sent.request)] == _turns(
                len(as_gemini(sent.request))
            )
            assert sent.request[-1]["role"] in ("user", "tool")
            # Two answers in a row would be merged, and the second one's calls would stand before
            # the first one's words.
            roles = [message["role"] for message in sent.request]
            heard = [message["role"] for message in lived.messages[: sent.heard]]
            if ("assistant", "assistant") not in pairwise(heard):
                assert ("assistant", "assistant") not in pairwise(roles)
    for lived in anthropic(name):
        assert all(sent.request[-1]["role"] == "user" for sent in lived.sent)


def _turns(n: int) -> list[str]:
    return ["user" if i % 2 == 0 else "model" for i in range(n)]


@every_subject("S7")
def test_s7_nothing_empty_is_written(name: str) -> None:
    """No message without content and no text of blanks that was not there before."""
    holds("S7", name)


@every_subject("S8")
def test_s8_thoughts_stay_as_they_were_or_go_altogether(name: str) -> None:
    """The thoughts of an answer are all kept, unchanged and in place, or all left out; those of a
    tool loop that is still open keep their seals as long as its calls stay. A host that changes its
    model drops the old model's itself.
    """
    holds("S8", name)


@every_preset
def test_s8_sealed_thoughts_are_sent_as_they_were_sealed(name: str) -> None:
    """Through a compactor each sealed thought is the host's own part, together with all others
    of its answer.
    """
    for lived in anthropic(name):
        turns = [t for m in lived.messages if m["role"] == "assistant" and (t := _thoughts(m))]
        for message in lived.last:
            if message["role"] == "assistant" and (now := _thoughts(message)):
                assert now in turns


def _thoughts(message: object) -> list[object]:
    return [part for part in parts([message]) if part["type"] in ("thinking", "redacted_thinking")]


@every_subject("S9")
def test_s9_parallel_calls_stay_or_go_together(name: str) -> None:
    """Of the calls that one answer made all stay or none."""
    holds("S9", name)


@every_subject("S10")
def test_s10_arguments_stay_json_objects(name: str) -> None:
    """However arguments are shortened, they are an object that can be written as JSON and read
    again.
    """
    holds("S10", name)


@every_subject("S11")
def test_s11_what_is_sealed_is_unchanged_or_gone(name: str) -> None:
    """What only its provider can read is byte for byte the same, or not there."""
    holds("S11", name)


@every_preset
def test_s11_what_only_the_provider_understands_is_sent_unchanged_or_not_at_all(name: str) -> None:
    """Server tools with their results, citations and redacted thoughts: the host's own, never
    one alone.
    """
    for lived in anthropic(name):
        own = [part for part in parts(lived.messages) if _is_opaque(part)]
        assert all(part in own for part in parts(lived.last) if _is_opaque(part))


def _is_opaque(part: object) -> bool:
    assert isinstance(part, dict)
    kind = part["type"]
    return (
        kind in ("server_tool_use", "web_search_tool_result", "redacted_thinking")
        or "citations" in part
    )


@every_subject("S12")
def test_s12_no_picture_appears_where_none_was(name: str) -> None:
    """A message shows no other and no more pictures than before, so that limits that held still
    hold.
    """
    holds("S12", name)


@every_preset
def test_s12_a_picture_is_sent_whole_or_named(name: str) -> None:
    """Through a compactor each picture that is sent is the host's own part."""
    for lived in openai(name):
        own = [part for part in parts(lived.messages) if part["type"] == "image_url"]
        assert all(part in own for part in parts(lived.last) if part["type"] != "text")


@every_subject("S13")
def test_s13_no_character_is_parted(name: str) -> None:
    """No cut leaves half of a surrogate pair, of a flag, of a joined emoji, or a mark without
    its letter.
    """
    holds("S13", name)


@pytest.mark.parametrize("name", list(SUBJECTS))
def test_no_stage_leaves_the_guard_anything_to_undo(name: str) -> None:
    """What the guard undoes would not show above: so no stage may break an invariant by itself
    either.
    """
    found = [(step.case, step.done.violations) for step in steps(name) if step.done.violations]
    assert found == []


@pytest.mark.parametrize("name", ["truncate", "pipeline", "summarize"])
def test_the_conversations_are_really_compacted(name: str) -> None:
    """The requests above are not valid because nothing happened to them."""
    assert all(
        len(lived.last) < len(lived.messages) for lived in openai(name) if len(lived.messages) > 20
    )
