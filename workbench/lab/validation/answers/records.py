"""Reads graded answers: contexts, questions about them, and whether a model's answers were
right.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.base.errors import FormatError
from workbench.evaluation.metrics.exam.item import ITEM_KINDS, ItemKind

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """One question about a context.

    Attributes:
        answer: the true answer.
        right: whether a model (or, of rules, a person) had it right.
        kind: of the item; a `rule` has its sentence as the answer.
        category: what the set calls questions of this sort; empty if nothing.
    """

    question: str
    answer: str
    right: bool
    kind: ItemKind = "fact"
    category: str = ""


@dataclass(frozen=True, slots=True)
class GradedContext:
    """One compacted context with the answers given from it.

    Attributes:
        group: contexts of one group come from the same history.
        variant: how the context was made; two variants of a group make a pair.
        texts: the context, oldest text first.
        history: what was compacted, message by message; empty if it is not known.
    """

    group: str
    variant: str
    texts: tuple[str, ...]
    answers: tuple[Answer, ...]
    history: tuple[str, ...] = ()


def graded(path: str | Path) -> list[GradedContext]:
    """The contexts of a folder or file.

    Read are the layouts of native-vs-text, longmemeval-con, compaction-integrity-human and
    lost-in-compaction (a run of its fifth version), the baselines of mistri, and lines of JSON with
    `context` and `answers`; see reports/studies/validity/README.md.

    Raises:
        FormatError: it is none of these.
    """
    place = Path(path)
    for sign, reader in _FOLDERS.items():
        if place.is_dir() and (place / sign).exists():
            return list(reader(place))
    files = [place]
    if place.is_dir():
        files = sorted(place.glob("*.jsonl"))
    contexts: list[GradedContext] = []
    for file in files:
        contexts += _from_lines(file)
    if not contexts:
        raise FormatError(
            "no graded answers; docs/validity.md links to what is read", where=str(place)
        )
    return contexts


def _rows(path: Path) -> list[Row]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines if line.strip()]
    except ValueError as error:
        raise FormatError(f"no lines of JSON ({error})", where=str(path)) from error


def _from_lines(path: Path) -> Iterator[GradedContext]:
    for number, row in enumerate(_rows(path), 1):
        if "probes" in row and "compactions" in row:
            yield from _mistri(row)
        elif "context" in row and "answers" in row:
            yield _own_answers(row, path, number)
        else:
            raise FormatError("a line needs `context` and `answers`", where=str(path), line=number)


def _own_answers(row: Row, path: Path, number: int) -> GradedContext:
    """A line of one's own: context (a text or several), answers, and, if known, history, group
    and variant.
    """
    answers = []
    for entry in row["answers"]:
        kind = entry.get("kind", "fact")
        if kind not in ITEM_KINDS or not {"answer", "right"} <= entry.keys():
            raise FormatError(
                f"each answer needs `answer`, `right` and a kind of {', '.join(ITEM_KINDS)}",
                where=str(path),
                line=number,
                field="answers",
            )
        answer = Answer(
            question=str(entry.get("question", "")),
            answer=str(entry["answer"]),
            right=bool(entry["right"]),
            kind=kind,
            category=entry.get("category", ""),
        )
        answers.append(answer)
    return GradedContext(
        group=str(row.get("group", number)),
        variant=str(row.get("variant", "")),
        texts=_texts(row["context"]),
        answers=tuple(answers),
        history=_texts(row.get("history", ())),
    )


def _texts(value: str | Sequence[str]) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    return tuple(map(str, value))


def _mistri(row: Row) -> Iterator[GradedContext]:
    """A run of mistri: its last summary, and the probes that were answered from it."""
    summaries = []
    for compaction in row["compactions"]:
        if compaction.get("summary"):
            summaries.append(str(compaction["summary"]))
    answers = []
    for probe in row["probes"]:
        if not probe.get("error"):
            answers.append(_mistri_answer(probe))
    if summaries:
        group = f"{row.get('scenario', '')} {row.get('size', '')} {row.get('rep', '')}"
        yield GradedContext(
            group=group.strip(),
            variant=str(row.get("model", "")),
            texts=(summaries[-1],),
            answers=tuple(answers),
        )


_PERMISSION = re.compile(
    r"^(?:may|can|should|is it allowed for|are|is|do|does|must)\s+(?:you|we|i|the"
    r" agent)?\s*(?P<rest>.*?)"
    r"(?:\s+(?:allowed|permitted|ok|okay))?(?P<tail>\s+[^?]*)?\?.*$",
    re.IGNORECASE | re.DOTALL,
)


def _mistri_answer(probe: Row) -> Answer:
    """A probe; one that asks for yes or no asks for a rule."""
    question = str(probe["question"])
    answer = str(probe["answer"])
    right = bool(probe["pass"])
    category = probe.get("carrier", "")
    if probe.get("match") != "yes_no":
        kind: ItemKind = "fact"
        if probe.get("changed"):
            kind = "latest"
        return Answer(question, answer, right, kind, category)
    rule = _permitted_action(question)
    if not answer.lower().startswith("y"):
        rule = f"do not {rule}"
    return Answer(question, rule, right, "rule", category)


def _permitted_action(question: str) -> str:
    """What a question asks permission for."""
    permission = _PERMISSION.match(question)
    if permission is None:
        return question.partition("?")[0]
    return f"{permission['rest']}{permission['tail'] or ''}"


def _native_vs_text(folder: Path) -> Iterator[GradedContext]:
    """Histories with exact questions, each compacted to two sorts of text."""
    document = json.loads((folder / "fixtures.json").read_text(encoding="utf-8"))
    fixtures = {fixture["id"]: fixture for fixture in document}
    histories: dict[str, tuple[str, ...]] = {}
    for id, fixture in fixtures.items():
        histories[id] = _said_texts(fixture["history"])
    files_by_variant = {"balanced": "trials.jsonl", "dense": "dense-text-trials.jsonl"}
    for variant, name in files_by_variant.items():
        for row in _rows(folder / name):
            id = row["fixtureId"]
            fixture = fixtures[id]
            summary = row.get("textSummary") or row["summary"]
            yield GradedContext(
                group=f"{id} {row['trial']}",
                variant=variant,
                texts=(summary["text"], *_said_texts(fixture["sharedTail"])),
                answers=tuple(_native_answers(row, fixture)),
                history=histories[id],
            )


def _native_answers(row: Row, fixture: Row) -> Iterator[Answer]:
    """The graded answers of one trial."""
    questions = {question["id"]: question["question"] for question in fixture["questions"]}
    for score in _evaluation(row)["scores"]:
        yield Answer(
            questions[score["questionId"]],
            score["expected"],
            bool(score["correct"]),
            category=score["category"],
        )


def _evaluation(row: Row) -> Row:
    """The verdicts on the text summary; a row of one variant has no others."""
    evaluation: Row
    if "evaluations" in row:
        evaluation = row["evaluations"]["text_summary"]
        return evaluation
    evaluation = row["evaluation"]
    return evaluation


def _said_texts(items: Iterable[Row]) -> tuple[str, ...]:
    return tuple(map(_item_text, items))


def _item_text(item: Row) -> str:
    """An item of a response API's history as text."""
    if item.get("type") == "message":
        texts = [str(part.get("text", "")) for part in item["content"]]
        return "\n".join(texts)
    value = item.get("arguments", item.get("output", ""))
    if isinstance(value, str):
        return value
    return json.dumps(value)


