"""`workbench judge variance`: where the noise of a score comes from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from workbench.analysis.replication import repeated_note, variance_split
from workbench.cli.options import AsJson
from workbench.cli.output import complain, records, say, say_json, table
from workbench.errors import SettingError
from workbench.experiment.store import Results
from workbench.formats import NUMBERS, interval
from workbench.judge.exam.scores import splits
from workbench.judge.exam.sitting import ExamResults

MODES = {"natural": "own trigger", "matched": "equal size"}
SCORES = {
    "strategy": "strategy", "mode": "mode", "mean": "mean:decimal3", "sessions (n)": "sessions",
    "replicates": "replicates", "sessions": "between:decimal3", "answers": "within:decimal3",
    "model": "model_share:percent", "error": "error:decimal3", "at most": "error_at_most:decimal3",
}  # fmt: skip
ANSWERS = {
    "strategy": "strategy", "source": "source", "levels": "levels", "variance": "variance:decimal3",
    "95 % interval": "interval", "of one answer": "share:percent", "of the mean": "of_mean:percent",
    "why there is none": "why",
}  # fmt: skip


def variance(
    folders: Annotated[
        list[Path],
        typer.Argument(help="Runs with replicates, and folders of `judge exam`, split together."),
    ],
    metric: Annotated[str, typer.Option("--metric", help="Of runs: which score.")] = "recall",
    as_json: AsJson = False,
) -> int:
    """Split the noise of a score: sessions, items, or models that answer differently each time.

    Of a run with replicates each strategy's variance is split over sessions and the model. Of exams it is split over
    summariser, reader, session and item, as far as several of each were tried: let another reader sit the same exams,
    or another model summarise, each into its own folder, and name all folders.

    Examples:

      workbench compare my-sessions/ --model litellm:gpt-4o-mini --replicates 3 --out reports/three

      workbench judge variance reports/three

      workbench judge exam my-sessions/ --model litellm:gpt-4o-mini --replicates 3 --out reports/exam

      workbench judge variance reports/exam reports/exam-by-another-reader
    """
    runs = [Results.open(folder) for folder in folders if (folder / "manifest.json").is_file()]
    exams = [ExamResults.open(folder) for folder in folders if (folder / ExamResults.file).is_file()]
    scores = {str(run.path): _scores(run, metric) for run in runs if not run.replicates.empty}
    answers = splits(exams) if exams else []
    if not any(scores.values()) and not answers:
        raise SettingError(
            f"{', '.join(map(str, folders))}: no run with replicates and no exams; "
            "`workbench compare --replicates 3` and `workbench judge exam --replicates 3` make some"
        )
    if as_json:
        say_json({"metric": metric, "scores": scores, "answers": answers})
        return 0
    for run in runs:
        if note := repeated_note(run):
            complain(note)
        if found := scores.get(str(run.path)):
            rows = [{**row, "mode": MODES[str(row["mode"])]} for row in found]
            say(f"{table(rows, SCORES)}\n")
    if scores:
        say(f"Of {metric}, standard deviations: `sessions` apart from what the model adds, `answers` to one session.")
        say("`model`: its part in the variance of one value. Where `error` is near `at most`, more sessions help and")
        say("more replicates do not.")
    if answers:
        say_answers(answers)
    return 0


def say_answers(rows: Sequence[Mapping[str, object]]) -> None:
    """Print where the noise of answers comes from, strategy by strategy."""
    intervals = ({"interval": interval(row.get("low"), row.get("high"), NUMBERS["decimal3"])} for row in rows)  # type: ignore[arg-type]
    say(table([{**row, **more} for row, more in zip(rows, intervals, strict=True)], ANSWERS))
    say("\nVariance of the score of one item, with 95 % intervals. `of one answer`, `of the mean`: the part of each")
    say("source. `repetition`: the same item put to the same reader again, and what sources do together.")
    for row in rows:
        if row.get("advice"):
            say(f"{row['strategy']}: {row['advice']}")


def _scores(run: Results, metric: str) -> list[dict[str, object]]:
    known = run.replicates.loc[run.replicates["metric"] == metric, "mode"].unique()
    splits = [variance_split(run, metric, mode).assign(mode=mode) for mode in MODES if mode in known]
    return [row for split in splits for row in records(split)]
