"""The tables of this study: how near predicted requests and bills come to the usage that recordings
report.

`bills.py bills PATHS...` measures it, keeps a row a session beside the page and writes the tables.
Without paths it writes them from the rows; with `--check` it says where page, rows and recordings
differ.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TypeAlias

import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[3] / "docs"))

from rows import Frames, Part, run

from workbench.engine.models.cache_rules import CacheRules
from workbench.engine.models.tokenizer import TiktokenCounter
from workbench.engine.transcript.session import Session
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
from workbench.evaluation.metrics.costs.request_charge import seconds_between
from workbench.evaluation.replays.sizing import Sizing
from workbench.recordings.importers.importer import scan

PAGE = Path(__file__).parent / "README.md"
Row: TypeAlias = dict[str, object]
CLOSE = 0.02
"""An error of tokens up to which they count as right."""
MOST = 0.03
"""The error above which a bill counts as off."""
LEAST = 0.01
"""The share of a bill below which a request's error is not shown."""
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
HEAD = 1.2
"""Of the head, what a read may have with what little stands behind it."""
NEAR = 16
"""Tokens by which a read may fall short of an older prompt."""
CACHES = {True: "Anthropic's", False: "automatic ones"}
"""By whether a request marks what is to be cached, how the page calls the caches."""
LARGEST = ("largest", "second", "third")
"""The requests that are shown of each bill."""


def measured(paths: Sequence[str], _: bool) -> Frames:
    """A row a session with usage: errors of its requests, its reported dollars, the error by
    reason, and misses.
    """
    count = TiktokenCounter()
    rows: list[Row] = []
    for loaded in scan(list(paths), lenient=True):
        for session in loaded.sessions:
            priced = pricing(session)
            sizing = Sizing.of(session, count.sizes(session.messages), count)
            reconciliation = reconcile(session, sizing, priced)
            if len(reconciliation.predicted):
                rows.append(_row(session, reconciliation, priced))
    return {"": pd.DataFrame(rows)}


def _row(session: Session, reconciliation: Reconciliation, priced: Pricing) -> Row:
    row: Row = {
        "session": session.id,
        "format": session.origin.format,
        "reported": reconciliation.reported[:, USD].sum(),
    }
    for name in ("prompt", "read", "usd"):
        row[name] = reconciliation.error(name)
    row |= dict.fromkeys((*REASONS, SIZES), 0.0)
    row |= reconciliation.reasons
    row["marked"] = priced.rules.marked
    row |= _requests(reconciliation, priced.rules)
    row |= _reads_of_misses(reconciliation, priced)
    row |= _largest(reconciliation)
    return row


