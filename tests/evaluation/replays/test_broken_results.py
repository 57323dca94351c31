"""A strategy of one's own that breaks a rule of the engine, raises or gives no plan: a replay and a
comparison say which rule, which stage and where, and score nothing that did not happen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from builders import remembering, rules
from workbench import (
    AtShare,
    Budget,
    Context,
    Findings,
    Plan,
    PlanError,
    Preset,
    Replace,
    Replay,
    Report,
    Results,
    Session,
    Strategy,
    compare,
    preset,
    replay,
)

SESSION = Session.of([rules("be brief"), *remembering(40)], id="s0", project="p0")
WINDOW = 2_000


def nothing_is_left(context: Context, budget: Budget) -> Plan:
    return Plan((Replace(0, len(context.messages), ()),))


def newest_is_doubled(context: Context, budget: Budget) -> Plan:
    newest = context.messages[-1]
    end = len(context.messages)
    return Plan((Replace(end, end, (newest, newest)),))


def results_are_dropped(context: Context, budget: Budget) -> Plan:
    for place, message in enumerate(context.messages):
        if message.role == "tool":
            return Plan((Replace(place, place + 1, ()),))
    raise LookupError("no result")


def raises(context: Context, budget: Budget) -> Plan:
    raise ZeroDivisionError("by me")


def gives_words(context: Context, budget: Budget) -> Plan:
    words: Any = "nothing to do"
    plan: Plan = words
    return plan


def reaches_outside(context: Context, budget: Budget) -> Plan:
    return Plan((Replace(3, 9_999, ()),))


@dataclass(frozen=True)
class Own:
    """A stage that plans by a function."""

    name: str
    how: Callable[[Context, Budget], Plan | None]

    def plan(self, context: Context, budget: Budget) -> Plan | None:
        return self.how(context, budget)


def own(how: Callable[[Context, Budget], Plan | None]) -> Preset:
    """A preset of one stage that plans so."""
    return Preset("mine", Strategy("mine", (Own("my_stage", how),)), AtShare(0.8))


def replayed(how: Callable[[Context, Budget], Plan | None]) -> Replay:
    return replay(SESSION, own(how), window=WINDOW)


BROKEN: dict[Callable[[Context, Budget], Plan], str] = {
    nothing_is_left: "a pinned message is gone or was changed",
    newest_is_doubled: "occurs 3 times",
    results_are_dropped: "lost its result",
}
"""What breaks a rule, and the rule in words."""
FAULTS: dict[Callable[[Context, Budget], Plan], str] = {
    raises: "stage 'my_stage' raised ZeroDivisionError: by me",
    gives_words: "stage 'my_stage' returned 'nothing to do'; a wb.Plan or None would be accepted",
    reaches_outside: "stage 'my_stage' gave a plan that does not fit: the edit [3, 9999)",
}
"""What ends a replay, and the error."""


@pytest.mark.parametrize("how", BROKEN)
def test_a_replay_says_which_stage_broke_which_rule_and_where(
    how: Callable[[Context, Budget], Plan],
) -> None:
    done = replayed(how)
    first = done.broken[0]
    assert first.stage == "my_stage" and BROKEN[how] in first.rules[0]
    place = f"first before message {first.message} (request {first.request}): {first.rules[0]}"
    for words in (done.broken_in_words, repr(done), done._repr_html_()):
        assert "broke a rule in" in words
    assert place in done.broken_in_words
    assert done.broken_in_words.startswith("stage 'my_stage' broke a rule in")
    assert done.is_all_undone and not done.events


def test_a_sound_strategy_breaks_nothing() -> None:
    done = replay(SESSION, "truncate", window=WINDOW)
    assert done.events and not done.broken and not done.is_all_undone
    assert "broke" not in repr(done)


@pytest.mark.parametrize("how", FAULTS)
def test_a_fault_of_a_stage_ends_a_replay_with_its_name_and_place(
    how: Callable[[Context, Budget], Plan],
) -> None:
    with pytest.raises(PlanError, match=r"; before message \d+ \(request \d+\)$") as error:
        replayed(how)
    assert str(error.value).startswith(FAULTS[how])


def test_the_error_of_a_stage_stands_behind_ours() -> None:
    with pytest.raises(PlanError) as error:
        replayed(raises)
    assert isinstance(error.value.__cause__, ZeroDivisionError)


@dataclass(frozen=True)
class EveryOther:
    """Drops all of a context of an odd number of messages, and cuts the others as it should."""

    name: str = "now_and_then"

    def plan(self, context: Context, budget: Budget) -> Plan | None:
        if len(context.messages) % 2:
            return nothing_is_left(context, budget)
        (stage,) = preset("truncate").strategy.stages
        return stage.plan(context, budget)


def compared(folder: Path) -> Results:
    """Strategies that break a rule always, in some compactions, and that raise an error."""
    strategies: dict[str, Own | EveryOther] = {
        "always": Own("my_stage", nothing_is_left),
        "sometimes": EveryOther(),
        "raising": Own("my_stage", raises),
    }
    presets: list[str | Preset] = ["truncate"]
    for name, stage in strategies.items():
        presets.append(Preset(name, Strategy(name, (stage,)), AtShare(0.8)))
    return compare(
        [SESSION],
        strategies=presets,
        window=WINDOW,
        shares=(0.3,),
        model="extractive",
        out=folder,
        quiet=True,
    )


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return compared(tmp_path_factory.mktemp("broken"))


def test_what_no_compaction_of_was_used_is_not_scored(results: Results) -> None:
    scores = results.scores
    is_own_trigger = (scores["strategy"] == "always") & (scores["mode"] == "natural")
    rows = scores[is_own_trigger].set_index("metric")
    for metric in ("exam_recall", "tokens_saved", "cost_saved"):
        assert rows["value"].isna()[metric]
        assert rows.loc[metric, "why"].startswith("no compaction was used: stage 'my_stage' broke")
    assert rows.loc["violations", "value"] > 0
    assert "first before message" in rows.loc["violations", "why"]
    assert "always" not in set(results.costs["strategy"])
    retention = results.retention
    assert "always" not in set(retention[retention["mode"] == "natural"]["strategy"])


def test_what_broke_a_rule_now_and_then_is_scored_and_named(results: Results) -> None:
    scores = results.scores
    is_own_trigger = (scores["strategy"] == "sometimes") & (scores["mode"] == "natural")
    rows = scores[is_own_trigger].set_index("metric")
    assert rows["value"].notna()["tokens_saved"]
    assert rows.loc["violations", "value"] > 0


def test_the_answer_of_a_comparison_names_rule_stage_place_and_failures(results: Results) -> None:
    verdict = str(Findings.of(results).verdict)
    assert (
        "always breaks rules of the engine in 1 of 1 session. In s0: stage 'my_stage' broke a rule"
        in verdict
    )
    assert "sometimes breaks rules of the engine in 1 of 1 session." in verdict
    assert "truncate breaks" not in verdict
    assert (
        "1 replay failed and is missing from every figure: raising (stage 'my_stage' raised"
        " ZeroDivisionError: by me; before message"
    ) in verdict
    assert Findings.of(results).recommended not in ("always", "raising")


def test_the_page_counts_what_was_broken_on_a_strategys_own_trigger_too(results: Results) -> None:
    rows = Report(results).integrity.data
    assert rows is not None
    counts = rows.set_index("strategy")["violations"]
    scores = results.scores
    broken = scores[scores["metric"] == "violations"].groupby("strategy")["value"].sum()
    assert counts["always"] == broken["always"] > 0
    assert counts["truncate"] == 0


def test_a_compaction_in_which_two_stages_of_one_name_break_rules_counts_once() -> None:
    stage = Own("my_stage", nothing_is_left)
    twice = Preset("mine", Strategy("mine", (stage, stage)), AtShare(0.8))
    done = replay(SESSION, twice, window=WINDOW)
    places = {result.message for result in done.broken}
    assert len(done.broken) == 2 * len(places)
    assert f"broke a rule in {len(places)} compaction" in done.broken_in_words
