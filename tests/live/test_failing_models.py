"""A summariser's failure is never success: its fallback is used and told, and its useless
answers are cut.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import pytest
from live.talk import Record, answered, asked, openai, without_fallback

import workbench as wb
from workbench import Compactor, Completion, Settings, SummaryRequest
from workbench.live.events import CompactionDropped, CompactionEnded

PRESETS = ("opal", "summarize", "pipeline", "pi", "claude_code")


def long_talk(turns: int) -> list[Record]:
    talk: list[Record] = []
    for turn in range(turns):
        talk += [asked(f"part {turn} " + "x y " * 1_000), answered("y z " * 1_000)]
    return talk


def ended(live: Compactor) -> list[CompactionEnded]:
    return [event for event in live.events if isinstance(event, CompactionEnded)]


@dataclass
class Small:
    """Takes prompts of so many characters, and refuses larger ones in its own words."""

    most_chars: int
    words: str
    prompts: list[str] = field(default_factory=list)
    name: str = "small"

    def complete(self, request: SummaryRequest, /) -> Completion:
        self.prompts.append(request.prompt)
        if len(request.prompt) > self.most_chars:
            raise ValueError(self.words)
        return Completion(text="The parts were read.", model=self.name)


class Raising:
    name = "raising"

    def __init__(self, error: Exception) -> None:
        self.error = error

    def complete(self, request: SummaryRequest, /) -> Completion:
        raise self.error


class Slow:
    name = "slow"
    asked = 0

    def complete(self, request: SummaryRequest, /) -> Completion:
        self.asked += 1
        time.sleep(5.0)
        return Completion(text="S", model=self.name)


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize(
    "error", [TimeoutError("read timed out"), ConnectionError("reset"), wb.ModelError("no answer")]
)
def test_whatever_a_model_raises_the_presets_fallback_is_used_and_told(
    preset: str, error: Exception
) -> None:
    live = Compactor(preset, model=Raising(error), window=60_000)
    live.before_request(long_talk(40))
    (event,) = ended(live)
    assert event.outcome == "compacted"
    assert str(error) in event.warning and "a note replaces the summary" in event.warning
    assert not [
        event for event in live.events if event.type in ("compaction_failed", "last_resort")
    ]


def test_a_summary_sets_no_warning() -> None:
    live = Compactor("summarize", model=Small(10**9, ""), window=60_000)
    live.before_request(long_talk(40))
    assert [event.warning for event in ended(live)] == [""]


@pytest.mark.parametrize(
    "words",
    [
        "prompt is too long: 90000 tokens > 20000 maximum",
        "the input is too long for this model",
        "Request too large for m on tokens per min (TPM): Limit 20000, Requested 90000",
        "This request would exceed the rate limit of 20,000 input tokens per minute.",
    ],
    ids=["a stated limit", "no limit", "a minute's quota", "a quota without a size"],
)
def test_a_summary_request_that_overflows_is_split(words: str) -> None:
    model = Small(80_000, words)
    live = Compactor("summarize", model=model, window=60_000)
    live.before_request(long_talk(40))
    (event,) = ended(live)
    (completion,) = [completion for stage in event.stages for completion in stage.completions]
    assert completion.method.startswith("in ") and event.warning == ""
    parts = [prompt for prompt in model.prompts if len(prompt) <= model.most_chars]
    assert all(any(f"part {turn} " in prompt for prompt in parts) for turn in range(20))


def test_a_model_that_says_it_in_an_error_of_ours_is_split_for_as_well() -> None:
    class Polite(Small):
        def complete(self, request: SummaryRequest, /) -> Completion:
            try:
                return super().complete(request)
            except ValueError as error:
                raise wb.ModelError(str(error)) from error

    live = Compactor("summarize", model=Polite(80_000, "prompt is too long"), window=60_000)
    live.before_request(long_talk(40))
    (event,) = ended(live)
    (completion,) = [completion for stage in event.stages for completion in stage.completions]
    assert completion.method.startswith("in ") and event.warning == ""


def test_one_compaction_waits_so_many_seconds_for_all_answers_together() -> None:
    model = Slow()
    live = Compactor("summarize", model=model, window=60_000, settings=Settings(model_seconds=0.1))
    started = time.monotonic()
    live.before_request(long_talk(40))
    assert time.monotonic() - started < 4.0 and model.asked == 1
    assert "no answer within 0.1 seconds" in ended(live)[0].warning


def test_a_model_is_given_up_in_time_for_the_rest_of_the_request(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waits: list[float] = []

    def given_up(seconds: float, call: object) -> Completion:
        waits.append(seconds)
        raise wb.ModelError("no answer came in time")

    monkeypatch.setattr("workbench.live.meter.within", given_up)
    live = Compactor("summarize", model=Slow(), window=60_000)
    live.before_request(long_talk(40))
    assert 55.0 < max(waits) <= 59.4


def test_a_model_is_waited_for_a_minute_at_most_unless_the_host_says_otherwise() -> None:
    assert Settings().model_seconds == 60.0


def test_a_prompt_that_cannot_be_written_is_no_failure_of_the_model(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def without_file(template: object, request: SummaryRequest) -> str:
        raise FileNotFoundError("prompts/sections.md")

    template = "workbench.engine.compaction.prompt_template.PromptTemplate.__call__"
    monkeypatch.setattr(template, without_file)
    model = Small(10**9, "")
    live = Compactor("summarize", model=model, window=60_000)
    live.before_request(long_talk(40))
    dropped = [event for event in live.events if isinstance(event, CompactionDropped)]
    assert ended(live) == [] and model.prompts == []
    assert "FileNotFoundError: prompts/sections.md" in dropped[0].why


def test_without_a_fallback_the_history_stays_as_it_was() -> None:
    settings = Settings(last_resort=False)
    live = Compactor(
        without_fallback("summarize"),
        model=Raising(OSError("down")),
        window=60_000,
        settings=settings,
    )
    talk = long_talk(40)
    assert live.before_request(talk) == talk
    assert [event.why for event in live.events if isinstance(event, CompactionDropped)] == [
        "OSError: down"
    ]


@pytest.mark.parametrize(
    "preset", ["opal", "operator_use", "summarize", "pi", "ddx_agent", "docker_agent"]
)
def test_an_answer_that_is_longer_than_what_it_replaces_is_cut_and_used(preset: str) -> None:
    class Wordy:
        name = "wordy"
        asked = 0

        def complete(self, request: SummaryRequest, /) -> Completion:
            self.asked += 1
            return Completion(text="word " * 50_000, model=self.name, usd=1.0)

    model = Wordy()
    live = Compactor(preset, model=model, window=64_000)
    talk: list[Record] = []
    for turn in range(80):
        talk.append(asked(f"u{turn} " + "x" * 1_500))
        assert len(live.before_request(talk)) <= len(talk)
        talk.append(answered("y" * 4_500))
        live.after_turn(talk)
    in_place = [event for event in ended(live) if event.outcome != "unchanged"]
    assert in_place and model.asked <= 2 * len(in_place)
    assert "word word" in str(live.before_request([*talk, asked("Go on.")]))


def test_openai_talk_is_compacted_by_a_note_only_where_the_model_fails() -> None:
    live = Compactor("summarize", model="extractive", window=3_000)
    live.before_request(openai(30))
    assert [event.warning for event in ended(live)] == [""]
