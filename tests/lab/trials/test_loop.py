"""How an agent works on a task while a strategy keeps its context small."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
import validators
from lab.trials.tried import WINDOW, Caller, Tried, call, tried
from preset_names import BUILTIN_PRESETS

from workbench import AtShare, Budget, Context, Plan, Preset, Replace, Strategy, Summary
from workbench.engine.transcript.message import plain_text

HOLES = 4
"""Values that the agent must know in a task of `far_dependency` or `long_outputs`."""


class Soup:
    """The older messages become names, four a line, and the words that are common in them."""

    name = "soup"

    def plan(self, context: Context, budget: Budget) -> Plan:
        stop = max(i for i, message in enumerate(context.messages) if message.role == "user")
        words: list[str] = []
        for message in context.messages[1:stop]:
            words += plain_text(message).split()
        names = sorted({word.strip(".,") for word in words if any(map(str.isdigit, word))})
        common = " ".join(sorted(set(words), key=words.count)[-10:])
        lines = [f"{' '.join(names[n : n + 4])} {common}" for n in range(0, len(names), 4)]
        text = "\n".join(lines)[: 2 * budget.target]
        return Plan((Replace(1, stop, (Summary(id=f"soup-{stop}", text=text),)),))


SOUP = Preset("soup", Strategy("soup", (Soup(),)), AtShare())
LAST = 2
"""Turns that the agent works where many presets are tried; the plan works those before."""


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Tried]:
    """Trials in which the user says what is needed."""
    strategies = ("none", "null", "truncate", "truncate+recall", SOUP)
    return tried(tmp_path_factory.mktemp("told"), *strategies)


@pytest.fixture(scope="module")
def filed(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Tried]:
    """Trials in which a call tells again some of what is needed."""
    return tried(tmp_path_factory.mktemp("filed"), "none", "truncate", family="long_outputs")


@pytest.fixture(scope="module")
def presets(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Tried]:
    """A trial of each preset."""
    return tried(tmp_path_factory.mktemp("presets"), *BUILTIN_PRESETS, turns=LAST)


def test_without_compaction_it_knows_what_it_must(told: Mapping[str, Tried]) -> None:
    row = told["none"].row
    assert (row["success"], row["compactions"], row["reason"]) == (1, 0, "")
    counts = {name: row[name] for name in ("holes", "misread", "blind", "look_ups", "recalls")}
    assert counts == {"holes": HOLES, "misread": 0, "blind": 0, "look_ups": 0, "recalls": 0}
    assert row["peak"] > WINDOW


@pytest.mark.parametrize("name", ["null", "truncate"])
def test_it_acts_blindly_where_its_context_lost_what_the_user_said(
    told: Mapping[str, Tried], name: str
) -> None:
    row = told[name].row
    assert "config/deploy.toml has port = port" in row["reason"]
    assert row["compactions"] > 0
    assert row["blind"] == HOLES


def test_a_soup_of_names_does_not_help_it(told: Mapping[str, Tried]) -> None:
    row = told["soup"].row
    assert row["compactions"] > 0
    assert "config/deploy.toml has port = port" in row["reason"]


def test_it_looks_up_what_a_call_tells_again_and_pays_for_it(filed: Mapping[str, Tried]) -> None:
    truncated = filed["truncate"]
    assert "first_mark" not in truncated.row["reason"]
    assert truncated.row["look_ups"] == 1
    searched = [arguments["path"] for tool, arguments in truncated.calls() if tool == "grep"]
    assert searched.count("data") == 1
    assert truncated.row["steps"] == filed["none"].row["steps"] + 1


def test_recall_brings_back_what_no_call_can(told: Mapping[str, Tried]) -> None:
    row = told["truncate+recall"].row
    assert row["success"] == 1
    assert row["recalls"] == 1


def test_requests_that_change_their_beginning_cost_more_a_token(told: Mapping[str, Tried]) -> None:
    none, null = told["none"].row, told["null"].row
    assert none["tokens"] > null["tokens"]
    assert none["usd"] / none["tokens"] < null["usd"] / null["tokens"]


@pytest.mark.parametrize("name", BUILTIN_PRESETS)
def test_every_preset_is_tried_on_the_same_task(
    told: Mapping[str, Tried], presets: Mapping[str, Tried], name: str
) -> None:
    trial = presets[name]
    assert trial.row["holes"] == HOLES, "it was not stopped"
    assert trial.said("user") == told["none"].said("user")
    assert validators.openai_chat(list(trial.messages)) == []


def test_a_trial_comes_to_the_same_again(presets: Mapping[str, Tried], tmp_path: Path) -> None:
    again = tried(tmp_path, *BUILTIN_PRESETS, turns=LAST)
    for name, trial in again.items():
        assert trial == presets[name]


def test_it_is_stopped_after_so_many_answers(tmp_path: Path) -> None:
    row = tried(tmp_path, "none", steps=3)["none"].row
    assert (row["steps"], row["reason"]) == (3, "it was stopped after 3 answers")


def test_a_wrong_call_is_answered(tmp_path: Path) -> None:
    agent = Caller(call("fly", to="the moon"))
    trial = tried(tmp_path, "none", agent=agent, no_sandbox=True)["none"]
    assert trial.said("tool") == [
        "error: there is no tool fly; there are read, write, edit, grep, list, bash"
    ]
