"""How close a cue stands to names in lines: each part counts by its nearest place."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import called, result, said, told
from workbench.base.ragged import ranges
from workbench.engine.extraction.entities import Entity
from workbench.evaluation.metrics.exam import closeness
from workbench.evaluation.metrics.exam.closeness import Cues, ranks
from workbench.evaluation.metrics.exam.cues import Question
from workbench.evaluation.metrics.exam.history import ExamHistory
from workbench.evaluation.metrics.exam.lines import Lines
from workbench.evaluation.metrics.exam.vocabulary import Vocabulary

RELATED = 2

WORDS = ("harbour", "cutter", "buoy", "lantern", "quay")
LINES = st.lists(
    st.lists(st.sampled_from((*WORDS, "by", ".")), min_size=1, max_size=12), max_size=4
)
CUE = st.dictionaries(st.sampled_from(WORDS[:3]), st.floats(0.1, 3), min_size=1)
SIDES = st.dictionaries(st.sampled_from(WORDS[:3]), st.sampled_from((-RELATED, -1, 1, RELATED)))


def worth(
    lines: Lines,
    vocabulary: Vocabulary,
    row: int,
    cue: dict[str, float],
    sides: dict[str, int],
    behind_inside: bool,
) -> float:
    """The closeness of a cue to the name of one word at a row, from all pairs of places."""
    line = lines.segment_line[row]
    place = lines.segment_pos[row]
    total = 0.0
    for name, weight in cue.items():
        is_part = (lines.feature == vocabulary.features[name]) & (lines.feature_line == line)
        positions = lines.feature_pos[is_part].tolist()
        best = 0.0
        for position in positions:
            distance = abs(position - place)
            if distance == 0 or (not behind_inside and position > place and place in positions):
                continue
            value = weight / (1 + distance / 4.0)
            side = sides.get(name, 0) * (1 if position > place else -1)
            if side == -1:
                value *= 0.25
            if side == -RELATED and not lines.passive[line]:
                value = 0.0
            best = max(best, value)
        total += best
    return total


@given(LINES, CUE, SIDES, st.booleans())
def test_each_part_counts_by_its_nearest_place(
    words: list[list[str]], cue: dict[str, float], sides: dict[str, int], behind_inside: bool
) -> None:
    vocabulary = Vocabulary()
    lines = Lines([" ".join(line) for line in words], vocabulary)
    rows = np.arange(len(lines.segment))
    cues = Cues([cue], [sides], vocabulary)
    near = cues.near(lines, np.zeros_like(rows), rows, rows, behind_inside)
    expected = [worth(lines, vocabulary, row, cue, sides, behind_inside) for row in rows.tolist()]
    assert near.tolist() == pytest.approx(expected)


@given(st.lists(st.integers(0, 3)))
def test_a_rank_counts_the_earlier_rows_with_the_same_key(keys: list[int]) -> None:
    expected = [keys[:place].count(key) for place, key in enumerate(keys)]
    assert ranks(np.array(keys, dtype=np.int64)).tolist() == expected


def pairs_looked_at(entries: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many places with parts of a cue are compared where a line has so many entries."""
    report = ", ".join(
        f"src/part_{number % 30}.py has limit {1_000 + number % 40}" for number in range(entries)
    )
    messages = (
        said("mend it"),
        called("read", path="report"),
        result(report),
        told("src/part_3.py"),
    )
    names = [Entity("path", f"src/part_{number}.py") for number in range(30)]
    history = ExamHistory(messages, names)
    compared = 0

    def counted(starts: np.ndarray, sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        nonlocal compared
        compared += int(sizes.sum())
        return ranges(starts, sizes)

    with monkeypatch.context() as patched:
        patched.setattr(closeness, "ranges", counted)
        use = "src/part_3.py has limit 1003"
        Question(history, "src/part_3.py", use, report).look_alikes("path", history.before(3))
    return compared


def test_pairs_grow_as_a_line_does_and_have_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    few, more, most = (pairs_looked_at(n, monkeypatch) for n in (100, 400, 20_000))
    assert few > 0
    assert more < 5 * few
    assert most <= 100_000


def test_a_name_is_as_close_as_the_closest_of_its_places() -> None:
    evidence = "src/part_3.py has limit 1003"
    report = (
        evidence,
        "src/part_4.py is in another part of this long report, far away from any limit",
        "src/part_5.py is in another part of this long report, far away from any limit",
        "and then src/part_5.py has limit 1003",
    )
    messages = (
        said("mend it"),
        called("read", path="report"),
        result("\n".join(report)),
        told("src/part_3.py"),
    )
    names = [Entity("path", f"src/part_{number}.py") for number in (3, 4, 5)]
    history = ExamHistory(messages, names)
    question = Question(history, "src/part_3.py", "limit 1003 it is", evidence)
    assert question.look_alikes("path", history.before(3)) == ("src/part_4.py",)
