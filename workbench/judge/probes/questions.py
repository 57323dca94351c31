"""Questions that a context should let a model answer, with their answers: from annotations, by rule, or by a model.

Each can be answered from the history alone, at its boundary: nothing that comes later is asked for.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from workbench.compaction.prompt_template import PromptTemplate
from workbench.datasets.annotations import Annotations
from workbench.errors import ModelError
from workbench.extraction.statements import is_decision, sentences, tasks
from workbench.extraction.words import words
from workbench.judge.measurement import even_choice
from workbench.judge.mention import mention
from workbench.judge.scoring import Expected, Form, holds
from workbench.metrics.demand import Demand
from workbench.models.model import Model, SummaryRequest
from workbench.transcript.files import merged, touched
from workbench.transcript.message import AssistantMessage, Message, is_real_user, plain_text, said_texts
from workbench.transcript.session import Session

Kind: TypeAlias = Literal["recall", "artifact", "continuation", "decision"]
Origin: TypeAlias = Literal["annotation", "rule", "model"]

KINDS: tuple[Kind, ...] = ("recall", "artifact", "continuation", "decision")
GAP = "____"
OPTIONS = 4

_DIGITS = re.compile(r"\d+")
_EDGES = frozenset(" \t\"'`()[]{}<>,;=|")
_NUMERIC = re.compile(r"[\d.,]+\s*[A-Za-z%]{0,8}")


@dataclass(frozen=True, slots=True)
class Probe:
    """One question at one boundary.

    Attributes:
        expected: the answer and how it is compared.
        origin: who made it up.
        evidence: indices of messages that prove it, all in the history.
    """

    kind: Kind
    question: str
    expected: Expected
    origin: Origin
    evidence: tuple[int, ...] = ()

    @property
    def asked(self) -> str:
        """The question as it is put, with the options of a choice under their letters."""
        options = [f"{chr(ord('A') + i)}) {option}" for i, option in enumerate(self.expected.options)]
        return "\n".join([self.question, *options, *(["Answer with the letter alone."] if options else [])])


def annotated_probes(known: Annotations, session: Session, at: int) -> Iterator[Probe]:
    """The annotated questions whose proof stands before the boundary."""
    index = {message.id: i for i, message in enumerate(session.messages)}

    def before(ids: Iterable[str]) -> tuple[int, ...]:
        return tuple(i for i in sorted(index[id] for id in ids if id in index) if i < at)

    for one in known.probes:
        if proof := before(one.evidence):
            yield Probe("recall", one.question, Expected(one.answer, _form(one.answer)), "annotation", proof)
    for value in known.superseded:
        old, new = before(value.old_evidence), before(value.new_evidence)
        if new or old:
            right, stale = (value.new, value.old) if new else (value.old, "")
            question = f"What holds by now for this: {value.about}?"
            yield Probe("decision", question, Expected(right, _form(right), stale), "annotation", new or old)
    decided = [(one.text, before(one.evidence)) for one in known.decisions]
    pending = [(one.text, before(one.evidence)) for one in known.pending]
    for text, proof in decided:
        decoys = [*_varied(text), *(other for other, seen in (*decided, *pending) if not seen)]
        if proof and len(decoys) >= 2:
            yield _choice("decision", "Which of these was settled?", text, decoys, proof, "annotation")
    for text, proof in pending:
        decoys = [other for other, seen in decided if seen]
        if proof and len(decoys) >= 2:
            yield _choice("continuation", "Which of these is still to be done?", text, decoys, proof, "annotation")


def ruled_probes(session: Session, demand: Demand, most: int = 6) -> Iterator[Probe]:
    """Questions that rules find in any session.

    Recall: lines that hold what was needed later, with a gap. Decision: lines that say what was chosen, with a gap.
    Artifact: which files were changed. Continuation: which item of the task list is open, what the user asked last.

    Args:
        session: the recording.
        demand: at the boundary.
        most: of each kind at most.
    """
    at = demand.at
    history = session.messages[:at]
    gaps = list(_gaps(demand))
    yield from even_choice([probe for probe in gaps if probe.kind == "recall"], most)
    yield from even_choice([probe for probe in gaps if probe.kind == "decision"], most)
    yield from even_choice(list(_files(history)), most)
    yield from even_choice(list(_next(history)), most)


def _gaps(demand: Demand) -> Iterator[Probe]:
    seen: set[str] = set()
    for need in demand.needs:
        line = need.evidence_text
        found = mention(need.entity, line)
        if found is None or line in seen:
            continue
        answer = _token(line, *found)
        gapped = line.replace(answer, GAP)
        if len(words(gapped.replace(GAP, ""))) < 4:
            continue
        seen.add(line)
        kind: Kind = "decision" if is_decision(line) else "recall"
        question = f"What stands in the gap of this line? Say only what belongs there.\n{gapped}"
        yield Probe(kind, question, Expected(answer, _form(answer)), "rule", (need.evidence,))


def _token(line: str, start: int, end: int) -> str:
    """What stands there, up to the next blanks or marks: a gap never cuts a name in two."""
    while start > 0 and line[start - 1] not in _EDGES:
        start -= 1
    while end < len(line) and line[end] not in _EDGES:
        end += 1
    return line[start:end].rstrip(".:-")


def _files(history: Sequence[Message]) -> Iterator[Probe]:
    calls = [
        (i, touched(call.name, call.arguments))
        for i, message in enumerate(history)
        if isinstance(message, AssistantMessage)
        for call in message.calls
    ]
    every = merged(done for _, done in calls)
    for path in (*every.modified, *every.read):
        proof = tuple(i for i, done in calls if path in done.modified or path in done.read)
        changed = path in every.modified
        options = ("it was changed", "it was read and not changed", "neither")
        expected = Expected("A" if changed else "B", "choice", options=options)
        yield Probe("artifact", f"What happened to the file {path}?", expected, "rule", proof)
    if 2 <= len(every.modified) <= 8:
        proof = tuple(i for i, done in calls if done.modified)
        asked = "Which files were changed? Write one path a line, as the conversation writes them."
        yield Probe("artifact", asked, Expected("\n".join(every.modified), "set"), "rule", proof)


def _next(history: Sequence[Message]) -> Iterator[Probe]:
    asked = [(i, _first(plain_text(message))) for i, message in enumerate(history) if is_real_user(message)]
    asked = [(i, text) for i, text in asked if text]
    if len({text for _, text in asked}) >= 3:
        last, text = asked[-1]
        decoys = [other for _, other in asked if other != text]
        yield _choice("continuation", "What did the user ask for last?", text, decoys[-6:], (last,), "rule")
    for i in range(len(history) - 1, -1, -1):
        message = history[i]
        listed = (
            [task for call in message.calls for task in tasks(call.arguments)]
            if isinstance(message, AssistantMessage)
            else []
        )
        if listed:
            done = [text for text, finished in listed if finished]
            for text, finished in listed:
                if not finished and len(done) >= 2:
                    yield _choice("continuation", "Which of these is still to be done?", text, done, (i,), "rule")
            return


def _first(text: str) -> str:
    return next((sentence[:160] for sentence in sentences(text) if len(words(sentence)) >= 3), "")


def written_probes(
    model: Model, session: Session, at: int, most: int = 6, most_chars: int = 40_000
) -> tuple[Probe, ...]:
    """Questions that a model makes up from the history; those without a proof in it are thrown away.

    Args:
        model: asked once.
        session: the recording.
        at: the boundary.
        most: questions.
        most_chars: the longest transcript that it is shown.

    Raises:
        ModelError: it gave no answer, or one that is no list of questions.
    """
    history = session.messages[:at]
    request = SummaryRequest(
        purpose="question",
        system=_MAKER,
        write=lambda _: _TASK.format(
            conversation=PromptTemplate(result_chars=1_000).transcript(history, most_chars),
            most=most,
            kinds=", ".join(KINDS),
        ),
        max_tokens=200 * most,
    )
    found = _parsed(model.complete(request).text)
    kept = []
    for item in found:
        question, answer, kind = (str(item.get(name, "")).strip() for name in ("question", "answer", "kind"))
        proof = tuple(
            i for i, message in enumerate(history) if any(holds(text, answer) for text in said_texts(message))
        )
        if question and proof and not holds(question, answer) and len(answer) <= 120:
            known: Kind = next((one for one in KINDS if one == kind), "recall")
            kept.append(Probe(known, question, Expected(answer, _form(answer)), "model", proof[:3]))
    return tuple(kept[:most])


_MAKER = "You write questions that test whether somebody remembers a conversation. You answer with JSON alone."
_TASK = (
    "<conversation>\n{conversation}\n</conversation>\n\nWrite {most} questions with short answers that matter for going"
    ' on with this work. Answer with a JSON list of objects with the keys "kind" (one of {kinds}), "question" and'
    ' "answer". Each answer must stand word for word in the conversation, and must not stand in its question.'
)


def _parsed(text: str) -> list[Mapping[str, object]]:
    start, end = text.find("["), text.rfind("]")
    try:
        found = json.loads(text[start : end + 1])
    except ValueError:
        found = None
    if not isinstance(found, list):
        raise ModelError("the model wrote no list of questions")
    return [item for item in found if isinstance(item, dict)]


def _form(answer: str) -> Form:
    return "number" if _NUMERIC.fullmatch(answer) else "text"


def _varied(text: str) -> Iterator[str]:
    """The same sentence with other numbers."""
    found = _DIGITS.search(text)
    if found:
        value = int(found.group())
        for other in (value * 2, max(value // 2, 0) if value > 1 else value + 3, value + 5):
            if other != value:
                yield text[: found.start()] + str(other) + text[found.end() :]


def _choice(
    kind: Kind, question: str, right: str, decoys: Sequence[str], proof: tuple[int, ...], origin: Origin
) -> Probe:
    """A choice among the right answer and decoys, in an order that depends on nothing but the words."""
    others = [text for text in dict.fromkeys(decoys) if text != right][: OPTIONS - 1]
    options = sorted([right, *others])
    random.Random(question + right).shuffle(options)
    expected = Expected(chr(ord("A") + options.index(right)), "choice", options=tuple(options))
    return Probe(kind, question, expected, origin, proof)


def chosen(found: Iterable[Probe], kinds: Iterable[str], most: int) -> tuple[Probe, ...]:
    """Of each of these kinds an even choice of at most so many, in the kinds' order."""
    every = tuple(found)
    return tuple(probe for kind in kinds for probe in even_choice([one for one in every if one.kind == kind], most))
