"""How sure the order of the strategies is: differences on the same sessions, in a run and
between two; the panel.
"""

import pandas as pd

from workbench.evaluation.analysis.compared import ALPHA, COLUMNS, WORTH
from workbench.evaluation.analysis.scores import leading_metric
from workbench.evaluation.findings import Findings
from workbench.evaluation.findings.changes import changes, lost_now, same_sizes
from workbench.evaluation.findings.run_tables import SAVED
from workbench.evaluation.findings.tables import Tables
from workbench.evaluation.findings.wording import sentences
from workbench.evaluation.metrics import HALVES, PANEL, WORK
from workbench.report.page.html import Html, empty, note, part, rows_in_order
from workbench.report.page.losses import listed_losses

OWN_TRIGGER = "each on its own trigger"
MOST_NEW_LOSSES = 40
"""Losses that a comparison of two runs lists."""


def _both(recall: pd.DataFrame, saved: pd.DataFrame) -> pd.DataFrame:
    """Recall and tokens saved in one table, with `measure` saying which."""
    recall = recall.assign(measure="recall")
    saved = saved.assign(measure="saved")
    return pd.concat([recall, saved])[["measure", *COLUMNS]]


def differences_html(findings: Findings) -> Html:
    """Recall and tokens saved against the baseline: difference, interval, test, and the result
    in words.
    """
    run = findings.tables
    differences = findings.figures.differences
    base = run.baseline
    if base is None:
        return empty("There are no two strategies to compare.")
    where = OWN_TRIGGER
    if run.shares:
        where = "all cut to the same size"
    halves = [run.first_half]
    halves += [half for half in run.halves if half not in (run.first_half, WORK)]
    tables = []
    for half in halves:
        kept_table = {
            "title": f"{HALVES[half].capitalize()}, {where}",
            "verb": "keeps",
            "rows": differences[half],
        }
        tables.append(kept_table)
    saved_table = {
        "title": f"Tokens saved, {OWN_TRIGGER}",
        "verb": "saves",
        "rows": differences[SAVED],
    }
    tables.append(saved_table)
    return part(
        "differences",
        _both(differences[run.first_half], differences[SAVED]),
        tables=tables,
        base=base,
        known=run.strategies,
        worth=WORTH,
        alpha=ALPHA,
    )


def frontier_html(findings: Findings) -> Html:
    """Which strategies are on the Pareto frontier, and how sure that is, in words."""
    standings = findings.figures.standings.to_dict("records")
    return note(" ".join(sentences("frontier", found=standings)))


def answer_html(findings: Findings, older: Tables | None) -> Html:
    """What changed against the other run, in words; nothing where there is none."""
    if older is None:
        return empty()
    newer = findings.tables
    changed_rows = changes(newer, older).to_dict("records")
    answer = " ".join(sentences("change", rows=changed_rows))
    notes = _other_differences(newer, older)
    return part(
        "verdict",
        None,
        answer,
        lead="",
        answer=answer,
        sentences=(),
        notes=notes,
        opening="",
    )


def changes_html(findings: Findings, older: Tables | None) -> Html:
    """Then and now, strategy by strategy, and what is newly lost; nothing where there is no
    other run.
    """
    if older is None:
        return empty()
    newer = findings.tables
    recall = changes(newer, older)
    saved = changes(newer, older, SAVED)
    mode = "natural"
    where = OWN_TRIGGER
    if same_sizes(newer, older):
        mode = "matched"
        where = "at the same size"
    half = leading_metric(newer.scores, older.scores, mode=mode)
    tables = {
        f"{HALVES[half].capitalize()}, {where}": recall,
        f"Tokens saved, {OWN_TRIGGER}": saved,
    }
    new_losses = listed_losses(lost_now(newer, older), MOST_NEW_LOSSES, "newly-lost")
    lost_html = ""
    if new_losses.data is not None and not new_losses.data.empty:
        lost_html = new_losses.html
    return part(
        "changes",
        _both(recall, saved),
        tables=tables,
        lost=lost_html,
        known=newer.strategies,
        worth=WORTH,
        alpha=ALPHA,
    )


def _other_differences(newer: Tables, older: Tables) -> list[str]:
    """What else differs between the two runs and may explain a change."""
    changed = []
    if older.settings:
        for name, value in newer.settings.items():
            older_value = older.settings.get(name)
            if name != "strategies" and value != older_value:
                changed.append((name, value, older_value))
    sessions = set(newer.sessions["session"])
    older_sessions = set(older.sessions["session"])
    return sentences(
        "other_differences",
        changed=changed,
        code=newer.manifest.get("code") != older.manifest.get("code"),
        both=len(sessions & older_sessions),
        one=len(sessions ^ older_sessions),
    )


def panel_html(findings: Findings) -> Html:
    """The disagreement of the panel first, then a row a strategy: its rank and the mean of each
    metric.
    """
    panel = findings.figures.panel
    if panel is None or panel.means.isna().all(axis=None):
        return empty()
    rivals: dict[str, list[str]] = {}
    for name in panel.means.index:
        rivals[str(name)] = []
    for name, rival in panel.disputed:
        rivals[name].append(rival)
        rivals[rival].append(name)
    disputed = [", ".join(names) for names in rivals.values()]
    rank = pd.Series(panel.rank, dtype=float).reindex(panel.means.index)
    rows = panel.means.assign(rank=rank, disputed=disputed).reset_index()
    rows = rows[["strategy", "rank", "disputed", *PANEL]].rename_axis(columns=None)
    return part(
        "panel",
        rows,
        rows=rows_in_order(rows, findings.likeliest_first),
        known=findings.tables.strategies,
        words=findings.panel_words,
        members=PANEL,
        halves=HALVES,
        shares=findings.tables.shares,
    )
