"""Written exams as files: found beside a recording and in a folder, and never taken for another
session's.
"""

import shutil
from pathlib import Path

import pytest

from builders import said, told
from workbench import FormatError, Session, SettingError, load, save
from workbench.evaluation.metrics.work_exam.document import exams_of

HARBOUR = Path(__file__).with_name("harbour.jsonl.exam.json")
"""An exam of the session, as its writer left it beside the recording."""
IN_A_FOLDER = "aa74f6fd03bf68be-c024e4ddf652c9f5.json"
"""The name of the file in a folder of exams: it tells nothing of the session."""
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


def test_an_exam_is_found_in_a_folder(tmp_path: Path) -> None:
    shutil.copy(HARBOUR, tmp_path / IN_A_FOLDER)
    session_exams = exams_of(session(), tmp_path)
    assert session_exams is not None
    [exam] = session_exams.exams
    assert (exam.at, exam.writer, exam.written, exam.refused) == (3, "a writer", "2026-11", 0)
    [question] = exam.questions
    assert (question.kind, question.question) == ("finding", "How widely is it used?")
    assert (question.gold, question.points) == ("Nine files import it.", ("nine files import",))


def test_exams_lie_beside_a_recording(tmp_path: Path) -> None:
    path = tmp_path / "harbour.jsonl"
    save(session(), path)
    recorded = load(path)[0]
    shutil.copy(HARBOUR, tmp_path)
    session_exams = exams_of(recorded)
    assert session_exams is not None
    assert (
        session_exams.exams[0].questions[0].evidence.quote(recorded.messages)
        == "imported by nine files"
    )


def test_another_session_of_the_same_name_has_no_exam(tmp_path: Path) -> None:
    path = tmp_path / "harbour.jsonl"
    save(session(["Rename the lighthouse module.", *TEXTS[1:]]), path)
    shutil.copy(HARBOUR, tmp_path)
    assert exams_of(load(path)[0]) is None


def test_a_question_whose_evidence_is_gone_is_left_out_and_counted(tmp_path: Path) -> None:
    shutil.copy(HARBOUR, tmp_path / IN_A_FOLDER)
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
    (tmp_path / IN_A_FOLDER).write_text(text)
    with pytest.raises(FormatError, match=reason):
        exams_of(session(), tmp_path)


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="no folder of written exams"):
        exams_of(session(), tmp_path / "nowhere")
