"""The cells below a title are found in every way that programs write tables."""

import pytest

from workbench.engine.transcript.tables import columns


def cells(text: str, title: str) -> list[str]:
    return [
        text[cell.start : cell.stop]
        for column in columns(text, title.__eq__)
        for cell in column.cells
    ]


@pytest.mark.parametrize(
    "text",
    [
        "id,word\n1,red\n2,blue\n",
        'id,word\n"a, b",red\n2,"blue"\n',
        "word;id\nred;1\nblue;2\n",
        "id\tword\n1\tred\n2\tblue\n",
        "| id | word |\n|----|------|\n| 1 | red |\n| 2 | blue |\n",
        " id | word\n----+------\n  1 | red\n  2 | blue\n",
        "id  word  more\n1   red   x\n2   blue\n",
        "INSERT INTO things (id, word) VALUES (1, 'red'), (2, 'blue');",
        "insert into things (id, word) values (1, N'red'), (2, N'blue')",
    ],
)
def test_a_column_is_read(text: str) -> None:
    assert cells(text, "word") == ["red", "blue"]


def test_an_empty_cell_moves_no_other() -> None:
    assert cells("id,word,more\n,red,\n2,,x\n3,blue,\n", "word") == ["red", "blue"]


def test_a_table_ends_where_a_line_has_other_cells() -> None:
    assert cells("id,word\n1,red\nAnd so, it ends, here\n2,blue\n", "word") == ["red"]


def test_a_sentence_with_a_comma_is_no_table() -> None:
    assert cells("Well, word\nand no more\n", "word") == []


@pytest.mark.parametrize(
    ("text", "certain"), [("word    red\nother   blue", False), ("word,red\nother,blue", True)]
)
def test_two_words_in_a_line_may_be_a_name_and_its_value(text: str, certain: bool) -> None:
    assert [column.certain for column in columns(text, "word".__eq__)] == [certain]


def test_a_query_names_the_columns_of_the_rows_below_it() -> None:
    assert cells("SELECT id, t.word FROM things LIMIT 2;\n1|red\n2|blue\n", "word") == [
        "red",
        "blue",
    ]
