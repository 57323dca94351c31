"""Graded answers: what is read, and how well the exam follows those of ../shared/graded."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pandas as pd
import pytest

from profiles import FULL
from workbench import FormatError
from workbench.lab.validation.answers.agreement import agreement, auc
from workbench.lab.validation.answers.exams import verdicts
from workbench.lab.validation.answers.records import GradedContext, graded

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


def written(tmp_path: Path, *rows: Mapping[str, object]) -> Path:
    path = tmp_path / "answers.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows))
    return path


def figures(contexts: list[GradedContext]) -> pd.DataFrame:
    return agreement(verdicts(contexts)).set_index("metric")


def test_lines_of_ones_own_are_read_and_judged(tmp_path: Path) -> None:
    found = figures(graded(written(tmp_path, LINE)))
    assert found.loc["exam", "questions"] == 3
    assert found.loc["exam", "agreement"] == 1


def test_a_baseline_of_mistri_is_read(tmp_path: Path) -> None:
    text = "May you include Lars Berg in the send? Answer yes or no."
    probes = [
        {
            "question": "What is the budget now?",
            "answer": "$60",
            "match": "contains",
            "pass": True,
            "changed": True,
        },
        {"question": text, "answer": "no", "match": "yes_no", "pass": True},
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
    (context,) = graded(written(tmp_path, row))
    assert [answer.kind for answer in context.answers] == ["latest", "rule"]
    assert context.answers[1].answer == "do not include Lars Berg in the send"
    assert figures([context]).loc["exam", "agreement"] == 1


@pytest.mark.parametrize("row", [{"text": "x"}, {"context": "x", "answers": [{"answer": "y"}]}])
def test_a_line_that_is_not_understood_says_what_it_needs(
    tmp_path: Path, row: Mapping[str, object]
) -> None:
    with pytest.raises(FormatError, match="needs"):
        graded(written(tmp_path, row))


def test_auc_counts_ties_half() -> None:
    assert auc(
        pd.Series([0.9, 0.5, 0.5, 0.1]), pd.Series([True, True, False, False])
    ) == pytest.approx(0.875)
    assert auc(pd.Series([0.9]), pd.Series([True])) is None


def real(name: str) -> pd.DataFrame:
    if not (GRADED / name).is_dir():
        pytest.skip(f"needs {GRADED / name}")
    return figures(graded(GRADED / name))


@pytest.mark.skipif(not FULL, reason="twelve exams of long histories; part of the full profile")
def test_the_exam_follows_exact_answers_of_a_real_model() -> None:
    exam = real("native-vs-text").loc["exam"]
    assert exam["signs"] >= 11
    assert exam["spearman"] >= 0.9
    assert exam["agreement"] >= 0.93


def test_the_exam_agrees_with_a_person_on_standing_instructions() -> None:
    found = real("compaction-integrity-human")
    assert found.loc["exam", "agreement"] * 50 >= 45
    assert found.loc["presence", "agreement"] * 50 < 45, "word for word is not enough"


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
    (context,) = graded(tmp_path)
    assert (context.group, context.variant) == ("d2", "C1")
    assert [(answer.answer, answer.right, answer.kind) for answer in context.answers] == [
        ("Alder Street", True, "fact"),
        ("June", False, "latest"),
    ]
    rows = verdicts([context])
    for metric in ("presence", "bound", "coverage", "exam", "fitted", "bm25"):
        values = rows[rows["metric"] == metric].set_index("right")["value"]
        assert values[True] > values[False], metric


def test_chats_without_their_contexts_are_named(tmp_path: Path) -> None:
    (tmp_path / "judgments").mkdir()
    (tmp_path / "judgments" / "d2_C1_bs1.json").write_text("{}")
    with pytest.raises(FormatError, match=r"d2_C1\.json"):
        list(graded(tmp_path))
