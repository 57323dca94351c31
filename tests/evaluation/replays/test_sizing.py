"""Sizes on the provider's scale: what an answer held beyond its text is its own, not the
tokenizer's.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from builders import said, told
from workbench import AssistantMessage, Session, Text, find_model, preset
from workbench.engine.transcript.message import Message, Thinking, Usage, chars_per_token
from workbench.evaluation.replays.natural import natural
from workbench.evaluation.replays.sizing import Sizing

OVERHEAD = 12_000
SCALE = 1.25
TURNS = 30


def thought_of(turn: int) -> int:
    """The provider's tokens of the sealed thinking of an answer."""
    return 100 + 200 * (turn % 5)


def recording(*, counted_again: bool = True, sealed: bool = True, thinks: bool = True) -> Session:
    """A session whose provider counts by a known law.

    Args:
        counted_again: whether sealed thinking counts in later prompts too.
        sealed: whether the recording shows that there was thinking.
        thinks: whether there was any.
    """
    messages: list[Message] = []
    sent = 0.0
    for turn in range(TURNS):
        asked = said(f"word{turn} " * (200 + turn % 7 * 150), f"u{turn}")
        sent += SCALE * chars_per_token(asked)
        message = told(f"done{turn} " * 20, f"a{turn}")
        text_tokens = SCALE * chars_per_token(message)
        thought = thought_of(turn) if thinks else 0
        usage = Usage(input=round(OVERHEAD + sent), output=round(text_tokens + thought))
        blocks = message.blocks
        if sealed and thinks:
            blocks = (Thinking("", "seal"), *blocks)
        messages += [asked, replace(message, blocks=blocks, usage=usage)]
        sent += text_tokens
        if counted_again:
            sent += thought
    return Session.of(messages)


def sized(session: Session) -> Sizing:
    return Sizing.of(session, [*map(chars_per_token, session.messages)], chars_per_token)


def answer_of(session: Session, turn: int) -> AssistantMessage:
    answer = session.messages[2 * turn + 1]
    assert isinstance(answer, AssistantMessage)
    return answer


@pytest.mark.parametrize("sealed", [True, False], ids=["sealed", "not written down"])
def test_sealed_thinking_is_not_taken_for_the_tokenizer(sealed: bool) -> None:
    session = recording(sealed=sealed)
    sizing = sized(session)
    assert sizing.scale == pytest.approx(SCALE, rel=0.03)
    assert sizing.overhead == pytest.approx(OVERHEAD, rel=0.02)
    for turn in (4, 9, 29):
        question = session.messages[2 * turn]
        assert sizing.sizes[2 * turn] == pytest.approx(SCALE * chars_per_token(question), rel=0.04)
        usage = answer_of(session, turn).usage
        assert usage is not None
        assert sizing.sizes[2 * turn + 1] == pytest.approx(usage.output, rel=0.02)


def test_a_message_that_is_kept_has_the_same_size_wherever_it_is_counted() -> None:
    session = recording()
    sizing = sized(session)
    assert tuple(map(sizing.count, session.messages)) == sizing.sizes


def test_the_replay_without_compaction_sends_the_prompts_that_were_reported() -> None:
    session = recording()
    replay = natural(
        session, preset("none"), find_model("extractive"), sized(session), window=10**6
    )
    assert len(replay.steps) == TURNS
    for step in replay.steps[1:]:
        answer = session.messages[step.index]
        assert isinstance(answer, AssistantMessage)
        assert answer.usage is not None
        assert step.tokens_sent == pytest.approx(answer.usage.prompt, rel=0.01)


def test_thinking_that_a_provider_forgets_is_in_no_size() -> None:
    session = recording(counted_again=False)
    sizing = sized(session)
    assert not sizing.hidden
    assert sizing.scale == pytest.approx(SCALE, rel=0.01)
    assert sizing.text_sizes == sizing.sizes


def test_an_answer_without_thinking_has_the_size_of_its_text() -> None:
    session = recording(thinks=False)
    sizing = sized(session)
    assert not sizing.hidden
    for message, size in zip(session.messages, sizing.sizes, strict=True):
        assert size == pytest.approx(SCALE * chars_per_token(message), rel=0.03)


def test_a_new_message_has_the_size_of_its_text() -> None:
    sizing = sized(recording())
    summary = said("What was done so far. " * 50, "new")
    assert sizing.count(summary) == pytest.approx(SCALE * chars_per_token(summary), rel=0.03)


def test_an_answer_loses_its_hidden_part_with_its_thinking_and_not_with_its_words() -> None:
    session = recording()
    sizing = sized(session)
    answer = answer_of(session, 9)
    thought = thought_of(9)
    shorter = replace(answer, blocks=(answer.blocks[0], Text("done")))
    unthinking = replace(answer, blocks=answer.blocks[1:])
    assert sizing.count(shorter) == pytest.approx(
        thought + SCALE * chars_per_token(shorter), rel=0.03
    )
    assert sizing.count(unthinking) == pytest.approx(SCALE * chars_per_token(unthinking), rel=0.03)


def test_where_no_thinking_is_written_down_an_answer_keeps_its_hidden_part() -> None:
    session = recording(sealed=False)
    sizing = sized(session)
    shorter = replace(answer_of(session, 9), blocks=(Text("done"),))
    assert sizing.count(shorter) == pytest.approx(
        thought_of(9) + SCALE * chars_per_token(shorter), rel=0.03
    )


def test_a_transcript_of_an_answer_has_the_size_of_its_text() -> None:
    session = recording()
    sizing = sized(session)
    for message, size in zip(session.messages, sizing.text_sizes, strict=True):
        assert size == pytest.approx(SCALE * chars_per_token(message), rel=0.04)
