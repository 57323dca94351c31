"""What stands against each claim: a sentence with figures and counts, and whether it holds."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pandas as pd
from scipy.stats import t

sys.path.insert(0, str(Path(__file__).parents[1] / "real-agents"))

from real_agents import RULES, AgentTrial, trials
from recordings import REQUESTS

from workbench.base.formats import percent
from workbench.lab.judge.work_exam.graded_answers import read_answers, read_names

STUDY = Path(__file__).parent
STUDIES = STUDY.parent
PUBLISHED = STUDY / "rows" / "published.csv"
"""The Complexity Trap's published rows, summed up by experiment."""

NEAR = 0.1
"""A ratio or a share is reproduced where it differs by this much at most."""
WRITTEN = 2.50 / 0.30
"""The price of a token that the model writes, in tokens that it reads: Gemini 2.5 Flash."""
CACHED = 0.1
"""The price of a token that is read from the cache, in tokens that are not."""
MODEL, RULE = "folder:summaries", "extractive"
"""Who wrote a summary."""


@dataclass(frozen=True)
class Finding:
    """What this project's figures say of a claim, and whether that is what the claim says."""

    text: str
    holds: bool = False


@dataclass(frozen=True)
class Evidence:
    """The rows that were measured for this study; see `recordings`."""

    compactions: pd.DataFrame
    costs: pd.DataFrame
    edits: pd.DataFrame
    sources: pd.DataFrame
    usage: pd.DataFrame

    def maskable(self) -> pd.DataFrame:
        """The costs of recordings whose first requests have a result to mask."""
        masked = self.costs[(self.costs["context"] == "mask") & (self.costs["compactions"] > 0)]
        return self.costs[self.costs["session"].isin(masked["session"])]


def near(value: float, published: float, by: float = NEAR) -> bool:
    """Whether a figure is as published, or nearly."""
    return abs(value - published) <= by


def signed_percent(share: float) -> str:
    """A change in per cent."""
    return f"{100 * share:+.0f} %"


def within(value: float, low: float, high: float, by: float = NEAR) -> bool:
    """Whether a figure lies in a published range, or nearly."""
    return low - by <= value <= high + by


@dataclass(frozen=True)
class Interval:
    """A mean of paired differences, with its 95 % interval from t."""

    mean: float
    low: float
    high: float

    @classmethod
    def of(cls, differences: pd.Series) -> Interval:
        """That of some differences, one a recording or task."""
        width = t.ppf(0.975, len(differences) - 1) * differences.sem()
        mean = differences.mean()
        return cls(mean, mean - width, mean + width)

    def __str__(self) -> str:
        mean, low, high = (round(value, 2) + 0 for value in (self.mean, self.low, self.high))
        return f"{mean:.2f} ({low:.2f} to {high:.2f})"


def price(costs: pd.DataFrame, cached: float, client: bool = False) -> pd.Series:
    """What each row costs, in tokens read without a cache; on demand with the client's own
    prompt, which is the same in all requests.
    """
    sent, reused = costs["sent"], costs["reused"]
    if client:
        sent = sent + REQUESTS * costs["overhead"]
        reused = reused + (REQUESTS - 1) * costs["overhead"]
    answers = WRITTEN * costs["written"]
    summaries = costs["summaries_read"] + WRITTEN * costs["summaries_written"]
    return sent - reused + cached * reused + answers + summaries


def cost_ratio(costs: pd.DataFrame, arm: str, cached: float = 1.0, client: bool = False) -> float:
    """What an arm costs of what the raw history costs, all recordings together."""
    totals = price(costs, cached, client).groupby(costs["context"]).sum()
    return float(totals[arm] / totals["raw"])


def tokens_saved(costs: pd.DataFrame, arm: str) -> float:
    """The share of the raw history's prompts that an arm does not send."""
    sent = costs.groupby("context")["sent"].sum()
    return float(1 - sent[arm] / sent["raw"])


def recordings(rows: pd.DataFrame) -> str:
    """How many recordings there are, of how many projects."""
    return f"{rows['session'].nunique()} recordings of {rows['project'].nunique()} projects"


