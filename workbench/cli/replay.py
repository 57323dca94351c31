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
    session_id: Annotated[
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
    sessions = load(session, lenient=lenient)
    matching = [one for one in sessions if not session_id or one.id == session_id]
    if not matching:
        raise SettingError(
            f"no session {session_id!r} in {session}; it holds {', '.join(one.id for one in sessions)}"
        )
    if len(matching) > 1:
        complain(f"{session} holds {len(matching)} sessions; this is the first, {matching[0].id}")
    prepared_session = prepared(redacted(matching[0], spec.redaction), spec.window)
    for reports in prepared_session.left_out:
        complain(f"left out, since it cannot be true: {reports}")
    tell_terms(*spec.model)
    foresight = Foresight(spec.model[:1])
    if foresight.asks:
        filler = FillerModel(model_name(spec.model[0]))
        replay_of(prepared_session, strategy, model=filler)
        foresight.tell({"summaries": filler.use})
    model_settings = changed(
        spec.model_settings or ModelSettings(), run=f"replay {prepared_session.session.id}"
    )
    replayed = replay_of(
        prepared_session,
        strategy,
        model=spec.model[0],
        model_settings=model_settings,
        refusals=refusals,
        by_hand=by_hand or (),
    )
    scored, ended = metric_input(prepared_session, replayed), replayed.ended
    tables = natural_rows(scored, losses)
    if as_json:
        window_fields = {
            "window_wanted": prepared_session.wanted.tokens,
            "window_source": prepared_session.wanted.source,
        }
        ending = {"ended": None if ended is None else ended._asdict()}
        say_json(
            {
                "session": prepared_session.session.id,
                "strategy": strategy,
                "window": prepared_session.window,
                **window_fields,
                **ending,
                **tables,
                "reports_left_out": list(prepared_session.left_out),
            }
        )
    else:
        _show(prepared_session, scored, tables, refusals)
    return 0


def _show(
    prepared_session: Prepared,
    scored: MetricInput,
    tables: Mapping[str, Sequence[Mapping[str, object]]],
    refusals: bool,
) -> None:
    replayed = scored.replay
    say(
        f"{printable(replayed.session.id)} under {replayed.preset}:"
        f" {len(replayed.session.messages)} messages, {len(replayed.steps)} requests."
    )
    say(_window(prepared_session))
    above = sum(step.tokens_sent > replayed.window for step in replayed.steps)
    if tables["compactions"]:
        say(f"\n{table(tables['compactions'], COMPACTIONS)}")
    elif not above:
        smaller = (
            ""
            if prepared_session.window > prepared_session.wanted.tokens
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


def _window(prepared_session: Prepared) -> str:
    requested_window, overhead = prepared_session.wanted, prepared_session.sizing.overhead
    if prepared_session.window == requested_window.tokens:
        return f"The window is {prepared_session.window:,} tokens, from {requested_window.source}."
    return (
        f"The window is {prepared_session.window:,} tokens, not {requested_window.tokens:,}"
        f" ({requested_window.source}): system prompt and tools take {overhead:,} tokens of each"
        " request, and a window is at least twice that."
    )
