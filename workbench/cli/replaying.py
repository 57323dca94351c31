"""`workbench replay`: one session under one strategy, looked at closely."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

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
from workbench.cli.words import REDACT, complain, count, percent, printable, say, say_json, share, table
from workbench.errors import SettingError

if TYPE_CHECKING:
    from workbench.metrics.metric import MetricInput


def replay(
    session: Annotated[str, typer.Argument(help="A recording; of several sessions in it, see --session.")],
    strategy: Annotated[str, typer.Option("--strategy", "-s", help="See `workbench list strategies`.")] = "summarize",
    window: Annotated[int | None, typer.Option("--window", "-w", min=1000, help="Context window in tokens.")] = None,
    model: Annotated[str, typer.Option("--model", "-m", help="Who writes summaries.")] = "extractive",
    which: Annotated[str, typer.Option("--session", help="The id of the session, where the file holds several.")] = "",
    losses: Annotated[int, typer.Option("--losses", min=0, help="How many of the worst losses to show.")] = 10,
    redact: Annotated[bool, typer.Option("--redact", help=REDACT)] = False,
    cache: Cache = None,
    no_cache: NoCache = False,
    cache_only: CacheOnly = False,
    max_dollars: MaxDollars = None,
    concurrency: Concurrency = None,
    on_bad_summary: OnBad = "fallback",
    lenient: Annotated[bool, typer.Option("--lenient", help="Skip damaged lines and say so.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print steps, compactions, scores and losses as JSON.")
    ] = False,
) -> int:
    """Replay one session under one strategy: each compaction, the scores, and the worst losses.

    Example:

      workbench replay session.jsonl --strategy summarize --window 64000
    """
    from workbench.experiment import replay_rows
    from workbench.experiment.prepared import prepared
    from workbench.experiment.single import metric_input
    from workbench.experiment.single import replay as run
    from workbench.importers.importer import load
    from workbench.transcript.redaction import redacted

    found = load(session, lenient=lenient)
    chosen = [one for one in found if not which or one.id == which]
    if not chosen:
        raise SettingError(f"no session {which!r} in {session}; it holds {', '.join(one.id for one in found)}")
    if len(chosen) > 1:
        complain(f"{session} holds {len(chosen)} sessions; this is the first, {chosen[0].id}")
    ready = prepared(redacted(chosen[0]) if redact else chosen[0], window)
    tell_terms(model)
    told = f"replay {ready.session.id}"
    how = model_settings(cache, no_cache, cache_only, max_dollars, concurrency, on_bad_summary, told)
    done = metric_input(ready, run(ready, strategy, model=model, model_settings=how))
    tables = replay_rows.natural_rows(done, losses)
    if as_json:
        say_json({"session": ready.session.id, "strategy": strategy, "window": ready.window, **tables})
    else:
        _show(done, tables)
    return 0


def _show(done: MetricInput, tables: dict[str, list[dict[str, str | int | float | None]]]) -> None:
    replayed = done.replay
    say(
        f"{printable(replayed.session.id)} under {replayed.preset}: {len(replayed.session.messages)} messages, "
        f"{len(replayed.steps)} requests, window {count(replayed.window)}"
    )
    if not tables["compactions"]:
        say("It never compacts: no request comes near the window. A smaller --window shows what would happen.")
    else:
        rows = [
            {
                "message": str(row["at"]),
                "tokens before": count(_number(row["tokens_before"])),
                "after": count(_number(row["tokens_sent"])),
                "dropped": str(row["dropped"]),
                "rewritten": str(row["rewritten"]),
                "kept": str(row["kept"]),
                "stages": str(row["stages"]),
                "outcome": str(row["outcome"]),
            }
            for row in tables["compactions"]
        ]
        say()
        say(table(rows, left=["stages", "outcome"]))
    say()
    say(table([_score(row) for row in tables["scores"]], left=["metric", "why there is none"]))
    if tables["losses"]:
        say()
        say("Needed later, and not in the context any more:")
        for row in tables["losses"]:
            say(f"  {printable(str(row['entity']))} ({row['kind']}, {row['level']}), taken out by {row['stage']}")
            say(f"    message {row['evidence_at']}, {row['said_by']}: {printable(str(row['evidence']))[:140]}")
            say(f"    message {row['needed_at']} needed it: {printable(str(row['use']))[:140]}")


def _score(row: dict[str, str | int | float | None]) -> dict[str, str]:
    value = _number(row["value"])
    shown = (
        percent(value) if row["metric"] == "tokens_saved" else share(value) if row["unit"] == "share" else count(value)
    )
    return {
        "metric": str(row["metric"]),
        "value": shown,
        "better": str(row["better"]),
        "why there is none": str(row["why"] or ""),
    }


def _number(value: str | int | float | None) -> float | None:
    return float(value) if isinstance(value, int | float) else None
