from report.made import made

from workbench.report.lasting import half_lives_html
from workbench.report.tables import Tables


def test_half_lives_are_told_in_words() -> None:
    told = half_lives_html(Tables.of(made(9))).plain
    assert "summarize more than 2 compactions (5" in told and "truncate 1.0 compactions" in told


def test_nothing_is_said_where_nothing_was_followed() -> None:
    assert half_lives_html(Tables.of(made(0))).html == ""
