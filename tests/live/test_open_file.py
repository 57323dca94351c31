"""A host that shows an open file before the newest question, as it is at each request."""

from __future__ import annotations

import pytest
from live.talk import Record, answered, asked, back, openai, used
from live.zoo import shows_an_open_file

from workbench import Compactor, find_model
from workbench.live.events import Rewound

QUESTION = asked("Q1. What does it do?")


def file_of(request: int) -> Record:
    return asked(f"<open_file>line {request}, {request * 37} more lines</open_file>")


def compactor(window: int = 100_000) -> Compactor:
    return Compactor("summarize", model=find_model("extractive"), window=window)


def steps(count: int) -> list[Record]:
    messages: list[Record] = []
    for step in range(count):
        messages += [used(f"call {step}"), back(f"call {step}", f"result {step} " * 40)]
    return messages


def test_each_request_has_the_file_as_it_is_now_before_the_question() -> None:
    live = compactor(4_000)
    for request in range(40):
        messages = shows_an_open_file([*openai(4), QUESTION, *steps(request)], request)
        sent = live.before_request(messages)
        files = [message for message in sent if "<open_file>" in str(message["content"])]
        assert files == [file_of(request)]
        assert QUESTION in sent
    assert len([event for event in live.events if event.type == "compaction_ended"]) > 1
    undone = [event.undone for event in live.events if isinstance(event, Rewound)]
    assert sum(undone) == 0


def test_it_is_counted() -> None:
    live = compactor()
    for request in range(3):
        live.before_request([*openai(2), file_of(request), QUESTION, *steps(request)])
    tokens = live.tokens
    longer = asked(file_of(3)["content"] + "more " * 4_000)
    live.before_request([*openai(2), longer, QUESTION, *steps(2)])
    assert live.tokens > tokens + 4_000


def test_a_retry_has_it_in_its_place() -> None:
    live = compactor()
    for request in range(3):
        passed = [*openai(6), file_of(request), QUESTION, *steps(request)]
        live.before_request(passed)
    retry = live.on_error("prompt is too long: 213462 tokens > 200000 maximum")
    assert retry is not None and len(retry.messages) < len(passed)
    place = retry.messages.index(QUESTION)
    assert retry.messages[place - 1] == file_of(2)


def test_it_is_known_after_a_save() -> None:
    live = compactor()
    for request in range(3):
        live.before_request([*openai(2), file_of(request), QUESTION, *steps(request)])
    resumed = Compactor.load(live.save(), model=find_model("extractive"))
    passed = [*openai(2), file_of(3), QUESTION, *steps(3)]
    assert resumed.before_request(passed) == passed
    assert not [event for event in resumed.events if isinstance(event, Rewound)]


@pytest.mark.parametrize("word", ["Now do it", "Look at part 1 again"])
def test_a_question_that_a_person_edits_is_no_file(word: str) -> None:
    live = compactor()
    live.before_request([asked("Now wait"), answered("Yes."), asked("And then?")])
    edited = [asked(word), answered("Done."), asked("And then?")]
    assert live.before_request(edited) == edited
    assert live.original == edited
