from datetime import date

from poolside import archive
from tests.builders import settings


def filled(folder, **changed):
    known = settings(folder, **changed)
    for name in ("week-2026-22.txt", "week-2026-22.csv", "week-2026-05.txt", "letter-NB-2026-22-1.txt", "notes.txt"):
        archive.store(known, name, "x")
    return known


def test_stored_reports_know_their_weeks(tmp_path):
    found = [(path.name, week.number) for path, week in archive.stored(filled(tmp_path))]
    assert found == [("letter-NB-2026-22-1.txt", 22), ("week-2026-05.txt", 5), ("week-2026-22.csv", 22), ("week-2026-22.txt", 22)]


def test_old_reports_are_removed_and_other_files_stay(tmp_path):
    known = filled(tmp_path)
    removed = archive.prune(known, date(2026, 6, 8))
    assert [path.name for path in removed] == ["week-2026-05.txt"]
    assert (known.out / "notes.txt").exists()


def test_the_last_day_is_kept(tmp_path):
    known = filled(tmp_path, keep_days=127)
    assert archive.old(known, date(2026, 6, 8)) == []
