"""Scores to and from logs of Inspect: its viewer and other tools can show ours, and ours can compare theirs."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from workbench.errors import FormatError, SettingError
from workbench.experiment.store import Results, write_atomically
from workbench.experiment.tables import frame

if TYPE_CHECKING:
    import pandas as pd

VERSION = 2
"""Of Inspect's log format."""

_GRADES = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
"""Inspect's letters: correct, incorrect, partly correct, no answer."""


def to_inspect(results: Results, out: str | Path) -> list[Path]:
    """Write a log a strategy: a session is a sample, a metric is a score; matched mode's are called `recall@20%`.

    A score without a value is left out, with its reason in the sample's metadata. A log holds no text of a recording
    but the session's id and title.

    Args:
        results: a run.
        out: a folder; logs of the same names are replaced.

    Returns:
        The logs, in the order of the strategies.

    Source:
        Log format version 2 of `inspect_ai.log.EvalLog`, inspect_ai 0.3.285; restated.
    """
    found = []
    for strategy in dict.fromkeys(map(str, results.replays["strategy"])):
        path = Path(out) / f"{re.sub(r'[^A-Za-z0-9._=-]+', '-', strategy).strip('-.') or 'strategy'}.json"
        log = json.dumps(_log(results, strategy), indent=1, ensure_ascii=True, allow_nan=False)
        write_atomically(path, log + "\n")
        found.append(path)
    return found


def inspect_scores(paths: str | Path | Iterable[str | Path], strategy: str | None = None) -> pd.DataFrame:
    """The scores of Inspect logs as rows of the table `scores`, to be compared or gated like a run's.

    `session` is the sample's id, `strategy` that of a log written by us, else its model; `mode` is `natural`;
    the mean is taken over a sample's epochs. Letters count as Inspect counts them; a score of several named values is
    a metric each, `scorer/name`; other words are left out.

    Args:
        paths: logs, `.eval` or JSON.
        strategy: replaces the model's name.

    Raises:
        FormatError: a file is no log of Inspect.
    """
    values: dict[tuple[str, str, str], list[float]] = {}
    for path in [paths] if isinstance(paths, str | Path) else paths:
        about, samples = _read(Path(path))
        ours = (about.get("metadata") or {}).get("strategy")
        name = str(strategy or ours or about.get("model") or about.get("task") or "")
        for sample in samples:
            for metric, score in (sample.get("scores") or {}).items():
                for whole, number in _numbers(metric, score.get("value") if isinstance(score, dict) else None):
                    values.setdefault((str(sample.get("id")), name, whole), []).append(number)
    common = {"mode": "natural", "better": "higher", "why": ""}
    rows = (
        {"session": session, "strategy": name, "metric": metric, "n": len(own), "value": fmean(own), **common}
        for (session, name, metric), own in values.items()
    )
    return frame("scores", rows)


def _log(results: Results, strategy: str) -> dict[str, object]:
    when = datetime.fromtimestamp(results.manifest.get("created", 0), UTC).isoformat(timespec="seconds")
    titles = dict(zip(results.sessions["session"], results.sessions["title"].fillna(""), strict=True))
    scores = results.scores[results.scores["strategy"] == strategy]
    replays = results.replays[results.replays["strategy"] == strategy]
    samples = [
        _sample(row["session"], titles.get(row["session"]), row["reason"], scores[scores["session"] == row["session"]])
        for row in replays.to_dict("records")
    ]
    settings = results.manifest.get("settings") or {}
    done = int((replays["status"] == "ok").sum())
    values: dict[str, list[float]] = {}
    for sample in samples:
        for name, score in sample["scores"].items():
            values.setdefault(name, []).append(score["value"])
    return {
        "version": VERSION,
        "status": "success" if done == len(samples) else "error",
        "eval": {
            "run_id": results.path.name, "created": when, "task": "workbench", "task_id": f"workbench-{strategy}",
            "task_version": 0, "task_args": {"strategy": strategy}, "model": settings.get("model") or "none",
            "model_args": {}, "config": {},
            "dataset": {"name": results.path.name, "samples": len(samples), "sample_ids": [s["id"] for s in samples]},
            "packages": results.manifest.get("packages") or {},
            "metadata": {"strategy": strategy, "settings": settings},
        },
        "plan": {"name": "plan", "steps": [], "config": {}},
        "results": {
            "total_samples": len(samples), "completed_samples": done,
            "scores": [
                {"name": name, "scorer": name, "params": {}, "scored_samples": len(own),
                 "metrics": {"mean": {"name": "mean", "value": fmean(own), "params": {}}}}
                for name, own in values.items()
            ],
        },
        "stats": {"started_at": when, "completed_at": when, "model_usage": {}},
        "samples": samples,
    }  # fmt: skip


def _sample(session: str, title: str | None, reason: str, scores: pd.DataFrame) -> dict[str, Any]:
    values: dict[str, object] = {}
    missing: dict[str, str] = {}
    for row in scores.astype(object).where(scores.notna(), None).to_dict("records"):
        name = row["metric"] if row["share"] is None else f"{row['metric']}@{row['share']:.0%}"
        if row["value"] is None:
            missing[name] = row["why"] or ""
        else:
            facts = {"unit": row["unit"], "better": row["better"], "mode": row["mode"], "n": row["n"]}
            values[name] = {"value": row["value"], "metadata": facts}
    error = {"error": {"message": reason, "traceback": "", "traceback_ansi": ""}} if reason else {}
    return {
        "id": session, "epoch": 1, "input": title or session, "target": "", "messages": [],
        "output": {"model": "", "choices": []}, "scores": values, "metadata": {"without_a_value": missing},
        "store": {}, "events": [], "model_usage": {}, "attachments": {}, **error,
    }  # fmt: skip


def _read(path: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """What a log says of itself, and its samples."""
    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                log = json.loads(archive.read("header.json"))
                members = sorted(name for name in archive.namelist() if re.fullmatch(r"samples/.*\.json", name))
                return log["eval"], [json.loads(archive.read(name)) for name in members]
        log = json.loads(path.read_text(encoding="utf-8"))
        return log["eval"], log.get("samples") or []
    except FileNotFoundError:
        raise SettingError(f"there is no file {path}") from None
    except (OSError, ValueError, KeyError, TypeError, zipfile.BadZipFile) as error:
        raise FormatError(f"not a log of Inspect ({type(error).__name__}: {error})", where=str(path)) from None


def _numbers(metric: str, value: object) -> Iterator[tuple[str, float]]:
    """A score's value as numbers, under its name or, where it has several, names."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _numbers(f"{metric}/{name}", inner)
        return
    try:
        yield metric, _GRADES[value] if value in _GRADES else float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return