def _longmemeval(folder: Path) -> Iterator[GradedContext]:
    """Notes of chats, one question each; only rows whose true answer is in the folder."""
    truths: dict[str, Row] = {}
    for file in sorted(folder.glob("analysis_results/*/*.jsonl")):
        truths |= {row["question_id"]: row for row in _rows(file)}
    for file in sorted(folder.glob("generation_logs/**/*")):
        if not file.is_file():
            continue
        for row in _rows(file):
            truth = truths.get(row["question_id"])
            if truth is None or row["question_id"].endswith("_abs"):
                continue
            _, _, chats = row["prompt"].partition("History Chats:")
            notes, _, _ = chats.rpartition("Current Date:")
            category = truth["question_type"]
            answer = Answer(
                question=truth["question"],
                answer=_shortest(str(truth["correct_answer"])),
                right=bool(row["autoeval_label"]["label"]),
                kind=_kind_of(category),
                category=category,
            )
            texts = []
            for text in _NOTE.findall(notes):
                texts.append(text.encode().decode("unicode_escape", "ignore"))
            yield GradedContext(
                group=row["question_id"],
                variant=file.name[-60:-40],
                texts=tuple(texts or [notes]),
                answers=(answer,),
            )


_NOTE = re.compile(r'"session_summary": "((?:[^"\\]|\\.)*)"')


