"""`workbench compare` and `workbench report`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Annotated, Any

import typer

from workbench.cli.forecasting import tell_forecast
from workbench.cli.model_settings import (
    Cache,
    CacheOnly,
    Concurrency,
    MaxDollars,
    NoCache,
    OnBad,
    model_settings,
    tell_terms,
)
from workbench.cli.notes import tell_notes, warn_of_replicates
from workbench.cli.words import REDACT, complain, count, percent, printable, say, say_json, share, table
from workbench.errors import SettingError, UnknownName
from workbench.palette import REFERENCES

if TYPE_CHECKING:
    from workbench.experiment.store import Results

FAILED_REPLAY, UNUSABLE = 1, 2
METRICS = (
    "recall", "tokens_saved", "peak_context", "over_window", "compactions", "prefix_reuse", "violations", "cost",
    "net_saving", "cost_saved",
)  # fmt: skip
"""Of the headline, under each strategy's own trigger."""
BASELINE = "The strategy that all others are compared with. None: truncate, or the one named first."


def names(text: str) -> tuple[str, ...]:
    """Names between commas."""
    return tuple(name.strip() for name in text.split(",") if name.strip())


def shares(text: str) -> tuple[float, ...]:
    """Shares between commas, such as `0.1,0.2`; `10%` is accepted too."""
    found = []
    for word in names(text):
        try:
            found.append(float(word.rstrip("%")) / 100 if word.endswith("%") else float(word))
        except ValueError:
            raise SettingError(f"the share {word!r} is no number; write shares such as 0.1,0.2 or 10%,20%") from None
    return tuple(found)


def places(text: str) -> tuple[float, ...] | str:
    """Boundaries: shares or whole numbers of messages between commas, or a word."""
    if text.strip().isalpha():
        return text.strip()
    return tuple(int(word) if word.isdigit() else shares(word)[0] for word in names(text))


