"""How a model behaves with the contexts of several strategies: does it obey, and would it do the same next?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import Field

from workbench.analysis.over_target import OVER_TARGET
from workbench.errors import ModelError
from workbench.experiment.replay_rows import Row
from workbench.experiment.sources import What
from workbench.experiment.spec import Whole, documented, model_name
from workbench.judge.behaviour.compliance import Dilemma, conditions, demands, dilemma, obedience
from workbench.judge.behaviour.decisions import next_action, recorded_action, tools
from workbench.judge.contexts import AnswerSpec, Compacted, MaybeModel
from workbench.judge.measurement import Measurement, each
from workbench.judge.probes.answers import again
from workbench.judge.question_answerer import QuestionAnswerer
from workbench.models.model import Model

WHOLE = "none"


COLUMNS = {
    "session": "string", "strategy": "string", "share": "Float64", "at": "Int64", "test": "string", "item": "string",
    "condition": "string", "obeyed": "Float64", "tool": "string", "target": "string", "outcome": "string",
    "reader": "string", "usd": "Float64", "reason": "string",
}  # fmt: skip
"""The columns of the table, see docs/tables.md."""


class BehaviourResults(Measurement):
    """A row an answer, and who was asked."""

    file = "behaviour.parquet"
    notes_file = "behaviour.json"
    columns = COLUMNS
    missing = "measurement of behaviour; `workbench judge behaviour` makes one"


@dataclass(frozen=True)
class Trials:
    """Tries contexts: `reader` goes on with the work, `maker` writes choices for at most so many demands."""

    reader: QuestionAnswerer
    maker: Model | None = None
    most: int = 4
    _asked: dict[tuple[object, ...], Any] = field(default_factory=dict)

    def rows(self, one: Compacted) -> Iterator[Row]:
        """Everything about one context; what does not depend on the strategy is asked once.

        Nobody is asked about a context that stays larger than the size: there is a row that says so for each test.
        """
        place: Row = {
            "session": one.session.id, "strategy": one.strategy, "share": one.share, "at": one.at,
            "reader": self.reader.model.name, "reason": "",
        }  # fmt: skip
        history = one.session.messages[: one.at]
        choices = self._once(one, "choices", lambda: self._choices(history))
        if one.over_target:
            tests = ["compliance"] * any(isinstance(of, Dilemma) for of in choices) + ["decision"]
            found: Iterator[Row] = (
                {"test": test, "condition": "compacted", "outcome": OVER_TARGET, "reason": one.over_target}
                for test in tests
            )
        else:
            found = (row for rows in (self._compliance(one, choices), self._decisions(one)) for row in rows)
        yield from (place | row for row in found)

    def _once(self, one: Compacted, what: object, ask: Callable[[], Any]) -> Any:  # noqa: ANN401 - what `ask` returns
        key = (one.session.id, one.at, what)
        if key not in self._asked:
            self._asked[key] = ask()
        return self._asked[key]

    def _choices(self, history: Sequence[Any]) -> list[Dilemma | str]:
        """A choice for each demand, or why there is none."""
        found: list[Dilemma | str] = []
        if self.maker is None:
            return found
        for demand in demands(history, self.most):
            try:
                found.append(dilemma(self.maker, demand))
            except ModelError as error:
                found.append(str(error))
        return found

    def _compliance(self, one: Compacted, choices: Sequence[Dilemma | str]) -> Iterator[Row]:
        history = one.session.messages[: one.at]
        for of in choices:
            if isinstance(of, str):
                yield {"test": "compliance", "outcome": "failed", "reason": of}
                continue
            for condition, messages in conditions(history, one.context.messages, of.demand):
                ask = partial(obedience, self.reader, messages, of)
                found = self._once(one, (condition, of), ask) if condition in ("whole", "without") else ask()
                yield {"test": "compliance", "item": of.demand, "condition": condition, **found}

    def _decisions(self, one: Compacted) -> Iterator[Row]:
        history = one.session.messages[: one.at]
        ask = partial(next_action, known=tools(history))
        found = {
            "whole": self._once(one, "whole", lambda: ask(self.reader, history)),
            "again": self._once(one, "again", lambda: ask(again(self.reader, 1), history)),
            "compacted": ask(self.reader, one.context.messages),
            "recorded": {**recorded_action(one.session.messages[one.at], one.session.cwd), "outcome": "answered"},
        }
        for condition, action in found.items():
            yield {"test": "decision", "condition": condition, **action}


class BehaviourSpec(AnswerSpec):
    """A measurement of behaviour."""

    maker: MaybeModel = Field(
        None, description="Model that writes choices in which a demand matters; None leaves compliance out."
    )
    most: Whole = Field(4, ge=1, description="Try at most this many demands of the user at a boundary.")
    out: Path = Field(Path("reports/behaviour"), description="Folder for the answers.")


@documented(BehaviourSpec)
def behave(what: What = (), *, spec: BehaviourSpec | None = None, **settings: Any) -> BehaviourResults:  # noqa: ANN401 - see BehaviourSpec
    """Measure how a model goes on with the contexts that strategies make of the same histories, at the same size.

    Compliance: does it take the step that obeys a demand of the user? Decisions: does it do the same next as with the
    whole history, beyond what it changes when it is asked twice? docs/method.md says how.

    Args:
        what: files, folders, patterns or sessions; none stand for the bundled sessions.
        spec: a specification; further settings change it.
        **settings: the fields of `BehaviourSpec`; `reader` must be there.
    """
    spec = BehaviourSpec.of(spec, settings)
    trials = Trials(spec.answerer(), spec.how.model(spec.maker) if spec.maker else None, spec.most)
    contexts = [one for one in spec.contexts(what) if one.strategy != WHOLE]
    rows = list(each(trials.rows, contexts, "trying", spec.quiet))
    notes: dict[str, object] = {
        "reader": trials.reader.model.name, "choices_by": None if trials.maker is None else trials.maker.name,
        "summaries_by": model_name(spec.model),
    }  # fmt: skip
    return BehaviourResults.write(spec.out, rows, notes)
