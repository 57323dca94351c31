"""The chance that a real model answers a written question right from a context, from features that
a person can check.

No model reads. A logistic function of how much of the answer stands in the context, how near
together, and how much of the other answers of the sheet, was fitted to answers that real models
gave (`work_reader.json` says which). `workbench lab judge fit` fits it anew.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Self

import numpy as np
from pydantic import TypeAdapter

from workbench.base.errors import FormatError
from workbench.base.ragged import Floats
from workbench.evaluation.metrics.work_exam.question_sheet import FEATURES, AskedQuestion, features
from workbench.evaluation.metrics.work_exam.rarity import Rarity
from workbench.evaluation.metrics.work_exam.reader_error import LeftOutCheck

VERSION = 3


@dataclass(frozen=True, slots=True)
class WorkReader:
    """A fitted reader.

    Attributes:
        weights: one a feature, by name; `bias` beside them.
        fitted_on: what it was fitted to, for people: answers, contexts, recordings, projects, the
            readers' model.
        left_out: how it does on projects that it was not fitted to; None where nobody looked.
    """

    weights: Mapping[str, float]
    bias: float
    fitted_on: Mapping[str, Any]
    left_out: LeftOutCheck | None = None

    def probability(self, values: Sequence[float]) -> float:
        """The chance of a right answer for the values of `FEATURES`, 0 to 1."""
        terms: list[float] = []
        for name, value in zip(FEATURES, values, strict=True):
            term = self.weights[name] * value
            terms.append(term)
        total = self.bias + sum(terms)
        return 1 / (1 + math.exp(-total))

    def chances(self, questions: Sequence[AskedQuestion], text: str, rarity: Rarity) -> Floats:
        """(questions,) the chance of a right answer to each question of a sheet from a context's
        text.
        """
        rows = features(questions, text, rarity)
        chances = [self.probability(row) for row in rows]
        return np.array(chances)

    def text(self) -> str:
        """The reader as the text of a JSON file."""
        rounded_weights: dict[str, float] = {}
        for name in FEATURES:
            rounded_weights[name] = round(self.weights[name], 4)
        document = {
            "version": VERSION,
            "features": rounded_weights,
            "bias": round(self.bias, 4),
            "fitted_on": dict(self.fitted_on),
        }
        if self.left_out is not None:
            check = asdict(self.left_out)
            document["left_out"] = _rounded(check)
        text = json.dumps(document, indent=1)
        return text + "\n"

    @classmethod
    def read(cls, path: Path) -> Self:
        """The reader in a file.

        Raises:
            FormatError: it is none, or one of another version.
        """
        try:
            text = path.read_text("utf-8")
            document = json.loads(text)
            return cls._from_document(document)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise FormatError(
                f"is no fitted reader of version {VERSION} ({error})",
                where=str(path),
            ) from None

    @classmethod
    def _from_document(cls, document: Mapping[str, Any]) -> Self:
        version = document["version"]
        if version != VERSION:
            raise ValueError(f"it has version {version!r}")
        written_weights = document["features"]
        weights: dict[str, float] = {}
        for name in FEATURES:
            weights[name] = float(written_weights[name])
        left_out = document.get("left_out")
        check: LeftOutCheck | None = None
        if left_out is not None:
            check = _LEFT_OUT.validate_python(left_out)
        return cls(
            weights=weights,
            bias=float(document["bias"]),
            fitted_on=document["fitted_on"],
            left_out=check,
        )


_LEFT_OUT = TypeAdapter(LeftOutCheck)


def _rounded(value: Any) -> Any:  # noqa: ANN401 - JSON
    """A document with its numbers to four places."""
    if isinstance(value, Mapping):
        return {name: _rounded(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(part) for part in value]
    if isinstance(value, float):
        return round(value, 4)
    return value


@cache
def shipped_reader() -> WorkReader:
    """The reader that ships with the package."""
    folder = files("workbench.evaluation.metrics.work_exam")
    file = folder.joinpath("work_reader.json")
    text = file.read_text("utf-8")
    document = json.loads(text)
    return WorkReader._from_document(document)
