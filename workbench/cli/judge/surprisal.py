"""`workbench judge surprisal`: what a small local model finds surprising without the whole history."""

from __future__ import annotations

from workbench.cli.judge.tables import say_over_target, use_at_most
from workbench.cli.options import AsJson, DryRun, Paths, takes
from workbench.cli.output import complain, say, say_json, table
from workbench.judge.surprisal.measurement import SurprisalForecast, SurprisalResults, SurprisalSpec
from workbench.judge.surprisal.measurement import surprisal as measure
from workbench.models.weights import weights

COLUMNS = {
    "strategy": "strategy", "nats a token": "per_token:decimal", "more than whole": "excess:decimal",
    "still knows": "bound:decimal", "boundaries": "boundaries", "sessions": "sessions",
}  # fmt: skip


@takes(SurprisalSpec)
def surprisal(
    spec: SurprisalSpec,
    paths: Paths = None,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> int:
    """Measure how surprising a small local model finds what the recordings needed later, given each context.

    Each context precedes the recorded lines that used something of the history; the surprise of that something is
    in nats per token, lower is better. It takes minutes to hours, estimates how long before it starts, and continues
    where it was stopped. It needs the packages xllamacpp and one with weights.

    Example:

      workbench judge surprisal session.jsonl --strategies truncate,summarize --boundaries 0.5
    """
    used = weights(str(spec.likelihood))
    if not spec.quiet:
        complain(f"{used.label}. Terms: {used.terms}")

    def before(forecast: SurprisalForecast) -> bool:
        if not spec.quiet:
            complain(_forecast(forecast))
            if forecast.summaries is not None:
                complain(use_at_most(forecast.summaries, "summaries"))
        return not dry_run

    done = measure(paths or (), spec=spec, before=before)
    if done is None:
        return 0
    if as_json:
        say_json({"table": str(done.path), **done.notes, "strategies": done.means()})
    else:
        _show(done)
    return 0


def _forecast(forecast: SurprisalForecast) -> str:
    if not forecast.contexts:
        return "there is nothing to score: at no boundary are enough things of the history needed later"
    done = f"{forecast.contexts} contexts, {forecast.kept} of them on disk already"
    if not forecast.tokens:
        return f"{done}; nothing is left to read"
    minutes = forecast.seconds / 60
    long = f"{minutes:.0f} minutes" if minutes >= 1.5 else f"{forecast.seconds:.0f} seconds"
    return f"{done}; about {forecast.tokens:,} tokens to read, about {long}"


def _show(done: SurprisalResults) -> None:
    rows = done.means()
    if not rows:
        say("At no boundary could every strategy be scored; the column `reason` says why.")
    else:
        say(f"{table(rows, COLUMNS)}\n")
        model = done.notes["likelihood"]
        say(f"Nats a token of what was needed later, by {model}; lower is better. `more than whole`:")
        say("how much more than with the whole history, where that fits into the model's window.")
    say_over_target(done.table)
    say(f"Table: {done.path}")
