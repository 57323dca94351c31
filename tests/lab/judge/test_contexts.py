"""Strategies that do not get small enough: their contexts are marked, and nobody is asked about
them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import pytest
from lab.judge.knowing import Knowing
from planted_run import written

from builders import remembering, rules, said
from workbench import (
    Budget,
    Context,
    LeftOut,
    MissingPath,
    Plan,
    Preset,
    Replace,
    Report,
    Session,
    SettingError,
    Strategy,
    compare,
    judge_exam,
    save,
)
from workbench.engine.compaction.stages import BUILTIN as STAGES
from workbench.lab.judge.contexts import ContextSpec
from workbench.lab.judge.exam.scores import scores

TOO_LARGE = "it stays larger than the size that was set"

SAME: dict[str, Any] = {"shares": (0.3,), "boundaries": (0.5, 0.8), "quiet": True}


@dataclass(frozen=True, slots=True)
class DropsOld:
    """Drops all but the newest user message; from histories of more messages than `most`
    nothing.
    """

    most: int
    name: ClassVar[str] = "drops_old"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        n = len(context.messages)
        newest = max(i for i, message in enumerate(context.messages) if message.role == "user")
        return None if n > self.most else Plan((Replace(0, newest),) if newest else ())


@dataclass(frozen=True, slots=True)
class Larger:
    """Truncates to so many times the size that it is given."""

    times: float
    name: ClassVar[str] = "larger"

    def plan(self, context: Context, budget: Budget, /) -> Plan | None:
        size = replace(budget, target=int(self.times * budget.target))
        return STAGES["truncate"]().plan(context, size)


def preset(name: str, most: int) -> Preset:
    return Preset(name, Strategy(name, (DropsOld(most),)))


LAZY, HALF = preset("lazy", 0), preset("half", 50)


def recorded(n: int = 1) -> list[Session]:
    return [
        Session.of([said("Never use git stash.", "d"), *remembering(20)], id=f"s{i}")
        for i in range(n)
    ]


def test_a_context_is_marked_by_the_rule_of_the_comparison_at_equal_size(tmp_path: Path) -> None:
    found = list(
        ContextSpec(strategies=(LAZY, HALF, "truncate"), shares=(0.1, 0.3)).contexts(recorded())
    )
    marked = {(one.strategy, one.share): one.over_target for one in found}
    assert len(found) == len(marked) * 2
    assert marked["lazy", 0.1].startswith(f"{TOO_LARGE} at 2 of 2 boundaries, up to ")
    assert marked["half", 0.3].startswith(f"{TOO_LARGE} at 1 of 2 boundaries, up to ")
    assert not any(
        marked[name, share] for name in ("none", "null", "truncate") for share in (0.1, 0.3)
    )
    assert all(one.over_target for one in found if one.strategy == "half"), (
        "also at the first boundary"
    )
    run = compare(
        recorded(),
        strategies=(LAZY, HALF, "truncate"),
        shares=(0.1, 0.3),
        boundaries=(0.5, 0.8),
        model="extractive",
        out=tmp_path,
        quiet=True,
    )
    scores = run.scores[(run.scores["metric"] == "exam_recall") & (run.scores["mode"] == "matched")]
    large = scores[scores["why"].str.startswith(TOO_LARGE)]
    assert {(row.strategy, row.share): row.why for row in large.itertuples()} == {
        k: v for k, v in marked.items() if v
    }


@pytest.mark.parametrize(("times", "is_larger"), [(1.05, False), (1.2, True)])
def test_a_context_may_be_a_tenth_larger_than_the_size_that_was_set(
    times: float, is_larger: bool
) -> None:
    larger = Preset("larger", Strategy("larger", (Larger(times),)))
    found = ContextSpec(strategies=(larger,), shares=(0.3,)).contexts(recorded())
    marks = {bool(context.over_target) for context in found if context.strategy == "larger"}
    assert marks == {is_larger}


def test_nobody_is_asked_about_a_context_that_stays_larger(tmp_path: Path) -> None:
    reader = Knowing(recorded())
    exam_results = judge_exam(
        recorded(), model=reader, strategies=(LAZY, "truncate"), out=tmp_path / "a", **SAME
    )
    asked, reader.asked = reader.asked, 0
    judge_exam(recorded(), model=reader, strategies=("truncate",), out=tmp_path / "b", **SAME)
    assert reader.asked == asked and exam_results is not None
    own = exam_results.table[exam_results.table["strategy"] == "lazy"]
    assert own["reason"].str.startswith(TOO_LARGE).all() and len(own) == 2
    assert own["item"].isna().all() and (own["tokens"] > 1_000).all()
    by = {exam_score.strategy: exam_score for exam_score in scores(exam_results.table)}
    lazy = by["lazy"]
    assert (lazy.score, lazy.items, lazy.unanswered, lazy.over_target) == (None, 0, 0, 1)
    assert by["truncate"].score is not None and by["truncate"].over_target == 0
    written(tmp_path / "a", {})
    page = Report.open(tmp_path / "a").validation.html
    assert (
        "lazy stays larger than the size that was set in 1 of 1 session; it has no figures." in page
    )


def test_one_session_of_many_counts_for_nobody(tmp_path: Path) -> None:
    long = Session.of([said("Never use git stash.", "d"), *remembering(40)], id="long")
    what = [*recorded(10), long]
    exam_results = judge_exam(
        what,
        model=Knowing(what[-2:]),
        strategies=(preset("large", 100),),
        most=1,
        out=tmp_path,
        **SAME,
    )
    assert exam_results is not None
    by = {exam_score.strategy: exam_score for exam_score in scores(exam_results.table)}
    assert by["large"].over_target == 1
    assert {exam_score.sessions for exam_score in by.values()} == {10}


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_a_share_that_is_none_is_refused(share: float) -> None:
    with pytest.raises(SettingError, match=r"must be (less|more) than"):
        ContextSpec(strategies="truncate", shares=(share,))


def test_recordings_of_which_none_can_be_read_are_an_error_that_names_the_first(
    tmp_path: Path,
) -> None:
    (tmp_path / "cut.json").write_text('{"a": [1,')
    (tmp_path / "empty.jsonl").write_text("")
    grid = ContextSpec(strategies="truncate")
    with pytest.raises(SettingError, match=r"no session could be read: .*cut.json: "):
        list(grid.contexts(tmp_path / "cut.json"))
    with pytest.raises(MissingPath, match=r"there is no file or folder .*nosuch.jsonl"):
        list(grid.contexts(tmp_path / "nosuch.jsonl"))
    with pytest.raises(SettingError, match=r"cut.json: .* \(and 1 more\)"):
        list(grid.contexts(tmp_path))


def test_a_recording_that_cannot_be_read_is_named_and_the_others_are_used(tmp_path: Path) -> None:
    save(Session.of([rules("be brief"), *remembering(12)]), tmp_path / "good.jsonl")
    (tmp_path / "cut.json").write_text('{"a": [1,')
    (tmp_path / "README.md").write_text("what these are")
    with pytest.warns(LeftOut, match=r"left out: .*cut.json") as warnings_checker:
        assert list(ContextSpec(strategies="truncate", limit=1).contexts(tmp_path))
    assert len(warnings_checker) == 1
    with pytest.warns(LeftOut, match=r"left out: .*README.md"):
        assert list(
            ContextSpec(strategies="truncate").contexts(
                [tmp_path / "good.jsonl", tmp_path / "README.md"]
            )
        )
