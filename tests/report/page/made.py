"""A run made up for tests: all tables of the documented schema, with figures that look like real
ones.
"""

from __future__ import annotations

from functools import cache, cached_property
from typing import Any

import numpy as np
from planted_run import TABLES, PlantedRun

from workbench import Findings, Report
from workbench.evaluation.findings.tables import Tables

KEEPS = {"none": 1.0, "null": 0.04, "truncate": 0.5, "summarize": 0.74, "pipeline": 0.62}
SAVES = {"none": 0.0, "null": 0.9, "truncate": 0.47, "summarize": 0.44, "pipeline": 0.39}
KINDS = ("path", "identifier", "number", "error", "command", "url", "flag", "version")
STAGES = {
    "truncate": "truncate",
    "summarize": "summarize",
    "pipeline": "snip",
    "null": "null",
    "none": "",
}


def made(
    sessions: int = 3,
    strategies: tuple[str, ...] = tuple(KEEPS),
    shares: tuple[float, ...] = (0.05, 0.1, 0.2),
    **text: str,
) -> PlantedRun:
    """Results of `sessions` sessions; `text` replaces the entity, evidence, use or title of
    every row.
    """
    dice = np.random.default_rng(7)
    ids = [f"session-{n:02d}" for n in range(sessions)]
    pairs = [(id, strategy) for id in ids for strategy in strategies]
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in TABLES}
    rows["sessions"] = [_session(id, n, **text) for n, id in enumerate(ids)]
    for id, strategy in pairs:
        rows["steps"] += _steps(id, strategy)
        rows["compactions"] += _compactions(id, strategy)
        rows["retention"] += _retention(id, strategy, shares, dice)
        rows["scores"] += _scores(id, strategy, shares, dice)
        rows["losses"] += _losses(id, strategy, **text)
        rows["survival"] += _survival(id, strategy, dice)
        rows["replays"].append({"session": id, "strategy": strategy, "status": "ok", "reason": ""})
    return PlantedRun(dict(MANIFEST), rows)


def with_recorded(sessions: int = 3) -> PlantedRun:
    """The same, where each recorded agent compacted once by itself."""
    run = made(sessions)
    run.rows["scores"] += [
        {
            "session": f"session-{n:02d}",
            "strategy": name,
            "mode": "recorded",
            "metric": metric,
            "value": value,
        }
        for n in range(sessions)
        for name, kept in (("truncate", 0.3 + 0.01 * n), ("recorded", 0.7 - 0.01 * n))
        for metric, value in (("exam_recall", kept), ("tokens_kept", 0.05))
    ]
    return run


class WorkedOut:
    """A run, and what it says, each worked out when a test first asks for it."""

    def __init__(self, run: PlantedRun) -> None:
        self.run = run

    @cached_property
    def tables(self) -> Tables:
        return Tables.of(self.run)

    @cached_property
    def findings(self) -> Findings:
        return Findings.of_tables(self.tables)

    @cached_property
    def report(self) -> Report:
        return Report(self.run, findings=self.findings)


@cache
def _worked_out(
    sessions: int, strategies: tuple[str, ...], shares: tuple[float, ...], **text: str
) -> WorkedOut:
    return WorkedOut(made(sessions, strategies, shares, **text))


def tables_of(
    sessions: int = 3,
    strategies: tuple[str, ...] = tuple(KEEPS),
    shares: tuple[float, ...] = (0.05, 0.1, 0.2),
    **text: str,
) -> Tables:
    """The tables of such a run, made once for all tests; nobody writes into them."""
    return _worked_out(sessions, strategies, shares, **text).tables


def findings_of(
    sessions: int = 3,
    strategies: tuple[str, ...] = tuple(KEEPS),
    shares: tuple[float, ...] = (0.05, 0.1, 0.2),
    **text: str,
) -> Findings:
    """What such a run says, worked out once for all tests."""
    return _worked_out(sessions, strategies, shares, **text).findings


def report_of(
    sessions: int = 3,
    strategies: tuple[str, ...] = tuple(KEEPS),
    shares: tuple[float, ...] = (0.05, 0.1, 0.2),
    **text: str,
) -> Report:
    """The report of such a run, its findings worked out once for all tests."""
    return _worked_out(sessions, strategies, shares, **text).report


HOSTILE = (
    '<script>window.hit=1</script><img src=x onerror="window.hit=1"><svg'
    ' onload="window.hit=1"></svg></td></table></details></main><style>main{display:none}</style><a'
    ' href="javascript:window.hit=1">a</a>[b](javascript:window.hit=1) ![c](c.png) <!-- --> {{ 7 *'
    ' 7 }} &lt;script&gt; "\'` " onmouseover="window.hit=1 \x1b]0;title\x07\x1b[31m\x00\u202e\u2028'
)


