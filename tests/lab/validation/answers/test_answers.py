"""Graded answers: what is read, and how well the exam follows those of ../shared/graded."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from command import answer

from profiles import FULL
from workbench.cli import main

GRADED = Path(__file__).resolve().parents[5] / "shared" / "graded"
LINE = {
    "group": "one", "variant": "short", "history": ["the database port is 5413", "the admin console is on 6000"],
    "context": "database port: 5413",
    "answers": [
        {"question": "What is the database port?", "answer": "5413", "right": True},
        {"question": "Where is the admin console?", "answer": "6000", "right": False},
        {"question": "", "answer": "Never push to the main branch", "right": False, "kind": "rule"},
    ],
}  # fmt: skip
METRICS = ("presence", "bound", "coverage", "exam", "fitted", "bm25")
Figures: TypeAlias = Mapping[str, Mapping[str, Any]]
"""How far each metric agrees with the grades."""


def written(tmp_path: Path, *rows: Mapping[str, object]) -> Path:
    path = tmp_path / "answers.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows))
    return path


def side(path: Path) -> dict[str, Any]:
    """What `workbench lab validate answers` says of a folder or file."""
    said: dict[str, Any] = answer("lab", "validate", "answers", path)
    return said


def figures(path: Path) -> Figures:
    return {row["metric"]: row for row in side(path)["rows"]}


def test_lines_of_ones_own_are_read_and_judged(tmp_path: Path) -> None:
    exam = figures(written(tmp_path, LINE))["exam"]
    assert (exam["questions"], exam["agreement"]) == (3, 1)


def test_a_baseline_of_mistri_is_read(tmp_path: Path) -> None:
    text = "May you include Lars Berg in the send? Answer yes or no."
    probes = [
        {
            "question": "What is the budget now?",
            "answer": "$60",
            "match": "contains",
            "pass": True,
            "changed": True,
            "carrier": "value",
        },
        {
            "question": text,
            "answer": "no",
            "match": "yes_no",
            "pass": True,
            "carrier": "permission",
        },
    ]
    row = {
        "model": "m",
        "scenario": "gift",
        "probes": probes,
        "compactions": [
            {"summary": "old"},
            {"summary": "Budget: $60 per gift\nDo not include Lars Berg in the send"},
        ],
    }
    by_kind = side(written(tmp_path, row))["agreement by category"]
    exam = {row["category"]: row["exam"] for row in by_kind}
    assert exam == {"value": 1, "permission": 1}


@pytest.mark.parametrize("row", [{"text": "x"}, {"context": "x", "answers": [{"answer": "y"}]}])
def test_a_line_that_is_not_understood_says_what_it_needs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], row: Mapping[str, object]
) -> None:
    assert main(["lab", "validate", "answers", str(written(tmp_path, row))]) == 2
    assert "needs" in capsys.readouterr().err


def graded(text: str, *, right: bool) -> dict[str, object]:
    return {"question": "What is the database port?", "answer": text, "right": right}


def test_auc_counts_ties_half(tmp_path: Path) -> None:
    answers = [graded("5413", right=True), graded("7001", right=True)]
    answers += [graded("6000", right=False), graded("6001", right=False)]
    line = {"context": "database port: 5413", "history": LINE["history"]}
    path = written(tmp_path, line | {"answers": answers})
    # the one that is there is ahead of both wrong ones, the other ties with them
    assert figures(path)["presence"]["auc"] == pytest.approx(0.75)
    path = written(tmp_path, line | {"answers": answers[:2]})
    assert figures(path)["presence"]["auc"] is None


def real(name: str) -> Figures:
    if not (GRADED / name).is_dir():
        pytest.skip(f"needs {GRADED / name}")
    return figures(GRADED / name)


@pytest.mark.skipif(not FULL, reason="twelve exams of long histories; part of the full profile")
def test_the_exam_follows_exact_answers_of_a_real_model() -> None:
    exam = real("native-vs-text")["exam"]
    assert exam["signs"] >= 11
    assert exam["spearman"] >= 0.9
    assert exam["agreement"] >= 0.93


def test_the_exam_agrees_with_a_person_on_standing_instructions() -> None:
    found = real("compaction-integrity-human")
    assert found["exam"]["agreement"] * 50 >= 45
    assert found["presence"]["agreement"] * 50 < 45, "word for word is not enough"


def test_long_chats_of_others_are_read_with_one_question_a_request(tmp_path: Path) -> None:
    for folder in ("contexts", "judgments"):
        (tmp_path / folder).mkdir()
    chat = [
        {"role": "user", "content": "I moved to Alder Street 12 in May."},
        {"role": "assistant", "content": "Good."},
    ]
    facts = [
        {
            "fact_id": "a",
            "question_type": "single",
            "question": "Which street?",
            "answer": "Alder Street",
        },
        {
            "fact_id": "b",
            "question_type": "knowledge-update",
            "question": "Which month?",
            "answer": "June",
        },
    ]
    verdicts_of_both = [{"fact_id": "a", "recalled": True}, {"fact_id": "b", "recalled": False}]
    (tmp_path / "contexts" / "d2_C1.json").write_text(json.dumps(chat))
    (tmp_path / "contexts" / "d2_C1_meta.json").write_text(json.dumps({"facts": facts}))
    (tmp_path / "judgments" / "d2_C1_bs1.json").write_text(
        json.dumps({"batches": [{"verdicts": verdicts_of_both}]})
    )
    (tmp_path / "judgments" / "d2_C1_bs5.json").write_text(
        "several questions a request are not read"
    )
    found = side(tmp_path)
    assert {row["category"] for row in found["agreement by category"]} == {
        "single",
        "knowledge-update",
    }
    for row in found["rows"]:
        assert (row["contexts"], row["questions"], row["auc"]) == (1, 2, 1), row["metric"]
    assert [row["metric"] for row in found["rows"]] == list(METRICS)


def test_chats_without_their_contexts_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "judgments").mkdir()
    (tmp_path / "judgments" / "d2_C1_bs1.json").write_text("{}")
    assert main(["lab", "validate", "answers", str(tmp_path)]) == 2
    assert "d2_C1.json" in capsys.readouterr().err
