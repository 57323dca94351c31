"""Answers, calls and spending, in one SQLite file that any number of processes share."""

import json
import os
import sqlite3
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeAlias, TypeVar

from workbench.base.errors import ModelError, SettingError, Unanswered
from workbench.base.private_files import make_private, make_private_folder
from workbench.engine.models.ledger_repair import may_be_damage, put_aside

FILE = "answers.sqlite"
POLL = 0.05
"""Seconds between two looks at a request that another process has sent, or at a free place."""
WAIT = 60.0
"""Seconds to wait for other processes that write."""
ROUNDS = 4
"""Calls that fail one after another, for two requests or more and with no answer in between: the
provider is down.
"""

Stored: TypeAlias = Mapping[str, Any]
"""An answer as plain JSON."""

_SCHEMA = (
    (
        "create table if not exists answers (key text primary key, value blob not null, created"
        " real not null) without rowid"
    ),
    (
        "create table if not exists asking (key text primary key, pid integer not null, until real"
        " not null) without rowid"
    ),
    (
        "create table if not exists calls (id integer primary key, run text not null, model text"
        " not null, pid integer not null, until real not null, reserved real not null, usd real,"
        " began real not null, request text not null, known integer not null, why text not null"
        " default '')"
    ),
    "create index if not exists calls_of_run on calls (run)",
    (
        "create table if not exists failures (sitting text, model text, request text, several"
        " integer, rounds integer, at real, why text, primary key (sitting, model)) without rowid"
    ),
)
"""In `calls`, `request` is what was asked, `known` whether its dollars are, and `why` why there
was no answer.
"""
_CLOSED = (
    "update calls set usd = iif(known, min(coalesce(?1, reserved), reserved), coalesce(?2,"
    " reserved)), known = known or ?1 is not null, why = ?3 where id = ?4"
)
_FAILED = (
    "insert into failures values (?, ?, ?, 0, 1, ?, ?) on conflict do update set "
    "several = several or request != excluded.request, rounds = rounds + (? >= at), "
    "at = iif(? >= at, excluded.at, at), why = excluded.why"
)
"""Calls that were open at the same time fail together: they count as one."""


Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class _Damage(SettingError):
    """The file itself is damaged."""


def _on_a_sound_file(
    step: "Callable[Concatenate[Ledger, Arguments], Result]",
) -> "Callable[Concatenate[Ledger, Arguments], Result]":
    """A step that is done again on a new file where the old one turns out to be damaged."""

    @wraps(step)
    def run(ledger: "Ledger", /, *arguments: Arguments.args, **named: Arguments.kwargs) -> Result:
        try:
            return step(ledger, *arguments, **named)
        except _Damage:
            put_aside(ledger.path, _SCHEMA, limited=ledger.max_usd is not None)
        return step(ledger, *arguments, **named)

    return run


@dataclass(frozen=True, slots=True)
class _Spending:
    """What the calls of a run cost.

    Attributes:
        spent: dollars of calls that have ended or were lost.
        set_aside: dollars for calls that are open.
        open_calls: how many these are.
    """

    spent: float
    set_aside: float
    open_calls: int


