"""Claims about what compaction costs and saves."""

from __future__ import annotations

import pandas as pd
from findings import (
    NEAR,
    STUDY,
    Evidence,
    Finding,
    near,
    recordings,
    rows_of,
    signed_percent,
    within,
)
from recordings import REQUESTS

from workbench.base.formats import percent

PUBLISHED = STUDY / "rows" / "published.csv"
"""The Complexity Trap's published rows, summed up by experiment."""
WRITTEN = 2.50 / 0.30
"""The price of a token that the model writes, in tokens that it reads: Gemini 2.5 Flash."""
CACHED = 0.1
"""The price of a token that is read from the cache, in tokens that are not."""


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
    newest_prompt = costs.groupby("context")["last"].sum()
    ratio = float(newest_prompt["openhands"] / newest_prompt["raw"])
    text = (
        f"the {REQUESTS}th request has {ratio:.2f} of the raw agent's tokens; the first {REQUESTS}"
        f" together cost {cost_ratio(costs, 'openhands'):.2f} without a cache, and"
        f" {cost_ratio(costs, 'openhands', CACHED):.2f} with one ({recordings(costs)})"
    )
    return Finding(text, near(ratio, 0.5))


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
    tokens_before = codex["before"].median()
    tokens_after = codex["after"].median()
    text = (
        f"median {tokens_before:,.0f} to {tokens_after:,.0f} tokens ({len(codex)} compactions in"
        f" {recordings(codex)})"
    )
    return Finding(text, near(tokens_after / tokens_before, 25_568 / 242_288))
