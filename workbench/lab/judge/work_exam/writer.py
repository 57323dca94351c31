"""Has a model write the questions of one boundary: what it is asked, and how its answer is read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from string import Template
from typing import Any

from workbench.base.errors import ModelError
from workbench.engine.compaction.prompt_template import PromptTemplate
from workbench.engine.models.model import Model, SummaryRequest
from workbench.engine.models.tokenizer import TiktokenCounter
from workbench.engine.transcript.message import Message
from workbench.evaluation.metrics.work_exam.checks import WrittenQuestion
from workbench.evaluation.metrics.work_exam.question import QUESTION_KINDS

LATER_MESSAGES = 40
"""Messages behind the boundary that the writer sees."""
LATER_CHARS = 24_000
ANSWER_TOKENS = 6_000
SHOWN_WHOLE = 10**9
_LATER = PromptTemplate(result_chars=1_000, argument_chars=1_000)
_HISTORY = PromptTemplate(result_chars=SHOWN_WHOLE, argument_chars=SHOWN_WHOLE)


@cache
def prompt(name: str) -> str:
    """The text of `prompts/<name>.md`."""
    place = files("workbench.lab.judge.work_exam").joinpath("prompts", f"{name}.md")
    return place.read_text(encoding="utf-8").strip()


def question_request(
    messages: Sequence[Message],
    boundary: int,
    count: int,
    history_chars: int | None = None,
) -> SummaryRequest:
    """The request for the questions of one boundary.

    Args:
        messages: the whole session.
        boundary: the boundary: the history is `messages[:at]`.
        count: questions to write.
        history_chars: the longest that the history may be; results are cut first, then the oldest
            messages left out. None shows it whole.
    """
    history = _HISTORY.transcript(messages[:boundary], history_chars)
    later = _LATER.transcript(messages[boundary : boundary + LATER_MESSAGES], LATER_CHARS)
    task = Template(prompt("writer")).substitute(count=count)
    text = (
        f"<conversation>\n{history}\n</conversation>\n\n"
        f"<conversation-after>\n{later}\n</conversation-after>\n\n{task}"
    )
    return SummaryRequest(
        purpose="question",
        system=prompt("writer_system"),
        write=lambda _: text,
        max_tokens=ANSWER_TOKENS,
        count=TiktokenCounter(),
    )


def written_questions(model: Model, request: SummaryRequest) -> list[WrittenQuestion]:
    """The questions that a model writes.

    Raises:
        ModelError: it gave no answer, or one without any question.
    """
    completion = model.complete(request)
    questions = read_questions(completion.text)
    if not questions:
        raise ModelError(f"{model.name} wrote no questions in the form that was asked for")
    return questions


def read_questions(text: str) -> list[WrittenQuestion]:
    """The questions in a model's answer; what is none is left out."""
    document = json_object(text) or {}
    entries = document.get("questions")
    if not isinstance(entries, list):
        return []
    questions = []
    for entry in entries:
        question = _question(entry) if isinstance(entry, Mapping) else None
        if question is not None:
            questions.append(question)
    return questions


def json_object(text: str) -> dict[str, Any] | None:
    """The JSON object in a model's answer, whatever stands around it; None where there is none."""
    start = text.find("{")
    while start >= 0:
        try:
            value, _ = json.JSONDecoder().raw_decode(text, start)
        except ValueError:
            start = text.find("{", start + 1)
            continue
        return value if isinstance(value, dict) else None
    return None


def _question(entry: Mapping[str, Any]) -> WrittenQuestion | None:
    kind = str(entry.get("kind", "")).strip().lower()
    kind = kind.replace(" ", "_").replace("-", "_")
    points = entry.get("points")
    if kind not in QUESTION_KINDS or not isinstance(points, list):
        return None
    return WrittenQuestion(
        kind=kind,
        question=str(entry.get("question", "")).strip(),
        gold=str(entry.get("gold", "")).strip(),
        points=tuple(str(point).strip() for point in points),
        quote=str(entry.get("quote", "")),
    )
