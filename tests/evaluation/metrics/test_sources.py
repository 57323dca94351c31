from __future__ import annotations

import pytest

from builders import called, result, rules, said, told
from workbench.engine.transcript.message import Message
from workbench.evaluation.metrics.exam.history import ExamHistory
from workbench.evaluation.metrics.sources import only_looks, repeatable, sources


@pytest.mark.parametrize(
    "command",
    [
        "ls -la src",
        "cat a.py | head -20",
        "cd web && grep -rn 'a > b; rm x' src 2>/dev/null | sort | uniq -c",
        "find . -name '*.py' 2>&1 | wc -l",
        "git log --oneline -5; git show HEAD",
        "sed -n 1,20p a.py",
        "# which seeds are there\nls seeds",
        "cd web && python3 -c \"import json; print(json.load(open('seeds.json')))\"",
        "uv run python - <<'EOF'\nwith open('seeds.csv') as rows:\n    print(rows.read())\nEOF",
    ],
)
def test_a_command_that_only_reads_looks(command: str) -> None:
    assert only_looks(command)


@pytest.mark.parametrize(
    "command",
    [
        "",
        "rm -rf build",
        "pytest -q",
        "ls && make",
        "cat a > b",
        "echo x >> log",
        "sed -i s/a/b/ a.py",
        "find . -delete",
        "ls | tee out",
        "git commit -m 'look'",
        "python3 -c \"open('seeds.json', 'w').truncate()\"",
        "python3 -c \"import json, subprocess; subprocess.run(['make'])\"",
        'python3 -c "import seeds; seeds.sow()"',
    ],
)
def test_a_command_that_does_something_does_not(command: str) -> None:
    assert not only_looks(command)


def test_tools_are_judged_by_name_and_command() -> None:
    for call in (
        called("Read", path="a"),
        called("mcp__files__read_file", path="a"),
        called("mcp__notes__notes_search", queries=["seeds"]),
        called("read_file_v2", path="a"),
        called("run_terminal_command_v2", command="ls"),
        called("Bash", command="ls"),
        called("shell", command=["bash", "ls"][1:]),
        called("str_replace_based_edit_tool", command="view", path="a"),
    ):
        (block,) = call.calls
        assert repeatable(block), block
    for call in (
        called("Edit", path="a"),
        called("Bash", command="make"),
        called("Bash"),
        called("str_replace_based_edit_tool", command="create", path="a"),
        called("deploy"),
    ):
        (block,) = call.calls
        assert not repeatable(block), block


def test_each_message_is_a_source_of_its_kind() -> None:
    messages: list[Message] = [
        rules("be good"),
        said("hello"),
        called("read", "c1", path="a"),
        result("text", "c1"),
        called("read", "c2", path="b"),
        result("no such file", "c2", is_error=True),
        called("make", "c3"),
        result("done", "c3"),
        result("nobody asked", "c9"),
        told("fine"),
    ]
    assert sources(messages) == (
        "lasting",
        "passing",
        "mention",
        "repeatable",
        "mention",
        "passing",
        "mention",
        "passing",
        "passing",
        "mention",
    )


def test_only_a_result_stands_where_its_content_was_first_called_for() -> None:
    messages: list[Message] = [
        said("look at it"),
        called("Read", "", path="a.py"),
        result("one", ""),
        called("Read", "c2", path="a.py"),
        result("two", "c2"),
        told("both are one"),
    ]
    assert ExamHistory(messages, ()).fetched.tolist() == [0, 1, 1, 3, 1, 5]
