"""How many of the summaries that a run needs were written by the models that it asks. Pure."""

from __future__ import annotations

import pandas as pd

from workbench.report.html import sentences

OWN = ("", "extractive")
"""Writers that no provider stands behind."""
COUNTS = ["summaries", "written", "useless"]


def answers(replays: pd.DataFrame) -> pd.DataFrame:
    """One row a model that may not answer, from the table `replays`.

    Returns:
        `model`; `summaries` that the run needs; those `written` by it; those `useless`, for which other text stands;
        `pending` replays, which are in no figure; `usd`, the dollars that the run has paid, missing if unknown.
    """
    asked = replays[~replays["model"].fillna("").isin(OWN)]
    by = asked.assign(pending=asked["status"] == "pending").groupby("model", sort=False)
    found = by[[*COUNTS, "pending"]].sum().astype(int)
    return found.assign(usd=by["usd"].apply(lambda each: each.sum(skipna=False))).reset_index()


def answer_sentences(replays: pd.DataFrame) -> list[str]:
    """Where a model did not write all summaries: `0 of 8 summaries were written by gpt-4o-mini; ...`."""
    found = answers(replays)
    return sentences("answers", models=found[found["written"] < found["summaries"]].to_dict("records"))
