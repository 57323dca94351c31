"""An agent begins in the middle of a task: its plan has worked the turns before."""

from __future__ import annotations

from pathlib import Path

import pytest
from lab.trials.sandboxes import need_sandbox
from lab.trials.tried import Caller, Tried, call, tried

LAST = 2
"""Turns that are left to the agent: it writes a file, and answers a question."""
WIDE = 100_000


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Tried:
    """The agent works all turns."""
    return tried(tmp_path_factory.mktemp("whole"), "none", window=WIDE)["none"]


@pytest.fixture(scope="module")
def rest(tmp_path_factory: pytest.TempPathFactory) -> Tried:
    """The agent works the last turns."""
    return tried(tmp_path_factory.mktemp("rest"), "none", window=WIDE, turns=LAST)["none"]


def test_the_agent_answers_only_the_last_turns_and_reads_all_of_them(
    whole: Tried, rest: Tried
) -> None:
    assert rest.said("user") == whole.said("user")
    assert rest.row["steps"] == len(["a call", "what it did", "an answer"])
    assert rest.row["success"] == 1


def test_the_conversation_is_the_one_of_an_agent_that_follows_the_plan_from_the_start(
    whole: Tried, rest: Tried
) -> None:
    assert rest.messages == whole.messages
    assert rest.row["tokens"] < whole.row["tokens"], "what the plan did is on no bill"


def test_the_beginning_is_compacted_on_the_way(tmp_path: Path) -> None:
    row = tried(tmp_path, "truncate", turns=LAST)["truncate"].row
    assert row["compactions"] >= 2
    assert "config/deploy.toml has port = port" in row["reason"], "it was said in the first turn"


@pytest.mark.parametrize("sandbox", [False, True])
def test_the_project_is_what_the_plan_left(sandbox: bool, tmp_path: Path) -> None:
    if sandbox:
        need_sandbox()
    agent = Caller(call("bash", command="wc -l < var/loaded.txt"), call("list", path="."))
    trial = tried(
        tmp_path, "none", family="sub_goals", agent=agent, turns=1, no_sandbox=not sandbox
    )["none"]
    loaded, files = trial.said("tool")[-2:]
    assert loaded == "5", "one of six goals is left"
    assert "tools/load.sh" in files
    assert ".packed" not in files


def test_a_long_result_loses_its_middle_and_says_so(tmp_path: Path) -> None:
    agent = Caller(call("bash", command="echo start; printf 'x%.0s' $(seq 2988); echo end"))
    trial = tried(tmp_path, "none", agent=agent, no_sandbox=True, output=1_000)["none"]
    [result] = trial.said("tool")
    assert len(result) < 1_100 and "characters cut; ask for a part of it" in result
    assert result.startswith("start") and result.endswith("end")
