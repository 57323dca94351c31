import pytest
from engine.compaction.presets.situations import due, fired, stayed

import workbench as wb
from builders import called, conversation, result, said, told
from workbench.engine.transcript.message import Message

PRESETS = ("anthropic_on_demand", "anthropic_background", "anthropic_keep_turns")


@pytest.mark.parametrize("name", PRESETS)
def test_it_is_due_at_150000_tokens_or_three_quarters_of_a_smaller_window(name: str) -> None:
    preset = wb.preset(name)
    assert due(preset, 150_000, 1_000_000) and not due(preset, 149_999, 1_000_000)
    assert due(preset, 75_000, 100_000) and not due(preset, 74_999, 100_000)
    later = wb.preset(name, input_tokens=300_000)
    assert due(later, 300_000, 1_000_000) and not due(later, 299_999, 1_000_000)


@pytest.mark.parametrize("name", PRESETS)
def test_one_request_is_for_the_server_and_bound_to_4096_tokens(name: str) -> None:
    _, model = fired(wb.preset(name), [*conversation(400, words=60), said("and now?")])
    (request,) = model.requests
    assert request.server == "compact_on_demand" and request.max_tokens == 4_096
    assert request.sections == ("Task", "State", "Learnings", "Next steps")


def steps(turn: int, n: int) -> list[Message]:
    messages: list[Message] = [said(f"build part {turn}", f"u{turn}")]
    for step in range(n):
        id = f"{turn}-{step}"
        messages += [called("read", id), result("z" * 2_000, id)]
    return [*messages, told("done", f"a{turn}")]


def test_on_demand_everything_goes_but_the_newest_user_message() -> None:
    compaction, _ = fired(wb.preset("anthropic_on_demand"), [*steps(0, 9), *steps(1, 2)])
    assert stayed(compaction) == ["u1"]


def test_two_turns_are_kept_word_for_word() -> None:
    messages = [*steps(0, 9), *steps(1, 9), *steps(2, 2), *steps(3, 1)]
    compaction, _ = fired(wb.preset("anthropic_keep_turns"), messages)
    assert stayed(compaction) == [message.id for message in [*steps(2, 2), *steps(3, 1)]]


@pytest.mark.parametrize(("keep_turns", "first"), [(1, "u3"), (3, "u1")])
def test_how_many_turns_is_a_setting(keep_turns: int, first: str) -> None:
    messages = [*steps(0, 30), *steps(1, 4), *steps(2, 2), *steps(3, 1)]
    compaction, _ = fired(wb.preset("anthropic_keep_turns", keep_turns=keep_turns), messages)
    assert stayed(compaction)[0] == first


def test_within_one_long_turn_the_newest_steps_are_kept() -> None:
    compaction, _ = fired(wb.preset("anthropic_keep_turns"), steps(0, 30))
    kept = stayed(compaction)
    assert kept[0] == "u0" and kept[-1] == "a0" and 5 < len(kept) < 40


def test_in_the_background_the_newest_three_steps_came_meanwhile() -> None:
    compaction, model = fired(
        wb.preset("anthropic_background"), [*steps(0, 20), said("and?", "newest")]
    )
    kept = [id for id in stayed(compaction) if id != "newest"]
    assert kept == [message.id for message in steps(0, 20)[-5:]], "two calls and an answer"
    assert len(model.requests) == 1
    more, _ = fired(wb.preset("anthropic_background", steps_meanwhile=1), steps(0, 20))
    assert stayed(more) == ["u0", "a0"]


@pytest.mark.parametrize("service", ["compact_20260112", "responses_compact"])
def test_another_service_can_be_chosen(service: str) -> None:
    preset = wb.preset("anthropic_on_demand", service=service)
    compaction, model = fired(preset, [*conversation(40, words=60), said("and now?")])
    assert model.requests[0].server == service
    assert [completion.method for completion in compaction.completions] == [
        f"in the place of {service}"
    ]


def test_a_service_that_is_not_known_is_refused() -> None:
    with pytest.raises(wb.WorkbenchError, match="it must be one of 'compact_on_demand'"):
        wb.preset("anthropic_on_demand", service="compact")
