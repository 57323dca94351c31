"""Reads the answers of real models that `workbench lab judge work` kept."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from workbench.base.errors import FormatError, SettingError
from workbench.evaluation.metrics.work_exam.question_sheet import FEATURES
from workbench.lab.judge.work_exam.records import SITTINGS
from workbench.lab.judge.work_exam.scores import CONTEXT
from workbench.lab.judge.work_exam.sheet import Half


def read_answers(folders: Iterable[Path]) -> pd.DataFrame:
    """The graded answers about the work in some folders of `workbench lab judge work`.

    Returns:
        A row an answer: `session at project strategy writer share chain question score`, and the
        `FEATURES`. Answers of several readers to one question from one context are one row with
        their mean score.

    Raises:
        SettingError: a folder has none.
    """
    rows: list[dict[str, Any]] = []
    for folder in folders:
        rows += _rows(folder)
    if not rows:
        raise SettingError(
            "there are no graded answers about the work; `workbench lab judge work` asks for some"
        )
    table = pd.DataFrame(rows)
    answers = table.groupby([*CONTEXT, "project", "question"], sort=False)
    by_column = {"score": "mean", **dict.fromkeys(FEATURES, "first")}
    return answers.agg(by_column).reset_index()


def read_names(folders: Iterable[Path]) -> pd.DataFrame:
    """The answers for exact names in some folders of `workbench lab judge work`: a row an answer,
    with its score.

    Raises:
        SettingError: a folder holds no sittings.
    """
    rows: list[dict[str, Any]] = []
    for folder in folders:
        rows += _rows(folder, "names")
    return pd.DataFrame(rows)


def _rows(folder: Path, half: Half = "work") -> Iterator[dict[str, Any]]:
    file, text = _sittings_text(folder)
    for number, line in enumerate(text.splitlines(), 1):
        try:
            sitting = json.loads(line)
            yield from _answers(sitting, half)
        except (ValueError, KeyError, TypeError) as error:
            raise FormatError(
                f"is no sitting ({error!r:.80})", where=str(file), line=number
            ) from None


def _sittings_text(folder: Path) -> tuple[Path, str]:
    """The file with the sittings of a folder, plain or packed, and its text."""
    file = folder / SITTINGS
    if file.is_file():
        content = file.read_bytes()
        return file, content.decode()
    packed_file = folder / f"{SITTINGS}.gz"
    if packed_file.is_file():
        content = gzip.decompress(packed_file.read_bytes())
        return packed_file, content.decode()
    raise SettingError(
        f"{folder} holds no answers about the work; `workbench lab judge work` asks for some"
    )


def _answers(sitting: Mapping[str, Any], half: Half) -> Iterator[dict[str, Any]]:
    columns = ("session", "at", "project", "strategy", "writer", "share")
    place = {name: sitting[name] for name in columns}
    # answers of 2026 were collected before there were chains
    place["chain"] = sitting.get("chain", 1)
    for number, answer in enumerate(sitting["answers"]):
        if answer["half"] != half or answer["score"] is None:
            continue
        row = {**place, "question": number, "score": float(answer["score"])}
        if half == "work":
            row |= zip(FEATURES, answer["features"], strict=True)
        yield row
