import io
import shutil

import pytest

from poolside import cli
from tests.builders import write_sheet


@pytest.fixture
def folder(tmp_path, monkeypatch):
    shutil.copytree("config", tmp_path / "config")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def said(*arguments):
    out = io.StringIO()
    code = cli.main(list(arguments), out)
    return code, out.getvalue()


def test_due(folder):
    assert said("due", "2026-W22") == (0, "Friday 2026-06-05 12:00\n")


def test_an_unknown_command(folder):
    code, text = said("reprot")
    assert code == 5 and "say one of" in text


def test_a_sheet_that_cannot_be_read(folder):
    write_sheet(folder, "NB-2026-05.csv", "2026-05-25 07:00;x;0,11;7,12;27,1;40;Theo Maas")
    code, text = said("report", "2026-W22")
    assert code == 5 and "NB-2026-05.csv:2: free" in text


def test_missing_readings_give_4(folder):
    write_sheet(folder, "NB-2026-05.csv", "2026-05-25 07:00;0,45;0,11;7,12;27,1;40;Theo Maas")
    assert said("report", "2026-W22")[0] == 4


def test_write_makes_the_files_of_a_week(folder):
    rows = [f"2026-05-25 {hour:02}:00;0,95;0,11;7,12;27,1;40;Theo Maas" for hour in (7, 11, 15)]
    write_sheet(folder, "NB-2026-05.csv", *rows)
    code, text = said("write", "2026-W22")
    assert code == 3
    assert text.split() == ["out/week-2026-22.txt", "out/week-2026-22.csv", "out/letter-NB-2026-22-1.txt"]
