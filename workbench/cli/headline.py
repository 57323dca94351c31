"""What `compare` and `sweep` print: a forecast, warnings before a run, notes after it, and its main figures."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from textwrap import fill
from typing import Any

import pandas as pd

from workbench.analysis.paired import interval_columns
from workbench.analysis.replication import repeated_note
from workbench.cli.output import complain, printable, records, say, say_json, table
from workbench.experiment.combined import steady
from workbench.experiment.compare import Forecast
from workbench.experiment.store import Results
from workbench.formats import NOTHING, decimal, dollars, joined, missing, percent, some
from workbench.report import render
from workbench.report.comparison import differences, panel_of, panel_words
from workbench.report.cost import within_reach
from workbench.report.summaries import answer_sentences, answers, recorded
from workbench.report.tables import Tables
from workbench.report.verdict import over_sessions, verdict

FAILED_REPLAY, UNUSABLE, PENDING = 1, 2, 3
LISTED = 10
"""Failed replays that are listed one by one, and reasons of pending ones."""
COLUMNS = {
    "strategy": "strategy", "model": "model", "requests": "requests:count", "tokens read": "input_tokens:count",
    "tokens written": "output_tokens:count", "cost": "usd:dollars",
}  # fmt: skip


def show_forecast(found: Forecast, as_json: bool, besides: Mapping[str, object] | None = None) -> int:
    """Print what a run would take; `besides` has further fields of the JSON. The exit code is 0."""
    if as_json:
        say_json({**(besides or {}), **asdict(found), "requests": found.requests, "usd": found.usd})
        return 0
    left = f" and {found.unreadable} that cannot be replayed" * bool(found.unreadable)
    say(f"{found.sessions} sessions{left}; {found.replays} replays, {found.done} of them on disk already.")
    say(f"{found.tokens:,} tokens to replay in the other {found.replays - found.done}.")
    if not found.asked:
        say("No provider's model would be asked: it costs nothing.")
        return 0
    say(f"\n{table(map(asdict, found.asked), COLUMNS)}\n")
    unknown = sorted({one.model for one in found.asked if one.usd is None})
    if unknown:
        say(f"No price is known for {', '.join(unknown)}; docs/my-provider.md says how to give one.")
    else:
        say(f"At most about {dollars(found.usd)}, if each summary takes all its room and none is in the cache.")
    return 0


def warn_of_replicates(replicates: int, *models: object) -> None:
    """Warn, before anything is paid, that models asked at temperature 0 may repeat their answers."""
    for name in steady(models) if replicates > 1 else ():
        how = "" if name.startswith("local") else "; WORKBENCH_TEMPERATURE=1 lets it vary"
        complain(f"{name} is asked at temperature 0, so {replicates} replicates may all be the same{how}")


def finish(results: Results) -> int:
    """Print the notes of a run on standard error.

    Returns:
        The exit code: 0, 1 where a replay failed, 2 where all did, 3 where one is pending.
    """
    if note := repeated_note(results):
        complain(note)
    sessions, replays = results.sessions, results.replays
    for row in sessions[sessions["status"] != "ok"].itertuples():
        complain(f"left out: {row.reason}")
    failed = replays[replays["status"] == "failed"]
    for row in failed.head(LISTED).itertuples():
        complain(f"failed: {row.session} under {row.strategy}: {row.reason}")
    if len(failed) > LISTED:
        complain(f"failed: {len(failed) - LISTED} more, in {results.path / 'replays.parquet'}")
    for reason, names in replays[replays["status"] == "pending"].groupby("reason", sort=False)["strategy"]:
        complain(f"pending: {some(len(names), 'replay')} under {joined(list(dict.fromkeys(names)))}: {reason}")
    for sentence in answer_sentences(replays):
        complain(sentence)
    if len(failed) == len(replays):
        complain("workbench: no session could be replayed; `workbench list formats` shows what can be read")
        return UNUSABLE
    return PENDING if results.pending else FAILED_REPLAY if len(failed) else 0


METRICS = (
    "tokens_saved", "peak_context", "over_window", "compactions", "prefix_reuse", "violations",
)  # fmt: skip
"""Of the headline, under each strategy's own trigger; and what stands beside it, at equal size."""
LEVELS = ("recall_bound", "recall_presence", "recall_coverage")
OWN_TRIGGER = {
    "strategy": "strategy", "still knows": "recall", "tokens saved": "tokens_saved:percent", "cost": "cost:dollars",
    "cost saved": "saved", "compactions": "compactions:count",
}  # fmt: skip
WITHIN_REACH = {
    "strategy": "strategy", "visible": "visible:percent", "recoverable": "recoverable:percent", "lost": "lost:percent",
    "calls/100": "calls:count", "saved": "saved:percent", "without": "saved_without:percent",
}  # fmt: skip
AS_RECORDED = {
    "strategy": "strategy", "still knows": "known", "size": "tokens_kept:percent", "sessions": "sessions:count",
}  # fmt: skip
FITTING = 4
"""Sizes beside which the column `bound` has room in a line."""
WIDTH = 80
"""Characters in a line."""
WORDS = {"better": "better", "worse": "worse", "undecided": "may be chance"}


