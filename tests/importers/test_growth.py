from __future__ import annotations

import pytest

from builders import said, told
from workbench.importers.growth import Growth, main_model, project
from workbench.transcript.log import NoteEntry


@pytest.mark.parametrize(
    ("cwd", "name"),
    [
        ("/home/me/shop", "shop"),
        ("/home/me/shop/", "shop"),
        ("D:\\work\\shop", "shop"),
        ("/home/me/shop/.worktrees/2", "shop"),
        ("/home/me/shop/.worktrees/me/a-branch", "shop"),
        ("/root", "folder"),
        ("/", "folder"),
        ("C:\\", "folder"),
        ("", "folder"),
    ],
)
def test_the_project_is_the_repository_or_else_the_folder_of_the_file(cwd: str, name: str) -> None:
    assert project(cwd, "folder") == name


def test_ids_that_stand_already_get_a_number() -> None:
    growth = Growth()
    assert [growth.say(said("x", "u")) for _ in range(3)] == ["u", "u~2", "u~3"]
    assert growth.note(NoteEntry(id="u", parent="nobody", kind="label")) == "u~4"
    assert growth.say(said("x", "")) == "m5"
    assert growth.messages == 4
    assert [entry.parent for entry in growth.log] == [None, "u", "u~2", "u~3", "u~4"]


def test_the_model_that_answered_most_is_the_session_s() -> None:
    growth = Growth()
    for i in range(3):
        answer = told("x", f"a{i}")
        growth.say(type(answer)(id=answer.id, blocks=answer.blocks, model="big" if i else "small"))
    assert main_model(growth.log) == "big"
