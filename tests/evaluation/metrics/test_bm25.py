"""BM25 of what is sought against a context."""

import pytest

from workbench.evaluation.metrics.bm25 import Bm25

HISTORY = [
    "the port is 5413",
    "the host is alder",
    "the user is mara",
    "the port of the host is open",
]


@pytest.fixture
def bm25() -> Bm25:
    return Bm25(HISTORY)


def test_a_line_with_all_words_has_more_than_a_line_with_some(bm25: Bm25) -> None:
    assert (
        bm25.share("port 5413", "the port is 5413")
        > bm25.share("port 5413", "the port is open")
        > 0
    )


def test_a_rare_word_counts_more_than_a_common_one(bm25: Bm25) -> None:
    assert bm25.share("the alder", "alder") > bm25.share("the alder", "the")


def test_words_on_different_lines_do_not_add_up(bm25: Bm25) -> None:
    assert bm25.share("port 5413", "port\n5413") < bm25.share("port 5413", "port 5413")


def test_a_long_line_has_less_than_a_short_one(bm25: Bm25) -> None:
    assert bm25.share("alder", "alder " + "and more " * 40) < bm25.share("alder", "alder")


@pytest.mark.parametrize(
    ("sought", "context"), [("alder", ""), ("", "alder"), ("...", "alder"), ("alder", "oak")]
)
def test_nothing_sought_or_nothing_there_is_zero(bm25: Bm25, sought: str, context: str) -> None:
    assert bm25.share(sought, context) == 0


def test_several_texts_are_sought_at_once(bm25: Bm25) -> None:
    context = "alder\nport 5413"
    assert bm25.shares(["alder", "5413"], context) == [
        bm25.share("alder", context),
        bm25.share("5413", context),
    ]


def test_without_a_history_every_word_weighs_the_same() -> None:
    empty = Bm25([])
    assert empty.share("alder", "alder") == empty.share("port", "port") > 0
