"""The page of a session says what became of the user's rules."""

from __future__ import annotations

from pathlib import Path

from report.view.made import get, served

from builders import remembering, rules, said
from workbench import Session, compare, save


def test_a_rule_that_is_gone_is_told_beside_its_message(tmp_path: Path) -> None:
    rule = said("Never push to the <main> branch without review.", "rule")
    save(
        Session.of([rules("be brief"), rule, *remembering(30)], id="chat"),
        tmp_path / "session.jsonl",
    )
    compare(
        [tmp_path / "session.jsonl"],
        strategies=["truncate"],
        window=4_000,
        shares=(),
        out=tmp_path / "reports" / "run",
        quiet=True,
    )
    with served(tmp_path / "reports") as server:
        _, page, _ = get(f"{server.address}runs/run/session?id=chat&request=50")
    assert "Rules of the user (1): 1 lost" in page
    assert "never push to the &lt;main&gt; branch without review" in page
