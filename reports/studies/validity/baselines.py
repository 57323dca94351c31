"""Baselines of answers that were collected before `workbench lab judge work` kept them:
`baselines.csv.gz` of a study.

`python reports/studies/validity/baselines.py [RECORDINGS...]` makes the contexts of all studies
again, of the bundled sessions and of the recordings that are named, and keeps what the baselines
say of the answers from them. A context is the one that was read where all features of its questions
are those that were kept; others stay without baselines. A model's summaries are at hand for bundled
sessions alone.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from workbench.engine.models.model import Completion, SummaryRequest
from workbench.engine.models.plain_text import request_key
from workbench.lab.judge.work_exam.baselines import BASELINES, PLACE, baselines_of
from workbench.lab.judge.work_exam.contexts import ContextPlace, strategy_contexts
from workbench.lab.judge.work_exam.fit import REFERENCES
from workbench.lab.judge.work_exam.records import SittingRecord, records_of
from workbench.lab.judge.work_exam.sheet import SheetQuestion
from workbench.lab.judge.work_exam.sitting import Sitting, sittings_of
from workbench.lab.judge.work_exam.spec import WorkSpec
from workbench.recordings.datasets.bundled import bundled_files

STUDIES = Path(__file__).parents[1]
NAMES = ("real-readers", "presets", "chains", "second-look")
SHARES = (0.05, 0.1, 0.2)
READ_OFTEN = {
    1: ("truncate", "summarize", "claude_code", "docker_agent", "learned"),
    3: ("truncate", "summarize", "claude_code", "learned"),
}
"""The strategies that were read at several sizes or with a rule's summaries, by the compactions
in a row.
"""
MADE_REFERENCES = ("oracle", "soup", "index")
NO_SUMMARY = "Nothing is known. " * 40
ALIKE = 2e-4
"""By how much two features may differ: the oldest were kept to four places."""


class StudyPlace(NamedTuple):
    """A context of a study."""

    study: str
    place: ContextPlace


class KeptSummaries:
    """Answers with the summaries that were kept, or with one of them whatever is asked."""

    name = "folder:summaries"

    def __init__(self, by_key: Mapping[str, str], always: str = "") -> None:
        self._by_key, self._always = by_key, always

    def complete(self, request: SummaryRequest, /) -> Completion:
        """The summary that was kept for a request; filler where none was."""
        text = self._always or self._by_key.get(request_key(request), NO_SUMMARY)
        return Completion(text=text, model=self.name)


class Studies:
    """The sittings of all studies, and which of them have baselines."""

    def __init__(self) -> None:
        self.rows: dict[StudyPlace, pd.DataFrame] = {}
        self._records: dict[ContextPlace, dict[str, SittingRecord]] = defaultdict(dict)
        for study in NAMES:
            for record in _lines(STUDIES / study / "sittings.jsonl.gz"):
                self._records[_place(record)][study] = record

    def strategies(self, chain: int) -> tuple[str, ...]:
        """The strategies that were read after so many compactions."""
        names = {place.strategy for place in self._records if place.chain == chain}
        return tuple(sorted(names.difference(REFERENCES)))

    def missing(self, session: str) -> set[str]:
        """The strategies whose contexts of a session, with a model's summaries, have no
        baselines.
        """
        return {
            place.strategy
            for place, records in self._records.items()
            if place.session == session
            and place.writer == KeptSummaries.name
            and any(StudyPlace(study, place) not in self.rows for study in records)
        }

    def keep(self, sittings: Iterable[Sitting]) -> None:
        """Keep the baselines of the contexts that were read."""
        for sitting in sittings:
            place = ContextPlace.of(sitting.context)
            for study, record in self._records.get(place, {}).items():
                if StudyPlace(study, place) in self.rows:
                    continue
                questions = tuple(_question(answer) for answer in record["answers"])
                same_sheet = Sitting(sitting.context, questions, reading=0)
                if _are_alike(records_of([same_sheet])[0], record):
                    self.rows[StudyPlace(study, place)] = baselines_of([same_sheet])

    def write(self) -> None:
        """Write the table of each study; what was kept before and is not made again stays."""
        for study in NAMES:
            tables = [rows for key, rows in self.rows.items() if key.study == study]
            file = STUDIES / study / f"{BASELINES}.gz"
            if file.is_file():
                tables.append(
                    pd.read_csv(file, keep_default_na=False, na_values=[""]).fillna({"writer": ""})
                )
            if tables:
                rows = pd.concat(tables).drop_duplicates(PLACE).sort_values(PLACE)
                text = rows.to_csv(index=False, lineterminator="\n")
                file.write_bytes(gzip.compress(text.encode(), mtime=0))
            read = sum(study in records for records in self._records.values())
            sys.stdout.write(
                f"{study}: {len(tables) and rows.groupby(PLACE[:-1]).ngroups} of {read} contexts\n"
            )


def _lines(file: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _place(record: SittingRecord) -> ContextPlace:
    names = ("session", "at", "share", "strategy", "writer")
    return ContextPlace(*(record[name] for name in names), record.get("chain", 1))


def _question(answer: Mapping[str, Any]) -> SheetQuestion:
    points = tuple(answer["points"])
    return SheetQuestion(answer["half"], answer["kind"], answer["question"], answer["gold"], points)


def _are_alike(record: SittingRecord, other: SittingRecord) -> bool:
    for answer, kept in zip(record["answers"], other["answers"], strict=True):
        for value, kept_value in zip(answer["features"], kept["features"], strict=True):
            if abs(value - kept_value) > ALIKE:
                return False
    return True


def _sittings(
    recording: str, writers: Sequence[object], chain: int, strategies: Sequence[str]
) -> list[Sitting]:
    shares = SHARES if chain == 1 else (0.1,)
    references = MADE_REFERENCES if chain == 1 else ()
    spec = WorkSpec(
        model="fitted",
        strategies=strategies,
        shares=shares,
        chains=(chain,),
        references=references,
        writers=writers,
        quiet=True,
    )
    contexts = strategy_contexts(spec.by_writer(), [recording], (chain,), with_whole_history=False)
    return sittings_of(contexts.complete, spec)


def main(recordings: Sequence[str]) -> None:
    """Make the contexts of some recordings again."""
    by_key: dict[str, str] = {}
    of_session: dict[str, list[str]] = defaultdict(list)
    for study in NAMES[:3]:
        for summary in _lines(STUDIES / study / "summaries.answers.jsonl.gz"):
            by_key[summary["key"]] = summary["answer"]
            of_session[summary.get("session", "")].append(summary["answer"])
    studies = Studies()
    writers = ("extractive", KeptSummaries(by_key))
    for recording in [*map(str, bundled_files()), *recordings]:
        sittings: list[Sitting] = []
        for chain, strategies in READ_OFTEN.items():
            sittings += _sittings(recording, writers, chain, strategies)
        sittings += _sittings(recording, writers[1:], 1, studies.strategies(1))
        studies.keep(sittings)
        for session in {sitting.boundary.session for sitting in sittings}:
            for text in of_session[session]:  # requests of some presets are worded otherwise today
                if missing := studies.missing(session):
                    writer = KeptSummaries({}, always=text)
                    studies.keep(_sittings(recording, (writer,), 1, tuple(missing)))
        sys.stdout.write(f"{recording}: {len(studies.rows)} contexts so far\n")
        sys.stdout.flush()
    studies.write()


if __name__ == "__main__":
    main(sys.argv[1:])