@dataclass(frozen=True, slots=True)
class Ledger:
    """Answers by content, and the calls of one run.

    A call is open from just before it is sent until its outcome is known. What it may cost at most
    is set aside in the same step as it is opened, so that calls of several processes can never pass
    the limit together. A call whose process died counts as spent: whether the provider charged for
    it is unknown.

    Attributes:
        path: the file; its folder is made. Not on a network drive, where SQLite's locks do not
            hold.
        run: whose calls count against the limits.
        max_usd: the most that the run may spend, earlier sittings included; None for no limit.
        concurrency: calls that may be open at once; None for no limit.
        sitting: one command; a provider that is down is not called again in it. Empty to call it
            each time.
        request: what calls are made for; see `paid`.
    """

    path: Path
    run: str = ""
    max_usd: float | None = None
    concurrency: int | None = None
    sitting: str = ""
    request: str = ""

    def __post_init__(self) -> None:
        if self.max_usd is not None and not 0 <= self.max_usd < float("inf"):
            raise SettingError(
                f"the spending limit is {self.max_usd}; it must be a number of dollars, 0 or more"
            )
        if self.concurrency is not None and self.concurrency < 1:
            raise SettingError(
                f"the limit of concurrent calls is {self.concurrency}; it must be 1 or more"
            )

    @_on_a_sound_file
    def stored(self, key: str) -> Stored | None:
        """The answer under this key; None if there is none."""
        with self._step() as step:
            return _answer(step, key)

    @_on_a_sound_file
    def claim(self, key: str, seconds: float) -> Stored | None:
        """Reserve a request for so long; while another process has it, wait for its answer."""
        while True:
            with self._step() as step:
                answer = _answer(step, key)
                if answer is not None:
                    return answer
                claim_row = step.execute(
                    "select pid, until from asking where key = ?", (key,)
                ).fetchone()
                if claim_row is None or not _can_still_finish(*claim_row):
                    row = (key, os.getpid(), time.time() + seconds)
                    step.execute("insert or replace into asking values (?, ?, ?)", row)
                    return None
            time.sleep(POLL)

    @_on_a_sound_file
    def keep(self, key: str, value: Stored) -> None:
        """Write an answer down and give up the claim, in one step."""
        text = json.dumps(value, ensure_ascii=True, sort_keys=True)
        packed = zlib.compress(text.encode())
        with self._step() as step:
            step.execute(
                "insert or ignore into answers values (?, ?, ?)", (key, packed, time.time())
            )
            step.execute("delete from asking where key = ?", (key,))

    @_on_a_sound_file
    def forget(self, key: str) -> None:
        """Remove an answer that is of no use, so that it is asked again."""
        with self._step() as step:
            step.execute("delete from answers where key = ?", (key,))

    @_on_a_sound_file
    def release(self, key: str) -> None:
        """Give up the claim without an answer."""
        with self._step() as step:
            step.execute("delete from asking where key = ? and pid = ?", (key, os.getpid()))

    @_on_a_sound_file
    def open(self, model: str, usd: float | None, seconds: float) -> int:
        """Set aside what a call may cost (None if unknown) and wait for a free place; the call's
        number, for `close`.

        After so many seconds it no longer takes a place, if its process should die.

        Raises:
            Unanswered: the limit would be exceeded, or cannot be enforced.
            ModelError: the provider is down.
        """
        if usd is None and self.max_usd is not None:
            raise Unanswered(
                f"{model} was not asked: its price is unknown, so the spending limit of"
                f" ${self.max_usd:g} cannot be kept; give its prices in the models file"
            )
        reserved_usd = usd or 0.0
        while True:
            with self._step() as step:
                self._check_provider(step, model)
                spending = self._spending(step)
                if self.max_usd is not None and spending.spent + reserved_usd > self.max_usd:
                    raise Unanswered(
                        f"{model} was not asked: it may cost ${reserved_usd:.4f},"
                        f" ${spending.spent:.4f} are spent, and the limit is ${self.max_usd:g};"
                        " the same command with a higher limit continues"
                    )
                if self._has_place(spending, reserved_usd):
                    started = time.time()
                    inserted = step.execute(
                        "insert into calls (run, model, pid, until, reserved, began, request,"
                        " known) values (?, ?, ?, ?, ?, ?, ?, ?)",
                        (
                            self.run,
                            model,
                            os.getpid(),
                            started + seconds,
                            reserved_usd,
                            started,
                            self.request,
                            usd is not None,
                        ),
                    )
                    assert inserted.lastrowid is not None
                    return inserted.lastrowid
            time.sleep(POLL)

    def _spending(self, step: sqlite3.Connection) -> _Spending:
        """What the calls of the run have cost, and what is set aside for those that are open."""
        query = "select pid, until, reserved, usd from calls where run = ?"
        total = set_aside = 0.0
        open_calls = 0
        rows = step.execute(query, (self.run,)).fetchall()
        for pid, until, reserved, usd in rows:
            if usd is not None:
                total += usd
                continue
            total += reserved
            if _can_still_finish(pid, until):
                set_aside += reserved
                open_calls += 1
        return _Spending(total - set_aside, set_aside, open_calls)

    def _has_place(self, spending: _Spending, reserved_usd: float) -> bool:
        """Whether the limits let another call begin now, besides those that are open."""
        if self.concurrency is not None and spending.open_calls >= self.concurrency:
            return False
        if self.max_usd is None:
            return True
        return spending.spent + spending.set_aside + reserved_usd <= self.max_usd

    @_on_a_sound_file
    def close(self, call: int, usd: float | None, failed: str = "") -> None:
        """Write down what a call cost, and why its provider did not answer; empty if it did.

        Dollars of None are unknown, which counts as all that was set aside. No call counts as more
        than that, whatever its provider says, so that the limit is never passed.
        """
        with self._step() as step:
            step.execute(_CLOSED, (usd, usd, failed, call))
            if self.sitting:
                self._count(step, call, failed)

    def _count(self, step: sqlite3.Connection, call: int, failed: str) -> None:
        """Count a failure of the provider; an answer begins the count anew."""
        row = step.execute("select model, began from calls where id = ?", (call,)).fetchone()
        if row is None:
            return  # it was lost with a damaged file
        model, began = row
        if failed:
            row = (self.sitting, model, self.request, time.time(), failed, began, began)
            step.execute(_FAILED, row)
        else:
            step.execute(
                "delete from failures where sitting = ? and model = ?", (self.sitting, model)
            )

    def _check_provider(self, step: sqlite3.Connection, model: str) -> None:
        down = (
            "select rounds, why from failures where sitting = ? and model = ? and several and"
            " rounds >= ?"
        )
        failure = step.execute(down, (self.sitting, model, ROUNDS)).fetchone()
        if failure is not None:
            problem = (
                f"{model} is not asked any more, since {failure[0]} calls failed one after another:"
                f" {failure[1]}"
            )
            raise ModelError(problem, outage=True)

    @_on_a_sound_file
    def paid(self, requests: Iterable[str]) -> dict[str, float | None]:
        """The dollars that the run has spent on each of these requests, 0 where it made no call;
        None if unknown.
        """
        names = list(requests)
        query = (
            "select request, sum(coalesce(usd, reserved)), min(known) from calls where run = ? and"
            " request in (select value from json_each(?)) group by request"
        )
        with self._step() as step:
            rows = step.execute(query, (self.run, json.dumps(names))).fetchall()
        usd_of: dict[str, float | None] = dict.fromkeys(names, 0.0)
        for name, usd, is_known in rows:
            usd_of[name] = usd if is_known else None
        return usd_of

    @property
    @_on_a_sound_file
    def spent(self) -> float:
        """Dollars that the run has spent, with what is set aside for open and lost calls."""
        with self._step() as step:
            query = "select coalesce(sum(coalesce(usd, reserved)), 0) from calls where run = ?"
            return float(step.execute(query, (self.run,)).fetchone()[0])

    @contextmanager
    def _step(self) -> Iterator[sqlite3.Connection]:
        """One step that no other process can come between; nothing of it is kept if it fails."""
        try:
            make_private_folder(self.path.parent)
            make_private(self.path)  # what SQLite keeps beside it has the same rights
            with closing(
                sqlite3.connect(self.path, timeout=WAIT, isolation_level=None)
            ) as connection:
                connection.execute("begin immediate")
                for statement in _SCHEMA:
                    connection.execute(statement)
                yield connection
                connection.execute("commit")
        except (sqlite3.DatabaseError, UnicodeDecodeError, OSError) as error:
            kind = _Damage if may_be_damage(error) else SettingError
            raise kind(f"{self.path} cannot be used as a cache of answers: {error}") from error


def _answer(step: sqlite3.Connection, key: str) -> Stored | None:
    """The answer under a key; one that is damaged is removed, so that it is asked again."""
    row = step.execute("select value from answers where key = ?", (key,)).fetchone()
    if row is None:
        return None
    try:
        return dict(json.loads(zlib.decompress(row[0])))
    except (zlib.error, ValueError, TypeError):
        step.execute("delete from answers where key = ?", (key,))
        return None


def _can_still_finish(pid: int, until: float) -> bool:
    """Whether the process that holds a claim or a place can still finish."""
    if time.time() > until:
        return False
    if os.name == "nt" or pid == os.getpid():
        return True
    try:
        os.kill(pid, 0)
    except OSError as error:
        return not isinstance(error, ProcessLookupError)
    return True
