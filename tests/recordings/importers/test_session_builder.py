from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import ClassVar

import pytest

from builders import called, result, said, told
from workbench import FormatError, load
from workbench.engine.transcript.message import Json
from workbench.recordings.importers.format import Format, json_lines
from workbench.recordings.importers.importer import known_formats
from workbench.recordings.importers.session_builder import SessionBuilder, project_name


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


class Remembered(SessionBuilder):
    """A builder that is still there when its file has been read."""

    builders: ClassVar[list[SessionBuilder]] = []

    def read(self, record: Json) -> None:
        self.builders.append(self)


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SessionBuilder:
    """What reads a file `talk.jsonl` in a folder `shop`."""
    mine = Format("mine", "mine (JSON lines)", (), lambda head: False, json_lines(Remembered))
    monkeypatch.setitem(known_formats(), "mine", mine)
    (tmp_path / "shop").mkdir()
    file = tmp_path / "shop" / "talk.jsonl"
    file.write_text("{}\n")
    with suppress(FormatError):
        load(file, format="mine")
    return Remembered.builders[-1]


def test_an_id_that_is_taken_gets_a_number(built: SessionBuilder) -> None:
    assert [built.say(said("x", "u")) for _ in range(3)] == ["u", "u~2", "u~3"]
    assert built.note("label", id="u") == "u~4"
    assert built.say(said("x", "")) == "m5"
    assert [entry.parent for entry in built.log] == [None, "u", "u~2", "u~3", "u~4"]


def test_a_result_gets_the_name_of_the_tool_that_was_called(built: SessionBuilder) -> None:
    call = called("read", path="a.py")
    built.say(call)
    answer = result("text", call.calls[0].id)
    built.say(type(answer)(id="r", call_id=answer.call_id, blocks=answer.blocks))
    assert built.session().messages[-1].name == "read"


def test_a_session_is_named_after_its_file_and_the_model_that_answered_most(
    built: SessionBuilder,
) -> None:
    for i in range(3):
        answer = told("x", f"a{i}")
        built.say(type(answer)(id=answer.id, blocks=answer.blocks, model="big" if i else "small"))
    session = built.session()
    assert (session.id, session.model, session.project) == ("talk", "big", "shop")
