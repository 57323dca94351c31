"""`workbench surprisal`: what a small local model finds surprising without the whole history."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from workbench.cli.answers import say_over_target
from workbench.cli.comparing import names, shares
from workbench.cli.grid import AsJson, Boundaries, Limit, Paths, Shares, Strategies, Summariser
from workbench.cli.words import REDACT, complain, count, say, say_json, share, table

if TYPE_CHECKING:
    from workbench.judge.surprisal.measurement import Estimate, SurprisalResults


def surprisal(
    paths: Paths = None,
    strategies: Strategies = "truncate,summarize,pipeline",
    budgets: Shares = "0.1",
    boundaries: Boundaries = "0.35,0.5,0.65,0.8",
    model: Summariser = "extractive",
    weights: Annotated[
        str, typer.Option("--weights", help="Who is surprised: gemma, smollm2, or a .gguf file.")
    ] = "gemma",
    most: Annotated[int, typer.Option("--most", min=1, help="Lines that are scored at a boundary, at most.")] = 24,
    limit: Limit = None,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Folder for the table; a run's folder shows it in that run's report.")
    ] = Path("reports/surprisal"),
    redact: Annotated[bool, typer.Option("--redact", help=REDACT)] = False,
    only_estimate: Annotated[bool, typer.Option("--estimate", help="Say how long it would take, and stop.")] = False,
    as_json: AsJson = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no estimate.")] = False,
) -> int:
    """Show how surprising a small local model finds what the recordings needed later, given each context.

    Each context stands before the recorded lines that used something of the history; the surprise of that something
    is told in nats a token, lower is better. It takes minutes to hours, says how long before it starts, and goes on
    where it was stopped. Needs the packages xllamacpp and one with weights.

    Example:

      workbench surprisal session.jsonl --strategies truncate,summarize --boundaries 0.5
    """
    from workbench.judge.surprisal.measurement import surprisal as run
    from workbench.models.weights import weights as found

    used = found(weights)
    if not quiet:
        complain(f"{used.label}. Terms: {used.terms}")

    def before(estimate: Estimate) -> bool:
        if not quiet:
            complain(_told(estimate))
        return not only_estimate

    done = run(
        paths or (), strategies=names(strategies), shares=shares(budgets), boundaries=shares(boundaries), model=model,
        likelihood=weights, most=most, limit=limit, redact=redact, out=out, before=before, quiet=quiet,
    )  # fmt: skip
    if done is None:
        return 0
    if as_json:
        say_json({"table": str(done.path), **done.notes, "strategies": done.means()})
    else:
        _show(done)
    return 0


def _told(estimate: Estimate) -> str:
    if not estimate.contexts:
        return "there is nothing to score: at no boundary are enough things of the history needed later"
    done = f"{estimate.contexts} contexts, {estimate.kept} of them on disk already"
    if not estimate.tokens:
        return f"{done}; nothing is left to read"
    minutes = estimate.seconds / 60
    long = f"{minutes:.0f} minutes" if minutes >= 1.5 else f"{estimate.seconds:.0f} seconds"
    return f"{done}; about {count(estimate.tokens)} tokens to read, about {long}"


def _show(done: SurprisalResults) -> None:
    rows = done.means()
    if not rows:
        say("At no boundary could every strategy be scored; the column `reason` says why.")
    else:
        say(table([_line(row) for row in rows], left=["strategy"]))
        say()
        say(
            f"Nats a token of what was needed later, by {done.notes['likelihood']}; lower is better. `more than whole`:"
        )
        say("how much more than with the whole history, where that fits into the model's window.")
    say_over_target(done.table)
    say(f"Table: {done.path}")


def _line(row: dict[str, str | int | float | None]) -> dict[str, str]:
    return {
        "strategy": str(row["strategy"]),
        "nats a token": share(_number(row["per_token"])),
        "more than whole": share(_number(row["excess"])),
        "still knows": share(_number(row["bound"])),
        "boundaries": str(row["boundaries"]),
        "sessions": str(row["sessions"]),
    }


def _number(value: str | int | float | None) -> float | None:
    return float(value) if isinstance(value, int | float) else None
