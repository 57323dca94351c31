"""A model writes exams: what it is asked, which questions are kept, and what happens where it
does not answer.
"""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from builders import remembering
from workbench import Completion, ModelError, Session, SettingError, SummaryRequest, load, save
from workbench.cli import main
from workbench.evaluation.metrics.work_exam.document import exams_of
from workbench.lab.judge.work_exam.write import write_exams

SESSION = Session.of(remembering(24), id="mail")


def question(turn: int) -> dict[str, Any]:
    """A question whose answer turn number `turn` of the session shows."""
    return {
        "kind": "finding",
        "question": f"Which limit belongs to part number {turn + 70}?",
        "gold": f"The mail gateway sets timeout_of_{turn} to {turn + 4001}.",
        "points": [f"timeout_of_{turn} is {turn + 4001}"],
        "quote": f"the worker timeout_of_{turn} is set to {turn + 4001} by the mail gateway",
    }


@dataclass
class Writer:
    """Writes questions about the first turns, or fails."""

    questions: list[dict[str, Any]] = field(
        default_factory=lambda: [question(turn) for turn in range(6)]
    )
    error: ModelError | None = None
    name: str = "a-writer"
    prompts: list[str] = field(default_factory=list)

    def complete(self, request: SummaryRequest, /) -> Completion:
        self.prompts.append(request.prompt)
        if self.error:
            raise self.error
        return Completion(
            text=f"Here they are:\n{json.dumps({'questions': self.questions})}", model=self.name
        )


@dataclass
class Answering(Writer):
    """Says the same whatever it is asked."""

    text: str = ""

    def complete(self, request: SummaryRequest, /) -> Completion:
        return Completion(text=self.text, model=self.name)


def recorded(folder: Path) -> Path:
    """The session as a file."""
    path = folder / "mail.jsonl"
    save(SESSION, path)
    return path


def test_the_exam_is_kept_beside_the_recording_and_not_written_again(tmp_path: Path) -> None:
    path, writer = recorded(tmp_path), Writer()
    outcomes = write_exams(path, model=writer, boundaries=(0.5,), quiet=True)
    assert outcomes is not None
    assert [outcome.is_new for outcome in outcomes] == [True]
    exams = exams_of(load(path)[0])
    assert exams is not None
    assert len(exams.exams[0].questions) == 6
    assert exams.exams[0] == outcomes[0].exam
    assert exams.exams[0].writer == "a-writer"
    text = path.with_name(f"{path.name}.exam.json").read_text()
    assert not any(question(turn)["quote"] in text for turn in range(6)), "no text of the session"
    again = write_exams(path, model=writer, boundaries=(0.5,), quiet=True)
    assert again is not None
    assert [outcome.is_new for outcome in again] == [False]
    assert len(writer.prompts) == 1


def test_the_writer_sees_the_history_and_what_came_next_apart(tmp_path: Path) -> None:
    writer = Writer()
    outcomes = write_exams(SESSION, model=writer, boundaries=(40,), out=tmp_path, quiet=True)
    assert outcomes is not None
    history, _, later = writer.prompts[0].partition("</conversation>")
    at = outcomes[0].place.at
    turn = at // 4
    assert f"part {turn - 1}" in history
    assert f"part {turn + 1}" not in history
    assert f"part {turn + 1}" in later


def test_questions_that_fail_a_check_are_counted_and_told(tmp_path: Path) -> None:
    lies = {**question(7), "quote": "nobody ever wrote this sentence"}
    writer = Writer(questions=[*(question(turn) for turn in range(6)), lies])
    outcomes = write_exams(SESSION, model=writer, boundaries=(0.5,), out=tmp_path, quiet=True)
    assert outcomes is not None
    assert outcomes[0].exam is not None
    assert outcomes[0].exam.refused == 1
    assert "does not have its quote" in outcomes[0].refusals[0].reason


def test_an_exam_with_too_few_questions_is_not_kept(tmp_path: Path) -> None:
    writer = Writer(questions=[question(turn) for turn in range(3)])
    outcomes = write_exams(SESSION, model=writer, boundaries=(0.5,), out=tmp_path, quiet=True)
    assert outcomes is not None
    assert outcomes[0].exam is None
    assert "only 3 of 3 questions" in outcomes[0].why
    assert exams_of(SESSION, tmp_path) is None


def test_where_the_provider_is_down_the_exam_is_pending_and_others_are_asked(
    tmp_path: Path,
) -> None:
    writer = Writer(error=ModelError("the provider is down", outage=True))
    outcomes = write_exams(SESSION, model=writer, boundaries=(0.4, 0.6), out=tmp_path, quiet=True)
    assert outcomes is not None
    assert [outcome.pending for outcome in outcomes] == [True, True]


def test_without_a_model_the_command_says_what_to_name(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="name one, such as --model"):
        write_exams(SESSION, out=tmp_path, quiet=True)
    with pytest.raises(SettingError, match="no language model"):
        write_exams(SESSION, model="extractive", out=tmp_path, quiet=True)


def test_a_session_in_memory_needs_a_folder() -> None:
    with pytest.raises(SettingError, match="set `out`"):
        write_exams(SESSION, model=Writer(), quiet=True)


@pytest.mark.parametrize(
    "text", ["", "I cannot do that.", '{"questions": "none"}', '{"questions": [{"kind": "joke"}]}']
)
def test_an_answer_without_questions_is_no_exam(text: str, tmp_path: Path) -> None:
    outcomes = write_exams(
        SESSION, model=Answering(text=text), boundaries=(0.5,), out=tmp_path, quiet=True
    )
    assert outcomes is not None
    assert outcomes[0].exam is None and outcomes[0].why


def test_the_command_shows_what_was_written_and_a_folder_of_recordings_ignores_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = recorded(tmp_path)
    write_exams(path, model=Writer(), boundaries=(0.5,), quiet=True)
    assert main(["lab", "exam", "show", str(tmp_path)]) == 0
    text = capsys.readouterr().out
    assert "6 questions by a-writer" in text
    assert "Which limit belongs to part number 70?" in text
    assert len(load(tmp_path)) == 1


def test_the_command_waits_for_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, folder = recorded(tmp_path), tmp_path / "answers"
    command = [
        "lab",
        "exam",
        "write",
        str(path),
        "--model",
        f"folder:{folder}",
        "--boundaries",
        "0.5",
        "--no-cache",
    ]
    assert main(command) == 3
    assert "the same command asks again" in capsys.readouterr().err
    (request,) = folder.glob("*.request.txt")
    answer = json.dumps({"questions": [question(turn) for turn in range(6)]})
    request.with_name(request.name.replace("request", "answer")).write_text(answer)
    assert main(command) == 0
    assert "written" in capsys.readouterr().out


@pytest.mark.parametrize("command", ["write", "show"])
def test_a_file_that_cannot_be_read_is_named(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "notes.txt").write_text("no recording")
    model = ["--model", f"folder:{tmp_path / 'answers'}"] if command == "write" else []
    for name in ("nowhere.jsonl", "notes.txt"):
        assert main(["lab", "exam", command, str(tmp_path / name), *model]) == 2
        assert name in capsys.readouterr().err