def rows_of(study: str, name: str) -> pd.DataFrame:
    """The kept rows of another study; `null` is a strategy."""
    path = STUDIES / study / "rows" / f"{name}.csv"
    return pd.read_csv(path, keep_default_na=False, na_values=[""])


# The Complexity Trap


def published_runs(model: str) -> pd.DataFrame:
    """Its figures for a model in SWE-agent, by strategy."""
    published = pd.read_csv(PUBLISHED)
    of_model = published["experiment"].str.startswith(model)
    return published[of_model & (published["scaffold"] == "sweagent")].set_index("strategy")


FLASH = "gemini_2.5_flash-agent"


def published_ratio(strategy: str) -> float:
    """Its mean cost under a strategy, of that of the raw agent."""
    cost = published_runs(FLASH)["cost"]
    return float(cost[strategy] / cost["Raw Agent"])


def _cost_as_published(evidence: Evidence, arm: str, strategy: str) -> Finding:
    costs = evidence.maskable()
    ratio = cost_ratio(costs, arm)
    published = published_ratio(strategy)
    runs = int(published_runs(FLASH)["runs"].sum())
    text = (
        f"{ratio:.2f} without a cache and without the client's own prompt, over the first"
        f" {REQUESTS} requests of {recordings(costs)} ({cost_ratio(evidence.costs, arm):.2f} with"
        f" those that have no result to mask); with the client's prompt"
        f" {cost_ratio(costs, arm, client=True):.2f}; their {runs:,} rows: {published:.2f}"
    )
    return Finding(text, near(ratio, published))


def mask_cost(evidence: Evidence) -> Finding:
    """Masking's cost without a cache."""
    return _cost_as_published(evidence, "mask", "Observation Masking")


def summary_cost(evidence: Evidence) -> Finding:
    """Summaries' cost without a cache."""
    return _cost_as_published(evidence, "summary", "LLM-Summary")


def half_with_cache(evidence: Evidence) -> Finding:
    """Both, where the prefix is cached."""
    costs = evidence.maskable()
    mask = cost_ratio(costs, "mask", CACHED)
    summary = cost_ratio(costs, "summary", CACHED)
    text = (
        f"where a cached token costs a tenth, masking at every request costs {mask:.2f} of the raw"
        f" agent and summaries {summary:.2f} ({recordings(costs)})"
    )
    return Finding(text, near(mask, 0.5) and near(summary, 0.5))


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


def results_fill_contexts(evidence: Evidence) -> Finding:
    """How much of a context tools gave."""
    sources = evidence.sources
    share = sources["result"].sum() / sources["said"].sum()
    median = (sources["result"] / sources["said"]).median()
    text = (
        f"{percent(share)} of all tokens, {percent(median)} in the median recording, at its largest context"
        f" without the client's own prompt ({recordings(sources)})"
    )
    return Finding(text, near(median, 0.839))


# Costs


def half_of_saved_tokens(evidence: Evidence) -> Finding:
    """What clearing in batches saves of tokens and of cost."""
    costs = evidence.costs
    tokens = tokens_saved(costs, "clear")
    cost = 1 - cost_ratio(costs, "clear", CACHED)
    text = (
        f"`clear_tool_uses` saves {percent(tokens)} of the prompts' tokens and {percent(cost)} of the cost at"
        f" cached prices ({recordings(costs)}); AgentDiet's own method is not here"
    )
    return Finding(text, within(tokens, 0.399, 0.597) and within(cost, 0.211, 0.359))


def condensers_cost_more(evidence: Evidence) -> Finding:
    """What summaries cost in tokens and in dollars."""
    costs = evidence.costs
    sums = (
        costs.groupby("context")[["sent", "summaries_read", "summaries_written"]].sum().sum(axis=1)
    )
    change = sums["summary"] / sums["raw"] - 1
    tasks = rows_of("trials", "trials").groupby("strategy")["usd"].mean()
    dollars = tasks["summarize"] / tasks["none"] - 1
    text = (
        f"summaries change the tokens by {signed_percent(change)}, with all that the summariser reads"
        f" ({recordings(costs)}); in dollars, on short tasks with a cache, by {signed_percent(dollars)}"
    )
    return Finding(text, within(change, 0.24, 0.94))


