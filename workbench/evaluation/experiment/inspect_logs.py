"""The scores of a run as logs of Inspect: a strategy is a log, a session is a sample."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from workbench.evaluation.experiment.atomic import write_atomically
from workbench.evaluation.experiment.results import Results

if TYPE_CHECKING:
    import pandas as pd

VERSION = 2
"""Of Inspect's log format."""


def to_inspect(results: Results, out: str | Path) -> list[Path]:
    """Write a log a strategy: a session is a sample, a metric is a score; matched mode's are called
    `recall@20%`.

    A score without a value is left out, with its reason in the sample's metadata. A log holds no
    text of a recording but the session's id and title.

    Args:
        results: a run.
        out: a folder; logs of the same names are replaced.

    Returns:
        The logs, in the order of the strategies.

    Source:
        Log format version 2 of `inspect_ai.log.EvalLog`, inspect_ai 0.3.285; restated.
    """
    folder = Path(out)
    paths: list[Path] = []
    strategies = map(str, results.replays["strategy"])
    for strategy in dict.fromkeys(strategies):
        file_name = re.sub(r"[^A-Za-z0-9._=-]+", "-", strategy)
        file_name = file_name.strip("-.") or "strategy"
        path = folder / f"{file_name}.json"
        log = _log(results, strategy)
        text = json.dumps(log, indent=1, ensure_ascii=True, allow_nan=False)
        write_atomically(path, f"{text}\n")
        paths.append(path)
    return paths


def _log(results: Results, strategy: str) -> dict[str, object]:
    created = datetime.fromtimestamp(results.manifest.get("created", 0), UTC)
    when = created.isoformat(timespec="seconds")
    settings = results.manifest.get("settings") or {}
    samples = _samples(results, strategy)
    replays = _of_strategy(results.replays, strategy)
    is_finished = replays["status"] == "ok"
    finished_count = int(is_finished.sum())
    values: defaultdict[str, list[float]] = defaultdict(list)
    for sample in samples:
        for name, score in sample["scores"].items():
            values[name].append(score["value"])
    mean_scores: list[dict[str, object]] = []
    for name, score_values in values.items():
        mean_scores.append(_mean_score(name, score_values))
    return {
        "version": VERSION,
        "status": "success" if finished_count == len(samples) else "error",
        "eval": {
            "run_id": results.path.name,
            "created": when,
            "task": "workbench",
            "task_id": f"workbench-{strategy}",
            "task_version": 0,
            "task_args": {"strategy": strategy},
            "model": settings.get("model") or "none",
            "model_args": {},
            "config": {},
            "dataset": {
                "name": results.path.name,
                "samples": len(samples),
                "sample_ids": [sample["id"] for sample in samples],
            },
            "packages": results.manifest.get("packages") or {},
            "metadata": {"strategy": strategy, "settings": settings},
        },
        "plan": {"name": "plan", "steps": [], "config": {}},
        "results": {
            "total_samples": len(samples),
            "completed_samples": finished_count,
            "scores": mean_scores,
        },
        "stats": {"started_at": when, "completed_at": when, "model_usage": {}},
        "samples": samples,
    }


def _samples(results: Results, strategy: str) -> list[dict[str, Any]]:
    """The sessions of a strategy."""
    titles = results.sessions.set_index("session")["title"]
    title_of = titles.fillna("").to_dict()
    scores = _of_strategy(results.scores, strategy)
    replays = _of_strategy(results.replays, strategy)
    samples: list[dict[str, Any]] = []
    for row in replays.to_dict("records"):
        session = row["session"]
        is_of_session = scores["session"] == session
        title = title_of.get(session)
        sample = _sample(session, title, row["reason"], scores[is_of_session])
        samples.append(sample)
    return samples


def _of_strategy(table: pd.DataFrame, strategy: str) -> pd.DataFrame:
    is_of_strategy = table["strategy"] == strategy
    return table[is_of_strategy]


def _mean_score(name: str, values: Sequence[float]) -> dict[str, object]:
    """One metric over all samples."""
    mean = {"name": "mean", "value": fmean(values), "params": {}}
    return {
        "name": name,
        "scorer": name,
        "params": {},
        "scored_samples": len(values),
        "metrics": {"mean": mean},
    }


def _sample(session: str, title: str | None, reason: str, scores: pd.DataFrame) -> dict[str, Any]:
    values: dict[str, object] = {}
    missing: dict[str, str] = {}
    known_values = scores.astype(object)
    known_values = known_values.where(scores.notna(), None)
    for row in known_values.to_dict("records"):
        name = row["metric"]
        if row["share"] is not None:
            name = f"{name}@{row['share']:.0%}"
        if row["value"] is None:
            missing[name] = row["why"] or ""
            continue
        facts = {
            "unit": row["unit"],
            "better": row["better"],
            "mode": row["mode"],
            "n": row["n"],
        }
        values[name] = {"value": row["value"], "metadata": facts}
    sample: dict[str, Any] = {
        "id": session,
        "epoch": 1,
        "input": title or session,
        "target": "",
        "messages": [],
        "output": {"model": "", "choices": []},
        "scores": values,
        "metadata": {"without_a_value": missing},
        "store": {},
        "events": [],
        "model_usage": {},
        "attachments": {},
    }
    if reason:
        sample["error"] = {"message": reason, "traceback": "", "traceback_ansi": ""}
    return sample
