"""Claims about what agents and readers still know, and what they do."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[1] / "real-agents"))

from agent_trials import RULES, AgentTrial, trials
from cost_claims import (
    FLASH,
    published_runs,
)
from findings import (
    STUDIES,
    Evidence,
    Finding,
    Interval,
    near,
    rows_of,
)

from workbench.base.formats import percent
from workbench.lab.judge.work_exam.graded_answers import read_answers, read_names
from workbench.lab.simulation.simulated_rows import BLIND

MODEL = "folder:summaries"
"""A real model that wrote summaries."""
RULE = "extractive"
"""The rule that wrote summaries."""


def mask_solves_as_much(evidence: Evidence) -> Finding:
    """Success of an agent that asks no model."""
    tasks = rows_of("trials", "trials")
    success = tasks.groupby("strategy")["success"].mean()
    count = int(tasks[tasks["strategy"] == "summarize"]["tasks"].sum())
    return Finding(
        f"an agent that asks no model finishes {percent(success['clear_tool_uses'])} of {count} tasks"
        f" when old results are cleared, {percent(success['summarize'])} with summaries by program"
    )


def longer_with_summaries(evidence: Evidence) -> Finding:
    """How many answers real agents took more."""
    raw, summarised = answers_of("none"), answers_of("model")
    more = Interval.of(summarised - raw)
    requests = published_runs(FLASH)["requests"]
    text = (
        f"with a real model's summaries real agents took {summarised.mean():.1f} answers, without"
        f" compaction {raw.mean():.1f}; paired {more} more ({len(raw)} tasks); their rows:"
        f" {requests['LLM-Summary']:.1f} and {requests['Raw Agent']:.1f} requests"
    )
    return Finding(text, more.low > 0)


def answers_of(arm: str) -> pd.Series:
    """How many answers real agents took in an arm, by task."""
    return pd.Series({trial.task: float(trial.answers) for trial in agents(arm)})


@cache
def agent_trials() -> tuple[AgentTrial, ...]:
    """The trials of real agents."""
    return tuple(trials())


def agents(arm: str) -> list[AgentTrial]:
    """The trials of real agents in an arm."""
    return [trial for trial in agent_trials() if trial.arm == arm]


def first_edit(evidence: Evidence) -> Finding:
    """Calls before the first change of a file, cold and behind a compaction."""
    edits = evidence.edits.dropna(subset="actions")
    cold = edits[edits["context"] == "cold"]
    compacted = edits[edits["context"] == "compaction"]
    same = cold[cold["session"].isin(compacted["session"])]
    cold_calls = cold["actions"].median()
    compacted_calls = compacted["actions"].median()
    text = (
        f"median {compacted_calls:.0f} behind {len(compacted)} recorded compactions, {cold_calls:.0f} cold in"
        f" {len(cold)} recordings ({same['actions'].median():.0f} in the {len(same)} of them that"
        f" compacted), by the names of tools that change files"
    )
    return Finding(text, compacted_calls > cold_calls)


def rules_broken(evidence: Evidence) -> Finding:
    """Rules that real agents broke, and prohibitions that an agent without a model broke."""
    arms = {
        "none": "without compaction",
        "model": "with a real model's summaries",
        "rules": "with summaries by program",
        "truncate": "after truncation",
    }
    broken = {arm: len(rule_breakers(arm)) for arm in arms}
    count = len(agents("none"))
    counts = ", ".join([f"{broken[arm]} {words}" for arm, words in arms.items()])
    text = f"of {count} real agents an arm, so many broke a rule of the user's: {counts}"
    return Finding(text, near(broken["model"] / count, 0.3) and broken["none"] == 0)


def rule_breakers(arm: str) -> list[AgentTrial]:
    """The trials of an arm that failed a check of a rule which the user set."""
    return [trial for trial in agents(arm) if not set(RULES).isdisjoint(trial.failed)]


def successes(arm: str) -> int:
    """How many trials of an arm succeeded."""
    return sum([trial.success for trial in agents(arm)])


def rules_are_dropped(evidence: Evidence) -> Finding:
    """Under how many strategies a context lacks a prohibition, or tells it wrongly."""
    tasks = rows_of("trials", "trials")
    tasks = tasks[tasks["family"] == "prohibitions"]
    compacted = tasks[~tasks["strategy"].isin(["none", "null"])]
    dropped = compacted[compacted["blind"] + compacted["misread"] > 0]
    text = (
        f"in {compacted['tasks'].iloc[0]} tasks with prohibitions the contexts of {len(dropped)} of"
        f" {len(compacted)} strategies lack some or tell them wrongly (summaries by program)"
    )
    return Finding(text, len(dropped) > len(compacted) / 2)


@cache
def known_after(compactions: int) -> pd.Series:
    """What real readers knew of the work in the study of chains, by writer and recording."""
    answers = read_answers([STUDIES / "chains"])
    if compactions == 1:
        after_one = read_answers([STUDIES / "real-readers"])
        is_same_session = after_one["session"].isin(answers["session"])
        answers = after_one[is_same_session & (after_one["share"] == 0.1)]
    summarised = answers[answers["strategy"].isin(["summarize", "claude_code"])]
    return summarised.groupby(["writer", "session"])["score"].mean()


def summaries_drift(evidence: Evidence) -> Finding:
    """What three compactions in a row lose."""
    lost = known_after(1) - known_after(3)
    by_model, by_rule = Interval.of(lost[MODEL]), Interval.of(lost[RULE])
    text = (
        f"from the first to the third compaction a real model's summaries lose {by_model} of what"
        f" readers know of the work, those by program {by_rule} ({len(lost[MODEL])} recordings)"
    )
    return Finding(text, by_model.low > 0)


def rule_nearly_as_good(evidence: Evidence) -> Finding:
    """What readers know from a rule's text and from a model's."""
    work = known_after(1)
    by_model = work[MODEL].mean()
    by_rule = work[RULE].mean()
    text = (
        f"real readers know {by_model:.2f} of the work from a real model's summaries, {by_rule:.2f} from"
        f" those by program ({len(work[MODEL])} recordings); of {len(agents('model'))} tasks"
        f" {successes('model')} and {successes('rules')} succeeded"
    )
    return Finding(text, near(by_rule / by_model, 0.71 / 0.83))


@cache
def presets_known() -> pd.DataFrame:
    """What real readers knew of the work, and of exact names, from each preset's context."""
    folder = [STUDIES / "presets"]
    work = read_answers(folder).groupby("strategy")["score"].mean()
    names = read_names(folder).groupby("strategy")["score"].mean()
    return pd.DataFrame({"work": work, "names": names}).sort_values("work", ascending=False)