def openhands_halves(evidence: Evidence) -> Finding:
    """What OpenHands' own settings cost, at first and late."""
    costs = evidence.costs
    last = costs.groupby("context")["last"].sum()
    turn = float(last["openhands"] / last["raw"])
    text = (
        f"the {REQUESTS}th request has {turn:.2f} of the raw agent's tokens; the first {REQUESTS}"
        f" together cost {cost_ratio(costs, 'openhands'):.2f} without a cache, and"
        f" {cost_ratio(costs, 'openhands', CACHED):.2f} with one ({recordings(costs)})"
    )
    return Finding(text, near(turn, 0.5))


def web_search(evidence: Evidence) -> Finding:
    """What clearing saves of coding sessions."""
    saved = tokens_saved(evidence.costs, "clear")
    return Finding(
        f"on recordings of coding the same clearing saves {percent(saved)} of the prompts' tokens in"
        f" {REQUESTS} requests ({recordings(evidence.costs)})"
    )


def ninety_percent_less(evidence: Evidence) -> Finding:
    """The most that is saved, of tokens and of the bill."""
    costs = evidence.costs
    arms = [arm for arm in costs["context"].unique() if arm != "raw"]
    tokens = max(tokens_saved(costs, arm) for arm in arms)
    cost = max(1 - cost_ratio(costs, arm, CACHED) for arm in arms)
    simulated = rows_of("closed-loop", "simulated")
    compacted = simulated.groupby("session")["compactions"].transform("min") > 0
    simulated = simulated[compacted]
    saved = simulated["saved_usd_net"] / simulated["usd_uncompacted"]
    best = saved.groupby(simulated["strategy"]).median().max()
    text = (
        f"the best of four ways saves {percent(tokens)} of the tokens, and {percent(cost)} of the cost with a"
        f" cache ({recordings(costs)}); with what has to be looked up again, the best of eight"
        f" strategies saves {percent(best)} ({simulated['session'].nunique()} sessions)"
    )
    return Finding(text, cost >= 0.9 - NEAR)


def codex_cut(evidence: Evidence) -> Finding:
    """What is left behind Codex's own compactions."""
    rows = evidence.compactions
    codex = rows[(rows["format"] == "codex") & (rows["context"] == "compaction")]
    before, after = codex["before"].median(), codex["after"].median()
    text = (
        f"median {before:,.0f} to {after:,.0f} tokens ({len(codex)} compactions in"
        f" {recordings(codex)})"
    )
    return Finding(text, near(after / before, 25_568 / 242_288))


# Caches


def clearing_breaks_the_cache(evidence: Evidence) -> Finding:
    """What the request behind a recorded clearing found in the cache."""
    rows = evidence.compactions
    clearings = rows[rows["context"] == "clearing"]
    before, after = clearings["read_before"].median(), clearings["read_after"].median()
    mask = evidence.maskable()
    reuse = mask.groupby("context")["reused"].sum() / mask.groupby("context")["sent"].sum()
    text = (
        f"behind {len(clearings)} clearings of Claude Code the cache gave {after:,.0f} tokens,"
        f" before them {before:,.0f}; in replays masking at every request leaves"
        f" {percent(reuse['mask'])} of a prompt unchanged, no compaction {percent(reuse['raw'])}"
        f" ({recordings(mask)})"
    )
    return Finding(text, bool((clearings["read_after"] < clearings["read_before"] / 2).all()))


def clearing_is_free(evidence: Evidence) -> Finding:
    """What clearing a little at every request costs, beside clearing much seldom."""
    costs = evidence.maskable()
    each = cost_ratio(costs, "mask", CACHED)
    batches = cost_ratio(costs, "clear", CACHED)
    text = (
        f"at cached prices clearing at every request costs {each:.2f} of the raw history, in"
        f" batches (Anthropic's settings) {batches:.2f} ({recordings(costs)})"
    )
    return Finding(text, each <= 1)


