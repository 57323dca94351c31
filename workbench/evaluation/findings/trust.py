"""Which sessions of a run the reader should know of.

What they report cannot be true, one decides a figure alone, or one is sized or priced unlike all
others.
"""

import pandas as pd

from workbench.base.formats import decimal, joined, percent, some
from workbench.evaluation.analysis.marks import note
from workbench.evaluation.findings.summaries import RECORDED
from workbench.evaluation.findings.tables import Tables

FEWEST_SESSIONS = 3
"""Of a sum in which one session can weigh too much; with two, one always has half and more."""
FEW_SESSIONS = 0.25
"""The share of sessions up to which those are named that are sized in another way."""
LARGE_SCALE = 1.9
"""Reported tokens to ours: above it are 5 of 66 real sessions."""
MOST_COPIED = 3
"""Sessions of which a sentence says what they copied."""
DOMINANT = 0.5
"""The share of a sum above which it says more of that session than of all others together."""


def trust_sentences(run: Tables) -> tuple[str, ...]:
    """A sentence for each such session, which names it; often none."""
    return (
        *_left_out(run),
        *_copied(run),
        *_repeated(run),
        *_dominant(run),
        *_sized_alone(run),
        *_priced_alone(run),
        *_unread(run),
        *_misreports(run),
        *_marked(run),
    )


def _left_out(run: Tables) -> list[str]:
    """What recordings report that cannot be true."""
    sentences = []
    for row in run.replayed.itertuples():
        for reports in str(row.reports_left_out).splitlines():
            sentences.append(
                f"Session {row.session} says what cannot be true, and it is left out: {reports}."
            )
    return sentences


def _copied(run: Tables) -> list[str]:
    """Which sessions begin with requests of others, the first few."""
    rows = run.replayed[run.replayed["copied"].fillna("") != ""]
    sentences = []
    for row in rows.head(MOST_COPIED).itertuples():
        sentences.append(f"Session {row.session}: {row.copied}.")
    further_count = len(rows) - MOST_COPIED
    if further_count > 0:
        sentences.append(f"So it is with {some(further_count, 'further session')}.")
    return sentences


def _repeated(run: Tables) -> list[str]:
    """Sessions that are the same conversation."""
    sessions = run.replayed[run.replayed["content"] != ""]
    sentences = []
    for _, same in sessions.groupby("content", sort=False):
        if len(same) > 1:
            names = joined(list(map(str, same["session"])))
            sentences.append(
                f"Sessions {names} are the same conversation, which counts {len(same)} times."
            )
    return sentences


def _dominant(run: Tables) -> list[str]:
    """Sessions that decide a ratio of sums alone."""
    bills = run.costs.drop_duplicates("session").set_index("session")["usd_uncompacted"]
    needed = run.retention.groupby("session")["demanded"].sum()
    reported = run.reconciliation.set_index("session")["usd_reported"]
    return [
        *_dominant_in(bills, "the bill without compaction", "`cost saved` is mostly its own"),
        *_dominant_in(
            needed, "all that was needed later", "the figures by kind are mostly its own"
        ),
        *_dominant_in(
            reported, "all dollars that were reported", "how well bills are met is mostly its own"
        ),
    ]


def _dominant_in(parts: pd.Series, total: str, effect: str) -> list[str]:
    parts = parts.dropna()
    parts = parts[parts > 0]
    if len(parts) < FEWEST_SESSIONS or parts.max() <= DOMINANT * parts.sum():
        return []
    share = percent(float(parts.max() / parts.sum()))
    return [f"Session {parts.idxmax()} has {share} of {total} of {len(parts)} sessions: {effect}."]


def _sized_alone(run: Tables) -> list[str]:
    """Sessions whose sizes are made in another way than those of nearly all others."""
    sessions = run.replayed
    if len(sessions) < FEWEST_SESSIONS:
        return []
    unreported = sessions[sessions["scale"].isna()]
    sentences = []
    if 0 < len(unreported) <= max(FEW_SESSIONS * len(sessions), 1):
        names = joined(list(map(str, unreported["session"])))
        sentences.append(
            f"The sizes of {names} are counted, since no reports fit the text; the others' are"
            " reported."
        )
    for row in sessions[sessions["scale"] > LARGE_SCALE].itertuples():
        times = decimal(float(row.scale))
        sentences.append(
            f"Session {row.session} reports {times} tokens for each that its text has by our count."
        )
    return sentences


def _priced_alone(run: Tables) -> list[str]:
    """The session that has other prices, or another cache, than all others."""
    sessions = run.costs.drop_duplicates("session")
    groups = [group for _, group in sessions.groupby(["row", "cache"], dropna=False)]
    alone = [group for group in groups if len(group) == 1]
    if len(sessions) < FEWEST_SESSIONS or len(groups) != 2 or not alone:
        return []
    row = alone[0].iloc[0]
    return [
        f"Session {row['session']} alone is priced as {row['row']} with the cache {row['cache']}."
    ]


def _unread(run: Tables) -> list[str]:
    """In how many sessions nobody can read what the agent's own compaction kept."""
    has_compacted = run.replayed["recorded_compactions"].fillna(0) > 0
    compacted = set(run.replayed["session"][has_compacted])
    unread = compacted.difference(run.scores["session"][run.scores["mode"] == RECORDED])
    if not unread:
        return []
    return [
        f"What the agent's own compaction kept is unknown in {len(unread)} of"
        f" {some(len(compacted), 'session')} that had one: its summary is sealed or not recorded, or"
        " too little is before or after it. `workbench inspect` shows what was fetched again."
    ]


def _misreports(run: Tables) -> list[str]:
    """What models that wrote summaries reported of their own work that cannot be true."""
    lines: list[str] = []
    for text in run.compactions["misreports"]:
        lines += str(text).splitlines()
    if not lines:
        return []
    are = "is" if len(lines) == 1 else "are"
    return [
        f"{some(len(lines), 'bill')} of a model cannot be true and {are} counted by the workbench"
        f" instead, such as: {lines[0]}."
    ]


def _marked(run: Tables) -> list[str]:
    """That losses which a person or a model marked are left out."""
    marked = run.marked
    if marked is None:
        return []
    if marked.empty:
        return []
    return [note(marked, run.marks)]
