"""Written exams as files: found beside a recording and in a folder, and never taken for another
session's.
"""

import json
from pathlib import Path

import pytest

from builders import said, told
from workbench import FormatError, Session, SettingError, load, save
from workbench.evaluation.experiment.atomic import write_atomically
from workbench.evaluation.metrics.work_exam.checks import WrittenQuestion, checked
from workbench.evaluation.metrics.work_exam.document import (
    exams_of,
    exams_text,
    file_in,
)
from workbench.evaluation.metrics.work_exam.question import SessionExams, WorkExam, opening_digest

TEXTS = [
    "Rename the harbour module.",
    "The harbour module is imported by nine files.",
    "Then wait with it.",
]


def session(texts: list[str] = TEXTS) -> Session:
    """A user and an agent in turns."""
    messages = [
        said(text, f"m{i}") if i % 2 == 0 else told(text, f"m{i}") for i, text in enumerate(texts)
    ]
    return Session.of(messages, id="harbour")


def exams(of: Session) -> SessionExams:
    """One exam with one question."""
    written_question = WrittenQuestion(
        "finding",
        "How widely is it used?",
        "Nine files import it.",
        ("nine files import",),
        "imported by nine files",
    )
    accepted, refusals = checked([written_question], of.messages)
    assert not refusals
    return SessionExams(
        of.id, opening_digest(of), (WorkExam(3, tuple(accepted), "a writer", "2026-11"),)
    )


def test_exams_come_back_from_a_folder_as_they_were_written(tmp_path: Path) -> None:
    session_exams = exams(session())
    write_atomically(file_in(tmp_path, session()), exams_text([session_exams]))
    assert exams_of(session(), tmp_path) == session_exams


def test_exams_lie_beside_a_recording(tmp_path: Path) -> None:
    path = tmp_path / "harbour.jsonl"
    save(session(), path)
    recorded = load(path)[0]
    write_atomically(tmp_path / "harbour.jsonl.exam.json", exams_text([exams(recorded)]))
    session_exams = exams_of(recorded)
    assert session_exams is not None
    assert (
        session_exams.exams[0].questions[0].evidence.quote(recorded.messages)
        == "imported by nine files"
    )


def test_the_file_repeats_no_text_of_the_session(tmp_path: Path) -> None:
    text = exams_text([exams(session())])
    assert "imported by nine files" not in text
    assert json.loads(text)["version"] == 1


def test_another_session_of_the_same_name_has_no_exam(tmp_path: Path) -> None:
    write_atomically(tmp_path / "x.jsonl.exam.json", exams_text([exams(session())]))
    other = session(["Rename the lighthouse module.", *TEXTS[1:]])
    assert exams_of(other, tmp_path) is None


def test_a_question_whose_evidence_is_gone_is_left_out_and_counted(tmp_path: Path) -> None:
    write_atomically(file_in(tmp_path, session()), exams_text([exams(session())]))
    changed = session([TEXTS[0], "The harbour module is imported by ten files.", TEXTS[2]])
    session_exams = exams_of(changed, tmp_path)
    assert session_exams is not None
    assert (session_exams.exams[0].questions, session_exams.exams[0].refused) == ((), 1)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "cannot be read"),
        ("[]", "holds no written exams"),
        ('{"format": "workbench work exams", "version": 9}', "version 9"),
        (
            '{"format": "workbench work exams", "version": 1, "sessions": [{"session": "a"}]}',
            "sessions.0.opening",
        ),
    ],
)
def test_a_file_that_is_none_is_refused_in_one_sentence(
    text: str, reason: str, tmp_path: Path
) -> None:
    file_in(tmp_path, session()).write_text(text)
    with pytest.raises(FormatError, match=reason):
        exams_of(session(), tmp_path)


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="no folder of written exams"):
        exams_of(session(), tmp_path / "nowhere")
