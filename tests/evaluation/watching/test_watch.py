"""`workbench watch` beside a process that writes a session, and what it says of one."""

import json
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from command import answer
from evaluation.watching.claude_lines import lines

from workbench import FormatError, composition, load
from workbench.cli import main
from workbench.evaluation.watching.follow import Followed

CORPORA = Path(__file__).parents[3].parent / "shared" / "corpora"
RECORDING = CORPORA / "entireio-cli" / "67d765b5-4286-4ec5-b051-950466e186f0.jsonl"
WRITER = """
import sys, time
for line in open(sys.argv[1]):
    with open(sys.argv[2], "a") as out:
        out.write(line[: len(line) // 2]); out.flush(); time.sleep(.002); out.write(line[len(line) // 2 :])
"""


@pytest.mark.parametrize("which", ["generated", "recorded"])
def test_it_follows_a_session_that_another_process_writes(tmp_path: Path, which: str) -> None:
    source = tmp_path / "source.jsonl" if which == "generated" else RECORDING
    if which == "generated":
        source.write_text("\n".join(lines()) + "\n")
    elif not source.exists():
        pytest.skip("no real recordings: the folder ../shared/corpora is not beside this checkout")
    session, file = load(source, lenient=True)[0], tmp_path / "growing.jsonl"
    command = [sys.executable, "-m", "workbench", "watch", str(file), "--json"]
    # a shell's background jobs do not
    heeds_ctrl_c = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=heeds_ctrl_c
    ) as watching:
        assert watching.stdout is not None and watching.stderr is not None
        assert "waiting for a session" in watching.stderr.readline()
        subprocess.run([sys.executable, "-c", WRITER, str(source), str(file)], check=True)
        seen: list[dict[str, Any]] = []
        while not seen or seen[-1]["requests"] < len(session.requests):
            seen.append(json.loads(watching.stdout.readline()))
        watching.send_signal(signal.SIGINT)
        assert watching.wait(20) == 0
    assert seen[-1]["session"] == session.id and seen[-1]["compactions"] == 1
    assert len(seen[-1]["lost"]) and seen[-1]["size_from"] == "reported usage"


@pytest.mark.parametrize("form", ["--json", ""])
def test_it_says_that_its_file_was_emptied_and_removed_and_goes_on(
    tmp_path: Path, form: str
) -> None:
    file, whole = tmp_path / "growing.jsonl", "\n".join(lines()) + "\n"
    file.write_text(whole)
    command = [sys.executable, "-m", "workbench", "watch", str(file), *filter(None, [form])]
    heeds_ctrl_c = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, preexec_fn=heeds_ctrl_c
    ) as watching:
        assert watching.stdout is not None
        state = watching.stdout.readline()
        file.write_text("")
        said = [watching.stdout.readline()]
        file.unlink()
        said.append(watching.stdout.readline())
        file.write_text(whole)
        said.append(watching.stdout.readline())
        assert watching.stdout.readline() == state
        watching.send_signal(signal.SIGINT)
        assert watching.wait(20) == 0
    expected = ["emptied", "removed", "returned"]
    if form:
        assert json.loads(state)["event"] == "state"
        events = [json.loads(line) for line in said]
        assert [event["event"] for event in events] == expected
        said = [event["message"] for event in events]
    assert said[0].strip() == f"{file} was emptied; waiting until something is written to it"
    assert said[1].strip() == f"{file} was removed; waiting until it is there again"
    assert said[2].strip() == f"{file} can be read again"


def test_a_file_that_becomes_another_formats_is_named_and_waited_for(tmp_path: Path) -> None:
    file, whole = tmp_path / "growing.jsonl", "\n".join(lines()) + "\n"
    file.write_text(whole)
    command = [sys.executable, "-m", "workbench", "watch", str(file), "--json"]
    heeds_ctrl_c = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, preexec_fn=heeds_ctrl_c
    ) as watching:
        assert watching.stdout is not None
        assert json.loads(watching.stdout.readline())["event"] == "state"
        file.write_text("no session\n")
        event = json.loads(watching.stdout.readline())
        assert event["event"] == "unreadable" and "is not recognised" in event["message"]
        file.write_text(whole)
        assert json.loads(watching.stdout.readline())["event"] == "returned"
        assert json.loads(watching.stdout.readline())["compactions"] == 1
        watching.send_signal(signal.SIGINT)
        assert watching.wait(20) == 0


