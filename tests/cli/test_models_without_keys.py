"""Every command that asks a model asks a program, and whoever answers in a folder."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pytest
from engine.models.programs import counting, starts
from evaluation.experiment.outages import SENTENCES
from lab.judge.knowing import Knowing

from builders import remembering, rules
from profiles import FULL
from workbench import Results, Session, load, save
from workbench.cli import main
from workbench.lab.judge.exam.admission import admission_exams

UNUSABLE = 2

PENDING = 3

OK = 0

ROUNDS = 40
"""A simulation writes its summaries in a chain, so it asks for one of its 24 a round."""

WORDS = r"""
import re
headings = [line for line in asked.splitlines() if line.startswith("## ")]
sections = [heading + "\n- All was noted." for heading in headings]
letters = [number + ": A" for number in re.findall(r"^(\d+)\. ", asked, re.MULTILINE)]
print("\n".join(sections or letters or ["1: A"]))
"""


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Recordings by name: a chat that fits its window, a long one, and one with few questions to
    a reader.
    """
    folder = tmp_path_factory.mktemp("sessions")
    told = {"chat": (16, 5, 1), "long": (24, 8, 60), "few questions": (16, 3, 5)}
    paths = {name: folder / f"{name.split()[0]}.jsonl" for name in told}
    for name, (turns, later, words) in told.items():
        talk = remembering(turns, later=later, words=words)
        save(Session.of([rules("be brief"), *talk]), paths[name])
    return paths


@pytest.fixture(scope="module")
def knowing(recordings: dict[str, Path]) -> Knowing:
    return Knowing([session for path in recordings.values() for session in load(path)])


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path / "cache"))


def answer_all(folder: Path, knowing: Knowing) -> int:
    """Answer what waits in a folder, as a good model does; how much did."""
    number = 0
    for request in sorted(folder.glob("*.request.txt")):
        answer = request.with_name(request.name.replace("request", "answer"))
        if answer.exists():
            continue
        number += 1
        header, _, text = request.read_text().partition("\n---\n")
        headings = [line for line in text.splitlines() if line.startswith("## ")]
        if "kind: question" in header:
            written = knowing.answer(text.rpartition("\n\nThe answer may have")[0])
        else:
            pairs = zip(headings, SENTENCES, strict=False)
            written = "\n".join(f"{heading}\n- {says}" for heading, says in pairs) or "Noted."
        draft = answer.with_suffix(".draft")
        draft.write_text(written)
        draft.rename(answer)
    return number


def grid(folder: Path, recording: Path, model: str) -> str:
    """A sweep that asks a model."""
    path = folder / "grid.toml"
    path.write_text(f"""
sessions = [{json.dumps(str(recording))}]
strategies = ["summarize"]
windows = [2500]
shares = [0.3]
boundaries = [0.6]
models = [{json.dumps(model)}]
""")
    return str(path)


@dataclass(frozen=True)
class Asking:
    """A command that asks a model.

    Attributes:
        recording: the name of that which it is about.
        words: by the recording, a folder to write to, and the model.
    """

    recording: str
    words: Callable[[Path, Path, str], list[str]]