def _kind_of(category: str) -> ItemKind:
    """The kind of item of a category of questions about chats."""
    return "latest" if category == "knowledge-update" else "fact"


def _shortest(answer: str) -> str:
    """An answer without the remarks behind it, such as which others are accepted."""
    return re.split(r"\.\s|\s\(|\.$", answer.strip(), maxsplit=1)[0]


def _compaction_integrity(folder: Path) -> Iterator[GradedContext]:
    """Whole compacted contexts, an instruction each, and a person's verdict whether it is still
    there.
    """
    place = folder / "judge_robustness_eval"
    keys = {row["id"]: row for row in _rows(place / "balanced_key.jsonl")}
    for row in _rows(place / "balanced_blind_labeled.jsonl"):
        key = keys[row["id"]]
        category, _, _ = str(key["dataset"]).partition("_")
        answer = Answer(
            question="",
            answer=row["sssc_message"],
            right=bool(row["label"]),
            kind="rule",
            category=category,
        )
        yield GradedContext(
            group=row["id"],
            variant=str(key["compactor"]),
            texts=(row["compacted_summary"],),
            answers=(answer,),
        )


def _lost_in_compaction(folder: Path) -> Iterator[GradedContext]:
    """Long chats, compacted to four degrees; one question a request, each reply judged by a
    model.
    """
    for file in sorted((folder / "judgments").glob("*_bs1.json")):
        name = file.name.removesuffix("_bs1.json")
        chat = _json(folder / "contexts" / f"{name}.json")
        meta = _json(folder / "contexts" / f"{name}_meta.json")
        facts = {}
        for fact in meta["facts"]:
            facts[fact["fact_id"]] = fact
        judgments = _json(file)
        answers = []
        for batch in judgments["batches"]:
            for verdict in batch["verdicts"]:
                fact = facts[verdict["fact_id"]]
                answer = _chat_answer(fact, verdict)
                answers.append(answer)
        density, _, degree = name.partition("_")
        texts = tuple(str(message["content"]) for message in chat)
        yield GradedContext(density, degree, texts, tuple(answers))


def _chat_answer(fact: Row, verdict: Row) -> Answer:
    category = str(fact["question_type"])
    return Answer(
        question=str(fact["question"]),
        answer=_shortest(str(fact["answer"])),
        right=bool(verdict["recalled"]),
        kind=_kind_of(category),
        category=category,
    )


def _json(path: Path) -> Any:  # noqa: ANN401 - whatever the file holds
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise FormatError(f"cannot be read as JSON ({error!s:.80})", where=str(path)) from None


_FOLDERS: dict[str, Callable[[Path], Iterable[GradedContext]]] = {
    "fixtures.json": _native_vs_text,
    "generation_logs": _longmemeval,
    "judge_robustness_eval": _compaction_integrity,
    "judgments": _lost_in_compaction,
}
"""Layouts by a name that only their folders hold."""
