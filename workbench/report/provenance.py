"""What a report rests on: what was replayed, whether it was whole, and how to get it again."""

from __future__ import annotations

import shlex
from collections.abc import Hashable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from workbench.markup import shown
from workbench.report.digits import amount, count, listed, percent, some
from workbench.report.html import Cell, Html, bullets, dot, row, table
from workbench.report.tables import Tables, integrity, replayed, strategies, unreadable

MOST_PATHS = 4
"""Recordings that the line for Python names one by one."""
_SHARED = "# a shared copy: the recordings, and where they are, are known to whoever made it"
FEW = 12
"""Sessions that are listed without being asked for."""


def integrity_html(run: Tables) -> Html:
    """What the guard found, in a sentence and a table."""
    rows = integrity(run)
    known = strategies(run)
    heads = [("Strategy", ""), ("Compactions", "n"), ("Findings", "n"), ("Missed the target size", "n"),
             ("Model failed, fallback used", "n"), ("Replays failed", "n")]  # fmt: skip
    columns = ("compactions", "violations", "too_large", "fallbacks", "failed")
    lines = [
        row([(dot(one["strategy"], known), ""), *((f"{one[column]:,}", "n") for column in columns)])
        for one in rows.to_dict("records")
    ]
    failed = run.replays[run.replays["status"] == "failed"].to_dict("records")
    reasons = bullets(f"{shown(r['session'])} under {shown(r['strategy'])}: {shown(r['reason'])}" for r in failed)
    below = f"<h3>What failed</h3>{reasons}" if reasons else ""
    sentence = _whole(int(rows["compactions"].sum()), int(rows["violations"].sum()))
    return Html(f"<p>{sentence}</p>{table(heads, lines, label='integrity')}{below}", data=rows)


def _whole(compactions: int, findings: int) -> str:
    if not compactions:
        return "Nothing was compacted, so there was nothing to check."
    if findings:
        return f"{some(findings, 'finding')} in {compactions:,} compactions; the result of such a stage was not used."
    return (
        f"All {compactions:,} compactions, at equal size and on their own trigger, were whole: no call parted from its "
        "result, no pinned message lost, no context grown, nothing out of order."
    )


def sessions_html(run: Tables) -> Html:
    """The sessions of the run, and the files that could not be read."""
    heads = [("Session", ""), ("Format", ""), ("Messages", "n"), ("Requests", "n"), ("Tokens", "n"), ("Window", "n"),
             ("Sizes are", ""), ("Compacted when recorded", "n"), ("Lines left out", "n")]  # fmt: skip
    lines = [row(_session(one)) for one in replayed(run).to_dict("records")]
    full = table(heads, lines, kind="sessions", label="sessions") if lines else "<p>No session could be read.</p>"
    if len(lines) > FEW:
        full = f"<details><summary>{some(len(lines), 'session')}</summary>{full}</details>"
    bad = bullets(
        f"<code>{shown(one['path'] or one['session'])}</code>: {shown(one['reason'])}"
        for one in unreadable(run).to_dict("records")
    )
    return Html(full + (f"<h3>Could not be read</h3>{bad}" if bad else ""), data=replayed(run))


def _session(one: Mapping[Hashable, Any]) -> list[Cell]:
    fitted = one["scale"] == one["scale"]
    sizes = f"the provider’s, ± {percent(one['calibration_error'])}" if fitted else "a tokenizer’s"
    left_out = [line for line in str(one["skipped"]).splitlines() if line]
    why = f' title="{shown(chr(10).join(left_out))}"' if left_out else ""
    name, place = shown(one["title"] or one["session"], 80), shown(one["path"] or one["session"], 120)
    figures = (one[column] for column in ("messages", "requests", "tokens", "window_used"))
    return [
        (f"{name}<br><small>{place}</small>", "what"), (shown(one["format"]), ""),
        *((amount(figure), "n") for figure in figures), (sizes, ""),
        (count(one["recorded_compactions"]), "n"), (f"<span{why}>{len(left_out)}</span>", "n"),
    ]  # fmt: skip


def reproduce_html(run: Tables) -> Html:
    """The command, the settings and the versions that give this report again."""
    made = run.manifest
    given = made.get("settings")
    settings = given if isinstance(given, Mapping) else {}
    words = _command(made.get("command"), made.get("sources"), settings) if not made.get("shared") else _SHARED
    items = "".join(f"<dt>{shown(key)}</dt><dd>{shown(value)}</dd>" for key, value in _facts(made, settings) if value)
    return Html(f"<pre><code>{shown(words, 4000)}</code></pre><dl>{items}</dl>", words)


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
    yield "Window", f"{window:,} tokens" if isinstance(window, int) else "each session’s own"
    yield "Summaries written by", f"{model} (not a language model)" if model == "extractive" else model
    yield (
        "Masked before replay",
        "secrets, e-mail addresses, names of home directories" if settings.get("redact") else "",
    )
    yield "Seed", str(settings.get("seed", ""))
    yield "Python", str(made.get("python", ""))
    packages = made.get("packages")
    if isinstance(packages, Mapping):
        yield "Packages", listed([f"{name} {version}" for name, version in packages.items()])
    yield "Code", str(made.get("code", ""))
    if isinstance(created, int | float):
        yield "Made", datetime.fromtimestamp(created, UTC).strftime("%d %B %Y, %H:%M UTC").lstrip("0")
