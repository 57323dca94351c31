"""Readers and graders: what each sees, what they score, and what waits for an answer."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from lab.judge.knowing import Foreseen
from lab.judge.work_exam.test_write import Writer

from builders import remembering
from workbench import Completion, ModelError, Session, SettingError, SummaryRequest, save
from workbench.cli import main
from workbench.evaluation.metrics.work_exam.question_sheet import FEATURES
from workbench.lab.judge.work_exam.judge_work import judge_work
from workbench.lab.judge.work_exam.scores import readers_agree, work_scores
from workbench.lab.judge.work_exam.write import write_exams

SITTINGS = "sittings.jsonl"

SESSION = Session.of(remembering(24), id="mail")
NUMBERED = re.compile(r"^(\d+)\. .*?part number (\d+)\?", re.MULTILINE)


@dataclass
class Reader:
    """Answers what the context shows of the limits, and nothing else."""

    name: str = "a-reader"
    error: ModelError | None = None
    prompts: list[str] = field(default_factory=list)

    def complete(self, request: SummaryRequest, /) -> Completion:
        self.prompts.append(request.prompt)
        if self.error:
            raise self.error
        context, _, sheet = request.prompt.rpartition("</conversation>")
        lines = []
        for number, part in NUMBERED.findall(sheet):
            value = str(int(part) - 70 + 4001)
            lines.append(f"{number}: {value if value in context else '?'}")
        return Completion(text="\n".join(lines), model=self.name)


@dataclass
class Grader:
    """Gives 1 to a reply that has the number of the right answer."""

    name: str = "a-grader"
    prompts: list[str] = field(default_factory=list)

    def complete(self, request: SummaryRequest, /) -> Completion:
        self.prompts.append(request.prompt)
        lines, gold = [], ""
        for line in request.prompt.splitlines():
            if line.startswith("Right answer"):
                gold = re.findall(r"\d{4}", line)[-1]
            if match := re.match(r"(Q\d+\.R\d+): (.*)", line):
                lines.append(f"{match[1]}: {int(gold in match[2])}")
        return Completion(text="\n".join(lines), model=self.name)


@dataclass
class Summarizer:
    """Numbers its summaries."""

    name: str = "a-summarizer"
    written: int = 0

    def complete(self, request: SummaryRequest, /) -> Completion:
        self.written += 1
        return Completion(text=f"summary number {self.written}", model=self.name)


@pytest.fixture
def exams(tmp_path: Path) -> Path:
    """A folder with the exam of the session."""
    folder = tmp_path / "exams"
    outcomes = write_exams(SESSION, model=Writer(), boundaries=(0.5,), out=folder, quiet=True)
    assert outcomes is not None
    assert outcomes[0].exam is not None
    return folder


def judged(exams: Path, **changes: Any) -> pd.DataFrame:
    """The table of answers from the contexts of two strategies."""
    settings: dict[str, Any] = {
        "model": Reader(),
        "grader": Grader(),
        "exams": exams,
        "out": kept(exams),
        "names": 0,
        "strategies": ("none", "truncate"),
        "shares": (0.4,),
        "quiet": True,
    }
    settings |= changes
    judge_work(SESSION, **settings)
    return pd.read_parquet(settings["out"] / "work.parquet")


def kept(exams: Path) -> Path:
    """The folder in which the answers are kept."""
    return exams.parent / "out"


def sittings(exams: Path) -> list[dict[str, Any]]:
    """The records of what was read and answered."""
    return [json.loads(line) for line in (kept(exams) / SITTINGS).read_text().splitlines()]


def test_what_a_context_tells_is_scored(exams: Path) -> None:
    answers = judged(exams)
    assert list(answers.columns) == [
        *("session", "project", "strategy", "writer", "chain", "share", "at", "tokens", "used"),
        *("at_size_of", "half", "kind", "question", "reading", "reply", "score"),
        *("reader", "grader", "reason", "pending"),
    ]
    scores = {score.strategy: score.work for score in work_scores(answers)}
    assert scores["none"] == 1.0
    assert scores["null"] == 0.0
    # its newest turns use four of the six limits again
    assert scores["truncate"] == pytest.approx(4 / 6)


def test_a_reader_sees_one_context_a_request_and_a_grader_no_context(exams: Path) -> None:
    reader, grader = Reader(), Grader()
    judged(exams, model=reader, grader=grader)
    assert len(reader.prompts) == 3
    assert len(grader.prompts) == 1
    assert "<conversation>" not in grader.prompts[0]


def test_two_readings_are_asked_and_their_agreement_is_told(exams: Path) -> None:
    answers = judged(exams, readings=2)
    agreement = readers_agree(answers)
    assert agreement is not None
    assert (agreement.answers, agreement.equal) == (18, 1.0)
    assert str(agreement).startswith("Two readings gave 100% of 18 answers the same score")
    with pytest.raises(SettingError, match="`readings` is 2 there, and 1 in this one"):
        judged(exams)
    assert readers_agree(judged(exams, out=exams / "once")) is None


def test_names_are_asked_and_compared_in_code(exams: Path) -> None:
    answers = judged(exams, names=6)
    names = answers[answers["half"] == "names"]
    assert len(names)
    assert names["score"].isna().all()  # this reader passes them over: no answer is no score


def test_contexts_that_no_agent_makes_are_read_beside_the_others(exams: Path) -> None:
    answers = judged(exams, references="oracle,soup")
    assert {"oracle", "soup"} <= set(answers["strategy"])
    with pytest.raises(SettingError, match="oracle, soup, index"):
        judged(exams, references=("magic",))


def test_contexts_of_chains_are_read_beside_those_of_one_compaction(exams: Path) -> None:
    reader = Reader()
    answers = judged(
        exams,
        model=reader,
        chains="1,3",
        strategies=("summarize",),
        shares=(0.2,),
        writers=[Summarizer()],
    )
    contexts = answers.groupby(["strategy", "chain"])["tokens"].first()
    assert set(contexts.index) == {("summarize", 1), ("summarize", 3), ("null", 1), ("null", 3)}
    records = sittings(exams)
    assert {(record["strategy"], record["chain"]) for record in records} == set(contexts.index)
    assert {(score.strategy, score.chain) for score in work_scores(answers)} == set(contexts.index)
    alone = Reader()
    judged(
        exams,
        model=alone,
        strategies=("summarize",),
        shares=(0.2,),
        writers=[Summarizer()],
        out=exams / "alone",
    )
    assert set(alone.prompts) < set(reader.prompts), (
        "what is asked of ordinary contexts stays as it was"
    )


def test_a_chain_whose_first_stretch_fits_the_size_is_refused(exams: Path) -> None:
    with pytest.raises(SettingError, match="a chain of 3 compactions needs shares below 1/3"):
        judged(exams, chains=(1, 3), shares=(0.1, 0.4))
    with pytest.raises(SettingError, match="`chains` holds 0; it must be at least 1"):
        judged(exams, chains=(0,))


def test_a_forecast_counts_the_summaries_of_a_chain(exams: Path) -> None:
    forecasts: dict[int, int] = {}
    for chain in (1, 3):

        def hear(uses: Sequence[Foreseen], chain: int = chain) -> bool:
            forecasts[chain] = uses[1].requests
            return False

        judge_work(
            SESSION,
            model=Reader(),
            exams=exams,
            out=exams.parent / "out",
            quiet=True,
            strategies=("summarize",),
            shares=(0.3,),
            writers=f"folder:{exams.parent / 'summaries'}",
            chains=(chain,),
            before=hear,
        )
    assert forecasts[3] >= 3 * forecasts[1] > 0
    assert not (exams.parent / "summaries").exists()


def test_a_reader_that_does_not_answer_leaves_its_replies_pending(exams: Path) -> None:
    answers = judged(exams, model=Reader(error=ModelError("down", outage=True)))
    assert answers["pending"].sum() == len(answers)
    assert answers["score"].isna().all()
    assert set(answers["reason"]) == {"down"}


def test_the_answers_are_kept_with_their_features_and_without_the_contexts(exams: Path) -> None:
    judged(exams)
    records = sittings(exams)
    assert {record["strategy"] for record in records} == {"none", "truncate", "null"}
    assert len(records[0]["answers"][0]["features"]) == len(FEATURES)
    assert "please look at part" not in (kept(exams) / SITTINGS).read_text()


def test_the_fitted_reader_predicts_without_asking_anybody(exams: Path) -> None:
    grader = Grader()
    answers = judged(exams, model="fitted", grader=grader, names=4)
    chance = {
        score.strategy: score.work for score in work_scores(answers) if score.work is not None
    }
    assert chance["none"] > chance["truncate"] > chance["null"]
    assert answers["pending"].sum() == 0
    assert grader.prompts == []
    assert answers[answers["half"] == "names"]["score"].isna().all()


def test_a_session_without_an_exam_is_told_how_to_get_one(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="`workbench lab exam write` makes one"):
        judge_work(SESSION, model=Reader(), out=tmp_path, quiet=True)


@pytest.mark.parametrize("role", ["model", "grader"])
def test_a_model_that_only_writes_summaries_neither_reads_nor_grades(
    role: str, exams: Path, tmp_path: Path
) -> None:
    models: dict[str, Any] = {"model": Reader(), role: "extractive"}
    with pytest.raises(SettingError, match="extractive is no language model"):
        judge_work(SESSION, **models, exams=exams, out=tmp_path, quiet=True)


def test_a_chain_asks_for_each_summary_once_the_one_before_it_is_there(
    exams: Path, tmp_path: Path
) -> None:
    path, writers = tmp_path / "mail.jsonl", tmp_path / "writers"
    save(SESSION, path)
    command = [
        "judge",
        "work",
        str(path),
        "--exams",
        str(exams),
        "--names",
        "0",
        "--strategies",
        "claude_code",
        "--shares",
        "0.3",
        "--chains",
        "3",
        "--writers",
        f"folder:{writers}",
        "--model",
        "fitted",
        "--no-cache",
        "--out",
        str(tmp_path / "out"),
        "--quiet",
        "--on-bad-summary",
        "keep",
    ]
    for number in range(1, 4):
        assert main(command) == 3
        requests = sorted(writers.glob("*.request.txt"))
        assert len(requests) == number
        assert (f"summary number {number - 1}" in requests[-1].read_text()) == (number > 1)
        answer = requests[-1].name.replace("request", "answer")
        requests[-1].with_name(answer).write_text(f"<summary>summary number {number}</summary>")
    assert main(command) == 0
    answers = pd.read_parquet(tmp_path / "out" / "work.parquet")
    assert set(answers["chain"]) == {3}


def test_all_requests_that_wait_for_no_answer_are_written_at_once(
    exams: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mail.jsonl"
    save(SESSION, path)
    folders = {name: tmp_path / name for name in ("writers", "others", "readers")}
    command = [
        "judge",
        "work",
        str(path),
        "--exams",
        str(exams),
        "--names",
        "0",
        "--strategies",
        "truncate,summarize",
        "--shares",
        "0.3",
        "--writers",
        f"folder:{folders['writers']},folder:{folders['others']}",
        "--model",
        f"folder:{folders['readers']}",
        "--no-cache",
        "--out",
        str(tmp_path / "out"),
    ]
    assert main([*command, "--dry-run"]) == 0
    told = capsys.readouterr().out
    for name in ("writers", "others"):
        assert f"requests to folder:{name} for summaries by folder:{name}" in told
    assert main(command) == 3
    requests = {name: len(list(folder.glob("*.request.txt"))) for name, folder in folders.items()}
    assert requests == {
        "writers": 1,
        "others": 1,
        "readers": 2,
    }, "truncate and null wait for no summary"
    text = "".join(request.read_text() for request in folders["readers"].glob("*.request.txt"))
    assert "answer-still-awaited" not in text


def test_a_forecast_names_the_writer_that_is_asked(
    exams: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = exams.parent / "mail.jsonl"
    save(SESSION, path)
    command = [
        "judge",
        "work",
        str(path),
        "--exams",
        str(exams),
        "--strategies",
        "summarize",
        "--shares",
        "0.3",
        "--writers",
        f"extractive,folder:{exams.parent / 'writers'}",
        "--model",
        "fitted",
        "--dry-run",
    ]
    assert main(command) == 0
    assert "to folder:writers for summaries by folder:writers" in capsys.readouterr().out


def test_the_command_goes_on_as_answers_come(
    exams: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mail.jsonl"
    save(SESSION, path)
    command = [
        "judge",
        "work",
        str(path),
        "--exams",
        str(exams),
        "--names",
        "0",
        "--strategies",
        "truncate",
        "--shares",
        "0.4",
        "--model",
        f"folder:{tmp_path / 'readers'}",
        "--grader",
        f"folder:{tmp_path / 'graders'}",
        "--no-cache",
        "--out",
        str(tmp_path / "out"),
    ]
    assert main(command) == 3
    for request in sorted((tmp_path / "readers").glob("*.request.txt")):
        answer = "\n".join(f"{number}: 4001" for number in range(1, 7))
        request.with_name(request.name.replace("request", "answer")).write_text(answer)
    assert main(command) == 3
    (request,) = (tmp_path / "graders").glob("*.request.txt")
    grades = "\n".join(f"Q{number}.R1: {int(number == 1)}" for number in range(1, 7))
    request.with_name(request.name.replace("request", "answer")).write_text(grades)
    capsys.readouterr()
    assert main(command) == 0
    assert re.search(r"truncate\s+.*17 %", capsys.readouterr().out)
