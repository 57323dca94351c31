"""What a report rests on: what was replayed, whether it was sound, whether the scale holds, and how to get it again."""

from __future__ import annotations

import shlex
from collections.abc import Hashable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import pandas as pd

from workbench.formats import joined
from workbench.report.html import Html, part
from workbench.report.summaries import integrity
from workbench.report.tables import RETENTION, Source, Tables, plain, replayed, strategies, unreadable
from workbench.validation.scale import ceiling, floor

MOST_PATHS = 4
"""Recordings that the line for Python names one by one."""
_SHARED = "# a shared copy: only its maker knows the recordings and where they are"


def integrity_html(run: Tables) -> Html:
    """What the guard found, in a sentence and a table."""
    rows = integrity(run)
    failed = run.replays[run.replays["status"] == "failed"].to_dict("records")
    return part(
        "integrity", data=rows, rows=rows.to_dict("records"), compactions=int(rows["compactions"].sum()),
        violations=int(rows["violations"].sum()), failed=failed, known=strategies(run),
    )  # fmt: skip


def sessions_html(run: Tables) -> Html:
    """The sessions of the run, and the files that could not be read."""
    rows = replayed(run)
    lines = [_session(one) for one in rows.to_dict("records")]
    return part("sessions", data=rows, rows=lines, unreadable=unreadable(run).to_dict("records"))


def _session(one: Mapping[Hashable, Any]) -> dict[Hashable, Any]:
    skipped = [line for line in str(one["skipped"]).splitlines() if line]
    return {
        **one, "title": one["title"] or one["session"], "path": one["path"] or one["session"], "skipped": skipped,
    }  # fmt: skip


def reproduce_html(run: Tables) -> Html:
    """The command, the settings and the versions that give this report again."""
    made, given = run.manifest, run.manifest.get("settings")
    settings = given if isinstance(given, Mapping) else {}
    command = _SHARED if made.get("shared") else _command(made.get("command"), made.get("sources"), settings)
    facts = [(key, value) for key, value in _facts(made, settings) if value]
    return part("reproduce", command, command=command, facts=facts)


def _command(command: object, sources: object, settings: Mapping[str, object]) -> str:
    if isinstance(command, Sequence) and command:
        return command if isinstance(command, str) else shlex.join(map(str, command))
    names = ("strategies", "window", "model", "shares")
    given = ", ".join(f"{name}={settings[name]!r}" for name in names if name in settings)
    paths = [str(path) for path in sources] if isinstance(sources, list) else []
    files = repr(paths) if 0 < len(paths) <= MOST_PATHS else "[...]"
    return f"import workbench as wb\n\nwb.compare({files}, {given})"


def _facts(made: Mapping[str, object], settings: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    window, model, created = settings.get("window"), str(settings.get("model", "")), made.get("created")
    masked = "secrets, e-mail addresses, names of home directories" if settings.get("redact") else ""
    yield "Window", f"{window:,} tokens" if isinstance(window, int) else "each session’s own"
    yield "Summaries written by", f"{model} (not a language model)" if model == "extractive" else model
    yield "Masked before replay", masked
    yield "Seed", str(settings.get("seed", ""))
    yield "Python", str(made.get("python", ""))
    packages = made.get("packages")
    if isinstance(packages, Mapping):
        yield "Packages", joined([f"{name} {version}" for name, version in packages.items()])
    yield "Code", str(made.get("code", ""))
    if isinstance(created, int | float):
        yield "Made", datetime.fromtimestamp(created, UTC).strftime("%d %B %Y, %H:%M UTC").lstrip("0")


def validity_html(run: Source) -> Html:
    """The checks that the run's own replays allow: one row each with `check`, `outcome`, `found`, `claim`."""
    checks = [floor(run), ceiling(run)]
    rows = [
        {"check": c.name, "outcome": c.outcome, "found": c.found, "claim": c.claim, "where": c.where} for c in checks
    ]
    return part("validity", data=pd.DataFrame(rows).drop(columns="where"), rows=rows)


def recorded_html(run: Source) -> Html:
    """Recall at recorded compactions beside the strategies at the same size; empty where no recording has one.

    One row a strategy: `strategy`, `sessions`, `recall` and `tokens_kept` (shares, means over sessions).
    """
    scores = plain(run.table("scores"))
    scores = scores[(scores["mode"] == "recorded") & scores["metric"].isin([RETENTION, "tokens_kept"])]
    if not (scores["strategy"] == "recorded").any():
        return Html("", "no recording has a compaction with a summary that can be read")
    wide = scores.pivot_table(index=["strategy", "session"], columns="metric", values="value").reset_index()
    wide = wide.reindex(columns=["strategy", "session", RETENTION, "tokens_kept"])
    means = wide.groupby("strategy").agg(
        sessions=(RETENTION, "count"), recall=(RETENTION, "mean"), tokens_kept=("tokens_kept", "mean")
    )
    data = means.sort_values("recall", ascending=False).reset_index()
    note = rereads_note(run)
    return part("recorded", data=data, rows=data.to_dict("records"), note=note, known=list(data["strategy"]))


def rereads_note(run: Source) -> str:
    """How often the recorded agents looked again at what they had seen, in a sentence."""
    rows = plain(run.table("rereads"))
    known = rows[rows["expected"].notna()]
    if known.empty:
        return "Too few tool calls come before these compactions to say how often the agents look again anyway."
    return (
        f"In the {int(known['calls'].sum())} tool calls after {len(known)} such compactions the agents looked"
        f" {int(known['repeats'].sum())} times at what they had seen before; their rate from before predicts"
        f" {known['expected'].sum():.0f} times."
    )
