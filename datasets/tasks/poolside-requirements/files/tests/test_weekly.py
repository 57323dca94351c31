from decimal import Decimal

from poolside import weekly, weeks
from tests.builders import full_week, measured, settings, write_sheet

WEEK = weeks.week("2026-W22")


def test_figures_of_a_week():
    one = weekly.summary(WEEK, "NB", full_week(), 3)
    assert (one.means["free"], one.lows["ph"], one.visitors) == (Decimal("0.45"), Decimal("7.10"), 280)


def test_a_pool_without_readings_has_no_means():
    one = weekly.summary(WEEK, "LI", [], 3)
    assert (one.means["free"], one.highs["ph"], len(one.missing)) == (None, None, 28)


def test_all_six_by_code(tmp_path):
    write_sheet(tmp_path, "NB-2026-05.csv", "2026-05-25 07:00;0,45;0,11;7,12;27,1;40;Theo Maas")
    found = weekly.summaries(settings(tmp_path), WEEK)
    assert [one.pool.code for one in found] == ["HS", "LI", "NB", "RW", "TH", "TK"]


def test_exit_codes():
    good = weekly.summary(WEEK, "NB", full_week(), 3)
    gap = weekly.summary(WEEK, "NB", full_week()[1:], 3)
    alarm = weekly.summary(WEEK, "NB", full_week(free="0.9"), 3)
    assert [weekly.exit_code(found) for found in ([good], [good, gap], [gap, alarm])] == [0, 4, 3]


def test_a_single_reading():
    assert weekly.summary(WEEK, "NB", [measured()], 3).visitors == 10
