from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
import validators
from lab.trials.toys import PORTS, toy
from preset_names import BUILTIN_PRESETS

from workbench import (
    AtShare,
    Budget,
    Context,
    Plan,
    Preset,
    Replace,
    Strategy,
    Summary,
    find_model,
    preset,
)
from workbench.evaluation.metrics.costs.pricing import ASSUMED, known_tariff
from workbench.evaluation.metrics.exam.history import ExamHistory
from workbench.evaluation.metrics.index import Index
from workbench.lab.trials.agents import ReaderAgent
from workbench.lab.trials.attempt import opened
from workbench.lab.trials.loop import Limits, Trial, work
from workbench.lab.trials.task import Call, TrialTask
from workbench.lab.validation.adversaries import Gamer
from workbench.lab.validation.gaming import filled

WINDOW = 4_000
LIMITS = Limits()


class Soup:
    """The older messages become names and the words common near them."""

    name = "soup"

    def plan(self, context: Context, budget: Budget) -> Plan:
        stop = max(i for i, message in enumerate(context.messages) if message.role == "user")
        old = context.messages[1:stop]
        index = Index(old)
        lines = Gamer("soup", 4, 10).lines(ExamHistory(index.messages, index.entities), len(old))
        text = filled(lines, lambda line: len(line) // 4, [budget.target // 2])[0]
        return Plan((Replace(1, stop, (Summary(id=f"soup-{len(old)}", text=text),)),))


SOUP = Preset("soup", Strategy("soup", (Soup(),)), AtShare())


def done(task: TrialTask, strategy: Preset | str, limits: Limits = LIMITS) -> tuple[Trial, str]:
    """The trial, and what was written."""
    way = preset(strategy) if isinstance(strategy, str) else strategy
    with opened(task, sandbox=False) as workspace:
        trial = work(
            task,
            ReaderAgent(),
            way,
            workspace,
            window=WINDOW,
            tariff=known_tariff(ASSUMED),
            writer=find_model("extractive"),
            limits=limits,
        )
        file = workspace.cwd / "out.txt"
        return trial, file.read_text() if file.exists() else ""


told, filed = (
    cache(lambda name: done(toy(), name)),
    cache(lambda name: done(toy(in_file=True), name)),
)


def test_without_compaction_it_knows_what_it_must() -> None:
    trial, text = told("none")
    assert text == f"port={PORTS[0]}\n"
    assert (trial.compactions, trial.stopped) == (0, "")
    assert trial.counts == {"holes": 2, "misread": 0, "blind": 0, "look_ups": 0, "recalls": 0}
    assert trial.peak > WINDOW


@pytest.mark.parametrize("name", ["null", "truncate"])
def test_it_acts_blindly_where_its_context_lost_what_the_user_said(name: str) -> None:
    trial, text = told(name)
    assert text == "port=port\n"
    assert trial.compactions > 0
    assert trial.counts["blind"] == 2


def test_a_soup_of_names_does_not_help_it() -> None:
    trial, text = done(toy(), SOUP)
    assert trial.compactions > 0
    assert text != f"port={PORTS[0]}\n"


def test_it_looks_up_what_a_call_tells_again_and_pays_for_it() -> None:
    trial, text = filed("truncate")
    assert text == f"port={PORTS[0]}\n"
    assert trial.counts["look_ups"] == 1
    assert Call("grep", {"pattern": "billing", "path": "ops"}) in trial.calls
    assert trial.steps == filed("none")[0].steps + 1


def test_recall_brings_back_what_no_call_can() -> None:
    trial, text = told("truncate+recall")
    assert text == f"port={PORTS[0]}\n"
    assert trial.counts["recalls"] == 1


def test_requests_that_change_their_beginning_cost_more_a_token() -> None:
    none, null = told("none")[0], told("null")[0]
    assert none.tokens > null.tokens
    assert none.usd is not None
    assert null.usd is not None
    assert none.usd / none.tokens < null.usd / null.tokens


@pytest.mark.parametrize("name", BUILTIN_PRESETS)
def test_every_preset_is_tried_on_the_same_task(name: str) -> None:
    trial, _ = told(name)
    first = [message["content"] for message in trial.messages if message["role"] == "user"]
    assert first == [turn.user for turn in toy().turns]
    assert not trial.stopped
    assert validators.openai_chat(trial.messages) == []
    assert done(toy(), name)[0] == trial


def test_it_is_stopped_after_so_many_answers() -> None:
    trial, _ = done(toy(), "none", Limits(steps=3))
    assert (trial.steps, trial.stopped) == (3, "it was stopped after 3 answers")


def test_a_wrong_call_is_answered(tmp_path: Path) -> None:
    task = toy(parts=0)
    first = replace(task.turns[0].steps[0], call=Call("fly", {"to": "the moon"}))
    trial, _ = done(replace(task, turns=(replace(task.turns[0], steps=(first,)),)), "none")
    assert trial.messages[-2]["content"].startswith("error: there is no tool fly; there are read,")
