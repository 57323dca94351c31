"""Which needs are certain."""

import pytest

from builders import called, result, told
from workbench.engine.transcript.message import Message
from workbench.evaluation.metrics.index import Index

DEFINITION = "def sow_rows(seeds):"
CALL = "garden.sow_rows(4)"


def is_certain(stated: str, use: Message) -> bool:
    """Whether the need of `sow_rows` is certain."""
    history: list[Message] = [
        called("Read", "c1", file_path="src/app.py"),
        result(stated, "c1", name="Read"),
    ]
    index = Index([*history, use])
    needs = index.demand(len(history)).needs
    (need,) = [need for need in needs if need.entity.text == "sow_rows"]
    return index.certain_needs.is_certain(need)


@pytest.mark.parametrize("stated", [DEFINITION, CALL], ids=["defined", "called"])
def test_what_an_edit_quotes_and_what_the_words_tell_is_certain(stated: str) -> None:
    edit = called("Edit", file_path="src/app.py", old_string=CALL, new_string="pass")
    assert is_certain(stated, edit)
    assert is_certain(stated, told("I ran sow_rows"))


@pytest.mark.parametrize(
    ("stated", "certain"),
    [
        (DEFINITION, True),
        ('"sow_rows" is the key', True),
        ("sow_rows: 4", True),
        ("self.sow_rows(4)", True),
        (CALL, False),
        ("sow_rows == 4", False),
    ],
    ids=["defined", "quoted", "a key", "a method of its own", "a member", "compared"],
)
def test_in_a_new_file_only_a_name_of_the_project_is_certain(stated: str, certain: bool) -> None:
    new_file = called("Write", file_path="src/new.py", content=CALL)
    assert is_certain(stated, new_file) == certain


def test_what_a_command_searches_for_and_new_lines_of_an_edit_are_not_certain() -> None:
    assert not is_certain(DEFINITION, called("Bash", command="rg sow_rows src"))
    edit = called("Edit", file_path="src/app.py", old_string="pass", new_string=CALL)
    assert not is_certain(DEFINITION, edit)
