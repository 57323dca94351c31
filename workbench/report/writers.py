"""Who wrote the summaries of a run: model beside model, with what each cost, kept and made up."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from workbench.markup import shown
from workbench.report.digits import percent, some
from workbench.report.html import Cell, Html, bullets, dot, row, table
from workbench.report.tables import Tables, strategies

COLUMNS = (
    "strategy", "writer", "summaries", "recall", "recall_at_size", "fabricated", "usd", "seconds", "read", "wrote",
    "repaired", "replaced", "faulty", "unread",
)  # fmt: skip
MOST = 6
"""Findings that are told one by one."""

_HEADS: Sequence[Cell] = (
    ("Strategy", ""), ("Written by", ""), ("Summaries", "n"), ("Kept", "n"), ("Kept at equal size", "n"),
    ("Made up", "n"), ("Dollars", "n"), ("Seconds each", "n"), ("Tokens read", "n"), ("Tokens written", "n"),
    ("Mended", "n"), ("Replaced", "n"), ("Still faulty", "n"),
    ("Messages not shown", "n"),
)  # fmt: skip


def writers(run: Tables) -> pd.DataFrame:
    """A row a strategy that asked for summaries: who wrote them, and what came of it. Missing values are NaN."""
    asked = run.compactions[run.compactions["requests"] > 0] if not run.compactions.empty else run.compactions
    rows = []
    for name in strategies(run):
        own = asked[asked["strategy"] == name]
        if own.empty:
            continue
        methods = own["method"].astype(str)
        rows.append(
            {
                "strategy": name,
                "writer": _counted(own["writer"]),
                "summaries": len(own),
                "recall": _mean(run, name, "recall", "natural"),
                "recall_at_size": _mean(run, name, "recall", "matched"),
                "fabricated": _mean(run, name, "fabrication", "matched"),
                "usd": own["usd"].sum() if own["usd"].notna().all() else float("nan"),
                "seconds": own["seconds"].mean(),
                "read": own["input_tokens"].sum(),
                "wrote": own["output_tokens"].sum(),
                "repaired": int(methods.str.contains("repaired").sum()),
                "replaced": int((own["fallbacks"] > 0).sum()),
                "faulty": int(((own["findings"].astype(str) != "") & (own["fallbacks"] == 0)).sum()),
                "unread": int(own["left_out"].fillna(0).sum()),
            }
        )
    return pd.DataFrame(rows, columns=list(COLUMNS))


def writers_html(run: Tables) -> Html:
    """The same as a table with the most frequent faults; nothing where `extractive` alone wrote."""
    rows = writers(run)
    if not any(str(writer) != "extractive" for writer in rows["writer"]):
        return Html("", data=rows)
    known = strategies(run)
    lines = [row([(dot(one["strategy"], known), ""), *_cells(one)]) for one in rows.to_dict("records")]
    caption = (
        "Written by: whose words are in the context; `extractive` is no language model, it picks lines. Kept: on its "
        "own trigger. Made up: of the names, numbers and quotes in summaries, those that stand nowhere before. "
        "Mended: asked for once more, with what was wrong. Replaced: another text stands in for a useless summary. "
        "Still faulty: used although a check found something. Messages not shown: the oldest ones, which the summary "
        "replaces and its writer never saw, since the prompt may fill only a part of the window; over all summaries."
    )
    faults = _faults(run)
    below = f"<h3>What the checks found most often</h3>{bullets(map(shown, faults))}" if faults else ""
    shows = table(_HEADS, lines, caption=shown(caption, 2000), label="who wrote the summaries")
    return Html(f'<h2 id="who-wrote-the-summaries">Who wrote the summaries</h2>{shows}{below}', data=rows)


def _cells(one: dict[str, object]) -> Sequence[Cell]:
    return (
        (shown(str(one["writer"])), ""),
        (f"{one['summaries']:,}", "n"),
        *((percent(_number(one[name])), "n") for name in ("recall", "recall_at_size", "fabricated")),
        (_dollars(_number(one["usd"])), "n"),
        (f"{_number(one['seconds']):.1f}", "n"),
        *(
            (f"{_number(one[name]):,.0f}", "n")
            for name in ("read", "wrote", "repaired", "replaced", "faulty", "unread")
        ),
    )


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else float("nan")


def _dollars(usd: float) -> str:
    return "unknown" if usd != usd else "0" if usd == 0 else f"{usd:.4f}" if usd < 1 else f"{usd:.2f}"


def _mean(run: Tables, strategy: str, metric: str, mode: str) -> float:
    scores = run.scores
    own = scores[(scores["strategy"] == strategy) & (scores["metric"] == metric) & (scores["mode"] == mode)]
    return float(own["value"].mean()) if len(own) else float("nan")


def _counted(writers: pd.Series[str]) -> str:
    """The writers, with counts where there is more than one."""
    counts = writers.value_counts()
    if len(counts) == 1:
        return str(counts.index[0])
    return ", ".join(f"{name} ({n})" for name, n in counts.items())


def _faults(run: Tables) -> list[str]:
    """The most frequent findings, without what differs from one to the next."""
    lines = [line for text in run.compactions["findings"].astype(str) for line in text.splitlines() if line]
    kinds = pd.Series(
        [line.split(": ")[-2 if "wrote a useless summary" in line else 0] for line in lines], dtype=object
    )
    return [f"{kind}: {some(int(n), 'time')}" for kind, n in kinds.value_counts().head(MOST).items()]
