from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import sys
import threading
import warnings
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from engine.models.provider import calls

from workbench import DamagedFile, Refused, SettingError
from workbench.engine.models.ledger import Ledger


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "cache" / "answers.sqlite", run="a")


def elsewhere(code: str, path: Path) -> subprocess.CompletedProcess[str]:
    """Run this in another process, where `ledger` is the one at `path`."""
    head = "import os, pathlib; from workbench.engine.models.ledger import Ledger; "
    opened = f"ledger = Ledger(pathlib.Path({str(path)!r}), run='a', max_usd=1.0)\n"
    where = Path(__file__).parents[3]
    return subprocess.run(
        [sys.executable, "-c", head + opened + code], cwd=where, capture_output=True, text=True
    )


def together(count: int, what: Callable[[int], object]) -> list[object]:
    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(what, range(count)))


def test_what_is_kept_is_found_by_its_key_alone(ledger: Ledger) -> None:
    ledger.keep("k", {"text": "späte Antwort \ud800", "usd": 0.25})
    assert ledger.stored("k") == {"text": "späte Antwort \ud800", "usd": 0.25}
    assert ledger.stored("other") is None


def test_a_kept_answer_is_never_replaced(ledger: Ledger) -> None:
    ledger.keep("k", {"text": "first"})
    ledger.keep("k", {"text": "second"})
    assert ledger.stored("k") == {"text": "first"}


def test_another_process_finds_what_this_one_kept(ledger: Ledger) -> None:
    ledger.keep("k", {"text": "hello"})
    assert elsewhere("print(ledger.stored('k')['text'])", ledger.path).stdout.strip() == "hello"


def test_who_comes_second_waits_and_gets_the_firsts_answer(ledger: Ledger) -> None:
    assert ledger.claim("k", 60) is None
    found: list[object] = []
    second = threading.Thread(target=lambda: found.append(ledger.claim("k", 60)))
    second.start()
    second.join(0.2)
    assert second.is_alive() and not found
    ledger.keep("k", {"text": "the answer"})
    second.join(10)
    assert found == [{"text": "the answer"}]


def test_a_claim_that_is_given_up_goes_to_the_next(ledger: Ledger) -> None:
    ledger.claim("k", 60)
    ledger.release("k")
    assert ledger.claim("k", 60) is None


def test_the_claim_of_a_process_that_died_goes_to_the_next(ledger: Ledger) -> None:
    died = elsewhere("ledger.claim('k', 3600); os._exit(9)", ledger.path)
    assert died.returncode == 9
    assert ledger.claim("k", 60) is None


def test_an_old_claim_goes_to_the_next(ledger: Ledger) -> None:
    ledger.claim("k", -1)
    assert ledger.claim("k", 60) is None


def test_of_many_that_ask_at_once_exactly_one_asks(ledger: Ledger) -> None:
    def ask(number: int) -> bool:
        if ledger.claim("k", 60) is not None:
            return False
        ledger.keep("k", {"text": "x"})
        return True

    assert sum(map(bool, together(8, ask))) == 1


def test_the_limit_counts_what_is_set_aside(ledger: Ledger) -> None:
    tight = replace(ledger, max_usd=1.0)
    tight.close(tight.open("m", 0.6, 60), 0.6)
    with pytest.raises(Refused, match=r"\$0\.6000 are spent, and the limit is \$1"):
        tight.open("m", 0.5, 60)
    assert tight.spent == pytest.approx(0.6)


def test_a_call_waits_where_only_open_calls_stand_in_its_way(ledger: Ledger) -> None:
    tight = replace(ledger, max_usd=1.0)
    first = tight.open("m", 0.9, 60)
    opened: list[int] = []
    second = threading.Thread(target=lambda: opened.append(tight.open("m", 0.9, 60)))
    second.start()
    second.join(0.2)
    assert second.is_alive()
    tight.close(first, 0.05)
    second.join(10)
    assert len(opened) == 1


