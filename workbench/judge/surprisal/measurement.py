"""Continuation surprisal of the contexts of several strategies: planned, estimated, then scored, resumable."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from workbench.analysis.over_target import evenly, over_target
from workbench.errors import ModelError
from workbench.experiment.replay_rows import Row
from workbench.experiment.sources import What
from workbench.experiment.spec import Read, Shares, Whole, documented, model_name
from workbench.judge.contexts import Compacted, ContextSpec
from workbench.judge.measurement import Measurement
from workbench.judge.question_answerer import context_text
from workbench.judge.surprisal.continuation import MOST, Surprise, Use, surprise, uses
from workbench.metrics.recall import FEWEST
from workbench.metrics.view import view
from workbench.models.likelihood_cache import CachedLikelihood
from workbench.models.weights import weights

if TYPE_CHECKING:
    import pandas as pd

TABLE, NOTES = "surprisal.parquet", "surprisal.json"

COLUMNS = {
    "session": "string", "strategy": "string", "share": "Float64", "at": "Int64", "tokens": "Int64",
    "entities": "Int64", "entity_tokens": "Int64", "nats": "Float64", "per_token": "Float64", "excess": "Float64",
    "bound": "Float64", "presence": "Float64", "reason": "string",
}  # fmt: skip
"""The columns of the table, see docs/tables.md."""

_PROBE_CHARS = 1_000
_CHARS_A_TOKEN = 3.2
_SLOWING = 33_000
"""Tokens of context after which a token takes twice as long; measured with the bundled weights."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What is still to be done before it begins.

    Attributes:
        contexts: how many there are; `kept` of them are on disk in whole.
        tokens: that the model has still to read, about.
        seconds: that it will take, about, at the speed just measured; 0 if nothing is to be read.
    """

    contexts: int
    kept: int
    tokens: int
    seconds: float


@dataclass(frozen=True, slots=True)
class _Job:
    of: Compacted
    lines: tuple[Use, ...]

    @property
    def text(self) -> str:
        return context_text(self.of.context.messages)


class SurprisalResults(Measurement):
    """Finished: a row a context, and the model, its terms, the settings, and how long it took."""

    file = TABLE
    notes_file = NOTES
    columns = COLUMNS
    missing = "measurement of surprisal; `workbench judge surprisal` makes one"

    def means(self) -> list[Row]:
        """A row a strategy: mean surprise and mean excess over sessions, each session counted once.

        Only boundaries at which every strategy was scored that is compared at equal size, see `evenly`; `whole` counts
        those where the whole history was, too.
        """
        table = evenly(self.table)
        table = table[table["reason"] == ""]
        names = list(dict.fromkeys(self.table["strategy"]))
        apart = {name for name, one in over_target(self.table).items() if not one.compared}
        inner = [name for name in names if name != "none" and name not in apart]
        place = ["session", "share", "at"]
        full = table[table["strategy"].isin(inner)].groupby(place)["strategy"].nunique() == len(inner)
        if not full.any():
            return []
        common = table.set_index(place).loc[lambda t: t.index.isin(full[full].index)].reset_index()
        found: list[Row] = []
        for name in names:
            own = common[common["strategy"] == name]
            by = own.groupby("session")
            found.append(
                {
                    "strategy": str(name),
                    "sessions": int(own["session"].nunique()),
                    "boundaries": len(own),
                    "per_token": _mean(by["per_token"].mean()),
                    "excess": _mean(by["excess"].mean()),
                    "bound": _mean(by["bound"].mean()),
                }
            )
        return found


def _mean(values: pd.Series[float]) -> float | None:
    known = values.dropna()
    return float(known.mean()) if len(known) else None


class SurprisalSpec(ContextSpec):
    """A measurement of surprisal."""

    boundaries: Shares = Field((0.35, 0.5, 0.65, 0.8), description="Where they compact, as shares of the messages.")
    likelihood: Annotated[str | CachedLikelihood, Read(lambda value: value)] = Field(
        "gemma", description="Weights of the model that is surprised: gemma, smollm2 or a .gguf file."
    )
    most: Whole = Field(MOST, ge=1, description="Score at most this many lines at a boundary.")
    out: Path = Field(Path("reports/surprisal"), description="Folder for the table; a run's report shows its own.")


@documented(SurprisalSpec)
def surprisal(
    what: What = (),
    *,
    spec: SurprisalSpec | None = None,
    before: Callable[[Estimate], bool] = lambda estimate: True,
    **settings: Any,  # noqa: ANN401 - see SurprisalSpec
) -> SurprisalResults | None:
    """Measure how surprising a small local model finds what the recordings needed, given each strategy's context.

    Scores are kept in the cache folder: an interrupted call goes on where it stopped.

    Args:
        what: files, folders, patterns or sessions; none stand for the bundled sessions.
        before: receives the estimate before the work begins; false stops there.
        spec: a specification made before; further settings change it.
        **settings: the fields of `SurprisalSpec`.

    Returns:
        The measurement; None if `before` stopped it.
    """
    spec = SurprisalSpec.of(spec, settings)
    kept = CachedLikelihood.of(weights(spec.likelihood)) if isinstance(spec.likelihood, str) else spec.likelihood
    jobs = list(_jobs(spec.contexts(what), spec.most))
    sizes = _sizes(jobs, kept)
    if not before(_estimate(jobs, sizes, kept)):
        return None
    started = monotonic()
    rows = list(_rows(jobs, sizes, kept, spec.quiet))
    notes = {
        "likelihood": kept.name,
        "likelihood_window": kept.window,
        "summaries_by": model_name(spec.model),
        "most_lines": spec.most,
        "seconds": round(monotonic() - started, 1),
        "scored_now": kept.asked,
        "from_disk": kept.kept,
    }
    return SurprisalResults.write(spec.out, rows, notes)


def _jobs(contexts: Iterator[Compacted], most: int) -> Iterator[_Job]:
    """The contexts at boundaries where enough was needed."""
    for one in contexts:
        lines = uses(one.ready.index.demand(one.at), most)
        if sum(len(line.places) for line in lines) >= FEWEST:
            yield _Job(one, lines)


def _sizes(jobs: Sequence[_Job], kept: CachedLikelihood) -> list[int]:
    """For each job about how many tokens are still to be read; a beginning that was just read is not read again."""
    found, last = [], ""
    for job in jobs:
        if job.of.over_target:
            found.append(0)
            continue
        text = job.text
        todo = [line for line in job.lines if not kept.has(text, line.text, tuple(line.places.values()))]
        if todo:
            new = len(text) - _common(last, text)
            found.append(int((new + sum(len(line.text) for line in todo)) / _CHARS_A_TOKEN))
            last = text
        else:
            found.append(0)
    return found


def _common(first: str, second: str) -> int:
    """How many characters two texts have in common at their beginning; texts are compared in shards."""
    at, step = 0, 4_096
    while first[at : at + step] == second[at : at + step] and at < min(len(first), len(second)):
        at += step
    pairs = zip(first[at : at + step], second[at : at + step], strict=False)
    same = next((i for i, (one, other) in enumerate(pairs) if one != other), 0)
    return min(at + same, len(first), len(second))


def _estimate(jobs: Sequence[_Job], sizes: Sequence[int], kept: CachedLikelihood) -> Estimate:
    todo = [(job, size) for job, size in zip(jobs, sizes, strict=True) if size]
    tokens = sum(sizes)
    contexts = sum(not job.of.over_target for job in jobs)
    if not todo:
        return Estimate(contexts, contexts, 0, 0.0)
    text = todo[0][0].text[:_PROBE_CHARS] or " "
    kept.model.score(text, " .")
    started = monotonic()
    kept.model.score("\n" + text, " .")
    speed = kept.tokens(text) / max(monotonic() - started, 1e-3)
    slow = sum(size * (1 + len(job.text) / _CHARS_A_TOKEN / _SLOWING) for job, size in todo)
    return Estimate(contexts, contexts - len(todo), tokens, slow / speed)


def _rows(jobs: Sequence[_Job], sizes: Sequence[int], kept: CachedLikelihood, quiet: bool) -> Iterator[Row]:
    from tqdm.auto import tqdm

    whole: dict[tuple[str, float, int], float] = {}
    hidden = quiet or not sys.stderr.isatty()
    with tqdm(total=sum(sizes), desc="reading", unit="token", unit_scale=True, disable=hidden, leave=False) as bar:
        for job, size in zip(jobs, sizes, strict=True):
            row = _row(job, kept)
            key = (job.of.session.id, job.of.share, job.of.at)
            if job.of.strategy == "none" and row["per_token"] is not None:
                whole[key] = float(row["per_token"])
            if key in whole and row["per_token"] is not None:
                row["excess"] = float(row["per_token"]) - whole[key]
            bar.update(size)
            yield row


def _row(job: _Job, kept: CachedLikelihood) -> Row:
    of = job.of
    row: Row = {
        "session": of.session.id, "strategy": of.strategy, "share": of.share, "at": of.at, "tokens": of.context.tokens,
        "entities": None, "entity_tokens": None, "nats": None, "per_token": None, "excess": None, "bound": None,
        "presence": None, "reason": "",
    }  # fmt: skip
    if of.over_target:
        return row | {"reason": of.over_target}
    try:
        found = surprise(kept, job.text, job.lines)
    except ModelError as error:
        return row | {"reason": str(error)}
    return row | _held(of, found)


def _held(of: Compacted, found: Surprise) -> Row:
    seen = view(of.session, of.context)
    retention = of.ready.index.demand(of.at).retained(seen.kept, seen.texts)
    slots = sorted(found.nats)
    return {
        "entities": len(slots),
        "entity_tokens": sum(found.tokens.values()),
        "nats": sum(found.nats.values()),
        "per_token": found.per_token,
        "bound": float(retention.level("bound")[slots].mean()),
        "presence": float(retention.level("presence")[slots].mean()),
    }
