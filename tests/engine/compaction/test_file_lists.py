from builders import called, result, said
from workbench import Summary
from workbench.engine.compaction.file_lists import file_ops, footer
from workbench.engine.transcript.files import FileOps


def test_a_file_that_was_read_and_then_changed_is_changed() -> None:
    messages = [
        called("read", "1", path="a.py"),
        called("edit", "2", path="a.py"),
        called("read", "3", path="b.py"),
    ]
    assert file_ops(messages) == FileOps(read=("b.py",), modified=("a.py",))


def test_lists_are_carried_on_from_an_earlier_summary() -> None:
    earlier = Summary(id="s", text="", files=FileOps(read=("a",), modified=("b",)))
    later = [called("read", "1", path="c"), called("edit", "2", path="a")]
    assert file_ops([earlier, *later]) == FileOps(read=("c",), modified=("b", "a"))


def test_a_call_that_failed_did_nothing() -> None:
    assert not file_ops(
        [called("edit", "1", path="a.py"), result("no such file", "1", is_error=True)]
    )


def test_nothing_touched_has_no_footer() -> None:
    assert footer(file_ops([said("hi")])) == ""


def test_the_footer_lists_changed_files_before_read_ones() -> None:
    text = footer(FileOps(read=("r.py",), modified=("m.py", "n.py")))
    assert (
        text
        == "\n\n<modified-files>\nm.py\nn.py\n</modified-files>\n\n<read-files>\nr.py\n</read-files>"
    )


def test_a_footer_without_room_keeps_the_newest_and_counts_the_others() -> None:
    text = footer(FileOps(read=("r.py",), modified=("old.py", "mid.py", "new.py")), chars=14)
    assert "old.py" not in text
    assert "mid.py\nnew.py\n(and 1 more)" in text
    assert "<read-files>\n(and 1 more)\n</read-files>" in text
