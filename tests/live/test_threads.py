"""A request returns for the list that it was given, whatever other threads pass meanwhile."""

from __future__ import annotations

from threading import Event, Thread

import validators
from live.talk import Record, asked, openai
from live.two_conversations import mixture

from workbench import Compactor, Completion, SummaryRequest, find_model


class Waiting:
    """Writes its first summary only once it may."""

    name = "waiting"

    def __init__(self) -> None:
        self.started, self.may = Event(), Event()

    def complete(self, request: SummaryRequest, /) -> Completion:
        self.started.set()
        assert self.may.wait(10)
        return find_model("extractive").complete(request)


def test_a_conversation_that_another_thread_passes_while_a_model_writes_is_not_sent() -> None:
    model = Waiting()
    live = Compactor("summarize", model=model, window=3_000)
    talk = [*openai(30), asked("and the first?")]
    other = [asked("another conversation"), *openai(4)[1:], asked("and the second?")]
    sent: list[Record] = []

    def request() -> None:
        sent.extend(live.before_request(talk))

    thread = Thread(target=request, daemon=True)
    thread.start()
    assert model.started.wait(10)
    assert live.before_request(other)[-1] == other[-1]
    model.may.set()
    thread.join(10)
    assert sent[-1] == talk[-1]
    assert "another conversation" not in str(sent)
    assert validators.openai_chat(sent) == [] and live.tokens <= 3_000


def test_many_turns_of_two_conversations_are_never_mixed() -> None:
    handed_out = mixture("truncate")
    assert handed_out.requests > 200 and handed_out.wrong == 0
