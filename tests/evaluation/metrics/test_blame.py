from __future__ import annotations

from dataclasses import dataclass

from builders import remembering, rules
from workbench import (
    Budget,
    Context,
    MetricInput,
    Plan,
    Preset,
    Session,
    Strategy,
    find_model,
    preset,
)
from workbench.engine.compaction.plan import Stage
from workbench.engine.compaction.stages import BUILTIN as STAGES
from workbench.engine.transcript.message import chars_per_token
from workbench.evaluation.metrics.index import Index
from workbench.evaluation.metrics.view import culprits
from workbench.evaluation.replays.matched import matched
from workbench.evaluation.replays.sizing import Sizing

MESSAGES = (rules("be brief"), *remembering(50))
SESSION = Session.of(MESSAGES)
SIZING = Sizing.of(SESSION, [chars_per_token(message) for message in MESSAGES], chars_per_token)
INDEX = Index(MESSAGES)
AT = 121


@dataclass(frozen=True)
class Eighth:
    """Truncates to an eighth of what is there, whatever the budget says."""

    name: str = "eighth"

    def plan(self, context: Context, budget: Budget) -> Plan | None:
        return STAGES["truncate"]().plan(
            context, Budget(target=context.tokens // 8, window=budget.window)
        )


def blamed(*stages: Stage, share: float = 0.1) -> tuple[list[str], list[str]]:
    part = Preset("made", Strategy("made", stages))
    replay = matched(
        SESSION,
        part,
        find_model("extractive"),
        SIZING,
        window=9_000,
        boundaries=(AT,),
        shares=(share,),
    )
    data = MetricInput(replay, INDEX, share)
    (one,) = data.retained
    return list(culprits(one.retention, data.versions)), [
        need.entity.text for need in one.demand.needs
    ]


def test_what_is_kept_has_no_culprit() -> None:
    found, _ = blamed()
    assert set(found) == {""}


def test_the_stage_that_drops_the_evidence_is_to_blame() -> None:
    found, needs = blamed(STAGES["truncate"]())
    assert len(found) == len(needs)
    assert set(found) == {"", "truncate"}


def test_each_of_two_stages_is_blamed_for_its_own_losses() -> None:
    found, _ = blamed(Eighth(), STAGES["truncate"](), share=0.03)
    alone, _ = blamed(Eighth(), share=0.03)
    assert {"eighth", "truncate"} <= set(found)
    assert [name == "eighth" for name in found] == [name == "eighth" for name in alone]


def test_what_is_kept_and_not_shown_is_lost_by_the_view() -> None:
    part = Preset("made", Strategy("made", (), view=(STAGES["truncate"](),)))
    replay = matched(
        SESSION,
        part,
        find_model("extractive"),
        SIZING,
        window=9_000,
        boundaries=(AT,),
        shares=(0.1,),
    )
    data = MetricInput(replay, INDEX, 0.1)
    (one,) = data.retained
    assert set(culprits(one.retention, data.versions)) <= {"", "view"}


def test_the_pipeline_blames_only_its_own_stages() -> None:
    part = preset("pipeline")
    replay = matched(
        SESSION,
        part,
        find_model("extractive"),
        SIZING,
        window=9_000,
        boundaries=(AT,),
        shares=(0.05,),
    )
    data = MetricInput(replay, INDEX, 0.05)
    (one,) = data.retained
    names = {"", "view"} | {stage.name for stage in part.strategy.stages}
    assert set(culprits(one.retention, data.versions)) <= names
