from pathlib import Path

import pytest
from engine.models.likely import Echo

from workbench import ModelError
from workbench.engine.models.likelihood import CachedLikelihood


def kept(model: Echo, path: Path) -> CachedLikelihood:
    return CachedLikelihood("echo", 10, lambda: model, path, "echo 1")


def test_what_was_scored_once_is_not_asked_again(tmp_path: Path) -> None:
    model = Echo()
    cached_likelihood = kept(model, tmp_path / "scored.sqlite")
    assert cached_likelihood.score("the port is 8081", "port 8081") == cached_likelihood.score(
        "the port is 8081", "port 8081"
    )
    assert len(model.asked) == 1


def test_another_process_goes_on_from_the_file_without_loading_the_model(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "scored.sqlite"
    first = kept(Echo(), file).score("a", "b é c")

    def fail() -> Echo:
        raise AssertionError("the model was loaded")

    assert CachedLikelihood("echo", 10, fail, file, "echo 1").score("a", "b é c") == first


def test_another_text_before_or_another_model_is_another_question(tmp_path: Path) -> None:
    file = tmp_path / "scored.sqlite"
    model = Echo()
    kept(model, file).score("a", "b")
    kept(model, file).score("b", "b")
    kept(model, file).score("a", "b", [(0, 1)])
    CachedLikelihood("echo", 10, lambda: model, file, "echo 2").score("a", "b")
    assert len(model.asked) == 4


def test_that_it_does_not_fit_is_kept_too(tmp_path: Path) -> None:
    model = Echo(window=3)
    for _ in range(2):
        with pytest.raises(ModelError) as raised:
            kept(model, tmp_path / "scored.sqlite").score("a b c", "d")
        assert raised.value.overflow
    assert len(model.asked) == 1
