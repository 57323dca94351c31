"""What stands against each claim: a sentence with figures and counts, and whether it holds."""

from __future__ import annotations

from collections.abc import Callable

from cache_claims import (
    avoidable_miss,
    caching_saves,
    clearing_breaks_the_cache,
    clearing_is_free,
    compact_before_full,
    exact_prefix,
    hundred_to_one,
)
from cost_claims import (
    codex_cut,
    condensers_cost_more,
    half_of_saved_tokens,
    half_with_cache,
    mask_cost,
    ninety_percent_less,
    openhands_halves,
    results_fill_contexts,
    summary_cost,
    web_search,
)
from findings import (
    Evidence,
    Finding,
)
from knowledge_claims import (
    first_edit,
    langchain_loses,
    less_context_is_better,
    lightest_touch,
    longer_with_summaries,
    mask_solves_as_much,
    names_are_weakest,
    opencode_keeps_half,
    rule_nearly_as_good,
    rules_are_dropped,
    rules_broken,
    summaries_drift,
)


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
