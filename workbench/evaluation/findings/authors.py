"""Who wrote the summaries of a run, and what came of each request for one."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from workbench.base.palette import REFERENCES
from workbench.engine.models.bundled_answers import NAME as BUNDLED
from workbench.evaluation.findings.tables import Tables
from workbench.evaluation.findings.wording import sentences
from workbench.evaluation.metrics.work_exam.reader_error import RULES


def writers(run: Tables) -> pd.DataFrame:
    """One row a strategy that asked for summaries: who wrote them, at what cost, and with which
    faults.
    """
    with_requests = run.compactions[run.compactions["requests"] > 0]
    rows = []
    for name in run.strategies:
        compactions = with_requests[with_requests["strategy"] == name]
        if len(compactions):
            rows.append(_writer(run, name, compactions))
    return pd.DataFrame(rows)


def _writer(run: Tables, name: str, compactions: pd.DataFrame) -> dict[str, object]:
    writer_counts = compactions["writer"].value_counts()
    writer = str(writer_counts.index[0])
    if len(writer_counts) > 1:
        writer = ", ".join(f"{writer} ({count})" for writer, count in writer_counts.items())
    replays = run.replays[run.replays["strategy"] == name]
    has_findings = compactions["findings"].astype(str) != ""
    has_fallback = compactions["fallbacks"] > 0
    is_repaired = compactions["method"].astype(str).str.contains("repaired")
    return {
        "strategy": name,
        "writer": writer,
        "summaries": len(compactions),
        "recall": run.values(run.leading("natural"), name).mean(),
        "recall_at_size": _mean_at_size(run, run.leading("matched"), name),
        "fabricated": _mean_at_size(run, "fabrication", name),
        "usd": replays["usd"].sum(skipna=False),
        "price": compactions["usd"].sum(skipna=False),
        "seconds": compactions["seconds"].mean(),
        "read": compactions["input_tokens"].sum(),
        "wrote": compactions["output_tokens"].sum(),
        "repaired": int(is_repaired.sum()),
        "replaced": int(has_fallback.sum()),
        "faulty": int((has_findings & (compactions["fallbacks"] == 0)).sum()),
        "unread": int(compactions["left_out"].fillna(0).sum()),
    }


def _mean_at_size(run: Tables, metric: str, name: str) -> float:
    scores = run.select(metric, "matched")
    return float(scores.loc[scores["strategy"] == name, "value"].mean())


@dataclass(frozen=True, slots=True)
class SummaryCounts:
    """Who wrote the summaries of a run.

    Attributes:
        by_model: how many models wrote.
        by_rule: how many a rule wrote: `extractive`, or a strategy's stand-in.
        models: the models, as the tables name them.
    """

    by_model: int = 0
    by_rule: int = 0
    models: tuple[str, ...] = ()

    @property
    def total(self) -> int:
        """All summaries."""
        return self.by_model + self.by_rule


def summary_counts(run: Tables) -> SummaryCounts:
    """Who wrote the summaries of a run's contenders."""
    rows = run.summaries[~run.summaries["strategy"].isin(REFERENCES)]
    writers = rows["writer"].str.split(" + ", regex=False).explode()
    models = tuple(name for name in writers.unique() if name not in RULES)
    by_rule = int(rows["by_rule"].sum())
    by_model = int(rows["requests"].sum()) - by_rule
    return SummaryCounts(by_model, by_rule, models)


def author(model: str) -> str:
    """Who a model is, for readers: `bundled` is the name of recorded answers, not of a model."""
    name, _, writer = model.partition(" (")
    if name != BUNDLED:
        return model
    who, _, date = writer.removesuffix(")").partition(", ")
    who = who or "a large language model"
    recorded_when = f"recorded {date}".strip()
    return f"{who} ({recorded_when}; its answers ship with the package)"


OWN = ("", "extractive")
"""Writers that no provider stands behind."""
COUNTS = ["summaries", "written", "useless"]


def answers(replays: pd.DataFrame) -> pd.DataFrame:
    """One row a model that may not answer, from the table `replays`.

    Returns:
        `model`; `summaries` that the run needs; those `written` by it; those `useless`, for which
        other text stands; those `not_bundled`, which `extractive` wrote; `pending` replays, which
        are in no figure; `usd`, the dollars that the run has paid, missing if unknown.
    """
    with_model = replays[~replays["model"].fillna("").isin(OWN)]
    with_model = with_model.assign(pending=with_model["status"] == "pending")
    by_model = with_model.groupby("model", sort=False)
    counts = by_model[[*COUNTS, "pending"]].sum().astype(int)
    lacking = counts["summaries"] - counts["written"] - counts["useless"]
    counts["not_bundled"] = lacking.where(counts.index == BUNDLED, 0)
    counts["usd"] = by_model["usd"].apply(lambda dollars: dollars.sum(skipna=False))
    return counts.reset_index()


def answer_sentences(replays: pd.DataFrame) -> list[str]:
    """Where a model did not write all summaries: `0 of 8 summaries were written by gpt-4o-mini;
    ...`.
    """
    models = answers(replays)
    incomplete = models[models["written"] < models["summaries"]]
    incomplete = incomplete.assign(author=incomplete["model"].map(author))
    return sentences("answers", models=incomplete.to_dict("records"))
