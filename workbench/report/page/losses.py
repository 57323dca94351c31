"""What was lost: the worst losses with their stories, and two tables whose figures lead to them."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import pandas as pd

from workbench.base.formats import NOTHING, missing
from workbench.base.markup import visible
from workbench.base.palette import REFERENCES
from workbench.evaluation.experiment.run_notes import loss_key
from workbench.evaluation.findings import Findings
from workbench.evaluation.findings.losses import worst_losses
from workbench.evaluation.findings.summaries import replayed_contenders, session_titles
from workbench.evaluation.findings.tables import Tables
from workbench.evaluation.metrics import NAMES, WORK
from workbench.report.page.html import Html, empty, part

MOST = 100
"""Losses that a page lists, beyond the worst few of each session."""
MOST_OF_AN_ATTRIBUTE = 1000
"""Characters of a value that a page filters losses by."""
FEWEST_NEEDED, MOST_KINDS = 5, 14
"""Kinds of information are shown from so many needed things on, and at most so many kinds."""

HALF_WORDS = {
    WORK: "Chance that a real model answers a question about the work right",
    NAMES: "Share of the names that the context still tells",
}

ONLY = {
    "user": "only the user said it",
    "agent": "only the agent said it",
    "run": "only an old run said it",
}
"""What is said beside a loss that no call which only looks brings back."""


def losses_html(findings: Findings) -> Html:
    """The heaviest losses of a run that were needed again, and the two worst of each session."""
    return listed_losses(findings.tables)


def listed_losses(run: Tables, limit: int = MOST, place: str = "losses") -> Html:
    """The heaviest losses that were needed again, and the two worst of each session; each row
    opens to its story.
    """
    rows = worst_losses(run, limit, each=2)
    if rows.empty:
        return empty("Nothing that was needed later was lost, or nothing was compacted.", rows)
    titles = session_titles(run)
    is_shared = bool(run.manifest.get("shared"))
    lines = []
    for loss in rows.to_dict("records"):
        session = str(loss["session"])
        line = _line(loss, titles.get(session, session))
        if not is_shared:  # a shared copy holds no contexts to look at
            needed_at = int(line["needed_at"])
            line["loss"] = loss_key(line["session"], line["kind"], line["entity"], needed_at)
        lines.append(line)
    is_natural = rows["mode"] == "natural"
    return part(
        "losses",
        rows,
        rows=lines,
        own=bool(is_natural.all()),
        place=place,
        known=run.strategies,
    )


def _line(loss: Mapping[Hashable, Any], title: str) -> dict[Hashable, Any]:
    strategies = [strategy for strategy, _, _ in loss["lost_by"]]
    attributes = {
        "data-lost-by": " ".join(strategies),
        "data-kind": loss["kind"],
        "data-session": loss["session"],
    }
    line = dict(loss)
    line["title"] = title
    line["way_note"] = way_note(loss)
    line["way_words"] = way_words(loss)
    line["attributes"] = {}
    for name, value in attributes.items():
        line["attributes"][name] = _attribute(value)
    for column in ("at", "said_at", "evidence_at", "needed_at"):
        line[column] = _message(loss[column])
    return line


def way_note(loss: Mapping[Hashable, Any]) -> str:
    """Who alone said a lost thing; empty where one call brings it back."""
    return ONLY.get(str(loss["way_back"]), "")


def way_words(loss: Mapping[Hashable, Any]) -> str:
    """What it takes to get a lost thing back."""
    tokens = loss["tokens_back"]
    size = ""
    if not missing(tokens):
        size = f": {int(tokens):,} tokens"
    words = {
        "call": f"One call that only looks{size}.",
        "run": f"The same run again{size}.",
        "agent": "The agent has to think it out again.",
        "user": "The user has to say it again.",
    }
    return words.get(str(loss["way_back"]), "")


def _attribute(value: object) -> str:
    return visible(str(value)[:MOST_OF_AN_ATTRIBUTE])


def _message(index: object) -> str:
    if missing(index) or index == "":
        return NOTHING
    return f"{int(float(str(index)))}"


def kinds_html(findings: Findings) -> Html:
    """What each strategy keeps of each kind of information; a figure leads to what was lost of
    it.
    """
    run = findings.tables
    rows = findings.figures.by_kind
    scored = set(rows["strategy"]) - {"none"}
    names = [name for name in run.strategies if name in scored]
    if not names:
        return empty("Nothing from before a boundary was needed after it.", rows)
    needed = rows.groupby("kind", sort=False)["demanded"].first()
    fewest = min(FEWEST_NEEDED, needed.max())
    needed = needed[needed >= fewest].head(MOST_KINDS)
    titles = dict(zip(needed.index, needed.index, strict=True))
    return _heat(run, "kinds", names, rows, titles, needed.to_dict())


def by_session_html(findings: Findings) -> Html:
    """What each strategy keeps in each session; a figure leads to what was lost there."""
    run = findings.tables
    rows = findings.figures.by_session
    if rows.empty:
        return empty("No session was replayed.", rows)
    titles = rows.set_index("session")["title"].to_dict()
    return _heat(run, "sessions", replayed_contenders(run), rows, titles, {})


def _heat(
    run: Tables,
    topic: str,
    names: Sequence[str],
    rows: pd.DataFrame,
    titles: dict[str, str],
    needed: dict[str, int],
) -> Html:
    """A row a title, a column a strategy."""
    key = topic.removesuffix("s")
    recall = rows.set_index([key, "strategy"])["recall"].to_dict()
    return part(
        "heat",
        rows,
        of=topic,
        key=key,
        names=names,
        rows=titles,
        needed=needed,
        recall=recall,
        references=REFERENCES,
        equal_size=bool(run.shares),
        known=run.strategies,
        half=HALF_WORDS[run.first_half],
    )
