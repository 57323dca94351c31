"""Session files that grow, end in the middle of a line, are cut, replaced, or appear later."""

import re
from pathlib import Path

import pytest
from evaluation.watching.claude_lines import lines

from workbench import FormatError, load
from workbench.evaluation.watching.follow import Followed


def befell(followed: Followed) -> str | None:
    """The name of what befell the file; None where nothing did."""
    if followed.happening is None:
        return None
    return followed.happening.name


def test_each_line_is_read_once_and_the_session_is_that_of_the_whole_file(tmp_path: Path) -> None:
    file, followed = tmp_path / "s.jsonl", Followed(tmp_path / "s.jsonl")
    assert not followed.update() and followed.session() is None  # it appears later
    for number, line in enumerate(lines(), 1):
        with file.open("a") as stream:
            stream.write(line[:30])
            stream.flush()
            assert not followed.update()  # half a line says nothing
            stream.write(line[30:] + "\n")
        assert followed.update() and followed.lines == number
        session = followed.session()
        assert session is not None and session.log == load(file)[0].log
    assert not followed.update() and followed.restarts == 0
    assert session is not None and len(session.recorded) == 1


@pytest.mark.parametrize("how", ["cut", "replaced", "written over"])
def test_a_file_that_is_not_the_old_one_is_read_anew(tmp_path: Path, how: str) -> None:
    file, followed = tmp_path / "s.jsonl", Followed(tmp_path / "s.jsonl")
    old, new = lines(steps=4), lines(steps=3 if how != "written over" else 9)
    file.write_text("\n".join(old))
    assert followed.update()  # its last line has no end, and is whole
    if how == "replaced":
        other = tmp_path / "other"
        other.write_text("\n".join(new * 1) + "\n")
        other.replace(file)
    else:
        file.write_text("\n".join(new).replace("Fix", "Mend") + "\n")
    assert followed.update() and followed.restarts == 1
    session = followed.session()
    assert session is not None and session.log == load(file)[0].log


def test_of_a_folder_the_newest_session_is_followed(tmp_path: Path) -> None:
    (tmp_path / "old.jsonl").write_text("\n".join(lines(steps=2)))
    followed = Followed(tmp_path)
    assert followed.update() and followed.path == tmp_path / "old.jsonl"
    (tmp_path / "agent-1.jsonl").write_text("\n".join(lines(steps=2)))
    new = tmp_path / "deeper" / "new.jsonl"
    new.parent.mkdir()
    new.write_text("\n".join(lines(steps=5)))
    assert followed.update() and followed.path == new


def test_a_file_of_another_format_is_refused_by_name(tmp_path: Path) -> None:
    file = tmp_path / "chat.jsonl"
    file.write_text(
        '{"role": "user", "content": "hello"}\n{"role": "assistant", "content": "yes"}\n'
    )
    with pytest.raises(FormatError, match="can be followed are claude_code, codex, pi"):
        Followed(file).update()


def test_a_damaged_line_is_left_out_and_what_follows_is_read(tmp_path: Path) -> None:
    file, whole = tmp_path / "s.jsonl", lines()
    file.write_text("\n".join([*whole[:5], "{broken", *whole[5:]]) + "\n")
    followed = Followed(file)
    followed.update()
    session = followed.session()
    assert session is not None and len(session.requests) == 15


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_a_file_that_is_written_in_pieces_of_bytes_is_read_as_if_whole(
    tmp_path: Path, line_end: str
) -> None:
    file, followed = tmp_path / "s.jsonl", Followed(tmp_path / "s.jsonl")
    text = line_end.join(lines(steps=4)).replace("Fix", "Grüße 🌦 Fix") + line_end
    data = text.encode()
    for start in range(0, len(data), 7):  # in the middle of characters too
        with file.open("ab") as stream:
            stream.write(data[start : start + 7])
        followed.update()
    session = followed.session()
    (read,) = load(file)
    assert session is not None and session.log == read.log
    assert not session.origin.skipped and "Grüße 🌦" in str(session.messages)


@pytest.mark.parametrize("kept", [14, 45, -1])
def test_a_line_that_was_never_finished_takes_no_other_with_it(tmp_path: Path, kept: int) -> None:
    file, followed = tmp_path / "s.jsonl", Followed(tmp_path / "s.jsonl")
    written = lines(steps=4)
    torn = written[3][:kept]
    file.write_text("\n".join([*written[:3], torn]), encoding="utf-8")
    followed.update()
    with file.open("a", encoding="utf-8") as stream:  # another process goes on behind it
        stream.write("\n".join(written[4:]) + "\n")
    followed.update()
    expected = tmp_path / "without.jsonl"
    expected.write_text("\n".join([*written[:3], "{torn", *written[4:]]), encoding="utf-8")
    session = followed.session()
    (read,) = load(file, lenient=True)
    assert session is not None
    assert session.log == read.log == load(expected, lenient=True)[0].log
    assert any("line 4" in note for note in read.origin.skipped)


