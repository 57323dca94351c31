from pathlib import Path

from poolside import csv_report, letters, text_report, weekly, weeks
from tests.builders import full_week

WEEK = weeks.week("2026-W22")
DUE = weeks.due(WEEK, 5, "12:00")


def test_the_columns_of_the_office():
    one = weekly.summary(WEEK, "NB", full_week(), 3)
    lines = csv_report.table([one]).decode("latin-1").split("\r\n")
    assert lines[0].startswith("week;pool;name;readings;missing;free_mean;free_min;free_max;combined_max;ph_min;ph_max;temp_mean;visitors;findings;alarms")
    assert lines[1].startswith("2026-W22;NB;Northgate Baths;28;0;0,45;0,45;0,45;0,10;7,10;7,10;27,00;280;0;0")


def test_a_closed_pool_has_empty_figures():
    one = weekly.summary(WEEK, "LI", [], 3)
    assert csv_report.table([one]).decode("latin-1").split("\r\n")[1].startswith("2026-W22;LI;Lido;0;28;;;;;;;;0;0;0")


def test_the_text_report_says_when_it_is_due():
    one = weekly.summary(WEEK, "NB", full_week(), 3)
    assert "At the health office by Friday 05.06.2026 12:00" in text_report.report([one], DUE)


def test_the_text_report_shows_alarms_before_findings():
    one = weekly.summary(WEEK, "NB", full_week(free="0.9"), 3)
    text = text_report.report([one], DUE)
    assert text.index("ALARM") < text.index("finding")


def test_the_letter_says_what_the_legal_department_approved():
    one = weekly.summary(WEEK, "NB", full_week(free="0.9"), 3)
    approved = Path("docs/wording.md").read_text("utf-8").split("\n\n", 2)[2]
    approved = "\n".join(line[4:] for line in approved.splitlines()) + "\n"
    assert letters.LETTER == approved
    assert "In 28 successive readings from 25.05.2026 07:00 to 31.05.2026 19:00, free chlorine" in letters.letter(one, one.alarms[0])
