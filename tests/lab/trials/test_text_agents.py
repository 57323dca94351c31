"""Agents that only read and write text work on tasks: whoever answers in a folder, and any
program.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from engine.models.programs import counting, program, starts
from lab.trials.tried import Tried, tried

from workbench import ModelSettings
from workbench.cli import main
from workbench.engine.models.written_calls import call_text

PENDING = 3

OK = 0

LAST = 3
"""Turns of the user that are left to the agent: to look at a file, to write one, to answer."""
TOLD = re.compile(r"(listens on port|billed to account|reports to) ([\w/.-]+?)\.?$", re.MULTILINE)
CORRECTED = re.compile(r"A correction: the .* is billed to account ([\w-]+),")
MESSAGE = re.compile(
    r"^\[(system|user|assistant|result of call_\d+|tools that you may call)\]\n", re.MULTILINE
)


def last_message(text: str) -> tuple[str, str]:
    """The role and the words of the last message of a conversation that was written as text."""
    titles = list(MESSAGE.finditer(text))
    return titles[-2][1], text[titles[-2].end() : titles[-1].start()].strip()


def follows(text: str) -> str:
    """What an agent says that does what the last user message asks, as its context tells it."""
    role, words = last_message(text)
    if role.startswith("result"):
        return "Done."
    if words.startswith("Have a look at "):
        path = words.removeprefix("Have a look at ").partition(",")[0]
        clock = call_text("bash", json.dumps({"command": "date +%s%N; echo $$"}))
        return f"I look.\n{call_text('read', json.dumps({'path': path}))}\n{clock}"
    port, _, report = [value for _, value in TOLD.findall(text)][:3]
    if words.startswith("Now write"):
        account = CORRECTED.findall(text)[-1]
        content = f"port = {port}\naccount = {account}\nreport = {report}\n"
        return call_text("write", json.dumps({"path": "config/deploy.toml", "content": content}))
    return f"answer: {port}"


def answer_all(folder: Path, says: Callable[[str], str] = follows) -> int:
    """Answer what waits in a folder; how much did."""
    number = 0
    for request in sorted(folder.glob("*.request.txt")):
        answer = request.with_name(request.name.replace("request", "answer"))
        if not answer.exists():
            number += 1
            answer.write_text(says(request.read_text().partition("\n---\n")[2]))
    return number


def sit(agent: str, folder: Path) -> Tried:
    """One sitting of a trial, in a folder that has its cache too."""
    how = ModelSettings(cache=folder / "cache", run="r")
    trials = tried(
        folder / "out", "none", agent=agent, no_sandbox=True, turns=LAST, model_settings=how
    )
    return trials["none"]


def sit_until_done(asks: Path, folder: Path) -> tuple[Tried, int]:
    """A trial that pauses at each answer, in as many sittings as it takes, and how many these
    were.
    """
    for sitting in range(1, 30):
        trial = sit(f"folder:{asks}", folder)
        if trial.row["status"] == "ok":
            return trial, sitting
        assert answer_all(asks) == 1, "each sitting asks one thing"
    raise AssertionError("the trial never ends: each sitting asks anew")


def test_a_trial_pauses_at_each_answer_and_goes_on_although_its_tools_say_something_else_each_time(
    tmp_path: Path,
) -> None:
    trial, sittings = sit_until_done(tmp_path / "asks", tmp_path)
    assert (trial.row["success"], trial.row["reason"]) == (1, "")
    assert sittings == trial.row["steps"] + 1
    assert len(list((tmp_path / "asks").glob("*.request.txt"))) == trial.row["steps"]
    assert pd.isna(trial.row["usd"]), "nobody knows what the answers cost"


def test_a_sitting_that_only_waits_makes_no_call_again(tmp_path: Path) -> None:
    made, asks = tmp_path / "made", tmp_path / "asks"

    def look(text: str) -> str:
        command = f"echo made >> {made}"
        return call_text("bash", json.dumps({"command": command}))

    agent = f"folder:{asks}"
    assert sit(agent, tmp_path).row["status"] == "pending"
    assert answer_all(asks, look) == 1
    for _ in range(3):
        assert sit(agent, tmp_path).row["status"] == "pending"
        assert made.read_text() == "made\n", "nothing was answered, so nothing is made"


def test_a_finished_trial_is_the_same_from_a_copy_of_the_folder(tmp_path: Path) -> None:
    first, _ = sit_until_done(tmp_path / "asks", tmp_path / "first")
    path = (tmp_path / "asks").rename(tmp_path / "copied")
    again = sit(f"folder:{path}", tmp_path / "again")
    assert again.messages == first.messages
    assert again.row["success"] == 1


def test_an_answer_that_was_changed_makes_its_calls_anew(tmp_path: Path) -> None:
    asks = tmp_path / "asks"
    sit_until_done(asks, tmp_path / "first")
    for answer in asks.glob("*.answer.txt"):
        answer.write_text(re.sub(r"port = \d+", "port = 1", answer.read_text()))
    waiting = sit(f"folder:{asks}", tmp_path / "again")
    assert waiting.row["status"] == "pending", "what follows the changed answer is asked anew"
    while answer_all(asks):
        trial = sit(f"folder:{asks}", tmp_path / "again")
    assert "config/deploy.toml has port = 1" in trial.row["reason"]


FOLLOWS = """
role, words = asked.rsplit("\\n[tools that you may call]", 1)[0].rsplit("\\n[", 1)[-1].split("]\\n", 1)
call = '```tool\\n{{"tool": "{}", "arguments": {}}}\\n```'.format
if "was not carried out" in words:
    print(call("read", '{"path": "docs/services.md"}'))
