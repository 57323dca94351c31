import json
from itertools import count
from pathlib import Path

import pytest

from builders import remembering, said
from workbench.errors import SettingError
from workbench.judge.behaviour.effects import compliances, equivalences
from workbench.judge.behaviour.trials import BehaviourResults, behave
from workbench.judge.measurement import PLACE_COLUMNS
from workbench.models.model import Completion, SummaryRequest
from workbench.transcript.session import Session

RULE = "Never use git stash in this folder."


class Agent:
    """Reads the oldest file that its context names, and obeys the rule where it can read it."""

    name = "agent"

    def complete(self, request: SummaryRequest, /) -> Completion:
        conversation, _, question = request.prompt.partition("</conversation>")
        if "next action" in question:
            start = conversation.find("src/part_")
            target = conversation[start : start + 10] if start >= 0 else ""
            return Completion(text=json.dumps({"tool": "read", "target": target}), model=self.name)
        letter = "A" if "A) Commit" in question else "B"
        return Completion(text=letter if RULE in conversation else "A", model=self.name)


class Fickle(Agent):
    """Never does the same twice."""

    def __init__(self) -> None:
        self.turn = count()

    def complete(self, request: SummaryRequest, /) -> Completion:
        if "next action" in request.prompt:
            return Completion(text=json.dumps({"tool": "read", "target": str(next(self.turn))}), model=self.name)
        return super().complete(request)


class Maker:
    name = "maker"

    def complete(self, request: SummaryRequest, /) -> Completion:
        made = {"moment": "Changes are in the way.", "obeys": "Commit them.", "breaks": "Stash them."}
        return Completion(text=json.dumps(made), model=self.name)


def tried(folder: Path, reader: object, sessions: int = 2, maker: object = None, **more: object) -> BehaviourResults:
    what = [Session.of([said(RULE, "d"), *remembering(16 + i)], id=f"s{i}") for i in range(sessions)]
    return behave(
        what, reader=reader, maker=maker, strategies=("truncate",), shares=(0.3,), boundaries=(0.6, 0.8), out=folder,
        quiet=True, **more,
    )  # type: ignore[arg-type]  # fmt: skip


def test_another_next_action_counts_beyond_what_the_model_changes_anyway(tmp_path: Path) -> None:
    steady = {row.strategy: row for row in equivalences(tried(tmp_path / "a", Agent()).table)}["truncate"]
    assert steady.same == 0.0 and steady.again == 1.0 and steady.n == 4
    assert steady.difference is not None and steady.difference.mean == -1.0
    fickle = {row.strategy: row for row in equivalences(tried(tmp_path / "b", Fickle()).table)}["truncate"]
    assert fickle.again == 0.0 and fickle.difference is not None and fickle.difference.mean == 0.0


def test_a_demand_that_was_cut_away_is_not_obeyed_and_its_effect_is_lost(tmp_path: Path) -> None:
    done = tried(tmp_path, Agent(), sessions=9, maker=Maker(), most=1)
    assert list(done.table.columns) == list(PLACE_COLUMNS | BehaviourResults.columns)
    row = {one.strategy: one for one in compliances(done.table)}["truncate"]
    assert row.obeyed == {"whole": 1.0, "without": 0.5, "compacted": 0.5, "restated": 1.0}
    assert row.effect is None and "alike" in row.why and row.n == 18  # nothing varies: no interval, so no ratio


def test_what_does_not_depend_on_the_strategy_is_asked_once(tmp_path: Path) -> None:
    table = tried(tmp_path, Agent(), maker=Maker(), most=1).table
    for condition in ("whole", "without", "again"):
        own = table[table["condition"] == condition]
        assert own.groupby(["session", "at", "test"])["obeyed"].nunique(dropna=False).eq(1).all()


def test_answers_that_never_came_leave_no_number(tmp_path: Path) -> None:
    class Small(Agent):
        window = 700

    done = tried(tmp_path, Small(), maker=Maker())
    assert all(row.same is None and row.n == 0 for row in equivalences(done.table))
    assert all(row.effect is None for row in compliances(done.table))


def test_a_folder_without_a_trial_says_which_command_makes_one(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="workbench judge behaviour"):
        BehaviourResults.open(tmp_path)
