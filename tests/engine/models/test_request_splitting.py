from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pytest

from builders import said
from workbench import Completion, ModelError, SummaryRequest, preset
from workbench.engine.compaction.stages import Summarize
from workbench.engine.models.splitting import SplittingModel
from workbench.engine.models.tokenizer import TiktokenCounter
from workbench.engine.transcript.message import Message


@dataclass
class Small:
    """Takes so many tokens, remembers its prompts, and says which numbers it was shown, also in
    the summary so far.
    """

    takes: int | None
    says: Callable[[str], str] = lambda prompt: " ".join(
        word for word in prompt.split() if word.startswith("fact-")
    )
    refuses_over: int = 10**9
    states: int | None = None
    requests: list[SummaryRequest] = field(default_factory=list)
    name: str = "small"

    def window(self, request: SummaryRequest, /) -> int | None:
        return self.takes

    def complete(self, request: SummaryRequest, /) -> Completion:
        self.requests.append(request)
        if TiktokenCounter().count_text(request.prompt) > self.refuses_over:
            raise ModelError("too long", overflow=True, limit=self.states)
        return Completion(
            text=self.says(request.prompt),
            model="small",
            input_tokens=7,
            output_tokens=2,
            usd=0.5,
            seconds=1.0,
        )


def facts(count: int, words: int = 60) -> tuple[Message, ...]:
    return tuple(said(f"fact-{i} " + "more words " * words, id=f"u{i}") for i in range(count))


def request(
    messages: tuple[Message, ...], most: int | None = 300, **letter: object
) -> SummaryRequest:
    return SummaryRequest(
        purpose="summary", system="", write=Summarize().prompt, messages=messages, max_tokens=most
    )


def test_what_fits_is_asked_in_one_piece() -> None:
    inner = Small(100_000)
    answer = SplittingModel(inner).complete(request(facts(20)))
    assert len(inner.requests) == 1 and answer.method == ""


def test_a_model_of_unknown_size_is_asked_in_one_piece() -> None:
    inner = Small(None)
    SplittingModel(inner).complete(request(facts(200)))
    assert len(inner.requests) == 1


def test_what_one_prompt_would_leave_out_is_shown_in_parts() -> None:
    messages = facts(60)
    short = replace(request(messages), write=replace(Summarize().prompt, most_chars=4_000))
    inner = Small(1_500)
    answer = SplittingModel(inner).complete(short)
    assert short.left_out > 0
    assert answer.method.startswith("in ") and answer.left_out == 0
    assert all(
        any(f"fact-{i} " in summary_request.prompt for summary_request in inner.requests)
        for i in range(60)
    )


def test_what_does_not_fit_is_summarised_in_parts_and_nothing_is_left_out() -> None:
    inner = Small(4_000)
    answer = SplittingModel(inner).complete(request(facts(60)))
    assert len(inner.requests) > 2 and answer.method == f"in {len(inner.requests)} parts"
    assert {f"fact-{i}" for i in range(60)} <= set(answer.text.split())
    assert [m.id for summary_request in inner.requests for m in summary_request.messages] == [
        f"u{i}" for i in range(60)
    ]


@pytest.mark.parametrize("stated", [2_500, None])
def test_parts_are_below_a_limit_that_is_far_below_the_window(stated: int | None) -> None:
    inner = Small(100_000, refuses_over=2_500, states=stated)
    answer = SplittingModel(inner).complete(request(facts(60)))
    assert {f"fact-{i}" for i in range(60)} <= set(answer.text.split())
    sizes = [TiktokenCounter().count_text(request.prompt) for request in inner.requests]
    assert (len([size for size in sizes if size > 2_500]) == 1) == (stated is not None)


def test_where_the_quota_counts_the_answer_a_smaller_one_may_be_all_that_is_needed() -> None:
    @dataclass
    class Metered(Small):
        def complete(self, request: SummaryRequest, /) -> Completion:
            if (request.max_tokens or 0) > 8_000:
                raise ModelError("limit 20000, requested 21000", overflow=True, limit=20_000)
            return super().complete(request)

    inner = Metered(200_000)
    answer = SplittingModel(inner).complete(request(facts(60), most=16_000))
    assert answer.method == "bound lowered to fit a quota" and len(inner.requests) == 1


