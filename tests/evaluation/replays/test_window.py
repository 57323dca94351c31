"""The window of a replay: as asked for, else as the recording is evidence of, else its model's."""

from dataclasses import replace

import pytest

from builders import compaction, recorded, recorded_by, remembering
from workbench import CompactionEntry, Log, Session, prepared
from workbench.evaluation.replays.agents import AGENTS, agent_of, limit_of


def with_room(
    *compactions: CompactionEntry,
    largest: int | None = None,
    window: int | None = None,
    format: str = "built",
) -> Session:
    """A session of a model with a window of a million tokens."""
    session = recorded(*compactions, largest=largest, window=window, format=format)
    return replace(session, model="claude-opus-4-6")


@pytest.mark.parametrize(
    ("session", "wanted", "tokens", "source"),
    [
        (with_room(compaction(167_000), window=272_000), 64_000, 64_000, "the window asked for"),
        (
            with_room(compaction(167_000), window=272_000),
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
    found = prepared(session, wanted).wanted
    assert (found.tokens, found.source) == (tokens, source)


def test_a_price_table_comes_after_all_that_was_recorded() -> None:
    assert prepared(recorded()).wanted.source == "its model"


@pytest.mark.parametrize(
    ("session", "tokens"),
    [
        (recorded(compaction(155_475), largest=155_047, format="claude_code"), 200_000),
        (recorded(largest=41_160, format="claude_code"), 200_000),
        (with_room(compaction(998_659), format="claude_code"), 1_000_000),
        (with_room(largest=222_916, format="claude_code"), 1_000_000),
    ],
)
def test_claude_code_works_in_the_smallest_documented_window_that_holds_what_it_sent(
    session: Session, tokens: int
) -> None:
    window = prepared(session).wanted
    assert (window.tokens, window.source) == (tokens, "what Claude Code documents")


def test_an_agent_in_its_models_window_is_known_by_where_it_compacts() -> None:
    fitting = prepared(recorded(compaction(185_014), format="pi")).wanted
    assert (fitting.tokens, fitting.source) == (
        200_000,
        "its model, whose window its recorded compactions fit",
    )
    set_by_its_user = prepared(recorded(compaction(99_908), format="pi")).wanted
    assert set_by_its_user.source == "its recorded compactions, by pi's rule"
    assert AGENTS["pi"].limit(set_by_its_user.tokens) == 99_908
    assert AGENTS["pi"].limit(set_by_its_user.tokens - 1) < 99_908


def test_what_is_asked_for_and_named_comes_before_what_an_agent_documents() -> None:
    session = recorded(compaction(155_475), format="claude_code")
    assert prepared(session, 64_000).wanted.tokens == 64_000
    assert (
        prepared(with_room(window=258_400, format="codex")).wanted.source
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
