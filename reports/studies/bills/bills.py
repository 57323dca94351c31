"""The tables of this study: how near predicted requests and bills come to the usage that recordings
report.

`bills.py bills PATHS...` measures it, keeps a row a session beside the page and writes the tables.
Without paths it writes them from the rows; with `--check` it says where page, rows and recordings
differ.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[3] / "docs"))

from rows import Frames, Part, run

from workbench.engine.models.cache_rules import CacheRules
from workbench.engine.models.tokenizer import TiktokenCounter
from workbench.evaluation.metrics.costs.pricing import Pricing, pricing
from workbench.evaluation.metrics.costs.reconciliation import (
    MISSED,
    PROMPT,
    READ,
    SIZES,
    UNWRITTEN,
    USD,
    Reconciliation,
    reconcile,
)
from workbench.evaluation.metrics.costs.replay_cost import seconds_between
from workbench.evaluation.replays.sizing import Sizing
from workbench.recordings.importers.importer import scan

PAGE = Path(__file__).parent / "README.md"
CLOSE, MOST, LEAST = 0.02, 0.03, 0.01
EARLIER = "found from an earlier session"
REASONS = {
    "missed at a user's message": (
        "misses where a user's message comes last, with no other change on record"
    ),
    "missed after a pause": (
        "misses while tools ran for a minute and more (within the promised time)"
    ),
    "missed for no reason on record": "misses for no reason on record",
    "missed after a change of the prompt": "misses after a change of the prompt",
    "found after its promised time": "finds after the promised time",
    EARLIER: "what an earlier session had written",
    "found otherwise": "other finds",
    UNWRITTEN: "cache writes that no report names",
}
"""Why a cache read is not as the rules have it, as the page says it."""
LAST = {"user": "a user's message stands last", "tool": "a tool's result stands last"}
SOON = 60.0
"""Seconds after the request before."""
FOUND = {
    "nothing": "nothing",
    "head": "the least that any request read, or little more",
    "older": "up to the end of an older prompt",
    "otherwise": "something else",
}
"""What a request that misses still reads."""
HEAD, NEAR = 1.2, 16
"""The head with what little may stand behind it; tokens by which a read may fall short of an
older prompt.
"""
LARGEST = ("largest", "second", "third")
"""The requests that are shown of each bill."""


def measured(paths: Sequence[str], _: bool) -> Frames:
    """A row a session with usage: errors of its requests, its reported dollars, the error by
    reason, and misses.
    """
    count = TiktokenCounter()
    rows = []
    for session in (
        session for loaded in scan(list(paths), lenient=True) for session in loaded.sessions
    ):
        priced = pricing(session)
        done = reconcile(session, Sizing.of(session, count.sizes(session.messages), count), priced)
        if len(done.predicted):
            errors = {name: done.error(name) for name in ("prompt", "read", "usd")}
            of = {
                "session": session.id,
                "format": session.origin.format,
                "reported": done.reported[:, USD].sum(),
            }
            reasons = {**dict.fromkeys((*REASONS, SIZES), 0.0), **done.reasons}
            found = {
                "marked": priced.rules.marked,
                **_requests(done, priced.rules),
                **_found(done, priced),
            }
            rows.append({**of, **errors, **reasons, **found, **_largest(done)})
    return {"": pd.DataFrame(rows)}


def _found(done: Reconciliation, priced: Pricing) -> dict[str, float]:
    """What the misses without a change of the prompt read: how many of each kind, and `by chance`
    an older prompt.

    That is the share of the blocks up to the prompt in which an older prompt ends.
    """
    found = dict.fromkeys((*FOUND, "by chance"), 0.0)
    block, reads = priced.rules.block, done.reported[:, READ]
    near = max(block, NEAR)
    for i, cause in enumerate(done.causes):
        if not cause.startswith("missed") or done.requests[i].turn:
            continue
        ends = {int(prompt) // near for prompt in done.reported[: max(i - 1, 0), PROMPT]}
        older = any(
            0 <= prompt - reads[i] < near for prompt in done.reported[: max(i - 1, 0), PROMPT]
        )
        head = reads[i] <= HEAD * (priced.head or 0)
        found[
            "nothing" if not reads[i] else "head" if head else "older" if older else "otherwise"
        ] += 1
        if reads[i] and not head:
            found["by chance"] += min(len(ends) * near / done.reported[i, PROMPT], 1)
    return found


def _largest(done: Reconciliation) -> dict[str, str]:
    """The requests that make most of a bill's error, as the page shows them."""
    whole = done.reported[:, USD].sum()
    off = (done.predicted - done.reported)[:, USD] / whole if whole else done.reported[:, USD]
    most = abs(off).argsort()[::-1].tolist()
    return {
        name: _shown(done, i, off[i]) if abs(off[i]) >= LEAST else ""
        for name, i in zip(LARGEST, most, strict=False)
    }


def _shown(done: Reconciliation, i: int, off: float) -> str:
    one = done.requests[i]
    before = done.requests[max(i - 1, 0) if one.begins_with is None else one.begins_with]
    waited = seconds_between(before.request.answer, one.request.answer) if i else None
    name, column = ("read", READ) if done.causes[i] else ("prompt", PROMPT)
    after = "" if waited is None else f"{waited:,.0f} s, "
    said, made = done.reported[i, column], done.predicted[i, column]
    return f"{i} {_percent(off, '+')} ({after}{name} {said:,.0f}, not {made:,.0f})"