def _reads_of_misses(reconciliation: Reconciliation, priced: Pricing) -> dict[str, float]:
    """What the misses without a change of the prompt read: how many of each kind, and `by chance`
    an older prompt.

    That is the share of the blocks up to the prompt in which an older prompt ends.
    """
    counts = dict.fromkeys((*FOUND, "by chance"), 0.0)
    reported = reconciliation.reported
    near = max(priced.rules.block, NEAR)
    head_tokens = HEAD * (priced.head or 0)
    for i, cause in enumerate(reconciliation.causes):
        if not cause.startswith("missed") or reconciliation.requests[i].turn:
            continue
        read = reported[i, READ]
        older_prompts = reported[: max(i - 1, 0), PROMPT]
        if not read:
            counts["nothing"] += 1
            continue
        if read <= head_tokens:
            counts["head"] += 1
            continue
        ends_older_prompt = any(0 <= prompt - read < near for prompt in older_prompts)
        counts["older" if ends_older_prompt else "otherwise"] += 1
        blocks = {int(prompt) // near for prompt in older_prompts}
        counts["by chance"] += min(len(blocks) * near / reported[i, PROMPT], 1)
    return counts


def _largest(reconciliation: Reconciliation) -> dict[str, str]:
    """The requests that make most of a bill's error, as the page shows them."""
    bill = reconciliation.reported[:, USD].sum()
    errors = reconciliation.reported[:, USD]
    if bill:
        errors = (reconciliation.predicted - reconciliation.reported)[:, USD] / bill
    by_size = abs(errors).argsort()[::-1].tolist()
    shown: dict[str, str] = {}
    for name, i in zip(LARGEST, by_size, strict=False):
        shown[name] = ""
        if abs(errors[i]) >= LEAST:
            shown[name] = _shown(reconciliation, i, errors[i])
    return shown


def _shown(reconciliation: Reconciliation, i: int, error: float) -> str:
    """A request, with its share of the bill's error, how long it waited and what is off."""
    request = reconciliation.requests[i]
    earlier_place = request.begins_with
    if earlier_place is None:
        earlier_place = max(i - 1, 0)
    waited = ""
    if i:
        earlier = reconciliation.requests[earlier_place]
        seconds = seconds_between(earlier.request.answer, request.request.answer)
        if seconds is not None:
            waited = f"{seconds:,.0f} s, "
    name, column = ("read", READ) if reconciliation.causes[i] else ("prompt", PROMPT)
    reported = reconciliation.reported[i, column]
    predicted = reconciliation.predicted[i, column]
    return f"{i} {_percent(error, '+')} ({waited}{name} {reported:,.0f}, not {predicted:,.0f})"


def _requests(reconciliation: Reconciliation, rules: CacheRules) -> dict[str, int]:
    """How many requests come within the cache's lifetime after another, with no change of the
    prompt on record.

    By what stands last and how soon they come, and how many of them miss. `forgot` are those after
    a turn whose reasoning left, where it matters whether they read up to where the turn began or to
    its end, and which they do.
    """
    counts: dict[str, int] = {}
    for last_role in LAST:
        for when in ("soon", "late"):
            counts[f"{last_role} {when}"] = 0
            counts[f"{last_role} {when} missed"] = 0
    counts |= dict.fromkeys(("forgot", "forgot, to its start", "forgot, to all"), 0)
    requests = reconciliation.requests
    for i, (earlier, request) in enumerate(pairwise(requests), 1):
        seconds = seconds_between(earlier.request.answer, request.request.answer)
        usage = request.request.answer.usage
        if seconds is None or seconds > rules.seconds or request.request.change or usage is None:
            continue
        if rules.forgets and request.turn_before is not None:
            turn_start_tokens = requests[request.turn_before].reported
            near = MISSED * usage.prompt
            if earlier.reported - turn_start_tokens > 2 * near:
                counts["forgot"] += 1
                counts["forgot, to its start"] += abs(usage.cache_read - turn_start_tokens) <= near
                counts["forgot, to all"] += abs(usage.cache_read - earlier.reported) <= near
        if not request.turn:
            last_role = "user" if request.request.by_user else "tool"
            when = "soon" if seconds <= SOON else "late"
            counts[f"{last_role} {when}"] += 1
            is_missed = reconciliation.causes[i].startswith("missed")
            counts[f"{last_role} {when} missed"] += is_missed
    return counts


def bills(rows: pd.DataFrame) -> Iterator[str]:
    """What the page says of them."""
    yield from _errors_of_requests(rows)
    yield ""
    yield from _errors_of_bills(rows)
    yield ""
    yield (
        "Requests that miss, of those within the cache's lifetime and without a change of the"
        " prompt on record:"
    )
    yield ""
    yield from _misses_table(rows)
    yield ""
    yield "What these and all other misses without a change of the prompt on record still read:"
    yield ""
    yield from _reads_table(rows)
    yield ""
    forgot = rows["forgot"].sum()
    to_start = rows["forgot, to its start"].sum()
    to_all = rows["forgot, to all"].sum()
    yield (
        f"Of {forgot} requests behind a turn whose reasoning left the prompt, {to_start} read up to"
        " where that turn"
    )
    yield f"began, and {to_all} up to its end."


def _errors_of_requests(rows: pd.DataFrame) -> Iterator[str]:
    close = {name: (rows[name] <= CLOSE).sum() for name in ("prompt", "read")}
    medians = {name: _percent(rows[name].median()) for name in ("prompt", "read", "usd")}
    yield (
        f"Over {len(rows)} sessions in {rows['format'].nunique()} formats, the median session's"
        " error is"
    )
    yield (
        f"{medians['prompt']} for prompt tokens ({close['prompt']} sessions within 2 %),"
        f" {medians['read']} for"
    )
    yield (
        f"cache reads ({close['read']} within 2 %) and {medians['usd']} for the dollars of a"
        " request. Writing costs"
    )
    yield "twelve times as much as reading, so a few hundred tokens matter."


def _errors_of_bills(rows: pd.DataFrame) -> Iterator[str]:
    reported = rows["reported"]
    errors = rows[[*REASONS, SIZES]].sum(axis=1)
    yield "The bill of a *whole* session is much less certain. By the rules it is off by"
    yield (
        f"{_median(errors / reported)} in the median, and by {_sum(errors, reported)} for all"
        " dollars together;"
    )
    yield (
        f"{_off_count(errors / reported)} bills are off by more than 3 %. Nearly all of that is"
        " the provider's"
    )
    yield "cache, which no replay can know. Of all dollars:"
    yield ""
    for name, title in REASONS.items():
        yield f"- {title}: {_sum(rows[name], reported)}"
    yield f"- {SIZES}: {_sum(rows[SIZES], reported)}"
    yield ""
    with_earlier_known = (errors - rows[EARLIER]) / reported
    yield (
        "What an earlier session had written is the same under every strategy. Once it is known,"
        " the median bill is"
    )
    yield (
        f"off by {_median(with_earlier_known)}, and {_off_count(with_earlier_known)} bills are off"
        " by more than 3 %."
    )
    yield (
        "With the cache reads that were reported in all of these requests, the median bill is"
        " off by"
    )
    with_reads_known = rows[[SIZES, UNWRITTEN]].sum(axis=1)
    yield (
        f"{_median(with_reads_known / reported)}, and all dollars together by"
        f" {_sum(with_reads_known, reported)}."
    )


def _misses_table(rows: pd.DataFrame) -> Iterator[str]:
    yield "| cache | what stands last | within a minute | later |"
    yield "|---|---|---|---|"
    for is_marked, cache in CACHES.items():
        sums = rows[rows["marked"] == is_marked].sum(numeric_only=True)
        for last_role, title in LAST.items():
            cells: list[str] = []
            for when in ("soon", "late"):
                missed = sums[f"{last_role} {when} missed"]
                cells.append(f"{missed:.0f} of {sums[f'{last_role} {when}']:.0f}")
            yield f"| {cache} | {title} | {' | '.join(cells)} |"


def _reads_table(rows: pd.DataFrame) -> Iterator[str]:
    yield f"| cache | {' | '.join(FOUND.values())} |"
    yield f"|---{'|---' * len(FOUND)}|"
    for is_marked, cache in CACHES.items():
        sums = rows[rows["marked"] == is_marked].sum(numeric_only=True)
        cells: list[str] = []
        for name in FOUND:
            by_chance = f" (by chance {sums['by chance']:.0f})" if name == "older" else ""
            cells.append(f"{sums[name]:.0f}{by_chance}")
        yield f"| {cache} | {' | '.join(cells)} |"


def _off_count(errors: pd.Series) -> int:
    """How many bills are off by more than `MOST`."""
    return int((abs(errors) > MOST).sum())


def _percent(value: float, sign: str = "") -> str:
    text = f"{value:{sign}.1%}".replace("%", " %")
    if text in ("-0.0 %", "+0.0 %"):
        return "0.0 %"
    return text


def _median(values: pd.Series) -> str:
    return _percent(values.abs().median())


def _sum(usd: pd.Series, reported_usd: pd.Series) -> str:
    return _percent(usd.sum() / reported_usd.sum(), "+")


PARTS = {"bills": Part(measure=measured, tell=bills)}


if __name__ == "__main__":
    sys.exit(run(PARTS, PAGE, sys.argv[1:]))
