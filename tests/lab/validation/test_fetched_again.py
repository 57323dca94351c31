"""What agents fetched again after their own compactions, in sessions whose agent fetches what
the test says.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path

import pandas as pd
import pytest

import workbench as wb
from builders import called, result, rules, said, told
from workbench import CompactionEntry, Log, MessageEntry, Session, SettingError, Summary, prepared
from workbench.cli import main
from workbench.engine.transcript.message import Message
from workbench.lab.simulation.held import held_things
from workbench.lab.validation.fetched_again import by_way, figures, lead_note, ranks, scored
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


def limits(*sessions: Session) -> pd.DataFrame:
    rows = used_things([prepared(one) for one in sessions])
    return rows[rows["thing"].str.endswith("_retry_limit")]


def of_agent(rows: pd.DataFrame) -> pd.DataFrame:
    return rows[rows["context"] == "recorded"]


LOST = [place for place in PLACES if place not in KEPT]


def test_what_was_lost_and_read_again_is_told_from_what_was_kept() -> None:
    found = figures(of_agent(limits(session(LOST)))).set_index("metric")
    for metric in ("exam", "bound", "presence"):
        assert found.loc[metric, ["if_lost", "if_kept", "auc"]].tolist() == [1, 0, 1]
    assert found.loc["exam", ["things", "lost"]].tolist() == [12, 6]


def test_an_agent_that_reads_again_what_it_kept_turns_the_sign() -> None:
    found = figures(of_agent(limits(session(KEPT)))).set_index("metric")
    assert found.loc["exam", ["if_lost", "if_kept", "auc"]].tolist() == [0, 1, 0]


def test_what_is_fetched_for_no_reason_gives_half() -> None:
    found = figures(of_agent(limits(session(PLACES[:6])))).set_index("metric")
    assert found.loc["exam", ["if_lost", "if_kept"]].tolist() == [0.5, 0.5]
    # the exam has degrees, and of twelve things those order a few
    assert found.loc["presence", "auc"] == 0.5


def test_a_context_that_no_agent_had_says_nothing_of_what_was_fetched() -> None:
    rows = limits(session(LOST))
    control = figures(rows[rows["context"] == "truncate"]).set_index("metric")
    assert control.loc["presence", "auc"] == 0.5


def test_what_is_fetched_again_is_used_but_no_longer_demanded() -> None:
    ways = by_way(limits(session(LOST))).set_index("how")
    assert ways.loc["fetched", ["things", "demanded"]].tolist() == [6, 0]
    assert ways.loc["remembered", ["things", "demanded"]].tolist() == [6, 1]


def test_a_file_that_is_read_again_was_looked_for() -> None:
    rows = of_agent(used_things([prepared(session(["billing"]))]))
    (file,) = rows[rows["thing"].str.contains("billing.toml")].to_dict("records")
    assert (file["how"], file["fetched_again"], file["kind"]) == ("looked for", True, "path")


def test_what_the_user_said_again_has_no_verdict() -> None:
    rows = of_agent(limits(session([], told_by_user="audit")))
    (audit,) = rows[rows["thing"] == "audit_retry_limit"].to_dict("records")
    assert audit["how"] == "told"
    assert "audit_retry_limit" not in set(scored(rows)["thing"])


def test_what_is_used_after_the_next_compaction_is_left_out() -> None:
    assert len(of_agent(limits(session([])))) == 12
    assert len(of_agent(limits(session([], twice=True)))) == 6


def test_intervals_are_over_sessions_or_projects() -> None:
    sessions = [session([*LOST[:4], KEPT[number % 3]], f"s{number}") for number in range(6)]
    rows = of_agent(limits(*sessions))
    for unit in ("session", "project"):
        exam = figures(rows, unit=unit).set_index("metric").loc["exam"]
        assert exam["units"] == 6
        assert exam["if_lost"] == pytest.approx(4 / 6)
        assert exam["if_kept"] == pytest.approx(1 / 6)
        assert 0.5 < exam["auc"] < 1
    assert set(figures(rows, ["kind"])["kind"]) == {"identifier"}
    assert set(ranks(rows)["sessions"]) == {6}


def test_the_same_recordings_give_the_same_table() -> None:
    pd.testing.assert_frame_equal(limits(session(LOST)), limits(session(LOST)))


def test_no_lead_is_claimed_where_exam_and_presence_agree() -> None:
    assert "no better than presence" in lead_note(figures(of_agent(limits(session(LOST)))))
    assert "there is no AUC" in lead_note(figures(of_agent(limits(session([])))))


def test_recordings_without_a_readable_compaction_are_refused() -> None:
    with pytest.raises(
        SettingError, match="1 recorded session without a compaction that has a readable summary"
    ):
        compacted(session(LOST, readable=False))


def test_the_command_prints_the_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wb.save(session(LOST), tmp_path / "one.jsonl")
    assert main(["lab", "validate", "behaviour", str(tmp_path)]) == 0
    assert "no better than presence" in capsys.readouterr().out
    assert main(["lab", "validate", "behaviour", str(tmp_path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    own = {row["metric"]: row for row in found["by the context that the agent went on with"]}
    assert all(own[name]["if_lost"] > own[name]["if_kept"] for name in ("exam", "simulated"))


def test_the_command_says_that_nothing_was_compacted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wb.save(session(LOST, readable=False), tmp_path / "one.jsonl")
    assert main(["lab", "validate", "behaviour", str(tmp_path)]) == 2
    assert "1 recorded session without a compaction" in capsys.readouterr().err


@pytest.mark.parametrize("fetched", [PLACES[1::2], PLACES], ids=["what was lost", "everything"])
def test_the_simulation_looks_up_what_the_context_lost_whatever_the_agent_really_looked_up(
    fetched: Collection[str],
) -> None:
    ready = [prepared(session(fetched))]
    held = held_things(ready, used_things(ready))
    looked_up = held[held["thing"].str.endswith("_retry_limit")].set_index("thing")["looked_up"]
    assert {
        name.removesuffix("_retry_limit") for name in looked_up.index[looked_up.fillna(False)]
    } == set(PLACES) - set(KEPT)
