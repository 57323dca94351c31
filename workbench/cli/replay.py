"""`workbench replay`: one session under one strategy, looked at closely."""

from collections.abc import Mapping, Sequence
from dataclasses import replace as changed
from typing import Annotated

import typer

from workbench.base.errors import SettingError
from workbench.base.formats import NUMBERS, some
from workbench.cli.foresee import Foresight
from workbench.cli.options import AsJson, Lenient, NamedPath, takes, tell_terms
from workbench.cli.output import complain, printable, say, say_json, table
from workbench.engine.models.settings import ModelSettings
from workbench.engine.transcript.redaction import redacted
from workbench.evaluation.experiment.filler import FillerModel
from workbench.evaluation.experiment.prepared import Prepared, metric_input, prepared
from workbench.evaluation.experiment.prepared import replay as replay_of
from workbench.evaluation.experiment.replay_rows import natural_rows
from workbench.evaluation.experiment.spec import RunSpec, model_name
from workbench.evaluation.metrics.metric import MetricInput
from workbench.recordings.importers.importer import load

COMPACTIONS = {
    "message": "at", "tokens before": "tokens_before:count", "after": "tokens_sent:count", "dropped": "dropped",
    "rewritten": "rewritten", "kept": "kept", "stages": "stages", "outcome": "outcome",
}  # fmt: skip
FORMS = {"share": "decimal", "usd": "dollars"}
SCORES = {"metric": "metric", "value": "shown", "better": "better", "why there is none": "why"}


@takes(RunSpec, only=("window", "model", "redact", "unmasked", "model_settings"))
def replay(
    spec: RunSpec,
    session: NamedPath,
    strategy: Annotated[
        str, typer.Option("--strategy", "-s", help="See `workbench list strategies`.")
    ] = "summarize",
    which: Annotated[
        str, typer.Option("--session", help="Id of the session, where the file holds several.")
    ] = "",
    refusals: Annotated[
        bool,
        typer.Option(
            "--refusals",
            help="Refuse requests above the window, and answer as the strategy's system.",
        ),
    ] = False,
    by_hand: Annotated[
        list[int] | None,
        typer.Option(
            "--by-hand", metavar="MESSAGE", help="Compact by hand before this message; repeatable."
        ),
    ] = None,
    losses: Annotated[
        int, typer.Option("--losses", min=0, help="Show this many of the worst losses.")
    ] = 10,
    lenient: Lenient = False,
    as_json: AsJson = False,
) -> int:
    """Replay one session under one strategy: each compaction, the scores, and the worst losses.

    Example:

      workbench replay session.jsonl --strategy summarize --window 64000
    """
    spec = spec.with_default_model()
    if len(spec.model) > 1:
        raise SettingError("replay takes one model; `workbench compare` takes several")
    found = load(session, lenient=lenient)
    chosen = [one for one in found if not which or one.id == which]
    if not chosen:
        raise SettingError(
            f"no session {which!r} in {session}; it holds {', '.join(one.id for one in found)}"
        )
    if len(chosen) > 1:
        complain(f"{session} holds {len(chosen)} sessions; this is the first, {chosen[0].id}")
    ready = prepared(redacted(chosen[0], spec.redaction), spec.window)
    for reports in ready.left_out:
        complain(f"left out, since it cannot be true: {reports}")
    tell_terms(*spec.model)
    ahead = Foresight(spec.model[:1])
    if ahead.asks:
        filler = FillerModel(model_name(spec.model[0]))
        replay_of(ready, strategy, model=filler)
        ahead.tell({"summaries": filler.use})
    how = changed(spec.model_settings or ModelSettings(), run=f"replay {ready.session.id}")
    replayed = replay_of(
        ready,
        strategy,
        model=spec.model[0],
        model_settings=how,
        refusals=refusals,
        by_hand=by_hand or (),
    )
    done, ended = metric_input(ready, replayed), replayed.ended
    tables = natural_rows(done, losses)
    if as_json:
        wanted = {"window_wanted": ready.wanted.tokens, "window_source": ready.wanted.source}
        ending = {"ended": None if ended is None else ended._asdict()}
        say_json(
            {
                "session": ready.session.id,
                "strategy": strategy,
                "window": ready.window,
                **wanted,
                **ending,
                **tables,
                "reports_left_out": list(ready.left_out),
            }
        )
    else:
        _show(ready, done, tables, refusals)
    return 0


def _show(
    ready: Prepared,
    done: MetricInput,
    tables: Mapping[str, Sequence[Mapping[str, object]]],
    refusals: bool,
) -> None:
    replayed = done.replay
    say(
        f"{printable(replayed.session.id)} under {replayed.preset}:"
        f" {len(replayed.session.messages)} messages, {len(replayed.steps)} requests."
    )
    say(_window(ready))
    above = sum(step.tokens_sent > replayed.window for step in replayed.steps)
    if tables["compactions"]:
        say(f"\n{table(tables['compactions'], COMPACTIONS)}")
    elif not above:
        smaller = (
            ""
            if ready.window > ready.wanted.tokens
            else " A smaller --window shows what would happen."
        )
        say(f"It never compacts: no request comes near the window.{smaller}")
    else:
        say("It never compacts.")
    if above:
        more = (
            "also after that"
            if refusals
            else "which a provider refuses: --refusals shows the strategy's answer"
        )
        say(f"{some(above, 'request is', 'requests are')} above the window, {more}.")
    if ended := replayed.ended:
        say(
            f"The system that it restates would have ended its run before message {ended.at}:"
            f" {ended.code}."
        )
    scores = []
    for row in tables["scores"]:
        form = (
            "percent" if row["metric"] == "tokens_saved" else FORMS.get(str(row["unit"]), "count")
        )
        scores.append({**row, "shown": NUMBERS[form](row["value"])})  # type: ignore[arg-type]  # a number, or None
    say(f"\n{table(scores, SCORES)}")
    if tables["losses"]:
        say("\nNeeded later, and not in the context any more:")
    for row in tables["losses"]:
        say(
            f"  {printable(str(row['entity']))} ({row['kind']}, {row['level']}), taken out by"
            f" {row['stage']}"
        )
        say(
            f"    message {row['evidence_at']}, {row['said_by']}:"
            f" {printable(str(row['evidence']))[:140]}"
        )
        say(f"    message {row['needed_at']} needed it: {printable(str(row['use']))[:140]}")


def _window(ready: Prepared) -> str:
    wanted, overhead = ready.wanted, ready.sizing.overhead
    if ready.window == wanted.tokens:
        return f"The window is {ready.window:,} tokens, from {wanted.source}."
    return (
        f"The window is {ready.window:,} tokens, not {wanted.tokens:,} ({wanted.source}): system"
        f" prompt and tools take {overhead:,} tokens of each request, and a window is at least"
        " twice that."
    )
