"""What the exam takes for one name, and what denies it: the table of shapes."""

from __future__ import annotations

import pytest

from workbench.evaluation.metrics.exam.item import Item
from workbench.evaluation.metrics.exam.lexical import Lexical

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
    ("net/a-b.py", "edit src/net/a-b.py"),
    ("5 ms", "it took 5ms"),
    ("30 min", "wait 30 minutes"),
    ("30 min", "wait 30minutes"),
    ("1250", "1,250 rows"),
    ("3f2a9bc", "commit 3f2a9bc0d1e2f3"),
    ("four", "we visited 4 places"),
)
NO_SHAPES = (
    ("5413", "HIDDEN-5413-A"),
    ("parameter-1-3", "parameter-1-35=X"),
    ("1.2", "version 1.2.3"),
    ("foo", "foo_bar and foo-bar"),
    ("b.py", "edit src/net/a-b.py"),
    (
        "/home/ann/work/tools/cmd/app/cli/session/state.py",
        "see /home/ann/work/tools/cmd/app/cli/session/phase.py",
    ),
    (
        "https://ci.example.org/cgi-bin/run.pl?job=7",
        "curl https://ci.example.org/cgi-bin/run.pl?job=8",
    ),
)


def credit(name: str, other: str, cue: str, *lines: str) -> float:
    """What the lexical reader has for a question with two answers: 1 if the lines tell the name
    beside the cue, 0 if they tell the other, half if neither.
    """
    item = Item("fact", name, (other,), {cue: 1.0})
    return float(Lexical().read([item], lines)[0])


def is_found(name: str, text: str) -> bool:
    return credit(name, "another-name", "beacon", f"beacon {text}") == 1


@pytest.mark.parametrize(("name", "text"), SHAPES)
def test_a_name_is_found_in_each_form_that_means_it(name: str, text: str) -> None:
    assert is_found(name, text)


@pytest.mark.parametrize(("name", "text"), NO_SHAPES)
def test_a_name_is_not_found_inside_another(name: str, text: str) -> None:
    assert not is_found(name, text)


@pytest.mark.parametrize("word", ["Routes", "routing", "ROUTED"])
def test_endings_of_grammar_and_case_do_not_matter_to_a_cue(word: str) -> None:
    assert credit("5413", "6000", "rout", f"{word}: 5413") == 1
    assert credit("5413", "6000", "rot", f"{word}: 5413") == 0.5


@pytest.mark.parametrize("cue", ["=src/net/client.py", "=client.py", "client"])
def test_a_path_is_known_by_its_last_part_as_well(cue: str) -> None:
    assert credit("5413", "6000", cue, "src/net/client.py: 5413") == 1
    assert credit("5413", "6000", cue, "src/net/server.py: 5413") == 0.5


def is_denied(text: str, name: str) -> bool:
    """Whether another name counts more that stands farther from the cue than this one."""
    return credit(name, "6000", "port", text, "port, of the tall white mast: 6000") == 0


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
    assert is_denied(text, "5413")


@pytest.mark.parametrize("text", ["not the host; the port is 5413", "the port is 5413"])
def test_another_clause_denies_nothing(text: str) -> None:
    assert not is_denied(text, "5413")


def test_lines_of_prose_stand_behind_their_heading() -> None:
    text = "## Routes\n- 5413 -> a\n\nOwners:\n1. 6000"
    assert credit("5413", "6000", "rout", text) == 1
    assert credit("6000", "5413", "own", text) == 1
