from __future__ import annotations

import pytest

from builders import called, result, said, told
from workbench.engine.extraction.extractor import Extractor
from workbench.engine.transcript.message import Message


def test_values_of_arguments_are_extracted_and_names_are_not() -> None:
    extractor = Extractor()
    extractor.read_messages(
        [
            called(
                "apply_patch_now",
                target_file_name="src/a.py",
                edits=[{"new_string_value": "keepAlive"}],
            )
        ]
    )
    assert set(extractor.entities) == {("path", "src/a.py"), ("identifier", "keepAlive")}


def test_thoughts_are_kept_apart() -> None:
    extractor = Extractor()
    (passages,) = extractor.read_messages([told("I use fooBar", thought="maybe bazQux")])
    spans = [(extractor.spans[span], part.thought) for part in passages for span in part.spans]
    assert sorted(spans) == [("I use fooBar", False), ("maybe bazQux", True)]


def test_a_line_is_numbered_once_however_often_it_is_said() -> None:
    extractor = Extractor()
    found = extractor.read_messages([result("one fooBar\ntwo"), said("  two\none fooBar")])
    assert [passage.spans for passages in found for passage in passages] == [[0, 1], [1, 0]]
    assert extractor.spans == ["one fooBar", "two"]


def test_a_list_item_that_quotes_a_line_of_the_session_is_that_line() -> None:
    extractor = Extractor()
    assert extractor.read("first\n- marked\nsecond") == [0, 1, 2]
    own = len(extractor.spans)
    assert extractor.read("- second\n- marked\n* first\n- new\n- new", own) == [2, 1, 0, own, own]


def test_features_of_a_span_are_its_words_and_entities_each_once() -> None:
    extractor = Extractor()
    extractor.read("set retry_limit and retry_limit again\n\n第一 fooBar")
    words, entities = list(extractor.words), list(extractor.entities)
    read = [
        sorted(words[n] if n >= 0 else "/".join(entities[~n]) for n in extractor.features_of(span))
        for span in (0, 1)
    ]
    assert read == [
        ["again", "identifier/retry_limit", "retry_limit"],
        ["foobar", "identifier/fooBar", "第一"],
    ]


def test_a_message_that_was_read_is_not_read_again() -> None:
    extractor = Extractor()
    known: list[Message] = [
        said("one\ntwo", "u1"),
        told("I use fooBar", thought="maybe bazQux", id="a1"),
    ]
    first = extractor.read_messages(known)
    assert [extractor.passages(message) for message in known] == first
    assert extractor.messages_read == 2
    assert extractor.passages(said("two\none", "u2")) == [([1, 0], False)]
    assert extractor.messages_read == 3


HOSTILE = {
    "nul and surrogates": "a\x00b fooBar \ud800 src/a\udfffb.py" * 50,
    "emoji": "👩‍👩‍👧 fooBar 🎉🎉 done " * 2_000,
    "no blanks": "a" * 1_000_000,
    "no blanks, mixed": "aB3_/." * 150_000,
    "one long line": "value fooBar 1234, " * 60_000,
    "slashes": "/" * 500_000,
    "dashes and dots": "-." * 300_000,
    "digits": "1" * 300_000,
    "commas": "1,234" * 100_000,
    "quotes": '"a b ' * 150_000,
    "open quotes": '"aaaaaaaaaa ' * 80_000,
    "urls": "http://" * 100_000,
    "errors": "error: " * 100_000,
    "commands": "git git git go test " * 40_000,
    "camel": "aB" * 400_000,
    "snake": "_a" * 400_000,
    "cjk": "重试限制是三十秒" * 60_000,
    "drives": "C:\\" * 200_000,
    "blanks": " " * 1_000_000 + "x",
    "lines": "x\n" * 400_000,
    "base64": "iVBORw0KGgoAAAANSUhEUgAA+/" * 40_000,
    "base64 in lines": (
        "iVBORw0KGgoAAAANSUhEUgAAiVBORw0KGgoAAAANSUhEUgAAiVBORw0KGgoAAAANSUhEUgAA+/9k\n" * 12_000
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_no_text_makes_the_vocabulary_large(name: str) -> None:
    extractor = Extractor()
    extractor.read(HOSTILE[name])
    assert len(extractor.entities) < 3_000
    assert len(extractor.words) < 12_000


def test_a_message_of_ten_megabytes_is_extracted() -> None:
    extractor = Extractor()
    text = "\n".join(
        f"row {i % 5_000} holds fieldName{i % 700} of src/part_{i % 90}/file.py"
        for i in range(200_000)
    )
    assert len(text) > 9_000_000
    assert len(extractor.read(text)) == 200_000
    assert len(extractor.entities) == 700 + 90 + 4_000  # names, files, numbers of four digits
