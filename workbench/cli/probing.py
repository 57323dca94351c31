"""`workbench probe`: questions that a model answers from each strategy's context."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from workbench.cli.answers import say_over_target, with_larger
from workbench.cli.comparing import names, shares
from workbench.cli.grid import (
    Answers,
    AsJson,
    Boundaries,
    Limit,
    Paths,
    Quiet,
    ReaderWindow,
    Shares,
    Strategies,
    Summariser,
)
from workbench.cli.model_settings import Cache, CacheOnly, MaxDollars, NoCache, model_settings, tell_terms
from workbench.cli.notes import warn_of_replicates
from workbench.cli.varying import say_answers
from workbench.cli.words import REDACT, percent, printable, say, say_json, table

if TYPE_CHECKING:
    from workbench.judge.probes.accuracy import Accuracy


def probe(
    paths: Paths = None,
    reader: Annotated[str, typer.Option("--reader", "-r", help="Who answers: local, litellm:NAME, …")] = "local",
    strategies: Strategies = "truncate,summarize,pipeline",
    budgets: Shares = "0.1",
    boundaries: Boundaries = "0.5,0.8",
    model: Summariser = "extractive",
    judge: Annotated[str, typer.Option("--judge", help="Who rules on answers that no rule can grade.")] = "",
    maker: Annotated[str, typer.Option("--maker", help="Who makes up more questions.")] = "",
    rubric: Annotated[str, typer.Option("--rubric", help="Who gives the six scores of published tables.")] = "",
    labels: Annotated[
        Path | None, typer.Option("--labels", help="A person's labels of the judge. None: those in the folder.")
    ] = None,
    kinds: Annotated[
        str, typer.Option("--kinds", help="Of questions, between commas.")
    ] = "recall,artifact,continuation,decision",
    most: Annotated[int, typer.Option("--most", min=1, help="Questions of a kind at a boundary, at most.")] = 4,
    replicates: Annotated[int, typer.Option("--replicates", min=1, help="How often each question is asked.")] = 1,
    window: ReaderWindow = None,
    limit: Limit = None,
    out: Answers = Path("reports/probes"),
    redact: Annotated[bool, typer.Option("--redact", help=REDACT)] = False,
    cache: Cache = None,
    no_cache: NoCache = False,
    cache_only: CacheOnly = False,
    max_dollars: MaxDollars = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> int:
    """Ask a model questions about each strategy's context: one at a time, answered from that context alone.

    Questions come from annotations beside a session and from rules. Answers are graded by rule; what no rule can
    grade stays open, unless a judge rules on it that a person has labelled 50 answers for.

    With --replicates the answers' noise is split: what is the session, the question, and the reader's mere mood.

    Examples:

      workbench probe session.jsonl --reader litellm:gpt-4o-mini --strategies truncate,summarize

      workbench probe session.jsonl --reader litellm:gpt-4o-mini --replicates 3
    """
    from workbench.judge.probes.accuracy import (
        LABELS,
        accuracies,
        judged_note,
        labelled,
        rubric_means,
        splits,
        steadiness,
    )
    from workbench.judge.probes.answers import probe as run
    from workbench.judge.probes.judge import DIMENSIONS, RUBRIC_NOTE

    if not quiet:
        for one in (reader, judge, maker, rubric):
            tell_terms(one)
        warn_of_replicates(reader, replicates)
    done = run(
        paths or (), reader=reader, strategies=names(strategies), shares=shares(budgets), boundaries=shares(boundaries),
        model=model, judge=judge or None, maker=maker or None, rubric=rubric or None, kinds=names(kinds), most=most,
        replicates=replicates, reader_window=window, limit=limit, redact=redact, out=out, quiet=quiet or as_json,
        model_settings=model_settings(cache, no_cache, cache_only, max_dollars, run=str(out)),
    )  # fmt: skip
    known = labelled(labels or done.path / LABELS, done.table)
    rows = accuracies(done.table, known)
    scores = rubric_means(done.table, DIMENSIONS) if rubric else []
    noise = splits([done]) if replicates > 1 else []
    if as_json:
        told = [{name: _plain(getattr(row, name)) for name in row.__slots__} for row in rows]
        say_json({"table": str(done.path), **done.notes, "strategies": told, "rubric": scores, "variance": noise})
        return 0
    say(table(with_larger([_line(row) for row in rows], [row.over_target for row in rows]), left=["strategy"]))
    say()
    say(f"Answers by {printable(str(done.notes['reader']))}, a mean over sessions. `right`: by rule, the least that is")
    say("right. `in context`: the answer stands there in so many words. Unusable answers count for nothing.")
    say_over_target(done.table)
    say(judged_note(known, rows))
    steady = steadiness(done.table)
    if steady is not None:
        say(f"The judge said the same with the answers swapped in {percent(steady)} of its rulings.")
    if scores:
        say()
        say(table([{k: v if isinstance(v, str) else _digits(v) for k, v in row.items()} for row in scores],
                  left=["strategy"]))  # fmt: skip
        say(RUBRIC_NOTE)
    if noise:
        say()
        say_answers(noise)
    say(f"Table: {done.path}")
    return 0


def _line(row: Accuracy) -> dict[str, str]:
    judged = row.share and f"{percent(row.share.value)} ({percent(row.share.low)} to {percent(row.share.high)})"
    return {
        "strategy": row.strategy,
        "right": percent(row.right),
        "right, judged": judged or "-",
        "open": percent(row.open),
        "not stated": percent(row.abstained),
        "stale": percent(row.stale),
        "in context": percent(row.present),
        "answers": str(row.asked),
        "unusable": str(row.unusable),
        "sessions": str(row.sessions),
    }


def _digits(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _plain(value: object) -> object:
    names = getattr(value, "__slots__", None)
    return {name: getattr(value, name) for name in names} if names else value
