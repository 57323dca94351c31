"""An embedder's own model, trigger, hooks and tests need no name but those of `workbench`."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest
from house.embedder import (
    AboveTokens,
    FirstWords,
    compacted,
    compactions_of,
    largest_compaction,
    message_counts,
    messages_of,
    reason_not_to_load,
    recommended_strategy,
    talk,
)

import workbench as wb

WINDOW = 4_000


def test_a_model_and_a_trigger_of_ones_own_keep_an_agent_within_its_window() -> None:
    model = FirstWords()
    due: list[wb.Due] = []
    settings = wb.Settings(trigger=AboveTokens(WINDOW * 3 // 4))
    live = wb.Compactor(
        "summarize",
        model=model,
        window=WINDOW,
        settings=settings,
        hooks=wb.Hooks(before=due.append),
    )
    messages = talk(live, turns=40)
    compactions = compactions_of(live.log)
    assert len(compactions) == len(due) == len(model.requests) > 1
    assert len(messages_of(live.log)) == len(messages) - 1
    assert all(count > 2 for count in message_counts(due))


def test_a_scripted_model_says_in_a_test_what_a_real_one_would() -> None:
    model = wb.Scripted(["The parts have numbers.", wb.ModelError("it is down")])
    live = wb.Compactor("summarize", model=model, window=WINDOW)
    talk(live, turns=20)
    assert live.compact()
    assert model.requests[0].purpose == "summary"
    with pytest.raises(wb.ModelError, match="it is down"):
        model.complete(model.requests[0])
    with pytest.raises(wb.ModelError, match="only 2 answers"):
        model.complete(model.requests[0])


def test_what_compact_and_replay_return_has_a_name_to_write_down() -> None:
    session = wb.bundled()[0]
    replay = wb.replay(session, "truncate", window=WINDOW)
    assert isinstance(replay, wb.Replay) and largest_compaction(replay) > 0
    history = wb.Context.of(replay.events[0].compaction.before.messages)
    assert isinstance(compacted(history, FirstWords(), WINDOW), wb.Compaction)


def test_a_host_tells_a_damaged_file_from_one_that_is_no_recording(tmp_path: Path) -> None:
    session = wb.bundled()[0]
    recording = tmp_path / "session.jsonl"
    wb.save(session, recording)
    assert reason_not_to_load(recording) == ""
    damaged = tmp_path / "damaged.jsonl"
    damaged.write_bytes(recording.read_bytes()[:-40])
    assert reason_not_to_load(damaged).startswith("damaged: ")
    notes = tmp_path / "notes.txt"
    notes.write_text("nothing recorded\n")
    assert reason_not_to_load(notes).startswith("unknown: ")


def test_a_run_is_read_through_its_findings(tmp_path: Path) -> None:
    results = wb.compare(
        wb.bundled()[:2],
        strategies=["truncate", "null"],
        shares=[0.2],
        simulate=False,
        quiet=True,
        jobs=1,
        out=tmp_path,
    )
    assert isinstance(results, wb.Results)
    assert recommended_strategy(results)


def test_every_error_and_warning_of_the_package_is_in_the_face() -> None:
    errors = inspect.getmodule(wb.WorkbenchError)
    for name, kind in inspect.getmembers(errors, inspect.isclass):
        if issubclass(kind, Exception):
            assert getattr(wb, name) is kind, name


def test_what_a_public_function_returns_is_in_the_face() -> None:
    for name, function in inspect.getmembers(wb, inspect.isfunction):
        result = function.__annotations__["return"]
        result_name = getattr(result, "__name__", str(result)).partition(" |")[0]
        known = {*wb.__all__, "None", "Path", "DataFrame", "pd.DataFrame", "list"}
        assert result_name in known, f"{name} returns {result_name}"


def test_every_name_of_the_face_says_what_it_is() -> None:
    for name in wb.__all__:
        assert inspect.getdoc(getattr(wb, name)), name