SAME = ["--boundaries", "0.6", "--shares", "0.3"]
TRIAL = ["lab", "trial", "--families", "changed_values", "--seeds", "1", "--jobs", "1"]
COMMANDS = {
    "compare": Asking(
        "long",
        lambda recording, folder, model: [
            *["compare", str(recording), "--strategies", "summarize", *SAME, "--window", "2500"],
            *["--no-report", "--model", model, "--out", str(folder / "run")],
        ],
    ),
    "replay": Asking(
        "long",
        lambda recording, folder, model: [
            "replay",
            str(recording),
            "--window",
            "2500",
            "--model",
            model,
        ],
    ),
    "sweep": Asking(
        "long",
        lambda recording, folder, model: [
            *["lab", "sweep", grid(folder, recording, model), "--no-report", "--jobs", "1"],
            *["--out", str(folder / "run")],
        ],
    ),
    "ablate": Asking(
        "long",
        lambda recording, folder, model: [
            *[
                "lab",
                "ablate",
                str(recording),
                "--window",
                "2500",
                "--shares",
                "0.3",
                "--jobs",
                "1",
            ],
            *["--model", model],
        ],
    ),
    "judge exam, the reader": Asking(
        "chat",
        lambda recording, folder, model: [
            *["lab", "judge", "exam", str(recording), "--strategies", "truncate", *SAME],
            *["--model", model, "--out", str(folder / "exam")],
        ],
    ),
    "simulate, the writer": Asking(
        "long",
        lambda recording, folder, model: [
            *[
                "lab",
                "simulate",
                str(recording),
                "--strategies",
                "summarize",
                "--window",
                "2500",
                "--jobs",
                "1",
            ],
            *["--model", model, "--out", str(folder / "run")],
        ],
    ),
    "simulate, the reader": Asking(
        "few questions",
        lambda recording, folder, model: [
            *[
                "lab",
                "simulate",
                str(recording),
                "--strategies",
                "truncate",
                "--window",
                "1000",
                "--jobs",
                "1",
            ],
            *["--reader", model, "--out", str(folder / "run")],
        ],
    ),
    "trial, the agent": Asking(
        "chat",
        lambda recording, folder, model: [
            *[*TRIAL, "--agent", model, "--no-sandbox", "--steps", "2", "--strategies", "truncate"],
            *["--out", str(folder / "run")],
        ],
    ),
    "trial, the writer": Asking(
        "chat",
        lambda recording, folder, model: [
            *[
                *TRIAL,
                "--writer",
                model,
                "--steps",
                "40",
                "--strategies",
                "summarize",
                "--window",
                "2000",
            ],
            *["--out", str(folder / "run")],
        ],
    ),
}
IN_FOLDER = (
    "compare",
    "sweep",
    "judge exam, the reader",
    "simulate, the reader",
    "trial, the agent",
)
BY_PROGRAM = ("replay", "simulate, the writer", "judge exam, the reader", "trial, the writer")
"""Of the short profile."""
FORETOLD = (
    "compare",
    "sweep",
    "judge exam, the reader",
    "simulate, the reader",
    "trial, the agent",
)


def command(name: str, recordings: dict[str, Path], folder: Path, model: str) -> list[str]:
    asking = COMMANDS[name]
    return asking.words(recordings[asking.recording], folder, model)


