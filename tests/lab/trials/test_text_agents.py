"""Agents that only read and write text work on tasks: whoever answers in a folder, and any
program.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from engine.models.programs import counting, program, starts
from lab.trials.toys import PORTS, toy

from workbench import ModelSettings, Unanswered, find_model, preset
from workbench.cli import main
from workbench.engine.models.written_calls import call_text
from workbench.evaluation.metrics.costs.pricing import ASSUMED, known_tariff
from workbench.lab.trials.agents import ModelAgent
from workbench.lab.trials.attempt import opened
from workbench.lab.trials.helper_client import HelperWorkspace
from workbench.lab.trials.loop import Trial, work

PENDING = 3

OK = 0

TOLD = re.compile(r"billing service listens on port (\d+)")
MESSAGE = re.compile(
    r"^\[(system|user|assistant|result of call_\d+|tools that you may call)\]\n", re.MULTILINE
)


def last_message(text: str) -> tuple[str, str]:
    """The role and the words of the last message of a conversation that was written as text."""
    titles = list(MESSAGE.finditer(text))
    return titles[-2][1], text[titles[-2].end() : titles[-1].start()].strip()


def follows(text: str) -> str:
    """What an agent says that does what the last user message asks, as far as its context tells."""
    role, words = last_message(text)
    if role.startswith("result"):
        return "Done."
    if words.startswith("Look at "):
        path = words.removeprefix("Look at ").rstrip(".")
        clock = call_text("bash", json.dumps({"command": "date +%s%N; echo $$"}))
        return f"I look.\n{call_text('read', json.dumps({'path': path}))}\n{clock}"
    if words.startswith("Write"):
        match = TOLD.search(text)
        content = f"port={match[1] if match else '?'}\n"
        return call_text("write", json.dumps({"path": "out.txt", "content": content}))
    return "Noted."


def answer_all(folder: Path, says: Callable[[str], str] = follows) -> int:
    """Answer what waits in a folder; how much did."""
    number = 0
    for request in sorted(folder.glob("*.request.txt")):
        answer = request.with_name(request.name.replace("request", "answer"))
        if not answer.exists():
            number += 1
            answer.write_text(says(request.read_text().partition("\n---\n")[2]))
    return number


def tried(name: str, cache: Path, strategy: str = "none") -> tuple[Trial, str]:
    model = ModelSettings(cache=cache, run="r").model(name)
    task = toy(parts=4)
    with opened(task, sandbox=False) as workspace:
        trial = work(
            task,
            ModelAgent(model),
            preset(strategy),
            workspace,
            window=4_000,
            tariff=known_tariff(ASSUMED),
            writer=find_model("extractive"),
        )
        file = workspace.cwd / "out.txt"
        return trial, file.read_text() if file.exists() else ""


def tried_until_done(folder: Path, cache: Path) -> tuple[Trial, str, int]:
    """A trial that pauses at each answer, in as many sittings as it takes, and how many these
    were.
    """
    for sitting in range(1, 30):
        try:
            return *tried(f"folder:{folder}", cache), sitting
        except Unanswered:
            assert answer_all(folder) == 1, "each sitting asks one thing"
    raise AssertionError("the trial never ends: each sitting asks anew")


def test_a_trial_pauses_at_each_answer_and_goes_on_although_its_tools_say_something_else_each_time(
    tmp_path: Path,
) -> None:
    trial, text, sittings = tried_until_done(tmp_path / "asks", tmp_path / "cache")
    assert text == f"port={PORTS[0]}\n" and not trial.stopped
    assert sittings == trial.steps + 1
    assert len(list((tmp_path / "asks").glob("*.request.txt"))) == trial.steps
    assert trial.usd is None, "nobody knows what the answers cost"


def test_a_sitting_that_only_waits_makes_no_call_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    use = HelperWorkspace.use

    def counted(self: HelperWorkspace, tool: str, arguments: Mapping[str, Any]) -> tuple[str, bool]:
        made.append(tool)
        return use(self, tool, arguments)

    monkeypatch.setattr(HelperWorkspace, "use", counted)
    asks, cache = tmp_path / "asks", tmp_path / "cache"
    for _ in range(3):  # the ports, and two answers about the first file
        with pytest.raises(Unanswered):
            tried(f"folder:{asks}", cache)
        answer_all(asks)
    with pytest.raises(Unanswered):
        tried(f"folder:{asks}", cache)
    assert made == ["read", "bash"]
    with pytest.raises(Unanswered):
        tried(f"folder:{asks}", cache)
    assert made == ["read", "bash"], "nothing was answered, so nothing is made"


def test_a_finished_trial_is_the_same_from_a_copy_of_the_folder(tmp_path: Path) -> None:
    first, text, _ = tried_until_done(tmp_path / "asks", tmp_path / "cache")
    path = (tmp_path / "asks").rename(tmp_path / "copied")
    again, same_text = tried(f"folder:{path}", tmp_path / "another cache")
    assert (again.messages, same_text) == (first.messages, text)


def test_an_answer_that_was_changed_makes_its_calls_anew(tmp_path: Path) -> None:
    asks = tmp_path / "asks"
    _, text, _ = tried_until_done(asks, tmp_path / "cache")
    for answer in asks.glob("*.answer.txt"):
        answer.write_text(answer.read_text().replace(f"port={PORTS[0]}", "port=1"))
    with pytest.raises(Unanswered):
        tried(f"folder:{asks}", tmp_path / "cache")  # what follows the changed answer is asked anew
    answer_all(asks)
    assert tried(f"folder:{asks}", tmp_path / "cache")[1] in ("port=1\n", text)


FOLLOWS = """
role, words = asked.rsplit("\\n[tools that you may call]", 1)[0].rsplit("\\n[", 1)[-1].split("]\\n", 1)
call = '```tool\\n{{"tool": "{}", "arguments": {}}}\\n```'.format
if "was not carried out" in words:
    print(call("read", '{"path": "src/part_0.py"}'))
elif words.startswith("Look at src/part_0"):
    print(call("rm", "{}"))
elif words.startswith("Write"):
    port = asked.split("billing service listens on port ")[-1][:4]
    print(call("write", '{"path": "out.txt", "content": "port=%s"}' % port))
else:
    print("Noted.")
"""


def test_a_program_works_with_tools_and_is_told_which_call_cannot_be_read(tmp_path: Path) -> None:
    trial, text = tried(f"command:{program(tmp_path, FOLLOWS)}", tmp_path / "cache")
    assert text == f"port={PORTS[0]}"
    assert [call.tool for call in trial.calls] == ["read", "write"]


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
