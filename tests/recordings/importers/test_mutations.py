"""One odd value in a recording: what else changed is told, and what no message needs costs no message."""

from __future__ import annotations

import random
from itertools import islice
from pathlib import Path

import pytest
from recordings.importers.mutations import FAILURES, Recording, made_up, mutations, of_others, of_the_package, outcome

from profiles import FULL, examples
from workbench.recordings.importers.importer import read

COUNT = examples(300)
MADE_UP = list(made_up())
STILL_SILENT = (
    "openhands, record 4: tool_call_metadata is gone",
    "corpora/context-evaluator/77e148b8-d479-4609-8980-471c85003c07.jsonl, record 54: type = 'progress' of another",
    "corpora/oh-my-posh/df0a6e5d-bba0-4488-b540-8f55f98b5b1b.jsonl, record 19: subtype = ",
    "corpora/pi-mono/before-compaction.jsonl, record 53: message.content.0.type = 'thinking' of another",
    "corpora/openhands/multi_swe_bench-output.jsonl, record 2: history.5.observation is gone",
    "corpora/langfuse/agno-2025-06-11.json, record 3: id = 'b38a82eaa62b551e' of another",
)
"""What every example finds and is not mended: mostly a kind that turns into another kind that there is."""


@pytest.mark.parametrize("recording", MADE_UP, ids=[one.name for one in MADE_UP])
def test_one_odd_value_in_a_made_up_recording_changes_nothing_else_without_a_word(
    recording: Recording, tmp_path: Path
) -> None:
    assert failures(recording, tmp_path, COUNT) == []


def test_one_odd_value_in_a_real_recording_changes_nothing_else_without_a_word(tmp_path: Path) -> None:
    many = None if FULL else 3
    recordings = [*islice(of_the_package(tmp_path), many), *islice(of_others(), 0, None, 1 if FULL else 12)]
    assert [line for one in recordings for line in failures(one, tmp_path, COUNT // 3)] == []


def failures(recording: Recording, folder: Path, count: int) -> list[str]:
    path = folder / "mutated"
    path.write_bytes(recording.raw())
    original = list(read(path, lenient=True))
    found = []
    for mutation in mutations(recording, count, random.Random(recording.name)):
        way, what = outcome(mutation, original, path)
        if way in FAILURES:
            found.append(f"{recording.name}, {mutation.place}: {way}: {what[:200]}")
    return [line for line in found if not line.startswith(STILL_SILENT)]
