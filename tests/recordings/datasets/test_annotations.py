from __future__ import annotations

from pathlib import Path

import pytest
from annotated import annotated

from workbench import load
from workbench.engine.transcript.message import said_texts
from recorded_files import bundled_files

SESSIONS = bundled_files()

each = pytest.mark.parametrize("path", SESSIONS, ids=[path.parent.name for path in SESSIONS])


def texts(path: Path) -> dict[str, str]:
    """The main path's messages by id, in order, in lower case."""
    [session] = load(path)
    return {message.id: "\n".join(said_texts(message)).lower() for message in session.messages}


@each
def test_every_probe_is_answered_by_each_of_its_messages(path: Path) -> None:
    said = texts(path)
    for probe in annotated(path).probes:
        assert probe.evidence, probe.question
        assert probe.question.endswith("?")
        for message in probe.evidence:
            assert probe.answer.lower() in said[message], probe.question


@each
def test_every_superseded_value_stands_in_its_messages_and_the_new_one_comes_later(
    path: Path,
) -> None:
    said = texts(path)
    place = {message: i for i, message in enumerate(said)}
    for value in annotated(path).superseded:
        assert value.old_evidence and value.new_evidence
        assert all(value.old.lower() in said[message] for message in value.old_evidence), (
            value.about
        )
        assert all(value.new.lower() in said[message] for message in value.new_evidence), (
            value.about
        )
        assert place[value.old_evidence[0]] <= place[value.new_evidence[0]], value.about


@each
def test_every_statement_names_messages_of_the_session(path: Path) -> None:
    said = texts(path)
    known = annotated(path)
    for statement in known.constraints + known.decisions + known.pending:
        assert statement.evidence, statement.text
        assert set(statement.evidence) <= said.keys()


@each
def test_there_is_enough_of_each_kind(path: Path) -> None:
    known = annotated(path)
    assert len(known.probes) >= 20
    assert len({probe.question for probe in known.probes}) == len(known.probes)
    assert len(known.constraints) >= 3
    assert len(known.decisions) >= 3
    assert len(known.superseded) >= 3
    assert len(known.pending) >= 2


@each
def test_answers_are_spread_over_the_session(path: Path) -> None:
    said = list(texts(path))
    first = [said.index(probe.evidence[0]) for probe in annotated(path).probes]
    assert min(first) < len(said) / 4
    assert max(first) > len(said) / 2