def hostile() -> PlantedRun:
    """A hundred sessions with hostile text in every place, a megabyte of it in some."""
    text = HOSTILE + "x" * 2_000
    source = made(100, entity=text, evidence=text, use=text, title=text)
    source.manifest["command"] = ["workbench", HOSTILE]
    source.rows["losses"][0].update(
        evidence=HOSTILE + "long " * 200_000, use="x" * 1_000_000 + HOSTILE, weight=99.0
    )
    source.rows["sessions"][0].update(skipped=HOSTILE, path=HOSTILE, format=HOSTILE, model=HOSTILE)
    source.rows["sessions"].append(
        {"session": HOSTILE, "path": HOSTILE, "status": "unreadable", "reason": HOSTILE}
    )
    source.rows["replays"][0].update(status="failed", reason=HOSTILE)
    return source


MANIFEST = {
    "schema": 1, "command": ["workbench", "compare", "--window", "64000"], "settings": {"window": 64_000,
    "model": "extractive",
    "strategies": ["truncate", "summarize", "pipeline"], "shares": [0.05, 0.1, 0.2], "seed": 0}, "python": "3.11.9",
    "packages": {"compaction-workbench": "0.1.0", "pandas": "2.2.0"}, "code": "0123456789abcdef", "seconds": 12.5,
    "created": 1_760_000_000,
    "jobs": 2, "sources": ["recorded/a.jsonl"],
}  # fmt: skip


def _session(id: str, n: int, **text: str) -> dict[str, Any]:
    calibrated = n % 3 != 2
    return {
        "session": id,
        "title": text.get("title", f"Repair number {n}"),
        "project": f"p{n}",
        "path": f"recorded/{id}.jsonl",
        "format": "native",
        "model": "some-model",
        "messages": 120,
        "requests": 60,
        "reported_requests": 60 if calibrated else 0,
        "tokens": 82_000 + 1000 * n,
        "overhead": 9_000 if calibrated else 0,
        "scale": 1.1 if calibrated else None,
        "calibration_error": 0.008 if calibrated else None,
        "window": None,
        "window_wanted": 64_000,
        "window_source": "the window asked for",
        "window_used": 64_000,
        "branches": 1,
        "recorded_compactions": 0,
        "skipped": "",
        "status": "ok",
        "reason": "",
    }


def _steps(id: str, strategy: str) -> list[dict[str, Any]]:
    rows, sent, number = [], 9_000, 0
    for request in range(60):
        recorded = 9_000 + 1_400 * (request + 1)
        sent += 1_400
        fired = None
        if strategy == "none":
            sent = recorded
        elif strategy == "null":
            sent = 11_000
        elif sent > 51_200:
            sent, fired, number = 30_000 - 3_000 * (strategy == "truncate"), number, number + 1
        rows.append(
            {
                "session": id,
                "strategy": strategy,
                "mode": "natural",
                "share": None,
                "request": request,
                "index": 2 * request + 1,
                "tokens_recorded": recorded,
                "tokens_sent": sent,
                "prefix_reused": int(sent * 0.9),
                "compaction": fired,
            }
        )
    return rows


def _compactions(id: str, strategy: str) -> list[dict[str, Any]]:
    if strategy in ("none", "null"):
        return []
    return [
        {
            "session": id,
            "strategy": strategy,
            "mode": "natural",
            "share": None,
            "number": n,
            "at": 61 + 30 * n,
            "reason": "threshold",
            "target": 31_000,
            "tokens_before": 51_800,
            "tokens_after": 30_000,
            "tokens_sent": 30_000,
            "dropped": 40,
            "rewritten": 3,
            "kept": 21,
            "stages": STAGES.get(strategy, strategy),
            "requests": 0,
            "input_tokens": 0,
            "output_tokens": 0,
            "usd": 0.0,
            "seconds": 0.0,
            "fallbacks": 0,
            "outcome": "compacted",
            "why": "",
            "violations": 0,
        }
        for n in range(2)
    ]


def _keep(strategy: str, share: float | None) -> float:
    keep = KEEPS.get(strategy, 0.45 + 0.03 * (len(strategy) % 7))
    return (
        keep
        if strategy in ("none", "null") or share is None
        else min(1.0, keep * (0.72 + 1.8 * share))
    )


