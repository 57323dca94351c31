from __future__ import annotations

import io

import pytest

from builders import called, result, said, told
from workbench.recordings.importers.session_builder import SessionBuilder, project_name
from workbench.recordings.importers.source import SourceFile


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
    assert project_name(cwd, "folder") == name


def builder() -> SessionBuilder:
    return SessionBuilder(SourceFile("shop/talk.jsonl", io.BytesIO, folder="shop"))


def test_an_id_that_is_taken_gets_a_number() -> None:
    built = builder()
    assert [built.say(said("x", "u")) for _ in range(3)] == ["u", "u~2", "u~3"]
    assert built.note("label", id="u") == "u~4"
    assert built.say(said("x", "")) == "m5"
    assert [entry.parent for entry in built.log] == [None, "u", "u~2", "u~3", "u~4"]


def test_a_result_gets_the_name_of_the_tool_that_was_called() -> None:
    built = builder()
    call = called("read", path="a.py")
    built.say(call)
    answer = result("text", call.calls[0].id)
    built.say(type(answer)(id="r", call_id=answer.call_id, blocks=answer.blocks))
    assert built.session().messages[-1].name == "read"


def test_a_session_is_named_after_its_file_and_the_model_that_answered_most() -> None:
    built = builder()
    for i in range(3):
        answer = told("x", f"a{i}")
        built.say(type(answer)(id=answer.id, blocks=answer.blocks, model="big" if i else "small"))
    session = built.session()
    assert (session.id, session.model, session.project) == ("talk", "big", "shop")
