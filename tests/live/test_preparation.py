"""`prepare` and a hook say what a compaction would do, before a model is asked."""

from __future__ import annotations

import pytest
from live.talk import Record, openai
from live.zoo import Writer
from preset_names import preset_names

import workbench as wb
from workbench import CompactionRefused, Due

SUMMARISING = ["summarize", "opal", "operator_use", "docker_agent", "pi", "claude_code"]


def begun(
    preset: str, turns: int = 30, hooks: wb.Hooks | None = None
) -> tuple[wb.Compactor, Writer, list[Record]]:
    writer = Writer()
    live = wb.Compactor(preset, model=writer, window=100_000, hooks=hooks or wb.Hooks())
    history = openai(turns, words=300)
    live.before_request(history)
    live.after_turn()
    return live, writer, history


@pytest.mark.parametrize("preset", SUMMARISING)
def test_what_is_told_is_what_is_done_and_nothing_changes_before(preset: str) -> None:
    live, writer, history = begun(preset)
    preparation = live.prepare(keep_recent=4_000)
    assert (
        preparation is not None
        and preparation.is_summarised
        and preparation.goes
        and preparation.tokens_before > 4_000
    )
    assert writer.asked == 0 and live.before_request(history) == history
    live.after_turn()
    live.compact(keep_recent=4_000)
    sent = live.before_request(history)
    gone = tuple(index for index, message in enumerate(history) if message not in sent)
    assert gone == preparation.goes
    if preparation.first_kept is not None:
        assert (
            history[preparation.first_kept] in sent
            and preparation.first_kept == max(preparation.goes) + 1
        )


def test_an_earlier_summary_and_the_files_are_told() -> None:
    live, _, history = begun("opal")
    live.compact(keep_recent=4_000)
    preparation = live.prepare(keep_recent=200, messages=history)
    assert preparation is not None and "## Goal" in preparation.previous_summary
    assert "src/part_0/file_0.py" in preparation.files.read


@pytest.mark.parametrize(
    "preset", [name for name in preset_names() if name not in ("none", "null")]
)
def test_every_preset_tells_its_plan_or_that_there_is_none(preset: str) -> None:
    live, writer, history = begun(preset, turns=4)
    preparation = live.prepare()
    assert preparation is None or set(preparation.goes) <= set(range(len(history)))
    assert writer.asked == 0


def test_a_hook_that_writes_the_summary_sees_what_goes() -> None:
    seen: list[Due] = []

    def before(due: Due) -> wb.Supply:
        seen.append(due)
        assert due.preparation is not None
        return wb.Supply(f"{len(due.preparation.goes)} messages went")

    live, writer, history = begun("docker_agent", hooks=wb.Hooks(before=before))
    live.compact(keep_recent=4_000)
    (due,) = seen
    assert due.preparation is not None and writer.asked == 0
    assert f"{len(due.preparation.goes)} messages went" in str(live.before_request(history))


def test_it_is_refused_where_a_compaction_by_hand_is() -> None:
    live, _, history = begun("operator_use")
    live.before_request([*history, {"role": "user", "content": "go on"}])
    with pytest.raises(CompactionRefused):
        live.prepare()
