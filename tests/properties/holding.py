"""How an invariant is tested: over every preset and stage, with the exceptions that one table
names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import pytest
from preset_names import BUILTIN_PRESETS
from properties.conversations import FIRST
from properties.invariants import EVERY, LET_OFF, RARE
from properties.steps import SUBJECTS, due, smallest, steps, told

every_preset = pytest.mark.parametrize("name", list(BUILTIN_PRESETS), scope="session")
"""By session, as subjects: all tests of one preset run in a row, so its compactions are made
once, in one process.
"""


def every_subject(rule: str) -> pytest.MarkDecorator:
    """All presets and all stages alone; what the table lets off is marked, and must go on
    failing.
    """
    return pytest.mark.parametrize(
        "name",
        list(SUBJECTS),
        ids=lambda name: name + ", let off" * ((rule, name) in LET_OFF),
        scope="session",
    )


def holds(rule: str, name: str) -> None:
    """Assert that no compaction by that preset or stage breaks the invariant, or that the table
    lets it and it does.
    """
    check = EVERY[rule]
    broken = [
        one for one in steps(name) + (due(name) if name in BUILTIN_PRESETS else ()) if check(one)
    ]
    if (rule, name) in LET_OFF:
        assert broken, (
            f"{name} keeps {rule} after all: take it out of the table ({LET_OFF[rule, name]})"
        )
        return
    known(rule, name, [one.case for one in broken])
    if broken:
        step = smallest(broken[0], check) if "due" not in broken[0].case else broken[0]
        pytest.fail(f"{rule}: {len(broken)} times; " + told(step, check(step)))


def known(rule: str, name: str, cases: Iterable[str]) -> None:
    """Expect the failure where it is a known defect, and only conversations after the first ones
    show it.
    """
    numbers = [int(found[1]) if (found := re.match(r"random (\d+)", case)) else 0 for case in cases]
    if (rule, name) in RARE and numbers and min(numbers) >= FIRST:
        pytest.xfail(f"{name} breaks {rule}: {RARE[rule, name]}")
