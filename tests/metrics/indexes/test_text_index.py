"""What is found in texts that are not of the session."""

from __future__ import annotations

from builders import said
from workbench.metrics.index import Index
from workbench.metrics.indexes.text_index import TextIndex

INDEX = Index([said("retryLimit is 4500\nmaxDelay is 9000"), said("burstSize = 3")])


def test_spans_of_the_session_and_others_stand_side_by_side() -> None:
    texts = TextIndex(INDEX.inverted_index)
    text = "neverSaid is new\nburstSize = 3\nburstSize and retryLimit"
    found = texts.read(text)
    assert [texts.text(span) for span in found.spans.tolist()] == [
        "burstSize = 3",
        "neverSaid is new",
        "burstSize and retryLimit",
    ]
    entities = [(row, texts.name(entity).text) for row, entity in zip(found.entity_row, found.entities, strict=True)]
    assert sorted(entities) == [(0, "burstSize"), (2, "burstSize"), (2, "retryLimit")]
    every = [(texts.text(span), texts.name(entity).text) for entity, span in texts.every_entity([text])]
    assert every[0] == ("neverSaid is new", "neverSaid")
    assert sorted(name for _, name in every[1:]) == ["burstSize", "burstSize", "retryLimit"]


def test_spans_of_others_keep_their_order_whenever_they_were_first_met() -> None:
    texts = TextIndex(INDEX.inverted_index)
    texts.read("firstNew is here\nsecondNew is there")
    text = "secondNew is there\nburstSize = 3\nfirstNew is here"
    names = [texts.name(entity).text for entity, _ in texts.every_entity([text])]
    assert names == ["secondNew", "burstSize", "firstNew"]
