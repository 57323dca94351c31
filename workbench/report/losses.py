"""The worst losses of a run, each with its story: who said it, which stage took it out, who needed it."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, TypeAlias

from workbench.markup import marked, shown
from workbench.report.digits import NOTHING
from workbench.report.html import Cell, Html, bullets, dot, table
from workbench.report.tables import Tables, strategies, worst_losses

Loss: TypeAlias = Mapping[Hashable, Any]
"""One row of the losses, by the documented names."""

SPEAKERS = {
    "user": "the user", "assistant": "the agent", "tool": "a tool", "system": "the system prompt",
    "summary": "an earlier summary",
}  # fmt: skip


MOST = 100
"""Losses that a page lists, beyond the worst few of each session."""


def losses_html(run: Tables, most: int = MOST, place: str = "losses") -> Html:
    """What was lost and needed again; each row opens to its story.

    Args:
        run: the tables.
        most: rows, >= 1; the two worst of each session come on top.
        place: the table's id on the page.
    """
    rows = worst_losses(run, most, each=2)
    if rows.empty:
        return Html('<p class="empty">Nothing that was needed later was lost, or nothing was compacted.</p>', data=rows)
    known = strategies(run)
    titles = dict(zip(run.sessions["session"], run.sessions["title"], strict=True))
    heads = [
        ("What was lost", ""),
        ("Kind", ""),
        ("Said in", "n"),
        ("Needed in", "n"),
        ("Lost by", "by"),
        ("Session", ""),
    ]
    lines = [_line(one, known, str(titles.get(one["session"]) or one["session"])) for one in rows.to_dict("records")]
    how = "each strategy on its own trigger" if (rows["mode"] == "natural").all() else "all cut to the same size"
    note = f"The {len(rows)} heaviest losses, {how}; first what cannot be fetched again. Messages count from 0."
    return Html(
        f'<div id="{place}">{table(heads, lines, kind="losses", caption=note, label="worst losses")}</div>', data=rows
    )


def _line(one: Loss, known: Sequence[str], title: str) -> str:
    names = " ".join(strategy for strategy, _, _ in one["lost_by"])
    gone = ' <small class="bad">cannot be fetched again</small>' if one["recoverable"] == "irrecoverable" else ""
    summary = f"<summary><code>{shown(one['entity'], 120)}</code>{gone}</summary>"
    cells: list[Cell] = [
        (f'<details>{summary}<div class="drill">{_story(one, known)}</div></details>', "what"),
        (shown(one["kind"]), ""), (_place(one["said_at"]), "n"), (_place(one["needed_at"]), "n"),
        (" ".join(dot(strategy, known) for strategy, _, _ in one["lost_by"]), "by"), (shown(_short(title)), "session"),
    ]  # fmt: skip
    body = "".join(f'<td class="{css}">{text}</td>' for text, css in cells)
    of = {"lost-by": names, "kind": one["kind"], "session": one["session"]}
    return "<tr" + "".join(f' data-{key}="{shown(value, 1000)}"' for key, value in of.items()) + f">{body}</tr>"


def _short(title: str, longest: int = 60) -> str:
    return title if len(title) <= longest else title[: longest - 1].rstrip() + "…"


def _story(one: Loss, known: Sequence[str]) -> str:
    speaker = SPEAKERS.get(str(one["said_by"]), shown(one["said_by"]))
    evidence, use = (marked(str(one[key]), str(one["entity"])) for key in ("evidence", "use"))
    first = "" if one["evidence_at"] == one["said_at"] else f" (first named in message {_place(one['said_at'])})"
    return (
        f"<h4>Said by {speaker}, message {_place(one['evidence_at'])}{first}</h4><blockquote>{evidence}</blockquote>"
        f"<h4>Lost before message {_place(one['at'])}</h4>"
        + bullets(_how(strategy, stage, level, known) for strategy, stage, level in one["lost_by"])
        + f"<h4>Needed by message {_place(one['needed_at'])}</h4><blockquote>{use}</blockquote>"
    )


def _place(at: object) -> str:
    return NOTHING if at is None or at != at or at == "" else f"{int(float(str(at)))}"


def _how(strategy: str, stage: str, level: str, known: Sequence[str]) -> str:
    what = "still names it, but without what was said about it" if level == "unbound" else "does not hold it any more"
    if stage == "view":
        what = "keeps it, but does not send it"
    where = f"; it went with the stage <em>{shown(stage)}</em>" if stage not in ("", "view", strategy) else ""
    return f"{dot(strategy, known)} {what}{where}"
