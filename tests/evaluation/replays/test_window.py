"""The window of a replay: as asked for, else as the recording is evidence of, else its model's."""

import pytest

from builders import compaction, recorded, recorded_by, remembering
from workbench import Log, Session
from workbench.evaluation.replays.agents import AGENTS, agent_of, limit_of
from workbench.evaluation.replays.sizing import window_of


@pytest.mark.parametrize(
    ("session", "wanted", "tokens", "source"),
    [
        (recorded(compaction(167_000), window=272_000), 64_000, 64_000, "the window asked for"),
        (
            recorded(compaction(167_000), window=272_000),
            None,
            272_000,
            "the window that the recording names",
        ),
        (
            recorded(compaction(155_000), compaction(167_000)),
            None,
            167_000,
            "its recorded compactions",
        ),
        (
            recorded(compaction(30_000, "manual"), largest=90_000),
            None,
            90_000,
            "its largest prompt",
        ),
        (recorded(compaction(None), largest=90_000), None, 90_000, "its largest prompt"),
        (
            Session.of(remembering(3), model="a model of nobody"),
            None,
            200_000,
            "no evidence",
        ),
    ],
)
def test_what_a_window_is_taken_from(
    session: Session, wanted: int | None, tokens: int, source: str
) -> None:
    found = window_of(session, wanted)
    assert (found.tokens, found.source) == (tokens, source)


def test_a_price_table_comes_after_all_that_was_recorded() -> None:
    assert window_of(recorded()).source == "its model"


@pytest.mark.parametrize(
    ("session", "tokens"),
    [
        (recorded(compaction(155_475), largest=155_047, format="claude_code"), 200_000),
        (recorded(largest=41_160, format="claude_code"), 200_000),
        (recorded(compaction(998_659), format="claude_code"), 1_000_000),
        (recorded(largest=222_916, format="claude_code"), 1_000_000),
    ],
)
def test_claude_code_works_in_the_smallest_documented_window_that_holds_what_it_sent(
    session: Session, tokens: int
) -> None:
    window = window_of(session)
    assert (window.tokens, window.source) == (tokens, "what Claude Code documents")


def test_an_agent_in_its_models_window_is_known_by_where_it_compacts() -> None:
    fitting = window_of(recorded(compaction(185_014), format="pi"))
    assert (fitting.tokens, fitting.source) == (
        200_000,
        "its model, whose window its recorded compactions fit",
    )
    set_by_its_user = window_of(recorded(compaction(99_908), format="pi"))
    assert set_by_its_user.source == "its recorded compactions, by pi's rule"
    assert AGENTS["pi"].limit(set_by_its_user.tokens) == 99_908
    assert AGENTS["pi"].limit(set_by_its_user.tokens - 1) < 99_908


def test_what_is_asked_for_and_named_comes_before_what_an_agent_documents() -> None:
    session = recorded(compaction(155_475), format="claude_code")
    assert window_of(session, 64_000).tokens == 64_000
    assert (
        window_of(recorded(window=258_400, format="codex")).source
        == "the window that the recording names"
    )


def test_an_agent_compacts_where_it_did_else_by_its_rule() -> None:
    compacted = limit_of(
        recorded(compaction(155_000), compaction(157_000), format="claude_code"), 200_000
    )
    assert compacted is not None and (compacted.tokens, compacted.source) == (
        156_000,
        "its recorded compactions",
    )
    by_rule = limit_of(recorded(format="claude_code"), 200_000)
    assert by_rule is not None and by_rule.tokens == 167_000
    assert limit_of(recorded(format="aider"), 200_000) is None


@pytest.mark.parametrize("format", ["opencode", "opencode_database"])
def test_an_agent_is_known_by_each_of_its_files(format: str) -> None:
    session = recorded_by(format, Session("one", Log()))
    agent = agent_of(session)
    assert agent is not None and agent.preset == "opencode"


def test_files_of_another_agent_have_none() -> None:
    assert agent_of(recorded_by("amp", Session("one", Log()))) is None