def _requests(done: Reconciliation, rules: CacheRules) -> dict[str, int]:
    """How many requests come within the cache's lifetime after another, with no change of the
    prompt on record.

    By what stands last and how soon they come, and how many of them miss. `forgot` are those after
    a turn whose reasoning left, where it matters whether they read up to where the turn began or to
    its end, and which they do.
    """
    found = {
        f"{last} {when}{miss}": 0
        for last in LAST
        for when in ("soon", "late")
        for miss in ("", " missed")
    }
    found |= dict.fromkeys(("forgot", "forgot, to its start", "forgot, to all"), 0)
    for before, one, cause in zip(done.requests, done.requests[1:], done.causes[1:], strict=False):
        waited = seconds_between(before.request.answer, one.request.answer)
        usage = one.request.answer.usage
        if waited is None or waited > rules.seconds or one.request.change or usage is None:
            continue
        if rules.forgets and one.turn_before is not None:
            start, whole, near = (
                done.requests[one.turn_before].reported,
                before.reported,
                MISSED * usage.prompt,
            )
            if whole - start > 2 * near:
                found["forgot"] += 1
                found["forgot, to its start"] += abs(usage.cache_read - start) <= near
                found["forgot, to all"] += abs(usage.cache_read - whole) <= near
        if not one.turn:
            name = (
                f"{'user' if one.request.by_user else 'tool'}"
                f" {'soon' if waited <= SOON else 'late'}"
            )
            found[name] += 1
            found[f"{name} missed"] += cause.startswith("missed")
    return found


def bills(rows: pd.DataFrame) -> Iterator[str]:
    """What the page says of them."""
    close = {name: (rows[name] <= CLOSE).sum() for name in ("prompt", "read")}
    middle = {name: _percent(rows[name].median()) for name in ("prompt", "read", "usd")}
    said, errors = rows["reported"], rows[[*REASONS, SIZES]].sum(axis=1)
    yield (
        f"Over {len(rows)} sessions in {rows['format'].nunique()} formats, the median session's"
        " error is"
    )
    yield (
        f"{middle['prompt']} for prompt tokens ({close['prompt']} sessions within 2 %),"
        f" {middle['read']} for"
    )
    yield (
        f"cache reads ({close['read']} within 2 %) and {middle['usd']} for the dollars of a"
        " request. Writing costs"
    )
    yield "twelve times as much as reading, so a few hundred tokens matter."
    yield ""
    yield "The bill of a *whole* session is much less certain. By the rules it is off by"
    yield (
        f"{_middle(errors / said)} in the median, and by {_sum(errors, said)} for all dollars"
        " together;"
    )
    yield (
        f"{(abs(errors / said) > MOST).sum()} bills are off by more than 3 %. Nearly all of that is"
        " the provider's"
    )
    yield "cache, which no replay can know. Of all dollars:"
    yield ""
    yield from (f"- {title}: {_sum(rows[name], said)}" for name, title in REASONS.items())
    yield f"- {SIZES}: {_sum(rows[SIZES], said)}"
    yield ""
    known = (errors - rows[EARLIER]) / said
    yield (
        "What an earlier session had written is the same under every strategy. Once it is known,"
        " the median bill is"
    )
    yield (
        f"off by {_middle(known)}, and {(abs(known) > MOST).sum()} bills are off by more than 3 %."
    )
    yield (
        "With the cache reads that were reported in all of these requests, the median bill is"
        " off by"
    )
    left = rows[[SIZES, UNWRITTEN]].sum(axis=1)
    yield f"{_middle(left / said)}, and all dollars together by {_sum(left, said)}."
    yield ""
    yield (
        "Requests that miss, of those within the cache's lifetime and without a change of the"
        " prompt on record:"
    )
    yield ""
    yield "| cache | what stands last | within a minute | later |"
    yield "|---|---|---|---|"
    for marked, cache in ((True, "Anthropic's"), (False, "automatic ones")):
        own = rows[rows["marked"] == marked].sum(numeric_only=True)
        for last, title in LAST.items():
            cells = (
                f"{own[f'{last} {when} missed']:.0f} of {own[f'{last} {when}']:.0f}"
                for when in ("soon", "late")
            )
            yield f"| {cache} | {title} | {' | '.join(cells)} |"
    yield ""
    yield "What these and all other misses without a change of the prompt on record still read:"
    yield ""
    yield f"| cache | {' | '.join(FOUND.values())} |"
    yield f"|---{'|---' * len(FOUND)}|"
    for marked, cache in ((True, "Anthropic's"), (False, "automatic ones")):
        own = rows[rows["marked"] == marked].sum(numeric_only=True)
        chance = f" (by chance {own['by chance']:.0f})"
        cells = (f"{own[name]:.0f}{chance * (name == 'older')}" for name in FOUND)
        yield f"| {cache} | {' | '.join(cells)} |"
    yield ""
    forgot, to_start, to_all = (
        rows[name].sum() for name in ("forgot", "forgot, to its start", "forgot, to all")
    )
    yield (
        f"Of {forgot} requests behind a turn whose reasoning left the prompt, {to_start} read up to"
        " where that turn"
    )
    yield f"began, and {to_all} up to its end."


def _percent(value: float, sign: str = "") -> str:
    found = f"{value:{sign}.1%}".replace("%", " %")
    return found[1:] if found in ("-0.0 %", "+0.0 %") else found


def _middle(values: pd.Series) -> str:
    return _percent(values.abs().median())


def _sum(usd: pd.Series, said: pd.Series) -> str:
    return _percent(usd.sum() / said.sum(), "+")


PARTS = {"bills": Part(measure=measured, tell=bills)}


if __name__ == "__main__":
    sys.exit(run(PARTS, PAGE, sys.argv[1:]))
