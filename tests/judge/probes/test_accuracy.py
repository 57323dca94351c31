import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from workbench.judge.probes.accuracy import accuracies, noise, splits
from workbench.judge.probes.answers import COLUMNS, NOTES, TABLE, ProbeResults
from workbench.judge.variance.components import RESIDUAL


def run(folder: Path, reader: str, right: float, judge: str | None = None, seed: int = 1) -> ProbeResults:
    """Answers of one reader, right that often; a tenth is open and judged by chance."""
    rng = np.random.default_rng(seed)
    rows = []
    for session in range(8):
        for probe in range(10):
            verdict = "open" if probe == 0 else "right" if rng.random() < right else "wrong"
            judged = bool(rng.random() < 0.5) if probe == 0 and judge else None
            rows.append(
                {"session": f"s{session}", "strategy": "one", "outcome": "answered", "verdict": verdict,
                 "judged": judged, "reader": reader, "question": f"q{probe}", "present": True}
            )  # fmt: skip
    folder.mkdir()
    table = pd.DataFrame(
        {name: pd.array([row.get(name) for row in rows], dtype=kind) for name, kind in COLUMNS.items()}
    )
    table.to_parquet(folder / TABLE)
    (folder / NOTES).write_text(json.dumps({"summaries_by": "extractive", "judge": judge}))
    return ProbeResults.open(folder)


def test_the_noise_of_answers_is_found_where_it_was_planted(tmp_path: Path) -> None:
    runs = [run(tmp_path / f"r{i}", f"reader {i}", share, "judge", i) for i, share in enumerate((0.2, 0.6, 0.95))]
    by = {one.factor: one for one in noise(runs, "one")}
    assert by["reader"].share is not None and by["session"].share is not None
    assert by["reader"].share > 0.2 > by["session"].share
    assert by["summariser"].variance is None and by["judge"].variance is None


def repeated(folder: Path, luck: float, replicates: int = 3) -> ProbeResults:
    """Answers to questions that are either easy or hard; `luck`: how often an answer is what the question is not."""
    rng = np.random.default_rng(3)
    rows = []
    for session in range(20):
        for probe in range(12):
            easy = rng.random() < 0.5
            for replicate in range(replicates):
                right = easy != (rng.random() < luck)
                rows.append(
                    {"session": f"s{session}", "strategy": "one", "outcome": "answered", "at": 5, "share": 0.1,
                     "verdict": "right" if right else "wrong", "reader": "r", "question": "which file?",
                     "probe": probe, "replicate": replicate}
                )  # fmt: skip
    folder.mkdir()
    pd.DataFrame(
        {name: pd.array([row.get(name) for row in rows], dtype=kind) for name, kind in COLUMNS.items()}
    ).to_parquet(folder / TABLE)
    (folder / NOTES).write_text(json.dumps({"summaries_by": "extractive", "judge": None}))
    return ProbeResults.open(folder)


@pytest.mark.parametrize("luck", [0.0, 0.1, 0.3])
def test_questions_are_told_from_what_a_reader_says_otherwise_each_time(tmp_path: Path, luck: float) -> None:
    by = {one.factor: one for one in noise([repeated(tmp_path / "a", luck)], "one")}
    question, rest = by["question"].variance, by[RESIDUAL].variance
    assert question is not None and rest is not None
    assert question.value == pytest.approx((1 - 2 * luck) ** 2 / 4, abs=0.04)
    assert rest.value == pytest.approx(luck * (1 - luck), abs=0.02)


def test_the_splits_of_all_strategies_are_rows_for_a_table(tmp_path: Path) -> None:
    rows = splits([repeated(tmp_path / "a", 0.2)])
    assert [row["source"] for row in rows] == ["summariser", "reader", "judge", "session", "question", "repetition"]
    assert "would make the mean surest" in str(rows[-1]["advice"])
    assert "nothing to compare" in str(rows[0]["why"])


def test_open_answers_that_nobody_judged_are_no_noise(tmp_path: Path) -> None:
    found = noise([run(tmp_path / "a", "reader", 0.5), run(tmp_path / "b", "other", 0.5, seed=2)], "one")
    assert found[-1].levels == 2 * 8 * 9


def test_a_mean_counts_each_session_once(tmp_path: Path) -> None:
    table = run(tmp_path / "a", "reader", 1.0).table
    few = table[(table["session"] != "s0") | (table["question"] == "q0")]
    row = accuracies(few)[0]
    assert row.right is not None and abs(row.right - (7 * 0.9 + 0) / 8) < 1e-9