elif words.startswith("Have a look"):
    print(call("rm", "{}"))
elif words.startswith("Now write"):
    port = asked.split(" listens on port ")[1][:4]
    print(call("write", '{"path": "config/deploy.toml", "content": "port = %s"}' % port))
else:
    print("Noted.")
"""


def test_a_program_works_with_tools_and_is_told_which_call_cannot_be_read(tmp_path: Path) -> None:
    trial = sit(f"command:{program(tmp_path, FOLLOWS)}", tmp_path)
    assert [tool for tool, _ in trial.calls()[-2:]] == ["read", "write"]
    assert trial.row["calls"] == 2
    assert trial.row["passed"] == 1, "the port is right"


def words(agent: str, out: Path) -> list[str]:
    given = [
        "lab",
        "trial",
        "--agent",
        agent,
        "--no-sandbox",
        "--families",
        "changed_values",
        "--seeds",
        "1",
        "--json",
    ]
    return [*given, "--strategies", "truncate", "--steps", "2", "--jobs", "1", "--out", str(out)]


def test_the_command_ends_pending_says_how_much_waits_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path / "cache"))
    asks = tmp_path / "asks"
    command = words(f"folder:{asks}", tmp_path / "out")
    assert main(command) == PENDING
    told = capsys.readouterr()
    assert "3 of 3 trials wait" in json.loads(told.out)["pending"]
    assert f"1 request waits in {asks}" in told.err, (
        "all three begin alike, so that one request is enough"
    )
    assert answer_all(asks, lambda text: "Noted.") == 1
    assert main(command) == PENDING
    assert "1 request waits" in capsys.readouterr().err
    assert answer_all(asks, lambda text: "Noted.") == 1
    assert main(command) == OK
    table = json.loads(capsys.readouterr().out)
    assert [row["success"] for row in table["strategies"]] == [0, 0, 0]


def test_a_program_as_an_agent_is_asked_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path / "cache"))
    agent = f"command:{counting(tmp_path, 'print(1)')}"
    command = words(agent, tmp_path / "out")
    assert main([*command, "--dry-run"]) == OK
    predicted = json.loads(capsys.readouterr().out)["the agent"]
    assert predicted["usd"] is None and predicted["requests"] > 10
    assert main(command) == OK
    asked = starts(tmp_path)
    assert 2 <= asked <= 6
    assert main(words(agent, tmp_path / "another")) == OK
    assert starts(tmp_path) == asked
