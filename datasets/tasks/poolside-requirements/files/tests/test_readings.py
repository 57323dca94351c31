from decimal import Decimal

import pytest

from poolside import readings, weeks
from poolside.errors import DataError
from tests.builders import write_sheet

GOOD = "2026-05-25 07:00;0,45;0,11;7,12;27,1;40;Theo Maas"


def test_a_sheet(tmp_path):
    [one] = readings.read_sheet(write_sheet(tmp_path, "NB-2026-05.csv", GOOD), "NB")
    assert (one.pool, one.free, one.ph, one.visitors) == ("NB", Decimal("0.45"), Decimal("7.12"), 40)


@pytest.mark.parametrize(
    "row, field",
    [
        ("2026-05-25 07:00;abc;0,11;7,12;27,1;40;Theo Maas", "free"),
        ("2026-05-25 07:00;0,45;0,11;;27,1;40;Theo Maas", "ph"),
        ("25.05.2026;0,45;0,11;7,12;27,1;40;Theo Maas", "time"),
        ("2026-05-25 07:00;0,45;0,11;7,12;27,1;many;Theo Maas", "visitors"),
    ],
)
def test_a_bad_field_is_named_with_its_line(tmp_path, row, field):
    with pytest.raises(DataError) as caught:
        readings.read_sheet(write_sheet(tmp_path, "NB-2026-05.csv", GOOD, row), "NB")
    assert (caught.value.line, caught.value.field) == (3, field)


def test_another_header_is_refused(tmp_path):
    path = write_sheet(tmp_path, "NB-2026-05.csv")
    path.write_text("time;free\n", "utf-8")
    with pytest.raises(DataError, match="header"):
        readings.read_sheet(path, "NB")


def test_a_week_over_two_months(tmp_path):
    write_sheet(tmp_path, "NB-2026-06.csv", "2026-07-01 07:00;0,45;0,11;7,12;27,1;40;Theo Maas")
    write_sheet(tmp_path, "NB-2026-07.csv", "2026-07-01 11:00;0,45;0,11;7,12;27,1;40;Theo Maas")
    found = readings.read_week(tmp_path / "data", "NB", weeks.week("2026-W27"))
    assert [one.time.hour for one in found] == [7, 11]


def test_no_sheet_no_readings(tmp_path):
    assert readings.read_week(tmp_path / "data", "LI", weeks.week("2026-W02")) == []
