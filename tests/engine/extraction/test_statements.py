from __future__ import annotations

import pytest

from builders import called, result, said, told
from workbench.engine.extraction.entities import Entity
from workbench.engine.extraction.statements import statements
from workbench.engine.transcript.message import Message


def kinds(message: Message) -> set[str]:
    return {entity.kind for entity in statements(message)}


@pytest.mark.parametrize(
    "text",
    [
        "You must never touch the vendor folder.",
        "Don't add new dependencies please",
        "Responses have to stay under 300 ms.",
        "Use tabs instead of blanks here",
        "Make sure the tests pass before you commit",
        "Only change files in the api folder",
        "no more than three retries per upload",
    ],
)
def test_a_demand_of_the_user_is_a_constraint(text: str) -> None:
    assert "constraint" in kinds(said(text))
    assert "constraint" not in kinds(told(text))
    assert "constraint" not in kinds(said(text, synthetic=True))
    assert not kinds(result(text))


@pytest.mark.parametrize(
    "text",
    [
        "Please look at the upload code.",
        "What does the parser do?",
        "thanks, that was quick",
        "must",
    ],
)
def test_a_wish_that_binds_nothing_is_none(text: str) -> None:
    assert not kinds(said(text))


@pytest.mark.parametrize(
    "text",
    [
        "I'll use a token bucket for the limiter.",
        "We decided to keep the old schema.",
        "Let's go with option two for the cache",
        "The root cause is a stale lock file",
        "Patching the driver didn't work at all",
    ],
)
def test_a_choice_or_a_failed_try_is_a_decision(text: str) -> None:
    assert "decision" in kinds(told(text))


def test_work_still_to_do_is_pending() -> None:
    assert kinds(told("- [ ] migrate the user table")) == {"pending"}
    assert kinds(told("We still need to migrate the user table")) == {"pending"}
    assert kinds(told("- [x] migrate the user table")) == set()
    assert kinds(told("The user table was migrated")) == set()


def test_open_items_of_a_task_list_are_pending() -> None:
    items = [
        {"content": "Migrate the user table", "status": "pending"},
        {"content": "Write the parser", "status": "completed"},
        {"content": "Run all tests", "status": "in_progress"},
    ]
    message = called("todo", todos=items)
    assert statements(message) == (
        Entity("pending", "migrate the user table"),
        Entity("pending", "run all tests"),
    )


def test_code_and_pastes_state_nothing() -> None:
    demand = "You must never touch the vendor folder"
    long_line = f"{demand} " + "x" * 500
    assert kinds(said(f"One. Two!\n```\n{demand}.\n```\n{long_line}")) == set()
    assert [entity.text for entity in statements(said(f"One. {demand}! Two."))] == [demand.lower()]


def test_a_list_under_a_heading_for_what_is_open_is_pending() -> None:
    text = (
        "## Left to do\n\n- Warehouse: book the corrections\n- [x] old thing of yesterday\n\nThat"
        " is all of it."
    )
    assert [entity.text for entity in statements(told(text))] == ["warehouse: book the corrections"]
    message = called(
        "write", "c1", path="report.md", content="# Report\n\n## Open\n- Rhea: ask the provider"
    )
    assert [entity.text for entity in statements(message)] == ["rhea: ask the provider"]


@pytest.mark.parametrize(
    "text", ["## Done\n- book the corrections", "Open the file:\n- book the corrections"]
)
def test_a_list_under_another_heading_is_not(text: str) -> None:
    assert "pending" not in kinds(told(text))
