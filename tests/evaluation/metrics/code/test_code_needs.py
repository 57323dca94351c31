"""Which lines of code an agent needed of the history before a boundary."""

from __future__ import annotations

import pytest

from builders import called, result, said, told
from workbench import AssistantMessage
from workbench.engine.transcript.message import Message
from workbench.evaluation.metrics.code.needs import CodeNeeds

LINES = [
    f"total_{name} = convert({name}_amount, rate_of({name}_code))"
    for name in ("rent", "fuel", "food", "toll")
]
FILE = "\n".join(f"    {line}" for line in LINES)
NUMBERED = "\n".join(f"{number:6}\t    {line}" for number, line in enumerate(LINES, start=40))
PATH = "src/export.py"
BOUNDARY = 3


def history(shown: str = FILE) -> list[Message]:
    return [
        said("please mend the export"),
        called("read", "look", path=PATH),
        result(shown, "look"),
    ]


def needed(answer: AssistantMessage, shown: str = FILE) -> list[str]:
    return list(CodeNeeds([*history(shown), answer]).at(BOUNDARY))


def test_the_old_text_of_an_edit_is_needed_and_the_new_text_is_not() -> None:
    new = "total_rent = convert_all(rent_amounts, rent_codes)"
    for keys in (
        ("old_string", "new_string"),
        ("old_str", "new_str"),
        ("oldText", "newText"),
        ("oldString", "newString"),
    ):
        arguments = dict(zip(keys, (f"    {LINES[0]}\n    {LINES[1]}", f"    {new}"), strict=True))
        assert needed(called("edit", path=PATH, **arguments)) == LINES[:2], keys


def test_a_patch_needs_what_it_removes_and_the_lines_around() -> None:
    patch = (
        f"*** Begin Patch\n*** Update File: {PATH}\n@@\n     {LINES[0]}\n-    {LINES[1]}\n+   "
        " pass\n*** End Patch"
    )
    assert needed(called("apply_patch", input=patch)) == LINES[:2]
    assert needed(called("exec_command", cmd=f"apply_patch <<'EOF'\n{patch}\nEOF")) == LINES[:2]
    assert (
        needed(called("shell", command=["bash", "-lc", f"apply_patch <<'EOF'\n{patch}\nEOF"]))
        == LINES[:2]
    )


def test_an_edit_through_a_shell_needs_the_line_that_its_pattern_is_of() -> None:
    command = "sed -i 's/convert(fuel_amount, rate_of(.*))/0/' src/export.py"
    assert needed(called("bash", command=command)) == [LINES[1]]
    assert needed(told(f"I mend that.\n\n```bash\n{command}\n```")) == [LINES[1]]


def test_an_edit_by_number_needs_the_lines_that_a_result_showed_with_these_numbers() -> None:
    assert needed(called("bash", command="sed -i '41,42d' src/export.py"), NUMBERED) == LINES[1:3]
    assert needed(called("bash", command="sed -i '41,42d' src/other.py"), NUMBERED) == []


def test_a_script_needs_the_text_that_it_looks_for() -> None:
    script = f"s = open('{PATH}').read()\ns = s.replace('''{FILE}''', 'pass')"
    assert needed(called("bash", command=f"python3 - <<'PY'\n{script}\nPY")) == LINES


def test_a_known_file_that_is_written_as_a_whole_needs_the_lines_that_it_keeps() -> None:
    text = f"import rates\n\n{LINES[0]}\n{LINES[2]}\n"
    kept = [LINES[0], LINES[2]]
    assert needed(called("write", file_path=PATH, content=text)) == kept
    assert needed(called("bash", command=f"cat > {PATH} <<'EOF'\n{text}\nEOF")) == kept


def test_a_file_that_is_written_anew_needs_nothing() -> None:
    text = f"import rates\n\n{LINES[0]}\n"
    assert needed(called("write", file_path="tests/test_export.py", content=text)) == []
    assert needed(called("bash", command=f"cat > tests/test_export.py <<'EOF'\n{text}\nEOF")) == []


def test_lines_that_an_answer_quotes_are_needed() -> None:
    assert needed(told(f"The culprit:\n\n```python\n{LINES[3]}\n```\nand `{LINES[0]}`.")) == [
        LINES[3],
        LINES[0],
    ]
    assert needed(told(f"{LINES[3]} is the culprit")) == [], "words are no code"


def test_what_stands_behind_the_boundary_alone_is_not_needed() -> None:
    later = [
        *history("nothing of note here"),
        *history()[1:],
        called("edit", path=PATH, old_string=FILE),
    ]
    needs = CodeNeeds(later)
    assert needs.at(BOUNDARY) == ()
    assert list(needs.at(len(later) - 1)) == LINES


@pytest.mark.parametrize("line", ["}", "return None", "else:", "import os", "x" * 500])
def test_a_line_that_could_be_anywhere_is_not_needed(line: str) -> None:
    assert needed(called("edit", path=PATH, old_string=line), line) == []


def test_marks_of_searches_and_viewers_are_no_part_of_a_line() -> None:
    for mark in ("src/export.py:12:", "12:", "   12\t", "12→", "+ ", "- "):
        text = f"{mark}{LINES[0]}"
        assert needed(called("edit", path=PATH, old_string=LINES[0]), text) == [LINES[0]], mark
