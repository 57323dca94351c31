"""What the fitted reader looks at, and how it is kept."""

from pathlib import Path

import pytest

from workbench.errors import FormatError
from workbench.metrics.work_exam.fitted_reader import FEATURES, ReadContext, WorkReader, features
from workbench.metrics.work_exam.word_cover import Rarity

QUESTION = "Why did the nightly export stop?"
GOLD = "The token of the service account expired on 3 May."
POINTS = ("token of the service account expired", "on 3 May")
RARITY = Rarity(["the nightly export", GOLD, "a cutter harbour quay buoy"])


def values(context: str) -> dict[str, float]:
    """The features of the question above by name."""
    return dict(zip(FEATURES, features(QUESTION, GOLD, POINTS, ReadContext.of(context), RARITY), strict=True))


def test_a_context_that_states_the_answer_has_all_of_its_points_near() -> None:
    found = values("We found that the service account's token had expired on 3 May, so the upload was refused.")
    assert found["points_near_mean"] == found["points_close_least"] == found["answer_near"] == 1.0


def test_a_context_that_only_repeats_the_question_has_none_of_them() -> None:
    found = values("The nightly export stopped; why did the nightly export stop?")
    assert found["points_anywhere_mean"] == 0.0
    assert found["question_near"] == 1.0


def test_words_far_apart_are_there_but_not_near() -> None:
    far = " harbour" * 200
    found = values(f"token {far} service {far} account {far} expired")
    assert found["points_anywhere_mean"] > 2 * found["points_near_mean"]


def test_a_list_of_names_has_less_prose_than_a_sentence() -> None:
    assert values("token service account May export")["prose"] < values(GOLD)["prose"]


def test_a_reader_comes_back_from_its_file(tmp_path: Path) -> None:
    reader = WorkReader(dict.fromkeys(FEATURES, 0.5), -1.25, {"answers": 12})
    (tmp_path / "reader.json").write_text(reader.text())
    assert WorkReader.read(tmp_path / "reader.json") == reader


@pytest.mark.parametrize("text", ["", "{}", '{"version": 7}', '{"version": 1, "features": {}}'])
def test_a_file_that_is_no_reader_is_named(text: str, tmp_path: Path) -> None:
    (tmp_path / "reader.json").write_text(text)
    with pytest.raises(FormatError, match=r"reader\.json: is no fitted reader"):
        WorkReader.read(tmp_path / "reader.json")


def test_more_of_the_points_never_means_a_lower_chance() -> None:
    reader = WorkReader(dict.fromkeys(FEATURES, 1.0), -3.0, {})
    assert reader.probability([0.9] * len(FEATURES)) > reader.probability([0.1] * len(FEATURES))