def headline(run: Tables) -> list[dict[str, Any]]:
    """A row a strategy: means of the main metrics; None where no session has the metric."""
    found = []
    replayed = set(run.replays["strategy"])
    for name in (name for name in run.strategies if name in replayed):
        means = {metric: run.own_trigger(name, metric) for metric in METRICS}
        means |= {"recall": run.own_trigger(name)}
        means |= {metric: run.at_sizes(name, metric) for metric in LEVELS}
        means |= {f"recall_at_{share:g}": run.equal_size(name, share) for share in run.shares}
        numbers = {metric: None if mean is None else mean.mean for metric, mean in means.items()}
        used = {f"used_at_{share:g}": run.used(name, share) for share in run.shares}
        area = run.area(name)
        curve = dict(zip(("area", "area_from", "area_to"), area or (None, None, None), strict=True))
        saved = interval_columns("cost_saved", run.net_saving(name))
        found.append({"strategy": name, "cost": run.cost_a_session(name), **saved, **curve, **numbers, **used})
    return found


def outcome(results: Results, no_report: bool, baseline: str) -> dict[str, object]:
    """The run as JSON."""
    run, sessions = Tables.of(results, baseline), results.sessions
    return {
        "run": str(results.path),
        "report": None if no_report else str(results.report),
        "sessions": int((sessions["status"] == "ok").sum()),
        "unreadable": records(sessions.loc[sessions["status"] != "ok", ["path", "reason"]]),
        **answered(results),
        "verdict": str(verdict(run)),
        "names_only": {name: {"presence": named, "exam": told} for name, (named, told) in run.names_only.items()},
        "baseline": run.baseline,
        "against_baseline": records(differences(run)),
        "strategies": headline(run),
        "recorded": records(recorded(run)),
        "within_reach": records(within_reach(run)),
    }


def answered(results: Results) -> dict[str, object]:
    """The replays that failed or wait, the summaries of each model, and the dollars of the ledger; None if unknown."""
    each = answers(results.replays)
    return {
        "failed_replays": results.failed,
        "pending_replays": results.pending,
        "summaries": records(each),
        "usd": None if each["usd"].isna().any() else float(each["usd"].sum()),
    }


def page(results: Results, no_report: bool, baseline: str = "", *, quiet: bool) -> str | None:
    """Write the report of a run, unless none is wanted, and say so; where it is."""
    if no_report:
        return None
    if not quiet:
        sys.stdout.flush()  # the answer before the page, also in a pipe
        complain("writing the report ...")
    return str(render(results.path, baseline))


def show(results: Results, baseline: str) -> None:
    """Print what the run says in words, and its tables."""
    run = Tables.of(results, baseline)
    over, found = run.over_window, headline(run)
    write(str(verdict(run)))
    show_sizes(run, found)
    if own := records(recorded(run)):
        say("\nWhere the recorded agents compacted, all at the size with which they went on:\n")
        say(table([row | {"known": _known(row)} for row in own], AS_RECORDED, room=WIDTH))
        write("recorded: the agent's own compaction; with a 95 % interval over projects, where there are enough.")
    found_panel = panel_of(run)
    if found_panel is not None:
        write(panel_words(run, found_panel))
    say("\nEach on its own trigger, a mean over sessions:\n")
    own = [row | {"recall": decimal(row["recall"]) + "!" * (row["strategy"] in over)} for row in found]
    own = [row | {"saved": _saved(row)} for row in own]
    say(table(own, OWN_TRIGGER, room=WIDTH))
    if reach := records(within_reach(run)):
        say("\nWithin reach of recall, each on its own trigger:\n")
        say(table(reach, WITHIN_REACH, room=WIDTH))
        write(
            "Recoverable: of the questions of still knows, those answered only with what a call of recall gives back "
            "for words of the question that stand in the context. Calls in 100 requests; cost saved with and without."
        )
    for note in _notes(run, over):
        write(note)


