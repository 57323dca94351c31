"""Claims about a provider's cache, and when to compact."""

from __future__ import annotations

import pandas as pd
from cost_claims import (
    CACHED,
    WRITTEN,
    cost_ratio,
)
from findings import (
    STUDIES,
    Evidence,
    Finding,
    near,
    recordings,
    rows_of,
    within,
)

from workbench.base.formats import percent


def clearing_breaks_the_cache(evidence: Evidence) -> Finding:
    """What the request behind a recorded clearing found in the cache."""
    rows = evidence.compactions
    clearings = rows[rows["context"] == "clearing"]
    read_before = clearings["read_before"].median()
    read_after = clearings["read_after"].median()
    mask = evidence.maskable()
    reuse = mask.groupby("context")["reused"].sum() / mask.groupby("context")["sent"].sum()
    text = (
        f"behind {len(clearings)} clearings of Claude Code the cache gave {read_after:,.0f} tokens,"
        f" before them {read_before:,.0f}; in replays masking at every request leaves"
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
    at_half = more["`gemini_cli`"]
    at_eight_tenths = more["`opal`"]
    at_nine_tenths = more["`codex_local`"]
    text = (
        f"a trigger at half of the window (`gemini_cli`) costs {percent(at_half)} more than the cheapest"
        f" schedule, one at eight tenths (`opal`) {percent(at_eight_tenths)} more, one at nine tenths"
        f" (`codex_local`) {percent(at_nine_tenths)} more (window 128,000, {len(usd)} recordings); what is"
        " kept was not compared"
    )
    return Finding(text, at_half < at_nine_tenths)