def test_it_says_what_fills_the_context_and_when_the_next_compaction_is_due(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "s.jsonl"
    file.write_text("\n".join(lines()))
    assert main(["watch", str(file), "--once"]) == 0
    text = capsys.readouterr().out
    assert "due at   26,000 tokens, from its recorded compactions" in text
    assert "result Read" in text and "ledger_total.py" in text and "never change the file" in text
    assert all(len(line) <= 80 for line in text.splitlines())
    assert main(["watch", str(file), "--once", "--window", "200000"]) == 0
    assert "due at   167,000 tokens" in capsys.readouterr().out


def test_a_missing_file_is_an_error_of_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["watch", str(tmp_path / "no.jsonl"), "--once"]) == 2
    assert "no session of claude_code, codex, pi here" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "is_told"), [("no session\n", True), ("no session", True), ('{"type": "us', False)]
)
def test_a_file_of_another_kind_is_told_from_one_that_is_not_written_yet(
    content: str, is_told: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "s.jsonl"
    file.write_text(content)
    assert main(["watch", str(file), "--once"]) == 2
    text = capsys.readouterr().err
    assert ("its content is not recognised" in text) is is_told
    assert ("could be read yet" in text) is not is_told


@pytest.mark.parametrize("content", ["no session\n", '{\n  "name": "a"\n}\n', "[\n"])
def test_a_line_that_no_agent_writes_is_not_waited_behind(content: str, tmp_path: Path) -> None:
    file = tmp_path / "s.jsonl"
    file.write_text(content)
    with pytest.raises(FormatError, match="its content is not recognised"):
        Followed(file).update()


def state_of(file: Path, text: str) -> dict[str, Any]:
    """What `workbench watch` says of a file with this text."""
    file.write_text(text)
    state: dict[str, Any] = answer("watch", file, "--once")
    return state


def test_the_size_is_the_reported_prompt_and_what_came_after_it(tmp_path: Path) -> None:
    state = state_of(tmp_path / "s.jsonl", "\n".join(lines()) + "\n")
    assert 21_200 < state["tokens"] < 21_400
    assert sum(state["parts"].values()) == state["tokens"]
    assert state["growth"] and state["requests_left"] and state["minutes_left"]
    assert state["minutes_left"] == pytest.approx(state["requests_left"] * 10 / 60)


def test_what_the_new_context_tells_is_not_lost(tmp_path: Path) -> None:
    lost = state_of(tmp_path / "s.jsonl", "\n".join(lines()))["lost"]
    assert {thing["text"] for thing in lost if thing["kind"] == "path"} == {"ledger_total.py"}
    assert [thing["text"] for thing in lost if thing["kind"] == "rule"] == [
        "never change the file docs/agreement.md, whatever happens"
    ]
    assert all(len(thing["id"]) == 8 for thing in lost)


def test_watch_and_inspect_tell_the_same_next_compaction(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "s.jsonl"
    uncompacted = [line for line in lines() if "ompact" not in line]
    file.write_text("\n".join(uncompacted))
    assert main(["inspect", str(file), "--json"]) == 0
    (facts,) = json.loads(capsys.readouterr().out)["sessions"]
    assert main(["watch", str(file), "--once"]) == 0
    assert f"due at   {facts['compacts_at']:,} tokens" in capsys.readouterr().out


def test_watch_and_inspect_tell_the_same_sources_of_the_same_context(tmp_path: Path) -> None:
    file = tmp_path / "s.jsonl"
    file.write_text("\n".join(lines()))
    rows = composition(load(file)[0])
    newest = rows[rows["request"] == rows["request"].max()]
    sent = {
        f"{row.source} {row.name_}".rstrip(): row.tokens
        for row in newest.rename(columns={"name": "name_"}).itertuples()
    }
    parts = answer("watch", file, "--once")["parts"]
    assert "call Read" in sent and "result Read" in sent
    newest_answer = sum(parts.values()) - sum(sent.values())
    assert 0 < newest_answer < 200
    for who, tokens in sent.items():
        assert abs(parts.get(who, 0) - tokens) <= newest_answer + 1
