"""What is asked about the work, of which contexts, and who answers: one specification for Python
and the commands.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Self, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from workbench.base.errors import SettingError
from workbench.engine.models import require_language_model
from workbench.engine.models.model import Model
from workbench.engine.transcript.session import Session
from workbench.evaluation.experiment.prepared import Prepared
from workbench.evaluation.experiment.settings import ModelList, NameList
from workbench.evaluation.experiment.spec import model_name
from workbench.evaluation.experiment.spec_fields import (
    Read,
    Shares,
    Whole,
    listed,
    one_model,
    several_models,
)
from workbench.evaluation.metrics.work_exam.document import exams_of
from workbench.evaluation.metrics.work_exam.question import SessionExams
from workbench.evaluation.replays.boundaries import at_shares
from workbench.lab.judge.contexts import ContextSettings, ContextSpec
from workbench.lab.judge.work_exam.contexts import REFERENCES

FITTED = "fitted"
"""The name of the reader that asks no model."""


def _references(value: Any) -> Any:  # noqa: ANN401 - names, or text between commas
    names = listed(value)
    for name in names:
        if name not in REFERENCES:
            raise ValueError(f"it may hold {', '.join(REFERENCES)}")
    return names


def _model(value: Any) -> Any:  # noqa: ANN401 - a name or a model
    return value and one_model(value)


def _each_once(chains: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(chains))


Chains: TypeAlias = Annotated[
    tuple[Annotated[int, Field(ge=1)], ...],
    BeforeValidator(listed),
    Field(min_length=1),
    AfterValidator(_each_once),
]


class WorkSpec(ContextSpec):
    """What is asked about the work, of which contexts, and who answers."""

    model: Annotated[str | Model | None, Read(_model)] = Field(
        None,
        description=(
            "Model that reads the contexts: litellm:NAME, command:..., folder:PATH or your own;"
            " `fitted` asks none and predicts what a real model would know."
        ),
    )
    grader: Annotated[str | Model | None, Read(_model)] = Field(
        None, description="Model that grades the replies; None takes the reader's model."
    )
    boundaries: Shares = Field(
        (), description="Where they compact, as shares of the messages; none: where exams are."
    )
    writers: Annotated[tuple[str | Model, ...], Read(several_models)] = Field(
        ("extractive",), description="Models that write summaries; several are compared."
    )
    chains: Chains = Field(
        (1,),
        description=(
            "Compactions in a row that make a context: 3 compacts the history in three stretches,"
            " each with the summary before it; several are compared."
        ),
    )
    references: Annotated[tuple[str, ...], Read(_references)] = Field(
        (),
        description=(
            f"Contexts that no agent makes, read beside the others: {', '.join(REFERENCES)}."
        ),
    )
    exams: Path | None = Field(
        None, description="Folder of written exams; None looks beside each recording."
    )
    names: Whole = Field(12, ge=0, description="Exact names to ask for at a boundary, at most.")
    readings: Whole = Field(
        1, ge=1, description="Have each context read this often, by another reader each time."
    )
    out: Path = Field(
        Path("reports/work"),
        description="Folder for the answers; a second exam with other settings needs its own.",
    )

    @model_validator(mode="after")
    def _refuse_stretches_that_fit(self) -> Self:
        """Refuse a chain whose first stretch is no larger than the size, since it would not be
        compacted.
        """
        longest, largest = max(self.chains), max(self.shares, default=0.0)
        if longest > 1 and largest * longest >= 1:
            raise SettingError(
                f"a chain of {longest} compactions needs shares below 1/{longest}, since each"
                f" stretch of the history is 1/{longest} of it; {largest:g} is too large"
            )
        return self

    @property
    def is_fitted(self) -> bool:
        """Whether the fitted reader takes the place of models."""
        return self.model == FITTED

    def reader(self) -> Model:
        """The model that reads.

        Raises:
            SettingError: there is none, or it is no language model.
        """
        if self.model is None:
            raise SettingError(
                "contexts are read by a language model; name one, such as --model"
                " litellm:gpt-4o-mini"
            )
        require_language_model(model_name(self.model))
        return self.how.model(self.model)

    def grading_model(self) -> Model:
        """The model that grades.

        Raises:
            SettingError: it is no language model.
        """
        if self.grader is None:
            return self.reader()
        require_language_model(model_name(self.grader))
        return self.how.model(self.grader)

    def by_writer(self) -> list[Self]:
        """The same specification for each of the writers."""
        return [self.changed(writer=writer, writers=(writer,)) for writer in self.writers]

    def exams_for(self, prepared_session: Prepared) -> SessionExams | None:
        """The written exams of a session."""
        return exams_of(prepared_session.session, self.exams)

    def boundaries_of(self, session: Session) -> tuple[int, ...]:
        """Those of the boundaries for which an exam was written."""
        exams = exams_of(session, self.exams)
        if exams is None:
            return ()
        with_exam = tuple(exam.at for exam in exams.exams if exam.questions)
        if not self.boundaries:
            return with_exam
        return tuple(
            boundary for boundary in at_shares(session, self.boundaries) if boundary in with_exam
        )


class WorkSettings(ContextSettings, total=False):
    """The fields of `WorkSpec` as a caller may give them."""

    model: str | Model | None
    grader: str | Model | None
    writers: ModelList
    chains: Sequence[int] | str
    references: NameList
    exams: str | Path | None
    names: int
    readings: int
