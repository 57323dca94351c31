from collections.abc import Sequence

import pytest
from engine.compaction.presets.situations import fired

import workbench as wb
from builders import called, result, said, told
from workbench import SettingError
from workbench.engine.compaction.stages import BUILTIN, Scored
from workbench.engine.transcript.message import Message, plain_text


def talk(steps: int = 20, chars: int = 4_000) -> list[Message]:
    messages: list[Message] = [said("mend the parser", "u0")]
    for step in range(steps):
        messages += [called("read", f"c{step}"), result("z" * chars, f"c{step}")]
    return [*messages, told("done", "a0")]


def by_step(scores: dict[int, float], otherwise: float = 1.0) -> Scored:
    """A stage that scores the span of each step."""

    def score(span: Sequence[Message], newest: Sequence[Message]) -> float:
        first = span[0]
        if first.role != "assistant" or not first.calls:
            return 1.0
        return scores.get(int(first.calls[0].id.removeprefix("c")), otherwise)

    return Scored(score=score)


def after(stage: Scored, target: int, messages: list[Message] | None = None) -> list[Message]:
    preset = wb.Preset("mine", wb.Strategy("mine", (stage,)))
    compaction, _ = fired(preset, messages or talk(), target=target)
    return list(compaction.after.messages)


def results(messages: Sequence[Message]) -> dict[str, str]:
    """The text of each result that is left, by its call."""
    return {message.call_id: plain_text(message) for message in messages if message.role == "tool"}


def test_half_a_point_is_kept_and_less_becomes_300_characters() -> None:
    scores = dict.fromkeys(range(20), 0.49) | {3: 0.5}
    left = results(after(by_step(scores), target=10_000))
    assert left["c3"] == "z" * 4_000
    assert 200 < len(left["c4"]) <= 300
    assert len(left) == 20, "nothing is dropped"


def test_below_a_quarter_the_lowest_go_first_until_there_is_room() -> None:
    scores = dict.fromkeys(range(20), 0.3) | {5: 0.24, 6: 0.1, 7: 0.25}
    roomy = results(after(by_step(scores), target=10_000))
    assert {"c5", "c6", "c7"} <= roomy.keys(), "there is room when results are short"
    short = results(after(by_step(scores), target=6_300))
    assert "c6" not in short and {"c5", "c7"} <= short.keys()
    shortest = results(after(by_step(scores), target=1_000))
    assert not {"c5", "c6"} & shortest.keys() and "c7" in shortest


def test_the_newest_six_spans_and_what_a_person_said_last_stay() -> None:
    messages = after(by_step({}, otherwise=0.0), target=100)
    assert messages[0].id == "u0"
    left = results(messages)
    assert list(left) == [f"c{step}" for step in range(15, 20)], "five steps and the answer"
    assert set(left.values()) == {"z" * 4_000}


def test_where_it_saves_less_than_a_quarter_it_does_nothing() -> None:
    scores = {0: 0.0, 1: 0.0, 2: 0.0}
    assert after(by_step(scores), target=100) == talk()
    preset = wb.Preset("mine", wb.Strategy("mine", (by_step(scores), BUILTIN["truncate"]())))
    compaction, _ = fired(preset, talk(), target=5_000)
    assert [record.name for record in compaction.stages] == ["truncate"]


def test_no_call_is_parted_from_its_result() -> None:
    messages = after(by_step({}, otherwise=0.1), target=1_000)
    calls = [
        call.id for message in messages if message.role == "assistant" for call in message.calls
    ]
    assert calls == list(results(messages))


@pytest.mark.parametrize("score", [1.5, -0.1, float("nan"), "high", None])
def test_a_score_that_is_none_is_told_in_a_sentence(score: object) -> None:
    stage = Scored(score=lambda span, newest: score)  # type: ignore[arg-type, return-value]  # wrong on purpose
    with pytest.raises(SettingError, match="a number from 0 to 1 would be accepted"):
        after(stage, target=1_000)


def test_without_a_function_names_count_that_the_newest_messages_say_again() -> None:
    repeated_names = Scored().score
    newest = [told("now mend src/parser.py and bug #4711")]
    assert repeated_names([told("src/parser.py fails")], newest) == 1.0
    assert repeated_names([told("src/parser.py and src/other.py")], newest) == 0.5
    assert repeated_names([told("some words")], newest) == 0.0
    assert repeated_names([said("some words")], newest) == 1.0, "what a person said"


def test_the_preset_has_its_numbers_as_settings() -> None:
    preset = wb.preset("scored", keep=0.9, drop=0.5, result_chars=60, newest=2, least_saving=0.1)
    assert preset.strategy.stages[0] == Scored(
        keep=0.9, drop=0.5, result_chars=60, newest=2, least_saving=0.1
    )
