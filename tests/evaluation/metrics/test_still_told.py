"""What another line of the context still tells is no loss."""

from dataclasses import replace

import pytest

from builders import result, said, told
from workbench.engine.transcript.message import Message
from workbench.evaluation.metrics.index import Index
from workbench.evaluation.metrics.still_told import (
    is_still_spelled,
    is_still_told,
    is_told_again,
)

HISTORY: list[Message] = [
    told("the worker retry.ts = tint(17) guards slow uploads"),
    said("uploads honour retry.ts"),
    said("retry.ts, please"),
]


@pytest.mark.parametrize(
    ("kept", "summary", "is_told"),
    [
        ([1], "", True),
        ([2], "", False),
        ([], "- Retry.ts guards the worker", True),
        ([], "- retry.ts", False),
        ([], "- slow uploads", False),
    ],
    ids=["a user's line", "the name alone", "a summary's words", "a summary's list", "no name"],
)
def test_a_line_that_says_of_it_what_its_evidence_does_still_tells_it(
    kept: list[int], summary: str, is_told: bool
) -> None:
    demand = Index([*HISTORY, told("I edit retry.ts = tint(17)")]).demand(len(HISTORY))
    (need,) = [need for need in demand.needs if need.entity.text == "retry.ts"]
    assert is_still_told(need, demand.lines_that_name(need, kept, [summary])) == is_told


@pytest.mark.parametrize(
    ("name", "context", "is_spelled"),
    [
        ("retryLimit", "open src/retryLimit.ts", True),
        ("retryLimit", "open src/retryLimits.ts", False),
        ("retryLimit", "read config.retryLimit", True),
        ("4500 ms", "after 4500 ms", False),
        ("retryLimit", "the column retry_limit", True),
        ("retryLimit", "the retry limit", False),
        ("row_count", "the rowCount of it", True),
        ("row_count", "the row count of it", True),
        ("row_count", "the narrow count of it", False),
        ("menu.ts", "open src/parts/menu.ts", True),
        ("menu.ts", "open src\\parts\\menu.ts", True),
        ("menu.ts", "open menu.ts", False),
    ],
    ids=[
        "in a path",
        "a longer word",
        "a member",
        "a number",
        "a column of it",
        "plain words",
        "joined by capitals",
        "the words of a column",
        "a piece of a word",
        "a file in its folder",
        "a file of another system",
        "a file's bare name",
    ],
)
def test_a_name_that_the_context_spells_is_no_loss(
    name: str, context: str, is_spelled: bool
) -> None:
    line = "retryLimit is 4500 ms, row_count in parts/menu.ts"
    needs = Index([told(line), told(line)]).demand(1).needs
    (need,) = [need for need in needs if need.entity.text == name]
    assert is_still_spelled(need, context) == is_spelled


@pytest.mark.parametrize(
    ("name", "line", "context", "is_spelled"),
    [
        ("base.py", "open store/base.py", "from shop.store.base import Row", True),
        ("base.py", "open store/base.py", "from shop.store import base", True),
        ("base.py", "open store/base.py", "from shop.menu.base import Row", False),
        ("seeds.ts", "open lib/seeds.ts", 'import { sow } from "@/lib/seeds"', True),
        ("route.ts", "open api/garden/sow/route.ts", 'fetch("/api/garden/sow")', True),
        ("route.ts", "open api/garden/sow/route.ts", 'fetch("/api/garden/reap")', False),
        ("plan.md", "see [the plan](../plan.md)", "read /home/ada/plan.md", True),
        ("_02_rows.png", 'save(f"{name}_02_rows.png")', "wrote plots/haig_02_rows.png", True),
        ("seed-4o-mini", "the model is seed-4o-mini", "we ask Seed-4o-Mini", True),
        ("http://localhost:5990", "open http://localhost:5990", "0.0.0.0:5990->80/tcp", True),
        ("http://localhost:5990", "open http://localhost:5990", "0.0.0.0:59901->80/tcp", False),
        (
            "no seeds in this row",
            'warn("No seeds in this row")',
            "WARNING: No seeds in this row",
            True,
        ),
        ("no seeds here", 'warn("No seeds here")', "WARNING: No seeds here", False),
    ],
    ids=[
        "a module",
        "an imported module",
        "a module of another folder",
        "a module without its ending",
        "the folder of a page",
        "another folder's page",
        "a path to a folder above",
        "the end of a name that code makes",
        "capitals",
        "a port of this machine",
        "another port",
        "a long quotation",
        "a short quotation",
    ],
)
def test_another_spelling_of_a_name_still_tells_it(
    name: str, line: str, context: str, is_spelled: bool
) -> None:
    needs = Index([told(line), told(line)]).demand(1).needs
    (need,) = [need for need in needs if need.entity.text == name]
    assert is_still_spelled(need, context) == is_spelled


def test_a_name_in_colours_is_told_again() -> None:
    line = "call retryLimit"
    colours = result("vi\x1b[33m.\x1b[39m\x1b[34mretryLimit\x1b[39m()", "c1")
    (need,) = Index([told(line), told(line)]).demand(1).needs
    assert is_told_again(replace(need, use=2), [told(line), colours, told(line)], 1)


def test_what_a_user_or_a_result_says_again_before_the_use_is_told_again() -> None:
    history: list[Message] = [told("I ran `bun run seeds:check` on the tree")]
    report = result("the log says: Ran bun run seeds:check, 0 errors", "c1")
    use = told("`bun run seeds:check` has 0 errors")
    messages = [*history, report, use]
    needs = Index([*history, use]).demand(1).needs
    (need,) = [need for need in needs if need.entity.kind == "command"]
    again = replace(need, use=2)
    assert is_told_again(again, messages, 1)
    assert not is_told_again(again, [*history, told("bun run seeds:check"), use], 1)
