"""Probe accuracy: a model answers questions from the contexts of several strategies, one question at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from workbench.analysis.over_target import OVER_TARGET
from workbench.datasets.annotations import FILE, annotated
from workbench.errors import ModelError, UnknownName
from workbench.experiment.replay_rows import Row
from workbench.experiment.sources import What
from workbench.experiment.spec import Whole, documented, listed, model_name
from workbench.judge.contexts import AnswerSpec, Compacted, MaybeModel
from workbench.judge.measurement import Measurement, each
from workbench.judge.probes.judge import DIMENSIONS, Judge, rubric
from workbench.judge.probes.questions import KINDS, Probe, annotated_probes, chosen, ruled_probes, written_probes
from workbench.judge.question_answerer import QuestionAnswerer, context_text
from workbench.judge.scoring import grade, holds
from workbench.models.model import Model
from workbench.models.response_cache import with_replicate

TABLE, NOTES = "probes.parquet", "probes.json"
MOST = 4

COLUMNS = {
    "session": "string", "strategy": "string", "share": "Float64", "at": "Int64", "tokens": "Int64",
    "probe": "Int64", "kind": "string", "origin": "string", "question": "string", "expected": "string",
    "reply": "string", "outcome": "string", "verdict": "string", "score": "Float64", "present": "boolean",
    "judged": "boolean", "steady": "boolean", "replicate": "Int64", "reader": "string", "usd": "Float64",
    "reason": "string",
} | {f"rubric_{name}": "Float64" for name in DIMENSIONS}  # fmt: skip
"""The columns of the table, see docs/tables.md."""


class ProbeResults(Measurement):
    """Finished: a row an answer, and who answered, who judged, and what was asked for."""

    file = TABLE
    notes_file = NOTES
    columns = COLUMNS
    missing = "answers to probes; `workbench judge probes` asks for some"


@dataclass(frozen=True)
class Probing:
    """How contexts are asked about.

    Attributes:
        reader: answers.
        judge: rules on answers that no rule can grade; None leaves them open.
        maker: makes up more questions; None leaves that to annotations and rules.
        kinds: which questions.
        most: of each kind at a boundary.
        scores: who gives the six scores of the published rubric; None for nobody.
        replicates: how often each question is asked.
    """

    reader: QuestionAnswerer
    judge: Judge | None = None
    maker: Model | None = None
    kinds: tuple[str, ...] = KINDS
    most: int = MOST
    scores: Model | None = None
    replicates: int = 1
    _made: dict[tuple[str, int], tuple[Probe, ...]] = field(default_factory=dict)

    def probes(self, one: Compacted) -> tuple[Probe, ...]:
        """The questions at a boundary: the same for every strategy."""
        key = (one.session.id, one.at)
        if key not in self._made:
            self._made[key] = tuple(self._found(one))
        return self._made[key]

    def _found(self, one: Compacted) -> Sequence[Probe]:
        every = [
            *_annotated(one),
            *ruled_probes(one.session, one.ready.index.demand(one.at), self.most),
        ]
        if self.maker is not None:
            every += written_probes(self.maker, one.session, one.at, self.most)
        return chosen(every, self.kinds, self.most)

    def rows(self, one: Compacted) -> Iterator[Row]:
        """Ask every question about one context; nobody is asked about one that stays larger than the size."""
        if one.over_target:
            if self.probes(one):
                yield {
                    "session": one.session.id, "strategy": one.strategy, "share": one.share, "at": one.at,
                    "tokens": one.context.tokens, "outcome": OVER_TARGET, "reason": one.over_target,
                }  # fmt: skip
            return
        text = context_text(one.context.messages)
        for number, probe in enumerate(self.probes(one)):
            for replicate in range(self.replicates):
                row: Row = {
                    "session": one.session.id, "strategy": one.strategy, "share": one.share, "at": one.at,
                    "tokens": one.context.tokens, "probe": number, "kind": probe.kind, "origin": probe.origin,
                    "question": probe.asked, "expected": _answer(probe), "present": _present(probe, text),
                    "replicate": replicate,
                }  # fmt: skip
                yield row | self._asked(one, probe, replicate)

    def _asked(self, one: Compacted, probe: Probe, replicate: int) -> Row:
        reply = again(self.reader, replicate).ask(one.context.messages, probe.asked)
        row: Row = {
            "reply": reply.text, "outcome": reply.outcome, "reader": reply.model, "usd": reply.usd,
            "reason": reply.why,
        }  # fmt: skip
        if reply.outcome != "answered":
            return row
        graded = grade(probe.expected, reply.text)
        row |= {"verdict": graded.verdict, "score": graded.score}
        try:
            if graded.verdict == "open" and self.judge is not None:
                ruling = self.judge.rule(probe.asked, _answer(probe), reply.text)
                row |= {"judged": ruling.right, "steady": ruling.steady}
            if self.scores is not None:
                found = rubric(self.scores, probe.asked, _answer(probe), reply.text) or {}
                row |= {f"rubric_{name}": score for name, score in found.items()}
        except ModelError as error:
            row["reason"] = str(error)
        return row


def again(reader: QuestionAnswerer, replicate: int) -> QuestionAnswerer:
    """The same reader, asked anew where its answers are kept on disk."""
    return replace(reader, model=with_replicate(reader.model, replicate)) if replicate else reader


def _annotated(one: Compacted) -> Sequence[Probe]:
    """The annotated questions, where somebody wrote some for this recording."""
    if one.path is None or not (one.path.parent / FILE).is_file():
        return ()
    return tuple(annotated_probes(annotated(one.path), one.session, one.at))


def _answer(probe: Probe) -> str:
    """The right answer in words."""
    expected = probe.expected
    return expected.options[ord(expected.answer) - ord("A")] if expected.form == "choice" else expected.answer


def _present(probe: Probe, text: str) -> bool | None:
    """Whether the context says the answer in so many words; None where that means nothing."""
    if probe.kind == "artifact" and probe.expected.form == "choice":
        return None
    return all(holds(text, item) for item in _answer(probe).split("\n"))


class ProbeSpec(AnswerSpec):
    """A measurement by probes."""

    judge: MaybeModel = Field(None, description="Model that rules on answers no rule can score; None leaves them open.")
    maker: MaybeModel = Field(None, description="Model that writes more questions; None uses annotations and rules.")
    rubric: MaybeModel = Field(None, description="Model that gives the six scores of the published rubric.")
    kinds: Annotated[tuple[str, ...], BeforeValidator(listed)] = Field(
        KINDS, description="Kinds of questions: recall, artifact, continuation, decision."
    )
    most: Whole = Field(MOST, ge=1, description="Ask at most this many questions of a kind at a boundary.")
    replicates: Whole = Field(1, ge=1, description="Ask each question this often.")
    out: Path = Field(Path("reports/probes"), description="Folder for the answers.")


@documented(ProbeSpec)
def probe(what: What = (), *, spec: ProbeSpec | None = None, **settings: Any) -> ProbeResults:  # noqa: ANN401 - see ProbeSpec
    """Ask a model questions about the contexts that strategies make of the same histories, at the same size.

    Args:
        what: files, folders, patterns or sessions; none stand for the bundled sessions.
        spec: a specification made before; further settings change it.
        **settings: the fields of `ProbeSpec`; `reader` must be there.

    Raises:
        UnknownName: there is no such kind, strategy or model.
    """
    spec = ProbeSpec.of(spec, settings)
    for kind in spec.kinds:
        if kind not in KINDS:
            raise UnknownName("kind of probe", kind, KINDS)
    reader = spec.answerer()
    judge, maker, rubric = (one and spec.how.model(one) for one in (spec.judge, spec.maker, spec.rubric))
    probing = Probing(
        reader, Judge(judge) if judge else None, maker or None, spec.kinds, spec.most, rubric or None, spec.replicates
    )
    rows = list(each(probing.rows, list(spec.contexts(what)), "asking", spec.quiet))
    notes: dict[str, object] = {
        "reader": reader.model.name,
        "judge": judge.name if judge else None,
        "questions_by": ["annotations", "rules", *([maker.name] if maker else [])],
        "summaries_by": model_name(spec.model),
        "scores_by": rubric.name if rubric else None,
    }
    return ProbeResults.write(spec.out, rows, notes)
