import json

import pytest
from preset_names import BUILTIN_PRESETS, VARIANTS

from builders import conversation, rules, said
from workbench import Budget, Context, Scripted, UnknownName, compact, preset
from workbench.cli import main

CONTEXT = Context.of([rules("be good"), *conversation(30, words=150)])


def sentences(capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    """What `workbench list strategies` says of each preset."""
    assert main(["list", "strategies", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    return {row["strategy"]: row["what it does"] for row in rows}


def test_every_preset_is_found_by_its_name_and_says_what_it_does(
    capsys: pytest.CaptureFixture[str],
) -> None:
    listed = sentences(capsys)
    assert list(listed) == [*BUILTIN_PRESETS, *VARIANTS]
    for name, sentence in listed.items():
        assert preset(name).name == preset(name).strategy.name == name
        assert sentence.endswith(".")


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(UnknownName, match="truncate"):
        preset("tuncrate")


@pytest.mark.parametrize("name", ["truncate", "summarize", "pipeline"])
@pytest.mark.parametrize("share", [0.03, 0.05, 0.1, 0.2, 0.4])
def test_small_targets_are_reached_and_used(name: str, share: float) -> None:
    target = int(share * CONTEXT.tokens)
    compaction = compact(
        CONTEXT,
        preset(name).strategy,
        Budget(target=target, window=99_999),
        Scripted(["word " * 40] * 2),
    )
    assert compaction.outcome == "compacted"
    assert not compaction.violations
    assert compaction.sent.tokens <= target


def test_the_pipeline_stops_as_soon_as_it_is_small_enough() -> None:
    model = Scripted(())
    target = int(0.5 * CONTEXT.tokens)
    compaction = compact(
        CONTEXT, preset("pipeline").strategy, Budget(target=target, window=99_999), model
    )
    assert [record.name for record in compaction.stages] == ["snip"]
    assert model.requests == []


def test_the_pipeline_keeps_the_first_message_and_the_last_six() -> None:
    messages = conversation(40, words=60)
    context = Context.of(messages)
    budget = Budget(target=int(0.15 * context.tokens), window=99_999)
    compaction = compact(context, preset("pipeline").strategy, budget, Scripted(["short"] * 2))
    assert compaction.after.messages[0] is messages[0]
    assert compaction.after.messages[-6:] == tuple(messages[-6:])


def test_a_model_that_writes_too_much_does_not_exceed_the_target() -> None:
    target = int(0.2 * CONTEXT.tokens)
    budget = Budget(target=target, window=99_999)
    compaction = compact(
        CONTEXT, preset("summarize").strategy, budget, Scripted(["word " * int(target * 0.7)] * 2)
    )
    assert compaction.outcome == "compacted"
    assert any(message.role == "summary" for message in compaction.after.messages), (
        "it is cut and not lost"
    )


def test_no_preset_asks_or_changes_anything_of_a_small_conversation() -> None:
    small = Context.of([said("hi")])
    for name in BUILTIN_PRESETS:
        assert (
            compact(
                small, preset(name).strategy, Budget(target=100, window=100), Scripted(())
            ).after
            is small
        )
