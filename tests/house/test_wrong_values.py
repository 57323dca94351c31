"""A value of a wrong kind is refused by each function of the face in a sentence of ours, never by an
error from inside.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import workbench as wb

NOWHERE = "nowhere/at/all"
WRONG: tuple[Any, ...] = (None, 3, math.nan, [], {}, NOWHERE, object())
"""Values of which none is a session, a run, a context or a strategy."""
NO_PATHS: tuple[Any, ...] = (3, math.nan, object())
"""Of them those that name no recordings: where nothing is named the bundled ones are taken."""
NO_FILES: tuple[Any, ...] = (None, 3, math.nan, [], {}, object())
"""Of them those that are no path."""


def session() -> wb.Session:
    """A session of one question."""
    return wb.Session.of([wb.UserMessage(id="m0", blocks=(wb.Text("What are the limits?"),))])


Call = Callable[[Any], object]
CALLS: dict[str, list[tuple[Call, tuple[Any, ...]]]] = {
    "advise": [(lambda value: wb.advise(value, quiet=True), NO_PATHS)],
    "bundled": [],
    "compact": [
        (lambda value: compacted(history=value), WRONG),
        (lambda value: compacted(strategy=value), WRONG),
        (lambda value: compacted(budget=value), WRONG),
    ],
    "compare": [(lambda value: wb.compare(value, quiet=True), NO_PATHS)],
    "composition": [(wb.composition, WRONG)],
    "exam": [
        (lambda value: wb.exam(value, 0), WRONG),
        (lambda value: wb.exam(session(), value), (None, math.nan, [], {}, NOWHERE, -1, 9_999)),
        (lambda value: wb.exam(session(), 0, value), WRONG[1:]),
    ],
    "explore": [(wb.explore, WRONG)],
    "find_model": [(wb.find_model, (*WRONG, wb.Scripted))],
    "judge_exam": [(lambda value: wb.judge_exam(value, model="extractive"), NO_PATHS)],
    "judge_losses": [(lambda value: wb.judge_losses(value, model=wb.Scripted([])), NO_FILES)],
    "learn": [(wb.learn, NO_PATHS)],
    "load": [(wb.load, WRONG)],
    "metric_input": [(lambda value: wb.metric_input(value, value), WRONG)],
    "prepared": [
        (wb.prepared, WRONG),
        (lambda value: wb.prepared(session(), value), (0, -5, math.nan, [], NOWHERE)),
    ],
    "preset": [(wb.preset, WRONG)],
    "render": [(wb.render, WRONG)],
    "replay": [
        (lambda value: wb.replay(value, "truncate"), WRONG),
        (lambda value: wb.replay(session(), value), WRONG),
        (lambda value: wb.replay(session(), "summarize", model=value), WRONG),
        (
            lambda value: wb.replay(session(), "truncate", model_settings=value),
            (3, math.nan, [], {}, NOWHERE, object()),
        ),
        (
            lambda value: wb.replay(session(), "truncate", by_hand=value),
            (None, 3, math.nan, NOWHERE, [math.nan], [99], object()),
        ),
    ],
    "save": [
        (lambda value: wb.save(value, "never-written.jsonl"), (None, 3, math.nan, NOWHERE, [3])),
        (lambda value: wb.save(session(), value), (*NO_FILES, NOWHERE)),
    ],
    "simulate": [(lambda value: wb.simulate(value, quiet=True), NO_PATHS)],
    "sweep": [(lambda value: wb.sweep(value, quiet=True), (*NO_FILES[:4], NOWHERE))],
    "sweep_table": [(wb.sweep_table, WRONG)],
    "trial": [(lambda value: wb.trial(families=value, quiet=True), NO_PATHS)],
    "with_recall": [(wb.with_recall, WRONG)],
}
"""By function of the face: a call with one value, and the wrong ones."""
CALLS_OF_CLASSES: dict[str, list[tuple[Call, tuple[Any, ...]]]] = {
    "Compactor": [
        (lambda value: wb.Compactor(value, window=64_000), WRONG),
        (lambda value: wb.Compactor("truncate", window=value), (0, -1, math.nan, [], NOWHERE)),
    ],
    "Findings.of": [(wb.Findings.of, WRONG)],
    "Report": [
        (wb.Report, WRONG),
        (wb.Report.open, WRONG),
    ],
    "Results.open": [(wb.Results.open, WRONG)],
}


def compacted(**wrong: Any) -> object:
    """A compaction with one value that is wrong."""
    strategy = wb.preset("truncate").strategy
    parts: dict[str, Any] = {
        "history": wb.Context.of(session().messages),
        "strategy": strategy,
        "budget": wb.Budget(target=10, window=100),
        "model": wb.find_model("extractive"),
    }
    return wb.compact(**(parts | wrong))


@pytest.mark.parametrize("name", [*CALLS, *CALLS_OF_CLASSES])
def test_a_wrong_value_is_refused_in_a_sentence(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for call, values in (CALLS | CALLS_OF_CLASSES)[name]:
        for value in values:
            with pytest.raises(wb.WorkbenchError) as error:
                call(value)
            assert len(str(error.value)) >= 20
    assert not list(tmp_path.glob("*.jsonl")), "nothing is written where something is wrong"


def test_each_function_of_the_face_is_called_here() -> None:
    functions = [name for name in wb.__all__ if inspect.isfunction(getattr(wb, name))]
    assert sorted(functions) == sorted(CALLS)
