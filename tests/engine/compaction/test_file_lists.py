from collections.abc import Sequence

from builders import called, conversation, result, said, summarize, told
from workbench import Budget, Context, Scripted, Strategy, Summary, compact
from workbench.engine.transcript.files import FileOps
from workbench.engine.transcript.message import Message


def summary_of(*messages: Message, target: int = 100_000) -> Summary:
    """The summary of these messages, behind which a conversation goes on."""
    context = Context.of([*messages, said("and now", "now"), told("on it", "on")])
    budget = Budget(target=target, window=200_000, keep_recent=1, force=True)
    strategy = Strategy("s", (summarize(),))
    compaction = compact(context, strategy, budget, Scripted(["short"] * 2))
    (summary,) = [m for m in compaction.after.messages if isinstance(m, Summary)]
    return summary


def files(summary: Summary) -> tuple[Sequence[str], Sequence[str]]:
    """The files that were read, and those that were changed."""
    return summary.files.read, summary.files.modified


TALK = conversation(8, steps=0)


def test_a_file_that_was_read_and_then_changed_is_changed() -> None:
    summary = summary_of(
        *TALK,
        called("read", "1", path="a.py"),
        called("edit", "2", path="a.py"),
        called("read", "3", path="b.py"),
        told("done"),
    )
    assert files(summary) == (("b.py",), ("a.py",))


def test_lists_are_carried_on_from_an_earlier_summary() -> None:
    earlier = Summary(id="s", text="", files=FileOps(read=("a",), modified=("b",)))
    later = [called("read", "1", path="c"), called("edit", "2", path="a"), told("done")]
    assert files(summary_of(earlier, *TALK, *later)) == (("c",), ("b", "a"))


def test_a_call_that_failed_did_nothing() -> None:
    failed: list[Message] = [
        called("edit", "1", path="a.py"),
        result("no such file", "1", is_error=True),
    ]
    assert files(summary_of(*TALK, *failed)) == ((), ())


def test_of_several_paths_in_a_call_the_first_by_the_order_of_the_keys_counts() -> None:
    reads = called("read", "1", file="b.py", path="a.py")
    assert files(summary_of(*TALK, reads, told("done"))) == (("a.py",), ())
    writes = called("write", "1", file="b.py", n=1, path="a.py", filename="")
    assert files(summary_of(*TALK, writes, told("done"))) == ((), ("a.py", "b.py"))
    no_path = called("read", "1", path=3)
    assert files(summary_of(*TALK, no_path, told("done"))) == ((), ())


def test_nothing_touched_has_no_footer() -> None:
    assert summary_of(*TALK).tail == ""


def test_the_footer_lists_changed_files_before_read_ones() -> None:
    earlier = Summary(id="s", text="", files=FileOps(read=("r.py",), modified=("m.py", "n.py")))
    assert (
        summary_of(earlier, *TALK).tail
        == "\n\n<modified-files>\nm.py\nn.py\n</modified-files>\n\n<read-files>\nr.py\n</read-files>"
    )


def test_a_footer_without_room_keeps_the_newest_and_counts_the_others() -> None:
    modified = (*(f"old_{n}.py" for n in range(40)), "new.py")
    touched = FileOps(read=(f"{'r' * 60}.py",), modified=modified)
    earlier = Summary(id="s", text="", files=touched)
    tail = summary_of(earlier, *TALK, target=200).tail
    assert "old_0.py" not in tail
    assert "old_39.py\nnew.py\n(and " in tail
    assert "<read-files>\n(and 1 more)\n</read-files>" in tail
    listed = tail.count(".py")
    assert f"(and {len(modified) - listed} more)" in tail
