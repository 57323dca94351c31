"""Which requests are made while an answer is awaited."""

from __future__ import annotations

from workbench import AnswerAwaited, Completion, SummaryRequest
from workbench.engine.models.tokenizer import TiktokenCounter
from workbench.engine.models.wrappers import AnsweringModel
from workbench.evaluation.experiment.requests_ahead import RequestsAhead


class AnswersLater:
    """A model that knows some answers and writes down what it is asked."""

    name = "folder:later"

    def __init__(self, *known: str) -> None:
        self.known, self.asked = known, list[str]()

    def complete(self, request: SummaryRequest, /) -> Completion:
        self.asked.append(request.prompt)
        if request.prompt not in self.known:
            raise AnswerAwaited("answers are awaited")
        return Completion(text="an answer", model=self.name)


def request(prompt: str) -> SummaryRequest:
    return SummaryRequest(purpose="summary", system="", write=lambda _: prompt, max_tokens=100)


def test_a_request_that_says_an_awaited_answer_is_not_made_and_others_are() -> None:
    model = AnswersLater("second")
    ahead = RequestsAhead(AnsweringModel(model))
    filler = ahead.complete(request("first")).text
    assert ahead.complete(request("second")).text == "an answer"
    ahead.complete(request(f"update {filler}"))
    ahead.complete(request("third"))
    assert model.asked == ["first", "second", "third"]
    assert len(ahead.awaited) == 2 and ahead.requests == 4


def test_in_a_chain_nothing_is_made_behind_an_awaited_answer() -> None:
    model = AnswersLater("first")
    ahead = RequestsAhead(AnsweringModel(model), chained=True)
    for prompt in ("first", "second", "third"):
        ahead.complete(request(prompt))
    assert model.asked == ["first", "second"]


def test_filler_is_about_as_long_as_the_answer_may_be() -> None:
    text = RequestsAhead(AnsweringModel(AnswersLater())).complete(request("first " * 1_000)).text
    assert 50 <= TiktokenCounter().count_text(text) <= 100