def compare(
    paths: Annotated[
        list[str] | None, typer.Argument(help="Recordings: files, folders or patterns. None: the bundled sessions.")
    ] = None,
    strategies: Annotated[
        str, typer.Option("--strategies", "-s", help="Names between commas; see `workbench list strategies`.")
    ] = "none,truncate,summarize,pipeline",
    window: Annotated[
        int | None, typer.Option("--window", "-w", min=1000, help="Context window, tokens. None: each session's own.")
    ] = None,
    model: Annotated[
        str, typer.Option("--model", "-m", help="Who writes summaries: extractive, litellm:NAME, local, or several.")
    ] = "extractive",
    budgets: Annotated[
        str, typer.Option("--shares", help="Budgets at which all strategies compact the same history.")
    ] = "0.1,0.2,0.3,0.5",
    boundaries: Annotated[
        str, typer.Option("--boundaries", help="Where they do: shares or numbers of messages, `fill`, or `recorded`.")
    ] = "0.35,0.5,0.65,0.8",
    baseline: Annotated[str, typer.Option("--baseline", "-b", help=BASELINE)] = "",
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Folder of the run. None: reports/compare-….")] = None,
    jobs: Annotated[int | None, typer.Option("--jobs", "-j", min=1, help="Worker processes. None: one a core.")] = None,
    scheduler: Annotated[
        str | None, typer.Option("--scheduler", help="Address of a Dask scheduler whose workers do the work.")
    ] = None,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Sessions at most.")] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="For what varies: another one asks models anew.")] = 0,
    replicates: Annotated[
        int, typer.Option("--replicates", min=1, help="Ask models that vary so many times; seeds count on from --seed.")
    ] = 1,
    redact: Annotated[bool, typer.Option("--redact", help=REDACT)] = False,
    price_model: Annotated[
        str, typer.Option("--price-model", help="Reckon the money with this model's prices. None: each session's own.")
    ] = "",
    prices: Annotated[
        str, typer.Option("--prices", help="Prices of your own, USD a million tokens: input=3,output=15,cache_read=0.3")
    ] = "",
    cache: Cache = None,
    no_cache: NoCache = False,
    cache_only: CacheOnly = False,
    max_dollars: MaxDollars = None,
    concurrency: Concurrency = None,
    on_bad_summary: OnBad = "fallback",
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Say what it would take: replays, tokens, requests and dollars. Ask nothing."),
    ] = False,
    no_report: Annotated[bool, typer.Option("--no-report", help="Write the tables, but render no report.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the outcome as JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
) -> int:
    """Replay recorded sessions under several strategies; write a report of what each keeps, saves and loses.

    Examples:

      workbench compare

      workbench compare my-sessions/ --strategies truncate,summarize --window 64000

      workbench compare session.jsonl --model litellm:gpt-4o-mini --dry-run

      workbench compare session.jsonl --model extractive,litellm:gpt-4o-mini --max-dollars 2
    """
    from workbench.experiment.compare import compare as run
    from workbench.experiment.compare import forecast

    if baseline and baseline not in (*names(strategies), *REFERENCES):
        raise UnknownName("strategy of this run", baseline, (*names(strategies), *REFERENCES))
    given: dict[str, Any] = {
        "strategies": names(strategies), "window": window, "model": model, "shares": shares(budgets),
        "boundaries": places(boundaries), "out": out, "jobs": jobs or os.cpu_count() or 1, "scheduler": scheduler,
        "limit": limit, "seed": seed, "redact": redact, "price_model": price_model, "prices": prices,
        "quiet": quiet or as_json,
        "model_settings": model_settings(cache, no_cache, cache_only, max_dollars, concurrency, on_bad_summary),
    }  # fmt: skip
    if dry_run:
        return tell_forecast(forecast(paths or (), **given), as_json, replicates)
    tell_terms(model)
    warn_of_replicates(model, replicates)
    results = run(paths or (), replicates=replicates, **given)
    tell_notes(results)
    if not (results.replays["status"] == "ok").any():
        complain("workbench: no session could be replayed; `workbench list formats` shows what can be read")
        return UNUSABLE
    if not no_report:
        from workbench.report import render

        render(results.path, baseline)
    if as_json:
        say_json(_outcome(results, no_report, baseline))
    elif not quiet:
        _show(results, no_report, baseline)
    return FAILED_REPLAY if results.failed else 0


def report(
    run: Annotated[Path, typer.Argument(help="The folder of a finished run.")],
    other: Annotated[
        Path | None, typer.Argument(help="Another run over the same sessions: begin with what changed since it.")
    ] = None,
    baseline: Annotated[str, typer.Option("--baseline", "-b", help=BASELINE)] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print the report's path as JSON.")] = False,
) -> int:
    """Render the report of a finished run again, or of what changed between two.

    Examples:

      workbench report reports/compare-1a2b3c4d

      workbench report reports/new-prompt reports/old-prompt
    """
    from workbench.experiment.store import Results
    from workbench.report import render

    path = render(Results.open(run).path, baseline, "" if other is None else Results.open(other).path)
    say_json({"report": str(path)}) if as_json else say(str(path))
    return 0


def headline(results: Results) -> list[dict[str, float | str | None]]:
    """A row a strategy: means over the sessions of the main metrics; None where no session has the metric."""
    from workbench.report.tables import Tables, values

    scores, run = results.scores, Tables.of(results)
    found = []
    budgets = sorted(scores["share"].dropna().unique())
    for name in dict.fromkeys(results.replays["strategy"]):
        own = scores[scores["strategy"] == name]
        natural = own[own["mode"] == "natural"]
        row: dict[str, float | str | None] = {"strategy": str(name)}
        for metric in METRICS:
            found_of = natural[natural["metric"] == metric]["value"].dropna()
            row[metric] = float(found_of.mean()) if len(found_of) else None
        for budget in budgets:
            at = values(run, "recall", str(name), "matched", budget)
            row[f"recall_at_{budget:g}"] = float(at.mean()) if len(at) else None
        found.append(row)
    return found


def against(results: Results, baseline: str = "") -> tuple[str | None, list[dict[str, object]], str]:
    """The baseline, every strategy against it on the same sessions, and what the run says in words."""
    from workbench.report.comparison import differences
    from workbench.report.tables import Tables
    from workbench.report.tables import baseline as chosen
    from workbench.report.verdict import verdict

    run = Tables.of(results, baseline)
    rows = differences(run).to_dict("records")
    plain = [{str(column): None if value != value else value for column, value in row.items()} for row in rows]
    return chosen(run), plain, str(verdict(run))


def _outcome(results: Results, no_report: bool, baseline: str) -> dict[str, object]:
    base, rows, told = against(results, baseline)
    return {
        "run": str(results.path),
        "report": None if no_report else str(results.report),
        "sessions": int((results.sessions["status"] == "ok").sum()),
        "unreadable": [
            {"path": str(row.path), "reason": str(row.reason)}
            for row in results.sessions[results.sessions["status"] != "ok"].itertuples()
        ],
        "failed_replays": results.failed,
        "verdict": told,
        "baseline": base,
        "against_baseline": rows,
        "strategies": headline(results),
    }


def _each_of(found: Mapping[str, tuple[int, int]]) -> str:
    return ", ".join(f"{name} in {n} of {every}" for name, (n, every) in found.items())


def _show(results: Results, no_report: bool, baseline: str) -> None:
    from workbench.formats import dollars
    from workbench.report.tables import Tables, over_target, over_window

    rows = headline(results)
    run = Tables.of(results)
    large, over = over_target(run), over_window(run)
    base, differences, told = against(results, baseline)
    apart = {str(row["strategy"]): row for row in differences if not row["reference"]}
    shown = []
    for row in rows:
        too_large = "!" if str(row["strategy"]) in over else ""
        line = {"strategy": str(row["strategy"]), "still knows": share(_number(row["recall"])) + too_large}
        for name in row:
            if name.startswith("recall_at_"):
                mark = "*" if str(row["strategy"]) in large else ""
                line[f"still knows at {float(name.removeprefix('recall_at_')):.0%}"] = share(_number(row[name])) + mark
        if apart:
            line[f"against {base}"] = _apart(apart.get(str(row["strategy"])))
        line["tokens saved"] = percent(_number(row["tokens_saved"]))
        line["cost"] = dollars(_number(row["cost"]))
        line["cost saved"] = percent(_number(row["cost_saved"]))
        line["peak tokens"] = count(_number(row["peak_context"]))
        line["compactions"] = f"{_number(row['compactions']) or 0:.1f}"
        shown.append(line)
    n = int((results.sessions["status"] == "ok").sum())
    say(table(shown, left=["strategy"]))
    say()
    say(
        f"Means over {n} session{'s' * (n != 1)}. Still knows: share of what is needed later that the context still"
        " holds, with its context"
    )
    say("words; `still knows at N %` compares all strategies at the same size. Higher is better.")
    if large:
        told_of = _each_of(large)
        say(f"* stays larger than that size ({told_of} sessions); the figures leave out sessions in which one does.")
    if over:
        say(f"! sends requests larger than the window ({_each_of(over)} sessions), which no provider would have taken.")
    say(f"Cost: USD a session, {_whose(results)}; cost saved: after summaries and fetching again what was lost.")
    say()
    say(fill(printable(told).replace(" %", "\0%"), width=100).replace("\0", " "))
    say()
    say(f"Tables: {results.path}" if no_report else f"Report: {results.report}")


def _whose(results: Results) -> str:
    """Whose prices the money is reckoned with."""
    rows = [str(row) for row in results.costs["row"].unique()]
    return f"at the prices of {rows[0]}" if len(rows) == 1 else f"at the prices of {len(rows)} models"


def _apart(row: Mapping[str, object] | None) -> str:
    """A difference of shares with what the test over all strategies says of it."""
    if row is None or not isinstance(row["difference"], float):
        return "-"
    word = {"better": "better", "worse": "worse", "undecided": "may be chance"}.get(str(row["verdict"]), "too few")
    return f"{row['difference']:+.2f} {word}"


def _number(value: float | str | None) -> float | None:
    return value if isinstance(value, float) else None