def _retention(
    id: str, strategy: str, shares: tuple[float, ...], dice: np.random.Generator
) -> list[dict[str, Any]]:
    rows = []
    for share in (None, *shares):
        for at in (61, 91):
            for k, kind in enumerate(KINDS):
                demanded = 24 - 3 * k
                bound = demanded * min(
                    1.0,
                    max(
                        0.0,
                        _keep(strategy, share)
                        + (dice.normal(0, 0.05) if strategy != "none" else 0),
                    ),
                )
                rows.append(
                    {
                        "session": id,
                        "strategy": strategy,
                        "mode": "natural" if share is None else "matched",
                        "share": share,
                        "at": at,
                        "tokens": 30_000,
                        "kind": kind,
                        "recoverable": "irrecoverable" if k % 2 else "reacquirable",
                        "demanded": demanded,
                        "presence": min(demanded, bound * 1.2),
                        "bound": bound,
                        "coverage": bound * 0.9,
                    }
                )
    return rows


def _scores(
    id: str, strategy: str, shares: tuple[float, ...], dice: np.random.Generator
) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []

    def add(
        metric: str,
        value: float | None,
        unit: str,
        better: str,
        share: float | None = None,
        why: str = "",
    ) -> None:
        scaled = None if value is None or metric != "exam_recall" else (value - 0.04) / 0.96
        rows.append(
            {
                "session": id,
                "strategy": strategy,
                "mode": "natural" if share is None else "matched",
                "share": share,
                "metric": metric,
                "value": value,
                "scaled": scaled,
                "unit": unit,
                "better": better,
                "n": 180,
                "why": why,
            }
        )

    for share in (None, *shares):
        noise = 0.0 if strategy == "none" else dice.normal(0, 0.04)
        add(
            "exam_recall",
            min(1.0, max(0.0, _keep(strategy, share) + noise)),
            "share",
            "higher",
            share,
        )
        add("fabrication", 0.0, "share", "lower", share)
        if share is not None:
            add("tokens_kept", 1.0 if strategy == "none" else share * 0.96, "share", "lower", share)
    saved = SAVES.get(strategy, 0.3 + 0.03 * (len(strategy) % 7))
    add(
        "tokens_saved",
        saved + (0.0 if strategy == "none" else dice.normal(0, 0.03)),
        "share",
        "higher",
    )
    add("tokens_sent", 3_000_000 * (1 - saved), "tokens", "lower")
    add("peak_context", 93_000 if strategy == "none" else 51_800, "tokens", "lower")
    add("mean_context", 50_000 * (1 - saved), "tokens", "lower")
    add("over_window", 0.0, "share", "lower")
    add("compactions", 0 if strategy in ("none", "null") else 2, "count", "lower")
    add("prefix_reuse", 0.93, "share", "higher")
    add("violations", 0, "count", "lower")
    return rows


def _survival(id: str, strategy: str, dice: np.random.Generator) -> list[dict[str, Any]]:
    """Of two hundred things said before the first compaction, what outlives it, and the second."""
    if strategy in ("none", "null"):
        return []
    rows: list[dict[str, Any]] = []
    alive = 200
    for number in (1, 2):
        lost = int(dice.binomial(alive, 1 - _keep(strategy, None)))
        rows.append(
            {
                "session": id,
                "strategy": strategy,
                "kind": "path",
                "round": number,
                "at_risk": alive,
                "lost": lost,
            }
        )
        alive -= lost
    return rows


def _losses(id: str, strategy: str, **text: str) -> list[dict[str, Any]]:
    if strategy == "none":
        return []
    rows = []
    for n in range(6 if strategy == "null" else 4):
        rows.append(
            {
                "session": id,
                "strategy": strategy,
                "mode": "natural",
                "share": None,
                "at": 61,
                "kind": KINDS[n],
                "entity": text.get("entity", f"src/store_{n}.py"),
                "recoverable": "irrecoverable" if n % 2 else "reacquirable",
                "way_back": "user" if n % 2 else "call",
                "tokens_back": None if n % 2 else 1234,
                "level": "absent" if n % 2 else "unbound",
                "said_by": "user" if n % 2 else "tool",
                "said_at": 4 + n,
                "evidence": text.get(
                    "evidence", f"the holds expire in src/store_{n}.py after 900 seconds"
                ),
                "evidence_at": 4 + n,
                "needed_at": 70 + 3 * n,
                "use": text.get("use", f"open src/store_{n}.py and change the limit"),
                "stage": STAGES.get(strategy, strategy),
                "weight": 9.0 - n - 0.1 * len(strategy),
            }
        )
    return rows
