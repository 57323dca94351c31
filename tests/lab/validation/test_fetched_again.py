"""What agents fetched again after their own compactions, in sessions whose agent fetches what
the test says.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import pandas as pd
import pytest
from command import answer, printed

import workbench as wb
from builders import called, result, rules, said, told
from workbench import CompactionEntry, Log, MessageEntry, Session, SettingError, Summary, prepared
from workbench.cli import main
from workbench.engine.transcript.message import Message
from workbench.lab.validation.used_things import compacted, used_things

PLACES = tuple(
    [
        "mail",
        "billing",
        "search",
        "audit",
        "invoice",
        "login",
        "export",
        "image",
        "report",
        "price",
        "order",
        "vat",
    ]
)
METALS = (
    "copper",
    "iron",
    "silver",
    "cobalt",
    "nickel",
    "zinc",
    "tin",
    "lead",
    "gold",
    "bronze",
    "steel",
    "brass",
)
CLUSTERS = dict(zip(PLACES, METALS, strict=True))
KEPT = PLACES[::2]


def fact(place: str) -> str:
    return f"the {place} gateway reads its {place}_retry_limit from the {CLUSTERS[place]} cluster"


def session(
    fetched: Collection[str],
    id: str = "one",
    *,
    told_by_user: str = "",
    readable: bool = True,
    twice: bool = False,
) -> Session:
    """The agent reads of twelve places, goes on with a summary of six, reads of some again, and
    uses all twelve.
    """
    before: list[Message] = [rules("be brief"), said("tune all gateways")]
    after: list[Message] = []
    for place in PLACES:
        read = {"path": f"conf/{place}.toml"}
        before += [
            called("read", f"b-{place}", **read),
            result(fact(place), f"b-{place}", name="read"),
        ]
        if place in fetched:
            after += [
                called("read", f"a-{place}", **read),
                result(fact(place), f"a-{place}", name="read"),
            ]
        if place == told_by_user:
            after += [
                told("which one?", f"q-{place}"),
                said(f"use {place}_retry_limit", f"u-{place}"),
            ]
        after.append(
            told(
                f"the {place} gateway needs {place}_retry_limit raised in the {CLUSTERS[place]}"
                " cluster",
                f"t-{place}",
            )
        )
    log = Log()
    summary = Summary(id=f"summary-{id}", text="\n".join(map(fact, KEPT)))
    for message in before:
        log.append(MessageEntry(id=message.id, parent=log.leaf, message=message))
    log.append(
        CompactionEntry(id="compaction", parent=log.leaf, summary=summary if readable else None)
    )
    for index, message in enumerate(after):
        if twice and index == 6:
            log.append(CompactionEntry(id="second", parent=log.leaf))
        log.append(MessageEntry(id=message.id, parent=log.leaf, message=message))
    return Session(id, log, project=f"project-{id}")


Rows: TypeAlias = Mapping[str, Mapping[str, Any]]
"""Rows of a table by metric, or by how agents came by things."""
Tables: TypeAlias = Mapping[str, list[dict[str, Any]]]
"""The tables of `workbench lab validate behaviour`, by their titles."""
OF_AGENT = "by the context that the agent went on with"
OF_TRUNCATE = "by a context that no agent had: truncate to the same size"
WAYS = "how the agents came by what they used"
LOST = tuple(place for place in PLACES if place not in KEPT)


def limits(*sessions: Session) -> pd.DataFrame:
    rows = used_things([prepared(one) for one in sessions])
    return rows[rows["thing"].str.endswith("_retry_limit")]


def of_agent(rows: pd.DataFrame) -> pd.DataFrame:
    return rows[rows["context"] == "recorded"]


def by(column: str, rows: list[dict[str, Any]]) -> Rows:
    return {row[column]: row for row in rows}


@pytest.fixture(scope="module")
def tables_where(tmp_path_factory: pytest.TempPathFactory) -> Callable[[tuple[str, ...]], Tables]:
    """What the command says where the agent fetches these again; each is asked once."""

    @cache
    def tables(fetched: tuple[str, ...]) -> Tables:
        folder = tmp_path_factory.mktemp("recorded")
        wb.save(session(fetched), folder / "one.jsonl")
        found: Tables = answer("lab", "validate", "behaviour", folder)
        return found

    return tables


TablesWhere: TypeAlias = Callable[[tuple[str, ...]], Tables]


def test_what_was_lost_and_read_again_is_told_from_what_was_kept(tables_where: TablesWhere) -> None:
    metrics = by("metric", tables_where(LOST)[OF_AGENT])
    for name in ("exam", "bound", "presence"):
        row = metrics[name]
        assert (row["if_lost"], row["if_kept"], row["auc"]) == (1, 0, 1)
    assert (metrics["exam"]["things"], metrics["exam"]["lost"]) == (12, 6)


def test_an_agent_that_reads_again_what_it_kept_turns_the_sign(tables_where: TablesWhere) -> None:
    exam = by("metric", tables_where(KEPT)[OF_AGENT])["exam"]
    assert (exam["if_lost"], exam["if_kept"], exam["auc"]) == (0, 1, 0)


def test_what_is_fetched_for_no_reason_gives_half(tables_where: TablesWhere) -> None:
    metrics = by("metric", tables_where(PLACES[:6])[OF_AGENT])
    assert (metrics["exam"]["if_lost"], metrics["exam"]["if_kept"]) == (0.5, 0.5)
    # the exam has degrees, and of twelve things those order a few
    assert metrics["presence"]["auc"] == 0.5


def test_a_context_that_no_agent_had_says_nothing_of_what_was_fetched(
    tables_where: TablesWhere,
) -> None:
    assert by("metric", tables_where(LOST)[OF_TRUNCATE])["presence"]["auc"] == 0.5


def test_what_is_fetched_again_is_used_but_no_longer_demanded(tables_where: TablesWhere) -> None:
    ways = by("how", tables_where(LOST)[WAYS])
    assert (ways["fetched"]["things"], ways["fetched"]["demanded"]) == (6, 0)
    assert (ways["remembered"]["things"], ways["remembered"]["demanded"]) == (6, 1)


def test_a_file_that_is_read_again_was_looked_for() -> None:
    rows = of_agent(used_things([prepared(session(["billing"]))]))
    (file,) = rows[rows["thing"].str.contains("billing.toml")].to_dict("records")
    assert (file["how"], file["fetched_again"], file["kind"]) == ("looked for", True, "path")


def test_what_the_user_said_again_has_no_verdict(tmp_path: Path) -> None:
    wb.save(session([], told_by_user="audit"), tmp_path / "one.jsonl")
    rows = of_agent(limits(session([], told_by_user="audit")))
    (audit,) = rows[rows["thing"] == "audit_retry_limit"].to_dict("records")
    assert audit["how"] == "told"
    assert len(rows) == 12
    for row in answer("lab", "validate", "behaviour", tmp_path)[OF_AGENT]:
        assert row["things"] == 11


def test_what_is_used_after_the_next_compaction_is_left_out() -> None:
    assert len(of_agent(limits(session([])))) == 12
    assert len(of_agent(limits(session([], twice=True)))) == 6


def test_intervals_are_over_sessions_or_projects(tmp_path: Path) -> None:
    for number in range(6):
        fetched = [*LOST[:4], KEPT[number % 3]]
        wb.save(session(fetched, f"s{number}"), tmp_path / f"{number}.jsonl")
    tables = answer("lab", "validate", "behaviour", tmp_path)
    for title in (OF_AGENT, "project"):
        exam = by("metric", tables[title])["exam"]
        assert exam["units"] == 6
        assert exam["if_lost"] == pytest.approx(4 / 6)
        assert exam["if_kept"] == pytest.approx(1 / 6)
        assert 0.5 < exam["auc"] < 1
    assert {row["kind"] for row in tables["kind"]} == {"identifier"}
    assert {row["sessions"] for row in tables["ranks of sessions"]} == {6}


def test_the_same_recordings_give_the_same_table() -> None:
    pd.testing.assert_frame_equal(limits(session(LOST)), limits(session(LOST)))


def test_no_lead_is_claimed_where_exam_and_presence_agree(tmp_path: Path) -> None:
    wb.save(session(LOST), tmp_path / "lost.jsonl")
    text = printed("lab", "validate", "behaviour", tmp_path / "lost.jsonl")
    assert "no better than presence" in text
    wb.save(session([]), tmp_path / "none.jsonl")
    assert "there is no AUC" in printed("lab", "validate", "behaviour", tmp_path / "none.jsonl")


def test_recordings_without_a_readable_compaction_are_refused() -> None:
    with pytest.raises(
        SettingError, match="1 recorded session without a compaction that has a readable summary"
    ):
        compacted(session(LOST, readable=False))


def test_the_command_says_that_nothing_was_compacted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wb.save(session(LOST, readable=False), tmp_path / "one.jsonl")
    assert main(["lab", "validate", "behaviour", str(tmp_path)]) == 2
    assert "1 recorded session without a compaction" in capsys.readouterr().err


@pytest.mark.parametrize(("fetched", "of_lost"), [(LOST, 1), (KEPT, 0)])
def test_the_simulation_looks_up_what_the_context_lost_whatever_the_agent_really_looked_up(
    tables_where: TablesWhere, fetched: tuple[str, ...], of_lost: int
) -> None:
    """It calls six lost: those that this agent fetched, and then those that it did not."""
    simulated = by("metric", tables_where(fetched)[OF_AGENT])["simulated"]
    assert simulated["lost"] == 6
    assert (simulated["if_lost"], simulated["if_kept"]) == (of_lost, 1 - of_lost)
