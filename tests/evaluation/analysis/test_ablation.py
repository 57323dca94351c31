from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest

from builders import remembering, rules
from workbench import Budget, Context, MissingPath, Plan, Preset, Session, SettingError, Strategy
from workbench.engine.compaction.stages import BUILTIN as STAGES
from workbench.evaluation.analysis.ablation import leave_one_out


@dataclass(frozen=True)
class Idle:
    """A stage that changes nothing."""

    name: ClassVar[str] = "idle"

    def plan(self, context: Context, budget: Budget) -> Plan | None:
        return None


SESSIONS = [
    Session.of([rules("be brief"), *remembering(40 + n)], id=f"s{n}", project=f"p{n}") for n in range(2)
]  # fmt: skip


def test_a_stage_that_does_all_the_work_has_all_the_effect() -> None:
    part = Preset("made", Strategy("made", (STAGES["truncate"](), Idle())))
    table = leave_one_out(SESSIONS, part, window=6_000, shares=(0.2,), quiet=True)
    saved = table[(table["metric"] == "tokens_saved")].set_index("stage")
    assert set(saved.index) == {"truncate", "idle"}
    assert saved.loc["truncate", "effect"] > 0.1
    assert abs(saved.loc["idle", "effect"]) < 1e-9
    assert (saved["sessions"] == 2).all()
    assert saved["low"].isna().all()  # two sessions say nothing of others


def test_what_a_stage_costs_in_retention_is_told_with_its_sign() -> None:
    part = Preset("made", Strategy("made", (STAGES["truncate"](), Idle())))
    table = leave_one_out(SESSIONS, part, window=6_000, shares=(0.2,), quiet=True)
    kept = table[(table["metric"] == "exam_recall") & (table["mode"] == "natural")].set_index(
        "stage"
    )
    assert kept.loc["truncate", "effect"] < 0
    gap = kept.loc["truncate", "with_it"] - kept.loc["truncate", "without_it"]
    assert kept.loc["truncate", "effect"] == pytest.approx(gap)


def test_what_cannot_be_cut_to_a_size_without_a_stage_is_not_compared_at_that_size() -> None:
    part = Preset("made", Strategy("made", (STAGES["truncate"](), Idle())))
    table = leave_one_out(SESSIONS, part, window=6_000, shares=(0.2,), quiet=True)
    same_size = table[(table["metric"] == "exam_recall") & (table["mode"] == "matched")].set_index(
        "stage"
    )
    assert set(same_size.index) == {"idle"}
    assert abs(same_size.loc["idle", "effect"]) < 1e-9


def test_a_strategy_of_one_stage_has_none_to_leave_out() -> None:
    with pytest.raises(SettingError, match="fewer than two stages"):
        leave_one_out(SESSIONS, "truncate", quiet=True)


def test_recordings_that_cannot_be_read_are_an_error(tmp_path: Path) -> None:
    cut = tmp_path / "cut.json"
    cut.write_text('{"a": [1,')
    with pytest.raises(SettingError, match=r"no session could be replayed: .*cut.json: "):
        leave_one_out(cut, strategy="pipeline", quiet=True)
    with pytest.raises(MissingPath, match=r"there is no file or folder nosuch.jsonl"):
        leave_one_out("nosuch.jsonl", strategy="pipeline", quiet=True)
