from __future__ import annotations

import numpy as np
import pytest

from builders import called, result, said, told
from workbench.metrics.index import Index
from workbench.metrics.state.artifacts import shell_changes

MESSAGES = [
    said("tidy src/api/limits.py and look at src/api/users.py"),
    called("read", "c1", path="src/api/limits.py"),
    result("old content", "c1"),
    called("read", "c2", path="src/api/users.py"),
    result("users", "c2"),
    called("edit", "c3", path="/repo/src/api/limits.py", old_string="a", new_string="b"),
    result("ok", "c3"),
    told("done with it"),
]
INDEX = Index(MESSAGES, cwd="/repo")


def states(kept: list[int], text: str = "", knew: int = 7, at: int = 8) -> dict[str, int]:
    mask = np.zeros(len(MESSAGES), dtype=bool)
    mask[kept] = True
    return INDEX.artifacts.states(at, mask, [text] if text else [], [knew] if text else [])


def test_a_whole_history_knows_every_file_as_it_stands() -> None:
    assert states(list(range(8))) == {"correct": 2, "stale": 0, "lost": 0}


def test_a_file_is_stale_where_only_what_is_older_than_its_change_is_kept() -> None:
    assert states([0, 1, 2]) == {"correct": 1, "stale": 1, "lost": 0}


def test_a_file_that_nothing_names_is_lost() -> None:
    assert states([2, 7]) == {"correct": 0, "stale": 0, "lost": 2}
    assert states([], "we look at api_limits.py") == {"correct": 0, "stale": 0, "lost": 2}


def test_another_spelling_of_the_path_names_the_file() -> None:
    assert states([], "changed ./src/api/limits.py:12 and users.py") == {"correct": 2, "stale": 0, "lost": 0}


def test_a_file_of_the_same_name_in_another_folder_is_another_file() -> None:
    assert states([], "changed web/limits.py") == {"correct": 0, "stale": 0, "lost": 2}


def test_a_summary_that_was_written_before_the_change_is_stale() -> None:
    assert states([], "we work on src/api/limits.py", knew=4) == {"correct": 0, "stale": 1, "lost": 1}
    assert states([], "we work on src/api/limits.py", knew=5) == {"correct": 1, "stale": 0, "lost": 1}


def test_what_happens_after_the_boundary_counts_for_nothing() -> None:
    assert states([0, 1], at=5) == {"correct": 2, "stale": 0, "lost": 0}
    assert states([5], at=5) == {"correct": 0, "stale": 0, "lost": 2}


@pytest.mark.parametrize(
    ("command", "paths"),
    [
        ("cat > src/new.py <<'X'\nimport a > b.py\nX", ("src/new.py",)),
        ("cat <<X > out/list.txt && echo ok\nnothing > here.txt\nX", ("out/list.txt",)),
        ("sed -i 's/a/b/' src/api.py", ("src/api.py",)),
        ("echo 1 >> log.txt; rm -f old.txt", ("log.txt", "old.txt")),
        ("git mv a/one.py b/two.py", ("a/one.py", "b/two.py")),
        ("sort x.csv | tee -a sorted.csv", ("sorted.csv",)),
    ],
)
def test_a_shell_command_changes_what_it_writes(command: str, paths: tuple[str, ...]) -> None:
    assert set(shell_changes(command)) == set(paths)


@pytest.mark.parametrize(
    "command",
    ["cat src/api.py", "grep -n 'a > b' x.py 2>/dev/null", "python run.py 2>&1", "sed -n 3,9p a.py", "a -> b"],
)
def test_a_shell_command_that_only_looks_changes_nothing(command: str) -> None:
    assert shell_changes(command) == ()
