"""What the exam takes for one name, and what denies it: the table of shapes."""

from __future__ import annotations

import pytest

from workbench.evaluation.metrics.exam.lines import Lines
from workbench.evaluation.metrics.exam.names import Names
from workbench.evaluation.metrics.exam.stating import denies, flipped
from workbench.evaluation.metrics.exam.tokens import features_of, lines_of, segments_of, stem
from workbench.evaluation.metrics.exam.vocabulary import Vocabulary

SHAPES = (
    ("release/project-1-stable", "we merge into release/project-1-stable today"),
    ("@scope/pkg-name", 'import x from "@scope/pkg-name";'),
    ("db-01.internal:5432", "psql -h db-01.internal:5432 -U app"),
    ("arn:aws:s3:::bucket-9", "policy on arn:aws:s3:::bucket-9 only"),
    ("0xDEADBEEF", "at address 0xDEADBEEF."),
    ("ann.lee@example.org", "mail ann.lee@example.org, please"),
    ("ABC-1234", "see ABC-1234: closed"),
    ("HIDDEN-KEYSTONE-DEE3", "Launch code: HIDDEN-KEYSTONE-DEE3."),
    ("git push", "run `git push` twice"),
    ("sha256:abc01eefdef00df3", "checksum sha256:abc01eefdef00df3"),
    ("client.py", "edit src/net/client.py:12"),
    ("5 ms", "it took 5ms"),
    ("30 min", "wait 30 minutes"),
    ("1250", "1,250 rows"),
    ("3f2a9bc", "commit 3f2a9bc0d1e2f3"),
    ("four", "we visited 4 places"),
)
NO_SHAPES = (
    ("5413", "HIDDEN-5413-A"),
    ("parameter-1-3", "parameter-1-35=X"),
    ("1.2", "version 1.2.3"),
    ("foo", "foo_bar and foo-bar"),
    (
        "/home/ann/work/tools/cmd/app/cli/session/state.py",
        "see /home/ann/work/tools/cmd/app/cli/session/phase.py",
    ),
    (
        "https://ci.example.org/cgi-bin/run.pl?job=7",
        "curl https://ci.example.org/cgi-bin/run.pl?job=8",
    ),
)


def found(name: str, text: str) -> bool:
    vocabulary = Vocabulary()
    return len(Names([name], vocabulary).found(Lines([text], vocabulary))[0]) > 0


@pytest.mark.parametrize(("name", "text"), SHAPES)
def test_a_name_is_found_in_each_form_that_means_it(name: str, text: str) -> None:
    assert found(name, text)


@pytest.mark.parametrize(("name", "text"), NO_SHAPES)
def test_a_name_is_not_found_inside_another(name: str, text: str) -> None:
    assert not found(name, text)


def test_endings_of_grammar_and_case_do_not_matter_to_a_cue() -> None:
    assert stem("routes") == stem("routing") == stem("routed")
    assert "rout" in features_of("Routes")


def test_a_path_is_known_by_its_last_part_as_well() -> None:
    assert {"=src/net/client.py", "=client.py"} <= set(features_of("src/net/client.py"))
    assert segments_of("src/net/a-b.py") == ["src", "net", "a-b", "py"]


def denied(text: str, name: str) -> bool:
    vocabulary = Vocabulary()
    lines = Lines([text], vocabulary)
    return bool(lines.denied[Names([name], vocabulary).found(lines)[1]].all())


@pytest.mark.parametrize(
    "text",
    [
        "the port is not 5413",
        "obsolete values: port 5413, host a",
        "port 5413 is obsolete",
        "supersedes port 5413",
    ],
)
def test_a_clause_denies_what_it_calls_obsolete(text: str) -> None:
    assert denied(text, "5413")


@pytest.mark.parametrize("text", ["not the host; the port is 5413", "the port is 5413"])
def test_another_clause_denies_nothing(text: str) -> None:
    assert not denied(text, "5413")


def test_lines_of_prose_stand_behind_their_heading() -> None:
    text = "## Routes\n- a -> b\n\nOwners:\n1. Ann"
    assert list(lines_of(text, headed=True)) == [
        "Routes",
        "Routes: a -> b",
        "Owners:",
        "Owners: 1. Ann",
    ]
    assert list(lines_of(text)) == ["Routes", "a -> b", "Owners:", "1. Ann"]


def test_a_prohibition_and_a_demand_are_flipped_into_each_other() -> None:
    assert denies("Never push to main")
    assert not denies("Use metric units, not imperial ones")
    assert not denies(flipped("Never push to main"))
    assert denies(flipped("Use metric units, not imperial ones"))
