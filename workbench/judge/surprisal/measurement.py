"""Continuation surprisal of the contexts of several strategies: planned, forecast, then scored, resumable."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from os.path import commonprefix
from pathlib import Path
from time import monotonic
from typing import Any, ClassVar, TypeAlias

import pandas as pd
from pydantic import Field

from workbench.errors import ModelError
from workbench.experiment.forecast import ModelUse
from workbench.experiment.replay_rows import Row
from workbench.experiment.sources import What
from workbench.experiment.spec import Shares, Whole, documented, model_name
from workbench.judge.contexts import Compacted, ContextSpec, LocalModel, cached_likelihood
from workbench.judge.measurement import Measurement, each, in_common
from workbench.judge.question_answerer import context_text
from workbench.judge.surprisal.continuation import MOST, Use, surprise, uses
from workbench.metrics.recall import FEWEST
from workbench.metrics.view import view
from workbench.models.likelihood_cache import CachedLikelihood

PLACE = ["session", "share", "at"]

_PROBE_CHARS = 1_000
_CHARS_A_TOKEN = 3.2
_SLOWING = 33_000
"""Tokens of context after which a token takes twice as long; measured with the bundled weights."""


@dataclass(frozen=True, slots=True)
class SurprisalForecast:
    """What is still to be done: `kept` of the contexts are on disk; tokens to read and seconds are approximate.

    `summaries` is what the writer is asked at most, where a real model writes; no context counts as kept then.
    """

    contexts: int
    kept: int
    tokens: int
    seconds: float
    summaries: ModelUse | None = None


Job: TypeAlias = tuple[Compacted, Sequence[Use]]
"""A context, and the lines that are scored after it."""


class SurprisalResults(Measurement):
    """A row a context, and the model, its terms, the settings, and how long it took."""

    file = "surprisal.parquet"
    columns: ClassVar = {
        "entities": "Int64", "entity_tokens": "Int64", "nats": "Float64", "per_token": "Float64",
        "excess": "Float64", "bound": "Float64", "presence": "Float64",
    }  # fmt: skip
    missing = "measurement of surprisal; `workbench judge surprisal` makes one"

    def means(self) -> list[Row]:
        """A row a strategy: mean surprise and mean excess over projects.

        Only boundaries at which every strategy was scored that is compared at equal size, see `evenly`.
        """
        common = in_common(self.table, "per_token", PLACE)
        found: list[Row] = []
        for name in dict.fromkeys(map(str, self.table["strategy"])) if len(common) else ():
            own = common[common["strategy"] == name]
            by = own.groupby(["project", "session"])[["per_token", "excess", "bound"]].mean()
            means = by.groupby("project").mean().mean()
            row: Row = {"strategy": name, "sessions": int(own["session"].nunique()), "boundaries": len(own)}
            found.append(row | {str(column): None if pd.isna(mean) else float(mean) for column, mean in means.items()})
        return found


class SurprisalSpec(ContextSpec):
    """A measurement of surprisal."""

    boundaries: Shares = Field((0.35, 0.5, 0.65, 0.8), description="Where they compact, as shares of the messages.")
    likelihood: LocalModel = Field(
        "gemma", description="Weights of the model that is surprised: gemma, smollm2, a .gguf."
    )
    most: Whole = Field(MOST, ge=1, description="Score at most this many lines at a boundary.")
    out: Path = Field(Path("reports/surprisal"), description="Folder for the table; a run's report shows its own.")


@documented(SurprisalSpec)
def surprisal(
    what: What = (),
    *,
    spec: SurprisalSpec | None = None,
    before: Callable[[SurprisalForecast], bool] = lambda forecast: True,
    **settings: Any,  # noqa: ANN401 - see SurprisalSpec
) -> SurprisalResults | None:
    """Measure how surprising a small local model finds what the recordings needed, given each strategy's context.

    Scores are kept in the cache folder: an interrupted call goes on where it stopped.

    Args:
        what: files, folders, patterns or sessions; none stand for the bundled sessions.
        before: receives the forecast before the work begins; false stops there.
        spec: a specification made before; further settings change it.
        **settings: the fields of `SurprisalSpec`.

    Returns:
        The measurement; None if `before` stopped it.
    """
    spec = SurprisalSpec.of(spec, settings)
    kept = cached_likelihood(spec.likelihood)
    unasked, filler = spec.without_writer()
    jobs = list(_jobs(unasked.contexts(what), spec.most))
    if not before(replace(_forecast(jobs, kept), summaries=filler.use if filler is not None else None)):
        return None
    if filler is not None:
        jobs = list(_jobs(spec.contexts(what), spec.most))
    started = monotonic()
    rows = list(each(lambda job: [_row(job, kept)], jobs, "reading", spec.quiet))
    scored = [(tuple(row[name] for name in PLACE), row) for row in rows if row["per_token"] is not None]
    whole = {place: float(row["per_token"] or 0) for place, row in scored if row["strategy"] == "none"}
    for place, row in scored:
        if place in whole:
            row["excess"] = float(row["per_token"] or 0) - whole[place]
    notes = {
        "likelihood": kept.name, "likelihood_window": kept.window, "summaries_by": model_name(spec.writer),
        "most_lines": spec.most, "seconds": round(monotonic() - started, 1), "scored_now": kept.asked,
        "from_disk": kept.kept,
    }  # fmt: skip
    return SurprisalResults.write(spec.out, rows, notes)


def _jobs(contexts: Iterator[Compacted], most: int) -> Iterator[Job]:
    """The contexts at boundaries where enough was needed."""
    for one in contexts:
        lines = uses(one.ready.index.demand(one.at), most)
        if sum(len(line.places) for line in lines) >= FEWEST:
            yield one, lines


def _forecast(jobs: Sequence[Job], kept: CachedLikelihood) -> SurprisalForecast:
    """A beginning that two texts in a row have in common is read once."""
    contexts, todo, last = 0, [], ""
    for of, uses_after in jobs:
        if of.over_target:
            continue
        contexts += 1
        text = context_text(of.context.messages)
        lines = [line for line in uses_after if not kept.has(text, line.text, tuple(line.places.values()))]
        if lines:
            shared = len(commonprefix([last, text]))  # noqa: RUF071 - texts, compared by character
            new = len(text) - shared + sum(len(line.text) for line in lines)
            todo.append((new / _CHARS_A_TOKEN, 1 + len(text) / _CHARS_A_TOKEN / _SLOWING))
            last = text
    tokens = sum(size for size, _ in todo)
    seconds = sum(size * slower for size, slower in todo) * _seconds_a_token(kept, last) if todo else 0.0
    return SurprisalForecast(contexts, contexts - len(todo), int(tokens), seconds)


def _seconds_a_token(kept: CachedLikelihood, text: str) -> float:
    text = text[:_PROBE_CHARS] or " "
    kept.model.score(text, " .")
    started = monotonic()
    kept.model.score("\n" + text, " .")
    return max(monotonic() - started, 1e-3) / kept.tokens(text)


def _row(job: Job, kept: CachedLikelihood) -> Row:
    of, lines = job
    row: Row = {**of.place, "per_token": None, "reason": of.over_target}
    if of.over_target:
        return row
    try:
        found = surprise(kept, context_text(of.context.messages), lines)
    except ModelError as error:
        return row | {"reason": str(error)}
    seen = view(of.session, of.context)
    retention, slots = of.ready.index.demand(of.at).retained(seen.kept, seen.texts), sorted(found.nats)
    return row | {
        "entities": len(slots), "entity_tokens": sum(found.tokens.values()), "nats": sum(found.nats.values()),
        "per_token": found.per_token, "bound": float(retention.level("bound")[slots].mean()),
        "presence": float(retention.level("presence")[slots].mean()),
    }  # fmt: skip
