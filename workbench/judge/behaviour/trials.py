"""How a model behaves with the contexts of several strategies: does it obey, and would it do the same next?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from pydantic import Field

from workbench.analysis.over_target import OVER_TARGET
from workbench.errors import ModelError
from workbench.experiment.replay_rows import Row
from workbench.experiment.sources import What
from workbench.experiment.spec import OneModel, Whole, documented, model_name
from workbench.judge.behaviour.compliance import Dilemma, conditions, demands, dilemma, obedience
from workbench.judge.behaviour.decisions import next_action, recorded_action, tools
from workbench.judge.contexts import Compacted, ContextSpec, MaybeModel
from workbench.judge.measurement import Measurement, each
from workbench.judge.question_answerer import QuestionAnswerer
from workbench.models.model import Model

WHOLE = "none"


class BehaviourResults(Measurement):
    """A row an answer, and who was asked."""

    file = "behaviour.parquet"
    columns: ClassVar = {
        "test": "string", "item": "string", "condition": "string", "obeyed": "Float64", "tool": "string",
        "target": "string", "outcome": "string", "reader": "string", "usd": "Float64",
    }  # fmt: skip
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
        history = one.session.messages[: one.at]
        choices = self._once(one, "choices", lambda: self._choices(history))
        larger = {"condition": "compacted", "outcome": OVER_TARGET, "reason": one.over_target}
        place: Row = {**one.place, "reader": self.reader.model.name, "reason": ""}
        for row in () if one.over_target else (*self._compliance(one, choices), *self._decisions(one)):
            yield place | row
        if one.over_target and any(isinstance(of, Dilemma) for of in choices):
            yield place | {"test": "compliance", **larger}
        if one.over_target:
            yield place | {"test": "decision", **larger}

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
            "again": self._once(one, "again", lambda: ask(self.reader.repeated(1), history)),
            "compacted": ask(self.reader, one.context.messages),
            "recorded": {**recorded_action(one.session.messages[one.at], one.session.cwd), "outcome": "answered"},
        }
        for condition, action in found.items():
            yield {"test": "decision", "condition": condition, **action}


class BehaviourSpec(ContextSpec):
    """A measurement of behaviour."""

    reader: OneModel = Field(
        description="Model that goes on with the work: litellm:NAME, local, or a model of your own."
    )
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
    reader = QuestionAnswerer(spec.how.model(spec.reader))
    trials = Trials(reader, spec.how.model(spec.maker) if spec.maker else None, spec.most)
    contexts = [one for one in spec.contexts(what) if one.strategy != WHOLE]
    rows = list(each(trials.rows, contexts, "trying", spec.quiet))
    notes: dict[str, object] = {
        "reader": trials.reader.model.name, "choices_by": None if trials.maker is None else trials.maker.name,
        "summaries_by": model_name(spec.writer),
    }  # fmt: skip
    return BehaviourResults.write(spec.out, rows, notes)