def test_a_prompt_that_fits_in_no_part_is_not_tried_in_smaller_ones() -> None:
    inner = Small(100_000, refuses_over=10, states=1_024)
    with pytest.raises(ModelError, match="too long"):
        SplittingModel(inner).complete(request(facts(200, words=2_000)))
    assert len(inner.requests) <= 2


def test_every_part_fits_with_its_answer() -> None:
    inner = Small(4_000)
    SplittingModel(inner).complete(request(facts(60)))
    assert all(
        TiktokenCounter().count_text(summary_request.prompt) + 300 < 4_000
        for summary_request in inner.requests
    )


def test_later_parts_carry_on_the_summary_so_far() -> None:
    inner = Small(4_000)
    SplittingModel(inner).complete(request(facts(60)))
    assert [summary_request.purpose for summary_request in inner.requests] == ["summary"] + [
        "update"
    ] * (len(inner.requests) - 1)
    assert "<previous-summary>\nfact-0 " in inner.requests[1].prompt


def test_the_costs_of_all_parts_are_told() -> None:
    inner = Small(4_000)
    answer = SplittingModel(inner).complete(request(facts(60)))
    n = len(inner.requests)
    assert (answer.usd, answer.input_tokens, answer.output_tokens, answer.seconds) == (
        n * 0.5,
        n * 7,
        n * 2,
        n * 1.0,
    )


def test_one_message_that_is_too_long_is_taken_apart_itself() -> None:
    long = said(" ".join(f"fact-{i} and something about it" for i in range(2_000)))
    inner = Small(12_000, says=lambda prompt: "seen")
    shown: list[str] = []
    inner.says = lambda prompt: shown.append(prompt) or "seen"  # type: ignore[func-returns-value]
    SplittingModel(inner).complete(request((long,)))
    words = {word for prompt in shown for word in prompt.split()}
    # a cut may go through a word
    assert len({f"fact-{i}" for i in range(2_000)} - words) <= len(shown)


def test_a_prompt_that_shows_an_earlier_summary_as_a_message_gets_the_summary_so_far() -> None:
    inner = Small(4_000)
    messages = facts(60)
    stages = preset("docker_agent").strategy.stages
    (prompt,) = [stage.prompt for stage in stages if isinstance(stage, Summarize)]
    summary_request = replace(request(messages), write=prompt)
    answer = SplittingModel(inner).complete(summary_request)
    assert len(inner.requests) > 1 and {f"fact-{i}" for i in range(60)} <= set(answer.text.split())


def test_a_prompt_that_cannot_be_taken_apart_is_an_overflow() -> None:
    plain = SummaryRequest(
        purpose="summary", system="", write=lambda _: "word " * 10_000, max_tokens=100
    )
    with pytest.raises(ModelError, match="cannot be split") as caught:
        SplittingModel(Small(4_000)).complete(plain)
    assert caught.value.overflow


def test_a_model_whose_tokens_are_smaller_than_thought_gets_smaller_parts() -> None:
    inner = Small(8_000, refuses_over=5_000)
    answer = SplittingModel(inner).complete(request(facts(40)))
    assert answer.method.startswith("in ") and {f"fact-{i}" for i in range(40)} <= set(
        answer.text.split()
    )


def test_an_answer_may_not_take_the_whole_window() -> None:
    inner = Small(4_000)
    answer = SplittingModel(inner).complete(request(facts(5), most=16_000))
    assert (
        inner.requests[0].max_tokens == 1_000 and answer.method == "bound lowered to fit the window"
    )


def test_an_empty_part_makes_an_empty_answer() -> None:
    inner = Small(4_000, says=lambda prompt: "")
    answer = SplittingModel(inner).complete(request(facts(60)))
    assert answer.text == "" and len(inner.requests) == 1
