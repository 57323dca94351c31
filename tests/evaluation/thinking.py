"""Recordings of agents that think between their calls, whose provider counts by a known law."""

from __future__ import annotations

from typing import Literal

from builders import result, said
from workbench import AssistantMessage, Session, ToolCall
from workbench.engine.models.tokenizer import TiktokenCounter
from workbench.engine.transcript.message import Message, Thinking, Usage

OVERHEAD = 12_000
SCALE = 1.25
TURNS = 8
REQUESTS_OF_TURN = 5
SentAgain = Literal["always", "in its turn", "never"]


def thinking_session(sent_again: SentAgain, *, shown: bool) -> Session:
    """A session of several turns with several requests each.

    Args:
        sent_again: how long thinking is part of later prompts.
        shown: whether the recording shows the thinking, or only the answers' reports count it.
    """
    count = TiktokenCounter()
    messages: list[Message] = []
    sent = 0.0
    sent_in_turn = 0.0
    for turn in range(TURNS):
        question = said(f"question {turn} " * (100 + turn % 3 * 80), f"u{turn}")
        messages.append(question)
        sent += SCALE * count(question)
        sent_in_turn = 0.0
        for number in range(REQUESTS_OF_TURN):
            name = f"{turn}-{number}"
            call = ToolCall(f"c{name}", "Read", {"path": f"file{name}.py"})
            thought = f"thought {name} " * (40 + number * 30)
            whole_answer = AssistantMessage(id=f"a{name}", blocks=(Thinking(thought), call))
            answer = AssistantMessage(id=f"a{name}", blocks=(call,))
            whole_tokens = SCALE * count(whole_answer)
            text_tokens = SCALE * count(answer)
            usage = Usage(input=round(OVERHEAD + sent + sent_in_turn), output=round(whole_tokens))
            recorded_blocks = whole_answer.blocks if shown else answer.blocks
            messages.append(AssistantMessage(id=f"a{name}", blocks=recorded_blocks, usage=usage))
            found = result(f"line {name} " * (60 + number * 20), call.id)
            messages.append(found)
            sent += text_tokens + SCALE * count(found)
            if sent_again == "always":
                sent += whole_tokens - text_tokens
            elif sent_again == "in its turn":
                sent_in_turn += whole_tokens - text_tokens
    return Session.of(messages)
