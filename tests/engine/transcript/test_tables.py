"""The cells below a title are found in every way that programs write tables."""

import re

import pytest

from workbench.engine.transcript.redaction import Redactor


def masked_cells(text: str) -> list[str]:
    """Which of the cells `red` and `blue` a redaction masks where `word` is a title that says
    that a person's name stands below it.
    """
    names = {"red": "Kowalczyk", "blue": "Lindqvist"}
    table = text.replace("word", "surname")
    for cell, name in names.items():
        table = table.replace(cell, name)
    shown = Redactor().mask(table)
    placeholders = re.findall(r"REDACTED-name-\d", shown)
    masked = [cell for cell, name in names.items() if name not in shown]
    assert len(placeholders) == len(masked)
    return masked


@pytest.mark.parametrize(
    "text",
    [
        "id,word\n1,red\n2,blue\n",
        'id,word\n"a, b",red\n2,"blue"\n',
        "word;id\nred;1\nblue;2\n",
        "id\tword\na\tred\nb\tblue\n",
        "id\tword\n1\tred\n2\tblue\n",
        "1\tid\tword\n2\t1\tred\n3\t2\tblue\n",
        "│ id │ word │\n├────┼──────┤\n│ 1  │ red  │\n│ 2  │ blue │\n",
        "+------+\n| word |\n+------+\n| red  |\n| blue |\n+------+\n",
        "-[ RECORD 1 ]\nid   | 1\nword | red\n-[ RECORD 2 ]\nid   | 2\nword | blue\n",
        "| id | word |\n|----|------|\n| 1 | red |\n| 2 | blue |\n",
        " id | word\n----+------\n  1 | red\n  2 | blue\n",
        "id  word  more\n1   red   x\n2   blue\n",
        "INSERT INTO things (id, word) VALUES (1, 'red'), (2, 'blue');",
        "insert into things (id, word) values (1, N'red'), (2, N'blue')",
    ],
)
def test_a_column_is_read(text: str) -> None:
    assert masked_cells(text) == ["red", "blue"]


def test_an_empty_cell_moves_no_other() -> None:
    table = Redactor().mask("id,surname,more\n,Kowalczyk,\n2,,Berg\n3,Lindqvist,\n")
    assert table == "id,surname,more\n,REDACTED-name-1,\n2,,Berg\n3,REDACTED-name-2,\n"


def test_a_table_ends_where_a_line_has_other_cells() -> None:
    assert masked_cells("id,word\n1,red\nAnd so, it ends, here\n2,blue\n") == ["red"]


def test_a_sentence_with_a_comma_is_no_table() -> None:
    text = "Well, surname\nand no Lindqvist\n"
    assert Redactor().mask(text) == text


@pytest.mark.parametrize(
    ("text", "masked"), [("word    red\nother   blue", ["red"]), ("word,red\nother,blue", [])]
)
def test_two_words_in_a_line_may_be_a_name_and_its_value(text: str, masked: list[str]) -> None:
    assert masked_cells(text) == masked


def test_a_query_names_the_columns_of_the_rows_below_it() -> None:
    query = "SELECT id, t.word FROM things LIMIT 2;\n1|red\n2|blue\n"
    assert masked_cells(query) == ["red", "blue"]


@pytest.mark.parametrize(
    "text",
    [
        "sqlite> SELECT id, t.password FROM users t;\n1|red\n2|blue\n",
        "$ psql -At -c 'SELECT id, t.password FROM users t'\n1|red\n2|blue\n",
        "mysql> SELECT id, t.password\n    -> FROM users t;\n+---+------+\n| 1 | red |\n| 2 | blue |\n",
        "db=> SELECT id, t.password\ndb-> FROM users t\ndb-> WHERE id < 3;\n1|red\n2|blue\n",
        'SELECT "t"."id", `t`.`password` FROM users t;\n1,red\n2,blue\n',
        "SELECT t.id, t.password AS shown FROM users t;\n1\tred\n2\tblue\n",
        "SELECT t.id, t.shown AS password FROM users t;\n1\tred\n2\tblue\n",
        "SELECT coalesce(t.name, 'x'), t.password FROM users t;\n1|red\n2|blue\n",
    ],
)
def test_what_a_query_asked_for_is_known_in_the_rows_below_it(text: str) -> None:
    shown = Redactor().mask(text.replace("red", "hunter2").replace("blue", "swordfish"))
    assert "hunter2" not in shown and "swordfish" not in shown


@pytest.mark.parametrize(
    "text",
    [
        "SELECT id, password FROM users;\nThis query reads the password.\nIt is slow.\n",
        "SELECT id, length(password) FROM users;\n1|12345678\n2|98765432\n",
        "| password |\nis what the user types\n",
        "SELECT password FROM users WHERE id = 1\nreturns nothing; check the clause\n",
    ],
)
def test_words_below_a_query_or_a_word_in_a_frame_are_no_rows(text: str) -> None:
    assert Redactor().mask(text) == text