def caching_saves(evidence: Evidence) -> Finding:
    """What the reported cache reads save."""
    usage = evidence.usage[evidence.usage["read"] > 0]
    answers = WRITTEN * usage["written"]
    plain = usage["prompt"] + answers
    saved = 1 - (plain - (1 - CACHED) * usage["read"]) / plain
    text = (
        f"{percent(saved.median())} in the median recording that reports cache reads at a tenth of the"
        f" price, quartiles {percent(saved.quantile(0.25))} and {percent(saved.quantile(0.75))}"
        f" ({recordings(usage)})"
    )
    return Finding(text, within(saved.median(), 0.45, 0.80))


def hundred_to_one(evidence: Evidence) -> Finding:
    """Tokens read for one that is written."""
    usage = evidence.usage
    ratio = usage["prompt"] / usage["written"].clip(lower=1)
    text = (
        f"{ratio.median():.0f} to 1 in the median recording, quartiles {ratio.quantile(0.25):.0f}"
        f" and {ratio.quantile(0.75):.0f} ({recordings(usage)})"
    )
    return Finding(text, 50 <= ratio.median() <= 200)


def exact_prefix(evidence: Evidence) -> Finding:
    """How often a request that only adds a tool's result misses the cache."""
    bills = rows_of("bills", "bills")
    requests = int(bills["tool soon"].sum())
    missed = int(bills["tool soon missed"].sum())
    text = (
        f"{missed} of {requests:,} requests that only added a tool's result within a minute missed"
        f" the cache ({len(bills)} recordings with bills)"
    )
    return Finding(text, missed / requests < 0.05)


def avoidable_miss(evidence: Evidence) -> Finding:
    """How much of a compaction's cost a cached prefix would save."""
    requests = pd.read_csv(STUDIES / "presets" / "requests.csv", index_col="preset")
    opencode = requests.loc["opencode"]
    read, written = 3 * opencode["tokens_read"], 15 * opencode["tokens_written"]
    share = (1 - CACHED) * read / (read + written)
    text = (
        f"{percent(share)} for `opencode`, were all that the summariser reads cached, at $3 and $15 a"
        f" million tokens ({opencode['recordings']:.0f} recordings)"
    )
    return Finding(text, near(share, 0.9))


def compact_before_full(evidence: Evidence) -> Finding:
    """What early and late triggers cost more than the cheapest schedule."""
    timing = rows_of("timing", "timing")
    timing = timing[(timing["strategy"] == "summarize") & (timing["window"] == 128_000)]
    usd = timing.pivot_table("usd", ["project", "session"], "context")
    more = usd.div(usd["the cheapest"], axis=0).sub(1).groupby("project").mean().mean()
    half, most = more["`gemini_cli`"], more["`codex_local`"]
    in_between = more["`opal`"]
    text = (
        f"a trigger at half of the window (`gemini_cli`) costs {percent(half)} more than the cheapest"
        f" schedule, one at eight tenths (`opal`) {percent(in_between)} more, one at nine tenths"
        f" (`codex_local`) {percent(most)} more (window 128,000, {len(usd)} recordings); what is"
        " kept was not compared"
    )
    return Finding(text, half < most)


# What is kept


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
    before, after = cold["actions"].median(), compacted["actions"].median()
    text = (
        f"median {after:.0f} behind {len(compacted)} recorded compactions, {before:.0f} cold in"
        f" {len(cold)} recordings ({same['actions'].median():.0f} in the {len(same)} of them that"
        f" compacted), by the names of tools that change files"
    )
    return Finding(text, after > before)


