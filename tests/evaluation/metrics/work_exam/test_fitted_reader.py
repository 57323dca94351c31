"""What the fitted reader looks at, and how it is kept."""

from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench import FormatError
from workbench.evaluation.metrics.work_exam.fitted_reader import WorkReader, shipped_reader
from workbench.evaluation.metrics.work_exam.question_sheet import FEATURES, features
from workbench.evaluation.metrics.work_exam.rarity import Rarity


@dataclass(frozen=True)
class Asked:
    question: str
    gold: str
    points: tuple[str, ...]


EXPORT = Asked(
    "Why did the nightly export stop?",
    "The token of the service account expired on 3 May.",
    ("token of the service account expired", "on 3 May"),
)
BUOY = Asked("Which buoy must be painted?", "The green harbour buoy.", ("green harbour buoy",))
RARITY = Rarity(["the nightly export", EXPORT.gold, "a cutter harbour quay buoy green"])
STATEMENT = (
    "We found that the service account's token had expired on 3 May, so the upload was refused."
)
LIST = (
    "token upload export nightly quay expired account refused cutter harbour found service buoy 3"
    " upload May"
)


def values(context: str, *others: Asked, asked: Asked = EXPORT) -> dict[str, float]:
    """The features of a question by name, on a sheet with others."""
    rows = features([asked, *others], context, RARITY)
    return dict(zip(FEATURES, rows[0], strict=True))


PHRASE, SENTENCE = 10, 25
"""Words of a text in which a point, and an answer, must stand."""
NAMES = ("harbour", "anchor", "buoy", "quay", "lantern")
HARBOUR = Rarity(["harbour anchor buoy quay lantern", "harbour anchor", "harbour quay", "harbour"])
POINTS = st.lists(st.sampled_from(NAMES), min_size=1, max_size=4, unique=True)
STRETCHES = st.one_of(
    st.sampled_from(NAMES).map(lambda name: [name]),
    st.integers(1, 14).map(lambda count: ["mast"] * count),
)
"""Parts of a line: a name, or words that no history has."""


def best_share(point: list[str], text: list[str], window: int) -> float:
    """The largest weighted share of some names in so many words of a text that follow one another."""
    weights = HARBOUR.weights(" ".join(point))
    sums = []
    for start in range(len(text)):
        names = weights.keys() & set(text[start : start + window])
        sums.append(sum(weights[name] for name in names))
    return max(sums) / sum(weights.values())


@given(st.lists(POINTS, min_size=1, max_size=3), st.lists(STRETCHES, max_size=14))
def test_an_answer_is_as_close_as_most_of_it_stands_in_one_stretch(
    points: list[list[str]], stretches: list[list[str]]
) -> None:
    text = [word for stretch in stretches for word in stretch] + ["mast"]
    asked = [Asked("Which?", " ".join(point), (" ".join(point),)) for point in points]
    for point, row in zip(points, features(asked, " ".join(text), HARBOUR), strict=True):
        shown = dict(zip(FEATURES, row, strict=True))
        assert shown["points_close"] ** 2 == pytest.approx(best_share(point, text, PHRASE))
        assert shown["answer_close"] ** 2 == pytest.approx(best_share(point, text, SENTENCE))


def test_a_context_that_states_the_answer_has_all_of_its_points() -> None:
    shown = values(STATEMENT)
    assert shown["points_close"] == shown["points_stated"] == shown["pairs_least"] == 1.0
    assert shown["answer_close"] > 0.7
    assert shown["answer_in_sentences"] > 0.7


def test_a_context_that_only_repeats_the_question_has_none_of_them() -> None:
    shown = values("The nightly export stopped; why did the nightly export stop?")
    assert shown["points_close"] == shown["points_stated"] == 0.0
    assert shown["answer_close"] < values(STATEMENT)["answer_close"]


def test_words_far_apart_are_not_close() -> None:
    far = " harbour" * 200
    apart = values(f"token {far} service {far} account {far} expired")
    assert (
        apart["points_close"] < values("the token of the service account expired")["points_close"]
    )


def test_a_list_of_the_same_words_states_nothing_and_joins_no_pair() -> None:
    shown, stated = values(LIST), values(STATEMENT)
    assert shown["points_stated"] == 0.0
    assert shown["points_close"] > 0.5
    assert shown["pairs_least"] < stated["pairs_least"]


def test_a_sentence_may_go_on_in_the_next_but_not_further() -> None:
    one_after_the_other = values(
        "The token expired.\nIt was that of the service account, on 3 May."
    )
    apart = values(
        "The token expired.\nNobody saw it.\nIt was that of the service account, on 3 May."
    )
    assert one_after_the_other["answer_in_sentences"] > apart["answer_in_sentences"]


def test_what_a_context_tells_of_other_questions_counts() -> None:
    alone = values(STATEMENT, BUOY)
    with_other = values(f"{STATEMENT}\nThe green harbour buoy is to be painted.", BUOY)
    assert alone["others_stated"] == 0.0
    assert with_other["others_stated"] == 1.0


def test_words_that_the_history_never_has_are_counted() -> None:
    assert values(STATEMENT)["new_words"] == 0.0
    foreign = Asked(
        "Why did the nightly export stop?", "Its passphrase lapsed.", ("passphrase lapsed",)
    )
    assert values(STATEMENT, asked=foreign)["new_words"] == 1.0


def test_more_of_the_answer_never_means_a_lower_chance() -> None:
    weights = shipped_reader().weights
    of_the_context = [name for name in FEATURES if name != "new_words"]
    assert all(weights[name] >= 0 for name in of_the_context)


def test_a_reader_comes_back_from_its_file(tmp_path: Path) -> None:
    reader = WorkReader(
        dict.fromkeys(FEATURES, 0.5), -1.25, {"answers": 12}, shipped_reader().left_out
    )
    (tmp_path / "reader.json").write_text(reader.text())
    assert WorkReader.read(tmp_path / "reader.json") == reader


@pytest.mark.parametrize("text", ["", "{}", '{"version": 7}', '{"version": 3, "features": {}}'])
def test_a_file_that_is_no_reader_is_named(text: str, tmp_path: Path) -> None:
    (tmp_path / "reader.json").write_text(text)
    with pytest.raises(FormatError, match=r"reader\.json: is no fitted reader"):
        WorkReader.read(tmp_path / "reader.json")


def test_words_in_another_order_count_for_less_than_the_answer_in_as_many_lines() -> None:
    words = "expired token May service upload nightly account"
    history = Rarity(["a cutter", f"{EXPORT.gold} So the nightly upload"])
    rows = features([EXPORT], words, history)
    by_name = dict(zip(FEATURES, rows[0], strict=True))
    as_written = Rarity(["a cutter", f"{EXPORT.gold} So the nightly upload\n{words}"])
    quoted = dict(zip(FEATURES, features([EXPORT], words, as_written)[0], strict=True))
    assert by_name["points_close"] == pytest.approx(0.64 * quoted["points_close"])
    assert quoted["points_close"] > 0.5