def opencode_keeps_half(evidence: Evidence) -> Finding:
    """What `opencode` tells of the work."""
    work = presets_known()["work"]
    place = list(work.index).index("opencode") + 1
    text = (
        f"readers know {work['opencode']:.2f} of the work from `opencode`, place {place} of"
        f" {len(work)} presets (10 recordings, the same model for all)"
    )
    return Finding(text, near(work["opencode"], 0.47))


def langchain_loses(evidence: Evidence) -> Finding:
    """How often LangChain's own settings asked their model, and what their contexts tell."""
    work = presets_known()["work"]
    requests = pd.read_csv(STUDIES / "presets" / "requests.csv", index_col="preset")
    asked, count = requests.loc["langchain_20", ["requests", "recordings"]].astype(int)
    text = (
        f"`langchain_20` asked its model in {asked} of {count} recordings, and only cut in the"
        f" others; readers know {work['langchain_20']:.2f} of the work from it,"
        f" {work.drop('langchain_20').min():.2f} or more from the other {len(work) - 1} presets"
    )
    return Finding(text, asked < count / 2)


def names_are_weakest(evidence: Evidence) -> Finding:
    """Exact names beside the work."""
    presets = presets_known()
    worse = int((presets["names"] < presets["work"]).sum())
    text = (
        f"exact names are known less than the work under {worse} of {len(presets)} presets, in the"
        f" mean {presets['names'].mean():.2f} and {presets['work'].mean():.2f} (10 recordings)"
    )
    return Finding(text, worse == len(presets))


def less_context_is_better(evidence: Evidence) -> Finding:
    """Success of real agents with the whole history and with less."""
    raw = successes("none")
    with_model = successes("model")
    text = (
        f"of {len(agents('none'))} tasks real agents finished {raw} with the whole history,"
        f" {with_model} with a real model's summaries, {successes('truncate')} after truncation"
    )
    return Finding(text, with_model > raw)


def lightest_touch(evidence: Evidence) -> Finding:
    """Actions without what they need, by strategy."""
    simulated = rows_of("closed-loop", "simulated")
    compacted = simulated.groupby("session")["compactions"].transform("min") > 0
    simulated = simulated[compacted]
    blind = simulated[[f"blind_{who}" for who in BLIND]].sum(axis=1)
    median = blind.groupby(simulated["strategy"]).median()
    text = (
        f"in the median simulated session {median['clear_tool_uses']:.1f} actions lacked what they"
        f" needed under `clear_tool_uses`, {median['summarize']:.1f} under `summarize`,"
        f" {median['truncate']:.1f} under `truncate` ({simulated['session'].nunique()} sessions)"
    )
    return Finding(text, median["clear_tool_uses"] < min(median["summarize"], median["truncate"]))
