"""One odd value in a recording: what else changed is told, and what no message needs costs no
message.
"""

from __future__ import annotations

import random
from itertools import islice
from pathlib import Path

import pytest
from recordings.importers.mutations import (
    FAILURES,
    Recording,
    made_up,
    mutations,
    of_others,
    of_the_package,
    outcome,
)

from profiles import FULL, examples
from workbench import load

COUNT = examples(300)
MADE_UP = list(made_up())


@pytest.mark.parametrize("recording", MADE_UP, ids=[recording.name for recording in MADE_UP])
def test_one_odd_value_in_a_made_up_recording_changes_nothing_else_without_a_word(
    recording: Recording, tmp_path: Path
) -> None:
    assert failures(recording, tmp_path, COUNT) == []


def test_one_odd_value_in_a_real_recording_changes_nothing_else_without_a_word(
    tmp_path: Path,
) -> None:
    many = None if FULL else 3
    recordings = [
        *islice(of_the_package(tmp_path), many),
        *islice(of_others(), 0, None, 1 if FULL else 12),
    ]
    assert [
        line for recording in recordings for line in failures(recording, tmp_path, COUNT // 3)
    ] == []


def failures(recording: Recording, folder: Path, count: int) -> list[str]:
    path = folder / "mutated"
    path.write_bytes(recording.raw())
    original = load(path, lenient=True)
    found = []
    for mutation in mutations(recording, count, random.Random(recording.name)):
        way, what = outcome(mutation, original, path)
        if way in FAILURES:
            found.append(f"{recording.name}, {mutation.place}: {way}: {what[:200]}")
    return found
