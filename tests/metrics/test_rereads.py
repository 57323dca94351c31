from __future__ import annotations

from builders import called, result
from workbench.metrics.rereads import rereads
from workbench.transcript.message import Message


def reads(*paths: str, tool: str = "read") -> list[Message]:
    found: list[Message] = []
    for n, path in enumerate(paths):
        found += [called(tool, f"c{n}", path=path, offset=n), result("text", f"c{n}")]
    return found


def test_a_file_that_is_read_again_after_the_boundary_is_a_repeat_whatever_the_lines() -> None:
    (one,) = rereads(reads("a.py", "b.py", "a.py", "c.py"), [4])
    assert (one["calls"], one["repeats"], one["expected"]) == (2, 1, None)


def test_what_was_first_read_after_the_boundary_is_no_repeat() -> None:
    (one,) = rereads(reads("a.py", "b.py", "c.py", "c.py"), [4])
    assert one["repeats"] == 0


def test_a_call_that_changes_something_is_no_repeat() -> None:
    (one,) = rereads(reads("a.py", "a.py", tool="edit"), [2])
    assert (one["calls"], one["repeats"]) == (1, 0)


def test_the_natural_rate_comes_from_the_calls_before() -> None:
    before = [f"f{n}.py" if n % 2 else "same.py" for n in range(40)]
    after = ["same.py"] * 30
    (one,) = rereads(reads(*before, *after), [80])
    assert (one["calls"], one["repeats"]) == (24, 24)
    assert one["expected"] == 19 / 40 * 24
    assert one["expected"] == 19 / 40 * 24


def test_another_file_of_the_same_name_is_no_repeat() -> None:
    (one,) = rereads(reads("src/a.py", "web/a.py"), [2])
    assert one["repeats"] == 0
