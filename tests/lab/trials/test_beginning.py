"""An agent begins in the middle of a task: its plan has worked the turns before."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from lab.trials.toys import PORTS, toy

from workbench import find_model, preset
from workbench.evaluation.metrics.costs.pricing import ASSUMED, known_tariff
from workbench.lab.trials.agents import ReaderAgent
from workbench.lab.trials.attempt import opened
from workbench.lab.trials.beginning import beginning_of, begun
from workbench.lab.trials.loop import Limits, Trial, work
from workbench.lab.trials.spec import TrialSpec
from workbench.lab.trials.task import Call, PlanStep, TrialTask, Turn

LONG = "x" * 3_000
USUAL = Limits()
NOTE = Turn(
    "Note it.",
    (PlanStep(Call("write", {"path": "notes/a.txt", "content": "noted"}), "I note it."),),
)


def middle_of(task: TrialTask, turns: int) -> TrialTask:
    return begun(task, turns, beginning_of(task, turns))


def worked(task: TrialTask, limits: Limits = USUAL, window: int = 4_000) -> tuple[Trial, str]:
    way = preset("truncate" if window < 10_000 else "none")
    with opened(task, sandbox=False) as workspace:
        trial = work(
            task,
            ReaderAgent(),
            way,
            workspace,
            window=window,
            tariff=known_tariff(ASSUMED),
            writer=find_model("extractive"),
            limits=limits,
        )
        return trial, workspace.text("out.txt") or ""


def test_the_agent_answers_only_the_last_turns_and_reads_all_of_them() -> None:
    trial, text = worked(middle_of(toy(parts=4), 1), window=100_000)
    users = [message["content"] for message in trial.messages if message["role"] == "user"]
    assert users == [turn.user for turn in toy(parts=4).turns]
    assert trial.steps == len(toy().turns[-1].steps)
    assert text == f"port={PORTS[0]}\n"


def test_the_conversation_is_the_one_of_an_agent_that_follows_the_plan_from_the_start() -> None:
    trial, _ = worked(toy(parts=4), window=100_000)
    later, _ = worked(middle_of(toy(parts=4), 1), window=100_000)
    # what an agent says whose plan has no closing words
    agreed = {"role": "assistant", "content": "Done."}
    assert later.messages == [message for message in trial.messages if message != agreed]
    assert later.tokens < trial.tokens, "what the plan did is on no bill"


def test_the_beginning_is_compacted_on_the_way() -> None:
    trial, text = worked(middle_of(toy(parts=30), 1))
    assert trial.compactions >= 2
    assert text != f"port={PORTS[0]}\n", "the port was said in the first turn"


@pytest.mark.parametrize("sandbox", [False, True])
def test_the_project_is_what_the_plan_left(sandbox: bool) -> None:
    task = toy(parts=2)
    task = replace(
        task, turns=(*task.turns[:1], NOTE, *task.turns[1:]), prepare=("echo 1 > prepared.txt",)
    )
    with opened(middle_of(task, 2), sandbox=sandbox) as workspace:
        assert workspace.text("notes/a.txt") == "noted"
        assert workspace.text("prepared.txt") == "1\n"
        assert workspace.use("list", {"path": "."})[0].count(".packed") == 0


def test_a_long_result_loses_its_middle_and_says_so() -> None:
    turn = Turn("Print it.", (PlanStep(Call("bash", {"command": f"echo {LONG}"}), ""),))
    trial, _ = worked(replace(toy(), turns=(turn,)), Limits(output=1_000))
    (result,) = [message["content"] for message in trial.messages if message["role"] == "tool"]
    assert len(result) < 1_100 and "2000 characters cut; ask for a part of it" in result


def test_references_are_left_out_on_request(tmp_path: Path) -> None:
    spec = TrialSpec(strategies=("truncate",), out=tmp_path)
    assert [way.name for way in spec.presets] == ["none", "truncate", "null"]
    assert [way.name for way in spec.changed(no_references=True).presets] == ["truncate"]
