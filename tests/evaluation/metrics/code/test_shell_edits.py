"""What a shell command edits, as far as its text shows."""

from __future__ import annotations

import pytest

from workbench.evaluation.metrics.shell_edits import NumberedLines, WrittenFile, shell_edits

PATCH = """--- a/src/export.py
+++ b/src/export.py
@@ -10,3 +10,3 @@ def export():
     rows = read(path)
-    total = add(rows)
+    total = add(rows, tax)
     return total"""


@pytest.mark.parametrize(
    ("command", "piece"),
    [
        ("sed -i 's/total = add(rows)/total = 0/' src/export.py", "total = add(rows)"),
        ("cd src && sed -i.bak -e 's|rows\\.total|rows|g' export.py", "rows.total"),
        ("sed -i '/import legacy_totals/d' src/export.py", "import legacy_totals"),
        ("perl -pi -e 's/add\\(rows\\)/add(rows, 1)/' src/export.py", "add(rows)"),
        ("sed -i '12s/add(rows)/add(rows, 1)/' src/export.py", "add(rows)"),
    ],
)
def test_a_pattern_that_is_replaced_in_place_is_a_piece_of_a_line(command: str, piece: str) -> None:
    assert shell_edits(command).pieces == [piece]


def test_a_command_that_changes_no_file_edits_nothing() -> None:
    for command in (
        "sed 's/add(rows)/0/' src/export.py",
        "sed -n '3,9p' src/export.py",
        "grep -i perl notes.md",
    ):
        edits = shell_edits(command)
        assert not (edits.pieces or edits.replaced or edits.numbered or edits.written), command


def test_lines_may_be_named_by_their_numbers() -> None:
    assert shell_edits("sed -i '10,12d' src/export.py").numbered == [
        NumberedLines("src/export.py", 10, 12)
    ]
    assert shell_edits("sed -i '7s/.*/pass/' a.py b.py").numbered == [
        NumberedLines("a.py", 7, 7),
        NumberedLines("b.py", 7, 7),
    ]


def test_lines_put_in_by_number_replace_none() -> None:
    assert shell_edits("sed -i '10i\\\nimport os\n' src/export.py").numbered == []


@pytest.mark.parametrize("command", ["git apply", "patch -p1", "apply_patch"])
def test_a_patch_on_standard_input_replaces_what_stands_in_its_hunks(command: str) -> None:
    edits = shell_edits(f"{command} <<'EOF'\n{PATCH}\nEOF")
    assert edits.replaced == ["    rows = read(path)\n    total = add(rows)\n    return total"]
    assert not edits.written


@pytest.mark.parametrize(
    "command",
    [
        "cat > src/export.py <<'EOF'\n{}\nEOF",
        "cat <<EOF >src/export.py\n{}\nEOF\n",
        "tee src/export.py <<X\n{}\nX",
    ],
)
def test_a_here_document_writes_a_file(command: str) -> None:
    text = "rows = read(path)\ntotal = add(rows)"
    assert shell_edits(command.format(text)).written == [WrittenFile("src/export.py", text)]


def test_a_here_document_that_is_put_behind_a_file_writes_it_anew() -> None:
    assert not shell_edits("cat >> src/export.py <<'EOF'\ntotal = add(rows)\nEOF").written


def test_a_script_that_replaces_text_says_what_it_looks_for_in_its_strings() -> None:
    script = (
        "old = '''rows = read(path)\ntotal = add(rows)'''\ntext = text.replace(old,"
        " new).replace(\"a + b\", 'b')"
    )
    edits = shell_edits(f"python3 - <<'PY'\n{script}\nPY")
    assert edits.replaced == ["rows = read(path)\ntotal = add(rows)"]
    assert edits.pieces == ["a + b", "b"]
    assert shell_edits("python -c \"s = s.replace('total = add(rows)', '')\"").pieces


def test_a_command_with_an_open_quotation_mark_is_not_read() -> None:
    assert not shell_edits("sed -i 's/total = add/pass/ export.py").pieces
