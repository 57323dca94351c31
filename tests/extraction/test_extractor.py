from __future__ import annotations

import pytest

from builders import called, result, said, told
from workbench.extraction.extractor import Extractor, Layout


def laid_out(extractor: Extractor, layout: Layout) -> list[tuple[str, bool]]:
    """Each span with whether it is thinking."""
    thoughts = [bool(thought) for thought, size in zip(layout.thoughts, layout.sizes, strict=True) for _ in range(size)]
    return [(extractor.spans[span], thought) for span, thought in zip(layout.spans, thoughts, strict=True)]


def test_values_of_arguments_are_extracted_and_names_are_not() -> None:
    extractor = Extractor()
    extractor.mine_all(
        [called("apply_patch_now", target_file_name="src/a.py", edits=[{"new_string_value": "keepAlive"}])]
    )
    assert set(extractor.entities) == {("path", "src/a.py"), ("identifier", "keepAlive")}


def test_thoughts_are_kept_apart() -> None:
    extractor = Extractor()
    found = extractor.mine_all([told("I use fooBar", thought="maybe bazQux")])
    assert sorted(laid_out(extractor, found)) == [("I use fooBar", False), ("maybe bazQux", True)]


def test_a_line_is_numbered_once_however_often_it_is_said() -> None:
    extractor = Extractor()
    found = extractor.mine_all([result("one fooBar\ntwo"), said("  two\none fooBar")])
    assert list(found.spans) == [0, 1, 1, 0]
    assert len(extractor.spans) == 2


def test_features_of_a_span_are_its_words_and_entities_each_once() -> None:
    extractor = Extractor()
    extractor.read("set retry_limit and retry_limit again\n\n第一 fooBar")
    words, entities = list(extractor.words), list(extractor.entities)
    read = [
        sorted(words[n] if n >= 0 else "/".join(entities[~n]) for n in extractor.features_of(span)) for span in (0, 1)
    ]
    assert read == [["again", "identifier/retry_limit", "retry_limit"], ["foobar", "identifier/fooBar", "第一"]]


def test_messages_are_counted_as_they_are_extracted() -> None:
    extractor = Extractor()
    extractor.mine_all([said("a"), told("b"), said("a")])
    assert extractor.messages_read == 3


def test_a_message_is_laid_out_as_it_was_extracted_and_not_read_again() -> None:
    extractor = Extractor()
    known = [
        said("one\ntwo", "u1"),
        told("I use fooBar", thought="maybe bazQux\nor not", id="a1"),
        called("run", x="y"),
    ]
    whole = extractor.mine_all(known)
    found = Layout()
    for message in (known[1], said("two\none", "u2"), known[2], known[0]):
        extractor.put(found, message)
    assert extractor.messages_read == len(known) + 1
    first, thinking = laid_out(extractor, whole)[:2], laid_out(extractor, whole)[2:5]
    assert laid_out(extractor, found) == [*thinking, *reversed(first), *laid_out(extractor, whole)[5:], *first]
    assert list(found.sizes) == [*list(whole.sizes)[1:3], 2, *list(whole.sizes)[3:], *list(whole.sizes)[:1]]


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
    "base64 in lines": "iVBORw0KGgoAAAANSUhEUgAAiVBORw0KGgoAAAANSUhEUgAAiVBORw0KGgoAAAANSUhEUgAA+/9k\n" * 12_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_no_text_makes_the_vocabulary_large(name: str) -> None:
    extractor = Extractor()
    extractor.read(HOSTILE[name])
    assert len(extractor.entities) < 3_000
    assert len(extractor.words) < 12_000


def test_a_message_of_ten_megabytes_is_extracted() -> None:
    extractor = Extractor()
    text = "\n".join(f"row {i % 5_000} holds fieldName{i % 700} of src/part_{i % 90}/file.py" for i in range(200_000))
    assert len(text) > 9_000_000
    assert len(extractor.read(text)) == 200_000
    assert len(extractor.entities) == 700 + 90 + 4_000  # names, files, numbers of four digits