def test_a_line_that_breaks_off_where_a_value_is_due_takes_no_other_with_it(
    tmp_path: Path,
) -> None:
    written = lines(steps=4)
    expected = tmp_path / "without.jsonl"
    expected.write_text("\n".join([*written[:3], "{torn", *written[4:]]), encoding="utf-8")
    expected_log = load(expected, lenient=True)[0].log
    tears = [match.end() for match in re.finditer(r'": ?\[?', written[3])]
    assert len(tears) > 8
    for tear in tears:
        file = tmp_path / f"torn-{tear}.jsonl"
        glued = written[3][:tear] + written[4]
        file.write_text("\n".join([*written[:3], glued, *written[5:]]) + "\n", encoding="utf-8")
        followed = Followed(file)
        followed.update()
        session = followed.session()
        assert session is not None
        assert session.log == load(file, lenient=True)[0].log == expected_log, glued


@pytest.mark.parametrize(
    "torn",
    [
        '{"type": "user", "content": [{"type": "text", "text": "these words"}',
        '{"uuid": "u9", "type": "user", "message": {"uuid": "u9", "role": "user"}, "cwd',
    ],
)
def test_a_value_inside_a_line_that_breaks_off_is_no_record(tmp_path: Path, torn: str) -> None:
    file = tmp_path / "s.jsonl"
    file.write_text("\n".join([*lines(steps=4), torn]), encoding="utf-8")
    (read,) = load(file, lenient=True)
    file.write_text("\n".join(lines(steps=4)), encoding="utf-8")
    assert read.log == load(file)[0].log


def test_two_records_without_a_line_end_between_them_are_two(tmp_path: Path) -> None:
    file, followed = tmp_path / "s.jsonl", Followed(tmp_path / "s.jsonl")
    written = lines(steps=4)
    file.write_text("\n".join([*written[:3], written[3] + written[4], *written[5:]]) + "\n")
    followed.update()
    session = followed.session()
    assert session is not None and session.log == load(file)[0].log
    file.write_text("\n".join(written) + "\n")
    assert session.log == load(file)[0].log


def test_what_befalls_a_file_is_told_once_and_reading_goes_on_when_it_is_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, aside = tmp_path / "s.jsonl", tmp_path / "aside"
    followed = Followed(file)
    whole = "\n".join(lines(steps=4)) + "\n"

    def befallen() -> tuple[str | None, bool]:
        is_longer = followed.update()
        return befell(followed), is_longer

    assert befallen() == (None, False)  # it is not written yet
    file.write_text("")
    assert befallen() == (None, False)
    file.write_text(whole)
    assert befallen() == (None, True)
    file.write_text("")
    assert befallen() == ("EMPTIED", False)
    assert befallen() == (None, False)
    file.unlink()
    assert befallen() == ("REMOVED", False)
    assert befallen() == (None, False)
    file.write_text(whole)
    assert befallen() == ("RETURNED", True)
    assert befallen() == (None, False)
    file.rename(aside)  # rotated, and put back as it was
    assert befallen() == ("REMOVED", False)
    aside.rename(file)
    assert befallen() == ("RETURNED", False)
    file.write_text("\n".join(lines(steps=2)) + "\n")
    assert befallen() == ("SHORTENED", True)
    file.write_text(whole.replace("Fix", "Mend"))
    assert befallen() == ("REWRITTEN", True)
    aside.write_text(whole)
    aside.replace(file)
    assert befallen() == ("REPLACED", True)

    def refused(path: Path, mode: str) -> None:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as context:
        context.setattr(Path, "open", refused)
        for happening in ("UNREADABLE", None):
            with pytest.raises(FormatError, match="Permission denied"):
                followed.update()
            assert befell(followed) == happening
    assert befallen() == ("RETURNED", False)
    session = followed.session()
    assert session is not None and session.log == load(file)[0].log


def test_what_no_agent_writes_is_told_once_and_is_no_return(tmp_path: Path) -> None:
    file = tmp_path / "s.jsonl"
    followed = Followed(file)
    file.write_text("\n".join(lines(steps=2)) + "\n")
    followed.update()
    file.write_text("no session\n")
    with pytest.raises(FormatError, match="not recognised"):
        followed.update()
    assert befell(followed) == "UNREADABLE"
    assert not followed.update() and befell(followed) is None
    file.write_text("\n".join(lines(steps=4)) + "\n")
    assert followed.update() and befell(followed) == "RETURNED"


def test_a_newer_session_of_a_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "old.jsonl").write_text("\n".join(lines(steps=2)))
    followed = Followed(tmp_path)
    assert followed.update() and befell(followed) is None
    (tmp_path / "new.jsonl").write_text("\n".join(lines(steps=4)))
    assert followed.update() and befell(followed) == "NEWER"