@pytest.mark.parametrize("name", COMMANDS if FULL else IN_FOLDER)
def test_a_command_writes_its_requests_to_a_folder_ends_pending_and_goes_on(
    name: str,
    recordings: dict[str, Path],
    knowing: Knowing,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    asks = tmp_path / "asks"
    words = command(name, recordings, tmp_path, f"folder:{asks}")
    assert main(words) == PENDING
    number = len(list(asks.glob("*.request.txt")))
    assert number
    waits = "1 request waits" if number == 1 else f"{number} requests wait"
    assert f"{waits} in {asks}" in capsys.readouterr().err
    for _ in range(ROUNDS):
        answer_all(asks, knowing)
        code = main(words)
        if code != PENDING:
            break
    assert code == OK
    assert not answer_all(asks, knowing), "nothing waits when it is done"


@pytest.mark.parametrize("name", COMMANDS if FULL else BY_PROGRAM)
def test_a_command_asks_a_program(
    name: str, recordings: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = counting(tmp_path / "bin", WORDS)
    words = command(name, recordings, tmp_path, f"command:{line}")
    code = main(words)
    assert starts(tmp_path / "bin") > 0
    told = capsys.readouterr()
    if name == "judge exam, the reader":
        assert code == 1 and "is not admitted" in told.out, "it guesses"
    else:
        assert code == OK, told.err


@pytest.mark.parametrize("name", FORETOLD)
def test_a_forecast_asks_nobody_and_says_that_the_price_is_not_known(
    name: str, recordings: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asks, line = tmp_path / "asks", counting(tmp_path / "bin", WORDS)
    assert main([*command(name, recordings, tmp_path, f"folder:{asks}"), "--dry-run"]) == OK
    assert "how fast and at what price they are answered is not known" in capsys.readouterr().out
    assert not asks.exists()
    assert main([*command(name, recordings, tmp_path, f"command:{line}"), "--dry-run"]) == OK
    assert "what it costs is not known" in capsys.readouterr().out
    assert starts(tmp_path / "bin") == 0


@pytest.mark.parametrize("name", COMMANDS)
def test_a_missing_program_ends_a_command_before_anything_is_done(
    name: str, recordings: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(command(name, recordings, tmp_path, "command:no-such-program -p")) == UNUSABLE
    told = capsys.readouterr()
    assert (
        "workbench: there is no program 'no-such-program' to run command:no-such-program -p"
        in told.err
    )
    assert not told.out


@pytest.mark.slow
def test_all_requests_of_a_run_that_depend_on_no_answer_are_written_at_once(
    recordings: dict[str, Path], knowing: Knowing, tmp_path: Path
) -> None:
    asks = tmp_path / "asks"
    words = [
        "compare",
        str(recordings["long"]),
        "--strategies",
        "summarize",
        "--no-report",
        "--window",
        "2500",
    ]
    words += ["--boundaries", "0.4,0.6,0.8", "--shares", "0.2,0.4", "--model", f"folder:{asks}"]
    words += ["--out", str(tmp_path / "run")]
    assert main(words) == PENDING
    texts = [path.read_text() for path in asks.glob("*.request.txt")]
    assert len(texts) == 7, (
        "three boundaries at two sizes, and the first compaction on its own trigger"
    )
    rounds = 1
    while answer_all(asks, knowing):
        rounds += 1
        main(words)
        texts = [path.read_text() for path in asks.glob("*.request.txt")]
        assert not any("answer-still-awaited" in text for text in texts), (
            "none is about a missing answer"
        )
    compactions = Results.open(tmp_path / "run").table("compactions")
    chained = len(
        compactions[(compactions["mode"] == "natural") & (compactions["strategy"] == "summarize")]
    )
    assert rounds <= chained + 2, "each round answers all that can be known"
    replays = Results.open(tmp_path / "run").replays.set_index("strategy")
    assert replays.loc["summarize", "model"] == "folder:asks" and replays["usd"].isna()["summarize"]


@pytest.mark.slow
def test_two_processes_write_each_request_of_one_run_once(
    recordings: dict[str, Path], tmp_path: Path
) -> None:
    asks = tmp_path / "asks"
    crews = []
    for number in range(2):
        words = COMMANDS["compare"].words(
            recordings["long"], tmp_path / str(number), f"folder:{asks}"
        )
        crews.append(subprocess.Popen([sys.executable, "-m", "workbench", *words, "--quiet"]))
    assert [crew.wait(120) for crew in crews] == [PENDING, PENDING]
    texts = [path.read_text().partition("\n---\n")[2] for path in asks.glob("*.request.txt")]
    assert texts and len(set(texts)) == len(texts)


@pytest.mark.slow
def test_a_run_that_is_killed_while_it_writes_goes_on(
    recordings: dict[str, Path], knowing: Knowing, tmp_path: Path
) -> None:
    asks = tmp_path / "asks"
    words = COMMANDS["compare"].words(recordings["long"], tmp_path, f"folder:{asks}")
    run = subprocess.Popen(
        [sys.executable, "-m", "workbench", *words, "--quiet"], start_new_session=True
    )
    while not list(asks.glob("*.request.txt")) and run.poll() is None:
        time.sleep(0.01)
    run.send_signal(signal.SIGKILL)
    run.wait()
    main(words)
    while answer_all(asks, knowing):
        code = main(words)
    assert code == OK
    names = sorted(path.name for path in asks.glob("*.request.txt"))
    assert names == [f"{number:05}.request.txt" for number in range(1, len(names) + 1)]


@pytest.mark.slow
def test_a_finished_run_takes_an_answer_that_was_written_anew(
    recordings: dict[str, Path], knowing: Knowing, tmp_path: Path
) -> None:
    asks = tmp_path / "asks"
    words = command("compare", recordings, tmp_path, f"folder:{asks}")
    main(words)
    while answer_all(asks, knowing):
        main(words)
    before = replays_of(tmp_path / "run")
    assert main(words) == OK
    assert replays_of(tmp_path / "run") == before, "what is finished is not done again"
    answer = min(asks.glob("*.answer.txt"))
    answer.write_text(answer.read_text() + "- The agent is called Ada.\n")
    main(words)
    while answer_all(asks, knowing):
        main(words)
    assert replays_of(tmp_path / "run") != before


def replays_of(run: Path) -> dict[str, str]:
    """The finished replays of a run, by file."""
    return {path.name: path.read_text() for path in (run / "replays").glob("*.json")}


@pytest.mark.slow
def test_the_requests_of_a_baseline_at_many_sizes_are_written_at_once(
    recordings: dict[str, Path], knowing: Knowing, tmp_path: Path
) -> None:
    asks = tmp_path / "asks"
    words = [
        "compare",
        str(recordings["long"]),
        "--strategies",
        "summarize,truncate",
        "--baseline",
        "summarize",
    ]
    words += [
        "--no-report",
        "--window",
        "2500",
        "--boundaries",
        "0.4,0.6,0.8",
        "--shares",
        "0.2,0.4",
    ]
    words += ["--model", f"folder:{asks}", "--out", str(tmp_path / "run")]
    main(words)
    rounds = []
    while number := answer_all(asks, knowing):
        rounds.append(number)
        main(words)
    compactions = Results.open(tmp_path / "run").table("compactions")
    chained = len(
        compactions[(compactions["mode"] == "natural") & (compactions["strategy"] == "summarize")]
    )
    assert rounds[0] == 7 and len(rounds) <= max(chained, 3), (
        "its own sizes, those of truncate, and what is chained"
    )


def test_a_reader_in_a_folder_gets_its_whole_test_and_then_its_whole_exam(
    recordings: dict[str, Path], knowing: Knowing, tmp_path: Path
) -> None:
    asks = tmp_path / "asks"
    words = command("judge exam, the reader", recordings, tmp_path, f"folder:{asks}")
    assert main(words) == PENDING
    assert answer_all(asks, knowing) == 2 * len(admission_exams()) > 3
    assert main(words) == PENDING
    assert answer_all(asks, knowing)
    assert main(words) == OK


def test_no_file_of_a_run_holds_the_key_in_a_command_line_and_no_shared_copy_its_place(
    recordings: dict[str, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    line = f"{counting(tmp_path / 'bin', WORDS)} --api-key zyxw9876vuts"
    words = command("compare", recordings, tmp_path, f"command:{line}")
    monkeypatch.setattr(sys, "argv", ["workbench", *words])
    assert main(words) == OK
    told = capsys.readouterr()
    assert "zyxw9876vuts" not in told.out + told.err + everything_in(tmp_path / "run")
    assert str(tmp_path / "bin") in everything_in(tmp_path / "run")
    assert (
        main(
            [
                "runs",
                "share",
                str(tmp_path / "run"),
                "--out",
                str(tmp_path / "shared"),
                "--no-report",
            ]
        )
        == OK
    )
    assert str(tmp_path) not in everything_in(tmp_path / "shared")


def everything_in(run: Path) -> str:
    """The tables of a run and its other files, as text."""
    tables = [pd.read_parquet(path).to_csv() for path in run.glob("*.parquet")]
    return "\n".join([*tables, *(path.read_text() for path in run.rglob("*.json"))])
