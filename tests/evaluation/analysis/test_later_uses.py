"""How often an agent came back to what a message was the first to name."""

from __future__ import annotations

from collections.abc import Mapping

from builders import said
from workbench import AssistantMessage, Text
from workbench.engine.transcript.message import Message
from workbench.evaluation.analysis.later_uses import later_uses
from workbench.evaluation.metrics.index import Index


def answer(number: int, text: str) -> AssistantMessage:
    return AssistantMessage(id=f"a{number}", blocks=(Text(text),))


def uses(*messages: Message) -> Mapping[int, int]:
    return later_uses(messages, Index(messages))


def test_answers_that_name_what_a_message_named_first_come_back_to_it() -> None:
    found = uses(
        said("Please mend src/lamp.py and docs/hall.md", "u1"),
        answer(1, "I open src/lamp.py now."),
        said("Thanks, mind src/attic.py too", "u2"),
        answer(2, "src/lamp.py is mended, src/attic.py is next."),
    )
    assert found == {0: 2, 2: 1}


def test_what_only_the_user_names_again_is_no_use() -> None:
    assert uses(said("See src/lamp.py", "u1"), said("I mean src/lamp.py", "u2")) == {}
