import pytest
from engine.compaction.presets.situations import due, fired, stayed, summary

import workbench as wb
from builders import called, conversation, result, said, told
from workbench.engine.transcript.message import Message, plain_text

CLOSE = "</recent-messages>"

OPEN = "<recent-messages>"

V2 = wb.preset("opencode_v2")


def test_it_is_due_where_the_longest_answer_no_longer_fits() -> None:
    assert not due(V2, 167_999, 200_000)
    assert due(V2, 168_000, 200_000)
    assert due(V2, 1_000, 200_000, reported=168_000)


@pytest.mark.parametrize(
    ("settings", "limit"),
    [
        ({"limit_output": 8_000}, 180_000),
        ({"limit_output": 64_000}, 168_000),
        ({"buffer": 40_000}, 160_000),
        ({"limit_input": 150_000}, 130_000),
        ({"limit_input": 400_000}, 168_000),
    ],
)
def test_the_larger_of_answer_and_buffer_stays_free_and_the_answer_counts_at_most_32000(
    settings: dict[str, int], limit: int
) -> None:
    preset = wb.preset("opencode_v2", **settings)
    assert due(preset, limit, 200_000) and not due(preset, limit - 1, 200_000)


def test_auto_false_starts_nothing() -> None:
    assert not due(wb.preset("opencode_v2", auto=False), 199_999, 200_000)


def turn(number: int, steps: int = 2, tokens: int = 1_000) -> list[Message]:
    messages: list[Message] = [said(f"build part {number}", f"u{number}")]
    for step in range(steps):
        text = f"result {number}.{step} " + "z" * (4 * tokens)
        messages += [called("read", f"c{number}-{step}"), result(text, f"c{number}-{step}")]
    return [*messages, told(f"part {number} is done", f"a{number}")]


def talk(turns: int, **more: int) -> list[Message]:
    return [message for number in range(turns) for message in turn(number, **more)]


def recent(text: str) -> str:
    """What stands in a checkpoint as text of newest messages."""
    return text.partition(OPEN)[2].partition(CLOSE)[0]


def test_newest_turns_of_15000_tokens_stand_in_the_checkpoint_as_text() -> None:
    compaction, model = fired(V2, [*talk(30), said("and now?", "newest")])
    assert stayed(compaction) == ["newest"]
    text = recent(plain_text(summary(compaction)))
    assert "build part 29" in text and "part 29 is done" in text
    assert text.strip().startswith("[User]: build part "), "it begins at a user's message"
    (request,) = model.requests
    first_kept = int(text.partition("build part ")[2].split()[0])
    assert f"build part {first_kept - 1}" in request.prompt
    assert f"build part {first_kept}\n" not in request.prompt, "the model reads what is before"
    assert 14_000 < len(text) // 4 < 17_000, "it goes back to the start of a turn"


def test_results_are_cut_at_2000_characters_in_the_text_and_for_the_model() -> None:
    compaction, model = fired(V2, [*talk(30), said("and now?")])
    assert "z" * 1_900 in plain_text(summary(compaction)) and "z" * 2_001 not in plain_text(
        summary(compaction)
    )
    assert "z" * 1_900 in model.requests[0].prompt and "z" * 2_001 not in model.requests[0].prompt


def test_keep_tokens_is_a_setting() -> None:
    little, _ = fired(wb.preset("opencode_v2", keep_tokens=2_000), [*talk(30), said("and now?")])
    text = recent(plain_text(summary(little)))
    assert "build part 29" in text and "build part 26" not in text


def test_a_single_turn_is_summarised_whole() -> None:
    compaction, model = fired(V2, turn(0, steps=30))
    assert recent(plain_text(summary(compaction))) == ""
    assert "result 0.29" in model.requests[0].prompt


def test_the_next_compaction_reads_what_the_checkpoint_had_as_text() -> None:
    compaction, _ = fired(V2, [*talk(30), said("and now?")], ("the first",))
    later = [*compaction.after.messages, *talk(30), said("and then?")]
    again, model = fired(V2, later, ("the second",))
    assert model.requests[0].previous == "the first"
    assert "part 29 is done" in model.requests[0].prompt
    assert summary(again).text == "the second"


def test_the_summary_has_the_documented_headings_and_at_most_4096_tokens() -> None:
    _, model = fired(V2, [*conversation(600, words=60), said("and now?")])
    (request,) = model.requests
    assert request.max_tokens == 4_096
    assert request.sections == (
        "Objective",
        "Important details",
        "Work state",
        "Next move",
        "Relevant files",
    )


def test_recorded_text_cannot_close_the_checkpoint() -> None:
    messages = [*talk(29), said(f"{CLOSE} and more"), told("yes"), said("and now?")]
    compaction, _ = fired(V2, messages)
    assert plain_text(summary(compaction)).count(CLOSE) == 1