def test_a_call_that_nobody_closed_counts_as_spent(ledger: Ledger) -> None:
    elsewhere("ledger.open('m', 0.8, 3600); os._exit(9)", ledger.path)
    tight = replace(ledger, max_usd=1.0)
    assert tight.spent == pytest.approx(0.8)
    with pytest.raises(Refused):
        tight.open("m", 0.3, 60)


def test_a_call_of_unknown_cost_counts_as_all_that_was_set_aside(ledger: Ledger) -> None:
    ledger.close(ledger.open("m", 0.4, 60), None)
    assert ledger.spent == pytest.approx(0.4)


def test_under_a_limit_nobody_is_asked_whose_price_is_unknown(ledger: Ledger) -> None:
    with pytest.raises(Refused, match="its price is unknown"):
        replace(ledger, max_usd=5.0).open("m", None, 60)
    assert ledger.open("m", None, 60) > 0


def test_another_runs_calls_do_not_count(ledger: Ledger) -> None:
    ledger.close(ledger.open("m", 0.9, 60), 0.9)
    assert replace(ledger, run="b", max_usd=1.0).open("m", 0.9, 60) > 0


def test_processes_together_never_pass_the_limit(ledger: Ledger) -> None:
    spend = (
        "from workbench.base.errors import Refused\n"
        "for _ in range(20):\n"
        "    try:\n"
        "        ledger.close(ledger.open('m', 0.03, 60), 0.029)\n"
        "    except Refused:\n"
        "        break\n"
    )
    together(3, lambda _: elsewhere(spend, ledger.path))
    assert 0.94 <= ledger.spent <= 1.0


def test_no_more_calls_are_open_at_once_than_allowed(ledger: Ledger) -> None:
    narrow, lock = replace(ledger, concurrency=2), threading.Lock()
    now: list[int] = [0, 0]

    def call(number: int) -> None:
        opened = narrow.open("m", 0.0, 60)
        with lock:
            now[0] += 1
            now[1] = max(now)
        with lock:
            now[0] -= 1
        narrow.close(opened, 0.0)

    together(8, call)
    assert now[1] <= 2 and calls(narrow) == 8


@pytest.mark.parametrize("limit", [-1.0, float("nan"), float("inf")])
def test_a_limit_that_is_none_is_refused(ledger: Ledger, limit: float) -> None:
    with pytest.raises(SettingError, match="spending limit"):
        replace(ledger, max_usd=limit)


def damaged(ledger: Ledger, value: bytes, at: int) -> None:
    """Write these bytes over the file, from a place on."""
    with ledger.path.open("r+b") as stream:
        stream.seek(at)
        stream.write(value)


def test_an_answer_whose_bytes_are_damaged_is_none_and_is_kept_anew(ledger: Ledger) -> None:
    ledger.keep("k", {"text": "x"})
    for value in (b"x\x9c\x00", b"", zlib.compress(b"{"), zlib.compress(b"[1]")):
        with closing(sqlite3.connect(ledger.path)) as connection:
            connection.execute("update answers set value = ?", (value,))
            connection.commit()
        assert ledger.claim("k", 60) is None
        ledger.keep("k", {"text": "asked again"})
        assert ledger.stored("k") == {"text": "asked again"}


def test_a_file_that_is_no_database_is_put_aside_with_a_sentence(ledger: Ledger) -> None:
    ledger.path.parent.mkdir()
    ledger.path.write_text("no database, and longer than a hundred characters " * 4)
    with pytest.warns(DamagedFile, match=r"was damaged and is now .*\.damaged-1; 0 answers"):
        assert ledger.stored("k") is None
    ledger.keep("k", {"text": "x"})
    assert ledger.stored("k") == {"text": "x"}
    assert Path(f"{ledger.path}.damaged-1").read_text().startswith("no database")


