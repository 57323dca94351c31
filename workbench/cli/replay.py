"""`workbench replay`: one session under one strategy, looked at closely."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from dataclasses import replace as changed
from typing import Annotated, TypeAlias

import typer

from workbench.base.errors import SettingError
from workbench.base.formats import NUMBERS, capitalized, some
from workbench.cli.foresee import Foresight
from workbench.cli.options import AsJson, Lenient, NamedPath, takes, tell_terms
from workbench.cli.output import complain, printable, say, say_json, table
from workbench.engine.models.model import Model
from workbench.engine.models.settings import ModelSettings
from workbench.engine.transcript.redaction import redacted
from workbench.engine.transcript.session import Session
from workbench.evaluation.experiment.filler import FillerModel
from workbench.evaluation.experiment.prepared import Prepared, metric_input, prepared
from workbench.evaluation.experiment.prepared import replay as replay_of
from workbench.evaluation.experiment.replay_rows import Row, natural_rows
from workbench.evaluation.experiment.spec import RunSpec, model_name
from workbench.evaluation.metrics.metric import MetricInput
from workbench.evaluation.replays.step import Replay
from workbench.recordings.importers.importer import load

COMPACTIONS = {
    "message": "at", "tokens before": "tokens_before:count", "after": "tokens_sent:count", "dropped": "dropped",
    "rewritten": "rewritten", "kept": "kept", "stages": "stages", "outcome": "outcome",
}  # fmt: skip
RULES = {"message": "at", "outcome": "outcome", "your rule": "rule", "nearest sentence": "evidence"}
RULES_HEADING = "What became of your rules at each compaction:"
FORMS = {"share": "decimal", "usd": "dollars"}
SCORES = {"metric": "metric", "value": "shown", "better": "better", "why": "why"}


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
    grader: Annotated[
        str,
        typer.Option("--grader", help="Model that reads whether rules of yours are kept."),
    ] = "",
    lenient: Lenient = False,
    as_json: AsJson = False,
) -> int:
    """Replay one session under one strategy: each compaction, the scores, the worst losses, and
    what became of the rules that you had set.

    Example:

      workbench replay session.jsonl --strategy summarize --window 64000
    """
    spec = spec.with_default_model()
    if len(spec.model) > 1:
        raise SettingError("replay takes one model; `workbench compare` takes several")
    recorded_session = _chosen_session(session, session_id, lenient=lenient)
    prepared_session = prepared(redacted(recorded_session, spec.redaction), spec.window)
    for reports in prepared_session.left_out:
        complain(f"left out, since it cannot be true: {reports}")
    tell_terms(*spec.model)
    foresight = Foresight(spec.model[:1])
    if foresight.asks:
        filler = FillerModel(model_name(spec.model[0]))
        replay_of(prepared_session, strategy, model=filler)
        foresight.tell({"summaries": filler.use})
    settings = spec.model_settings or ModelSettings()
    replayed = replay_of(
        prepared_session,
        strategy,
        model=spec.model[0],
        model_settings=changed(settings, run=f"replay {prepared_session.session.id}"),
        refusals=refusals,
        by_hand=by_hand or (),
    )
    scored = metric_input(prepared_session, replayed)
    tables = natural_rows(scored, losses)
    if grader:
        tables["rules"] = _graded(replayed, settings.model(grader))
    if as_json:
        ended = replayed.ended
        say_json(
            {
                "session": prepared_session.session.id,
                "strategy": strategy,
                "window": prepared_session.window,
                "window_wanted": prepared_session.wanted.tokens,
                "window_source": prepared_session.wanted.source,
                "ended": None if ended is None else ended._asdict(),
                **tables,
                "reports_left_out": list(prepared_session.left_out),
            }
        )
    else:
        _show(prepared_session, scored, tables, refusals)
    return 0


def _chosen_session(path: str, session_id: str, *, lenient: bool) -> Session:
    """The session of that id, or the first one of the file."""
    sessions = load(path, lenient=lenient)
    matching = [session for session in sessions if session_id in ("", session.id)]
    if not matching:
        ids = [session.id for session in sessions]
        raise SettingError(f"no session {session_id!r} in {path}; it holds {', '.join(ids)}")
    if len(matching) > 1:
        complain(f"{path} holds {len(matching)} sessions; this is the first, {matching[0].id}")
    return matching[0]


Rows: TypeAlias = Sequence[Mapping[str, object]]


def _show(
    prepared_session: Prepared, scored: MetricInput, tables: Mapping[str, Rows], refusals: bool
) -> None:
    replayed = scored.replay
    say(
        f"{printable(replayed.session.id)} under {replayed.preset}:"
        f" {some(len(replayed.session.messages), 'message')},"
        f" {some(len(replayed.steps), 'request')}."
    )
    say(_window(prepared_session))
    above_window = sum(step.tokens_sent > replayed.window for step in replayed.steps)
    if replayed.broken:
        say(f"{capitalized(replayed.broken_in_words)}.")
    if tables["compactions"]:
        say(f"\n{table(tables['compactions'], COMPACTIONS)}")
    elif replayed.is_all_undone:
        say("It never compacts, so that nothing is scored.")
    elif above_window:
        say("It never compacts.")
    elif prepared_session.window > prepared_session.wanted.tokens:
        say("It never compacts: no request comes near the window.")
    else:
        say(
            "It never compacts: no request comes near the window. A smaller --window shows what"
            " would happen."
        )
    if above_window:
        refusal = "which a provider refuses: --refusals shows the strategy's answer"
        if refusals:
            refusal = "also after that"
        requests = some(above_window, "request is", "requests are")
        say(f"{requests} above the window, {refusal}.")
    ended = replayed.ended
    if ended:
        say(
            f"The system that it restates would have ended its run before message {ended.at}:"
            f" {ended.code}."
        )
    _say_scores(tables["scores"])
    _say_losses(tables["losses"])
    if tables["rules"]:
        say(f"\n{RULES_HEADING}\n\n{table(tables['rules'], RULES)}")


def _graded(replayed: Replay, model: Model) -> list[Row]:
    """The rows of the rules, where a model decides what code leaves open."""
    from workbench.lab.judge.rules import RuleGrader

    rows: list[Row] = []
    for event, verdict in RuleGrader(model).graded_replay(replayed):
        place: Row = {"strategy": replayed.preset, "mode": replayed.mode, "share": None}
        rows.append({**place, "number": event.number, "at": event.at, **asdict(verdict)})
    return rows


def _say_scores(rows: Rows) -> None:
    scores = []
    for row in rows:
        form = FORMS.get(str(row["unit"]), "count")
        if row["metric"] == "tokens_saved":
            form = "percent"
        value = NUMBERS[form](row["value"])  # type: ignore[arg-type]  # a number, or None
        scores.append({**row, "shown": value})
    say(f"\n{table(scores, SCORES)}")


def _say_losses(rows: Rows) -> None:
    """Print each loss, with the message that told it and the one that needed it."""
    if rows:
        say("\nNeeded later, and not in the context any more:")
    for loss in rows:
        _say_loss(loss)


def _say_loss(loss: Mapping[str, object]) -> None:
    entity = printable(str(loss["entity"]))
    evidence = printable(str(loss["evidence"]))[:140]
    use = printable(str(loss["use"]))[:140]
    say(f"  {entity} ({loss['kind']}, {loss['level']}), taken out by {loss['stage']}")
    say(f"    message {loss['evidence_at']}, {loss['said_by']}: {evidence}")
    say(f"    message {loss['needed_at']} needed it: {use}")


def _window(prepared_session: Prepared) -> str:
    requested_window, overhead = prepared_session.wanted, prepared_session.sizing.overhead
    if prepared_session.window == requested_window.tokens:
        return f"The window is {prepared_session.window:,} tokens, from {requested_window.source}."
    return (
        f"The window is {prepared_session.window:,} tokens, not {requested_window.tokens:,}"
        f" ({requested_window.source}): system prompt and tools take {overhead:,} tokens of each"
        " request, and a window is at least twice that."
    )
