"""A local model as reader of the exam: the candidate that the context makes likely, read from
one context at a time.
"""

from itertools import groupby
from math import isnan
from pathlib import Path

import pytest
from engine.models.likely import Echo

from workbench.engine.models.likelihood import CachedLikelihood
from workbench.evaluation.metrics.exam.item import Item
from workbench.lab.judge.exam.readers import CandidateLikelihood

PORT = Item("fact", "5413", ("8080", "9292"), evidence="port = 5413", use="serve --port 5413")
HOST = Item(
    "fact", "db.local", ("web.local", "mail.local"), evidence="host = db.local", use="ping db.local"
)
SAID = "port = 5413, host = db.local"


@pytest.fixture
def model() -> Echo:
    return Echo()


@pytest.fixture
def reader(model: Echo, tmp_path: Path) -> CandidateLikelihood:
    return CandidateLikelihood(
        CachedLikelihood("echo", 100, lambda: model, tmp_path / "kept", "echo 1")
    )


def test_the_candidate_that_the_context_makes_likely_is_taken(reader: CandidateLikelihood) -> None:
    assert reader.read([PORT, HOST], [SAID]).tolist() == [1, 1]
    assert reader.read([PORT], ["port = 8080"]).tolist() == [0]
    assert reader.read([PORT], ["nothing of it"]).tolist() == pytest.approx([1 / 3])


def test_a_context_is_read_once_for_all_items_and_candidates(
    reader: CandidateLikelihood, model: Echo
) -> None:
    reader.sit([PORT, HOST], SAID)
    assert [before for before, _ in groupby(before for before, _ in model.asked)] == ["", SAID]


def test_where_a_context_does_not_fit_there_is_no_answer_and_it_is_said(
    reader: CandidateLikelihood,
) -> None:
    one, other = reader.sit([PORT, HOST], "word " * 20_000)
    assert isnan(one.credit) and one.why == other.why == "too long"