@pytest.mark.parametrize("share", [0.02, 0.3, 0.6, 0.99])
def test_a_file_that_was_cut_short_is_put_aside_and_the_rest_of_it_is_used(
    ledger: Ledger, share: float
) -> None:
    for number in range(80):
        ledger.keep(f"key {number}", {"text": f"{number} {random.Random(number).random()} " * 20})
    length = ledger.path.stat().st_size
    with ledger.path.open("r+b") as stream:
        stream.truncate(int(share * length))
    with warnings.catch_warnings(record=True) as warning_messages:
        warnings.simplefilter("always")
        kept = [ledger.stored(f"key {number}") for number in range(80)]
        for number in range(80):
            ledger.keep(f"key {number}", {"text": "again"})
    assert share > 0.9 or any(
        issubclass(warning_message.category, DamagedFile) for warning_message in warning_messages
    )
    assert all(
        one is None or str(one["text"]).startswith(f"{number} ") for number, one in enumerate(kept)
    )
    assert all(ledger.stored(f"key {number}") for number in range(80))


def test_a_file_that_is_damaged_anywhere_never_raises(ledger: Ledger) -> None:
    for number in range(20):
        ledger.keep(f"key {number}", {"text": "x" * 900})
    whole, dice = ledger.path.read_bytes(), random.Random(7)
    for _ in range(20):
        ledger.path.write_bytes(whole)
        damaged(ledger, dice.randbytes(64), dice.randrange(len(whole) - 64))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for number in range(20):
                found = ledger.stored(f"key {number}")
                assert found is None or found == {"text": "x" * 900}
                ledger.keep(f"key {number}", {"text": "x" * 900})


def test_calls_outlive_damage_to_answers(ledger: Ledger) -> None:
    tight = replace(ledger, max_usd=1.0)
    tight.close(tight.open("m", 0.9, 60), 0.9)
    for number in range(80):
        tight.keep(f"key {number}", {"text": f"{number} {random.Random(number).random()} " * 20})
    damaged(tight, bytes(4096), tight.path.stat().st_size - 4096)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number in range(80):
            tight.stored(f"key {number}")
        with pytest.raises(Refused, match=r"\$0\.9000 are spent"):
            tight.open("m", 0.2, 60)


def test_under_a_limit_lost_calls_stop_the_command_once(ledger: Ledger) -> None:
    tight = replace(ledger, max_usd=1.0)
    tight.close(tight.open("m", 0.9, 60), 0.9)
    tight.path.write_bytes(b"damaged, and longer than a hundred characters " * 5)
    with pytest.raises(
        SettingError, match="but not what was spent so far, on which the spending limit rests"
    ):
        tight.open("m", 0.2, 60)
    assert tight.open("m", 0.2, 60) > 0


def test_several_processes_put_one_damaged_file_aside_once(ledger: Ledger) -> None:
    ledger.path.parent.mkdir()
    ledger.path.write_bytes(b"damaged, and longer than a hundred characters " * 5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        together(6, lambda number: ledger.keep(f"k{number}", {"text": f"{number}"}))
    assert len([*ledger.path.parent.glob("*.damaged-*")]) == 1
    assert [ledger.stored(f"k{number}") for number in range(6)] == [
        {"text": f"{number}"} for number in range(6)
    ]


def test_no_call_counts_as_more_than_was_set_aside(ledger: Ledger) -> None:
    tight = replace(ledger, max_usd=1.0)
    tight.close(tight.open("m", 0.4, 60), 1_000_000.0)
    assert tight.spent == pytest.approx(0.4)


def test_the_file_and_what_sqlite_keeps_beside_it_are_the_users_alone(ledger: Ledger) -> None:
    before = os.umask(0)
    try:
        ledger.keep("k", {"text": "x"})
        with closing(sqlite3.connect(ledger.path)) as connection:
            connection.execute("pragma journal_mode = wal")
            connection.execute("delete from answers")
            connection.commit()
            modes = {file.stat().st_mode & 0o777 for file in ledger.path.parent.iterdir()}
            assert len([*ledger.path.parent.iterdir()]) == 3
    finally:
        os.umask(before)
    assert modes == {0o600} and ledger.path.parent.stat().st_mode & 0o777 == 0o700


def test_a_cache_that_was_deleted_is_begun_anew(ledger: Ledger) -> None:
    ledger.keep("k", {"text": "x"})
    for file in ledger.path.parent.iterdir():
        file.unlink()
    assert ledger.stored("k") is None
    ledger.keep("k", {"text": "y"})
    assert ledger.stored("k") == {"text": "y"}
