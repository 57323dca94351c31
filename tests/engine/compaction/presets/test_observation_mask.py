from engine.compaction.presets.situations import due, fired

from builders import conversation
from workbench import preset
from workbench.engine.transcript.message import ToolResult, plain_text

OBSERVATION_MASK = preset("observation_mask")


def test_it_is_due_at_every_request_beyond_a_hundred_messages_whatever_their_size() -> None:
    assert not due(OBSERVATION_MASK, 190_000, 200_000, messages=100)
    assert due(OBSERVATION_MASK, 1_000, 200_000, messages=101)


def test_results_older_than_the_last_hundred_messages_are_masked() -> None:
    messages = conversation(30)
    assert len(messages) == 180
    compaction, _ = fired(OBSERVATION_MASK, messages)
    for i, message in enumerate(compaction.after.messages):
        masked = isinstance(message, ToolResult) and plain_text(message) == "<MASKED>"
        assert masked == (isinstance(message, ToolResult) and i < 80)
        assert masked or message is messages[i]


def test_the_default_of_its_class_masks_all_but_the_last_five_messages() -> None:
    messages = conversation(2)
    compaction, _ = fired(preset("observation_mask", attention_window=5), messages, target=0)
    masked = [
        i
        for i, message in enumerate(compaction.after.messages)
        if plain_text(message) == "<MASKED>"
    ]
    assert masked == [
        i for i, message in enumerate(messages) if message.role == "tool" and i < len(messages) - 5
    ]


def test_it_does_not_stop_at_a_target_and_does_nothing_twice() -> None:
    compaction, _ = fired(OBSERVATION_MASK, conversation(30), target=10)
    assert compaction.outcome == "too_large"
    again, _ = fired(OBSERVATION_MASK, compaction.after.messages)
    assert again.outcome == "unchanged"
