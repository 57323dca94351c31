import json

import pytest

from builders import called, remembering, result, said
from workbench.datasets.annotations import AnnotatedProbe, Annotations, Statement, Superseded, annotated
from workbench.datasets.bundled import bundled_files
from workbench.errors import ModelError
from workbench.importers.importer import load
from workbench.judge.probes.questions import GAP, annotated_probes, chosen, ruled_probes, written_probes
from workbench.judge.scoring import grade, holds
from workbench.metrics.index import Index
from workbench.models.scripted import Scripted
from workbench.transcript.message import said_texts
from workbench.transcript.session import Session

TASKS = [
    {"content": "write the parser", "status": "completed"},
    {"content": "read the manual", "status": "completed"},
    {"content": "fix the hub", "status": "pending"},
]


def session() -> Session:
    first = (
        said("please fix the hub of the box", "u-a"), called("write", "w1", path="src/hub.py"), result("ok", "w1"),
        called("read", "w2", path="docs/box.md"), result("box", "w2"), called("todo", "w3", items=TASKS),
        result("ok", "w3"), said("then look at the docs of the box", "u-b"),
    )  # fmt: skip
    return Session.of([*first, *remembering(16)])


def known() -> Annotations:
    return Annotations(
        (),
        (Statement("holds live 60 minutes", ("u1",)), Statement("late ones get 409", ("u9",))),
        (Superseded("hold time", "45", "60", ("u1",), ("u4",)),),
        (Statement("deploy on Thursday", ("u2",)),),
        (AnnotatedProbe("Which timeout?", "4001 s", ("u0",)), AnnotatedProbe("Which hub?", "north", ("u15",))),
    )


def test_nothing_is_asked_that_was_said_after_the_boundary() -> None:
    one = session()
    place = {message.id: i for i, message in enumerate(one.messages)}
    questions = [probe.question for probe in annotated_probes(known(), one, place["u3"])]
    assert "Which timeout?" in questions and "Which hub?" not in questions


def test_a_value_that_changed_is_asked_for_as_it_stood_at_the_boundary() -> None:
    one = session()
    place = {message.id: i for i, message in enumerate(one.messages)}

    def expected(at: int) -> tuple[str, str]:
        found = next(p for p in annotated_probes(known(), one, at) if "hold time" in p.question)
        return found.expected.answer, found.expected.stale

    assert expected(place["u2"]) == ("45", "")
    assert expected(place["u5"]) == ("60", "45")


def test_a_decision_is_asked_for_among_others_that_were_not_made() -> None:
    found = next(p for p in annotated_probes(known(), session(), 60) if p.question == "Which of these was settled?")
    letter = found.expected.answer
    assert found.expected.options["ABCD".index(letter)] == "holds live 60 minutes"
    assert len(found.expected.options) == 4 and f"{letter}) holds live 60 minutes" in found.asked


def test_rules_find_all_four_kinds_in_a_session_without_annotations() -> None:
    one = session()
    index = Index(one.messages)
    found = list(ruled_probes(one, index.demand(60), most=4))
    assert {probe.kind for probe in found} >= {"recall", "artifact", "continuation"}
    assert all(i < 60 for probe in found for i in probe.evidence)


def test_a_gap_hides_the_answer_and_its_evidence_says_it() -> None:
    one = session()
    gaps = [p for p in ruled_probes(one, Index(one.messages).demand(60)) if GAP in p.question]
    assert gaps
    for probe in gaps:
        assert probe.expected.answer not in probe.question
        assert any(probe.expected.answer in text for i in probe.evidence for text in said_texts(one.messages[i]))


def test_files_and_open_tasks_are_asked_for_by_choice() -> None:
    found = {p.question: p.expected for p in ruled_probes(session(), Index(session().messages).demand(60), most=9)}
    hub, box = found["What happened to the file src/hub.py?"], found["What happened to the file docs/box.md?"]
    assert (hub.options["AB".index(hub.answer)], box.options["AB".index(box.answer)]) == (
        "it was changed", "it was read and not changed",
    )  # fmt: skip
    task = found["Which of these is still to be done?"]
    assert task.options["ABC".index(task.answer)] == "fix the hub"


def test_questions_by_a_model_are_kept_only_with_their_proof() -> None:
    made = [
        {"kind": "recall", "question": "Which port?", "answer": "4005"},
        {"kind": "recall", "question": "Which user?", "answer": "nobody-said-this"},
        {"kind": "odd", "question": "Is it 4006?", "answer": "4006"},
    ]
    model = Scripted([f"Here: {json.dumps(made)} done"])
    found = written_probes(model, session(), 60)
    assert [(probe.question, probe.expected.answer, probe.origin) for probe in found] == [
        ("Which port?", "4005", "model")
    ]
    with pytest.raises(ModelError, match="no list of questions"):
        written_probes(Scripted(["I would rather not."]), session(), 60)


def test_every_bundled_session_gives_probes_that_their_own_evidence_answers() -> None:
    path = bundled_files()[0]
    one = load(path)[0]
    at = len(one.messages) * 4 // 5
    found = [p for p in annotated_probes(annotated(path), one, at) if p.kind == "recall"]
    assert len(found) >= 10
    for probe in found:
        texts = [text for i in probe.evidence for text in said_texts(one.messages[i])]
        assert any(probe.expected.answer.lower() in text.lower() for text in texts)
        assert grade(probe.expected, probe.expected.answer).verdict == "right"
        assert not holds(probe.question, probe.expected.answer)


def test_an_even_choice_of_each_kind_is_made() -> None:
    every = list(ruled_probes(session(), Index(session().messages).demand(60), most=9))
    some = chosen(every, ("recall", "artifact"), 1)
    assert [probe.kind for probe in some] == ["recall", "artifact"]


def test_a_reply_of_a_person_who_knows_is_graded_right() -> None:
    for probe in ruled_probes(session(), Index(session().messages).demand(60), most=9):
        assert grade(probe.expected, probe.expected.answer).verdict == "right"
