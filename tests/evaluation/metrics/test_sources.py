"""What would bring back a needed thing that the context lost: a call that only looks, a call that
does something, the agent, or the user.
"""

from __future__ import annotations

import pytest

from builders import called, result, rules, said, told
from workbench import AssistantMessage, Session, prepared
from workbench.engine.transcript.message import Message
from workbench.evaluation.metrics.exam.history import ExamHistory


def ways_back(*history: Message, use: str) -> dict[str, str]:
    """By name of what the next answer uses, what would bring it back."""
    ready = prepared(Session.of([*history, told(use, "use")]))
    return {need.entity.text: need.way_back for need in ready.index.demand(len(history)).needs}


def way_back_from(call: AssistantMessage) -> str:
    """What would bring back a number that this call's result tells."""
    history: list[Message] = [said("go"), call, result("there are 54137 seeds")]
    return ways_back(*history, use="so 54137 it is")["54137"]


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
    assert way_back_from(called("bash", command=command)) == "call"


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
    assert way_back_from(called("bash", command=command)) == "run"


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
        assert way_back_from(call) == "call", call
    for call in (
        called("Edit", path="a"),
        called("Bash", command="make"),
        called("Bash"),
        called("str_replace_based_edit_tool", command="create", path="a"),
        called("deploy"),
    ):
        assert way_back_from(call) == "run", call


def test_each_message_has_its_own_way_back() -> None:
    ways = ways_back(
        rules("be good, 54131 times"),
        said("hello, 54132 times"),
        called("read", "c1", path="a"),
        result("text of 54133 lines", "c1"),
        called("read", "c2", path="b"),
        result("no file with 54134 lines", "c2", is_error=True),
        called("make", "c3"),
        result("done 54135 times", "c3"),
        result("nobody asked 54136 times", "c9"),
        told("fine, 54137 times"),
        use="so 54131, 54132, 54133, 54134, 54135, 54136 and 54137",
    )
    assert ways == {
        "54131": "call",
        "54132": "user",
        "54133": "call",
        "54134": "run",
        "54135": "run",
        "54136": "run",
        "54137": "agent",
    }


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