def show_sizes(run: Tables, found: Sequence[Mapping[str, Any]]) -> None:
    """Print what each strategy of the headline still knows at each size, and what it really used, if there are any."""
    sizes = {f"{share:.0%}": f"recall_at_{share:g}" for share in run.shares}
    if not sizes:
        return
    large = run.over_target()
    compared = {str(row["strategy"]): row for row in records(differences(run)) if not row["reference"]}
    rows = []
    for row in found:
        name = row["strategy"]
        known = {size: decimal(row[size]) + "*" * (name in large) for size in sizes.values()}
        bound = {"bound": decimal(row["recall_bound"])}
        used = _used([row[f"used_at_{share:g}"] for share in run.shares])
        rows.append({"strategy": name, **known, **bound, "used": used, "against": _difference(compared.get(name))})
    against = {f"vs {run.baseline}": "against"} if compared else {}
    columns = {"strategy": "strategy", **sizes, "used, %": "used", **against}
    columns |= {"bound": "bound"} if len(sizes) <= FITTING else {}
    say("\nStill knows, asked to cut the same history to these shares; used: really kept:\n")
    say(table(rows, columns, room=WIDTH))


def _notes(run: Tables, over: Mapping[str, tuple[int, int]]) -> Iterator[str]:
    yield (
        f"Means over {over_sessions(run)}. Still knows: the share of questions about what the agent later used, each "
        "with look-alike answers, that can be answered from the context, corrected for guessing. Bound: the share of "
        "what it used that stands there with two words of its line. Higher is better."
    )
    if part := run.incomplete:
        yield f"Not comparable with the others, as replays are pending or failed: {_sessions(part)} sessions."
    yield from size_notes(run)
    yield _windows(run.replayed)
    if over:
        yield f"! sends requests larger than the window ({_sessions(over)} sessions), which no provider takes."
    priced = [str(row) for row in run.costs["row"].unique()]
    yield (
        f"Cost: USD a session at the prices of {priced[0] if len(priced) == 1 else f'{len(priced)} models'}, with "
        "summaries and with fetching again what was lost. Cost saved: of the bill of all sessions without compaction "
        "(95 % interval over projects), below 0 where compaction costs more."
    )


def _windows(sessions: pd.DataFrame) -> str:
    """The windows that were wanted, where they are from, and those that were used."""
    wanted, used = (sessions[name].dropna().astype(int) for name in ("window_wanted", "window_used"))
    of = joined([f"{source} ({n})" for source, n in sessions["window_source"].value_counts().items()])
    wider = int((used > wanted).sum())
    why = f"; {some(wider, 'window')} widened to twice what system prompt and tools take" if wider else ""
    return f"Windows: {_span(wanted)} tokens, by {of}; used {_span(used)}{why}."


def _span(values: pd.Series[int]) -> str:
    return " to ".join(dict.fromkeys(f"{one:,}" for one in (values.min(), values.max())))


def size_notes(run: Tables) -> Iterator[str]:
    """What the figures at equal size stand on: the sizes really used, and the boundaries that are in none."""
    if len(run.at_used_sizes):
        yield f"vs {run.baseline}: against {run.baseline}, cut to the very sizes that each strategy used."
    left = [f"{n} of {every} at {share:.0%}" for share, (n, every) in run.too_small.items()]
    if left:
        yield f"Boundaries in no figure, since what must stay is larger than the size: {', '.join(left)}."
    if large := run.over_target():
        yield f"* stays larger than that size ({_sessions(large)} sessions); such sessions are in no mean."


def _used(sizes: Sequence[object]) -> str:
    """Sizes in per cent; one number where they are all the same."""
    shown = [f"{100 * size:.0f}" if isinstance(size, float) else "-" for size in sizes]
    return " ".join(shown if len(set(shown)) > 1 else shown[:1])


def write(text: str) -> None:
    """A paragraph; a number stays beside its per cent sign."""
    say("\n" + fill(printable(text).replace(" %", "\0%"), width=WIDTH).replace("\0", " "))


def _saved(row: Mapping[str, Any]) -> str:
    """The share of the bill that is saved, with its interval over projects, where there is one: `15 % (5 to 24)`."""
    mean, low, high = (row[f"cost_saved{end}"] for end in ("", "_low", "_high"))
    return percent(mean) + ("" if missing(low) else f" ({100 * low:.0f} to {100 * high:.0f})")


def _known(row: Mapping[str, Any]) -> str:
    """Recall with its interval over projects, where there is one: `0.61 (0.52 to 0.70)`."""
    mean, low, high = (row[f"recall{end}"] for end in ("", "_low", "_high"))
    return decimal(mean) + ("" if missing(low) else f" ({decimal(low)} to {decimal(high)})")


def _sessions(found: Mapping[str, tuple[int, int]]) -> str:
    return ", ".join(f"{name} in {n} of {every}" for name, (n, every) in found.items())


def _difference(row: Mapping[str, Any] | None) -> str:
    """A difference of shares with what the test over all strategies says of it."""
    if row is None or missing(row["difference"]):
        return NOTHING
    return f"{row['difference']:+.2f} {WORDS.get(row['verdict'], 'too few')}"