def rules_broken(evidence: Evidence) -> Finding:
    """Rules that real agents broke, and prohibitions that an agent without a model broke."""
    arms = {
        "none": "without compaction",
        "model": "with a real model's summaries",
        "rules": "with summaries by program",
        "truncate": "after truncation",
    }
    broken = {arm: sum(broke_a_rule(trial) for trial in agents(arm)) for arm in arms}
    count = len(agents("none"))
    told = ", ".join(f"{broken[arm]} {words}" for arm, words in arms.items())
    text = f"of {count} real agents an arm, so many broke a rule of the user's: {told}"
    return Finding(text, near(broken["model"] / count, 0.3) and broken["none"] == 0)


def broke_a_rule(trial: AgentTrial) -> bool:
    """Whether a trial failed a check of a rule that the user set."""
    return any(check in RULES for check in trial.failed)


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
    known = read_answers([STUDIES / "chains"])
    if compactions == 1:
        once = read_answers([STUDIES / "real-readers"])
        same_places = once["session"].isin(known["session"]) & (once["share"] == 0.1)
        known = once[same_places]
    summarised = known[known["strategy"].isin(["summarize", "claude_code"])]
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
    known = known_after(1)
    model, rule = known[MODEL].mean(), known[RULE].mean()
    by_model, by_rule = agents("model"), agents("rules")
    text = (
        f"real readers know {model:.2f} of the work from a real model's summaries, {rule:.2f} from"
        f" those by program ({len(known[MODEL])} recordings); of {len(by_model)} tasks"
        f" {sum(trial.success for trial in by_model)} and"
        f" {sum(trial.success for trial in by_rule)} succeeded"
    )
    return Finding(text, near(rule / model, 0.71 / 0.83))


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
    known = presets_known()
    worse = int((known["names"] < known["work"]).sum())
    text = (
        f"exact names are known less than the work under {worse} of {len(known)} presets, in the"
        f" mean {known['names'].mean():.2f} and {known['work'].mean():.2f} (10 recordings)"
    )
    return Finding(text, worse == len(known))


def less_context_is_better(evidence: Evidence) -> Finding:
    """Success of real agents with the whole history and with less."""
    arms = ("none", "model", "truncate")
    raw, model, cut = (sum(trial.success for trial in agents(arm)) for arm in arms)
    text = (
        f"of {len(agents('none'))} tasks real agents finished {raw} with the whole history, {model}"
        f" with a real model's summaries, {cut} after truncation"
    )
    return Finding(text, model > raw)


def lightest_touch(evidence: Evidence) -> Finding:
    """Actions without what they need, by strategy."""
    simulated = rows_of("closed-loop", "simulated")
    compacted = simulated.groupby("session")["compactions"].transform("min") > 0
    simulated = simulated[compacted]
    blind = simulated[[name for name in simulated if name.startswith("blind_")]].sum(axis=1)
    median = blind.groupby(simulated["strategy"]).median()
    text = (
        f"in the median simulated session {median['clear_tool_uses']:.1f} actions lacked what they"
        f" needed under `clear_tool_uses`, {median['summarize']:.1f} under `summarize`,"
        f" {median['truncate']:.1f} under `truncate` ({simulated['session'].nunique()} sessions)"
    )
    return Finding(text, median["clear_tool_uses"] < min(median["summarize"], median["truncate"]))


def nothing(evidence: Evidence) -> Finding:
    """No figure of ours bears on it."""
    return Finding("no figure")


EVIDENCE: dict[str, Callable[[Evidence], Finding]] = {
    function.__name__: function
    for function in (
        mask_cost, summary_cost, half_with_cache, mask_solves_as_much, longer_with_summaries,
        results_fill_contexts, half_of_saved_tokens, condensers_cost_more, openhands_halves,
        web_search, ninety_percent_less, codex_cut, clearing_breaks_the_cache, clearing_is_free,
        caching_saves, hundred_to_one, exact_prefix, avoidable_miss, compact_before_full,
        first_edit, rules_broken, rules_are_dropped, summaries_drift, rule_nearly_as_good,
        opencode_keeps_half, langchain_loses, names_are_weakest, less_context_is_better,
        lightest_touch, nothing,
    )
}  # fmt: skip
"""The functions by the names that claims.toml has."""
