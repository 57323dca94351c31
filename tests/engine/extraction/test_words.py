from __future__ import annotations

from workbench.engine.extraction.words import spans, words


def test_words_are_lower_case_without_stop_words_and_short_ones() -> None:
    assert words("The retry_limit of Foo is 30 in v2.5") == ["retry_limit", "foo", "30", "2.5"]


def test_each_word_counts_once() -> None:
    assert words("lock Lock LOCK") == ["lock"]


def test_pairs_of_characters_stand_for_words_where_no_blanks_are_written() -> None:
    assert words("重试限制") == ["重试", "试限", "限制"]


def test_words_of_other_alphabets_are_whole() -> None:
    assert words("größere Änderung") == ["größere", "änderung"]


def test_a_span_is_a_line_without_margins() -> None:
    assert list(spans("  one\n\n\t two \r\n")) == ["one", "two"]


def test_a_long_line_is_cut_every_400_characters() -> None:
    assert [len(span) for span in spans("ab " * 300)] == [400, 400, 99]


def test_line_numbers_of_a_file_viewer_are_left_out() -> None:
    assert list(spans("    12→def f():\n13\treturn 1")) == ["def f():", "return 1"]


def test_colour_codes_are_left_out() -> None:
    assert list(spans("\x1b[31mFAIL\x1b[0m test")) == ["FAIL test"]


def test_encoded_data_is_left_out() -> None:
    blob = "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZnaGlqa2xtbm9wcXJzdHV2" * 4
    assert list(spans(f"before {blob} after")) == ["before   after"]
    assert list(spans(blob[:64] + "0a")) == []


def test_a_long_path_is_not_taken_for_encoded_data() -> None:
    path = "packages/application/source/components/interactive/Renderer2.tsx"
    assert list(spans(path)) == [path]
