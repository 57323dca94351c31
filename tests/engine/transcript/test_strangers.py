"""Secrets and personal data are masked as other programs write them, and masking again changes
nothing.
"""

import pytest
from engine.transcript.strangers import PERSONAL, SECRETS, Kind, recall

from profiles import examples
from workbench.engine.transcript.redaction import Redactor

COUNT = examples(20)
HARD = {
    "MY NRIC": "a number without check digit, behind a name that is in no list",
    "HAProxy user": "a word behind a directive that is in no list",
    "RADIUS client": "a word behind `secret =`, which is a variable in a program",
    "mail": "a password of letters alone in a sentence",
    "AppVeyor": "a value two lines below its name",
    "appsettings": "a name of the one word key",
    "Faraday": "a call without brackets",
    "neo4j": "a user and a password with a slash between them",
    "MRZ": "the lines for a machine in a passport",
}
"""What stays in part, and why."""
KINDS = SECRETS | PERSONAL


@pytest.mark.parametrize("name", [name for name in KINDS if name not in HARD])
def test_a_kind_of_another_programs_document_is_masked(name: str) -> None:
    assert recall(KINDS[name], name, COUNT) >= 0.75


@pytest.mark.parametrize("name", KINDS)
def test_each_kind_names_its_source(name: str) -> None:
    assert KINDS[name].source


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
def test_what_was_masked_is_not_masked_again(kind: Kind) -> None:
    for text, _ in kind.planted("again", 3):
        once = Redactor().mask(text)
        assert Redactor().mask(once) == once
