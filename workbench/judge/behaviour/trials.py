"""How a model behaves with the contexts of several strategies: does it obey, and would it do the same next?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from pydantic import Field

from workbench.analysis.over_target import OVER_TARGET
from workbench.errors import ModelError
from workbench.experiment.replay_rows import Row
from workbench.experiment.sources import What
from workbench.experiment.spec import Whole, documented, model_name
from workbench.judge.behaviour.compliance import Dilemma, Obedience, conditions, demands, dilemma, obedience
from workbench.judge.behaviour.decisions import Decided, decided, recorded, tools
from workbench.judge.contexts import AnswerSpec, Compacted, MaybeModel
from workbench.judge.measurement import Measurement, each
from workbench.judge.probes.answers import again
from workbench.judge.question_answerer import QuestionAnswerer
from workbench.models.model import Model

TABLE, NOTES = "behaviour.parquet", "behaviour.json"

COLUMNS = {
    "session": "string", "strategy": "string", "share": "Float64", "at": "Int64", "test": "string", "item": "string",
    "condition": "string", "obeyed": "Float64", "tool": "string", "target": "string", "outcome": "string",
    "reader": "string", "usd": "Float64", "reason": "string",
}  # fmt: skip
"""The columns of the table, see docs/tables.md."""

WHOLE = "none"
Key: TypeAlias = tuple[str, int, str, str]
Found = TypeVar("Found")


class BehaviourResults(Measurement):
    """Finished: a row an answer, and who was asked."""

    file = TABLE
    notes_file = NOTES
    columns = COLUMNS
    missing = "measurement of behaviour; `workbench judge behaviour` makes one"


@dataclass(frozen=True)
class Behaving:
    """How contexts are tried.

    Attributes:
        reader: goes on with the work.
        maker: makes up the choices in which a demand matters; None leaves compliance out.
        most: demands at a boundary.
    """

    reader: QuestionAnswerer
    maker: Model | None = None
    most: int = 4
    _dilemmas: dict[tuple[str, int], tuple[Dilemma | str, ...]] = field(default_factory=dict)
    _obeyed: dict[Key, Obedience] = field(default_factory=dict)
    _decided: dict[Key, Decided] = field(default_factory=dict)

    def rows(self, one: Compacted) -> Iterator[Row]:
        """Everything about one context; what does not depend on the strategy is asked once.

        Nobody is asked about a context that stays larger than the size: there is a row that says so for each test.
        """
        place: Row = {
            "session": one.session.id, "strategy": one.strategy, "share": one.share, "at": one.at,
            "reader": self.reader.model.name, "reason": "",
        }  # fmt: skip
        if one.over_target:
            chosen = any(isinstance(of, Dilemma) for of in self._choices(one))
            for test in ("compliance", "decision") if chosen else ("decision",):
                yield place | {
                    "test": test,
                    "condition": "compacted",
                    "outcome": OVER_TARGET,
                    "reason": one.over_target,
                }
            return
        for row in (*self._obedience(one), *self._decisions(one)):
            yield place | row

    def _obedience(self, one: Compacted) -> Iterator[Row]:
        history = one.session.messages[: one.at]
        for of in self._choices(one):
            if isinstance(of, str):
                yield {"test": "compliance", "outcome": "failed", "reason": of}
                continue
            for condition, messages in conditions(history, one.context.messages, of.demand):
                key = (one.session.id, one.at, condition, of.demand)
                shared = condition in ("whole", "without")
                found = self._once(self._obeyed if shared else {}, key, _later(obedience, self.reader, messages, of))
                yield {
                    "test": "compliance", "item": of.demand, "condition": condition, "obeyed": found.share,
                    "outcome": found.outcome, "usd": found.usd,
                }  # fmt: skip

    def _choices(self, one: Compacted) -> tuple[Dilemma | str, ...]:
        if self.maker is None:
            return ()
        key = (one.session.id, one.at)
        if key not in self._dilemmas:
            stated = demands(one.session.messages[: one.at], self.most)
            self._dilemmas[key] = tuple(_made(self.maker, demand, said) for said, demand in stated)
        return self._dilemmas[key]

    def _decisions(self, one: Compacted) -> Iterator[Row]:
        history = one.session.messages[: one.at]
        known = tools(history)
        for condition, reader, messages in (
            ("whole", self.reader, history),
            ("again", again(self.reader, 1), history),
            ("compacted", self.reader, one.context.messages),
        ):
            key = (one.session.id, one.at, condition, "")
            kept = self._decided if condition != "compacted" else {}
            found = self._once(kept, key, _later(decided, reader, messages, known))
            yield {
                "test": "decision", "condition": condition, "tool": getattr(found.action, "tool", None),
                "target": getattr(found.action, "target", None), "outcome": found.outcome, "usd": found.usd,
            }  # fmt: skip
        done = recorded(one.session.messages[one.at], one.session.cwd)
        yield {
            "test": "decision",
            "condition": "recorded",
            "tool": done.tool,
            "target": done.target,
            "outcome": "answered",
        }

    @staticmethod
    def _once(kept: dict[Key, Found], key: Key, ask: Callable[[], Found]) -> Found:
        if key not in kept:
            kept[key] = ask()
        return kept[key]


def _later(what: Callable[..., Found], *with_: object) -> Callable[[], Found]:
    return lambda: what(*with_)


def _made(maker: Model, demand: str, said: int) -> Dilemma | str:
    try:
        return dilemma(maker, demand, said)
    except ModelError as error:
        return str(error)


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

    Compliance: where a demand of the user matters, does the model take the step that obeys? With the whole history,
    with the demand cut out of it, with the compacted context, and with the demand repeated behind that.
    Decisions: would it do the same next as with the whole history, and how often does it do the same twice anyway?

    Args:
        what: files, folders, patterns or sessions; none stand for the bundled sessions.
        spec: a specification made before; further settings change it.
        **settings: the fields of `BehaviourSpec`; `reader` must be there.
    """
    spec = BehaviourSpec.of(spec, settings)
    reader = spec.answerer()
    trying = Behaving(reader, spec.how.model(spec.maker) if spec.maker else None, spec.most)
    contexts = [one for one in spec.contexts(what) if one.strategy != WHOLE]
    rows = list(each(trying.rows, contexts, "trying", spec.quiet))
    notes: dict[str, object] = {
        "reader": reader.model.name, "choices_by": None if trying.maker is None else trying.maker.name,
        "summaries_by": model_name(spec.model),
    }  # fmt: skip
    return BehaviourResults.write(spec.out, rows, notes)
